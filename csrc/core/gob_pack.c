#include "gob_pack.h"

void gob_pack(uint8_t *out, const uint64_t *values, size_t n, unsigned bits)
{
    size_t bytes = gob_pack_bytes(n, bits);
    if (bits == 64) {
        memcpy(out, values, bytes);
    } else {
        /* Each step stores the whole word that it is filling, over the slack at the end too; a
         * branch on full words would be mispredicted. */
        uint64_t word = 0;
        unsigned filled = 0;
        uint8_t *at = out;
        for (size_t i = 0; i < n; i++) {
            word |= values[i] << filled;
            gob_store64(at, word);
            filled += bits;
            at += filled / 8;
            word >>= filled & ~7U;
            filled &= 7;
        }
    }
    memset(out + bytes, 0, GOB_PACK_SLACK);
}
