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

static uint64_t match_bytes_scalar(const uint8_t *bytes, size_t n, uint8_t value)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < n; i++) {
        mask |= (uint64_t)(bytes[i] == value) << i;
    }
    return mask;
}

static size_t sum_bytes_scalar(const uint8_t *bytes, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += bytes[i];
    }
    return sum;
}

/* What the vector versions share. */
#if defined(__x86_64__) || defined(__AARCH64EL__)

/* The n lowest bits, n <= 64. */
static uint64_t lowest(size_t n)
{
    return n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* Masks of a vector's first bytes: from 32 - n on, n are set. */
static const uint8_t first_bytes[64] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};

#endif

static const gob_kernels scalar = {count_codes_scalar, match_bytes_scalar, sum_bytes_scalar};

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

static uint64_t match_bytes_sse2(const uint8_t *bytes, size_t n, uint8_t value)
{
    __m128i wanted = _mm_set1_epi8((char)value);
    uint64_t mask = 0;
    for (size_t i = 0; i < n; i += 16) {
        __m128i some = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(some, wanted)) << i;
    }
    return mask & lowest(n);
}

static size_t sum_bytes_sse2(const uint8_t *bytes, size_t n)
{
    __m128i sum = _mm_setzero_si128();
    for (size_t i = 0; i < n; i += 16) {
        const uint8_t *first = first_bytes + 32 - (n - i < 16 ? n - i : 16);
        __m128i some = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        __m128i mask = _mm_loadu_si128((const __m128i *)(const void *)first);
        __m128i sad = _mm_sad_epu8(_mm_and_si128(some, mask), _mm_setzero_si128());
        sum = _mm_add_epi64(sum, sad);
    }
    sum = _mm_add_epi64(sum, _mm_unpackhi_epi64(sum, sum));
    return (size_t)_mm_cvtsi128_si64(sum);
}

static const gob_kernels sse2 = {count_codes_sse2, match_bytes_sse2, sum_bytes_sse2};

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

AVX2 static uint64_t match_bytes_avx2(const uint8_t *bytes, size_t n, uint8_t value)
{
    __m256i wanted = _mm256_set1_epi8((char)value);
    uint64_t mask = 0;
    for (size_t i = 0; i < n; i += 32) {
        __m256i some = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + i));
        mask |= (uint64_t)(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(some, wanted)) << i;
    }
    return mask & lowest(n);
}

AVX2 static size_t sum_bytes_avx2(const uint8_t *bytes, size_t n)
{
    __m256i sum = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i += 32) {
        const uint8_t *first = first_bytes + 32 - (n - i < 32 ? n - i : 32);
        __m256i some = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + i));
        __m256i mask = _mm256_loadu_si256((const __m256i *)(const void *)first);
        __m256i sad = _mm256_sad_epu8(_mm256_and_si256(some, mask), _mm256_setzero_si256());
        sum = _mm256_add_epi64(sum, sad);
    }
    __m128i half = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    half = _mm_add_epi64(half, _mm_unpackhi_epi64(half, half));
    return (size_t)_mm_cvtsi128_si64(half);
}

static const gob_kernels avx2 = {count_codes_avx2, match_bytes_avx2, sum_bytes_avx2};

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

static uint64_t match_bytes_neon(const uint8_t *bytes, size_t n, uint8_t value)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < n; i += 16) {
        mask |= (uint64_t)gob_group_match(bytes + i, value, GOB_NEON) << i;
    }
    return mask & lowest(n);
}

static size_t sum_bytes_neon(const uint8_t *bytes, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i += 16) {
        const uint8_t *first = first_bytes + 32 - (n - i < 16 ? n - i : 16);
        sum += vaddlvq_u8(vandq_u8(vld1q_u8(bytes + i), vld1q_u8(first)));
    }
    return sum;
}

static const gob_kernels neon = {count_codes_neon, match_bytes_neon, sum_bytes_neon};

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
