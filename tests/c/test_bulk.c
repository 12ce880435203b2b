/* Bulk calls on names: random operations against a model, and undoing at every point. */
#include "gob_bulk.h"

#include "gob_names_model.h"

enum { INPUTS = 600 };

/* The inputs of a bulk call, and what they make of the model. */
typedef struct call {
    gob_verb verb;
    size_t n;
    size_t id[INPUTS];
    gob_name name[INPUTS];
    double score[INPUTS];
    double out[INPUTS];
    double expected[INPUTS];
    model after;
    gob_inputs in;
    gob_names column;
} call;

static call c;

/* Small counts; a few in `wild` of 100 need another form. */
static double random_score(uint64_t *rng, unsigned wild)
{
    const double others[] = {40000.0, -40000.0, 3e9, -3e9, 0.5, 1e30, HUGE_VAL, 1.0 / 3.0};
    return random_below(rng, 100) < wild ? others[random_below(rng, 8)]
                                         : (double)random_below(rng, 5);
}

static void apply(call *k, const model *m)
{
    k->after = *m;
    for (size_t i = 0; i < k->n; i++) {
        double *at = &k->after.score[k->id[i]];
        bool add = k->verb == GOB_INCREMENT && !gob_is_absent(*at);
        *at =
            k->verb == GOB_REMOVE ? GOB_ABSENT : narrowed(m, add ? *at + k->score[i] : k->score[i]);
        k->expected[i] = *at;
        k->name[i] = pool[k->id[i]];
    }
    k->column = (gob_names){.form = GOB_NAMES_LIST, .data = (const uint8_t *)k->name};
    k->in = (gob_inputs){.names = &k->column, .scores = {k->score, 1}};
}

static void random_call(call *k, const model *m, uint64_t *rng, unsigned wild)
{
    k->verb = (gob_verb)random_below(rng, 3);
    k->n = 1 + random_below(rng, random_below(rng, 2) != 0 ? INPUTS : 20);
    for (size_t i = 0; i < k->n; i++) {
        k->id[i] = random_below(rng, m->n);
        k->score[i] = random_score(rng, wild);
    }
    apply(k, m);
}

static gob_status steps(gob_zset *z, gob_journal *j, call *k, size_t end, size_t step)
{
    gob_changes changes = {0};
    uint64_t removed = 0;
    gob_status status = GOB_OK;
    for (size_t from = 0; from < end && status == GOB_OK; from += step) {
        size_t n = end - from < step ? end - from : step;
        status = k->verb == GOB_UPDATE ? gob_bulk_update(z, j, k->in, from, n, GOB_SET, &changes)
                 : k->verb == GOB_INCREMENT ? gob_bulk_increment(z, j, k->in, from, n, k->out)
                                            : gob_bulk_remove(z, j, k->in, from, n, &removed);
    }
    return status;
}

/* The call, committed where nothing fails and it is not to be undone. */
static void bulk(gob_zset *z, model *m, call *k, size_t step, bool undo)
{
    gob_journal j;
    uint64_t stamp = z->stamp;
    if (gob_bulk_begin(z, &j, k->n) != GOB_OK) {
        return;
    }
    gob_status status = steps(z, &j, k, k->n, step);
    CHECK(status == GOB_OK || status == GOB_NOMEM || status == GOB_NAN);
    if (undo || status != GOB_OK) {
        uint64_t fail_at = z->alloc.fail_at;
        gob_alloc_fail_at(&z->alloc, 1 + k->n % 3); /* undoing needs no memory */
        gob_bulk_rollback(z, &j, k->in, k->verb);
        gob_alloc_fail_at(&z->alloc, fail_at);
        CHECK(z->stamp == stamp);
        return;
    }
    gob_bulk_commit(z, &j);
    *m = k->after;
    CHECK(k->verb != GOB_INCREMENT || memcmp(k->out, k->expected, k->n * sizeof k->out[0]) == 0);
}

static void single(gob_zset *z, model *m, uint64_t *rng, unsigned wild)
{
    size_t i = random_below(rng, m->n);
    double score = narrowed(m, random_score(rng, wild));
    double sum;
    gob_changes changes = {0};
    switch (random_below(rng, 3)) {
    case 0:
        if (gob_zset_add(z, named(i), score, GOB_SET, &changes) == GOB_OK) {
            m->score[i] = score;
        }
        break;
    case 1:
        if (gob_zset_increment(z, named(i), 1.0, &sum) == GOB_OK) {
            m->score[i] = narrowed(m, gob_is_absent(m->score[i]) ? 1.0 : m->score[i] + 1.0);
            CHECK(sum == m->score[i]);
        }
        break;
    default:
        CHECK(same_score(gob_zset_remove(z, gob_zset_find(z, named(i))), m->score[i]));
        m->score[i] = GOB_ABSENT;
    }
}

static void whole(gob_zset *z, model *m, uint64_t *rng)
{
    switch (random_below(rng, 8)) {
    case 0:
        (void)gob_zset_optimize(z);
        break;
    case 1:
        if (random_below(rng, 5) == 0) {
            gob_zset_clear(z);
            model_clear(m);
        }
        break;
    case 2:
    case 3:
        (void)gob_zset_sync(z);
        break;
    default:
        break;
    }
}

static void test_random(gob_layout layout, size_t n, float merge_exponent, unsigned narrow_bits,
                        uint64_t seed)
{
    static model m;
    uint64_t rng = seed;
    gob_zset z;
    fill_pool(layout.fixed);
    gob_zset_init(&z, layout, merge_exponent, seed);
    z.index.members.narrow_bits = (uint8_t)narrow_bits;
    m = (model){.n = n, .score_bytes = layout.score_bytes};
    model_clear(&m);
    for (unsigned round = 0; round < 300; round++) {
        unsigned wild = round % 100 < 50 ? 0 : 4;
        gob_alloc_fail_at(&z.alloc, random_below(&rng, 3) == 0 ? 1 + random_below(&rng, 20) : 0);
        if (random_below(&rng, 4) == 0) {
            random_call(&c, &m, &rng, wild);
            bulk(&z, &m, &c, 1 + random_below(&rng, 200), random_below(&rng, 3) == 0);
        } else {
            single(&z, &m, &rng, wild);
        }
        whole(&z, &m, &rng);
        gob_alloc_fail_at(&z.alloc, 0);
        if (round % 8 == 0) {
            CHECK(names_match(&z, &m));
            CHECK(gob_zset_sync(&z) == GOB_OK && names_in_order(&z, &m));
        }
    }
    gob_zset_clear(&z);
    CHECK(z.alloc.live == 0);
}

/* A set of small counts whose order is built, with a few changes pending. `first` is the score of
 * what a call overwrites first. */
static void begin_undo(gob_zset *z, model *m, size_t n, double first)
{
    gob_journal j;
    gob_changes changes = {0};
    gob_names column = {.form = GOB_NAMES_LIST, .data = (const uint8_t *)pool};
    gob_inputs in = {.names = &column, .scores = {m->score, 1}};
    gob_zset_init(z, *names_layout(0, 8, true), 1.0F, 3);
    *m = (model){.n = n + 100, .score_bytes = 8};
    model_clear(m);
    for (size_t i = 0; i < n; i++) {
        m->score[i] = i < 36 && i % 7 == 0 ? first : (double)(i % 7);
    }
    CHECK(gob_bulk_begin(z, &j, n) == GOB_OK);
    CHECK(gob_bulk_update(z, &j, in, 0, n, GOB_SET, &changes) == GOB_OK && changes.added == n);
    gob_bulk_commit(z, &j);
    CHECK(gob_zset_sync(z) == GOB_OK);
    for (size_t i = 0; i < n; i += 12) {
        gob_zset_remove(z, gob_zset_find(z, named(i)));
        m->score[i] = GOB_ABSENT;
    }
}

/* Names old and new, some twice; one in the middle needs another form, one at the end yet another.
 */
static void undo_call(call *k, const model *m, gob_verb verb, double wild, double wilder)
{
    k->verb = verb;
    k->n = 130;
    for (size_t i = 0; i < k->n; i++) {
        k->id[i] = (i * 7 + i / 90) % m->n;
        k->score[i] = i == 40 ? wild : i == 100 ? wilder : (double)(i % 3);
    }
    apply(k, m);
}

/* Undone after each prefix. */
static void test_prefixes(size_t n, gob_verb verb, double first, double wild, double wilder)
{
    static model m;
    fill_pool(0);
    for (size_t end = 0; end <= 130; end += 2 + end % 3) {
        gob_zset z;
        gob_journal j;
        begin_undo(&z, &m, n, first);
        undo_call(&c, &m, verb, wild, wilder);
        CHECK(gob_bulk_begin(&z, &j, c.n) == GOB_OK);
        CHECK(steps(&z, &j, &c, end, 50) == GOB_OK);
        gob_bulk_rollback(&z, &j, c.in, verb);
        CHECK(names_match(&z, &m));
        CHECK(gob_zset_sync(&z) == GOB_OK && names_in_order(&z, &m));
        CHECK(gob_zset_optimize(&z) == GOB_OK && names_match(&z, &m));
        gob_zset_clear(&z);
        CHECK(z.alloc.live == 0);
    }
}

/* Undone where an allocation fails, whichever it is. */
static void test_failures(size_t n, gob_verb verb, double wild, double wilder)
{
    static model m;
    bool failed = true;
    for (uint64_t nth = 1; failed; nth++) {
        gob_zset z;
        begin_undo(&z, &m, n, 5.0);
        undo_call(&c, &m, verb, wild, wilder);
        gob_alloc_fail_at(&z.alloc, nth);
        bulk(&z, &m, &c, 50, nth % 2 == 0);
        failed = z.alloc.fail_at == 0;
        gob_alloc_fail_at(&z.alloc, 0);
        CHECK(names_match(&z, &m));
        CHECK(gob_zset_sync(&z) == GOB_OK && names_in_order(&z, &m));
        CHECK(gob_zset_optimize(&z) == GOB_OK && names_in_order(&z, &m));
        gob_zset_clear(&z);
        CHECK(z.alloc.live == 0);
    }
}

/* The order built in the middle of a call that is undone later. */
static void test_sync_between(gob_verb verb)
{
    static model m;
    gob_zset z;
    gob_journal j;
    begin_undo(&z, &m, 300, 5.0);
    undo_call(&c, &m, verb, 40000.0, 0.5);
    CHECK(gob_bulk_begin(&z, &j, c.n) == GOB_OK);
    CHECK(steps(&z, &j, &c, 60, 60) == GOB_OK && gob_zset_sync(&z) == GOB_OK);
    gob_bulk_rollback(&z, &j, c.in, verb);
    CHECK(names_match(&z, &m));
    for (uint64_t nth = 1; nth < 4; nth++) { /* names that went come back */
        for (size_t i = 0; i < m.n; i += 2) {
            double sum;
            gob_alloc_fail_at(&z.alloc, nth);
            if (gob_zset_increment(&z, named(i), 1.0, &sum) == GOB_OK) {
                m.score[i] = sum;
            }
        }
        gob_alloc_fail_at(&z.alloc, 0);
        CHECK(names_match(&z, &m) && gob_zset_sync(&z) == GOB_OK && names_in_order(&z, &m));
    }
    gob_zset_clear(&z);
    CHECK(z.alloc.live == 0);
}

/* Sums of a union: infinities that cancel give 0, NaN and what is too large is refused. */
static void test_sums(unsigned score_bytes)
{
    const double with[] = {1.5, -HUGE_VAL, HUGE_VAL, 3e38, (double)NAN};
    const double sums[] = {3.0, 0.0, HUGE_VAL, 3e38 * 2, 0.0};
    const double before[] = {1.5, HUGE_VAL, HUGE_VAL, 3e38, 7.0};
    for (size_t i = 0; i < 5; i++) {
        gob_zset z;
        gob_journal j;
        gob_changes changes = {0};
        gob_names column = {.form = GOB_NAMES_LIST, .data = (const uint8_t *)(pool + i)};
        gob_inputs in = {.names = &column, .scores = {&with[i], 1}};
        gob_zset_init(&z, *names_layout(0, score_bytes, true), 1.0F, 1);
        CHECK(gob_zset_add(&z, named(i), before[i], GOB_SET, &changes) == GOB_OK);
        double old = gob_zset_score(&z, gob_zset_find(&z, named(i)));
        gob_status expected = i == 4 ? GOB_NAN : i == 3 && score_bytes == 4 ? GOB_RANGE : GOB_OK;
        CHECK(gob_bulk_begin(&z, &j, 1) == GOB_OK);
        CHECK(gob_bulk_update(&z, &j, in, 0, 1, GOB_SUM, &changes) == expected);
        double score = gob_zset_score(&z, gob_zset_find(&z, named(i)));
        CHECK(score == (expected == GOB_OK ? sums[i] : old));
        gob_bulk_rollback(&z, &j, in, GOB_UPDATE);
        CHECK(gob_zset_score(&z, gob_zset_find(&z, named(i))) == old);
        gob_zset_clear(&z);
        CHECK(z.alloc.live == 0);
    }
}

/* Input that another thread changes under the call gives garbage, but a sound set. */
static void test_changed_input(gob_verb verb, size_t n)
{
    static model m;
    uint64_t rng = 21;
    for (int round = 0; round < 20; round++) {
        gob_zset z;
        gob_journal j;
        const char *why;
        begin_undo(&z, &m, n, 3e9);
        undo_call(&c, &m, verb, -1.0, 2.0);
        CHECK(gob_bulk_begin(&z, &j, c.n) == GOB_OK);
        CHECK(steps(&z, &j, &c, c.n, 64) == GOB_OK);
        for (size_t i = 0; i < c.n; i++) {
            c.name[i] = pool[random_below(&rng, round % 2 == 0 ? POOL : 150)];
            c.score[i] = random_score(&rng, 50);
        }
        gob_bulk_rollback(&z, &j, c.in, verb);
        CHECK(gob_zset_validate(&z, &why) && gob_zset_sync(&z) == GOB_OK);
        CHECK(gob_zset_validate(&z, &why) && gob_zset_optimize(&z) == GOB_OK);
        gob_zset_clear(&z);
        CHECK(z.alloc.live == 0);
    }
}

int main(void)
{
    uint64_t seed = 1;
    for (unsigned kind = 0; kind < 8; kind++) {
        gob_layout layout =
            *names_layout((kind & 1) * 16, (kind & 2) != 0 ? 8 : 4, (kind & 4) != 0);
        test_random(layout, 100, (float)(kind % 3) / 2.0F, 32, seed++);
        test_random(layout, 300, (float)(kind % 3) / 2.0F, layout.fixed == 0 ? 12 : 7, seed++);
    }
    for (gob_verb verb = GOB_UPDATE; verb <= GOB_REMOVE; verb++) {
        test_prefixes(50, verb, 5.0, 40000.0, 0.5);
        test_prefixes(300, verb, 9007199254740992.0, 40000.0, 0.5);
        test_prefixes(300, verb, 3e9, -1.0, 0.5);
        test_failures(50, verb, 40000.0, 3e9);
        test_failures(300, verb, 40000.0, -3e9);
        test_sync_between(verb);
        test_changed_input(verb, 0);
        test_changed_input(verb, 300);
    }
    test_sums(4);
    test_sums(8);
    return test_report();
}
