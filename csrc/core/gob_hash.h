/* Hashing: a seeded mixer for integer members, and XXH3 for digests. The only includer of xxHash.
 */
#ifndef GOB_HASH_H
#define GOB_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "gob_compiler.h"

/* Both halves of a 64 x 64 bit product folded: every bit of the member reaches the high bits (the
 * home group) and the low ones (the control byte). */
GOB_INLINE uint64_t gob_hash_int(int64_t member, uint64_t seed)
{
    unsigned __int128 product =
        (unsigned __int128)((uint64_t)member ^ seed) * UINT64_C(0x9E3779B97F4A7C15);
    uint64_t folded = (uint64_t)(product >> 64) ^ (uint64_t)product;
    return folded ^ (folded >> 29);
}

/* A new seed from an old one, for a second structure of the same object. */
GOB_INLINE uint64_t gob_reseed(uint64_t seed)
{
    return gob_hash_int((int64_t)seed, UINT64_C(0xD1B54A32D192ED03));
}

#endif
