/* Digests, by which two engines compare their content whatever their layout or tie order.
 *
 * An entry is hashed as the 64-bit member, or the 64-bit length of the name and its bytes, and then
 * the float64 score, all little-endian. */
#ifndef GOB_DIGEST_H
#define GOB_DIGEST_H

#include "gob_hash.h"
#include "gob_sum.h"
#include "gob_zset.h"

typedef struct gob_digest {
    uint64_t ordered[2]; /* low, high: XXH3-128 of the entries, in order */
    uint64_t mapping[2]; /* low, high: sum modulo 2**128 of each entry's XXH3-128 */
    double total;        /* exact sum of the scores, rounded once */
} gob_digest;

/* A digest under way, so that the caller can pause between steps. */
typedef struct gob_digester {
    XXH3_state_t state;
    gob_sum sum;
    unsigned __int128 mapping;
    uint64_t rank;
    gob_window window;
} gob_digester;

void gob_digester_init(gob_digester *d);

/* Takes about n further entries in; false once there are none left. The set has to be synced, and
 * must not change between steps. */
bool gob_digester_step(gob_digester *d, const gob_zset *z, size_t n);

gob_digest gob_digester_result(gob_digester *d);

#endif
