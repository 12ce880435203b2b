/* Loops over bytes, by every instruction set. */
#include <stdlib.h>

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

/* Of up to 64 bytes, in memory that ends where reading has to. */
static void test_few_bytes(void)
{
    uint64_t rng = 2;
    for (size_t n = 0; n <= 64; n++) {
        uint8_t *bytes = malloc(n + GOB_OVERREAD);
        uint64_t mask = 0;
        size_t sum = 0;
        for (size_t i = 0; i < n + GOB_OVERREAD; i++) {
            bytes[i] = (uint8_t)(random_below(&rng, 2) == 0 ? 255 : random_below(&rng, 3));
            mask |= i < n ? (uint64_t)(bytes[i] == 255) << i : 0;
            sum += i < n ? bytes[i] : 0;
        }
        for (int level = GOB_SCALAR; level <= (int)gob_cpu_best(); level++) {
            const gob_kernels *k = gob_kernels_for((gob_simd)level);
            CHECK(k->match_bytes(bytes, n, 255) == mask);
            CHECK(k->match_bytes(bytes, n, 9) == 0);
            CHECK(k->sum_bytes(bytes, n) == sum);
        }
        free(bytes);
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
    test_few_bytes();
    return test_report();
}
