/* The full form: records in an arena, their free space, and offsets that outgrow four bytes. */
#include "gob_fields.h"

#include "gob_entry_pool.h"
#include "gob_random.h"
#include "gob_test.h"

enum { ABSENT = -1, SEED = 23, NARROW_FEW = 12 };

static gob_alloc a;
static gob_fields s;
static int expected[FIELDS]; /* the value of each field, or ABSENT */

static void begin_test(unsigned narrow_bits)
{
    gob_alloc_init(&a);
    gob_fields_init(&s, SEED);
    s.narrow_bits = (uint8_t)narrow_bits;
    memset(expected, 0xFF, sizeof expected);
}

static void end_test(void)
{
    gob_fields_free(&s, &a);
    CHECK(a.live == 0 && s.arena.used == 0 && gob_fields_count(&s) == 0);
}

static size_t find(size_t i, gob_field *f)
{
    gob_field_of(f, field_pool[i], true, SEED);
    gob_fields_warm(&s, f, 1);
    size_t slot = gob_fields_find(&s, f);
    CHECK((slot != GOB_NO_SLOT) == (expected[i] != ABSENT));
    return slot;
}

static gob_status put(size_t i, size_t k)
{
    gob_field f;
    gob_coded value;
    size_t slot = find(i, &f);
    gob_encode(&value, &value_pool[k], true);
    gob_status status = gob_fields_put(&s, &a, &f, &value, slot);
    expected[i] = status == GOB_OK ? (int)k : expected[i];
    return status;
}

static void remove_field(size_t i)
{
    gob_field f;
    size_t slot = find(i, &f);
    if (slot != GOB_NO_SLOT) {
        gob_fields_remove(&s, &a, slot);
        expected[i] = ABSENT;
    }
}

static bool matches(void)
{
    const char *why = NULL;
    size_t count = 0;
    bool same = gob_fields_validate(&s, &why) &&
                a.live == gob_arena_bytes(&s.arena) + gob_table_bytes(&s.table);
    if (!same) {
        fprintf(stderr, "%s\n", why != NULL ? why : "live bytes");
    }
    for (size_t i = 0; same && i < FIELDS; i++) {
        gob_field f;
        size_t bytes;
        size_t slot = find(i, &f);
        same = (slot != GOB_NO_SLOT) == (expected[i] != ABSENT);
        if (same && slot != GOB_NO_SLOT) {
            const uint8_t *record = gob_fields_record(&s, slot, &bytes);
            gob_record r = gob_record_read(record, bytes);
            gob_value value = gob_decode(r.value_kind, r.value);
            same = same_value(&value, &value_pool[expected[i]]);
            count++;
        }
    }
    size_t steps = 0;
    size_t bytes;
    for (size_t at = 0; gob_fields_next(&s, &at, &bytes) != NULL;) {
        steps++;
    }
    return same && count == gob_fields_count(&s) && steps == count;
}

static void step(uint64_t *rng, unsigned wild)
{
    bool odd = random_below(rng, 100) < wild;
    size_t i = random_below(rng, odd ? ODD + EDGES : FIELDS);
    size_t k = random_below(rng, 3) == 0 ? random_below(rng, VALUES) : VALUES - 1;
    unsigned verb = (unsigned)random_below(rng, 100);
    if (verb < 60) {
        CHECK(put(i, odd ? k : VALUES - 1 - k % 20) != GOB_TOO_LARGE);
    } else if (verb < 95) {
        remove_field(i);
    } else if (gob_fields_wasteful(&s) || verb == 99) {
        size_t live = a.live;
        gob_status status = gob_fields_optimize(&s, &a);
        CHECK(a.live <= live);
        CHECK(status == GOB_NOMEM ||
              (s.arena.dead == 0 && s.arena.used == s.arena.capacity && s.arena.free == NULL));
    }
}

static void test_random(unsigned narrow_bits, unsigned wild)
{
    uint64_t rng = narrow_bits + wild;
    bool wide = false;
    begin_test(narrow_bits);
    for (int round = 0; round < 6000; round++) {
        gob_alloc_fail_at(&a, random_below(&rng, 6) == 0 ? 1 + random_below(&rng, 2) : 0);
        step(&rng, wild);
        gob_alloc_fail_at(&a, 0);
        wide = wide || s.table.member_bytes == 8;
        if (round % 32 == 0) {
            CHECK(matches());
        }
    }
    CHECK(matches() && wide == (narrow_bits < 32));
    end_test();
}

/* Offsets go back to four bytes once they reach again. */
static void test_narrow_again(void)
{
    begin_test(NARROW_FEW);
    for (size_t i = ODD + EDGES; i < FIELDS; i++) {
        CHECK(put(i, VALUES - 1) == GOB_OK);
    }
    CHECK(s.table.member_bytes == 8);
    for (size_t i = ODD + EDGES; i < FIELDS - 20; i++) {
        remove_field(i);
    }
    CHECK(gob_fields_wasteful(&s) && gob_fields_optimize(&s, &a) == GOB_OK);
    CHECK(s.table.member_bytes == 4 && !gob_fields_wasteful(&s) && matches());
    end_test();
}

/* What was freed is taken by records of its length, and nothing grows. */
static void test_free_space(void)
{
    begin_test(GOB_NARROW_BITS);
    for (size_t i = ODD + EDGES; i < FIELDS - 10; i++) {
        CHECK(put(i, VALUES - 1) == GOB_OK);
    }
    size_t used = s.arena.used;
    for (size_t round = 0; round < 1000; round++) {
        size_t i = ODD + EDGES + round % (FIELDS - 10 - ODD - EDGES);
        remove_field(i);
        CHECK(s.arena.dead != 0 && put(FIELDS - 1, VALUES - 1) == GOB_OK && s.arena.dead == 0);
        remove_field(FIELDS - 1);
        CHECK(put(i, VALUES - 2) == GOB_OK && s.arena.dead == 0 && s.arena.used == used);
    }
    CHECK(matches());
    end_test();
}

/* Slots from where a salt points on to the one that `any` gives. */
static size_t steps_to_any(uint64_t salt, size_t *slot)
{
    *slot = gob_fields_any(&s, salt);
    size_t home = (size_t)gob_mulhi64(gob_hash_int((int64_t)salt, SEED), s.table.capacity);
    return (*slot + s.table.capacity - home) % s.table.capacity;
}

/* All entries taken one by one, in a number of steps that grows as they do. */
static void test_any(void)
{
    begin_test(GOB_NARROW_BITS);
    CHECK(gob_fields_any(&s, 1) == GOB_NO_SLOT);
    for (size_t i = ODD + EDGES; i < FIELDS; i++) {
        CHECK(put(i, VALUES - 1) == GOB_OK);
    }
    size_t count = gob_fields_count(&s);
    size_t steps = 0;
    for (size_t left = count; left > 0; left--) {
        size_t slot;
        steps += steps_to_any(left, &slot);
        CHECK(slot != GOB_NO_SLOT && gob_fields_count(&s) == left);
        gob_fields_remove(&s, &a, slot);
        if (gob_fields_wasteful(&s)) {
            CHECK(gob_fields_optimize(&s, &a) == GOB_OK);
        }
    }
    CHECK(steps < 16 * count);
    CHECK(gob_fields_any(&s, 1) == GOB_NO_SLOT);
    end_test();
}

/* At every size, as grown by one entry at a time. */
static void test_optimize_never_grows(void)
{
    begin_test(GOB_NARROW_BITS);
    for (size_t i = ODD + EDGES; i < FIELDS; i++) {
        gob_fields other;
        gob_alloc others;
        gob_alloc_init(&others);
        gob_fields_init(&other, SEED);
        CHECK(put(i, VALUES - 1) == GOB_OK);
        CHECK(gob_fields_build(&other, &others, gob_fields_next, &s) == GOB_OK);
        CHECK(others.live <= a.live);
        gob_fields_free(&other, &others);
    }
    end_test();
}

/* Reserved room takes that many entries without an allocation. */
static void test_reserve(void)
{
    begin_test(NARROW_FEW);
    size_t bytes = gob_fields_bytes_for(1 + 14 + 16);
    size_t n = FIELDS - ODD - EDGES;
    CHECK(put(0, 0) == GOB_OK);
    CHECK(gob_fields_reserve(&s, &a, n, n * bytes) == GOB_OK);
    gob_alloc_fail_at(&a, 1);
    for (size_t i = 0; i < n; i++) {
        CHECK(put(ODD + EDGES + i, VALUES - 1) == GOB_OK);
    }
    CHECK(a.fail_at == 1 && matches());
    gob_alloc_fail_at(&a, 0);
    size_t live = a.live;
    CHECK(gob_fields_reserve(&s, &a, 1, SIZE_MAX / 2) == GOB_NOMEM && matches());
    for (uint64_t nth = 1; nth <= 2; nth++) { /* the table, then the arena */
        gob_alloc_fail_at(&a, nth);
        CHECK(gob_fields_reserve(&s, &a, 9999, 99999) == GOB_NOMEM);
        CHECK(a.fail_at == 0 && a.live == live && matches());
    }
    end_test();
}

static void test_too_large(void)
{
    gob_field f;
    begin_test(GOB_NARROW_BITS);
    gob_coded value = {.kind = GOB_VALUE_TEXT, .bytes = {entry_bytes, INT32_MAX}};
    size_t slot = find(0, &f);
    CHECK(gob_fields_put(&s, &a, &f, &value, slot) == GOB_TOO_LARGE && a.live == 0);
    end_test();
}

static void test_faults(void)
{
    const char *why;
    begin_test(GOB_NARROW_BITS);
    for (size_t i = ODD + EDGES; i < FIELDS; i++) {
        CHECK(put(i, VALUES - 1) == GOB_OK);
    }
    remove_field(FIELDS - 1);
    CHECK(s.arena.free != NULL && matches());
    size_t used = s.arena.used;
    s.arena.used = s.arena.capacity + 1;
    CHECK_FAULT(gob_fields_validate(&s, &why), why, "fields: arena overrun");
    s.arena.used = used - 1;
    CHECK_FAULT(gob_fields_validate(&s, &why), why, "fields: records do not fill the arena");
    s.arena.used = used;
    s.arena.dead++;
    CHECK_FAULT(gob_fields_validate(&s, &why), why, "fields: bytes of free records");
    s.arena.dead--;
    s.arena.at[2] ^= 1;
    CHECK_FAULT(gob_fields_validate(&s, &why), why, "fields: a field is not found at its record");
    s.arena.at[2] ^= 1;
    s.table.live++;
    CHECK_FAULT(gob_fields_validate(&s, &why), why, "fields: count of entries");
    s.table.live--;
    uint64_t head = s.arena.free[30];
    s.arena.free[30] = s.arena.used + 1;
    CHECK_FAULT(gob_fields_validate(&s, &why), why, "arena: link of a free record");
    s.arena.free[30] = 1;
    CHECK_FAULT(gob_fields_validate(&s, &why), why, "arena: a record in the wrong free list");
    s.arena.free[30] = head;
    CHECK(matches());
    end_test();
}

int main(void)
{
    fill_entry_pool();
    test_random(GOB_NARROW_BITS, 0);
    test_random(GOB_NARROW_BITS, 20);
    test_random(NARROW_FEW, 20);
    test_narrow_again();
    test_free_space();
    test_any();
    test_optimize_never_grows();
    test_reserve();
    test_too_large();
    test_faults();
    return test_report();
}
