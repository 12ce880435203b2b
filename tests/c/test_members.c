/* The member store against an array of names and scores, with allocations failing. */
#include "gob_members.h"

#include "gob_name_pool.h"
#include "gob_test.h"

enum { NARROW_FEW = 12 };

/* The model: what is there of the first n names of the pool. */
typedef struct model {
    struct {
        bool there;
        bool condemned;
        double score; /* GOB_ABSENT: a name without one */
    } at[POOL];
    size_t n;
} model;

static gob_alloc a;
static gob_members m;
static model expected;

static bool same_score(double l, double r)
{
    return l == r || (gob_is_absent(l) && gob_is_absent(r));
}

static bool same_name(gob_name l, gob_name r)
{
    return l.len == r.len && memcmp(l.at, r.at, l.len) == 0;
}

static void begin_test(unsigned fixed, unsigned score_bytes, size_t n)
{
    fill_pool(fixed);
    gob_alloc_init(&a);
    gob_members_init(&m, fixed, score_bytes, n + 1);
    expected = (model){.n = n};
}

static void end_test(void)
{
    uint32_t epoch = m.epoch;
    gob_members_free(&m, &a);
    CHECK(a.live == 0 && m.epoch != epoch && m.records == 0);
}

/* Names with a score, in ascending order of their ids. */
static bool walks(const gob_members *members, size_t step, size_t scored)
{
    int64_t ids[POOL];
    double scores[POOL];
    size_t at = 0;
    size_t total = 0;
    int64_t last = INT64_MIN;
    bool same = true;
    for (size_t n; (n = gob_members_walk(members, &at, step, ids, scores)) != 0; total += n) {
        for (size_t i = 0; i < n; i++) {
            same = same && ids[i] > last && scores[i] == gob_members_score(members, ids[i]);
            last = ids[i];
        }
    }
    return same && total == scored;
}

/* A copy has no names without a score. */
static bool matches(const gob_members *members, const gob_alloc *alloc, bool copy)
{
    const char *why = NULL;
    size_t records = 0;
    size_t scored = 0;
    int64_t ids[GOB_BATCH];
    gob_names column = {.form = GOB_NAMES_LIST, .data = (const uint8_t *)pool};
    bool same = gob_members_validate(members, NULL, &why);
    if (!same) {
        fprintf(stderr, "%s\n", why);
    }
    for (size_t i = 0; same && i < expected.n; i++) {
        if (i % GOB_BATCH == 0) {
            size_t left = expected.n - i;
            gob_members_find_many(members, &column, i, left < GOB_BATCH ? left : GOB_BATCH, ids);
        }
        double score = expected.at[i].score;
        bool there = expected.at[i].there && !(copy && gob_is_absent(score));
        int64_t id = gob_members_find(members, pool[i]);
        same = ids[i % GOB_BATCH] == id && (id != GOB_NO_ID) == there;
        if (same && there) {
            same = same_name(gob_members_name(members, id), pool[i]) &&
                   same_score(gob_members_score(members, id), score);
            records++;
            scored += !gob_is_absent(score);
        }
    }
    return same && members->records == records &&
           alloc->live == gob_members_bytes(members) + gob_table_bytes(&members->table) &&
           walks(members, POOL, scored) && walks(members, 3, scored);
}

/* Another form or width; on failure nothing has changed. */
static gob_status renew(gob_form form, bool wide, bool tight, int64_t *follow)
{
    uint32_t epoch = m.epoch;
    size_t live = a.live;
    gob_status status = gob_members_renew(&m, &a, form, wide, tight, follow);
    CHECK(status == GOB_OK ? m.epoch != epoch && m.form == form && gob_members_wide(&m) == wide
                           : m.epoch == epoch && a.live == live);
    CHECK(status != GOB_OK || m.arena.dead == 0);
    return status;
}

static gob_status add(size_t i, int64_t *id)
{
    if (!gob_members_reach(&m, pool[i].len)) {
        int64_t none = GOB_NO_ID;
        GOB_TRY(renew((gob_form)m.form, true, false, &none));
    }
    GOB_TRY(gob_members_add(&m, &a, pool[i], id));
    CHECK(*id != GOB_NO_ID && gob_is_absent(gob_members_score(&m, *id)));
    CHECK(gob_members_wide(&m) || m.narrow_bits < 32 || (int32_t)*id == *id);
    expected.at[i].there = true;
    expected.at[i].condemned = false;
    expected.at[i].score = GOB_ABSENT;
    return GOB_OK;
}

static void set_score(size_t i, int64_t id, double score)
{
    if (!gob_members_fits(&m, score)) {
        gob_form form = gob_members_form_for(&m, score);
        bool wide = gob_members_wide(&m) || gob_members_need_wide(&m, form);
        if (renew(form, wide, false, &id) != GOB_OK) {
            return;
        }
    }
    CHECK(gob_members_fits(&m, score) && same_name(gob_members_name(&m, id), pool[i]));
    gob_members_set_score(&m, id, score);
    expected.at[i].score = score;
}

static void condemn(size_t i, int64_t id)
{
    if (gob_members_reserve_condemned(&m, &a) == GOB_OK) {
        gob_members_set_score(&m, id, GOB_ABSENT);
        gob_members_condemn(&m, id);
        expected.at[i].condemned = true;
        expected.at[i].score = GOB_ABSENT;
    }
}

static void drop(size_t i, int64_t id)
{
    if (!expected.at[i].condemned) {
        gob_members_drop(&m, &a, id);
        expected.at[i].there = false;
    }
}

static void settle(void)
{
    CHECK(gob_members_settle(&m, &a) == GOB_OK);
    for (size_t i = 0; i < expected.n; i++) {
        bool goes = expected.at[i].condemned && gob_is_absent(expected.at[i].score);
        expected.at[i].there = expected.at[i].there && !goes;
        expected.at[i].condemned = false;
    }
}

static void copy(void)
{
    gob_alloc other;
    gob_members dst;
    gob_alloc_init(&other);
    gob_alloc_fail_at(&other, a.fail_at);
    gob_members_init(&dst, m.fixed, m.score_bytes, 99);
    gob_status status = gob_members_copy(&dst, &other, &m);
    CHECK(status == GOB_OK ? matches(&dst, &other, true) : other.live == 0);
    gob_members_free(&dst, &other);
    CHECK(other.live == 0);
}

static double random_score(uint64_t *rng, unsigned score_bytes, unsigned wild)
{
    const double others[] = {-32766.0, -32767.0, 32768.0,      -2147483646.0, -2147483647.0,
                             1e30,     0.5,      4294967293.0, 4294967294.0,  2147483648.0};
    double score =
        random_below(rng, 20) < wild ? others[random_below(rng, 10)] : (double)random_below(rng, 9);
    return score_bytes == 4 ? (double)(float)score : score;
}

static void step(uint64_t *rng, unsigned wild)
{
    size_t i = random_below(rng, expected.n);
    int64_t id = gob_members_find(&m, pool[i]);
    unsigned verb = (unsigned)random_below(rng, 100);
    if (id == GOB_NO_ID && verb < 60) {
        if (add(i, &id) == GOB_OK) {
            set_score(i, id, random_score(rng, m.score_bytes, wild));
        }
    } else if (id != GOB_NO_ID && verb < 60) {
        set_score(i, id, random_score(rng, m.score_bytes, wild));
    } else if (id != GOB_NO_ID && verb < 80) {
        drop(i, id);
    } else if (id != GOB_NO_ID && verb < 90) {
        condemn(i, id);
    } else if (verb < 95) {
        settle();
    } else if (verb < 97) {
        gob_form form = gob_members_form_for(&m, GOB_ABSENT);
        id = GOB_NO_ID;
        (void)renew(form, gob_members_need_wide(&m, form), random_below(rng, 2) != 0, &id);
        CHECK(id == GOB_NO_ID);
    } else if (verb == 97) {
        copy();
    }
}

static void test_random(unsigned fixed, unsigned score_bytes, size_t n, unsigned narrow_bits)
{
    uint64_t rng = n + fixed + score_bytes;
    begin_test(fixed, score_bytes, n);
    m.narrow_bits = (uint8_t)narrow_bits;
    bool wide = false;
    for (unsigned round = 0; round < 3000; round++) {
        gob_alloc_fail_at(&a, random_below(&rng, 4) == 0 ? 1 + random_below(&rng, 3) : 0);
        step(&rng, round / 500 % 2 == 0 ? 0 : 2);
        gob_alloc_fail_at(&a, 0);
        wide = wide || gob_members_wide(&m);
        if (round % 32 == 0) {
            CHECK(matches(&m, &a, false));
        }
    }
    CHECK(matches(&m, &a, false));
    CHECK(wide == (narrow_bits < 32));
    end_test();
}

/* What each form holds, to the last integer. */
static void test_forms(void)
{
    const struct {
        double score;
        bool fits[4];
    } limits[] = {
        {0.0, {true, true, true, true}},
        {-1.0, {true, true, false, true}},
        {0.5, {false, false, false, true}},
        {32767.0, {true, true, true, true}},
        {32768.0, {false, true, true, true}},
        {-32766.0, {true, true, false, true}},
        {-32767.0, {false, true, false, true}},
        {2147483647.0, {false, true, true, true}},
        {2147483648.0, {false, false, true, true}},
        {-2147483646.0, {false, true, false, true}},
        {-2147483647.0, {false, false, false, true}},
        {4294967293.0, {false, false, true, true}},
        {4294967294.0, {false, false, false, true}},
        {4294967295.0, {false, false, false, true}},
        {HUGE_VAL, {false, false, false, true}},
        {-HUGE_VAL, {false, false, false, true}},
        {DBL_TRUE_MIN, {false, false, false, true}},
        {DBL_MAX, {false, false, false, true}},
    };
    for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) {
        for (unsigned form = GOB_FORM_I16; form <= GOB_FORM_FLOAT; form++) {
            int64_t id;
            begin_test(0, 8, 10);
            CHECK(add(7, &id) == GOB_OK && add(8, &id) == GOB_OK);
            CHECK(renew((gob_form)form, false, false, &id) == GOB_OK);
            CHECK(gob_members_fits(&m, GOB_ABSENT));
            CHECK(gob_members_fits(&m, limits[k].score) == limits[k].fits[form]);
            if (limits[k].fits[form]) {
                set_score(8, id, limits[k].score);
                unsigned least = GOB_FORM_I16;
                while (!limits[k].fits[least]) {
                    least++;
                }
                CHECK(gob_members_form_for(&m, GOB_ABSENT) == (gob_form)least);
                CHECK(gob_members_form_for(&m, 0.5) == GOB_FORM_FLOAT);
            }
            CHECK(matches(&m, &a, false));
            end_test();
        }
    }
}

/* Scores of 4 bytes have nothing between 2 and 4. */
static void test_forms_of_float32(void)
{
    int64_t id;
    begin_test(0, 4, 10);
    CHECK(add(7, &id) == GOB_OK && gob_members_form_for(&m, 32767.0) == GOB_FORM_I16);
    CHECK(gob_members_form_for(&m, 32768.0) == GOB_FORM_FLOAT);
    const double scores[] = {1.5, 32768.0, HUGE_VAL, -HUGE_VAL, (double)FLT_TRUE_MIN, 0.0};
    for (size_t k = 0; k < sizeof scores / sizeof scores[0]; k++) {
        set_score(7, id, scores[k]);
        id = gob_members_find(&m, pool[7]);
        CHECK(matches(&m, &a, false));
    }
    set_score(7, id, GOB_ABSENT);
    CHECK(matches(&m, &a, false));
    end_test();
}

/* Records of names that went are taken again by others of their length, where those are listed. */
static void test_free_lists(void)
{
    enum { NAMES = 400 };
    const struct {
        size_t len;
        bool listed;
    } lengths[] = {{7, false}, {8, true}, {40, true}, {63, true}, {64, false}, {255, false}};
    static uint8_t bytes[256];
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        int64_t ids[NAMES];
        int64_t id;
        gob_name name = {bytes, lengths[k].len};
        begin_test(0, 8, 0);
        for (size_t i = 0; i < 2 * NAMES; i++) {
            gob_store16(bytes + 1, (uint16_t)i);
            CHECK(gob_members_add(&m, &a, name, &ids[i % NAMES]) == GOB_OK);
        }
        size_t used = m.arena.used;
        gob_alloc_fail_at(&a, 1); /* the lists */
        gob_members_drop(&m, &a, ids[0]);
        CHECK((a.fail_at == 0) == (lengths[k].listed));
        gob_alloc_fail_at(&a, 0);
        for (size_t i = 1; i < NAMES; i++) {
            gob_members_drop(&m, &a, ids[i]);
        }
        const char *why;
        CHECK(m.arena.dead == used / 2 && gob_members_validate(&m, NULL, &why));
        for (size_t i = 1; i < NAMES; i++) {
            gob_store16(bytes + 1, (uint16_t)(5000 + i));
            CHECK(gob_members_add(&m, &a, name, &id) == GOB_OK);
        }
        CHECK((m.arena.used == used) == lengths[k].listed && gob_members_validate(&m, NULL, &why));
        CHECK(m.records == 2 * NAMES - 1);
        end_test();
    }
}

/* Every allocation fails once; then nothing has changed, and the next try succeeds. */
static void test_failures(unsigned fixed)
{
    size_t failures = 0;
    int64_t id;
    begin_test(fixed, 8, 300);
    for (size_t i = 0; i < expected.n; i++) {
        for (uint64_t nth = 1; !expected.at[i].there; nth++) {
            gob_members before = m;
            size_t live = a.live;
            gob_alloc_fail_at(&a, nth);
            gob_status status = add(i, &id);
            CHECK(status == GOB_OK || (status == GOB_NOMEM && m.records == before.records &&
                                       m.arena.used == before.arena.used && a.live >= live));
            CHECK(status == GOB_OK || gob_members_find(&m, pool[i]) == GOB_NO_ID);
            failures += status != GOB_OK;
            gob_alloc_fail_at(&a, 0);
        }
        set_score(i, id, (double)i);
    }
    CHECK(failures > 10 && matches(&m, &a, false));
    gob_status status = GOB_NOMEM;
    for (uint64_t nth = 1; status != GOB_OK; nth++) {
        gob_alloc_fail_at(&a, nth);
        status = renew(GOB_FORM_U32, nth % 2 == 0, true, &id);
        CHECK(matches(&m, &a, false));
    }
    for (gob_alloc_fail_at(&a, 1); a.fail_at <= 3; a.fail_at++) {
        copy();
    }
    gob_alloc_fail_at(&a, 0);
    CHECK(same_name(gob_members_name(&m, id), pool[expected.n - 1]));
    end_test();
}

/* A length that no record can have is refused before anything is read. */
static void test_too_large(void)
{
    int64_t id = 7;
    begin_test(0, 8, 10);
    gob_name name = {pool[1].at, (size_t)INT32_MAX + 1};
    CHECK(gob_members_add(&m, &a, name, &id) == GOB_TOO_LARGE && id == 7 && a.live == 0);
    gob_name nothing = {NULL, 0};
    CHECK(gob_members_find(&m, nothing) == GOB_NO_ID);
    CHECK(gob_members_add(&m, &a, nothing, &id) == GOB_OK);
    CHECK(gob_members_find(&m, nothing) == id && gob_members_find(&m, pool[0]) == id);
    end_test();
}

/* Lengths around those of a prefix of one byte, and beyond two; they agree in all but the last. */
static void test_long(void)
{
    const size_t lengths[] = {253, 254, 255, 256, 257, 65535, 65536, 70000};
    enum { LENGTHS = sizeof lengths / sizeof lengths[0] };
    static uint8_t bytes[2][70000];
    int64_t ids[2][LENGTHS];
    begin_test(0, 8, 0);
    for (size_t k = 0; k < 2 * LENGTHS; k++) {
        size_t len = lengths[k / 2];
        bytes[k % 2][len - 1] = (uint8_t)(k % 2);
        gob_name name = {bytes[k % 2], len};
        CHECK(gob_members_find(&m, name) == GOB_NO_ID);
        CHECK(gob_members_add(&m, &a, name, &ids[k % 2][k / 2]) == GOB_OK);
    }
    CHECK(renew(GOB_FORM_I32, true, true, &ids[1][LENGTHS - 1]) == GOB_OK);
    for (size_t k = 0; k < 2 * LENGTHS; k++) {
        gob_name name = {bytes[k % 2], lengths[k / 2]};
        int64_t id = gob_members_find(&m, name);
        CHECK(id != GOB_NO_ID && same_name(gob_members_name(&m, id), name));
    }
    gob_name last = {bytes[1], 70000};
    CHECK(same_name(gob_members_name(&m, ids[1][LENGTHS - 1]), last));
    end_test();
}

/* One id condemned twice, one that got a score again, and ids that changed meanwhile. */
static void test_condemned(size_t n)
{
    int64_t id;
    begin_test(0, 8, n);
    for (size_t i = 0; i < n; i++) {
        CHECK(add(i, &id) == GOB_OK);
        set_score(i, id, 1.0);
    }
    for (size_t i = 0; i < n; i++) {
        id = gob_members_find(&m, pool[i]);
        condemn(i, id);
        if (i % 3 != 0) {
            set_score(i, id, 2.0);
        }
        if (i % 3 == 1) {
            condemn(i, id);
        }
    }
    CHECK(matches(&m, &a, false));
    int64_t none = GOB_NO_ID;
    CHECK(renew(GOB_FORM_I32, true, false, &none) == GOB_OK && none == GOB_NO_ID);
    CHECK(matches(&m, &a, false));
    settle();
    CHECK(m.condemned == NULL && m.records == n / 3 && matches(&m, &a, false));
    end_test();
}

/* The last unit that narrow ids reach, and the first that they do not. */
static void test_reach(unsigned fixed)
{
    int64_t id;
    begin_test(fixed, 8, 1000);
    m.narrow_bits = NARROW_FEW;
    size_t unit = fixed != 0 ? 2U + fixed : 1;
    size_t i = 7;
    for (; i < 1000 && gob_members_reach(&m, pool[i].len); i++) {
        CHECK(add(i, &id) == GOB_OK);
    }
    if (fixed == 0) {
        CHECK(i < 1000 && m.arena.used + 3 + pool[i].len > 1 << NARROW_FEW);
        CHECK(!gob_members_need_wide(&m, GOB_FORM_I16));
        CHECK(gob_members_need_wide(&m, GOB_FORM_FLOAT));
        while (m.arena.used < (1 << NARROW_FEW) && !gob_members_reach(&m, pool[i].len)) {
            i++; /* a shorter one */
        }
    }
    CHECK(m.arena.used / unit <= 1 << NARROW_FEW && matches(&m, &a, false));
    end_test();
}

/* Memory of names that went is worth having back, and a new store has none to give. */
static void test_wasteful(void)
{
    int64_t id;
    begin_test(0, 8, 3000);
    CHECK(!gob_members_wasteful(&m));
    for (size_t i = 7; i < 3000; i++) {
        CHECK(add(i, &id) == GOB_OK);
        set_score(i, id, 1.0);
        CHECK(!gob_members_wasteful(&m));
    }
    size_t i = 7;
    for (; i < 3000 && !gob_members_wasteful(&m); i++) {
        drop(i, gob_members_find(&m, pool[i]));
    }
    CHECK(i > 500 && i < 2500);
    CHECK(renew(GOB_FORM_I16, false, true, &id) == GOB_OK && !gob_members_wasteful(&m));
    for (; i < 3000; i++) {
        drop(i, gob_members_find(&m, pool[i]));
    }
    CHECK(gob_members_wasteful(&m) && m.records == 0);
    CHECK(renew(GOB_FORM_I16, false, true, &id) == GOB_OK && !gob_members_wasteful(&m));
    CHECK(a.live == 0);
    end_test();
}

static void test_compare(void)
{
    const char *ascending[] = {"",     "\0",      "\0\0\0\0\0\0\0", "\0\0\0\0\0\0\0\0", "a", "a\0",
                               "ab",   "abcdefg", "abcdefg\0",      "abcdefgh",         "b", "\x7F",
                               "\x80", "\xFF"};
    const size_t lengths[] = {0, 1, 7, 8, 1, 2, 2, 7, 8, 8, 1, 1, 1, 1};
    for (size_t i = 0; i < 14; i++) {
        gob_name l = {(const uint8_t *)ascending[i], lengths[i]};
        for (size_t k = 0; k < 14; k++) {
            gob_name r = {(const uint8_t *)ascending[k], lengths[k]};
            int order = gob_name_compare(l, r);
            CHECK((order > 0) == (i > k) && (order < 0) == (i < k));
            uint64_t left = gob_name_digits(l, 0);
            uint64_t right = gob_name_digits(r, 0);
            CHECK(i == k ? left == right
                         : (left < right) == (i < k) || (left == right && (left & 0xFF) == 8));
        }
    }
    CHECK(gob_name_digits((gob_name){(const uint8_t *)"abc", 3}, 5) == 0);
    CHECK(gob_name_digits((gob_name){(const uint8_t *)"abc", 3}, 2) == ((uint64_t)'c' << 56 | 1));
}

static void test_validator(void)
{
    const char *why;
    int64_t id;
    begin_test(0, 8, 100);
    for (size_t i = 7; i < 100; i++) {
        CHECK(add(i, &id) == GOB_OK);
        set_score(i, id, 1.0);
    }
    m.narrow_bits = 8;
    CHECK_FAULT(gob_members_validate(&m, NULL, &why), why, "members: ids do not reach all records");
    m.narrow_bits = GOB_NARROW_BITS;
    m.arena.used -= 1;
    CHECK_FAULT(gob_members_validate(&m, NULL, &why), why,
                "members: records do not fill the arena");
    m.arena.used += 1;
    m.records++;
    CHECK_FAULT(gob_members_validate(&m, NULL, &why), why, "members: count of names");
    m.records--;
    m.arena.dead++;
    CHECK_FAULT(gob_members_validate(&m, NULL, &why), why, "members: bytes of free records");
    m.arena.dead--;
    m.table.live--;
    CHECK_FAULT(gob_members_validate(&m, NULL, &why), why, "members: names in the table");
    m.table.live++;
    m.table.seed++;
    CHECK_FAULT(gob_members_validate(&m, NULL, &why), why,
                "members: a name is not found at its record");
    m.table.seed--;
    CHECK(gob_members_reserve_condemned(&m, &a) == GOB_OK);
    gob_members_drop(&m, &a, id);
    gob_members_condemn(&m, id);
    CHECK(gob_members_validate(&m, NULL,
                               &why)); /* as where settling was stopped, between two of it */
    gob_members_condemn(&m, INT32_MAX);
    CHECK_FAULT(gob_members_validate(&m, NULL, &why), why, "members: a condemned id is none");
    m.condemned->count = 0;
    size_t capacity = m.arena.capacity;
    m.arena.capacity = m.arena.used - 1;
    CHECK_FAULT(gob_members_validate(&m, NULL, &why), why, "members: arena overrun");
    m.arena.capacity = capacity;
    CHECK(gob_members_validate(&m, NULL, &why));
    end_test();
}

int main(void)
{
    const size_t sizes[] = {7, GOB_SMALL_MAX + 1, 500};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        for (unsigned kind = 0; kind < 4; kind++) {
            test_random((kind & 1) * 16, (kind & 2) != 0 ? 8 : 4, sizes[k], 32);
        }
    }
    test_random(0, 8, 500, NARROW_FEW);
    test_random(16, 8, 500, 6);
    test_forms();
    test_forms_of_float32();
    test_free_lists();
    test_failures(0);
    test_failures(16);
    test_too_large();
    test_long();
    test_condemned(30);
    test_condemned(300);
    test_reach(0);
    test_reach(16);
    test_wasteful();
    test_compare();
    test_validator();
    return test_report();
}
