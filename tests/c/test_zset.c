/* The sorted set against an array of scores, over layouts and shapes, with allocations failing. */
#include <math.h>

#include "gob_bulk.h"
#include "gob_names_model.h"

enum { IDS = GOB_PAGE_IDS + 4000, ROUNDS = 200 };

/* The model: the score of id i belongs to member base + i * stride. */
typedef struct numbers {
    double score[IDS];
    uint64_t count;
    int64_t base;
    int64_t stride;
    unsigned score_bytes;
} numbers;

/* An integer as a member; good until the next call. */
static const gob_member *one(int64_t id)
{
    static gob_member m;
    m = (gob_member){.id = id};
    return &m;
}

static int64_t member_of(const numbers *m, size_t id)
{
    return m->base + (int64_t)id * m->stride;
}

static void model_set(numbers *m, size_t id, double score)
{
    m->count += gob_is_absent(m->score[id]);
    m->count -= gob_is_absent(score);
    m->score[id] = score;
}

static double kept(const numbers *m, double v)
{
    return m->score_bytes == 4 ? (double)(float)v : v;
}

static bool matches(gob_zset *z, const numbers *m)
{
    const char *why = NULL;
    if (!gob_zset_validate(z, &why)) {
        fprintf(stderr, "%s\n", why);
        return false;
    }
    bool same = gob_zset_count(z) == m->count;
    for (size_t id = 0; id < IDS && same; id++) {
        double score = gob_zset_score(z, member_of(m, id));
        same = score == m->score[id] || (gob_is_absent(score) && gob_is_absent(m->score[id]));
    }
    return same;
}

/* Rank of each present member, counted the slow way for a few. */
static bool order_matches(gob_zset *z, const numbers *m, uint64_t *rng)
{
    if (gob_zset_sync(z) != GOB_OK) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        size_t id = random_below(rng, IDS);
        if (gob_is_absent(m->score[id])) {
            continue;
        }
        uint64_t rank = 0;
        for (size_t other = 0; other < IDS; other++) {
            rank +=
                m->score[other] < m->score[id] || (m->score[other] == m->score[id] && other < id);
        }
        gob_entry e = gob_zset_entry(member_of(m, id), m->score[id]);
        gob_entry got = gob_zset_select(z, rank);
        gob_bound bound = gob_bound_of(NULL, e);
        if (gob_zset_lower_bound(z, &bound) != rank || got.key != e.key || got.member != e.member) {
            return false;
        }
    }
    return true;
}

/* A bulk call of random inputs; undone where `undo`, or where an allocation fails. */
static void bulk(gob_zset *z, numbers *m, uint64_t *rng, bool undo)
{
    enum { MOST = 6000 };
    static int64_t members[MOST];
    static size_t ids[MOST];
    static double scores[MOST];
    static double out[MOST];
    static double expected[MOST];
    static numbers after;
    size_t n = 1 + random_below(rng, MOST);
    size_t start = random_below(rng, IDS);
    bool dense = random_below(rng, 2) != 0;
    gob_verb verb = (gob_verb)random_below(rng, 3);
    after = *m;
    for (size_t i = 0; i < n; i++) {
        ids[i] = dense ? (start + i) % IDS : random_below(rng, IDS);
        members[i] = member_of(m, ids[i]);
        scores[i] = random_below(rng, 3) != 0 ? 1.0 : random_mixed_score(rng);
        double old = after.score[ids[i]];
        if (verb == GOB_REMOVE) {
            model_set(&after, ids[i], GOB_ABSENT);
        } else {
            bool add = verb == GOB_INCREMENT && !gob_is_absent(old);
            expected[i] = kept(m, add ? old + scores[i] : scores[i]);
            model_set(&after, ids[i], expected[i]);
        }
    }
    gob_journal j;
    double *sums = random_below(rng, 2) != 0 ? out : NULL;
    gob_inputs in = {.members = members, .scores = {scores, 1}};
    gob_changes changes = {0};
    uint64_t removed = 0;
    gob_status status = gob_bulk_begin(z, &j, n);
    if (status != GOB_OK) {
        CHECK(matches(z, m));
        return;
    }
    for (size_t from = 0; from < n && status == GOB_OK; from += 1000) {
        size_t step = n - from < 1000 ? n - from : 1000;
        status = verb == GOB_UPDATE      ? gob_bulk_update(z, &j, in, from, step, GOB_SET, &changes)
                 : verb == GOB_INCREMENT ? gob_bulk_increment(z, &j, in, from, step, sums)
                                         : gob_bulk_remove(z, &j, in, from, step, &removed);
    }
    CHECK(status == GOB_OK || status == GOB_NOMEM);
    if (undo || status != GOB_OK) {
        gob_bulk_rollback(z, &j, in, verb);
    } else {
        gob_bulk_commit(z, &j);
        *m = after;
        CHECK(verb != GOB_INCREMENT || sums == NULL ||
              memcmp(out, expected, n * sizeof out[0]) == 0);
    }
}

static void single(gob_zset *z, numbers *m, uint64_t *rng)
{
    size_t id = random_below(rng, IDS);
    gob_changes changes = {0};
    double score = kept(m, random_mixed_score(rng));
    double sum;
    switch (random_below(rng, 3)) {
    case 0:
        if (gob_zset_add(z, one(member_of(m, id)), score, GOB_SET, &changes) == GOB_OK) {
            model_set(m, id, score);
        }
        break;
    case 1:
        if (gob_zset_increment(z, one(member_of(m, id)), 1.0, &sum) == GOB_OK) {
            model_set(m, id, kept(m, gob_is_absent(m->score[id]) ? 1.0 : m->score[id] + 1.0));
        }
        break;
    default:
        gob_zset_remove(z, member_of(m, id));
        model_set(m, id, GOB_ABSENT);
    }
}

static void run(gob_layout layout, int64_t base, int64_t stride, float merge_exponent,
                uint64_t seed)
{
    static numbers m;
    uint64_t rng = seed;
    gob_zset z;
    gob_zset_init(&z, layout, merge_exponent, seed);
    m = (numbers){.base = base, .stride = stride, .score_bytes = layout.score_bytes};
    for (size_t id = 0; id < IDS; id++) {
        m.score[id] = GOB_ABSENT;
    }
    for (int round = 0; round < ROUNDS; round++) {
        gob_alloc_fail_at(&z.alloc, random_below(&rng, 3) == 0 ? 1 + random_below(&rng, 60) : 0);
        if (random_below(&rng, 4) == 0) {
            bulk(&z, &m, &rng, random_below(&rng, 4) == 0);
        } else {
            single(&z, &m, &rng);
        }
        if (random_below(&rng, 12) == 0) {
            (void)gob_zset_optimize(&z);
        }
        if (random_below(&rng, 60) == 0) {
            gob_zset_clear(&z);
            for (size_t id = 0; id < IDS; id++) {
                model_set(&m, id, GOB_ABSENT);
            }
            m.count = 0;
        }
        (void)(random_below(&rng, 2) == 0 && gob_zset_sync(&z));
        gob_alloc_fail_at(&z.alloc, 0);
        if (round % 8 == 0) {
            CHECK(matches(&z, &m));
            CHECK(order_matches(&z, &m, &rng));
        }
    }
    gob_memory parts = gob_zset_memory(&z);
    size_t order = parts.order;
    CHECK(parts.pages + parts.table + parts.pending + order == z.alloc.live);
    gob_zset copy;
    gob_zset_init(&copy, layout, merge_exponent, seed + 1);
    CHECK(gob_zset_copy(&copy, &z) == GOB_OK);
    CHECK(matches(&copy, &m));
    gob_zset_clear(&copy);
    gob_zset_clear(&z);
    CHECK(copy.alloc.live == 0 && z.alloc.live == 0);
}

/* Each mode on an absent member, and on one with a lower, equal or higher score. */
static void test_modes(void)
{
    const struct {
        gob_mode mode;
        bool absent, lower, higher; /* does the write go through */
    } rules[] = {
        {GOB_SET, true, true, true},     {GOB_NX, true, false, false},
        {GOB_XX, false, true, true},     {GOB_GT, true, false, true},
        {GOB_LT, true, true, false},     {GOB_XX_GT, false, false, true},
        {GOB_XX_LT, false, true, false},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        gob_zset z;
        gob_changes c = {0};
        gob_mode mode = rules[i].mode;
        gob_zset_init(&z, (gob_layout){.member_bytes = 8, .score_bytes = 8, .compress = true}, 1.0F,
                      1);
        CHECK(gob_zset_add(&z, one(1), 5.0, mode, &c) == GOB_OK);
        CHECK(gob_is_absent(gob_zset_score(&z, 1)) == !rules[i].absent);
        CHECK(c.added == rules[i].absent && c.changed == 0);
        CHECK(gob_zset_add(&z, one(1), 5.0, GOB_SET, &c) == GOB_OK && c.added == 1);
        uint64_t stamp = z.stamp;
        CHECK(gob_zset_add(&z, one(1), 5.0, mode, &c) == GOB_OK);
        CHECK(c.added == 1 && c.changed == 0 && z.stamp == stamp);
        CHECK(gob_zset_add(&z, one(1), 4.0, mode, &c) == GOB_OK);
        CHECK(gob_zset_score(&z, 1) == (rules[i].lower ? 4.0 : 5.0));
        CHECK(c.changed == rules[i].lower && (z.stamp != stamp) == rules[i].lower);
        CHECK(gob_zset_add(&z, one(1), 5.0, GOB_SET, &c) == GOB_OK);
        c = (gob_changes){0};
        CHECK(gob_zset_add(&z, one(1), 6.0, mode, &c) == GOB_OK);
        CHECK(gob_zset_score(&z, 1) == (rules[i].higher ? 6.0 : 5.0));
        CHECK(c.added == 0 && c.changed == rules[i].higher);
        gob_zset_clear(&z);
    }
}

/* What cannot be a score changes nothing. */
static void test_bad_scores(void)
{
    gob_zset z;
    gob_changes c = {0};
    double sum = 0.0;
    gob_zset_init(&z, (gob_layout){.member_bytes = 4, .score_bytes = 4, .compress = true}, 1.0F, 1);
    CHECK(gob_zset_add(&z, one(1), (double)NAN, GOB_SET, &c) == GOB_NAN);
    CHECK(gob_zset_add(&z, one(1), 1e39, GOB_SET, &c) == GOB_RANGE);
    CHECK(gob_zset_increment(&z, one(1), (double)NAN, &sum) == GOB_NAN);
    CHECK(gob_zset_count(&z) == 0 && z.stamp == 0 && c.added == 0);
    CHECK(gob_zset_add(&z, one(1), HUGE_VAL, GOB_SET, &c) == GOB_OK);
    CHECK(gob_zset_increment(&z, one(1), -HUGE_VAL, &sum) == GOB_NAN);
    CHECK(gob_zset_score(&z, 1) == HUGE_VAL);
    CHECK(gob_zset_add(&z, one(2), 3e38, GOB_SET, &c) == GOB_OK);
    CHECK(gob_zset_increment(&z, one(2), 3e38, &sum) == GOB_RANGE);
    CHECK(gob_zset_score(&z, 2) == (double)3e38F);
    CHECK(gob_is_absent(gob_zset_remove(&z, 3)));
    gob_zset_clear(&z);
    CHECK(z.alloc.live == 0);
}

/* An increment that a score is too large for is remembered; others are not. */
static void test_stuck(void)
{
    gob_zset z;
    gob_changes c = {0};
    double sum;
    gob_zset_init(&z, (gob_layout){.member_bytes = 8, .score_bytes = 4, .compress = true}, 1.0F, 1);
    CHECK(gob_zset_add(&z, one(1), 16777215.0, GOB_SET, &c) == GOB_OK);
    CHECK(gob_zset_add(&z, one(2), HUGE_VAL, GOB_SET, &c) == GOB_OK);
    CHECK(gob_zset_increment(&z, one(1), 0.0, &sum) == GOB_OK && !z.stuck);
    CHECK(gob_zset_increment(&z, one(2), 1.0, &sum) == GOB_OK && !z.stuck);
    CHECK(gob_zset_increment(&z, one(1), 1.0, &sum) == GOB_OK && sum == 16777216.0 && !z.stuck);
    CHECK(gob_zset_increment(&z, one(1), 1.0, &sum) == GOB_OK && sum == 16777216.0 && z.stuck);
    gob_zset_clear(&z);
}

/* Pending changes never pass max(1, ceil(count ** merge_exponent)), or the order is dropped. */
static void test_merge_exponent(float merge_exponent, uint64_t most)
{
    enum { MEMBERS = 2000 };
    uint64_t rng = 11;
    uint64_t seen = 0;
    gob_zset z;
    gob_changes c = {0};
    gob_zset_init(&z, (gob_layout){.member_bytes = 8, .score_bytes = 8, .compress = true},
                  merge_exponent, 1);
    for (int64_t member = 0; member < MEMBERS; member++) {
        CHECK(gob_zset_add(&z, one(member * 77), 1.0, GOB_SET, &c) == GOB_OK);
    }
    CHECK(z.pending == NULL && z.order == NULL); /* loading pays for no order */
    CHECK(gob_zset_sync(&z) == GOB_OK);
    for (int i = 0; i < 600; i++) {
        double sum;
        int64_t member = (int64_t)random_below(&rng, MEMBERS) * 77;
        CHECK(gob_zset_increment(&z, one(member), 1.0, &sum) == GOB_OK);
        uint64_t pending = z.pending == NULL ? 0 : z.pending->live;
        seen = pending > seen ? pending : seen;
        CHECK(pending <= most);
        CHECK(merge_exponent == 1.0F || z.order != NULL);
    }
    CHECK(seen == most);
    CHECK(gob_zset_sync(&z) == GOB_OK && z.pending == NULL);
    gob_zset_clear(&z);
}

/* Iterators of either set see that it is another now. */
static void test_swap(void)
{
    gob_zset z;
    gob_zset other;
    gob_changes c = {0};
    gob_zset_init(&z, (gob_layout){.member_bytes = 8, .score_bytes = 8, .compress = true}, 1.0F, 1);
    gob_zset_init(&other, (gob_layout){.member_bytes = 8, .score_bytes = 8, .compress = true}, 1.0F,
                  2);
    CHECK(gob_zset_add(&z, one(1), 2.0, GOB_SET, &c) == GOB_OK);
    CHECK(gob_zset_sync(&z) == GOB_OK);
    uint64_t stamp = z.stamp;
    uint64_t other_stamp = other.stamp;
    gob_zset_swap(&z, &other);
    CHECK(gob_zset_count(&z) == 0 && gob_zset_score(&other, 1) == 2.0);
    CHECK(z.stamp != stamp && other.stamp != other_stamp && z.order == NULL);
    CHECK(z.alloc.live == 0 && other.alloc.live != 0);
    gob_zset_clear(&other);
    CHECK(other.alloc.live == 0);
}

/* Names */

static model names;

/* A set of the pool's first n names, with small scores. */
static void begin_names(gob_zset *z, gob_layout layout, size_t n)
{
    gob_changes c = {0};
    fill_pool(layout.fixed);
    gob_zset_init(z, layout, 1.0F, n);
    names = (model){.n = n + 50, .score_bytes = layout.score_bytes};
    model_clear(&names);
    for (size_t i = 0; i < n; i++) {
        names.score[i] = (double)(i % 5);
        CHECK(gob_zset_add(z, named(i), names.score[i], GOB_SET, &c) == GOB_OK);
    }
    CHECK(c.added == n && names_match(z, &names));
}

static gob_status add_name(gob_zset *z, size_t i, double score)
{
    gob_changes c = {0};
    GOB_TRY(gob_zset_add(z, named(i), score, GOB_SET, &c));
    names.score[i] = score;
    return GOB_OK;
}

static void remove_name(gob_zset *z, size_t i)
{
    CHECK(same_score(gob_zset_remove(z, gob_zset_find(z, named(i))), names.score[i]));
    names.score[i] = GOB_ABSENT;
}

static void end_names(gob_zset *z)
{
    CHECK(names_match(z, &names));
    CHECK(gob_zset_sync(z) == GOB_OK && names_in_order(z, &names));
    CHECK(gob_zset_optimize(z) == GOB_OK && names_in_order(z, &names) && names_match(z, &names));
    CHECK(z->index.members.records == gob_zset_count(z) && z->index.members.arena.dead == 0);
    gob_memory parts = gob_zset_memory(z);
    CHECK(parts.pages == 0 && parts.members != 0 && parts.table + parts.members <= z->alloc.live);
    gob_zset_clear(z);
    CHECK(z->alloc.live == 0);
}

/* A name that comes and goes while the order still has it, and memory is short for its id. */
static void test_condemned_twice(void)
{
    gob_zset z;
    begin_names(&z, *names_layout(0, 8, true), 200);
    CHECK(gob_zset_sync(&z) == GOB_OK);
    remove_name(&z, 0);
    CHECK(add_name(&z, 0, 9.0) == GOB_OK);
    for (size_t i = 1; z.index.members.condemned->count < z.index.members.condemned->room; i++) {
        remove_name(&z, i);
    }
    gob_alloc_fail_at(&z.alloc, 1);
    remove_name(&z, 0);
    CHECK(z.alloc.fail_at == 0 && z.order == NULL && z.index.members.condemned == NULL);
    end_names(&z);
}

/* The order goes for another form that then finds no memory; names that went before still go. */
static void test_failed_form(void)
{
    for (uint64_t nth = 1; nth < 4; nth++) {
        gob_zset z;
        begin_names(&z, *names_layout(0, 8, true), 200);
        CHECK(gob_zset_sync(&z) == GOB_OK);
        remove_name(&z, 7);
        remove_name(&z, 9);
        gob_alloc_fail_at(&z.alloc, nth);
        (void)add_name(&z, nth == 3 ? 220 : 50, 0.5);
        gob_alloc_fail_at(&z.alloc, 0);
        CHECK(gob_zset_sync(&z) == GOB_OK && names_in_order(&z, &names));
        gob_alloc_fail_at(&z.alloc, nth);
        (void)add_name(&z, 7, 3.0);
        gob_alloc_fail_at(&z.alloc, 0);
        end_names(&z);
    }
}

/* Each allocation of a few writes fails once. */
static void test_failing_names(gob_layout layout, size_t n)
{
    const double scores[] = {1.0, 40000.0, -3e9, 1.0};
    bool failed = true;
    for (uint64_t nth = 1; failed; nth++) {
        gob_zset z;
        double sum;
        begin_names(&z, layout, n);
        z.index.members.narrow_bits = layout.fixed != 0 ? 8 : 14; /* just enough */
        CHECK(gob_zset_sync(&z) == GOB_OK);
        gob_alloc_fail_at(&z.alloc, nth);
        for (size_t i = 0; i < 24; i++) {
            (void)add_name(&z, (n + i) % names.n, scores[i % 4]);
            remove_name(&z, i * 3);
            if (gob_zset_increment(&z, named(i), 1.0, &sum) == GOB_OK) {
                names.score[i] = sum;
            }
            CHECK(i % 8 != 0 || names_match(&z, &names));
            (void)(i % 6 == 5 && gob_zset_sync(&z));
        }
        (void)gob_zset_optimize(&z);
        failed = z.alloc.fail_at == 0;
        gob_alloc_fail_at(&z.alloc, 0);
        end_names(&z);
    }
}

/* From small to large and back; a small set needs no order and no table. */
static void test_small_and_large(unsigned fixed)
{
    gob_zset z;
    begin_names(&z, *names_layout(fixed, 8, true), GOB_SMALL_MAX);
    CHECK(gob_zset_is_synced(&z) && gob_zset_sync(&z) == GOB_OK && z.order == NULL);
    CHECK(names_in_order(&z, &names) && z.index.members.table.capacity == 0);
    CHECK(add_name(&z, GOB_SMALL_MAX, 2.0) == GOB_OK && !gob_zset_is_synced(&z));
    CHECK(gob_zset_sync(&z) == GOB_OK && z.order != NULL && names_in_order(&z, &names));
    for (size_t i = 0; i < GOB_SMALL_MAX; i++) {
        remove_name(&z, i);
        CHECK((z.order == NULL) == (gob_zset_count(&z) <= GOB_SMALL_MAX / 2));
        if (i % 4 == 0) {
            CHECK(gob_zset_sync(&z) == GOB_OK && names_in_order(&z, &names));
        }
    }
    CHECK(gob_zset_optimize(&z) == GOB_OK && z.index.members.table.capacity == 0);
    for (size_t i = 0; i < 90; i++) {
        CHECK(add_name(&z, i, 1.0) == GOB_OK);
        CHECK(gob_zset_sync(&z) == GOB_OK && names_in_order(&z, &names));
    }
    end_names(&z);
}

/* Optimizing lays names in the order of their ranks, and keeps that order. */
static void test_optimize(void)
{
    gob_zset z;
    int64_t ids[300];
    double scores[300];
    size_t at = 0;
    begin_names(&z, *names_layout(0, 8, true), 300);
    CHECK(gob_zset_sync(&z) == GOB_OK && add_name(&z, 5, 3e9) == GOB_OK);
    CHECK(z.index.members.form == GOB_FORM_U32 && gob_zset_sync(&z) == GOB_OK);
    CHECK(add_name(&z, 5, 3.0) == GOB_OK);
    uint32_t epoch = z.index.members.epoch;
    CHECK(gob_zset_optimize(&z) == GOB_OK && z.order != NULL && z.pending == NULL);
    CHECK(z.index.members.form == GOB_FORM_I16 && z.index.members.epoch != epoch);
    CHECK(names_in_order(&z, &names));
    CHECK(gob_members_walk(&z.index.members, &at, 300, ids, scores) == 300);
    for (size_t i = 0; i < 300; i++) {
        CHECK(gob_zset_select(&z, i).member == gob_bias(ids[i]));
    }
    for (uint64_t nth = 1; nth < 8; nth++) { /* failing changes nothing */
        gob_alloc_fail_at(&z.alloc, nth);
        (void)gob_zset_optimize(&z);
        CHECK(names_in_order(&z, &names) && names_match(&z, &names));
    }
    gob_alloc_fail_at(&z.alloc, 0);
    end_names(&z);
}

/* An order finds its names where the set has moved to; a copy has names of its own. */
static void test_moving(void)
{
    gob_zset z;
    gob_zset other;
    begin_names(&z, *names_layout(0, 8, true), 200);
    gob_zset_init(&other, *names_layout(0, 8, true), 1.0F, 2);
    CHECK(gob_zset_sync(&z) == GOB_OK);
    remove_name(&z, 100);
    gob_zset_swap(&z, &other);
    CHECK(gob_zset_count(&z) == 0 && z.order == NULL && other.pending != NULL);
    CHECK(other.order->names == &other.index.members);
    CHECK(gob_zset_copy(&z, &other) == GOB_OK && z.order == NULL);
    CHECK(gob_zset_sync(&z) == GOB_OK && names_in_order(&z, &names) && names_match(&z, &names));
    gob_zset_swap(&z, &other);
    CHECK(z.order->names == &z.index.members && other.order->names == &other.index.members);
    gob_zset_clear(&other);
    CHECK(other.alloc.live == 0);
    CHECK(add_name(&z, 100, 3.0) == GOB_OK);
    end_names(&z);
    for (uint64_t nth = 1; nth < 3; nth++) {
        begin_names(&z, *names_layout(0, 8, true), 200);
        gob_alloc_fail_at(&other.alloc, nth);
        CHECK(gob_zset_copy(&other, &z) == GOB_NOMEM && other.alloc.live == 0);
        CHECK(gob_zset_copy(&other, &z) == GOB_OK && names_match(&other, &names));
        gob_zset_clear(&other);
        end_names(&z);
    }
}

/* Ids become wide for one more name, or for the same names with wider scores. */
static void test_widening(void)
{
    gob_zset z;
    for (int by_form = 0; by_form < 2; by_form++) {
        begin_names(&z, *names_layout(0, 8, true), 100);
        CHECK(gob_zset_sync(&z) == GOB_OK);
        gob_members *m = &z.index.members;
        uint32_t epoch = m->epoch;
        size_t i = 100;
        m->narrow_bits = 13;
        for (; m->arena.used + 600 < (1 << 13); i++) {
            CHECK(add_name(&z, i, 1.0) == GOB_OK && !gob_members_wide(m));
        }
        CHECK(by_form == 0 || add_name(&z, 50, 0.5) == GOB_OK);
        CHECK(gob_members_wide(m) == (by_form != 0));
        for (; !gob_members_wide(m) && i < 150; i++) {
            CHECK(add_name(&z, i, 1.0) == GOB_OK);
        }
        CHECK(gob_members_wide(m) && m->epoch != epoch && gob_zset_layout(&z).member_bytes == 8);
        CHECK(names_match(&z, &names));
        CHECK(gob_zset_sync(&z) == GOB_OK && names_in_order(&z, &names));
        end_names(&z);
    }
}

/* What is refused leaves no name behind, and a name that is not there is nowhere. */
static void test_refused(void)
{
    gob_zset z;
    gob_changes c = {0};
    double sum;
    begin_names(&z, *names_layout(0, 4, true), 100);
    uint64_t stamp = z.stamp;
    CHECK(gob_zset_find(&z, named(120)) == GOB_NO_ID);
    CHECK(gob_is_absent(gob_zset_score(&z, GOB_NO_ID)));
    CHECK(gob_is_absent(gob_zset_remove(&z, GOB_NO_ID)));
    CHECK(gob_zset_add(&z, named(120), (double)NAN, GOB_SET, &c) == GOB_NAN);
    CHECK(gob_zset_add(&z, named(120), 1e39, GOB_SET, &c) == GOB_RANGE);
    CHECK(gob_zset_add(&z, named(120), 1.0, GOB_XX, &c) == GOB_OK);
    CHECK(gob_zset_increment(&z, named(120), (double)NAN, &sum) == GOB_NAN);
    CHECK(c.added == 0 && z.stamp == stamp && z.index.members.records == 100);
    end_names(&z);
}

static void test_validator(void)
{
    const char *why;
    gob_zset z;
    gob_changes c = {0};
    double old;
    gob_zset_init(&z, (gob_layout){.member_bytes = 8, .score_bytes = 8, .compress = true}, 1.0F, 1);
    for (int64_t member = 0; member < 100; member++) {
        CHECK(gob_zset_add(&z, one(member), 2.0, GOB_SET, &c) == GOB_OK);
    }
    CHECK(gob_zset_sync(&z) == GOB_OK);
    CHECK(gob_zset_add(&z, one(3), 5.0, GOB_SET, &c) == GOB_OK && z.pending != NULL);
    CHECK(gob_zset_validate(&z, &why));
    CHECK(gob_index_put(&z.index, &z.alloc, 7, 9.0, &old) == GOB_OK);
    CHECK_FAULT(gob_zset_validate(&z, &why), why, "zset: score of the order");
    CHECK(gob_index_put(&z.index, &z.alloc, 7, old, &old) == GOB_OK);
    CHECK(gob_index_put(&z.index, &z.alloc, 1000, 9.0, &old) == GOB_OK);
    CHECK_FAULT(gob_zset_validate(&z, &why), why, "zset: members that the order lacks");
    gob_index_erase(&z.index, &z.alloc, 1000);
    gob_table_insert(z.pending, 2000, 1.0);
    CHECK_FAULT(gob_zset_validate(&z, &why), why, "zset: pending members that the order lacks");
    gob_table_erase(z.pending, gob_table_find(z.pending, 2000));
    z.pending->live++;
    CHECK_FAULT(gob_zset_validate(&z, &why), why, "table: live count");
    z.pending->live--;
    z.order->count++;
    CHECK_FAULT(gob_zset_validate(&z, &why), why, "order: count");
    z.order->count--;
    z.index.live++;
    CHECK_FAULT(gob_zset_validate(&z, &why), why, "index: live count");
    z.index.live--;
    gob_order *order = z.order;
    z.order = NULL;
    CHECK_FAULT(gob_zset_validate(&z, &why), why, "zset: pending without an order");
    z.order = order;
    CHECK(gob_zset_validate(&z, &why));
    gob_zset_clear(&z);
    CHECK(z.alloc.live == 0);
}

int main(void)
{
    test_condemned_twice();
    test_failed_form();
    test_failing_names(*names_layout(0, 8, true), 50);
    test_failing_names(*names_layout(0, 8, true), 150);
    test_failing_names(*names_layout(16, 8, false), 150);
    test_small_and_large(0);
    test_small_and_large(16);
    test_optimize();
    test_moving();
    test_widening();
    test_refused();
    test_modes();
    test_bad_scores();
    test_stuck();
    test_merge_exponent(0.0F, 0);
    test_merge_exponent(0.5F, 45);
    test_merge_exponent(1.0F, GOB_BLOCK_MAX);
    test_swap();
    test_validator();
    const int64_t bases[] = {0, -5000, INT32_MIN, INT32_MAX - IDS + 1};
    uint64_t seed = 1;
    for (unsigned kind = 0; kind < 8; kind++) {
        gob_layout layout = {.member_bytes = (kind & 1) != 0 ? 8 : 4,
                             .score_bytes = (kind & 2) != 0 ? 8 : 4,
                             .compress = (kind & 4) != 0};
        for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++) {
            run(layout, bases[b], 1, (float)(b % 3) / 2.0F, seed++);
        }
        if (layout.member_bytes == 8) {
            run(layout, INT64_MIN, INT64_C(1) << 48, 1.0F, seed++);
            run(layout, 0, 4096, 1.0F, seed++);
        }
    }
    return test_report();
}
