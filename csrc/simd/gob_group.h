/* Groups of bytes or words compared at once. Bit i of a result is set where element i matches. */
#ifndef GOB_GROUP_H
#define GOB_GROUP_H

#include "gob_compiler.h"
#include "gob_cpu.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Sixteen bytes. */
GOB_INLINE unsigned gob_group_match(const uint8_t *group, uint8_t value, gob_simd level)
{
#if defined(__SSE2__)
    if (GOB_LIKELY(level >= GOB_SSE2)) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)group);
        return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)value)));
    }
#endif
    (void)level;
    unsigned mask = 0;
    for (unsigned i = 0; i < 16; i++) {
        mask |= (unsigned)(group[i] == value) << i;
    }
    return mask;
}

/* Eight 16-bit values. */
GOB_INLINE unsigned gob_group_match8(const uint8_t *group, uint16_t value, gob_simd level)
{
#if defined(__SSE2__)
    if (GOB_LIKELY(level >= GOB_SSE2)) {
        __m128i words = _mm_loadu_si128((const __m128i *)(const void *)group);
        __m128i equal = _mm_cmpeq_epi16(words, _mm_set1_epi16((short)value));
        return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128()));
    }
#endif
    (void)level;
    unsigned mask = 0;
    for (unsigned i = 0; i < 8; i++) {
        mask |= (unsigned)(gob_load16(group + 2 * i) == value) << i;
    }
    return mask;
}

#endif
