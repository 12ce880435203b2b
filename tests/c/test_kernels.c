/* Loops over bytes, by every instruction set. */
#include "gob_kernels.h"
#include "gob_random.h"
#include "gob_test.h"

enum { MOST = 300 };

static size_t expected_count(const uint8_t *codes, size_t n, unsigned lo, unsigned hi)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += codes[i] >= lo && codes[i] <= hi;
    }
    return count;
}

static void check_counts(const uint8_t *codes, size_t n, unsigned lo, unsigned hi)
{
    size_t expected = expected_count(codes, n, lo, hi);
    for (int level = GOB_SCALAR; level <= (int)gob_cpu_best(); level++) {
        const gob_kernels *k = gob_kernels_for((gob_simd)level);
        CHECK(k->count_codes(codes, n, (uint8_t)lo, (uint8_t)hi) == expected);
    }
}

int main(void)
{
    uint8_t room[MOST + 1];
    uint8_t *codes = room + 1; /* unaligned */
    uint64_t rng = 1;
    for (size_t n = 0; n <= MOST; n++) {
        unsigned most = n % 2 != 0 ? 256 : 4;
        for (size_t i = 0; i < n; i++) {
            codes[i] = (uint8_t)(random_below(&rng, most) - most / 2);
        }
        check_counts(codes, n, 0, 255);
        check_counts(codes, n, 0, 0);
        check_counts(codes, n, 255, 255);
        check_counts(codes, n, 127, 128);
        for (int k = 0; k < 20; k++) {
            unsigned lo = (unsigned)random_below(&rng, 256);
            check_counts(codes, n, lo, lo + (unsigned)random_below(&rng, 256 - lo));
        }
    }
    return test_report();
}
