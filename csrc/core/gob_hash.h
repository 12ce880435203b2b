/* Hashing: a seeded mixer for integer members, and XXH3 for digests. The only includer of xxHash.
 */
#ifndef GOB_HASH_H
#define GOB_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "gob_compiler.h"

/* Both halves of a 64 x 64 bit product. */
GOB_INLINE uint64_t gob_fold(uint64_t l, uint64_t r)
{
    unsigned __int128 product = (unsigned __int128)l * r;
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* Every bit of the member reaches the high bits (the home group) and the low ones (the control
 * byte). By the known factor alone, members that crowd a table of one seed would crowd those of
 * many others; by the secret one alone, some strides would spread badly. */
GOB_INLINE uint64_t gob_hash_int(int64_t member, uint64_t seed)
{
    uint64_t secret = (seed << 32 | seed >> 32) | 1;
    return gob_fold(gob_fold((uint64_t)member ^ seed, UINT64_C(0x9E3779B97F4A7C15)), secret);
}

/* A new seed from an old one, for a second structure of the same object. */
GOB_INLINE uint64_t gob_reseed(uint64_t seed)
{
    return gob_hash_int((int64_t)seed, UINT64_C(0xD1B54A32D192ED03));
}

#endif
