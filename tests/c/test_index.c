/* The index against an array of scores: pages and table, bulk calls and their undoing, walks. */
#include <stdlib.h>

#include "gob_index.h"
#include "gob_random.h"
#include "gob_test.h"

enum { IDS = 3 * GOB_PAGE_IDS };

/* The model: the score of id i belongs to member base + i * stride. */
typedef struct model {
    double score[IDS];
    uint64_t count;
    int64_t base;
    int64_t stride;
} model;

static model m;
static gob_alloc a;
static gob_index ix;

static int64_t member_of(size_t id)
{
    return (int64_t)((uint64_t)m.base + id * (uint64_t)m.stride);
}

static void begin_test(unsigned member_bytes, unsigned score_bytes, int64_t base, int64_t stride)
{
    gob_alloc_init(&a);
    gob_index_init(&ix, member_bytes, score_bytes, (uint64_t)base + 17);
    m = (model){.base = base, .stride = stride};
    for (size_t id = 0; id < IDS; id++) {
        m.score[id] = GOB_ABSENT;
    }
}

static void end_test(void)
{
    gob_index_free(&ix, &a);
    CHECK(a.live == 0);
}

static bool same_score(double l, double r)
{
    return l == r || (gob_is_absent(l) && gob_is_absent(r));
}

static bool valid(const gob_index *index)
{
    const char *why = NULL;
    bool ok = gob_index_validate(index, &why);
    if (!ok) {
        fprintf(stderr, "%s\n", why);
    }
    return ok;
}

static bool matches(const gob_index *index, const gob_alloc *alloc)
{
    bool same = valid(index) && index->live == m.count &&
                alloc->live == gob_pages_bytes(&index->pages) + gob_table_bytes(&index->table);
    for (size_t id = 0; id < IDS && same; id++) {
        same = same_score(gob_index_get(index, member_of(id)), m.score[id]);
    }
    return same;
}

static gob_status put(size_t id, double score)
{
    double old = -7.0;
    gob_status status = gob_index_put(&ix, &a, member_of(id), score, &old);
    if (status == GOB_OK) {
        CHECK(same_score(old, m.score[id]));
        m.count += gob_is_absent(m.score[id]);
        m.score[id] = score;
    }
    return status;
}

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
        a.fail_at = random_below(&rng, 4);
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
        a.fail_at = 0;
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
        other.fail_at = nth;
        gob_index_init(&copy, 8, score_bytes, 99);
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
    CHECK(ix.pages.count == 1);
    size_t id = 0;
    for (; id < GOB_PAGE_IDS - 100; id++) {
        a.fail_at = 1;
        erase(id);
    }
    CHECK(ix.pages.count == 1 && matches(&ix, &a));
    a.fail_at = 0;
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
    a.fail_at = 1;
    for (size_t id = 0; id < IDS; id++) {
        if (gob_is_absent(kept[id])) {
            erase(id);
        }
    }
    gob_index_dissolve_young(&ix, &a);
    CHECK(ix.pages.count == pages && a.fail_at != 0);
    CHECK(matches(&ix, &a));
    a.fail_at = 0;
    gob_index_end(&ix, &a);
    CHECK(matches(&ix, &a));
    end_test();
}

/* Increments in bulk against a loop over the array */

enum { INPUTS = 1500 };

typedef struct call {
    int64_t members[INPUTS];
    size_t ids[INPUTS];
    double by[INPUTS];
    double out[INPUTS];
    size_t step;
    size_t n;
} call;

/* One value for all or many; few members, so that one call meets them again and again, or many. */
static void random_call(call *c, uint64_t *rng, unsigned score_bytes)
{
    const double alike[] = {1.0, 0.0, 3.0, 253.0, 254.0, -1.0, 0.5, 1e30};
    size_t few = 1 + random_below(rng, 100);
    size_t start = random_below(rng, IDS);
    uint64_t shape = random_below(rng, 4);
    c->step = random_below(rng, 3) == 0;
    c->n = 1 + random_below(rng, INPUTS);
    double by = random_below(rng, 2) != 0 ? 1.0 : alike[random_below(rng, 8)];
    for (size_t i = 0; i < c->n; i++) {
        c->ids[i] = shape == 0   ? (start + random_below(rng, few)) % IDS
                    : shape == 1 ? (start + i) % IDS
                    : shape == 2 ? random_below(rng, few) * 97 % IDS
                                 : random_below(rng, IDS);
        c->members[i] = member_of(c->ids[i]);
        c->by[i] = c->step == 0 ? by : random_score(rng);
        c->by[i] = isinf(c->by[i]) ? -HUGE_VAL : c->by[i]; /* inf + -inf now and then */
        c->by[i] = score_bytes == 4 ? (double)(float)c->by[i] : c->by[i];
    }
}

/* Does one call on both; returns how many inputs went through. */
static size_t do_call(call *c, gob_journal *j, bool outputs, unsigned score_bytes)
{
    gob_effects effects = {0};
    gob_addends add = {c->by, c->step};
    gob_status status = gob_index_increment_many(&ix, &a, c->members, add, c->n, j, 0,
                                                 outputs ? c->out : NULL, &effects);
    size_t done = status == GOB_OK ? c->n : j->done;
    bool changed = false;
    bool stuck = false;
    bool same = true;
    CHECK(j->done == done && done <= c->n);
    for (size_t i = 0; i < done; i++) {
        double old = m.score[c->ids[i]];
        double by = c->by[i * c->step];
        double sum = 0.0;
        same = same && gob_narrow(gob_is_absent(old) ? by : old + by, score_bytes, &sum) == GOB_OK;
        same = same && gob_journal_was_created(j, i) == gob_is_absent(old);
        same = same && (!outputs || c->out[i] == sum);
        changed = changed || sum != old;
        stuck = stuck || (sum == old && by != 0.0 && isfinite(old));
        m.count += gob_is_absent(old);
        m.score[c->ids[i]] = sum;
    }
    CHECK(same);
    CHECK(!changed || effects.changed);
    CHECK(status != GOB_OK || (effects.changed == changed && effects.stuck == stuck));
    if (status == GOB_NAN || status == GOB_RANGE) {
        double sum;
        double old = m.score[c->ids[done]];
        double by = c->by[done * c->step];
        CHECK(gob_narrow(gob_is_absent(old) ? by : old + by, score_bytes, &sum) == status);
    }
    return done;
}

/* From the journal alone, the scores before the call: what undoing relies on. */
static void check_journal(const call *c, gob_journal *j, size_t done, const double *before,
                          unsigned score_bytes)
{
    bool ascending = true;
    for (size_t i = 1; i < j->logged; i++) {
        ascending = ascending && j->log[i - 1].at < j->log[i].at;
    }
    CHECK(ascending);
    static double score[IDS];
    memcpy(score, m.score, sizeof score);
    size_t logged = j->logged;
    for (size_t i = done; i-- > 0;) {
        double *at = &score[c->ids[i]];
        if (gob_journal_was_created(j, i)) {
            *at = GOB_ABSENT;
        } else if (logged != 0 && j->log[logged - 1].at == i) {
            *at = j->log[--logged].old;
        } else {
            CHECK(gob_narrow(*at - c->by[i * c->step], score_bytes, at) == GOB_OK);
        }
    }
    bool same = logged == 0;
    for (size_t id = 0; id < IDS; id++) {
        same = same && same_score(score[id], before[id]);
    }
    CHECK(same);
}

static void test_increments(unsigned member_bytes, unsigned score_bytes, int64_t base,
                            int64_t stride, uint64_t seed)
{
    static call c;
    static double before[IDS];
    uint64_t rng = seed;
    size_t stopped = 0;
    begin_test(member_bytes, score_bytes, base, stride);
    for (int round = 0; round < 150; round++) {
        random_call(&c, &rng, score_bytes);
        memcpy(before, m.score, sizeof before);
        gob_journal j;
        CHECK(gob_journal_init(&j, &a, c.n) == GOB_OK);
        gob_index_begin(&ix);
        a.fail_at = random_below(&rng, 2) == 0 ? 1 + random_below(&rng, 12) : 0;
        size_t done = do_call(&c, &j, random_below(&rng, 3) == 0, score_bytes);
        a.fail_at = 0;
        stopped += done != c.n;
        check_journal(&c, &j, done, before, score_bytes);
        gob_journal_free(&j, &a);
        CHECK(matches(&ix, &a));
        gob_index_end(&ix, &a);
        if (round % 40 == 39) { /* start anew, from the table */
            gob_index_free(&ix, &a);
            begin_test(member_bytes, score_bytes, base, stride);
        } else if (round % 10 == 9) {
            CHECK(gob_index_optimize(&ix, &a) == GOB_OK);
        }
    }
    CHECK(stopped != 0 && matches(&ix, &a));
    end_test();
}

/* Hundreds of pages are born inside one call, nearly at once: what a batch has looked up ahead in
 * the directory is stale by then. */
static void test_many_births(double by, size_t step)
{
    enum { PAGES = 300, EACH = 1300, ALL = PAGES * EACH };
    static int64_t members[ALL];
    static double addends[ALL];
    gob_effects effects = {0};
    gob_journal j;
    begin_test(8, 8, 0, 1);
    for (size_t id = 0; id < 3000; id++) {
        CHECK(put(id, 100.0) == GOB_OK); /* a page that is there before */
    }
    for (size_t i = 0; i < ALL; i++) {
        members[i] = gob_page_member((int64_t)(i % PAGES), (unsigned)(i / PAGES));
        addends[i] = by;
    }
    CHECK(gob_journal_init(&j, &a, ALL) == GOB_OK);
    gob_index_begin(&ix);
    gob_addends add = {addends, step};
    for (int times = 0; times < 2; times++) {
        CHECK(gob_index_increment_many(&ix, &a, members, add, ALL, &j, 0, NULL, &effects) ==
              GOB_OK);
    }
    bool same = true;
    for (size_t i = 0; i < ALL; i++) {
        double expected = 2 * by + (members[i] < 3000 ? 100.0 : 0.0);
        same = same && gob_index_get(&ix, members[i]) == expected;
    }
    CHECK(same && ix.pages.count == PAGES && ix.live == ALL + 3000 - EACH);
    gob_journal_free(&j, &a);
    gob_index_end(&ix, &a);
    CHECK(valid(&ix));
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
    a.fail_at = 1;
    CHECK(gob_index_optimize(&ix, &a) == GOB_OK && a.live == live);
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
    CHECK_FAULT(gob_index_validate(&ix, &why), why, "index: live count");
    ix.live--;
    ix.table.live++;
    CHECK_FAULT(gob_index_validate(&ix, &why), why, "table: live count");
    ix.table.live--;
    ix.pages.count++;
    CHECK_FAULT(gob_index_validate(&ix, &why), why, "pages: page count");
    ix.pages.count--;
    gob_table_insert(&ix.table, 5, 1.0);
    CHECK_FAULT(gob_index_validate(&ix, &why), why, "index: a member of a page is in the table");
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
    test_hold();
    test_stays();
    test_crowded_sketch();
    for (size_t before = 0; before <= 3500; before += 500) {
        test_dissolve(before % 1000 == 0 ? 4 : 8, before);
    }
    test_increments(4, 4, 0, 1, 1);
    test_increments(8, 4, -20000, 1, 2);
    test_increments(8, 8, 100, 1, 3);
    test_increments(8, 8, 0, 4096, 4);
    test_increments(8, 4, INT64_MIN, INT64_C(1) << 40, 5);
    test_many_births(1.0, 0);
    test_many_births(1.0, 1);
    test_many_births(90.0, 0);
    test_optimize();
    test_validator();
    return test_report();
}
