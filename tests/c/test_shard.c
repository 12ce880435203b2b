/* Shards: an even spread, whole pages, and the same places for ever. */
#include "gob_shard.h"
#include "gob_test.h"

enum { SHARDS = 7, SHARE = 400 };

static void check_even(const unsigned *counts)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        CHECK(counts[i] > SHARE * 3 / 4 && counts[i] < SHARE * 5 / 4);
    }
}

/* Runs side by side, and ids at any stride that leaves one to a run. */
static void test_integers(void)
{
    for (unsigned k = GOB_SHARD_BITS; k < 52; k++) {
        unsigned counts[SHARDS] = {0};
        for (int64_t i = -SHARE * SHARDS / 2; i < SHARE * SHARDS / 2; i++) {
            counts[gob_shard_of_int(i * (INT64_C(1) << k), SHARDS)]++;
        }
        check_even(counts);
    }
}

static void test_pages_stay_whole(void)
{
    for (int64_t first = -5 * GOB_PAGE_IDS; first < 5 * GOB_PAGE_IDS; first += GOB_PAGE_IDS) {
        uint16_t shard = gob_shard_of_int(first, SHARDS);
        for (int64_t i = 0; i < GOB_PAGE_IDS; i++) {
            CHECK(gob_shard_of_int(first + i, SHARDS) == shard);
        }
    }
}

static void test_names(void)
{
    unsigned counts[SHARDS] = {0};
    for (int i = 0; i < SHARE * SHARDS; i++) {
        char text[16];
        int length = snprintf(text, sizeof text, "user:%d", i);
        gob_name name = {(const uint8_t *)text, (size_t)length};
        counts[gob_shard_of_name(name, SHARDS)]++;
    }
    check_even(counts);
}

/* Machines that disagreed would each keep a part of a member's score. */
static void test_places(void)
{
    CHECK(gob_shard_of_int(0, 1000) == 396);
    CHECK(gob_shard_of_int(123456789, 1000) == 701);
    CHECK(gob_shard_of_int(-1, 1000) == 167);
    CHECK(gob_shard_of_int(16383, 1000) == 396 && gob_shard_of_int(16384, 1000) == 616);
    CHECK(gob_shard_of_name((gob_name){(const uint8_t *)"", 0}, 1000) == 175);
    CHECK(gob_shard_of_name((gob_name){(const uint8_t *)"ann", 3}, 1000) == 281);
    CHECK(gob_shard_of_int(INT64_MIN, 1) == 0);
}

int main(void)
{
    test_integers();
    test_pages_stay_whole();
    test_names();
    test_places();
    return test_report();
}
