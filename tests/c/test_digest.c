/* Digests against a direct XXH3 of the entries. */
#include "gob_digest.h"
#include "gob_names_model.h"
#include "gob_random.h"
#include "gob_sort.h"
#include "gob_test.h"

enum { MOST = 3000 };

/* What a digest is made of: 16 bytes an entry, member and score, in order. */
static struct {
    uint8_t bytes[MOST][16];
    size_t count;
} content;

static double random_score(uint64_t *rng)
{
    const double others[] = {-HUGE_VAL, -2.5, 0.0, 0.5, 16777216.0, 1e30};
    uint64_t draw = random_below(rng, 12);
    return draw < 6 ? (double)(float)others[draw] : (double)random_below(rng, 5);
}

/* Fills the sets in two orders of insertion, and the content from a sorted array. */
static void fill(gob_zset *z, gob_zset *other, size_t n, uint64_t *rng)
{
    static gob_entry entries[MOST];
    static gob_entry scratch[MOST];
    gob_changes changes = {0};
    for (size_t i = 0; i < n; i++) {
        int64_t member = (int64_t)i * (i % 2 == 0 ? 1 : -700001);
        entries[i] = gob_zset_entry(member, random_score(rng));
        double score = gob_key_score(entries[i].key);
        CHECK(gob_zset_add(z, &(gob_member){.id = member}, score, GOB_SET, &changes) == GOB_OK);
    }
    CHECK(gob_sort_entries(entries, scratch, n, NULL) == GOB_OK);
    content.count = n;
    for (size_t i = 0; i < n; i++) {
        int64_t member = gob_unbias(entries[i].member);
        double score = gob_key_score(entries[i].key);
        memcpy(content.bytes[i], &member, 8); /* little-endian, as every machine we build for */
        memcpy(content.bytes[i] + 8, &score, 8);
        CHECK(gob_zset_add(other, &(gob_member){.id = member}, score, GOB_SET, &changes) == GOB_OK);
    }
}

static gob_digest digest_of(gob_zset *z, size_t step)
{
    static gob_digester d;
    size_t steps = 1;
    CHECK(gob_zset_sync(z) == GOB_OK);
    gob_digester_init(&d);
    while (gob_digester_step(&d, z, step)) {
        steps++;
    }
    CHECK(steps <= gob_zset_count(z) / step + 1);
    return gob_digester_result(&d);
}

static bool is_right(gob_digest d)
{
    XXH128_hash_t ordered = XXH3_128bits(content.bytes, content.count * 16);
    unsigned __int128 mapping = 0;
    gob_sum total;
    gob_sum_init(&total);
    for (size_t i = content.count; i-- > 0;) {
        XXH128_hash_t hash = XXH3_128bits(content.bytes[i], 16);
        mapping += (unsigned __int128)hash.high64 << 64 | hash.low64;
        gob_sum_add(&total, gob_score_load(content.bytes[i] + 8, 8));
    }
    return d.ordered[0] == ordered.low64 && d.ordered[1] == ordered.high64 &&
           d.mapping[0] == (uint64_t)mapping && d.mapping[1] == (uint64_t)(mapping >> 64) &&
           d.total == gob_sum_value(&total);
}

static void test_layouts(size_t n, uint64_t seed)
{
    const size_t steps[] = {1, 100, 256, 1000, 1 << 20};
    const gob_layout narrow = {.member_bytes = 4, .score_bytes = 4, .compress = true};
    const gob_layout wide = {.member_bytes = 8, .score_bytes = 8, .compress = false};
    uint64_t rng = seed;
    gob_zset z;
    gob_zset other;
    gob_zset_init(&z, narrow, 1.0F, seed);
    gob_zset_init(&other, wide, 1.0F, seed + 1);
    fill(&z, &other, n, &rng);
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
        CHECK(is_right(digest_of(&z, steps[k])));
        CHECK(is_right(digest_of(&other, steps[k])));
    }
    if (n != 0) { /* one score more than it was */
        double sum;
        CHECK(gob_zset_increment(&z, &(gob_member){.id = 0}, 1000.0, &sum) == GOB_OK);
        CHECK(isinf(sum) || sum > 1e20 || !is_right(digest_of(&z, 1000)));
    }
    gob_zset_clear(&z);
    gob_zset_clear(&other);
}

/* Names: the length in 8 bytes, the bytes, the score, however long that is. */
static void test_names(gob_layout layout, size_t n)
{
    static uint8_t bytes[POOL_BYTES + POOL * 16];
    static ranked rank[POOL];
    static model m;
    gob_zset z;
    gob_changes changes = {0};
    uint64_t rng = n;
    fill_pool(layout.fixed);
    gob_zset_init(&z, layout, 1.0F, n);
    m = (model){.n = n, .score_bytes = layout.score_bytes};
    model_clear(&m);
    for (size_t i = 0; i < n; i++) {
        m.score[i] = random_score(&rng);
        CHECK(gob_zset_add(&z, named(i), m.score[i], GOB_SET, &changes) == GOB_OK);
    }
    size_t count = model_rank(&m, rank);
    size_t used = 0;
    unsigned __int128 mapping = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t *entry = bytes + used;
        gob_store64(entry, rank[i].name.len);
        memcpy(entry + 8, rank[i].name.at, rank[i].name.len);
        memcpy(entry + 8 + rank[i].name.len, &rank[i].score, 8);
        XXH128_hash_t hash = XXH3_128bits(entry, 16 + rank[i].name.len);
        mapping += (unsigned __int128)hash.high64 << 64 | hash.low64;
        used += 16 + rank[i].name.len;
    }
    XXH128_hash_t ordered = XXH3_128bits(bytes, used);
    for (size_t step = 1; step < 5000; step *= 70) {
        gob_digest d = digest_of(&z, step);
        CHECK(d.ordered[0] == ordered.low64 && d.ordered[1] == ordered.high64);
        CHECK(d.mapping[0] == (uint64_t)mapping && d.mapping[1] == (uint64_t)(mapping >> 64));
    }
    gob_zset_clear(&z);
}

int main(void)
{
    for (size_t n = 0; n < POOL; n += 1 + n * 2) {
        test_names(*names_layout(0, 8, true), n);
        test_names(*names_layout(16, 4, false), n);
    }
    test_names(*names_layout(0, 4, true), POOL);
    const size_t sizes[] = {0, 1, 2, 255, 256, 257, MOST};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        test_layouts(sizes[k], k + 1);
    }
    return test_report();
}
