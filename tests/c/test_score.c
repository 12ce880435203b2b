/* Scores: order-preserving keys, narrowing, and raw columns. */
#include "gob_random.h"
#include "gob_score.h"
#include "gob_test.h"

static const double ascending[] = {
    -HUGE_VAL, -DBL_MAX, -1e30, -2.5,    -1.0,          -DBL_MIN, -4.9e-324, 0.0,
    4.9e-324,  DBL_MIN,  0.5,   1.0,     1.00000000001, 2.0,      253.0,     254.0,
    65533.0,   65534.0,  1e16,  FLT_MAX, DBL_MAX,       HUGE_VAL,
};

enum { ASCENDING = sizeof ascending / sizeof ascending[0] };

static double random_double(uint64_t *rng)
{
    for (;;) {
        double v = gob_bits_double(random_next(rng));
        if (v == v) {
            return v;
        }
    }
}

static void test_keys(void)
{
    uint64_t rng = 1;
    for (size_t i = 0; i < ASCENDING; i++) {
        CHECK(gob_key_score(gob_key(ascending[i])) == ascending[i]);
        CHECK(i == 0 || gob_key(ascending[i - 1]) < gob_key(ascending[i]));
    }
    CHECK(gob_key(-0.0) == gob_key(0.0));
    CHECK(gob_double_bits(gob_key_score(gob_key(-0.0))) == 0);
    for (int i = 0; i < 100000; i++) {
        double a = random_double(&rng);
        double b = random_double(&rng);
        CHECK(a == 0.0 || gob_double_bits(gob_key_score(gob_key(a))) == gob_double_bits(a));
        CHECK((gob_key(a) < gob_key(b)) == (a < b));
    }
    /* What the blocks shift out: trailing zeros, of either sign. */
    CHECK((gob_key(3.0) & 0xFFFF) == 0 && (gob_key(-3.0) & 0xFFFF) == 0);
}

static void test_members(void)
{
    const int64_t members[] = {INT64_MIN, INT64_MIN + 1, INT32_MIN, -1,       0,
                               1,         INT32_MAX,     INT64_MAX, INT64_MAX};
    for (size_t i = 0; i + 1 < sizeof members / sizeof members[0]; i++) {
        CHECK(gob_unbias(gob_bias(members[i])) == members[i]);
        CHECK((gob_bias(members[i]) < gob_bias(members[i + 1])) == (members[i] < members[i + 1]));
    }
}

static void test_narrow(void)
{
    double kept = 7.0;
    CHECK(gob_narrow((double)NAN, 4, &kept) == GOB_NAN && kept == 7.0);
    CHECK(gob_narrow((double)NAN, 8, &kept) == GOB_NAN && kept == 7.0);
    CHECK(gob_narrow(DBL_MAX, 8, &kept) == GOB_OK && kept == DBL_MAX);
    kept = 7.0;
    CHECK(gob_narrow(DBL_MAX, 4, &kept) == GOB_RANGE && kept == 7.0);
    CHECK(gob_narrow(-1e39, 4, &kept) == GOB_RANGE && kept == 7.0);
    /* Half a step above the largest float is the first value that rounds away. */
    double half = ldexp(1.0, 127 - 24);
    CHECK(gob_narrow((double)FLT_MAX + half, 4, &kept) == GOB_RANGE);
    CHECK(gob_narrow(nextafter((double)FLT_MAX + half, 0.0), 4, &kept) == GOB_OK);
    CHECK(kept == (double)FLT_MAX);
    CHECK(gob_narrow(HUGE_VAL, 4, &kept) == GOB_OK && kept == HUGE_VAL);
    CHECK(gob_narrow(-HUGE_VAL, 8, &kept) == GOB_OK && kept == -HUGE_VAL);
    CHECK(gob_narrow(16777217.0, 4, &kept) == GOB_OK && kept == 16777216.0);
    CHECK(gob_narrow(16777217.0, 8, &kept) == GOB_OK && kept == 16777217.0);
    for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
        CHECK(gob_narrow(-0.0, bytes, &kept) == GOB_OK && gob_double_bits(kept) == 0);
    }
    CHECK(gob_narrow(-1e-300, 4, &kept) == GOB_OK && gob_double_bits(kept) == 0);
}

static void test_columns(void)
{
    uint8_t column[8 * ASCENDING + 1];
    for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
        for (size_t i = 0; i < ASCENDING; i++) {
            double kept = 0.0;
            bool fits = gob_narrow(ascending[i], bytes, &kept) == GOB_OK;
            gob_score_store(column + 1 + i * bytes, bytes, kept); /* unaligned */
            CHECK(!fits || gob_score_load(column + 1 + i * bytes, bytes) == kept);
        }
    }
    gob_score_store(column, 4, GOB_ABSENT);
    CHECK(gob_is_absent(gob_score_load(column, 4)) && !gob_is_absent(0.0));
}

int main(void)
{
    test_keys();
    test_members();
    test_narrow();
    test_columns();
    return test_report();
}
