/* A patch against an array of scores. */
#include "gob_patch.h"
#include "gob_random.h"
#include "gob_test.h"

/* The model: scores by position, NaN where absent. */
typedef struct model {
    double score[GOB_PAGE_IDS];
    unsigned count;
} model;

static void model_init(model *m)
{
    m->count = 0;
    for (unsigned position = 0; position < GOB_PAGE_IDS; position++) {
        m->score[position] = GOB_ABSENT;
    }
}

/* Every group that a probe for the position in `place` passes through is full. */
static bool is_reachable(const gob_patch *patch, gob_patch_kind kind, unsigned place)
{
    unsigned position = (unsigned)gob_patch_position(patch, kind, place);
    size_t offset = (size_t)(gob_patch_home(patch, kind, position) - gob_patch_groups(patch));
    unsigned group = (unsigned)(offset / gob_patch_bytes(kind, GOB_PATCH_GROUP));
    for (; group != place / GOB_PATCH_GROUP;
         group = (group + 1) * GOB_PATCH_GROUP % patch->capacity / GOB_PATCH_GROUP) {
        for (unsigned i = 0; i < GOB_PATCH_GROUP; i++) {
            if (gob_patch_position(patch, kind, group * GOB_PATCH_GROUP + i) < 0) {
                return false;
            }
        }
    }
    return true;
}

static bool matches(const gob_patch *patch, gob_patch_kind kind, const gob_alloc *a, const model *m)
{
    unsigned found = 0;
    bool same = patch->count == m->count && a->live == gob_patch_bytes(kind, patch->capacity);
    for (unsigned place = 0; place < patch->capacity; place++) {
        int position = gob_patch_position(patch, kind, place);
        if (position >= 0) {
            found++;
            same = same && is_reachable(patch, kind, place);
            same = same && gob_score_load(gob_patch_find(patch, kind, (unsigned)position),
                                          kind.score_bytes) == m->score[position];
        }
    }
    return same && gob_patch_validate(patch, kind, GOB_PAGE_IDS) &&
           found == m->count; /* and so none is there twice or missing */
}

static void insert(gob_patch *patch, gob_patch_kind kind, model *m, unsigned position, double score)
{
    gob_patch_insert(patch, kind, position, score);
    m->score[position] = score;
    m->count++;
}

static void remove_one(gob_patch *patch, gob_patch_kind kind, model *m, unsigned position)
{
    gob_patch_remove(patch, kind, position);
    m->score[position] = GOB_ABSENT;
    m->count--;
}

/* The nth position whose probe starts at the same group as that of `like`. */
static unsigned alike(const gob_patch *patch, gob_patch_kind kind, unsigned like, unsigned nth)
{
    const uint8_t *home = gob_patch_home(patch, kind, like);
    unsigned position = like;
    for (unsigned seen = 0; seen < nth;) {
        position = (position + 1) % GOB_PAGE_IDS;
        seen += gob_patch_home(patch, kind, position) == home;
    }
    return position;
}

/* One group overflows into the next ones, round the end for the last group; then they empty. */
static void test_overflow(gob_patch_kind kind, unsigned capacity, uint64_t *rng)
{
    static model m;
    gob_alloc a;
    gob_patch patch = {0};
    gob_alloc_init(&a);
    unsigned groups = capacity / GOB_PATCH_GROUP;
    for (unsigned home = 0; home < groups; home++) {
        model_init(&m);
        CHECK(gob_patch_resize(&patch, &a, kind, capacity) == GOB_OK);
        unsigned like = 0;
        while (gob_patch_home(&patch, kind, like) !=
               gob_patch_groups(&patch) + home * gob_patch_bytes(kind, GOB_PATCH_GROUP)) {
            like++;
        }
        unsigned n = 0;
        for (; gob_patch_has_room(&patch); n++) {
            insert(&patch, kind, &m, alike(&patch, kind, like, n), n + 0.5);
        }
        CHECK(n == capacity * GOB_PATCH_FULL / 64);
        CHECK(matches(&patch, kind, &a, &m));
        while (m.count != 0) {
            unsigned position = alike(&patch, kind, like, (unsigned)random_below(rng, n));
            if (!gob_is_absent(m.score[position])) {
                remove_one(&patch, kind, &m, position);
                CHECK(matches(&patch, kind, &a, &m));
            }
        }
    }
    gob_patch_free(&patch, &a, kind);
    CHECK(a.live == 0 && patch.capacity == 0);
}

/* Random insertions and removals, near full most of the time. */
static void test_churn(gob_patch_kind kind, uint64_t *rng)
{
    static model m;
    gob_alloc a;
    gob_patch patch = {0};
    gob_alloc_init(&a);
    model_init(&m);
    for (int round = 0; round < 4000; round++) {
        unsigned ids = round % 1000 < 500 ? 40 : GOB_PAGE_IDS;
        unsigned position = (unsigned)random_below(rng, ids);
        if (!gob_is_absent(m.score[position])) {
            remove_one(&patch, kind, &m, position);
        } else {
            if (!gob_patch_has_room(&patch)) {
                bool tight = random_below(rng, 2) != 0;
                unsigned capacity = gob_patch_capacity(patch.count + 1U, tight);
                gob_alloc_fail_at(&a, random_below(rng, 3) == 0);
                gob_status status = gob_patch_resize(&patch, &a, kind, capacity);
                if (status != GOB_OK) {
                    CHECK(status == GOB_NOMEM && matches(&patch, kind, &a, &m));
                    continue;
                }
                CHECK(patch.capacity == capacity && gob_patch_has_room(&patch));
            }
            insert(&patch, kind, &m, position, (double)random_below(rng, 1000) - 0.25);
        }
        if (round % 16 == 0) {
            CHECK(matches(&patch, kind, &a, &m));
        }
    }
    CHECK(gob_patch_resize(&patch, &a, kind, gob_patch_capacity(patch.count, true)) == GOB_OK);
    CHECK(matches(&patch, kind, &a, &m));
    for (unsigned position = 0; position < GOB_PAGE_IDS; position++) {
        if (!gob_is_absent(m.score[position])) {
            remove_one(&patch, kind, &m, position);
        }
    }
    CHECK(gob_patch_resize(&patch, &a, kind, 0) == GOB_OK);
    CHECK(a.live == 0 && patch.groups == 0 && !gob_patch_has_room(&patch));
}

static void test_capacities(void)
{
    for (unsigned n = 0; n <= GOB_PAGE_IDS; n++) {
        for (int tight = 0; tight < 2; tight++) {
            unsigned capacity = gob_patch_capacity(n, tight != 0);
            gob_patch patch = {.count = (uint16_t)(n == 0 ? 0 : n - 1),
                               .capacity = (uint16_t)capacity};
            CHECK(patch.capacity == capacity && capacity % GOB_PATCH_GROUP == 0);
            CHECK(n == 0 ? capacity == 0 : gob_patch_has_room(&patch));
        }
    }
}

int main(void)
{
    uint64_t rng = 1;
    for (int simd = GOB_SCALAR; simd <= (int)gob_cpu_best(); simd++) {
        for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
            gob_patch_kind kind = {(uint8_t)bytes, (uint8_t)simd};
            for (unsigned capacity = 8; capacity <= 48; capacity += 8) {
                test_overflow(kind, capacity, &rng);
            }
            test_churn(kind, &rng);
        }
    }
    test_capacities();
    return test_report();
}
