/* Blocks and outputs have their exact promised sizes, so that ASan sees every step outside. */
#include <stdlib.h>

#include "gob_commands.h"
#include "gob_test.h"
#include "gob_text.h"

typedef struct results {
    gob_commands_run run;
    char *block;
    gob_status status;
} results;

static void *need(size_t bytes)
{
    void *memory = malloc(bytes + (bytes == 0));
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static results read_text(const char *text, size_t length)
{
    results r = {.block = need(length)};
    size_t pairs = GOB_COMMANDS_MAX_PAIRS(length);
    memcpy(r.block, text, length);
    r.run.text = need(length);
    r.run.stops = need((pairs + 1) * sizeof(int64_t));
    r.run.scores = need(pairs * sizeof(double));
    r.status = gob_commands_read(&r.run, r.block, length);
    return r;
}

static void release(results *r)
{
    free(r->block);
    free(r->run.text);
    free(r->run.stops);
    free(r->run.scores);
}

static bool member_is(const results *r, size_t i, const char *member)
{
    int64_t start = r->run.stops[i];
    int64_t length = r->run.stops[i + 1] - start;
    return length == (int64_t)strlen(member) &&
           memcmp(r->run.text + start, member, strlen(member)) == 0;
}

static void test_a_run_ends_at_another_key(void)
{
    static const char text[] =
        "ZADD key 1 a 2 'b c'\n\nzadd \"key\" 3 \"d\\x21\"\nZADD other 4 e\n";
    results r = read_text(text, sizeof text - 1);
    CHECK(r.status == GOB_OK && r.run.verb == GOB_COMMANDS_ZADD);
    CHECK(r.run.count == 3 && r.run.lines == 3);
    CHECK(r.run.stops[0] == 3 && memcmp(r.run.text, "key", 3) == 0);
    CHECK(member_is(&r, 0, "a") && member_is(&r, 1, "b c") && member_is(&r, 2, "d!"));
    CHECK(r.run.scores[0] == 1 && r.run.scores[1] == 2 && r.run.scores[2] == 3);
    CHECK(strcmp(text + r.run.consumed, "ZADD other 4 e\n") == 0);
    release(&r);
}

static void test_faults(void)
{
    static const struct {
        const char *text;
        gob_commands_fault fault;
    } cases[] = {
        {"GET k\n", GOB_COMMANDS_UNKNOWN},           {"ZADD k 1\n", GOB_COMMANDS_ARITY},
        {"ZADD k NX 1 a\n", GOB_COMMANDS_OPTION},    {"ZADD k 1e400 a\n", GOB_COMMANDS_SCORE},
        {"ZADD k 1 'a\n", GOB_COMMANDS_QUOTES},      {"*1\r\n+x\r\n", GOB_COMMANDS_PROTOCOL},
        {"ZINCRBY k 1 a 2 b\n", GOB_COMMANDS_ARITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        results r = read_text(cases[i].text, strlen(cases[i].text));
        CHECK(r.status == GOB_MALFORMED && r.run.fault == cases[i].fault);
        CHECK(r.run.count == 0 && r.run.consumed == 0);
        release(&r);
    }
}

static void test_every_cut(void)
{
    static const char text[] =
        "ZADD k 1 a\n*4\r\n$4\r\nZADD\r\n$1\r\nk\r\n$3\r\n2.5\r\n$2\r\nbb\r\n";
    for (size_t cut = 0; cut < sizeof text; cut++) {
        results r = read_text(text, cut);
        size_t count = cut < 11 ? 0 : cut < sizeof text - 1 ? 1 : 2;
        CHECK(r.status == GOB_OK && r.run.count == count);
        release(&r);
    }
}

/* The densest commands there are fill the outputs to their ends. */
static void test_promised_sizes_suffice(void)
{
    char text[4096] = "ZADD k";
    size_t length = strlen(text);
    while (length + 5 < sizeof text) {
        memcpy(text + length, " 1 a", 4);
        length += 4;
        text[length] = '\n';
        results r = read_text(text, length + 1);
        CHECK(r.status == GOB_OK && r.run.count == (length - 6) / 4);
        release(&r);
    }
}

/* Random pieces of commands: a whole block and the same block cut in two read alike. */
static void test_random_pieces(void)
{
    static const char *const pieces[] = {
        "ZADD ", "ZINCRBY ", "k ",     "1 ",   "a ",   "\"",   "'",       "\\x4",   "\\",
        "\n",    "*4\r\n",   "$1\r\n", "\r\n", "1e9 ", "nan ", "$-1\r\n", "$9\r\n", "ZADD k 1 a\n"};
    uint64_t state = 7;
    for (int round = 0; round < 20000; round++) {
        char text[256] = "ZADD k 1 a\n";
        while (strlen(text) < 100) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            strcat(text, pieces[(state >> 33) % (sizeof pieces / sizeof pieces[0])]);
        }
        results whole = read_text(text, strlen(text));
        CHECK(whole.run.consumed <= strlen(text) && whole.run.count >= 1);
        for (size_t i = 0; i < whole.run.count; i++) {
            CHECK(whole.run.stops[i] <= whole.run.stops[i + 1]);
        }
        results again = read_text(text, whole.run.consumed);
        CHECK(again.status == GOB_OK && again.run.count == whole.run.count);
        CHECK(again.run.consumed == whole.run.consumed && again.run.lines == whole.run.lines);
        CHECK(memcmp(again.run.text, whole.run.text, (size_t)whole.run.stops[whole.run.count]) ==
              0);
        release(&whole);
        release(&again);
    }
}

static void test_integers(void)
{
    int64_t value = 7;
    CHECK(gob_parse_int64("-9223372036854775808", 20, &value) && value == INT64_MIN);
    CHECK(gob_parse_int64("9223372036854775807", 19, &value) && value == INT64_MAX);
    CHECK(gob_parse_int64("0", 1, &value) && value == 0);
    value = 7;
    CHECK(!gob_parse_int64("9223372036854775808", 19, &value));
    CHECK(!gob_parse_int64("-9223372036854775809", 20, &value));
    CHECK(!gob_parse_int64("-0", 2, &value));
    CHECK(!gob_parse_int64("01", 2, &value));
    CHECK(!gob_parse_int64("", 0, &value));
    CHECK(!gob_parse_int64("-", 1, &value));
    CHECK(value == 7);
}

static void test_long_scores(void)
{
    char text[GOB_SCORE_TEXT_MAX + 2];
    double value = 7;
    memset(text, '0', sizeof text);
    text[1] = '.';
    CHECK(gob_parse_score(text, GOB_SCORE_TEXT_MAX, &value) && value == 0);
    value = 7;
    CHECK(!gob_parse_score(text, GOB_SCORE_TEXT_MAX + 1, &value) && value == 7);
    memset(text, '.', sizeof text);
    CHECK(!gob_parse_score(text, GOB_SCORE_TEXT_MAX, &value));
}

int main(void)
{
    test_a_run_ends_at_another_key();
    test_faults();
    test_every_cut();
    test_promised_sizes_suffice();
    test_random_pieces();
    test_integers();
    test_long_scores();
    return test_report();
}
