/* Bit packing at every width. */
#include "gob_pack.h"
#include "gob_random.h"
#include "gob_test.h"

enum { VALUES = 300, CANARY = 0xA5 };

static void test_width(unsigned bits, size_t n, uint64_t *rng)
{
    uint64_t values[VALUES + 1] = {0};
    uint8_t room[VALUES * 8 + GOB_PACK_SLACK + 2];
    for (size_t i = 0; i < n; i++) {
        values[i] = random_next(rng) & gob_pack_mask(bits);
        values[i] = random_below(rng, 8) == 0 ? gob_pack_mask(bits) : values[i];
    }
    uint8_t *out = room + 1; /* unaligned */
    memset(room, CANARY, sizeof room);
    gob_pack(out, values, n, bits);
    size_t bytes = gob_pack_bytes(n, bits);
    CHECK(bytes == (n * bits + 7) / 8);
    bool same = true;
    for (size_t i = 0; i < n; i++) {
        same = same && gob_pack_get(out, i, bits) == values[i];
    }
    CHECK(same);
    for (size_t i = 0; i < GOB_PACK_SLACK; i++) {
        CHECK(out[bytes + i] == 0);
    }
    CHECK(room[0] == CANARY && out[bytes + GOB_PACK_SLACK] == CANARY);
}

int main(void)
{
    uint64_t rng = 1;
    for (unsigned bits = 0; bits <= 64; bits += bits == 56 ? 8 : 1) {
        for (size_t n = 0; n <= VALUES; n += n < 20 ? 1 : 35) {
            test_width(bits, n, &rng);
        }
    }
    for (unsigned width = 0; width <= 64; width++) {
        CHECK(gob_pack_bits(width) == (width <= 56 ? width : 64));
        CHECK(gob_bit_width(gob_pack_mask(width)) == width);
    }
    return test_report();
}
