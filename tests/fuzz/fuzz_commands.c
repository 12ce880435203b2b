/* The scanner of commands against a slow reader of whole commands, as Redis splits them; whatever
 * blocks a text comes in, the same pairs. */
#include <errno.h>
#include <math.h>

#include "gob_commands.h"
#include "gob_fuzz.h"

/* What a file came to: a verb, key, member and score for each pair. */
typedef struct reading {
    output pairs;
    size_t lines;
    size_t consumed;
    bool fault;
} reading;

typedef struct text {
    const char *at;
    size_t length;
} text;

static void take_pair(reading *r, gob_commands_verb verb, text key, text member, double score)
{
    append(&r->pairs, &verb, sizeof verb);
    append(&r->pairs, &key.length, sizeof key.length);
    append(&r->pairs, key.at, key.length);
    append(&r->pairs, &member.length, sizeof member.length);
    append(&r->pairs, member.at, member.length);
    append(&r->pairs, &score, sizeof score);
}

/* One call on a copy of the block: bytes consumed. */
static size_t read_block(reading *r, const char *from, size_t length)
{
    size_t most = GOB_COMMANDS_MAX_PAIRS(length);
    char *block = allocate_copy(from, length);
    gob_commands_run run = {.text = allocate(length),
                            .stops = allocate((most + 1) * sizeof(int64_t)),
                            .scores = allocate(most * sizeof(double))};
    gob_status status = gob_commands_read(&run, block, length);
    REQUIRE(status == (run.fault == GOB_COMMANDS_SOUND ? GOB_OK : GOB_MALFORMED));
    REQUIRE(run.fault < GOB_COMMANDS_FAULTS && run.consumed <= length && run.count <= most);
    REQUIRE(run.lines <= run.consumed && (run.lines != 0) == (run.consumed != 0));
    text key = {run.text, run.count == 0 ? 0 : (size_t)run.stops[0]};
    for (size_t i = 0; i < run.count; i++) {
        REQUIRE(0 <= run.stops[i] && run.stops[i] <= run.stops[i + 1]);
        REQUIRE((size_t)run.stops[i + 1] <= run.consumed && !isnan(run.scores[i]));
        text member = {run.text + run.stops[i], (size_t)(run.stops[i + 1] - run.stops[i])};
        take_pair(r, run.verb, key, member, run.scores[i]);
    }
    r->fault = status == GOB_MALFORMED;
    r->lines += run.lines;
    r->consumed += run.consumed;
    free(run.text);
    free(run.stops);
    free(run.scores);
    free(block);
    return run.consumed;
}

static reading read_all(feed f)
{
    reading r = {0};
    do {
        (void)feed_more(&f);
        size_t step;
        do {
            step = read_block(&r, f.text + f.at, f.given - f.at);
            f.at += step;
        } while (step != 0 && !r.fault);
    } while (!r.fault && f.given < f.length);
    return r;
}

/* The model: one command at a time, first split into words */

enum { MOST_WORDS = 4096 };

typedef struct command {
    text words[MOST_WORDS];
    size_t count;
    size_t length; /* in the file */
    output bytes;
} command;

typedef enum outcome { WHOLE, CUT, FAULTY } outcome;

static bool is_space(char c)
{
    return c != '\0' && strchr(" \t\n\v\f\r", c) != NULL;
}

static void end_word(command *c, size_t start)
{
    REQUIRE(c->count < MOST_WORDS);
    c->words[c->count++] = (text){c->bytes.at + start, c->bytes.length - start};
}

static int hex_of(char c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = c == '\0' ? NULL : strchr(digits, c);
    return at == NULL ? -1 : at - digits < 16 ? (int)(at - digits) : (int)(at - digits) - 6;
}

/* Escapes of one character behind a backslash. */
static char unescaped(char c)
{
    static const char from[] = "nrtba";
    static const char to[] = "\n\r\t\b\a";
    const char *at = c == '\0' ? NULL : strchr(from, c);
    return at == NULL ? c : to[at - from];
}

/* The words of a line, as Redis' sdssplitargs finds them. */
static outcome split_line(command *c, const char *line, size_t n)
{
    size_t i = 0;
    for (;;) {
        for (; i < n && is_space(line[i]); i++) {
        }
        if (i == n) {
            return WHOLE;
        }
        size_t start = c->bytes.length;
        char quote = 0;
        for (; i < n; i++) {
            char next = line[i];
            if (quote == 0 && (next == '"' || next == '\'')) {
                quote = next;
                continue;
            }
            if (quote == 0 && (next == ' ' || next == '\r' || next == '\t')) {
                break;
            }
            if (quote != 0 && next == quote) {
                i++;
                if (i < n && !is_space(line[i])) {
                    return FAULTY;
                }
                quote = 0;
                break;
            }
            if (quote == '"' && next == '\\' && i + 3 < n && line[i + 1] == 'x' &&
                hex_of(line[i + 2]) >= 0 && hex_of(line[i + 3]) >= 0) {
                next = (char)(hex_of(line[i + 2]) * 16 + hex_of(line[i + 3]));
                i += 3;
            } else if (quote == '"' && next == '\\' && i + 1 < n) {
                next = unescaped(line[++i]);
            } else if (quote == '\'' && next == '\\' && i + 1 < n && line[i + 1] == '\'') {
                next = line[++i];
            }
            append(&c->bytes, &next, 1);
        }
        if (quote != 0) {
            return FAULTY;
        }
        end_word(c, start);
    }
}

/* "<mark><number>\r\n" of at most 32 bytes. */
static outcome read_number(const char *from, size_t n, char mark, size_t *length, long long *number)
{
    char spelled[40];
    char digits[40] = "";
    size_t i = 0;
    for (; i < n && i < 32 && from[i] != '\n'; i++) {
        digits[i] = from[i];
    }
    if (n == 0) {
        return CUT;
    }
    if (digits[0] != mark || i == 32) {
        return from[0] == '\n' || digits[0] != mark || i == 32 ? FAULTY : CUT;
    }
    if (i == n) {
        return CUT;
    }
    errno = 0;
    *number = strtoll(digits + 1, NULL, 10);
    *length = i + 1;
    int printed = snprintf(spelled, sizeof spelled, "%c%lld\r", mark, *number);
    bool same = (size_t)printed == i && memcmp(spelled, digits, i) == 0;
    return same && errno == 0 ? WHOLE : FAULTY;
}

/* The strings of a RESP array. */
static outcome split_array(command *c, const char *from, size_t n)
{
    size_t at;
    size_t header;
    long long strings;
    long long size;
    outcome step = read_number(from, n, '*', &at, &strings);
    for (; step == WHOLE && strings > 0; strings--) {
        step = read_number(from + at, n - at, '$', &header, &size);
        if (step != WHOLE || size < 0) {
            return step == WHOLE ? FAULTY : step;
        }
        at += header;
        if (n - at < 2 || (unsigned long long)size > n - at - 2) {
            return CUT;
        }
        if (memcmp(from + at + size, "\r\n", 2) != 0) {
            return FAULTY;
        }
        size_t start = c->bytes.length;
        append(&c->bytes, from + at, (size_t)size);
        end_word(c, start);
        at += (size_t)size + 2;
    }
    c->length = at;
    return step;
}

static outcome split_command(command *c, const char *from, size_t n)
{
    c->count = 0;
    c->bytes.length = 0;
    append(&c->bytes, from, 0);
    if (c->bytes.room < n) { /* words point into what must not move */
        free(c->bytes.at);
        c->bytes = (output){.at = allocate(n), .room = n};
    }
    if (*from == '*') {
        return split_array(c, from, n);
    }
    const char *newline = memchr(from, '\n', n);
    if (newline == NULL) {
        return CUT;
    }
    c->length = (size_t)(newline - from) + 1;
    return split_line(c, from, c->length - 1);
}

static bool is_word(text word, const char *upper)
{
    bool same = word.length == strlen(upper);
    for (size_t i = 0; same && i < word.length; i++) {
        same = word.at[i] == upper[i] || word.at[i] == upper[i] + ('a' - 'A');
    }
    return same;
}

static bool is_score(text word, double *score)
{
    char digits[1001] = "";
    char *stop;
    if (word.length == 0 || word.length > 1000 || is_space(word.at[0])) {
        return false;
    }
    memcpy(digits, word.at, word.length);
    errno = 0;
    *score = strtod(digits, &stop);
    bool out_of_range = errno == ERANGE && (isinf(*score) || *score == 0.0);
    return stop == digits + word.length && !isnan(*score) && !out_of_range;
}

static outcome take_command(reading *r, const command *c)
{
    double score;
    bool increments = is_word(c->words[0], "ZINCRBY");
    if (!(increments || is_word(c->words[0], "ZADD")) || c->count < 4 || c->count % 2 != 0 ||
        (increments && c->count != 4)) {
        return FAULTY;
    }
    for (size_t i = 2; i < c->count; i += 2) {
        if (!is_score(c->words[i], &score)) {
            return FAULTY;
        }
    }
    for (size_t i = 2; i < c->count; i += 2) {
        (void)is_score(c->words[i], &score);
        take_pair(r, increments ? GOB_COMMANDS_ZINCRBY : GOB_COMMANDS_ZADD, c->words[1],
                  c->words[i + 1], score);
    }
    return WHOLE;
}

static reading read_slowly(const char *from, size_t length)
{
    static command c;
    reading r = {0};
    outcome step = WHOLE;
    while (step == WHOLE && r.consumed < length) {
        step = split_command(&c, from + r.consumed, length - r.consumed);
        if (step == WHOLE && c.count != 0) {
            step = take_command(&r, &c);
        }
        if (step == WHOLE) {
            r.consumed += c.length;
            r.lines++;
        }
    }
    r.fault = step == FAULTY;
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    script s = open_script(data, size);
    size_t blocks = next_below(&s, 16);
    const uint8_t *plan = next_bytes(&s, &blocks);
    feed f = {.text = (const char *)s.at, .length = s.left};
    reading whole = read_all(f);
    f.plan = (script){plan, blocks};
    reading parts = read_all(f);
    reading slow = read_slowly(f.text, f.length);
    REQUIRE(same_output(&whole.pairs, &parts.pairs) && same_output(&whole.pairs, &slow.pairs));
    REQUIRE(whole.lines == parts.lines && whole.lines == slow.lines);
    REQUIRE(whole.consumed == parts.consumed && whole.consumed == slow.consumed);
    /* A fault may be seen before an array is whole. */
    REQUIRE(whole.fault == parts.fault && (whole.fault || !slow.fault));
    free(whole.pairs.at);
    free(parts.pairs.at);
    free(slow.pairs.at);
    return 0;
}
