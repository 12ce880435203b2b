#include "gob_kernels.h"

#include "gob_group.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static bool within(uint8_t code, uint8_t lo, uint8_t hi)
{
    return code >= lo && code <= hi;
}

static size_t count_codes_scalar(const uint8_t *codes, size_t n, uint8_t lo, uint8_t hi)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += within(codes[i], lo, hi);
    }
    return count;
}

static const gob_kernels scalar = {count_codes_scalar};

#if defined(__x86_64__)

/* A code is in lo..hi where code - lo, wrapping, does not pass hi - lo. */

static unsigned match_sse2(const uint8_t *codes, __m128i lo, __m128i span)
{
    __m128i above = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)codes), lo);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(above, span), above));
}

static size_t count_codes_sse2(const uint8_t *codes, size_t n, uint8_t lo, uint8_t hi)
{
    __m128i low = _mm_set1_epi8((char)lo);
    __m128i span = _mm_set1_epi8((char)(hi - lo));
    size_t count = 0;
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        count += (size_t)__builtin_popcount(match_sse2(codes + i, low, span));
    }
    return count + count_codes_scalar(codes + i, n - i, lo, hi);
}

static const gob_kernels sse2 = {count_codes_sse2};

#define AVX2 __attribute__((target("avx2,popcnt")))

AVX2 static unsigned match_avx2(const uint8_t *codes, __m256i lo, __m256i span)
{
    __m256i above = _mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)(const void *)codes), lo);
    return (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(above, span), above));
}

AVX2 static size_t count_codes_avx2(const uint8_t *codes, size_t n, uint8_t lo, uint8_t hi)
{
    __m256i low = _mm256_set1_epi8((char)lo);
    __m256i span = _mm256_set1_epi8((char)(hi - lo));
    size_t count = 0;
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        count += (size_t)__builtin_popcount(match_avx2(codes + i, low, span));
    }
    return count + count_codes_scalar(codes + i, n - i, lo, hi);
}

static const gob_kernels avx2 = {count_codes_avx2};

#elif defined(__AARCH64EL__)

static size_t count_codes_neon(const uint8_t *codes, size_t n, uint8_t lo, uint8_t hi)
{
    uint8x16_t low = vdupq_n_u8(lo);
    uint8x16_t span = vdupq_n_u8((uint8_t)(hi - lo));
    size_t count = 0;
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        uint8x16_t inside = vcleq_u8(vsubq_u8(vld1q_u8(codes + i), low), span);
        count += vaddvq_u8(vshrq_n_u8(inside, 7));
    }
    return count + count_codes_scalar(codes + i, n - i, lo, hi);
}

static const gob_kernels neon = {count_codes_neon};

#endif

const gob_kernels *gob_kernels_for(gob_simd level)
{
#if defined(__x86_64__)
    return level >= GOB_AVX2 ? &avx2 : level == GOB_SSE2 ? &sse2 : &scalar;
#elif defined(__AARCH64EL__)
    return level >= GOB_NEON ? &neon : &scalar;
#else
    (void)level;
    return &scalar;
#endif
}
