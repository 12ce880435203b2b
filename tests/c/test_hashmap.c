/* The hash against an array of entries: every form, option and SIMD level, with allocations
 * failing. */
#include "gob_hashmap.h"

#include "gob_entry_pool.h"
#include "gob_random.h"
#include "gob_test.h"

enum { ABSENT = -1, MANY = 200 };

/* The model: the value of each field, or ABSENT. */
typedef struct model {
    int value[FIELDS];
} model;

static gob_simd simd;

static void force_simd(gob_hashmap *h)
{
    if (h->compact) {
        h->blob.simd = (uint8_t)simd;
    } else {
        h->fields->table.simd = (uint8_t)simd;
    }
}

static size_t model_count(const model *m)
{
    size_t count = 0;
    for (size_t i = 0; i < FIELDS; i++) {
        count += m->value[i] != ABSENT;
    }
    return count;
}

static bool has(const gob_value *got, int expected)
{
    return expected == ABSENT ? got->kind == GOB_VALUE_NONE
                              : same_value(got, &value_pool[expected]);
}

/* Which field of the pool an iterator gave; FIELDS for none. */
static size_t which_field(const gob_value *field)
{
    gob_scratch scratch;
    gob_name name = gob_value_bytes(field, &scratch);
    size_t i = 0;
    while (i < FIELDS && !same_bytes(name, field_pool[i])) {
        i++;
    }
    return i;
}

static bool iterates(const gob_hashmap *h, const model *m)
{
    gob_value field;
    gob_value value;
    size_t steps = 0;
    bool same = gob_hashmap_any(h, &field, &value) == (model_count(m) != 0);
    if (same && model_count(m) != 0) {
        size_t i = which_field(&field);
        same = i < FIELDS && m->value[i] != ABSENT && has(&value, m->value[i]);
    }
    for (size_t at = 0; gob_hashmap_next(h, &at, &field, &value); steps++) {
        size_t i = which_field(&field);
        same = same && i < FIELDS && m->value[i] != ABSENT && has(&value, m->value[i]);
    }
    return same && steps == model_count(m);
}

static bool gets_many(const gob_hashmap *h, const model *m)
{
    gob_names column = {.form = GOB_NAMES_LIST, .data = (const uint8_t *)field_pool};
    gob_value values[GOB_BATCH];
    bool same = true;
    for (size_t from = 0; from < FIELDS; from += GOB_BATCH) {
        size_t n = FIELDS - from < GOB_BATCH ? FIELDS - from : GOB_BATCH;
        gob_hashmap_get_many(h, &column, from, n, values);
        for (size_t i = 0; i < n; i++) {
            same = same && has(&values[i], m->value[from + i]);
        }
    }
    return same;
}

static bool matches(gob_hashmap *h, const model *m)
{
    const char *why = NULL;
    force_simd(h);
    if (!gob_hashmap_validate(h, &why)) {
        fprintf(stderr, "%s\n", why);
        return false;
    }
    bool same = gob_hashmap_count(h) == model_count(m);
    for (size_t i = 0; same && i < FIELDS; i++) {
        gob_value value;
        bool found = gob_hashmap_get(h, field_pool[i], &value);
        same = found == (m->value[i] != ABSENT) && has(&value, m->value[i]);
    }
    return same && gets_many(h, m) && iterates(h, m);
}

/* One call, on the hash and on the model. */
typedef enum verb { SET, REMOVE, SET_MANY, UPDATE, OPTIMIZE, COPY, CLEAR, VERBS } verb;

typedef struct call {
    verb verb;
    size_t n;
    size_t field[MANY];
    int value[MANY];
} call;

static size_t random_field(uint64_t *rng, unsigned wild)
{
    return random_below(rng, 100) < wild ? random_below(rng, ODD + EDGES)
                                         : ODD + EDGES + random_below(rng, FIELDS - ODD - EDGES);
}

static int random_value(uint64_t *rng, unsigned wild)
{
    return (int)(random_below(rng, 100) < wild ? random_below(rng, VALUES)
                                               : VALUES - 1 - random_below(rng, 20));
}

static void draw_call(call *c, uint64_t *rng, unsigned wild)
{
    static const verb odds[] = {SET,    SET,    SET,    SET,      SET,      SET,  SET, REMOVE,
                                REMOVE, REMOVE, REMOVE, SET_MANY, SET_MANY, COPY, SET, UPDATE};
    c->verb = random_below(rng, 60) == 0    ? OPTIMIZE
              : random_below(rng, 400) == 0 ? CLEAR
                                            : odds[random_below(rng, 16)];
    bool many = c->verb == SET_MANY || c->verb == UPDATE;
    c->n = many ? random_below(rng, random_below(rng, 3) == 0 ? MANY : 6) : 1;
    for (size_t i = 0; i < c->n; i++) {
        c->field[i] = random_field(rng, wild);
        c->value[i] = random_value(rng, wild);
        if (i > 0 && random_below(rng, 4) == 0) {
            c->field[i] = c->field[i - 1];
        }
    }
}

static size_t apply_to_model(model *m, const call *c)
{
    size_t created = 0;
    for (size_t i = 0; c->verb != OPTIMIZE && c->verb != COPY && i < c->n; i++) {
        created += c->verb != REMOVE && m->value[c->field[i]] == ABSENT;
        m->value[c->field[i]] = c->verb == REMOVE ? ABSENT : c->value[i];
    }
    for (size_t i = 0; c->verb == CLEAR && i < FIELDS; i++) {
        m->value[i] = ABSENT;
    }
    return created;
}

static gob_status set_many(gob_hashmap *h, const call *c, size_t *created)
{
    gob_name fields[MANY];
    gob_value values[MANY];
    for (size_t i = 0; i < c->n; i++) {
        fields[i] = field_pool[c->field[i]];
        values[i] = value_pool[c->value[i]];
    }
    gob_names column = {.form = GOB_NAMES_LIST, .data = (const uint8_t *)fields};
    if (c->verb == SET_MANY) {
        return gob_hashmap_set_many(h, &column, values, 0, c->n, created);
    }
    gob_hashmap from;
    gob_hashmap_init(&from, h->encoding, c->n % 2 == 0 ? 0 : GOB_COMPACT_ALWAYS, 77);
    CHECK(gob_hashmap_set_many(&from, &column, values, 0, c->n, created) == GOB_OK);
    gob_status status = gob_hashmap_update(h, &from, created);
    gob_hashmap_clear(&from);
    CHECK(from.alloc.live == 0);
    return status;
}

/* Puts a copy in the place of the hash. */
static gob_status copy(gob_hashmap *h)
{
    gob_hashmap other;
    gob_hashmap_init(&other, h->encoding, h->max_compact, 5);
    gob_alloc_fail_at(&other.alloc, h->alloc.fail_at);
    gob_status status = gob_hashmap_copy(&other, h);
    gob_alloc_fail_at(&h->alloc, other.alloc.fail_at);
    if (status != GOB_OK) {
        CHECK(other.alloc.live == 0);
        return status;
    }
    other.stamp = h->stamp;
    gob_hashmap_clear(h);
    CHECK(h->alloc.live == 0);
    *h = other;
    return GOB_OK;
}

static gob_status apply(gob_hashmap *h, const call *c, const model *m)
{
    bool there = c->n != 0 && m->value[c->field[0]] != ABSENT;
    bool new = false;
    size_t created = 0;
    size_t live = h->alloc.live;
    model after = *m;
    size_t expected = apply_to_model(&after, c);
    gob_status status = GOB_OK;
    switch (c->verb) {
    case SET:
        status = gob_hashmap_set(h, field_pool[c->field[0]], &value_pool[c->value[0]], &new);
        CHECK(status != GOB_OK || new == !there);
        break;
    case REMOVE:
        CHECK(gob_hashmap_remove(h, field_pool[c->field[0]]) == there);
        break;
    case SET_MANY:
    case UPDATE:
        status = set_many(h, c, &created);
        CHECK(status != GOB_OK || created == expected);
        break;
    case OPTIMIZE:
        status = gob_hashmap_optimize(h);
        CHECK(h->alloc.live <= live);
        break;
    case COPY:
        status = copy(h);
        break;
    default:
        gob_hashmap_clear(h);
        break;
    }
    return status;
}

static bool changes(const model *m, const call *c)
{
    model after = *m;
    (void)apply_to_model(&after, c);
    return memcmp(&after, m, sizeof after) != 0;
}

/* Fails the first, second, ... allocation until the call goes through. */
static void sweep(gob_hashmap *h, model *m, const call *c)
{
    for (uint64_t fail_at = 1;; fail_at++) {
        uint64_t stamp = h->stamp;
        bool compact = gob_hashmap_is_compact(h);
        gob_alloc_fail_at(&h->alloc, fail_at);
        gob_status status = apply(h, c, m);
        bool failed = h->alloc.fail_at == 0;
        gob_alloc_fail_at(&h->alloc, 0);
        if (status == GOB_OK) {
            CHECK(!changes(m, c) || c->verb == COPY || h->stamp != stamp);
            (void)apply_to_model(m, c);
            return;
        }
        CHECK(failed && status == GOB_NOMEM);
        CHECK(h->stamp == stamp && gob_hashmap_is_compact(h) == compact);
        CHECK(matches(h, m));
    }
}

static void test_random(bool encoding, uint32_t max_compact, unsigned wild, uint64_t rounds)
{
    static call c;
    uint64_t rng = max_compact + wild + (encoding ? 1000 : 0);
    model m;
    gob_hashmap h;
    size_t compact = 0;
    memset(m.value, 0xFF, sizeof m.value);
    gob_hashmap_init(&h, encoding, max_compact, rng);
    for (uint64_t round = 0; round < rounds; round++) {
        draw_call(&c, &rng, wild);
        force_simd(&h);
        if (round % 5 == 0) {
            sweep(&h, &m, &c);
        } else {
            CHECK(apply(&h, &c, &m) == GOB_OK);
            (void)apply_to_model(&m, &c);
        }
        compact += gob_hashmap_is_compact(&h);
        CHECK(!gob_hashmap_is_compact(&h) || gob_hashmap_count(&h) <= max_compact);
        if (round % 8 == 0) {
            CHECK(matches(&h, &m));
        }
    }
    CHECK(matches(&h, &m));
    CHECK((compact != 0) == (max_compact != 0) && compact != rounds);
    gob_hashmap_clear(&h);
    CHECK(h.alloc.live == 0 && gob_hashmap_count(&h) == 0);
}

/* Fields of 14 bytes and values of 16, as in the sweep that the figures come from. */
static void fill(gob_hashmap *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t field[14];
        uint8_t value[16];
        bool created;
        memset(field, 'f', sizeof field);
        memset(value, 'v', sizeof value);
        gob_store32(field + 2, (uint32_t)i);
        gob_value v = gob_value_text((gob_name){value, sizeof value});
        CHECK(gob_hashmap_set(h, (gob_name){field, sizeof field}, &v, &created) == GOB_OK);
        CHECK(created);
    }
}

static void test_figures(void)
{
    const size_t sizes[] = {32, 40, 50, 64, 80, 101, 128, 161, 203, 256, 322, 406, 512, 1625};
    CHECK(sizeof(gob_hashmap) <= 64);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i];
        gob_hashmap h;
        gob_hashmap full;
        gob_hashmap_init(&h, true, GOB_COMPACT_ALWAYS, n);
        gob_hashmap_init(&full, true, 0, n);
        fill(&h, n);
        fill(&full, n);
        CHECK(gob_hashmap_is_compact(&h) && !gob_hashmap_is_compact(&full));
        CHECK(h.alloc.live <= 34 * n);
        CHECK(gob_hashmap_optimize(&full) == GOB_OK);
        CHECK(n != 512 || full.alloc.live + 96 <= (h.alloc.live + 96) * 115 / 100);
        gob_hashmap_clear(&h);
        gob_hashmap_clear(&full);
    }
}

/* The blob's 64 KiB and an entry's 32,767 bytes are the last that are compact. */
static void test_limits(void)
{
    gob_hashmap h;
    bool created;
    const char *why;
    gob_hashmap_init(&h, true, GOB_COMPACT_ALWAYS, 1);
    gob_value longest = gob_value_text((gob_name){entry_bytes, GOB_BLOB_RECORD_MAX - 2});
    gob_value longer = gob_value_text((gob_name){entry_bytes, GOB_BLOB_RECORD_MAX - 1});
    gob_name f = {(const uint8_t *)"f", 1};
    gob_name g = {(const uint8_t *)"g", 1};
    CHECK(gob_hashmap_set(&h, f, &longest, &created) == GOB_OK && gob_hashmap_is_compact(&h));
    CHECK(gob_hashmap_set(&h, g, &longer, &created) == GOB_OK && !gob_hashmap_is_compact(&h));
    CHECK(gob_hashmap_optimize(&h) == GOB_OK && !gob_hashmap_is_compact(&h));
    CHECK(gob_hashmap_set(&h, g, &longest, &created) == GOB_OK && !created);
    CHECK(gob_hashmap_optimize(&h) == GOB_OK && !h.compact); /* together over 64 KiB */
    longest.text.len = GOB_BLOB_MAX - (8 + 2 * 3 + 2 + 2) - longest.text.len;
    CHECK(gob_hashmap_set(&h, g, &longest, &created) == GOB_OK);
    CHECK(gob_hashmap_optimize(&h) == GOB_OK && gob_hashmap_is_compact(&h));
    CHECK(h.alloc.live == GOB_BLOB_MAX && gob_hashmap_validate(&h, &why));
    longest.text.len++;
    CHECK(gob_hashmap_set(&h, g, &longest, &created) == GOB_OK && !gob_hashmap_is_compact(&h));
    CHECK(gob_hashmap_remove(&h, g) && gob_hashmap_remove(&h, f) && !gob_hashmap_is_compact(&h));
    gob_hashmap_clear(&h);
    CHECK(gob_hashmap_is_compact(&h) && h.alloc.live == 0);
}

/* Setting what is there leaves the stamp; so does removing what is not. */
static void test_stamp(uint32_t max_compact)
{
    gob_hashmap h;
    bool created;
    gob_hashmap_init(&h, true, max_compact, 1);
    fill(&h, 10);
    for (size_t i = 0; i < VALUES; i++) {
        CHECK(gob_hashmap_set(&h, field_pool[0], &value_pool[i], &created) == GOB_OK);
        CHECK(created == (i == 0));
        uint64_t stamp = h.stamp;
        CHECK(gob_hashmap_set(&h, field_pool[0], &value_pool[i], &created) == GOB_OK);
        CHECK(!created && h.stamp == stamp);
        CHECK(!gob_hashmap_remove(&h, field_pool[1]) && h.stamp == stamp);
    }
    gob_hashmap_clear(&h);
}

int main(void)
{
    fill_entry_pool();
    for (int level = GOB_SCALAR; level <= (int)gob_cpu_best(); level++) {
        simd = (gob_simd)level;
        test_random(true, GOB_COMPACT_ALWAYS, 12, 2000);
        test_random(false, GOB_COMPACT_ALWAYS, 3, 2000);
        test_random(true, 100, 5, 1000);
        test_random(true, 5, 30, 1000);
        test_random(false, 0, 30, 1000);
    }
    test_figures();
    test_limits();
    test_stamp(GOB_COMPACT_ALWAYS);
    test_stamp(0);
    return test_report();
}
