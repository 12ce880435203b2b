#include "gob_pack.h"

void gob_pack(uint8_t *out, const uint64_t *values, size_t n, unsigned bits)
{
    size_t bytes = gob_pack_bytes(n, bits);
    if (bits == 64) {
        memcpy(out, values, bytes);
    } else {
        uint64_t word = 0;
        unsigned filled = 0;
        uint8_t *end = out + bytes;
        uint8_t *at = out;
        for (size_t i = 0; i < n; i++) {
            word |= values[i] << filled;
            filled += bits;
            if (filled >= 64) {
                gob_store64(at, word);
                at += 8;
                filled -= 64;
                word = filled == 0 ? 0 : values[i] >> (bits - filled);
            }
        }
        for (; at < end; at++, word >>= 8) {
            *at = (uint8_t)word;
        }
    }
    memset(out + bytes, 0, GOB_PACK_SLACK);
}
