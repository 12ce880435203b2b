/* Sorting entries, against qsort. */
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
    gob_sort_entries(entries, scratch, n);
    CHECK(memcmp(entries, expected, n * sizeof expected[0]) == 0);
    CHECK(entries[n].key == after.key && entries[n].member == after.member);
}

int main(void)
{
    uint64_t rng = 1;
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
