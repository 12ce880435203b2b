/* Snapshots of hashes: what is read is what was written, and nothing else is read. */
#include "gob_entry_pool.h"
#include "gob_hashmap_snapshot.h"
#include "gob_random.h"
#include "gob_snapshot_test.h"

typedef struct setup {
    gob_hashmap_kinds kinds;
    bool encoding;
    uint32_t max_compact;
} setup;

static const setup setups[] = {
    {{GOB_DATUM_STR, GOB_DATUM_STR}, true, GOB_COMPACT_ALWAYS},
    {{GOB_DATUM_BYTES, GOB_DATUM_BYTES}, false, 100},
    {{GOB_DATUM_STR, GOB_DATUM_INT64}, false, 0},
    {{GOB_DATUM_BYTES, GOB_DATUM_FLOAT64}, true, 0},
    {{GOB_DATUM_BYTES, GOB_DATUM_STR}, true, 0},
};

enum { SETUPS = sizeof setups / sizeof setups[0] };

/* Ordinary fields first, then odd and long ones. */
static gob_name field_at(size_t i)
{
    return field_pool[FIELDS - 1 - i % FIELDS];
}

static gob_value value_at(const setup *s, size_t i)
{
    switch (s->kinds.value) {
    case GOB_DATUM_INT64:
        return gob_value_int((int64_t)(i * i * 7919) * (i % 2 == 0 ? 1 : -1));
    case GOB_DATUM_FLOAT64:
        return gob_value_float(0.125 * (double)i);
    default:
        return value_pool[i % 11 == 0 ? i % (ODD + EDGES) : i % ODD];
    }
}

static void put(gob_hashmap *h, const setup *s, size_t i, size_t value)
{
    bool created;
    gob_value v = value_at(s, value);
    CHECK(gob_hashmap_set(h, field_at(i), &v, &created) == GOB_OK);
}

/* Sets n fields and removes some. */
static void fill(gob_hashmap *h, const setup *s, size_t n, uint64_t seed)
{
    gob_hashmap_init(h, s->encoding, s->max_compact, seed);
    for (size_t i = 0; i < n; i++) {
        put(h, s, i, i);
    }
    for (size_t i = 0; i < n; i += 5) {
        CHECK(gob_hashmap_remove(h, field_at(i)));
    }
}

static gob_status save(gob_hashmap *h, const setup *s, buffer *b)
{
    b->size = 0;
    return gob_hashmap_save(h, s->kinds, sink, b);
}

static gob_status load(gob_hashmap *h, gob_hashmap_kinds *kinds, const buffer *b, bool mapped)
{
    const char *why = NULL;
    gob_reader r;
    gob_status status = gob_reader_open(&r, (gob_span){b->at, b->size}, &why);
    gob_hashmap_init(h, false, 0, 1);
    status = status == GOB_OK ? gob_hashmap_load(h, kinds, &r, 99, mapped, &why) : status;
    CHECK(status != GOB_MALFORMED || why != NULL);
    return status;
}

/* The second has all that the first has, and no more. */
static bool same(const gob_hashmap *a, const gob_hashmap *b)
{
    const char *why = NULL;
    gob_value field;
    gob_value value;
    gob_value other;
    gob_scratch room;
    bool good = gob_hashmap_count(a) == gob_hashmap_count(b) && gob_hashmap_validate(b, &why) &&
                a->encoding == b->encoding && a->max_compact == b->max_compact;
    for (size_t at = 0; good && gob_hashmap_next(a, &at, &field, &value);) {
        gob_name bytes = gob_value_bytes(&field, &room);
        good = gob_hashmap_get(b, bytes, &other) && other.kind == value.kind;
        if (good && value.kind == GOB_VALUE_INT) {
            good = other.integer == value.integer;
        } else if (good && value.kind == GOB_VALUE_FLOAT) {
            good = other.real == value.real;
        } else if (good) {
            good = same_bytes(other.text, value.text) || value.kind == GOB_VALUE_UUID;
        }
    }
    return good;
}

static void test_round_trip(const setup *s, size_t n, bool optimized)
{
    buffer first = {.stop_at = SIZE_MAX};
    buffer second = {.stop_at = SIZE_MAX};
    gob_hashmap h;
    gob_hashmap back;
    gob_hashmap_kinds kinds;
    fill(&h, s, n, n + 3);
    if (optimized) {
        CHECK(gob_hashmap_optimize(&h) == GOB_OK);
    }
    size_t live = h.alloc.live;
    CHECK(save(&h, s, &first) == GOB_OK && h.alloc.live == live);
    for (int mapped = 0; mapped < 2; mapped++) {
        CHECK(load(&back, &kinds, &first, mapped != 0) == GOB_OK);
        CHECK(kinds.key == s->kinds.key && kinds.value == s->kinds.value);
        CHECK(back.mapped == (mapped != 0) && same(&h, &back));
        CHECK(gob_hashmap_count(&h) == 0 || back.compact == h.compact);
        CHECK(back.compact || (back.seed == GOB_SNAPSHOT_SEED) == (mapped != 0));
        CHECK(save(&back, s, &second) == GOB_OK && same_files(&first, &second));
        gob_hashmap copy;
        gob_hashmap_init(&copy, s->encoding, s->max_compact, 5);
        CHECK(gob_hashmap_copy(&copy, &back) == GOB_OK && same(&h, &copy));
        CHECK(copy.seed != GOB_SNAPSHOT_SEED);
        put(&copy, s, 1, 2);
        gob_hashmap_clear(&copy);
        gob_hashmap_clear(&back);
        CHECK(back.alloc.live == 0 && !back.mapped);
    }
    gob_hashmap_clear(&h);
    free(first.at);
    free(second.at);
}

/* Hashes of one content that came about in other ways give the same bytes once optimized. */
static void test_deterministic(const setup *s, size_t n)
{
    buffer first = {.stop_at = SIZE_MAX};
    buffer second = {.stop_at = SIZE_MAX};
    gob_hashmap a;
    gob_hashmap b;
    fill(&a, s, n, 5);
    gob_hashmap_init(&b, s->encoding, s->max_compact, 1234567);
    for (size_t i = n; i-- > 0;) { /* the other way round, with others in between */
        put(&b, s, i, i + 1);
        put(&b, s, i + 40, i);
        if (i % 5 != 0) {
            put(&b, s, i, i);
        }
    }
    for (size_t i = 0; i < n + 40; i++) {
        if (i >= n || i % 5 == 0) {
            (void)gob_hashmap_remove(&b, field_at(i));
        } else {
            put(&b, s, i, i);
        }
    }
    CHECK(gob_hashmap_optimize(&a) == GOB_OK && gob_hashmap_optimize(&b) == GOB_OK);
    CHECK(save(&a, s, &first) == GOB_OK && save(&b, s, &second) == GOB_OK);
    CHECK(same(&a, &b) && same_files(&first, &second));
    gob_hashmap_clear(&a);
    gob_hashmap_clear(&b);
    free(first.at);
    free(second.at);
}

/* What was removed is in no file. */
static void test_forgets(uint32_t max_compact)
{
    static const char secret[] = "a secret that was removed again";
    const setup s = {{GOB_DATUM_STR, GOB_DATUM_STR}, true, max_compact};
    buffer b = {.stop_at = SIZE_MAX};
    gob_hashmap h;
    bool created;
    fill(&h, &s, 300, 2);
    gob_value v = gob_value_text((gob_name){(const uint8_t *)secret, sizeof secret});
    CHECK(gob_hashmap_set(&h, v.text, &v, &created) == GOB_OK && created);
    CHECK(gob_hashmap_remove(&h, v.text) && save(&h, &s, &b) == GOB_OK);
    bool found = false;
    for (size_t i = 0; i + 8 < b.size; i++) {
        found = found || memcmp(b.at + i, secret + 8, 8) == 0;
    }
    CHECK(!found);
    gob_hashmap_clear(&h);
    free(b.at);
}

/* A blob that has grown has fewer buckets than one that is built; it stays one all the same. */
static void test_largest_blob(void)
{
    const setup s = {{GOB_DATUM_STR, GOB_DATUM_STR}, true, GOB_COMPACT_ALWAYS};
    buffer first = {.stop_at = SIZE_MAX};
    buffer second = {.stop_at = SIZE_MAX};
    gob_hashmap h;
    gob_hashmap full;
    gob_hashmap back;
    gob_hashmap_kinds kinds;
    char text[32];
    gob_hashmap_init(&h, true, GOB_COMPACT_ALWAYS, 3);
    for (size_t i = 0; h.compact; i++) {
        bool created;
        int len = snprintf(text, sizeof text, "f%zu", i);
        gob_name field = {(const uint8_t *)text, (size_t)len};
        gob_value v = gob_value_text(keep_filled('v', 70));
        CHECK(gob_hashmap_set(&h, field, &v, &created) == GOB_OK);
        if (h.compact && i % 16 != 0 && i < 800) {
            continue;
        }
        CHECK(save(&h, &s, &first) == GOB_OK && load(&back, &kinds, &first, false) == GOB_OK);
        CHECK(save(&back, &s, &second) == GOB_OK && same_files(&first, &second));
        CHECK(back.compact == h.compact);
        gob_hashmap_clear(&back);
    }
    /* Now in the full form; one field less fits a blob again, whichever way it was. */
    gob_hashmap_init(&full, true, GOB_COMPACT_ALWAYS, 4);
    CHECK(gob_hashmap_copy(&full, &h) == GOB_OK);
    for (size_t i = 1; !full.compact; i++) {
        int len = snprintf(text, sizeof text, "f%zu", i);
        CHECK(gob_hashmap_remove(&full, (gob_name){(const uint8_t *)text, (size_t)len}));
        CHECK(gob_hashmap_optimize(&full) == GOB_OK);
    }
    CHECK(save(&full, &s, &first) == GOB_OK && load(&back, &kinds, &first, true) == GOB_OK);
    CHECK(same(&full, &back) && back.compact);
    gob_hashmap_clear(&back);
    gob_hashmap_clear(&full);
    gob_hashmap_clear(&h);
    free(first.at);
    free(second.at);
}

/* Full buckets, and room for the smallest entry but not for one more bucket. */
static void test_last_entry(void)
{
    enum { ENTRIES = 264, BUCKETS = ENTRIES / GOB_BUCKET_FULL, BYTES = 246 };
    const setup s = {{GOB_DATUM_STR, GOB_DATUM_STR}, true, GOB_COMPACT_ALWAYS};
    buffer first = {.stop_at = SIZE_MAX};
    buffer second = {.stop_at = SIZE_MAX};
    gob_hashmap h;
    gob_hashmap back;
    gob_hashmap_kinds kinds;
    bool created;
    char text[32];
    gob_hashmap_init(&h, true, GOB_COMPACT_ALWAYS, 3);
    gob_value v = gob_value_text(keep_filled('v', BYTES));
    for (size_t i = 0; i < ENTRIES; i++) {
        size_t len = (size_t)snprintf(text, sizeof text, "f%zu", i + 100);
        v.text.len = BYTES - 1 - len + (i < 13 ? 1 : 0);
        CHECK(gob_hashmap_set(&h, (gob_name){(uint8_t *)text, len}, &v, &created) == GOB_OK);
    }
    CHECK(h.compact && h.blob.buckets == BUCKETS && h.blob.size == GOB_BLOB_MAX - 3);
    v.text.len = 0;
    CHECK(gob_hashmap_set(&h, v.text, &v, &created) == GOB_OK && created);
    CHECK(save(&h, &s, &first) == GOB_OK && load(&back, &kinds, &first, false) == GOB_OK);
    CHECK(save(&back, &s, &second) == GOB_OK && same_files(&first, &second));
    gob_hashmap_clear(&h);
    gob_hashmap_clear(&back);
    free(first.at);
    free(second.at);
}

static void expect(const buffer *b, bool resealed)
{
    gob_hashmap h;
    gob_hashmap_kinds kinds;
    buffer copy = damaged(b, resealed);
    for (int mapped = 0; mapped < 2; mapped++) {
        gob_status status = load(&h, &kinds, &copy, mapped != 0);
        const char *why = NULL;
        CHECK(status == GOB_MALFORMED ||
              (resealed && status == GOB_OK && gob_hashmap_validate(&h, &why)));
        if (status == GOB_OK) { /* then they are what would have been written */
            buffer again = {.stop_at = SIZE_MAX};
            CHECK(gob_hashmap_save(&h, kinds, sink, &again) == GOB_OK);
            CHECK(same_sections(&copy, &again));
            free(again.at);
        }
        gob_hashmap_clear(&h);
        CHECK(h.alloc.live == 0);
    }
    free(copy.at);
}

static void test_damage(const setup *s, size_t n)
{
    buffer good = {.stop_at = SIZE_MAX};
    gob_hashmap h;
    fill(&h, s, n, 8);
    CHECK(save(&h, s, &good) == GOB_OK);
    gob_hashmap_clear(&h);
    test_damage_of(good, expect);
    test_lies_of(good, expect);
    test_ends_of(good, expect);
    test_sections_of(good, expect);
    free(good.at);
}

static void test_failures(const setup *s, size_t n)
{
    buffer good = {.stop_at = SIZE_MAX};
    gob_hashmap h;
    fill(&h, s, n, 11);
    size_t live = h.alloc.live;
    gob_status status = GOB_NOMEM;
    for (uint64_t nth = 1; status != GOB_OK; nth++) {
        gob_alloc_fail_at(&h.alloc, nth);
        status = save(&h, s, &good);
        gob_alloc_fail_at(&h.alloc, 0);
        CHECK(h.alloc.live == live && (status == GOB_OK || status == GOB_NOMEM));
    }
    buffer stopped = {.stop_at = 0};
    for (; stopped.stop_at < good.size; stopped.stop_at += good.size / 50 + 1) {
        CHECK(save(&h, s, &stopped) == GOB_STOPPED && h.alloc.live == live);
    }
    gob_hashmap_clear(&h);
    free(good.at);
    free(stopped.at);
}

/* Each allocation of a load fails once, and each question stops one: then nothing is left. */
static void test_failing_loads(const setup *s, size_t n, bool mapped)
{
    buffer good = {.stop_at = SIZE_MAX};
    const char *why = NULL;
    gob_hashmap h;
    gob_hashmap_kinds found;
    gob_reader reader;
    fill(&h, s, n, 8);
    CHECK(save(&h, s, &good) == GOB_OK);
    gob_hashmap_clear(&h);
    CHECK(gob_reader_open(&reader, (gob_span){good.at, good.size}, &why) == GOB_OK);
    gob_status status = GOB_NOMEM;
    for (uint64_t nth = 1; status != GOB_OK; nth++) {
        failing f = {{.goes_on = fail_later}, &h.alloc, nth};
        reader.pace = &f.pace;
        status = gob_hashmap_load(&h, &found, &reader, 1, mapped, &why);
        CHECK(status == GOB_OK ? nth > 1 : status == GOB_NOMEM && h.alloc.live == 0);
    }
    gob_hashmap_clear(&h);
    status = GOB_STOPPED;
    for (int calls = 1; status != GOB_OK; calls++) {
        stopping last = {{.goes_on = stop_at}, calls};
        reader.pace = &last.pace;
        status = gob_hashmap_load(&h, &found, &reader, 1, mapped, &why);
        CHECK(status == GOB_OK ? calls > 2 : status == GOB_STOPPED && h.alloc.live == 0);
        CHECK(status == GOB_OK || gob_hashmap_count(&h) == 0);
    }
    gob_hashmap_clear(&h);
    free(good.at);
}

static gob_status load_and_forget(const buffer *b)
{
    gob_hashmap h;
    gob_hashmap_kinds kinds;
    gob_status status = load(&h, &kinds, b, true);
    gob_hashmap_clear(&h);
    CHECK(h.alloc.live == 0);
    return status;
}

/* A large file is mapped without a look at its entries, and copied with one. */
static void test_large(void)
{
    const setup s = {{GOB_DATUM_STR, GOB_DATUM_STR}, true, 0};
    buffer good = {.stop_at = SIZE_MAX};
    gob_hashmap h;
    gob_hashmap back;
    gob_hashmap_kinds kinds;
    gob_hashmap_init(&h, true, 0, 3);
    gob_value v = gob_value_text(keep_filled('v', 60000));
    for (size_t i = 0; i < 100; i++) {
        bool created;
        CHECK(gob_hashmap_set(&h, field_at(i), &v, &created) == GOB_OK);
    }
    CHECK(save(&h, &s, &good) == GOB_OK && good.size > GOB_CHECKED_MAX);
    CHECK(load(&back, &kinds, &good, true) == GOB_OK && same(&h, &back));
    gob_hashmap_clear(&back);
    test_counts_of(good, 16 + 8, load_and_forget);
    good.at[good.size / 2] ^= 1;
    CHECK(load(&back, &kinds, &good, false) == GOB_MALFORMED);
    CHECK(load(&back, &kinds, &good, true) == GOB_OK && !same(&h, &back));
    gob_hashmap_clear(&back);
    gob_hashmap_clear(&h);
    free(good.at);
}

/* Entries that are copied are looked at, however large the file. */
static void test_large_and_compact(void)
{
    static uint8_t arena[GOB_CHECKED_MAX + 1];
    const uint8_t options[16] = {GOB_DATUM_STR, GOB_DATUM_STR, 1, 1, 255, 255, 255, 255, 9};
    buffer b = {.stop_at = SIZE_MAX};
    gob_writer w;
    memset(arena, 0xFF, sizeof arena);
    CHECK(gob_writer_begin(&w, GOB_SNAPSHOT_HASH, sink, &b) == GOB_OK);
    CHECK(gob_writer_section(&w, GOB_SECTION_OPTIONS) == GOB_OK);
    CHECK(gob_write(&w, options, sizeof options) == GOB_OK);
    CHECK(gob_writer_section(&w, GOB_SECTION_ARENA) == GOB_OK);
    CHECK(gob_write(&w, arena, sizeof arena) == GOB_OK && gob_writer_end(&w) == GOB_OK);
    CHECK(load_and_forget(&b) == GOB_MALFORMED);
    free(b.at);
}

/* Files of this version stay readable: these are their bytes. */
static void test_bytes(void)
{
    buffer b = {.stop_at = SIZE_MAX};
    gob_hashmap h;
    fill(&h, &setups[0], 90, 8);
    CHECK(save(&h, &setups[0], &b) == GOB_OK && hash_of(&b) == UINT64_C(0xC9163812405E7DB8));
    gob_hashmap_clear(&h);
    fill(&h, &setups[4], 90, 8);
    CHECK(save(&h, &setups[4], &b) == GOB_OK && hash_of(&b) == UINT64_C(0xFE7C904797B0CE25));
    gob_hashmap_clear(&h);
    free(b.at);
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 2, 6, 16, 17, 25, 90, 180, 450};
    fill_entry_pool();
    for (size_t k = 0; k < SETUPS; k++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            test_round_trip(&setups[k], sizes[i], false);
            test_round_trip(&setups[k], sizes[i], true);
            test_deterministic(&setups[k], sizes[i]);
        }
        test_damage(&setups[k], 0);
        test_damage(&setups[k], 2);
        test_damage(&setups[k], 60);
        test_failures(&setups[k], 400);
        test_failing_loads(&setups[k], 60, false);
        test_failing_loads(&setups[k], 60, true);
        test_failing_loads(&setups[k], 400, false);
    }
    test_forgets(0);
    test_forgets(GOB_COMPACT_ALWAYS);
    test_largest_blob();
    test_last_entry();
    test_large();
    test_large_and_compact();
    test_bytes();
    return test_report();
}
