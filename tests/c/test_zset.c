/* The sorted set against an array of scores, over layouts and shapes, with allocations failing. */
#include "gob_digest.h"
#include "gob_random.h"
#include "gob_test.h"
#include "gob_zset.h"

enum { IDS = GOB_PAGE_IDS + 4000, ROUNDS = 400 };

/* The model: the score of id i belongs to member base + i * stride. */
typedef struct model {
    double score[IDS];
    uint64_t count;
    int64_t base;
    int64_t stride;
    unsigned score_bytes;
} model;

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
        gob_entry got = gob_order_select(z->order, rank);
        if (gob_order_lower_bound(z->order, e) != rank || got.key != e.key ||
            got.member != e.member) {
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
            model_set(&after, ids[i], narrowed(m, add ? old + scores[i] : scores[i]));
        }
    }
    gob_journal j;
    gob_inputs in = {members, {scores, 1}};
    gob_changes changes = {0};
    uint64_t removed = 0;
    gob_status status = gob_zset_begin(z, &j, n);
    if (status != GOB_OK) {
        CHECK(matches(z, m));
        return;
    }
    for (size_t from = 0; from < n && status == GOB_OK; from += 1000) {
        size_t step = n - from < 1000 ? n - from : 1000;
        status = verb == GOB_UPDATE ? gob_zset_update_step(z, &j, in, from, step, GOB_SET, &changes)
                 : verb == GOB_INCREMENT ? gob_zset_increment_step(z, &j, in, from, step, NULL)
                                         : gob_zset_remove_step(z, &j, in, from, step, &removed);
    }
    CHECK(status == GOB_OK || status == GOB_NOMEM);
    if (undo || status != GOB_OK) {
        gob_zset_rollback(z, &j, in, verb);
    } else {
        gob_zset_commit(z, &j);
        *m = after;
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
        if (gob_zset_add(z, member_of(m, id), score, GOB_SET, &changes) == GOB_OK) {
            model_set(m, id, score);
        }
        break;
    case 1:
        if (gob_zset_increment(z, member_of(m, id), 1.0, &sum) == GOB_OK) {
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

int main(void)
{
    const int64_t bases[] = {0, -5000, INT32_MIN, INT32_MAX - IDS + 1};
    uint64_t seed = 1;
    for (unsigned kind = 0; kind < 8; kind++) {
        gob_layout layout = {(kind & 1) != 0 ? 8 : 4, (kind & 2) != 0 ? 8 : 4, (kind & 4) != 0};
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
