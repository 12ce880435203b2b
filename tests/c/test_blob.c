/* The compact form: entries of every length at every SIMD level, its memory, and what its validator
 * finds. */
#include "gob_blob.h"

#include "gob_entry_pool.h"
#include "gob_random.h"
#include "gob_test.h"

enum { ABSENT = -1, SEED = 17 };

static gob_alloc a;
static gob_blob b;
static int expected[FIELDS]; /* the value of each field, or ABSENT */

static void begin_test(gob_simd simd)
{
    gob_alloc_init(&a);
    gob_blob_init(&b);
    b.simd = (uint8_t)simd;
    memset(expected, 0xFF, sizeof expected);
}

static void end_test(void)
{
    gob_blob_free(&b, &a);
    CHECK(a.live == 0 && b.at == NULL && b.count == 0);
}

static bool find(size_t i, gob_field *f, gob_place *p)
{
    gob_field_of(f, field_pool[i], true, SEED);
    return gob_blob_find(&b, f, p);
}

static gob_status put(size_t i, size_t k)
{
    gob_field f;
    gob_place p;
    gob_coded value;
    gob_encode(&value, &value_pool[k], true);
    bool found = find(i, &f, &p);
    CHECK(found == (expected[i] != ABSENT));
    gob_status status = gob_blob_put(&b, &a, SEED, &f, &value, &p);
    expected[i] = status == GOB_OK ? (int)k : expected[i];
    return status;
}

static void remove_field(size_t i)
{
    gob_field f;
    gob_place p;
    bool found = find(i, &f, &p);
    CHECK(found == (expected[i] != ABSENT));
    if (found) {
        gob_blob_remove(&b, &a, SEED, &p);
        expected[i] = ABSENT;
    }
}

/* Bytes that the entries take, without the directory. */
static size_t content(void)
{
    size_t bytes = 0;
    size_t total = 0;
    for (size_t at = 0; gob_blob_next(&b, &at, &bytes) != NULL;) {
        total += bytes + (b.wide ? 3 : 2);
    }
    return total;
}

static bool matches(void)
{
    const char *why = NULL;
    size_t count = 0;
    bool same = gob_blob_validate(&b, SEED, &why) && a.live == b.size;
    if (!same) {
        fprintf(stderr, "%s\n", why != NULL ? why : "live bytes");
    }
    for (size_t i = 0; same && i < FIELDS; i++) {
        gob_field f;
        gob_place p;
        bool found = find(i, &f, &p);
        same = found == (expected[i] != ABSENT);
        if (same && found) {
            gob_record r = gob_record_read(gob_blob_record(&b, &p), p.bytes);
            gob_value value = gob_decode(r.value_kind, r.value);
            same = same_value(&value, &value_pool[expected[i]]);
            count++;
        }
    }
    return same && count == b.count;
}

static void step(uint64_t *rng, unsigned wild)
{
    bool odd = random_below(rng, 100) < wild;
    size_t i = random_below(rng, odd ? ODD + EDGES : FIELDS);
    size_t k = odd ? random_below(rng, VALUES) : VALUES - 1 - random_below(rng, 20);
    unsigned verb = (unsigned)random_below(rng, 100);
    size_t size = b.size;
    gob_status status = GOB_OK;
    if (verb < 60) {
        status = put(i, k);
    } else if (verb < 98) {
        remove_field(i);
    } else {
        status = gob_blob_optimize(&b, &a, SEED);
        CHECK(status != GOB_OK || b.size <= size);
    }
    CHECK(status == GOB_OK || b.size == size);
}

static void test_random(gob_simd simd, unsigned wild)
{
    uint64_t rng = wild;
    begin_test(simd);
    for (int round = 0; round < 4000; round++) {
        gob_alloc_fail_at(&a, random_below(&rng, 6) == 0 ? 1 + random_below(&rng, 2) : 0);
        step(&rng, wild);
        gob_alloc_fail_at(&a, 0);
        if (round % 16 == 0) {
            CHECK(matches());
        }
    }
    CHECK(matches());
    end_test();
}

/* Every pair of record lengths at an edge, one after the other in one place, between neighbours. */
static void test_lengths(gob_simd simd)
{
    for (size_t from = ODD; from < ODD + EDGES; from++) {
        for (size_t to = ODD; to < ODD + EDGES; to++) {
            begin_test(simd);
            CHECK(put(ODD + EDGES, VALUES - 1) == GOB_OK && put(ODD + EDGES + 1, 0) == GOB_OK);
            CHECK((put(ODD + 1, from) == GOB_OK) == (edges[from - ODD] < GOB_BLOB_RECORD_MAX));
            CHECK((put(ODD + 1, to) == GOB_OK) == (edges[to - ODD] < GOB_BLOB_RECORD_MAX));
            CHECK(matches());
            remove_field(ODD + 1);
            CHECK(matches() && gob_blob_optimize(&b, &a, SEED) == GOB_OK && !b.wide);
            CHECK(matches());
            end_test();
        }
    }
}

/* Same-width updates stay where they are; memory is what the header says. */
static void test_memory(void)
{
    begin_test(gob_cpu_simd());
    for (size_t i = ODD + EDGES; i < FIELDS; i++) {
        CHECK(put(i, VALUES - 1) == GOB_OK);
        CHECK(a.live == content() + 4U * b.buckets + 4U);
    }
    uint8_t *at = b.at;
    gob_alloc_fail_at(&a, 1);
    for (size_t i = ODD + EDGES; i < FIELDS; i++) {
        CHECK(put(i, VALUES - 2) == GOB_OK && b.at == at);
    }
    CHECK(a.fail_at == 1);
    gob_alloc_fail_at(&a, 0);
    CHECK(matches());
    for (size_t i = ODD + EDGES; i < FIELDS - 1; i++) {
        remove_field(i);
    }
    CHECK(b.count == 1 && b.buckets == 1 && a.live == content() + 8);
    end_test();
}

/* A removal without memory to shrink keeps the block. */
static void test_remove_without_memory(void)
{
    begin_test(gob_cpu_simd());
    for (size_t i = 0; i < 3; i++) {
        CHECK(put(ODD + EDGES + i, VALUES - 1) == GOB_OK);
    }
    size_t live = a.live;
    gob_alloc_fail_at(&a, 1);
    remove_field(ODD + EDGES + 1);
    CHECK(a.fail_at == 0 && a.live == live && matches());
    remove_field(ODD + EDGES);
    CHECK(a.live < live && matches());
    end_test();
}

static void test_copy(void)
{
    begin_test(gob_cpu_simd());
    gob_blob empty;
    gob_blob other;
    gob_blob_init(&empty);
    gob_blob_init(&other);
    CHECK(gob_blob_copy(&other, &a, &empty) == GOB_OK && other.at == NULL);
    for (size_t i = 0; i < ODD + EDGES - 2; i++) {
        (void)put(i, i);
    }
    size_t live = a.live;
    gob_alloc_fail_at(&a, 1);
    CHECK(gob_blob_copy(&other, &a, &b) == GOB_NOMEM && other.at == NULL && a.live == live);
    CHECK(gob_blob_copy(&other, &a, &b) == GOB_OK && a.live == 2 * live);
    gob_blob_free(&b, &a);
    b = other;
    CHECK(matches());
    end_test();
}

/* Breaks one byte of a sound blob of two entries, and mends it. */
static void check_fault(size_t at, uint8_t byte, const char *reason)
{
    const char *why;
    uint8_t sound = b.at[at];
    b.at[at] = byte;
    CHECK_FAULT(gob_blob_validate(&b, SEED, &why), why, reason);
    b.at[at] = sound;
}

static void test_faults(void)
{
    const char *why;
    begin_test(gob_cpu_simd());
    CHECK(put(ODD + EDGES, VALUES - 1) == GOB_OK && put(ODD + EDGES + 1, VALUES - 1) == GOB_OK);
    check_fault(0, 1, "blob: first bucket");
    check_fault(2, 1, "blob: first bucket");
    check_fault(4, 1, "blob: last bucket");
    check_fault(6, 1, "blob: offset of a bucket");
    check_fault(8, (uint8_t)(b.at[8] + 1), "blob: an entry is not found");
    check_fault(10, 1, "blob: offset of a bucket");
    check_fault(12, GOB_FIELD_FREE, "record: no head");
    check_fault(13, 'x', "blob: an entry is not found");
    b.size--;
    CHECK_FAULT(gob_blob_validate(&b, SEED, &why), why, "blob: size");
    b.size++;
    gob_blob empty = {.buckets = 1};
    CHECK_FAULT(gob_blob_validate(&empty, SEED, &why), why, "blob: parts of an empty one");
    empty.count = 1;
    CHECK_FAULT(gob_blob_validate(&empty, SEED, &why), why, "blob: memory without entries");
    CHECK(matches());
    for (size_t i = ODD + EDGES; i < FIELDS - 300; i++) {
        CHECK(put(i, VALUES - 1) == GOB_OK);
    }
    CHECK(b.buckets > 1);
    check_fault(4, (uint8_t)(b.count + 1), "blob: entries of a bucket");
    end_test();
}

int main(void)
{
    fill_entry_pool();
    for (int level = GOB_SCALAR; level <= (int)gob_cpu_best(); level++) {
        test_random((gob_simd)level, 0);
        test_random((gob_simd)level, 20);
        test_lengths((gob_simd)level);
    }
    test_memory();
    test_remove_without_memory();
    test_copy();
    test_faults();
    return test_report();
}
