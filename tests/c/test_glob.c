/* Redis' glob, against a matcher that tries everything. */
#include "gob_glob.h"
#include "gob_random.h"
#include "gob_test.h"

static gob_name name_of(const char *text)
{
    return (gob_name){(const uint8_t *)text, strlen(text)};
}

static bool fits(const char *pattern, const char *text, bool utf8)
{
    return gob_glob_matches(name_of(pattern), name_of(text), utf8);
}

/* Patterns of letters, ? and * only. */
static bool tried(const char *pattern, const char *text)
{
    if (*pattern == '*') {
        return tried(pattern + 1, text) || (*text != 0 && tried(pattern, text + 1));
    }
    if (*pattern == 0 || *text == 0) {
        return *pattern == *text;
    }
    return (*pattern == '?' || *pattern == *text) && tried(pattern + 1, text + 1);
}

static void test_stars(void)
{
    uint64_t rng = 1;
    for (int round = 0; round < 20000; round++) {
        char pattern[9] = {0};
        char text[9] = {0};
        for (size_t i = random_below(&rng, 9); i > 0; i--) {
            pattern[i - 1] = "ab?**"[random_below(&rng, 5)];
        }
        for (size_t i = random_below(&rng, 9); i > 0; i--) {
            text[i - 1] = "ab"[random_below(&rng, 2)];
        }
        CHECK(fits(pattern, text, false) == tried(pattern, text));
        CHECK(fits(pattern, text, true) == tried(pattern, text));
    }
}

static void test_classes(void)
{
    CHECK(fits("[a-c]", "b", false) && fits("[c-a]", "b", false) && !fits("[a-c]", "d", false));
    CHECK(fits("[^a-c]", "d", false) && !fits("[^a-c]", "a", false));
    CHECK(!fits("[]]", "]", false) && fits("[^]", "x", false) && !fits("[", "[", false));
    CHECK(fits("[a-]b", "_", false) && !fits("[a-]b", "ab", false));
    CHECK(fits("[\\]-]", "]", false) && fits("[\\]-]", "-", false));
    CHECK(fits("[a-", "-", false) && fits("[\\", "\\", false) && fits("a\\", "a\\", false));
    CHECK(fits("\\*", "*", false) && !fits("\\*", "a", false));
}

static void test_characters(void)
{
    const char *texts[] = {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    for (size_t i = 0; i < 3; i++) {
        CHECK(fits("?", texts[i], true) && !fits("?", texts[i], false));
        CHECK(fits(texts[i], texts[i], true) && fits(texts[i], texts[i], false));
        CHECK(fits("[\xC3\xA0-\xF0\x9F\x98\x80]", texts[i], true));
        CHECK(!fits("[^\xC3\xA0-\xF0\x9F\x98\x80]", texts[i], true));
        CHECK(fits("*?", texts[i], true) && !fits("??", texts[i], true));
    }
}

int main(void)
{
    test_stars();
    test_classes();
    test_characters();
    return test_report();
}
