/* A small generator of test data, the same on every machine. */
#ifndef GOB_RANDOM_H
#define GOB_RANDOM_H

#include <math.h>
#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* 0 .. n - 1 */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
    return random_next(state) % n;
}

/* Of each form that scores are kept in; many are equal. */
static inline double random_mixed_score(uint64_t *rng)
{
    switch (random_below(rng, 6)) {
    case 0:
        return (double)random_below(rng, 300);
    case 1:
        return (double)(65500 + random_below(rng, 60));
    case 2:
        return 0.5 * (double)random_below(rng, 9) - 2.0;
    case 3:
        return random_below(rng, 2) != 0 ? HUGE_VAL : 1e30;
    default:
        return (double)random_below(rng, 4);
    }
}

#endif
