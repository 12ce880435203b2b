/* UTF-8, exactly as Python's strict codec has it: no surrogates, nothing overlong. */
#ifndef GOB_UTF8_H
#define GOB_UTF8_H

#include "gob_compiler.h"

GOB_INLINE bool gob_utf8_encodes(uint32_t c)
{
    return c <= 0x10FFFF && (c & 0xFFFFF800U) != 0xD800U;
}

GOB_INLINE size_t gob_utf8_size(uint32_t c)
{
    return 1U + (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);
}

/* Writes one code point that encodes; returns what follows it. */
GOB_INLINE uint8_t *gob_utf8_put(uint8_t *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (uint8_t)c;
        return out;
    }
    size_t tails = gob_utf8_size(c) - 1;
    *out++ = (uint8_t)((0xFF00U >> (tails + 1)) | (c >> (6 * tails)));
    while (tails-- != 0) {
        *out++ = (uint8_t)(0x80U | ((c >> (6 * tails)) & 0x3FU));
    }
    return out;
}

bool gob_utf8_valid(const uint8_t *at, size_t n);

#define GOB_UTF8_HIGH UINT64_C(0x8080808080808080)

GOB_INLINE bool gob_utf8_ascii(const uint8_t *at, size_t n)
{
    uint64_t bits = 0;
    if (n < 8) {
        while (n != 0) {
            bits |= at[--n];
        }
        return bits < 0x80;
    }
    for (size_t i = 0; i + 8 < n; i += 8) {
        bits |= gob_load64(at + i);
    }
    return ((bits | gob_load64(at + n - 8)) & GOB_UTF8_HIGH) == 0;
}

#endif
