/* Sorting entries and names, against qsort. */
#include <stdlib.h>

#include "gob_random.h"
#include "gob_sort.h"
#include "gob_test.h"

enum { MOST = 5000, SHAPES = 8 };

static int compare(const void *left, const void *right)
{
    const gob_entry *l = left;
    const gob_entry *r = right;
    return (int)gob_entry_less(*r, *l) - (int)gob_entry_less(*l, *r);
}

static gob_entry make(unsigned shape, size_t i, uint64_t *rng)
{
    switch (shape) {
    case 0: /* anything */
        return (gob_entry){random_next(rng), random_next(rng)};
    case 1: /* one key */
        return (gob_entry){42, random_next(rng)};
    case 2: /* a few keys, each with many members */
        return (gob_entry){random_below(rng, 5) << 61, random_next(rng) << 40};
    case 3: /* many small ties */
        return (gob_entry){random_below(rng, 1000), random_below(rng, 1000)};
    case 4: /* sorted */
        return (gob_entry){i / 7, i};
    case 5: /* reversed */
        return (gob_entry){MOST - i, MOST - i};
    case 6: /* one byte differs */
        return (gob_entry){(random_next(rng) & 0xFF) << 24, 7};
    default: /* small integer scores */
        return (gob_entry){gob_key((double)random_below(rng, 300)), gob_bias((int64_t)i)};
    }
}

static void check_sort(unsigned shape, size_t n, uint64_t *rng)
{
    static gob_entry entries[MOST + 1];
    static gob_entry expected[MOST];
    static gob_entry scratch[MOST];
    for (size_t i = 0; i < n; i++) {
        entries[i] = expected[i] = make(shape, i, rng);
    }
    qsort(expected, n, sizeof expected[0], compare);
    gob_entry after = {n == 0 ? 0 : expected[n - 1].key,
                       0}; /* would tie with the last, but stays */
    entries[n] = after;
    CHECK(gob_sort_entries(entries, scratch, n, NULL) == GOB_OK);
    CHECK(memcmp(entries, expected, n * sizeof expected[0]) == 0);
    CHECK(entries[n].key == after.key && entries[n].member == after.member);
}

/* Names */

enum { NAMES = 1500, LENGTH = 1600 };

static gob_alloc a;
static gob_members names;

/* What the names of a shape have in common, at least. */
static const size_t common[] = {0, 200, 1, 1, 14, 112, 119, 0};

enum { NAME_SHAPES = sizeof common / sizeof common[0] };

static gob_name make_name(unsigned shape, size_t i, uint64_t *rng)
{
    static uint8_t at[LENGTH];
    size_t len = common[shape];
    memset(at, shape == 3 ? 0 : 'a', LENGTH);
    switch (shape) {
    case 0: /* short ones of few bytes, NULs among them */
        len = random_below(rng, 12);
        for (size_t k = 0; k < len; k++) {
            at[k] = (uint8_t)(random_below(rng, 3) * 127);
        }
        break;
    case 2: /* each the beginning of others */
    case 3: /* the same of NULs */
        len = 1 + i;
        break;
    case 7: /* anything */
        len = 8 + random_below(rng, 30);
        for (size_t k = 0; k < len; k++) {
            at[k] = (uint8_t)random_next(rng);
        }
        break;
    default: /* they differ after a while, at the end of a level or in it */
        at[len] = (uint8_t)random_next(rng);
        at[len + 1] = (uint8_t)random_next(rng);
        len += random_below(rng, 3) + (shape == 1 ? random_below(rng, 20) : 0);
    }
    return (gob_name){at, len};
}

static int compare_named(const void *left, const void *right)
{
    const gob_entry *l = left;
    const gob_entry *r = right;
    if (l->key != r->key) {
        return l->key < r->key ? -1 : 1;
    }
    return gob_name_compare(gob_members_name(&names, gob_unbias(l->member)),
                            gob_members_name(&names, gob_unbias(r->member)));
}

static void check_names(unsigned shape, size_t n, uint64_t keys, uint64_t *rng)
{
    static gob_entry entries[NAMES];
    static gob_entry expected[NAMES];
    static gob_entry sorted[NAMES];
    static gob_entry scratch[NAMES];
    size_t count = 0;
    gob_alloc_init(&a);
    gob_members_init(&names, 0, 8, n);
    for (size_t i = 0; i < n; i++) {
        int64_t id;
        gob_name name = make_name(shape, i, rng);
        if (gob_members_find(&names, name) == GOB_NO_ID) {
            CHECK(gob_members_add(&names, &a, name, &id) == GOB_OK);
            gob_entry e = {random_below(rng, keys) << 56, gob_bias(id)};
            size_t at = random_below(rng, count + 1);
            entries[count++] = entries[at];
            entries[at] = e;
        }
    }
    memcpy(expected, entries, count * sizeof expected[0]);
    qsort(expected, count, sizeof expected[0], compare_named);
    const size_t depths[] = {0, common[shape] / 2, common[shape]};
    for (size_t k = 0; k < 3; k++) {
        memcpy(sorted, entries, count * sizeof sorted[0]);
        CHECK(gob_sort_names(&names, depths[k], sorted, scratch, count, NULL) == GOB_OK);
        CHECK(memcmp(sorted, expected, count * sizeof sorted[0]) == 0);
    }
    gob_members_free(&names, &a);
}

int main(void)
{
    uint64_t rng = 1;
    const size_t sizes[] = {0, 1, 2, 47, 48, 49, 50, 97, 193, 500, NAMES};
    for (unsigned shape = 0; shape < NAME_SHAPES; shape++) {
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            check_names(shape, sizes[k], 1, &rng);
            check_names(shape, sizes[k], 3, &rng);
            check_names(shape, sizes[k], 200, &rng);
        }
    }
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        for (size_t n = 0; n < 100; n++) {
            check_sort(shape, n, &rng);
        }
        for (size_t n = 100; n <= MOST; n += n / 2 + 1) {
            check_sort(shape, n, &rng);
        }
        check_sort(shape, MOST, &rng);
    }
    return test_report();
}
