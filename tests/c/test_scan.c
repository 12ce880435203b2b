/* Scans of integers and of names, against a sorted array. */
#include "gob_scan.h"

#include <math.h>
#include <stdlib.h>

#include "gob_names_model.h"
#include "gob_random.h"
#include "gob_sum.h"

/* An integer as a member; good until the next call. */
static const gob_member *one(int64_t id)
{
    static gob_member m;
    m = (gob_member){.id = id};
    return &m;
}

/* What the entries' ids stand for, or NULL. */
static const gob_members *names;

static int compare_entries(const void *left, const void *right)
{
    const gob_entry *l = left;
    const gob_entry *r = right;
    return (int)gob_order_less(names, *r, *l) - (int)gob_order_less(names, *l, *r);
}

static bool contains(gob_interval within, double score)
{
    return (score > within.lo || (score == within.lo && !within.open_lo)) &&
           (score < within.hi || (score == within.hi && !within.open_hi));
}

enum { SCANNED = 2 * GOB_PAGE_IDS + 3000 };

/* Scans against a sorted array. */
static void check_scans(gob_zset *z, const gob_entry *sorted, size_t n)
{
    static gob_entry heap[SCANNED + 100];
    const size_t sizes[] = {0, 1, 2, 10, 257, n == 0 ? 0 : n - 1, n, n + 100};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        for (int highest = 0; highest < 2; highest++) {
            size_t got;
            bool same = gob_scan_extremes(z, sizes[k], highest != 0, heap, &got) == GOB_OK;
            same = same && got == (sizes[k] < n ? sizes[k] : n);
            for (size_t i = 0; same && i < got; i++) {
                gob_entry e = sorted[highest != 0 ? n - 1 - i : i];
                same = heap[i].key == e.key && heap[i].member == e.member;
            }
            CHECK(same);
        }
    }
    const double ends[] = {-HUGE_VAL, -1.0, 0.0, 1.0, 2.5, 254.0, 1e30, HUGE_VAL};
    for (size_t k = 0; k < 8 * 8 * 4; k++) {
        gob_interval within = {ends[k / 8 % 8], ends[k % 8], (k & 64) != 0, (k & 128) != 0};
        uint64_t expected = 0;
        gob_sum sum;
        gob_sum_init(&sum);
        for (size_t i = 0; i < n; i++) {
            double score = gob_key_score(sorted[i].key);
            if (contains(within, score)) {
                expected++;
                gob_sum_add(&sum, score);
            }
        }
        double total = gob_sum_value(&sum);
        double got;
        uint64_t count;
        CHECK(gob_scan_sum(z, within, &got) == GOB_OK);
        CHECK(gob_scan_count(z, within, &count) == GOB_OK && count == expected);
        CHECK(got == total || (isnan(got) && isnan(total)));
    }
}

static void test_scans(size_t n, int64_t stride)
{
    static gob_entry sorted[SCANNED];
    uint64_t rng = n;
    gob_zset z;
    gob_changes c = {0};
    gob_zset_init(&z, (gob_layout){.member_bytes = 8, .score_bytes = 8, .compress = true}, 1.0F, 1);
    for (size_t i = 0; i < n; i++) {
        double score = random_mixed_score(&rng);
        sorted[i] = gob_zset_entry((int64_t)i * stride - 1000, score);
        CHECK(gob_zset_add(&z, one((int64_t)i * stride - 1000), score, GOB_SET, &c) == GOB_OK);
    }
    qsort(sorted, n, sizeof sorted[0], compare_entries);
    check_scans(&z, sorted, n);
    /* The first few reads scan, then the order is worth it; a write starts over. */
    for (int i = 0; i < GOB_SCANS_MAX; i++) {
        CHECK(gob_zset_prefers_scan(&z));
    }
    bool small = n <= GOB_SMALL_MAX; /* those have nothing better */
    CHECK(gob_zset_prefers_scan(&z) == small);
    CHECK(gob_zset_add(&z, one(-9999999), 1.0, GOB_SET, &c) == GOB_OK && gob_zset_prefers_scan(&z));
    gob_zset_remove(&z, -9999999);
    CHECK(gob_zset_sync(&z) == GOB_OK && gob_zset_prefers_scan(&z) == small);
    for (int i = 0; i < 200; i++) {
        double score = i == 0 ? -HUGE_VAL : i == 1 ? HUGE_VAL : random_mixed_score(&rng);
        uint64_t below = 0;
        uint64_t not_above = 0;
        for (size_t k = 0; k < n; k++) {
            below += gob_key_score(sorted[k].key) < score;
            not_above += gob_key_score(sorted[k].key) <= score;
        }
        CHECK(gob_zset_below(&z, score, false) == below);
        CHECK(gob_zset_below(&z, score, true) == not_above);
    }
    gob_zset_clear(&z);
    CHECK(z.alloc.live == 0);
}

static void test_names(gob_layout layout, size_t n)
{
    static gob_entry sorted[POOL];
    uint64_t rng = n;
    gob_zset z;
    gob_changes c = {0};
    fill_pool(layout.fixed);
    gob_zset_init(&z, layout, 1.0F, 1);
    for (size_t i = 0; i < n; i++) {
        double score = i % 2 != 0 ? (double)(float)random_mixed_score(&rng) : 1.0;
        CHECK(gob_zset_add(&z, named(i), score, GOB_SET, &c) == GOB_OK);
    }
    for (size_t i = 0; i < n; i++) {
        int64_t id = gob_zset_find(&z, named(i));
        sorted[i] = gob_zset_entry(id, gob_zset_score(&z, id));
    }
    names = gob_zset_names(&z);
    qsort(sorted, n, sizeof sorted[0], compare_entries);
    check_scans(&z, sorted, n);
    names = NULL;
    gob_zset_clear(&z);
    CHECK(z.alloc.live == 0);
}

int main(void)
{
    test_names(*names_layout(0, 8, true), 0);
    test_names(*names_layout(0, 8, true), GOB_SMALL_MAX);
    test_names(*names_layout(0, 8, true), POOL);
    test_names(*names_layout(16, 4, true), 700);
    test_scans(0, 1);
    test_scans(1, 1);
    test_scans(GOB_SMALL_MAX, 1);
    test_scans(5000, 1);
    test_scans(5000, 1 << 20);
    test_scans(SCANNED, 1);
    return test_report();
}
