/* Hashes of sets of entries: equal for equal sets, however they come, and for no others. */
#include "gob_multiset.h"

#include "gob_config.h"
#include "gob_random.h"
#include "gob_score.h"
#include "gob_test.h"

enum { MOST = 600 };

static uint64_t keys[MOST];
static uint64_t members[MOST];

static gob_multiset make(gob_alloc *a, uint64_t seed, uint64_t count)
{
    gob_multiset s;
    gob_alloc_init(a);
    CHECK(gob_multiset_init(&s, a, seed, count) == GOB_OK);
    return s;
}

/* Members near each other or not, with one key or several. */
static void fill(uint64_t *rng, size_t n, bool near, bool tie)
{
    uint64_t base = near ? random_next(rng) & ~UINT64_C(0xFFFFFF) : 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t draw = random_next(rng);
        members[i] = near ? base + i * 7 + draw % 7 : draw;
        keys[i] = gob_key(tie ? 3.0 : (double)(i / 5) - 20.0);
    }
}

static void test_any_cut_gives_the_same_sum(void)
{
    uint64_t rng = 1;
    gob_alloc a;
    for (unsigned turn = 0; turn < 80; turn++) {
        size_t n = 1 + random_below(&rng, MOST - 1);
        gob_multiset s = make(&a, turn, turn % 8 < 4 ? n : UINT64_C(1) << 40);
        fill(&rng, n, turn % 2 == 0, turn % 4 < 2);
        uint64_t whole = gob_multiset_of(&s, keys, members, n);
        uint64_t one_by_one = 0;
        for (size_t i = n; i-- != 0;) {
            one_by_one += gob_multiset_of(&s, &keys[i], &members[i], 1);
        }
        CHECK(whole == one_by_one);
        gob_multiset_free(&s, &a);
        CHECK(a.live == 0);
    }
}

static void test_codes_are_entries(void)
{
    static uint8_t codes[GOB_PAGE_IDS];
    uint64_t by_code[UINT8_MAX + 1] = {0};
    uint64_t rng = 2;
    gob_alloc a;
    for (unsigned turn = 0; turn < 12; turn++) {
        gob_multiset s = make(&a, turn, UINT64_C(1) << 2 * turn);
        uint64_t first = random_next(&rng) & ~(uint64_t)(GOB_PAGE_IDS - 1);
        uint64_t sum = 0;
        for (unsigned code = 0; code < 250; code++) {
            by_code[code] = gob_multiset_of_key(&s, gob_key(code));
        }
        for (size_t i = 0; i < GOB_PAGE_IDS; i++) {
            codes[i] = (uint8_t)random_next(&rng);
            uint64_t key = gob_key(codes[i]);
            uint64_t member = first + i;
            sum += codes[i] < 250 ? gob_multiset_of(&s, &key, &member, 1) : 0;
        }
        CHECK(gob_multiset_of_codes(&s, first, codes, by_code) == sum);
        gob_multiset_free(&s, &a);
    }
}

/* One entry that is another, two that exchange their keys, and sums that a product of fewer numbers
 * would not tell apart. */
static void test_other_sets_have_other_sums(void)
{
    uint64_t rng = 3;
    gob_alloc a;
    for (unsigned turn = 0; turn < 200; turn++) {
        gob_multiset s = make(&a, turn, MOST);
        fill(&rng, MOST, turn % 2 == 0, false);
        uint64_t sum = gob_multiset_of(&s, keys, members, MOST);
        size_t i = 4 + random_below(&rng, MOST - 8) / 5 * 5; /* the last one of its key */
        uint64_t bit = UINT64_C(1) << random_below(&rng, 64);
        members[i] ^= bit;
        CHECK(gob_multiset_of(&s, keys, members, MOST) != sum);
        members[i] ^= bit;
        uint64_t kept = members[i];
        members[i] = members[i + 1];
        members[i + 1] = kept;
        CHECK(gob_multiset_of(&s, keys, members, MOST) != sum);
        gob_multiset_free(&s, &a);
    }
}

static void test_seeds_give_other_sums(void)
{
    gob_alloc a;
    uint64_t rng = 4;
    uint64_t last = 0;
    fill(&rng, MOST, true, true);
    for (uint64_t seed = 0; seed < 50; seed++) {
        gob_multiset s = make(&a, seed, MOST);
        uint64_t sum = gob_multiset_of(&s, keys, members, MOST);
        CHECK(sum != last);
        last = sum;
        gob_multiset_free(&s, &a);
    }
}

static void test_no_memory(void)
{
    gob_alloc a;
    gob_multiset s;
    gob_alloc_init(&a);
    gob_alloc_fail_at(&a, 1);
    CHECK(gob_multiset_init(&s, &a, 5, MOST) == GOB_NOMEM);
    CHECK(a.live == 0);
}

int main(void)
{
    test_any_cut_gives_the_same_sum();
    test_codes_are_entries();
    test_other_sets_have_other_sums();
    test_seeds_give_other_sums();
    test_no_memory();
    return test_report();
}
