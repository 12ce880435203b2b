#include "gob_compiler.h"
#include "gob_test.h"

static void test_unaligned_round_trips(void)
{
    unsigned char bytes[16];
    for (size_t at = 0; at < 8; at++) {
        memset(bytes, 0xEE, sizeof bytes);
        gob_store16(bytes + at, 0x0123U);
        CHECK(gob_load16(bytes + at) == 0x0123U);
        CHECK(bytes[at + 2] == 0xEE);
        gob_store32(bytes + at, 0x01234567U);
        CHECK(gob_load32(bytes + at) == 0x01234567U);
        CHECK(bytes[at + 4] == 0xEE);
        gob_store64(bytes + at, 0x0123456789ABCDEFU);
        CHECK(gob_load64(bytes + at) == 0x0123456789ABCDEFU);
        CHECK(bytes[at + 8] == 0xEE);
    }
}

static void test_mulhi64(void)
{
    CHECK(gob_mulhi64(0, UINT64_MAX) == 0);
    CHECK(gob_mulhi64(UINT64_C(1) << 63, 2) == 1);
    CHECK(gob_mulhi64(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
}

static void test_bit_counts(void)
{
    CHECK(gob_bit_width(0) == 0);
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t v = UINT64_C(1) << bit;
        CHECK(gob_ctz64(v) == bit);
        CHECK(gob_bit_width(v) == bit + 1);
        CHECK(gob_bit_width(v | 1) == bit + 1);
    }
}

int main(void)
{
    test_unaligned_round_trips();
    test_mulhi64();
    test_bit_counts();
    return test_report();
}
