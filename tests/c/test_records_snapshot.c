/* Snapshots of records: what is read is what was written, and nothing else is read. */
#include "gob_entry_pool.h"
#include "gob_random.h"
#include "gob_records_snapshot.h"
#include "gob_snapshot_test.h"

static const gob_records_kinds setups[] = {
    {GOB_DATUM_STR, GOB_DATUM_STR, GOB_DATUM_STR},
    {GOB_DATUM_BYTES, GOB_DATUM_STR, GOB_DATUM_INT64},
    {GOB_DATUM_STR, GOB_DATUM_BYTES, GOB_DATUM_FLOAT64},
    {GOB_DATUM_BYTES, GOB_DATUM_BYTES, GOB_DATUM_BYTES},
};

enum { SETUPS = sizeof setups / sizeof setups[0], MOST = 1000, NAMES = 150 };

static gob_name keys[MOST];

/* Ordinary keys first and every seventh an odd one, as long as there are any. */
static void fill_keys(void)
{
    static char text[MOST][24];
    fill_entry_pool();
    for (size_t i = 0; i < MOST; i++) {
        int len = snprintf(text[i], sizeof text[i], "key:%zu", i * 7);
        keys[i] = (gob_name){(const uint8_t *)text[i], (size_t)len};
        if (i % 7 == 2 && i / 7 < ODD + EDGES) {
            keys[i] = field_pool[i / 7];
        }
    }
}

/* Numbers of names go by the order in which they come. */
static gob_name name_at(size_t i)
{
    return field_pool[(i * 89 + 7) % NAMES];
}

static gob_value value_at(gob_datum_kind kind, size_t i)
{
    switch (kind) {
    case GOB_DATUM_INT64:
        return gob_value_int((int64_t)(i * i * 7919) * (i % 2 == 0 ? 1 : -1));
    case GOB_DATUM_FLOAT64:
        return gob_value_float(0.125 * (double)i);
    default:
        return value_pool[i % 50 == 0 ? i % (ODD + EDGES) : i % ODD];
    }
}

/* Fields of a record, of which every third has them from a few shapes. */
static size_t cells_of(gob_cell *cells, gob_datum_kind kind, size_t i)
{
    uint64_t rng = i + 1;
    size_t n = i % 3 == 0 ? i % 5 : random_below(&rng, 9);
    for (size_t k = 0; k < n; k++) {
        size_t name = i % 3 == 0 ? k * 3 + i % 2 : random_below(&rng, i % 3 == 1 ? 4 : NAMES);
        cells[k] = (gob_cell){name_at(name), value_at(kind, i + k)};
    }
    return n;
}

static void put(gob_records *r, gob_records_kinds kinds, size_t i, size_t values)
{
    gob_cell cells[9];
    (void)gob_records_remove(r, keys[i]);
    size_t n = cells_of(cells, (gob_datum_kind)kinds.value, values);
    CHECK(gob_records_edit(r, keys[i], cells, n) == GOB_OK);
}

/* Makes n records and removes some. */
static void fill(gob_records *r, gob_records_kinds kinds, size_t n, uint64_t seed)
{
    gob_records_init(r, seed);
    for (size_t i = 0; i < n; i++) {
        put(r, kinds, i, i);
    }
    for (size_t i = 0; i < n; i += 5) {
        CHECK(gob_records_remove(r, keys[i]));
    }
}

static gob_status save(gob_records *r, gob_records_kinds kinds, buffer *b)
{
    b->size = 0;
    return gob_records_save(r, kinds, sink, b);
}

static gob_status load(gob_records *r, gob_records_kinds *kinds, const buffer *b, bool mapped)
{
    const char *why = NULL;
    gob_reader reader;
    gob_status status = gob_reader_open(&reader, (gob_span){b->at, b->size}, &why);
    gob_records_init(r, 1);
    status = status == GOB_OK ? gob_records_load(r, kinds, &reader, 99, mapped, &why) : status;
    CHECK(status != GOB_MALFORMED || why != NULL);
    return status;
}

static bool same_values(const gob_value *a, const gob_value *b)
{
    return a->kind == b->kind &&
           (a->kind == GOB_VALUE_INT     ? a->integer == b->integer
            : a->kind == GOB_VALUE_FLOAT ? a->real == b->real
            : a->kind == GOB_VALUE_UUID  ? memcmp(a->text.at, b->text.at, GOB_UUID_BYTES) == 0
                                         : same_bytes(a->text, b->text));
}

/* The second has all that the first has, and no more. */
static bool same(const gob_records *a, const gob_records *b)
{
    const char *why = NULL;
    gob_value key;
    gob_row row;
    gob_row other;
    gob_scratch room;
    bool good = gob_records_count(a) == gob_records_count(b) && gob_records_validate(b, &why);
    for (size_t at = 0; good && gob_records_next(a, &at, &key, &row);) {
        good = gob_records_find(b, gob_value_bytes(&key, &room), &other) &&
               other.shape.count == row.shape.count;
        for (size_t i = 0; good && i < row.shape.count; i++) {
            gob_value left = gob_row_value(&row, i);
            gob_value right = gob_records_value(b, &other, gob_records_field(a, &row, i));
            good = same_values(&left, &right);
        }
    }
    gob_records_memory m = gob_records_bytes(b);
    return good && b->alloc.live == m.shapes + m.table + m.arena;
}

static void test_round_trip(gob_records_kinds kinds, size_t n, bool optimized)
{
    buffer first = {.stop_at = SIZE_MAX};
    buffer second = {.stop_at = SIZE_MAX};
    gob_records r;
    gob_records back;
    gob_records_kinds found;
    fill(&r, kinds, n, n + 3);
    if (optimized) {
        CHECK(gob_records_optimize(&r) == GOB_OK);
    }
    size_t live = r.alloc.live;
    CHECK(save(&r, kinds, &first) == GOB_OK && r.alloc.live == live);
    for (int mapped = 0; mapped < 2; mapped++) {
        CHECK(load(&back, &found, &first, mapped != 0) == GOB_OK);
        CHECK(memcmp(&found, &kinds, sizeof kinds) == 0);
        CHECK(back.rows.mapped == (mapped != 0) && same(&r, &back));
        CHECK((back.rows.table.seed == GOB_SNAPSHOT_SEED) == (mapped != 0));
        CHECK(save(&back, kinds, &second) == GOB_OK && same_files(&first, &second));
        gob_records copy;
        gob_records_init(&copy, 5);
        CHECK(gob_records_copy(&copy, &back) == GOB_OK && same(&r, &copy));
        CHECK(copy.rows.table.seed == 5 && !copy.rows.mapped);
        put(&copy, kinds, 1, 2);
        gob_records_clear(&copy);
        if (!mapped) {
            put(&back, kinds, 3, 4);
        }
        gob_records_clear(&back);
        CHECK(back.alloc.live == 0 && !back.rows.mapped);
    }
    gob_records_clear(&r);
    free(first.at);
    free(second.at);
}

/* Records of one content that came about in other ways, with other fields and shapes for a while,
 * give the same bytes. */
static void test_deterministic(gob_records_kinds kinds, size_t n)
{
    buffer first = {.stop_at = SIZE_MAX};
    buffer second = {.stop_at = SIZE_MAX};
    gob_records a;
    gob_records b;
    fill(&a, kinds, n, 5);
    gob_records_init(&b, 1234567);
    for (size_t i = n; i-- > 0;) {
        put(&b, kinds, i, i + 1);
        if (i + 10 < MOST) {
            put(&b, kinds, i + 10, i * 7 + 5);
        }
    }
    for (size_t i = 0; i < MOST; i++) {
        if (i >= n || i % 5 == 0) {
            (void)gob_records_remove(&b, keys[i]);
        } else {
            put(&b, kinds, i, i);
        }
    }
    CHECK(save(&a, kinds, &first) == GOB_OK && save(&b, kinds, &second) == GOB_OK);
    CHECK(same(&a, &b) && same_files(&first, &second));
    CHECK(gob_records_optimize(&a) == GOB_OK && save(&a, kinds, &first) == GOB_OK);
    CHECK(same_files(&first, &second));
    gob_records_clear(&a);
    gob_records_clear(&b);
    free(first.at);
    free(second.at);
}

/* What was removed is in no file: no key, no value, no name of a field. */
static void test_forgets(void)
{
    static const char secret[] = "a secret that was removed again";
    const gob_name text = {(const uint8_t *)secret, sizeof secret};
    buffer b = {.stop_at = SIZE_MAX};
    gob_records r;
    gob_cell cell = {text, gob_value_text(text)};
    fill(&r, setups[0], 300, 2);
    CHECK(gob_records_edit(&r, text, &cell, 1) == GOB_OK);
    CHECK(gob_records_edit(&r, keys[1], &cell, 1) == GOB_OK);
    cell.value.kind = GOB_VALUE_NONE;
    CHECK(gob_records_edit(&r, keys[1], &cell, 1) == GOB_OK && gob_records_remove(&r, text));
    CHECK(save(&r, setups[0], &b) == GOB_OK);
    bool found = false;
    for (size_t i = 0; i + 8 < b.size; i++) {
        found = found || memcmp(b.at + i, secret + 8, 8) == 0;
    }
    CHECK(!found);
    gob_records_clear(&r);
    free(b.at);
}

static void expect(const buffer *b, bool resealed)
{
    gob_records r;
    gob_records_kinds kinds;
    buffer copy = damaged(b, resealed);
    for (int mapped = 0; mapped < 2; mapped++) {
        gob_status status = load(&r, &kinds, &copy, mapped != 0);
        const char *why = NULL;
        CHECK(status == GOB_MALFORMED ||
              (resealed && status == GOB_OK && gob_records_validate(&r, &why)));
        if (status == GOB_OK) { /* then they are what would have been written */
            buffer again = {.stop_at = SIZE_MAX};
            CHECK(gob_records_save(&r, kinds, sink, &again) == GOB_OK);
            CHECK(same_sections(&copy, &again));
            free(again.at);
        }
        gob_records_clear(&r);
        CHECK(r.alloc.live == 0);
    }
    free(copy.at);
}

static void test_damage(gob_records_kinds kinds, size_t n)
{
    buffer good = {.stop_at = SIZE_MAX};
    gob_records r;
    fill(&r, kinds, n, 8);
    CHECK(save(&r, kinds, &good) == GOB_OK);
    gob_records_clear(&r);
    test_damage_of(good, expect);
    test_lies_of(good, expect);
    test_ends_of(good, expect);
    test_sections_of(good, expect);
    free(good.at);
}

static void test_failures(gob_records_kinds kinds, size_t n)
{
    buffer good = {.stop_at = SIZE_MAX};
    gob_records r;
    fill(&r, kinds, n, 11);
    size_t live = r.alloc.live;
    gob_status status = GOB_NOMEM;
    for (uint64_t nth = 1; status != GOB_OK; nth++) {
        gob_alloc_fail_at(&r.alloc, nth);
        status = save(&r, kinds, &good);
        gob_alloc_fail_at(&r.alloc, 0);
        CHECK(r.alloc.live == live && (status == GOB_OK || status == GOB_NOMEM));
    }
    buffer stopped = {.stop_at = 0};
    for (; stopped.stop_at < good.size; stopped.stop_at += good.size / 50 + 1) {
        CHECK(save(&r, kinds, &stopped) == GOB_STOPPED && r.alloc.live == live);
    }
    gob_records_clear(&r);
    free(good.at);
    free(stopped.at);
}

/* Each allocation of a load fails once, and each question stops one: then nothing is left. */
static void test_failing_loads(gob_records_kinds kinds, size_t n, bool mapped)
{
    buffer good = {.stop_at = SIZE_MAX};
    const char *why = NULL;
    gob_records r;
    gob_records_kinds found;
    gob_reader reader;
    fill(&r, kinds, n, 8);
    CHECK(save(&r, kinds, &good) == GOB_OK);
    gob_records_clear(&r);
    CHECK(gob_reader_open(&reader, (gob_span){good.at, good.size}, &why) == GOB_OK);
    gob_status status = GOB_NOMEM;
    for (uint64_t nth = 1; status != GOB_OK; nth++) {
        failing f = {{.goes_on = fail_later}, &r.alloc, nth};
        reader.pace = &f.pace;
        status = gob_records_load(&r, &found, &reader, 1, mapped, &why);
        CHECK(status == GOB_OK ? nth > 1 : status == GOB_NOMEM && r.alloc.live == 0);
    }
    gob_records_clear(&r);
    status = GOB_STOPPED;
    for (int calls = 1; status != GOB_OK; calls++) {
        stopping last = {{.goes_on = stop_at}, calls};
        reader.pace = &last.pace;
        status = gob_records_load(&r, &found, &reader, 1, mapped, &why);
        CHECK(status == GOB_OK ? calls > 2 : status == GOB_STOPPED && r.alloc.live == 0);
        CHECK(status == GOB_OK || gob_records_count(&r) == 0);
    }
    gob_records_clear(&r);
    free(good.at);
}

/* Shapes whose uses are those of all records together, but not each its own. */
static void test_uses(void)
{
    buffer good = {.stop_at = SIZE_MAX};
    const char *why = NULL;
    gob_records r;
    gob_records_kinds kinds;
    gob_reader reader;
    fill(&r, setups[0], 90, 8);
    CHECK(save(&r, setups[0], &good) == GOB_OK);
    gob_records_clear(&r);
    CHECK(gob_reader_open(&reader, (gob_span){good.at, good.size}, &why) == GOB_OK);
    uint8_t *first = good.at + (gob_reader_section(&reader, GOB_SECTION_SHAPES).at - good.at);
    uint8_t *second = first + 12 + gob_load32(first) * sizeof(uint32_t);
    CHECK(gob_load32(first + 4) > 1 && gob_load32(second + 4) > 0);
    gob_store32(first + 4, gob_load32(first + 4) - 1);
    gob_store32(second + 4, gob_load32(second + 4) + 1);
    gob_snapshot_reseal(good.at, good.size);
    CHECK(load(&r, &kinds, &good, false) == GOB_MALFORMED);
    CHECK(load(&r, &kinds, &good, true) == GOB_MALFORMED);
    free(good.at);
}

/* A row is a text; what is as long as something else may say that it is that. */
static void test_kinds(void)
{
    buffer good = {.stop_at = SIZE_MAX};
    const char *why = NULL;
    gob_records r;
    gob_records_kinds kinds;
    gob_reader reader;
    size_t bytes;
    fill(&r, setups[0], 200, 8);
    CHECK(save(&r, setups[0], &good) == GOB_OK);
    gob_records_clear(&r);
    CHECK(gob_reader_open(&reader, (gob_span){good.at, good.size}, &why) == GOB_OK);
    gob_span arena = gob_reader_section(&reader, GOB_SECTION_ARENA);
    for (size_t at = 0; at != arena.size;) {
        const uint8_t *record = gob_length_read(arena.at + at, &bytes);
        uint8_t *head = good.at + (record - good.at);
        for (unsigned kind = 1; kind < 4; kind++) {
            *head ^= (uint8_t)(kind << GOB_FIELD_BITS);
            gob_snapshot_reseal(good.at, good.size);
            CHECK(load(&r, &kinds, &good, kind % 2 == 0) == GOB_MALFORMED);
            *head ^= (uint8_t)(kind << GOB_FIELD_BITS);
        }
        at = (size_t)(record - arena.at) + bytes;
    }
    free(good.at);
}

static gob_status load_and_forget(const buffer *b)
{
    gob_records r;
    gob_records_kinds kinds;
    gob_status status = load(&r, &kinds, b, true);
    gob_records_clear(&r);
    CHECK(r.alloc.live == 0);
    return status;
}

/* A large file is mapped without a look at its rows, and copied with one. */
static void test_large(void)
{
    buffer good = {.stop_at = SIZE_MAX};
    const char *why = NULL;
    gob_records r;
    gob_records back;
    gob_records_kinds kinds;
    gob_reader reader;
    gob_records_init(&r, 3);
    gob_value v = gob_value_text(keep_filled('v', 60000));
    for (size_t i = 0; i < 100; i++) {
        gob_cell cell = {name_at(i % 3), v};
        CHECK(gob_records_edit(&r, keys[i], &cell, 1) == GOB_OK);
    }
    CHECK(save(&r, setups[0], &good) == GOB_OK && good.size > GOB_CHECKED_MAX);
    CHECK(load(&back, &kinds, &good, true) == GOB_OK && same(&r, &back));
    gob_records_clear(&back);
    test_counts_of(good, 16 + 16, load_and_forget);
    good.at[good.size / 2] ^= 1;
    CHECK(load(&back, &kinds, &good, false) == GOB_MALFORMED);
    CHECK(load(&back, &kinds, &good, true) == GOB_OK && !same(&r, &back));
    gob_records_clear(&back);
    CHECK(gob_reader_open(&reader, (gob_span){good.at, good.size}, &why) == GOB_OK);
    uint8_t *uses = good.at + (gob_reader_section(&reader, GOB_SECTION_SHAPES).at - good.at) + 4;
    for (size_t i = 0; i < 2; i++) { /* two that overflow to what they should be together */
        gob_store64(uses + 16 * i, gob_load64(uses + 16 * i) ^ UINT64_C(1) << 63);
    }
    gob_snapshot_reseal(good.at, good.size);
    CHECK(load(&back, &kinds, &good, true) == GOB_MALFORMED);
    for (size_t i = 0; i < 2; i++) {
        gob_store64(uses + 16 * i, gob_load64(uses + 16 * i) ^ UINT64_C(1) << 63);
    }
    gob_snapshot_reseal(good.at, good.size);
    CHECK(load_and_forget(&good) == GOB_OK);
    gob_store32(uses, gob_load32(uses) - 1);
    CHECK(load(&back, &kinds, &good, true) == GOB_MALFORMED);
    gob_snapshot_reseal(good.at, good.size);
    CHECK(load(&back, &kinds, &good, true) == GOB_MALFORMED);
    gob_records_clear(&r);
    free(good.at);
}

/* Files of this version stay readable: these are their bytes. */
static void test_bytes(void)
{
    buffer b = {.stop_at = SIZE_MAX};
    gob_records r;
    fill(&r, setups[0], 90, 8);
    CHECK(save(&r, setups[0], &b) == GOB_OK && hash_of(&b) == UINT64_C(0x8BEF8524C2F449DA));
    gob_records_clear(&r);
    free(b.at);
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 2, 17, 64, 300, MOST};
    fill_keys();
    for (size_t k = 0; k < SETUPS; k++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            test_round_trip(setups[k], sizes[i], false);
            test_round_trip(setups[k], sizes[i], true);
        }
        test_deterministic(setups[k], 3);
        test_deterministic(setups[k], 300);
        test_damage(setups[k], 0);
        test_damage(setups[k], 2);
        test_damage(setups[k], 30);
        test_failures(setups[k], 200);
        test_failing_loads(setups[k], 60, false);
        test_failing_loads(setups[k], 60, true);
        test_failing_loads(setups[k], 200, false);
    }
    test_forgets();
    test_uses();
    test_kinds();
    test_large();
    test_bytes();
    return test_report();
}
