/* Blocks and outputs are allocations of their exact size, so that ASan sees a step past the end. */
#include "gob_pgn_room.h"
#include "gob_test.h"

typedef struct results {
    gob_pgn_scan scan;
    char *block;
} results;

/* Set what is wanted in r->scan before. */
static gob_status scan_text(results *r, const char *text, size_t length, size_t capacity)
{
    r->block = allocate_copy(text, length);
    r->scan.out = new_output(capacity, length);
    return gob_pgn_read(&r->scan, r->block, length);
}

static void release(results *r)
{
    free_output(&r->scan.out);
    free(r->block);
}

static bool text_is(const results *r, size_t game, gob_pgn_text text, const char *expected)
{
    const int64_t *stops = r->scan.out.text_stops + game * GOB_PGN_TEXTS + text;
    size_t length = (size_t)(stops[1] - stops[0]);
    return length == strlen(expected) &&
           memcmp(r->scan.out.texts + stops[0], expected, length) == 0;
}

static const char two_games[] = "[Event \"Rated Blitz game\"]\n"
                                "[White \"A\"]\n[Black \"Bc\"]\n[Result \"1-0\"]\n"
                                "[UTCDate \"1970.01.02\"]\n[UTCTime \"00:00:05\"]\n"
                                "[WhiteElo \"1500\"]\n[BlackElo \"?\"]\n"
                                "[WhiteRatingDiff \"-7\"]\n[Termination \"Normal\"]\n"
                                "\n1. e4 { [%eval 0.1]\n[Event \"no game\"]\n } 1-0\n\n"
                                "[Event \"Casual Rapid game\"]\n[White \"D\"]\n\n1-0\n";

static void test_games(void)
{
    results r = {.scan = {.final = true}};
    CHECK(scan_text(&r, two_games, sizeof two_games - 1, 8) == GOB_OK);
    CHECK(r.scan.games == 2 && r.scan.observations == 1);
    CHECK(r.scan.consumed == sizeof two_games - 1 && r.scan.lines == 19);
    CHECK(r.scan.no_player == 1 && r.scan.no_rating == 2);
    CHECK(text_is(&r, 0, GOB_PGN_WHITE, "A") && text_is(&r, 0, GOB_PGN_BLACK, "Bc"));
    CHECK(text_is(&r, 0, GOB_PGN_EVENT, "Rated Blitz game"));
    CHECK(text_is(&r, 0, GOB_PGN_RESULT, "1-0") && text_is(&r, 0, GOB_PGN_TERMINATION, "Normal"));
    CHECK(text_is(&r, 1, GOB_PGN_WHITE, "D") && text_is(&r, 1, GOB_PGN_BLACK, ""));
    CHECK(r.scan.out.elo[0][0] == 1500 && r.scan.out.elo[1][0] == -1);
    CHECK(r.scan.out.diff[0][0] == -7 && r.scan.out.diff[1][0] == 0);
    CHECK(r.scan.out.utc[0] == 86405 && r.scan.out.utc[1] == INT64_MIN);
    CHECK(r.scan.out.ratings[0] == 1500 && r.scan.out.ratings_after[0] == 1493);
    CHECK(r.scan.out.speeds[0] == GOB_PGN_BLITZ);
    CHECK(r.scan.out.player_stops[1] == 1 && r.scan.out.players[0] == 'A');
    release(&r);
}

static void test_filters(void)
{
    results rated = {.scan = {.final = true, .kind = GOB_PGN_RATED}};
    CHECK(scan_text(&rated, two_games, sizeof two_games - 1, 8) == GOB_OK);
    CHECK(rated.scan.games == 1 && rated.scan.other_kind == 1);
    release(&rated);
    results atomic = {.scan = {.final = true, .variant = "atomic", .variant_length = 6}};
    CHECK(scan_text(&atomic, two_games, sizeof two_games - 1, 8) == GOB_OK);
    CHECK(atomic.scan.games == 0 && atomic.scan.other_variant == 2);
    release(&atomic);
}

static void test_capacity_stops_the_scan(void)
{
    results r = {.scan = {.final = true}};
    CHECK(scan_text(&r, two_games, sizeof two_games - 1, 1) == GOB_OK);
    CHECK(r.scan.games == 1);
    CHECK(strncmp(two_games + r.scan.consumed, "[Event \"Casual", 14) == 0);
    release(&r);
}

/* Every cut: the first game is whole once the second begins, or once its last line is there. */
static void test_every_cut(void)
{
    size_t second = (size_t)(strstr(two_games, "[Event \"Casual") - two_games);
    size_t result = (size_t)(strstr(two_games, " 1-0\n\n") - two_games) + 5;
    size_t begun = (size_t)(strchr(two_games + second, '\n') - two_games) + 1;
    for (size_t cut = 0; cut < sizeof two_games; cut++) {
        for (int final = 0; final < 2; final++) {
            bool all = final && cut == sizeof two_games - 1;
            size_t games = all ? 2 : cut >= (final ? result : begun);
            results r = {.scan = {.final = final != 0}};
            CHECK(scan_text(&r, two_games, cut, 8) == GOB_OK);
            CHECK(r.scan.games == games);
            CHECK(games == 0 ? r.scan.consumed == 0 : r.scan.consumed >= result);
            release(&r);
        }
    }
}

static void test_what_is_no_game(void)
{
    static const char text[] = "\xef\xbb\xbf\n% escape\n; comment\nEvent\n";
    results r = {.scan = {.final = true}};
    CHECK(scan_text(&r, text, sizeof text - 1, 8) == GOB_MALFORMED);
    CHECK(r.scan.lines == 3 && strcmp(text + r.scan.consumed, "Event\n") == 0);
    release(&r);
}

/* What comes before a game is read, also where the game is not whole: errors give its line, in
 * whatever blocks a file is read. */
static void test_blank_lines_before_an_incomplete_game(void)
{
    static const char text[] = "\n; comment\n[Event \"a\"]\n\n1. e4\n";
    for (int final = 0; final < 2; final++) {
        results r = {.scan = {.final = final != 0}};
        CHECK(scan_text(&r, text, sizeof text - 1, 8) == GOB_OK);
        CHECK(r.scan.games == 0 && r.scan.lines == 2);
        CHECK(strncmp(text + r.scan.consumed, "[Event", 6) == 0);
        release(&r);
    }
}

/* Random bytes of the few that matter: as a loop over single bytes finds them. */
static void test_comments_of_random_lines(void)
{
    static const char letters[] = "{{}};\n\nab7cdefghijkl";
    uint64_t state = 1;
    for (int round = 0; round < 20000; round++) {
        char text[160] = "[Event \"\"]\n";
        size_t start = strlen(text);
        size_t length = start + (size_t)round % 64;
        bool comment = false;
        bool line_comment = false;
        for (size_t i = start; i < length; i++) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            char c = letters[(state >> 33) % (sizeof letters - 1)];
            text[i] = c;
            line_comment = c != '\n' && (line_comment || (c == ';' && !comment));
            if (!line_comment && (c == '{' || c == '}')) {
                comment = c == '{';
            }
        }
        strcpy(text + length, "\n[Event \"\"]\n");
        results r = {.scan = {.final = false}};
        CHECK(scan_text(&r, text, strlen(text), 8) == GOB_OK);
        CHECK(r.scan.games == (comment ? 0 : 1));
        release(&r);
    }
}

/* Random pieces of tags: game by game, from a copy of what is left, the same as in one call. */
static void test_random_tags(void)
{
    static const char *const pieces[] = {"[Event \"", "[White \"", "\"]\n", "\"", "\\", "]",
                                         "\n",        "x",         "[",     "{",  "} ", "1-0\n"};
    uint64_t state = 1;
    for (int round = 0; round < 20000; round++) {
        char text[512] = "[Event \"\"]\n";
        for (int i = 0; i < round % 40; i++) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            strcat(text, pieces[(state >> 33) % (sizeof pieces / sizeof pieces[0])]);
        }
        size_t length = strlen(text);
        results all = {.scan = {.final = true}};
        CHECK(scan_text(&all, text, length, 64) == GOB_OK);
        size_t games = 0;
        size_t consumed = 0;
        for (size_t step = 1; step != 0; consumed += step) {
            results one = {.scan = {.final = true}};
            CHECK(scan_text(&one, text + consumed, length - consumed, 1) == GOB_OK);
            games += one.scan.games;
            step = one.scan.consumed;
            release(&one);
        }
        CHECK(games == all.scan.games && consumed == all.scan.consumed);
        release(&all);
    }
}

int main(void)
{
    test_games();
    test_filters();
    test_capacity_stops_the_scan();
    test_every_cut();
    test_what_is_no_game();
    test_blank_lines_before_an_incomplete_game();
    test_comments_of_random_lines();
    test_random_tags();
    return test_report();
}
