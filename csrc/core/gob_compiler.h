/* What the compiler gives us: hints, and the one way to touch unaligned memory. */
#ifndef GOB_COMPILER_H
#define GOB_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define GOB_LIKELY(x) __builtin_expect(!!(x), 1)
#define GOB_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define GOB_PREFETCH(p) __builtin_prefetch((p), 1)
#define GOB_INLINE static inline __attribute__((always_inline))
#else
#error "goblin builds with gcc or clang"
#endif

/* Values of the machine's byte order at any address. */
GOB_INLINE uint16_t gob_load16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

GOB_INLINE uint32_t gob_load32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

GOB_INLINE uint64_t gob_load64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

GOB_INLINE void gob_store16(void *p, uint16_t v)
{
    memcpy(p, &v, sizeof v);
}

GOB_INLINE void gob_store32(void *p, uint32_t v)
{
    memcpy(p, &v, sizeof v);
}

GOB_INLINE void gob_store64(void *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}

/* High 64 bits of a 64 x 64 bit product. */
GOB_INLINE uint64_t gob_mulhi64(uint64_t a, uint64_t b)
{
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
}

GOB_INLINE unsigned gob_ctz64(uint64_t v)
{
    return (unsigned)__builtin_ctzll(v);
}

/* Bits needed to hold v: 0 for 0, 64 for the largest. */
GOB_INLINE unsigned gob_bit_width(uint64_t v)
{
    return v == 0 ? 0U : 64U - (unsigned)__builtin_clzll(v);
}

#endif
