/* Bit packing of unsigned integers at one width, lowest bits first.
 *
 * Value i occupies bits [i * bits, (i + 1) * bits). Widths are 0..56 and 64, so that one unaligned
 * 64-bit load reaches any value; a packed column must therefore be followed by GOB_PACK_SLACK
 * readable bytes. */
#ifndef GOB_PACK_H
#define GOB_PACK_H

#include "gob_compiler.h"

enum { GOB_PACK_SLACK = 8 };

/* The width that holds every value of up to `width` bits. */
GOB_INLINE unsigned gob_pack_bits(unsigned width)
{
    return width > 56 ? 64 : width;
}

/* Bytes of n values, without the slack. */
GOB_INLINE size_t gob_pack_bytes(size_t n, unsigned bits)
{
    return (n * bits + 7) / 8;
}

GOB_INLINE uint64_t gob_pack_mask(unsigned bits)
{
    return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

GOB_INLINE uint64_t gob_pack_get(const uint8_t *in, size_t i, unsigned bits)
{
    size_t at = i * bits;
    return (gob_load64(in + at / 8) >> (at % 8)) & gob_pack_mask(bits);
}

/* Writes gob_pack_bytes(n, bits) bytes and zeroes the slack. */
void gob_pack(uint8_t *out, const uint64_t *values, size_t n, unsigned bits);

#endif
