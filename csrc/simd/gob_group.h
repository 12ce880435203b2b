/* Sixteen control bytes compared at once. Each result has bit i set where byte i matches. */
#ifndef GOB_GROUP_H
#define GOB_GROUP_H

#include "gob_compiler.h"
#include "gob_cpu.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

#endif
