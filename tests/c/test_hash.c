/* Hashing of integer members: spread of the home groups and tags, and the seeds. */
#include "gob_hash.h"
#include "gob_random.h"
#include "gob_test.h"

/* Each input bit flips each output bit about every other time. */
static void test_avalanche(void)
{
    enum { SAMPLES = 2000 };
    static unsigned flips[64][64];
    uint64_t rng = 1;
    for (int sample = 0; sample < SAMPLES; sample++) {
        uint64_t member = random_next(&rng);
        uint64_t seed = random_next(&rng);
        uint64_t hash = gob_hash_int((int64_t)member, seed);
        for (unsigned in = 0; in < 64; in++) {
            uint64_t other = gob_hash_int((int64_t)(member ^ UINT64_C(1) << in), seed);
            for (unsigned out = 0; out < 64; out++) {
                flips[in][out] += (unsigned)((hash ^ other) >> out & 1);
            }
        }
    }
    for (unsigned in = 0; in < 64; in++) {
        unsigned high = 0;
        unsigned low = 0;
        for (unsigned out = 0; out < 16; out++) {
            high += flips[in][63 - out];
            low += flips[in][out];
        }
        CHECK(high > SAMPLES * 16 / 5 && low > SAMPLES * 16 / 5);
    }
}

/* Members at any stride: no group gets several times its share, and no tag does. */
static void test_spread(void)
{
    enum { GROUPS = 250, TAGS = 128, SHARE = 32 };
    uint64_t rng = 2;
    for (unsigned k = 0; k < 50; k++) {
        unsigned group[GROUPS] = {0};
        unsigned tag[TAGS] = {0};
        uint64_t seed = random_next(&rng);
        for (uint64_t i = 0; i < SHARE * GROUPS; i++) {
            uint64_t hash = gob_hash_int((int64_t)(i << k), seed);
            group[gob_mulhi64(hash, GROUPS)]++;
            tag[hash & 0x7F]++;
        }
        unsigned most = 0;
        unsigned most_tags = 0;
        for (unsigned i = 0; i < GROUPS; i++) {
            most = group[i] > most ? group[i] : most;
        }
        for (unsigned i = 0; i < TAGS; i++) {
            most_tags = tag[i] > most_tags ? tag[i] : most_tags;
        }
        CHECK(most < 3 * SHARE);
        CHECK(most_tags < 3 * SHARE * GROUPS / TAGS);
    }
}

static void test_seeds(void)
{
    uint64_t seed = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t next = gob_reseed(seed);
        CHECK(next != seed);
        CHECK(gob_hash_int(i, seed) != gob_hash_int(i, next));
        CHECK(gob_hash_int(i, seed) == gob_hash_int(i, seed));
        seed = next;
    }
}

/* The published value for no bytes: digests can be compared with those of other programs. */
static void test_xxh3(void)
{
    XXH128_hash_t hash = XXH3_128bits("", 0);
    CHECK(hash.high64 == UINT64_C(0x99aa06d3014798d8));
    CHECK(hash.low64 == UINT64_C(0x6001c324468d497f));
}

int main(void)
{
    test_avalanche();
    test_spread();
    test_seeds();
    test_xxh3();
    return test_report();
}
