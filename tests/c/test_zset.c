/* The sorted set against an array of scores, over layouts and shapes, with allocations failing. */
#include <math.h>

#include "gob_bulk.h"
#include "gob_random.h"
#include "gob_test.h"

enum { IDS = GOB_PAGE_IDS + 4000, ROUNDS = 200 };

/* The model: the score of id i belongs to member base + i * stride. */
typedef struct model {
    double score[IDS];
    uint64_t count;
    int64_t base;
    int64_t stride;
    unsigned score_bytes;
} model;

/* An integer as a member; good until the next call. */
static const gob_member *one(int64_t id)
{
    static gob_member m;
    m = (gob_member){.id = id};
    return &m;
}

static int64_t member_of(const model *m, size_t id)
{
    return m->base + (int64_t)id * m->stride;
}

static void model_set(model *m, size_t id, double score)
{
    m->count += gob_is_absent(m->score[id]);
    m->count -= gob_is_absent(score);
    m->score[id] = score;
}

static double random_score(uint64_t *rng)
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

static double narrowed(const model *m, double v)
{
    return m->score_bytes == 4 ? (double)(float)v : v;
}

static bool matches(gob_zset *z, const model *m)
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
static bool order_matches(gob_zset *z, const model *m, uint64_t *rng)
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
static void bulk(gob_zset *z, model *m, uint64_t *rng, bool undo)
{
    enum { MOST = 6000 };
    static int64_t members[MOST];
    static size_t ids[MOST];
    static double scores[MOST];
    static double out[MOST];
    static double expected[MOST];
    static model after;
    size_t n = 1 + random_below(rng, MOST);
    size_t start = random_below(rng, IDS);
    bool dense = random_below(rng, 2) != 0;
    gob_verb verb = (gob_verb)random_below(rng, 3);
    after = *m;
    for (size_t i = 0; i < n; i++) {
        ids[i] = dense ? (start + i) % IDS : random_below(rng, IDS);
        members[i] = member_of(m, ids[i]);
        scores[i] = random_below(rng, 3) != 0 ? 1.0 : random_score(rng);
        double old = after.score[ids[i]];
        if (verb == GOB_REMOVE) {
            model_set(&after, ids[i], GOB_ABSENT);
        } else {
            bool add = verb == GOB_INCREMENT && !gob_is_absent(old);
            expected[i] = narrowed(m, add ? old + scores[i] : scores[i]);
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

static void single(gob_zset *z, model *m, uint64_t *rng)
{
    size_t id = random_below(rng, IDS);
    gob_changes changes = {0};
    double score = narrowed(m, random_score(rng));
    double sum;
    switch (random_below(rng, 3)) {
    case 0:
        if (gob_zset_add(z, one(member_of(m, id)), score, GOB_SET, &changes) == GOB_OK) {
            model_set(m, id, score);
        }
        break;
    case 1:
        if (gob_zset_increment(z, one(member_of(m, id)), 1.0, &sum) == GOB_OK) {
            model_set(m, id, narrowed(m, gob_is_absent(m->score[id]) ? 1.0 : m->score[id] + 1.0));
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
    static model m;
    uint64_t rng = seed;
    gob_zset z;
    gob_zset_init(&z, layout, merge_exponent, seed);
    m = (model){.base = base, .stride = stride, .score_bytes = layout.score_bytes};
    for (size_t id = 0; id < IDS; id++) {
        m.score[id] = GOB_ABSENT;
    }
    for (int round = 0; round < ROUNDS; round++) {
        z.alloc.fail_at = random_below(&rng, 3) == 0 ? 1 + random_below(&rng, 60) : 0;
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
        z.alloc.fail_at = 0;
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
