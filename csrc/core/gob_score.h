/* Scores: doubles (or floats widened to doubles) that are never NaN and never -0.0, and their keys,
 * unsigned integers in the same order. NaN serves as "absent" inside the core. */
#ifndef GOB_SCORE_H
#define GOB_SCORE_H

#include <float.h>
#include <math.h>

#include "gob_compiler.h"
#include "gob_status.h"

#define GOB_ABSENT ((double)NAN)

GOB_INLINE bool gob_is_absent(double score)
{
    return score != score;
}

/* Neither NaN nor -0.0. */
GOB_INLINE bool gob_is_score(double score)
{
    return score == score && (score != 0.0 || !signbit(score));
}

GOB_INLINE uint64_t gob_double_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

GOB_INLINE double gob_bits_double(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Order-preserving: 2**63 plus or minus the magnitude's bits. Unlike the usual flip of all bits,
 * this keeps the trailing zeros of negative scores, which the blocks shift out. */
GOB_INLINE uint64_t gob_key(double score)
{
    uint64_t bits = gob_double_bits(score);
    uint64_t magnitude = bits & (UINT64_MAX >> 1);
    uint64_t zero = UINT64_C(1) << 63;
    return (bits >> 63) != 0 ? zero - magnitude : zero + magnitude;
}

GOB_INLINE double gob_key_score(uint64_t key)
{
    uint64_t zero = UINT64_C(1) << 63;
    return gob_bits_double(key >= zero ? key - zero : (zero - key) | zero);
}

/* Members as unsigned integers in the same order. */
GOB_INLINE uint64_t gob_bias(int64_t member)
{
    return (uint64_t)member ^ (UINT64_C(1) << 63);
}

GOB_INLINE int64_t gob_unbias(uint64_t biased)
{
    return (int64_t)(biased ^ (UINT64_C(1) << 63));
}

/* The score that a column of score_bytes (4 or 8) holds for v. GOB_NAN, or GOB_RANGE for a finite
 * value beyond binary32. */
GOB_INLINE gob_status gob_narrow(double v, unsigned score_bytes, double *out)
{
    if (GOB_UNLIKELY(v != v)) {
        return GOB_NAN;
    }
    double kept = v;
    if (score_bytes == 4) {
        kept = (double)(float)v;
        if (isinf(kept) && !isinf(v)) {
            return GOB_RANGE;
        }
    }
    *out = kept + 0.0; /* -0.0 becomes 0.0 */
    return GOB_OK;
}

/* Whether subtracting what led from old to sum does not bring old back; false where there was none.
 */
GOB_INLINE bool gob_is_lossy(double old, double by, double sum, unsigned score_bytes)
{
    double back;
    return !gob_is_absent(old) &&
           (gob_narrow(sum - by, score_bytes, &back) != GOB_OK || back != old);
}

/* A range of scores; an open end does not belong to it. */
typedef struct gob_interval {
    double lo;
    double hi;
    bool open_lo;
    bool open_hi;
} gob_interval;

GOB_INLINE bool gob_within(gob_interval interval, double score)
{
    return (interval.open_lo ? score > interval.lo : score >= interval.lo) &&
           (interval.open_hi ? score < interval.hi : score <= interval.hi);
}

/* Raw columns of 4 or 8 byte scores at any address. */
GOB_INLINE double gob_score_load(const void *p, unsigned score_bytes)
{
    if (score_bytes == 4) {
        float f;
        memcpy(&f, p, sizeof f);
        return (double)f;
    }
    double d;
    memcpy(&d, p, sizeof d);
    return d;
}

GOB_INLINE void gob_score_store(void *p, unsigned score_bytes, double score)
{
    if (score_bytes == 4) {
        float f = (float)score;
        memcpy(p, &f, sizeof f);
    } else {
        memcpy(p, &score, sizeof score);
    }
}

#endif
