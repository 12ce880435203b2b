/* The Swiss table against an array of scores. */
#include "gob_random.h"
#include "gob_table.h"
#include "gob_test.h"

enum { IDS = 3000 };

/* The model: the score of id i belongs to member base + i * stride. */
typedef struct model {
    double score[IDS];
    size_t count;
    int64_t base;
    int64_t stride;
} model;

static int64_t member_of(const model *m, size_t id)
{
    return m->base + (int64_t)id * m->stride;
}

static void model_init(model *m, int64_t base, int64_t stride)
{
    *m = (model){.base = base, .stride = stride};
    for (size_t id = 0; id < IDS; id++) {
        m->score[id] = GOB_ABSENT;
    }
}

static bool matches(const gob_table *t, const gob_alloc *a, const model *m)
{
    const char *why = NULL;
    if (!gob_table_validate(t, NULL, &why)) {
        fprintf(stderr, "%s\n", why);
        return false;
    }
    bool same = t->live == m->count && a->live == gob_table_bytes(t);
    for (size_t id = 0; id < IDS; id++) {
        size_t slot = gob_table_find(t, member_of(m, id));
        gob_table_prefetch(t, member_of(m, id));
        if (gob_is_absent(m->score[id])) {
            same = same && slot == GOB_NO_SLOT;
        } else {
            same = same && slot != GOB_NO_SLOT && gob_table_score(t, slot) == m->score[id] &&
                   gob_table_member(t, slot) == member_of(m, id);
        }
    }
    size_t walked = 0;
    for (size_t slot = 0; (slot = gob_table_next(t, slot)) != GOB_NO_SLOT; slot++) {
        walked++;
    }
    return same && walked == m->count;
}

static void set(gob_table *t, gob_alloc *a, model *m, size_t id, double score)
{
    size_t slot = gob_table_find(t, member_of(m, id));
    if (slot != GOB_NO_SLOT) {
        gob_table_set_score(t, slot, score);
    } else {
        if (!gob_table_has_room(t, 1)) {
            CHECK(gob_table_rehash(t, a, t->live + 1, false) == GOB_OK);
            CHECK(t->dead == 0);
        }
        gob_table_insert(t, member_of(m, id), score);
        m->count++;
    }
    m->score[id] = score;
}

static void erase(gob_table *t, model *m, size_t id)
{
    size_t slot = gob_table_find(t, member_of(m, id));
    if (slot != GOB_NO_SLOT) {
        gob_table_erase(t, slot);
        m->score[id] = GOB_ABSENT;
        m->count--;
    }
}

/* Random writes over ever other numbers of ids, so that the table fills, empties and churns. */
static void test_churn(gob_table *t, gob_alloc *a, model *m, uint64_t *rng)
{
    size_t most_dead = 0;
    for (int round = 0; round < 60; round++) {
        size_t ids = round % 3 == 0 ? 1 + random_below(rng, 20) : 1 + random_below(rng, IDS);
        uint64_t insertions = 1 + random_below(rng, 9);
        for (int i = 0; i < 500; i++) {
            size_t id = random_below(rng, ids);
            if (random_below(rng, 10) < insertions) {
                set(t, a, m, id, (double)random_below(rng, 1000) * 0.5);
            } else {
                erase(t, m, id);
            }
            most_dead = t->dead > most_dead ? t->dead : most_dead;
        }
        CHECK(matches(t, a, m));
        if (round % 8 == 7) {
            bool tight = random_below(rng, 2) != 0;
            CHECK(gob_table_rehash(t, a, t->live, tight) == GOB_OK);
            CHECK(t->capacity == gob_table_capacity_for(t->live, tight) && t->dead == 0);
            CHECK(matches(t, a, m));
        }
    }
    CHECK(most_dead > 20);
    for (size_t id = 0; id < IDS; id++) {
        erase(t, m, id);
    }
    CHECK(matches(t, a, m));
    CHECK(gob_table_rehash(t, a, 0, true) == GOB_OK);
    CHECK(t->capacity == 0 && t->ctrl == NULL && a->live == 0);
}

/* Tables of one group, to the last slot. */
static void test_single_group(gob_table *t, gob_alloc *a, model *m)
{
    for (size_t capacity = 4; capacity <= GOB_GROUP; capacity += 4) {
        CHECK(gob_table_rehash(t, a, capacity, false) == GOB_OK && t->capacity == capacity);
        for (size_t id = 0; id < capacity; id++) {
            CHECK(gob_table_has_room(t, 1));
            set(t, a, m, id, (double)id);
        }
        CHECK(!gob_table_has_room(t, 1));
        CHECK(matches(t, a, m)); /* absent members too: their probes end */
        for (size_t id = 0; id < capacity; id += 2) {
            erase(t, m, id);
        }
        CHECK(t->dead == 0 && gob_table_has_room(t, 1));
        CHECK(matches(t, a, m));
        for (size_t id = 0; id < IDS; id++) {
            erase(t, m, id);
        }
    }
    gob_table_free(t, a);
    CHECK(a->live == 0 && !gob_table_has_room(t, 1));
    CHECK(gob_table_find(t, m->base) == GOB_NO_SLOT);
}

static void test_capacities(void)
{
    for (size_t count = 0; count < 5000; count++) {
        for (int tight = 0; tight < 2; tight++) {
            gob_table t = {.capacity = gob_table_capacity_for(count, tight != 0)};
            t.live = count == 0 ? 0 : count - 1;
            CHECK(count == 0 ? t.capacity == 0 : gob_table_has_room(&t, 1));
            CHECK(t.capacity <= count * 64 / 48 + GOB_GROUP);
        }
    }
}

static void test_failures(gob_table *t, gob_alloc *a, model *m)
{
    for (size_t id = 0; id < 200; id++) {
        set(t, a, m, id, 1.5);
    }
    gob_alloc_fail_at(a, 1);
    CHECK(gob_table_rehash(t, a, 1000, false) == GOB_NOMEM);
    CHECK(matches(t, a, m));
    CHECK(gob_table_rehash(t, a, SIZE_MAX / 2, false) == GOB_NOMEM);
    CHECK(matches(t, a, m));
    gob_table_free(t, a);
    CHECK(a->live == 0);
}

static void test_kind(unsigned member_bytes, unsigned score_bytes, gob_simd simd)
{
    static model m;
    const int64_t bases[] = {0, -1500, INT32_MIN, INT32_MAX - IDS + 1};
    uint64_t rng = 1;
    for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++) {
        int64_t stride = member_bytes == 8 && b > 1 ? INT64_C(1) << 40 : 1;
        gob_alloc a;
        gob_table t;
        gob_alloc_init(&a);
        gob_table_init(&t, member_bytes, score_bytes, random_next(&rng));
        t.simd = (uint8_t)simd;
        model_init(&m, bases[b], stride);
        test_churn(&t, &a, &m, &rng);
        test_single_group(&t, &a, &m);
        model_init(&m, bases[b], stride);
        test_failures(&t, &a, &m);
    }
}

/* The validator sees damage of each kind. */
static void test_validator(void)
{
    static model m;
    const char *why;
    gob_alloc a;
    gob_table t;
    gob_alloc_init(&a);
    gob_table_init(&t, 8, 8, 99);
    model_init(&m, 0, 1);
    CHECK(gob_table_rehash(&t, &a, 10, false) == GOB_OK); /* 12 slots, 16 control bytes */
    for (size_t id = 0; id < 9; id++) {
        set(&t, &a, &m, id, 1.0);
    }
    CHECK(gob_table_validate(&t, NULL, &why));
    size_t slot = gob_table_find(&t, 3);
    uint8_t ctrl = t.ctrl[slot];
    t.ctrl[slot] = 0x81;
    CHECK_FAULT(gob_table_validate(&t, NULL, &why), why, "table: control byte");
    t.ctrl[slot] = ctrl ^ 1;
    CHECK_FAULT(gob_table_validate(&t, NULL, &why), why,
                "table: a member is not found at its slot");
    t.ctrl[slot] = 0x80;
    CHECK_FAULT(gob_table_validate(&t, NULL, &why), why, "table: live count");
    t.ctrl[slot] = ctrl;
    t.ctrl[15] = 0x80;
    CHECK_FAULT(gob_table_validate(&t, NULL, &why), why, "table: control byte without a slot");
    t.ctrl[15] = 0xFF;
    t.dead = 1;
    CHECK_FAULT(gob_table_validate(&t, NULL, &why), why, "table: deleted count");
    t.dead = 0;
    CHECK(gob_table_validate(&t, NULL, &why));
    gob_table_free(&t, &a);

    /* Two groups without an empty slot. */
    CHECK(gob_table_rehash(&t, &a, 20, false) == GOB_OK && t.capacity == 32);
    for (int64_t member = 0; member < 32; member++) {
        gob_table_insert(&t, member, 1.0);
    }
    CHECK_FAULT(gob_table_validate(&t, NULL, &why), why, "table: no end for a probe");
    gob_table_free(&t, &a);
}

int main(void)
{
    for (int simd = GOB_SCALAR; simd <= (int)gob_cpu_best(); simd++) {
        for (unsigned kind = 0; kind < 4; kind++) {
            test_kind((kind & 1) != 0 ? 8 : 4, (kind & 2) != 0 ? 8 : 4, (gob_simd)simd);
        }
    }
    test_capacities();
    test_validator();
    return test_report();
}
