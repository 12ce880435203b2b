/* Bulk increments against a loop over an array, with failing allocations; and their journal. */
#include "gob_increment.h"
#include "gob_index_model.h"
#include "gob_random.h"

static double random_score(uint64_t *rng)
{
    const double others[] = {-1.0, 0.5, 65533.0, 65534.0, 1e6, 1e30, 16777216.0, HUGE_VAL};
    uint64_t draw = random_below(rng, 40);
    return draw < 8 ? others[draw] : (double)random_below(rng, draw < 30 ? 4 : 300);
}

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
    gob_column by = {c->by, c->step};
    gob_status status =
        gob_increment_many(&ix, &a, c->members, by, c->n, j, 0, outputs ? c->out : NULL, &effects);
    size_t done = status == GOB_OK ? c->n : j->done;
    bool changed = false;
    bool stuck = false;
    bool same = true;
    CHECK(j->done == done && done <= c->n);
    for (size_t i = 0; i < done; i++) {
        double old = m.score[c->ids[i]];
        double one = c->by[i * c->step];
        double sum = 0.0;
        same =
            same && gob_narrow(gob_is_absent(old) ? one : old + one, score_bytes, &sum) == GOB_OK;
        same = same && gob_journal_was_created(j, i) == gob_is_absent(old);
        same = same && (!outputs || c->out[i] == sum);
        changed = changed || sum != old;
        stuck = stuck || (sum == old && one != 0.0 && isfinite(old));
        m.count += gob_is_absent(old);
        m.score[c->ids[i]] = sum;
    }
    CHECK(same);
    CHECK(!changed || effects.changed);
    CHECK(status != GOB_OK || (effects.changed == changed && effects.stuck == stuck));
    if (status == GOB_NAN || status == GOB_RANGE) {
        double sum;
        double old = m.score[c->ids[done]];
        double one = c->by[done * c->step];
        CHECK(gob_narrow(gob_is_absent(old) ? one : old + one, score_bytes, &sum) == status);
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
        gob_alloc_fail_at(&a, random_below(&rng, 2) == 0 ? 1 + random_below(&rng, 12) : 0);
        size_t done = do_call(&c, &j, random_below(&rng, 3) == 0, score_bytes);
        gob_alloc_fail_at(&a, 0);
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
    gob_column column = {addends, step};
    for (int times = 0; times < 2; times++) {
        CHECK(gob_increment_many(&ix, &a, members, column, ALL, &j, 0, NULL, &effects) == GOB_OK);
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

int main(void)
{
    test_increments(4, 4, 0, 1, 1);
    test_increments(8, 4, -20000, 1, 2);
    test_increments(8, 8, 100, 1, 3);
    test_increments(8, 8, 0, 4096, 4);
    test_increments(8, 4, INT64_MIN, INT64_C(1) << 40, 5);
    test_many_births(1.0, 0);
    test_many_births(1.0, 1);
    test_many_births(90.0, 0);
    return test_report();
}
