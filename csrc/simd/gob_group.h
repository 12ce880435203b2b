/* Groups of bytes or words compared at once. Bit i of a result is set where element i matches. */
#ifndef GOB_GROUP_H
#define GOB_GROUP_H

#include "gob_compiler.h"
#include "gob_cpu.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__AARCH64EL__)
#include <arm_neon.h>
#endif

/* What groups of sixteen bytes may read, but do not use, behind the last of some bytes: two of them
 * are compared at once. */
enum { GOB_OVERREAD = 31 };

/* Sixteen bytes. */
GOB_INLINE unsigned gob_group_match(const uint8_t *group, uint8_t value, gob_simd level)
{
#if defined(__x86_64__)
    if (GOB_LIKELY(level >= GOB_SSE2)) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)group);
        return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)value)));
    }
#elif defined(__AARCH64EL__)
    if (GOB_LIKELY(level >= GOB_NEON)) {
        /* Each half's matches keep the bit of their place, and bytes of both halves side by side
         * add up to the mask. */
        uint8x16_t bits = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
        uint8x16_t equal = vandq_u8(vceqq_u8(vld1q_u8(group), vdupq_n_u8(value)), bits);
        uint8x16_t pairs = vzip1q_u8(equal, vextq_u8(equal, equal, 8));
        return vaddvq_u16(vreinterpretq_u16_u8(pairs));
    }
#endif
    (void)level;
    unsigned mask = 0;
    for (unsigned i = 0; i < 16; i++) {
        mask |= (unsigned)(group[i] == value) << i;
    }
    return mask;
}

/* The sum of the first n <= 16 of sixteen bytes. */
GOB_INLINE size_t gob_group_sum(const uint8_t *group, size_t n, gob_simd level)
{
#if defined(__x86_64__) || defined(__AARCH64EL__)
    static const uint8_t first[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                      255, 255, 255, 255, 255, 255, 255, 255};
#endif
#if defined(__x86_64__)
    if (GOB_LIKELY(level >= GOB_SSE2)) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)group);
        __m128i mask = _mm_loadu_si128((const __m128i *)(const void *)(first + 16 - n));
        __m128i sum = _mm_sad_epu8(_mm_and_si128(bytes, mask), _mm_setzero_si128());
        return (size_t)_mm_cvtsi128_si32(sum) + (size_t)_mm_extract_epi16(sum, 4);
    }
#elif defined(__AARCH64EL__)
    if (GOB_LIKELY(level >= GOB_NEON)) {
        return vaddlvq_u8(vandq_u8(vld1q_u8(group), vld1q_u8(first + 16 - n)));
    }
#endif
    (void)level;
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += group[i];
    }
    return sum;
}

/* Eight 16-bit values. */
GOB_INLINE unsigned gob_group_match8(const uint8_t *group, uint16_t value, gob_simd level)
{
#if defined(__x86_64__)
    if (GOB_LIKELY(level >= GOB_SSE2)) {
        __m128i words = _mm_loadu_si128((const __m128i *)(const void *)group);
        __m128i equal = _mm_cmpeq_epi16(words, _mm_set1_epi16((short)value));
        return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128()));
    }
#elif defined(__AARCH64EL__)
    if (GOB_LIKELY(level >= GOB_NEON)) {
        uint8x8_t bits = vcreate_u8(UINT64_C(0x8040201008040201));
        uint16x8_t words = vreinterpretq_u16_u8(vld1q_u8(group));
        return vaddv_u8(vand_u8(vmovn_u16(vceqq_u16(words, vdupq_n_u16(value))), bits));
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
