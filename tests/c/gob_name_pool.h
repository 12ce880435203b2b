/* Distinct names for tests: short and long ones, with NULs, prefixes of each other, or UUIDs. */
#ifndef GOB_NAME_POOL_H
#define GOB_NAME_POOL_H

#include "gob_members.h"
#include "gob_random.h"

enum { POOL = 3000, POOL_BYTES = 1 << 20, LONGEST = 2000 };

static gob_name pool[POOL];

/* The bytes of name i, all of whose kin end in its number or have another length. */
static inline size_t pool_name(size_t i, uint8_t *out)
{
    const size_t lengths[] = {0, 1, 2, 254, 255, 256, LONGEST};
    uint64_t rng = i;
    size_t shared = 1 + i / 8 % 3 * 60; /* bytes that many have in common */
    size_t len;
    switch (i < 7 ? 7 : i % 7) {
    case 7: /* the edges of length */
        memset(out, i < 3 ? 0 : 'e', lengths[i]);
        return lengths[i];
    case 0:
    case 1: /* one the beginning of the next */
        memset(out, 'z', 3 + i / 7);
        out[0] = (uint8_t)(i % 7);
        return 3 + i / 7;
    case 2: /* many NULs */
        memset(out, 0, 12);
        out[4 + i % 8] = 'n';
        len = 12;
        break;
    case 3: /* bytes at random */
        len = 1 + random_below(&rng, 70);
        for (size_t k = 0; k < len; k++) {
            out[k] = (uint8_t)random_next(&rng);
        }
        out[0] = 3;
        break;
    default:
        memset(out, 'p', shared);
        len = shared;
        break;
    }
    out[len] = (uint8_t)(i >> 8);
    out[len + 1] = (uint8_t)i;
    return len + 2;
}

/* Fills the pool: names of any length, or of `fixed` (16) bytes. */
static inline void fill_pool(unsigned fixed)
{
    static uint8_t bytes[POOL_BYTES];
    uint64_t rng = fixed;
    size_t used = 0;
    for (size_t i = 0; i < POOL; i++) {
        pool[i] = (gob_name){bytes + used, fixed};
        if (fixed == 0) {
            pool[i].len = pool_name(i, bytes + used);
        } else { /* some agree in a few bytes, some in all but two */
            uint64_t high = i % 3 == 0 ? 0 : random_next(&rng) % 5;
            uint64_t low = i % 2 == 0 ? i : random_next(&rng) << 16 | i;
            gob_store64(bytes + used, high);
            gob_store64(bytes + used + 8, __builtin_bswap64(low));
        }
        used += pool[i].len;
    }
}

#endif
