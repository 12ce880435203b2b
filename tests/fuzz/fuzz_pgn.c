/* The scanner of PGN games: whatever blocks a text comes in and however many games a call may give,
 * the same games; and the same again with other line ends, or a byte-order mark on each line. */
#include "gob_fuzz.h"
#include "gob_pgn_room.h"

/* What a file came to. */
typedef struct reading {
    output games;
    output observations;
    size_t counts[4]; /* of what was left out */
    size_t lines;
    size_t consumed;
    bool fault;
} reading;

static void take_text(output *o, const char *texts, const int64_t *stops, size_t length)
{
    REQUIRE(0 <= stops[0] && stops[0] <= stops[1] && (size_t)stops[1] <= length);
    int64_t size = stops[1] - stops[0];
    append(o, &size, sizeof size);
    append(o, texts + stops[0], (size_t)size);
}

static void take_game(reading *r, const gob_pgn_output *out, size_t i, size_t length)
{
    enum { DAY = 86400, YEAR_0 = -719528, YEAR_10000 = 2932897 }; /* days since 1970 */
    for (size_t k = 0; k < GOB_PGN_TEXTS; k++) {
        take_text(&r->games, out->texts, out->text_stops + GOB_PGN_TEXTS * i + k, length);
    }
    for (size_t side = 0; side < 2; side++) {
        int32_t numbers[2] = {out->elo[side][i], out->diff[side][i]};
        REQUIRE(-1 <= numbers[0] && numbers[0] <= 9999);
        REQUIRE(-9999 <= numbers[1] && numbers[1] <= 9999);
        append(&r->games, numbers, sizeof numbers);
    }
    REQUIRE(out->utc[i] == INT64_MIN ||
            (out->utc[i] >= YEAR_0 * (int64_t)DAY && out->utc[i] < YEAR_10000 * (int64_t)DAY));
    append(&r->games, &out->utc[i], sizeof out->utc[i]);
}

static void take_observation(reading *r, const gob_pgn_output *out, size_t i, size_t length)
{
    int32_t numbers[] = {out->ratings[i], out->ratings_after[i], out->speeds[i]};
    REQUIRE(0 <= numbers[0] && numbers[0] <= 9999 && numbers[2] < GOB_PGN_SPEEDS);
    REQUIRE(out->player_stops[i] < out->player_stops[i + 1]);
    take_text(&r->observations, out->players, out->player_stops + i, length);
    append(&r->observations, numbers, sizeof numbers);
}

/* One call on a copy of the block: bytes consumed. */
static size_t read_block(reading *r, gob_pgn_scan scan, const char *text, size_t length,
                         size_t capacity)
{
    char *block = allocate_copy(text, length);
    scan.out = new_output(capacity, length);
    gob_status status = gob_pgn_read(&scan, block, length);
    REQUIRE(status == GOB_OK || status == GOB_MALFORMED);
    REQUIRE(scan.consumed <= length && scan.games <= capacity);
    REQUIRE(scan.lines == count_lines(block, scan.consumed));
    REQUIRE(scan.observations + scan.no_player + scan.no_rating == 2 * scan.games);
    REQUIRE(scan.consumed == 0 || block[scan.consumed - 1] == '\n');
    for (size_t i = 0; i < scan.games; i++) {
        take_game(r, &scan.out, i, length);
    }
    for (size_t i = 0; i < scan.observations; i++) {
        take_observation(r, &scan.out, i, length);
    }
    size_t counts[] = {scan.other_kind, scan.other_variant, scan.no_player, scan.no_rating};
    for (size_t i = 0; i < 4; i++) {
        r->counts[i] += counts[i];
    }
    r->fault = status == GOB_MALFORMED;
    r->lines += scan.lines;
    r->consumed += scan.consumed;
    free_output(&scan.out);
    free(block);
    return scan.consumed;
}

static reading read_all(gob_pgn_scan scan, feed f, size_t capacity)
{
    reading r = {0};
    do {
        (void)feed_more(&f);
        scan.final = f.given == f.length;
        size_t step;
        do {
            step = read_block(&r, scan, f.text + f.at, f.given - f.at, capacity);
            f.at += step;
        } while (step != 0 && !r.fault);
    } while (!r.fault && f.given < f.length);
    REQUIRE(!r.fault || (r.games.length == 0 && r.counts[0] + r.counts[1] == 0));
    return r;
}

static void free_reading(reading *r)
{
    free(r->games.at);
    free(r->observations.at);
}

static void require_same(const reading *a, reading *b)
{
    REQUIRE(same_output(&a->games, &b->games) && same_output(&a->observations, &b->observations));
    REQUIRE(memcmp(a->counts, b->counts, sizeof a->counts) == 0);
    REQUIRE(a->lines == b->lines && a->fault == b->fault);
    free_reading(b);
}

/* The text with something else at each line's start or end. */
static output rewritten(const char *text, size_t length, bool marks)
{
    static const char mark[] = "\xef\xbb\xbf";
    output o = {.at = allocate(0)};
    for (size_t i = 0; i < length; i++) {
        bool starts = i == 0 || text[i - 1] == '\n';
        bool plain = text[i] != '%' && text[i] != mark[0];
        if (marks && starts && plain) {
            append(&o, mark, 3);
        } else if (!marks && text[i] == '\n') {
            append(&o, "\r", 1);
        }
        append(&o, text + i, 1);
    }
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const variants[] = {NULL, "standard", "atomic", "x3"};
    script s = open_script(data, size);
    const char *variant = variants[next_below(&s, 4)];
    gob_pgn_scan scan = {.kind = (gob_pgn_kind)next_below(&s, GOB_PGN_KINDS),
                         .variant = variant,
                         .variant_length = variant == NULL ? 0 : strlen(variant)};
    size_t capacity = 1 + next_below(&s, 4);
    size_t blocks = next_below(&s, 16);
    const uint8_t *plan = next_bytes(&s, &blocks);
    const char *text = (const char *)s.at;
    size_t length = s.left;

    reading whole = read_all(scan, (feed){.text = text, .length = length}, length / 8 + 1);
    reading parts =
        read_all(scan, (feed){.text = text, .length = length, .plan = {plan, blocks}}, capacity);
    REQUIRE(whole.consumed == parts.consumed);
    require_same(&whole, &parts);
    for (int marks = 0; marks < 2; marks++) {
        output other = rewritten(text, length, marks != 0);
        parts = read_all(scan, (feed){.text = other.at, .length = other.length}, length / 8 + 1);
        require_same(&whole, &parts);
        free(other.at);
    }
    free_reading(&whole);
    return 0;
}
