/* The index against an array of scores: pages and table, what bulk calls hold, walks. */
#include <stdlib.h>

#include "gob_index_model.h"
#include "gob_random.h"

static void erase(size_t id)
{
    CHECK(same_score(gob_index_erase(&ix, &a, member_of(id)), m.score[id]));
    m.count -= !gob_is_absent(m.score[id]);
    m.score[id] = GOB_ABSENT;
}

/* Dense ids move out to pages as they come, and back to the table as they go. */
static void test_moves(unsigned member_bytes, unsigned score_bytes, int64_t base)
{
    uint64_t rng = 1;
    begin_test(member_bytes, score_bytes, base, 1);
    for (size_t i = 0; i < 40000; i++) {
        CHECK(put(random_below(&rng, IDS), (double)random_below(&rng, 300)) == GOB_OK);
        if (i % 4000 == 0) {
            CHECK(matches(&ix, &a));
        }
    }
    CHECK(ix.pages.count >= 3 && ix.table.live == 0);
    CHECK(matches(&ix, &a));
    size_t most = a.live;
    for (size_t i = 0; m.count > 100; i++) {
        erase(random_below(&rng, IDS));
        if (i % 20000 == 0) {
            CHECK(matches(&ix, &a));
        }
    }
    CHECK(ix.pages.count == 0 && ix.table.live == m.count);
    CHECK(a.live < most / 10 && matches(&ix, &a));
    for (size_t id = 0; id < IDS; id++) {
        erase(id);
    }
    CHECK(a.live == 0 && matches(&ix, &a));
    end_test();
}

/* Random ids pay for no pages, and a cluster among them gets its own. */
static void test_sparse(void)
{
    begin_test(8, 8, INT64_MIN, INT64_C(1) << 48);
    for (size_t id = 0; id < IDS; id += 2) {
        CHECK(put(id, 1.0) == GOB_OK);
    }
    CHECK(ix.pages.count == 0 && ix.pages.dir == NULL && matches(&ix, &a));
    double old;
    for (int64_t member = 0; member < GOB_PAGE_IDS; member++) {
        CHECK(gob_index_put(&ix, &a, GOB_PAGE_IDS + member, 2.0, &old) == GOB_OK);
    }
    CHECK(gob_index_optimize(&ix, &a) == GOB_OK && ix.pages.count == 1 && valid(&ix));
    CHECK(ix.table.live == m.count && ix.live == m.count + GOB_PAGE_IDS);
    for (int64_t member = 0; member < GOB_PAGE_IDS; member++) {
        CHECK(gob_index_erase(&ix, &a, GOB_PAGE_IDS + member) == 2.0);
    }
    CHECK(ix.pages.count == 0 && matches(&ix, &a));
    end_test();
}

static double random_score(uint64_t *rng)
{
    const double others[] = {-1.0, 0.5, 65533.0, 65534.0, 1e6, 1e30, 16777216.0, HUGE_VAL};
    uint64_t draw = random_below(rng, 40);
    return draw < 8 ? others[draw] : (double)random_below(rng, draw < 30 ? 4 : 300);
}

static void fill(uint64_t *rng, unsigned score_bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double score = random_score(rng);
        score = score_bytes == 4 ? (double)(float)score : score;
        CHECK(put(random_below(rng, IDS), score) == GOB_OK);
    }
}

static void test_failures(unsigned score_bytes, int64_t stride)
{
    uint64_t rng = 2;
    begin_test(8, score_bytes, -500, stride);
    size_t failures = 0;
    for (int i = 0; i < 30000; i++) {
        bool grow = i % 10000 < 7000;
        size_t id = random_below(&rng, IDS / (1 + (size_t)i / 10000));
        double score = random_score(&rng);
        gob_alloc_fail_at(&a, random_below(&rng, 4));
        if (grow || random_below(&rng, 4) == 0) {
            gob_status status = put(id, score_bytes == 4 ? (double)(float)score : score);
            CHECK(status == GOB_OK || status == GOB_NOMEM);
            failures += status != GOB_OK;
        } else {
            erase(id);
        }
        if (i % 3000 == 2999) {
            (void)gob_index_optimize(&ix, &a);
        }
        gob_alloc_fail_at(&a, 0);
        if (i % 2000 == 0) {
            CHECK(matches(&ix, &a));
        }
    }
    CHECK(failures != 0 && matches(&ix, &a));
    end_test();
}

static void test_copy(unsigned score_bytes, int64_t stride)
{
    uint64_t rng = 3;
    gob_status status = GOB_NOMEM;
    begin_test(8, score_bytes, 0, stride);
    fill(&rng, score_bytes, 30000);
    for (uint64_t nth = 1; status != GOB_OK; nth++) {
        gob_alloc other;
        gob_index copy;
        gob_alloc_init(&other);
        gob_alloc_fail_at(&other, nth);
        gob_index_init(&copy, (gob_layout){.member_bytes = 8, .score_bytes = (uint8_t)score_bytes},
                       99);
        status = gob_index_copy(&copy, &other, &ix);
        CHECK(status == GOB_OK ? matches(&copy, &other) : other.live == 0);
        gob_index_free(&copy, &other);
        CHECK(other.live == 0);
    }
    CHECK(matches(&ix, &a));
    end_test();
}

/* A walk gives every member once; and so does a read of many. */
static void test_walk(unsigned score_bytes, int64_t stride, size_t n)
{
    static bool seen[IDS];
    static int64_t members[IDS];
    static double scores[IDS];
    uint64_t rng = 4;
    begin_test(8, score_bytes, -900, stride);
    fill(&rng, score_bytes, n);
    gob_walk w = {0};
    size_t total = 0;
    memset(seen, 0, sizeof seen);
    for (size_t got; (got = gob_index_walk(&ix, &w, members, scores)) != 0; total += got) {
        CHECK(got <= GOB_WALK_MAX);
        for (size_t i = 0; i < got; i++) {
            size_t id = (size_t)((members[i] - m.base) / m.stride);
            CHECK(id < IDS && !seen[id] && scores[i] == m.score[id]);
            seen[id] = true;
        }
    }
    CHECK(total == m.count && gob_index_walk(&ix, &w, members, scores) == 0);
    for (size_t id = 0; id < IDS; id++) {
        members[id] = member_of(id);
    }
    gob_index_get_many(&ix, members, IDS, -3.0, scores);
    for (size_t id = 0; id < IDS; id++) {
        CHECK(scores[id] == (gob_is_absent(m.score[id]) ? -3.0 : m.score[id]));
    }
    end_test();
}

/* A walk with a bound passes over nothing but smaller plain codes; and counts of intervals. */
static void test_bounds(unsigned score_bytes, int64_t stride, size_t n)
{
    static bool seen[IDS];
    static int64_t members[GOB_WALK_MAX];
    static double scores[GOB_WALK_MAX];
    const double bounds[] = {-HUGE_VAL, 0.0, 0.5, 3.0, 252.5, 253.0, 254.0, 65534.0, 1e30};
    enum { BOUNDS = sizeof bounds / sizeof bounds[0] };
    uint64_t rng = 10;
    begin_test(8, score_bytes, -900, stride);
    fill(&rng, score_bytes, n);
    for (size_t k = 0; k < BOUNDS; k++) {
        gob_walk w = {.codes_from = bounds[k]};
        uint64_t passed_over = m.count;
        memset(seen, 0, sizeof seen);
        for (size_t got; (got = gob_index_walk(&ix, &w, members, scores)) != 0;) {
            for (size_t i = 0; i < got; i++) {
                size_t id = (size_t)((members[i] - m.base) / m.stride);
                CHECK(id < IDS && !seen[id] && scores[i] == m.score[id]);
                seen[id] = true;
                passed_over--;
            }
        }
        for (size_t id = 0; id < IDS; id++) {
            CHECK(seen[id] || gob_is_absent(m.score[id]) || m.score[id] < bounds[k]);
        }
        CHECK(k != 0 || passed_over == 0);
        CHECK(bounds[k] < 1e5 || stride != 1 || passed_over != 0);
    }
    for (size_t k = 0; k < BOUNDS * BOUNDS * 4; k++) {
        gob_interval within = {bounds[k % BOUNDS], bounds[k / BOUNDS % BOUNDS],
                               (k / (BOUNDS * BOUNDS) & 1) != 0, (k / (BOUNDS * BOUNDS) & 2) != 0};
        uint64_t expected = 0;
        for (size_t id = 0; id < IDS; id++) {
            double score = m.score[id]; /* NaN is in no interval */
            expected += (score > within.lo || (score == within.lo && !within.open_lo)) &&
                        (score < within.hi || (score == within.hi && !within.open_hi));
        }
        uint64_t count;
        CHECK(gob_index_count(&ix, within, NULL, &count) == GOB_OK && count == expected);
    }
    end_test();
}

/* Between begin and end nothing shrinks, whatever is erased. */
static void test_hold(void)
{
    uint64_t rng = 5;
    begin_test(8, 8, 0, 1);
    fill(&rng, 8, 30000);
    gob_index_begin(&ix);
    size_t live = a.live;
    uint32_t pages = ix.pages.count;
    for (size_t id = 0; id < IDS; id++) {
        erase(id);
    }
    CHECK(a.live == live && ix.pages.count == pages && matches(&ix, &a));
    gob_index_end(&ix, &a);
    CHECK(a.live == 0 && matches(&ix, &a));
    end_test();
}

/* A page that memory is too short to move back stays, and goes at a later chance. */
static void test_stays(void)
{
    begin_test(8, 8, 0, 1);
    for (size_t id = 0; id < GOB_PAGE_IDS; id++) {
        CHECK(put(id, 1.0) == GOB_OK);
    }
    CHECK(gob_index_optimize(&ix, &a) == GOB_OK); /* leaves no room in the table */
    CHECK(ix.pages.count == 1 && ix.table.capacity == 0);
    size_t id = 0;
    for (; id < GOB_PAGE_IDS - 100; id++) {
        gob_alloc_fail_at(&a, 1);
        erase(id);
    }
    CHECK(ix.pages.count == 1 && matches(&ix, &a));
    gob_alloc_fail_at(&a, 0);
    erase(id);
    CHECK(ix.pages.count == 0 && matches(&ix, &a));
    end_test();
}

/* Page numbers made to crowd one bucket of the sketch that looks for dense pages, each with one
 * member; the dense pages among them may be crowded out, but nothing else goes wrong. */
static void test_crowded_sketch(void)
{
    begin_test(8, 8, 0, 1);
    double old;
    uint64_t n = 0;
    for (uint64_t number = 8; n < 6000; number++) {
        if (((number * UINT64_C(0x9E3779B97F4A7C15)) >> 32 & 0x3FF) == 0) {
            int64_t member = gob_page_member((int64_t)number, 3);
            CHECK(gob_index_put(&ix, &a, member, 1.0, &old) == GOB_OK);
            n++;
        }
    }
    CHECK(ix.pages.count == 0 && ix.live == n && valid(&ix));
    for (int64_t member = 0; member < GOB_PAGE_IDS; member++) {
        CHECK(gob_index_put(&ix, &a, member, 1.0, &old) == GOB_OK);
    }
    CHECK(gob_index_optimize(&ix, &a) == GOB_OK && valid(&ix));
    CHECK(ix.live == n + GOB_PAGE_IDS && ix.pages.count == 1);
    end_test();
}

/* What a bulk call moved out to new pages comes back without allocating. */
static void test_dissolve(unsigned score_bytes, size_t before)
{
    static double kept[IDS];
    uint64_t rng = 6;
    begin_test(8, score_bytes, -(int64_t)GOB_PAGE_IDS, 1);
    fill(&rng, score_bytes, before);
    memcpy(kept, m.score, sizeof kept);
    uint32_t pages = ix.pages.count;
    gob_index_begin(&ix);
    for (size_t id = 0; id < IDS; id++) {
        if (gob_is_absent(kept[id])) {
            CHECK(put(id, 1.0) == GOB_OK);
        }
    }
    CHECK(ix.pages.count > pages && matches(&ix, &a));
    gob_alloc_fail_at(&a, 1);
    for (size_t id = 0; id < IDS; id++) {
        if (gob_is_absent(kept[id])) {
            erase(id);
        }
    }
    gob_index_dissolve_young(&ix, &a);
    CHECK(ix.pages.count == pages && a.fail_at != 0);
    CHECK(matches(&ix, &a));
    gob_alloc_fail_at(&a, 0);
    gob_index_end(&ix, &a);
    CHECK(matches(&ix, &a));
    end_test();
}

static void test_optimize(void)
{
    uint64_t rng = 8;
    begin_test(4, 4, 0, 1);
    fill(&rng, 4, 30000);
    for (size_t id = 0; id < IDS; id++) {
        if (!gob_is_absent(m.score[id])) {
            CHECK(put(id, 1.0) == GOB_OK);
        }
    }
    CHECK(gob_index_optimize(&ix, &a) == GOB_OK && matches(&ix, &a));
    CHECK(ix.table.capacity == 0 && a.live < IDS + 1000); /* a byte for each id */
    size_t live = a.live;
    gob_alloc_fail_at(&a, 1);
    CHECK(gob_index_optimize(&ix, &a) == GOB_OK && a.live == live);
    end_test();
}

/* Pages that do not pay any more but were not sparse enough to go. */
static void test_optimize_dissolves(void)
{
    begin_test(4, 4, 0, 1);
    for (size_t id = 0; id < IDS; id++) {
        CHECK(put(id, 1.0) == GOB_OK);
    }
    for (size_t id = 0; id < IDS; id++) {
        if (id % 20 != 0) {
            erase(id);
        }
    }
    uint64_t pages = ix.pages.count;
    CHECK(pages >= 3 && matches(&ix, &a));
    a.fail_at = 1;
    CHECK(gob_index_optimize(&ix, &a) == GOB_NOMEM && ix.pages.count == pages && matches(&ix, &a));
    CHECK(gob_index_optimize(&ix, &a) == GOB_OK && ix.pages.count == 0 && matches(&ix, &a));
    end_test();
}

static void test_validator(void)
{
    const char *why;
    uint64_t rng = 9;
    begin_test(8, 8, 0, 1);
    fill(&rng, 8, 30000);
    double old;
    CHECK(gob_index_put(&ix, &a, -5, 1.0, &old) == GOB_OK && ix.table.live == 1 && valid(&ix));
    ix.live++;
    CHECK_FAULT(gob_index_validate(&ix, NULL, &why), why, "index: live count");
    ix.live--;
    ix.table.live++;
    CHECK_FAULT(gob_index_validate(&ix, NULL, &why), why, "table: live count");
    ix.table.live--;
    ix.pages.count++;
    CHECK_FAULT(gob_index_validate(&ix, NULL, &why), why, "pages: page count");
    ix.pages.count--;
    gob_table_insert(&ix.table, 5, 1.0);
    CHECK_FAULT(gob_index_validate(&ix, NULL, &why), why,
                "index: a member of a page is in the table");
    gob_table_erase(&ix.table, gob_table_find(&ix.table, 5));
    CHECK(valid(&ix));
    end_test();
}

int main(void)
{
    test_moves(4, 4, 0);
    test_moves(4, 8, INT32_MAX - IDS + 1);
    test_moves(8, 4, -20000);
    test_moves(8, 8, INT64_MIN);
    test_sparse();
    test_failures(4, 1);
    test_failures(8, 1);
    test_failures(8, 512);
    test_copy(4, 1);
    test_copy(8, 1 << 20);
    test_walk(4, 1, 30000);
    test_walk(8, 1, 2000);
    test_walk(8, 700, 30000);
    test_bounds(4, 1, 30000);
    test_bounds(8, 1, 30000);
    test_bounds(8, 700, 9000);
    test_hold();
    test_stays();
    test_crowded_sketch();
    for (size_t before = 0; before <= 3500; before += 500) {
        test_dissolve(before % 1000 == 0 ? 4 : 8, before);
    }
    test_optimize();
    test_optimize_dissolves();
    test_validator();
    return test_report();
}
