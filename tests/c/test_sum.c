/* The exact sum against 128-bit integers, and the corners of binary64. */
#include <float.h>
#include <math.h>

#include "gob_random.h"
#include "gob_sum.h"
#include "gob_test.h"

static double sum_of(const double *v, size_t n)
{
    gob_sum s;
    gob_sum_init(&s);
    for (size_t i = 0; i < n; i++) {
        gob_sum_add(&s, v[i]);
    }
    return gob_sum_value(&s);
}

static void shuffle(double *v, size_t n, uint64_t *rng)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = random_below(rng, i);
        double swap = v[i - 1];
        v[i - 1] = v[j];
        v[j] = swap;
    }
}

/* Terms are m * 2**e, so that the true sum fits 128 bits, which the compiler rounds correctly. */
static void test_against_integers(void)
{
    enum { TERMS = 200 };
    const int scales[] = {0, -1000, 800, -300};
    uint64_t rng = 1;
    for (int round = 0; round < 4000; round++) {
        double v[TERMS];
        __int128 total = 0;
        size_t n = 1 + random_below(&rng, TERMS);
        int scale = scales[random_below(&rng, 4)];
        for (size_t i = 0; i < n; i++) {
            int64_t m = (int64_t)(random_next(&rng) >> (11 + random_below(&rng, 50)));
            int e = (int)random_below(&rng, 60);
            m = random_below(&rng, 2) != 0 ? m : -m;
            total += (__int128)m * ((__int128)1 << e);
            v[i] = ldexp((double)m, e + scale);
        }
        double expected = ldexp((double)total, scale);
        CHECK(sum_of(v, n) == expected);
        shuffle(v, n, &rng);
        CHECK(sum_of(v, n) == expected);
    }
}

static void test_corners(void)
{
    gob_sum s;
    gob_sum_init(&s);
    CHECK(gob_sum_value(&s) == 0.0 && !signbit(gob_sum_value(&s)));
    CHECK(sum_of((double[]){1e16, 1.0, -1e16}, 3) == 1.0);
    CHECK(sum_of((double[]){1e308, 1e308, -1e308}, 3) == 1e308);
    CHECK(sum_of((double[]){DBL_MAX, DBL_MAX}, 2) == HUGE_VAL);
    CHECK(sum_of((double[]){-DBL_MAX, -DBL_MAX}, 2) == -HUGE_VAL);
    CHECK(sum_of((double[]){DBL_MAX, -DBL_MAX, 0x1p-1074}, 3) == 0x1p-1074);
    /* Half a step above the largest double goes away from zero, anything less stays. */
    CHECK(sum_of((double[]){DBL_MAX, 0x1p970}, 2) == HUGE_VAL);
    CHECK(sum_of((double[]){DBL_MAX, 0x1p970, -0x1p-1074}, 3) == DBL_MAX);
    /* Ties to even, broken by the smallest of terms. */
    CHECK(sum_of((double[]){1.0, 0x1p-53}, 2) == 1.0);
    CHECK(sum_of((double[]){1.0, 0x1p-53, 0x1p-1074}, 3) == 1.0 + DBL_EPSILON);
    CHECK(sum_of((double[]){1.0 + DBL_EPSILON, 0x1p-53}, 2) == 1.0 + 2 * DBL_EPSILON);
    CHECK(sum_of((double[]){-1.0, -0x1p-53, -0x1p-1074}, 3) == -1.0 - DBL_EPSILON);
    CHECK(sum_of((double[]){0x1p-1074, 0x1p-1074, 0x1p-1074}, 3) == 0x3p-1074);
    CHECK(sum_of((double[]){DBL_MIN, -0x1p-1074}, 2) == DBL_MIN - 0x1p-1074);
}

static void test_infinities(void)
{
    CHECK(sum_of((double[]){HUGE_VAL, 1.0, -DBL_MAX}, 3) == HUGE_VAL);
    CHECK(sum_of((double[]){1.0, -HUGE_VAL}, 2) == -HUGE_VAL);
    CHECK(isnan(sum_of((double[]){HUGE_VAL, 1.0, -HUGE_VAL}, 3)));
}

/* Carries are settled long before a digit overflows; and a sum goes on after it was read. */
static void test_going_on(void)
{
    gob_sum s;
    gob_sum_init(&s);
    double expected = 0.0;
    for (int i = 0; i < 1000; i++) {
        s.unsettled += (1U << 29) - 1 - s.unsettled; /* as if after many additions */
        gob_sum_add(&s, i % 3 == 0 ? -1e9 : 4294967295.0);
        expected += i % 3 == 0 ? -1e9 : 4294967295.0;
        CHECK(s.unsettled == 0);
        CHECK(gob_sum_value(&s) == expected);
    }
}

int main(void)
{
    test_against_integers();
    test_corners();
    test_infinities();
    test_going_on();
    return test_report();
}
