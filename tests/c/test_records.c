/* The records of a table against a model, with allocations failing; rows and shapes along. */
#include "gob_records.h"

#include "gob_entry_pool.h"
#include "gob_random.h"
#include "gob_test.h"

enum { KEYS = 80, NAMES = 60, CELLS = 8, ABSENT = -1 };

/* The model: the number of the value of each field of each record. */
typedef struct model {
    struct {
        bool there;
        int16_t value[NAMES]; /* or ABSENT */
    } at[KEYS];
} model;

static gob_records r;
static model expected;
static uint64_t rng;

static gob_name key_of(size_t i)
{
    return field_pool[i];
}

static gob_name name_of(size_t i)
{
    return field_pool[i + 10];
}

static void begin_test(uint64_t seed, unsigned narrow_bits)
{
    fill_entry_pool();
    gob_records_init(&r, seed);
    r.rows.narrow_bits = (uint8_t)narrow_bits;
    memset(&expected, 0, sizeof expected);
    rng = seed;
}

static void end_test(void)
{
    gob_records_clear(&r);
    CHECK(r.alloc.live == 0 && gob_records_count(&r) == 0);
}

static void empty_record(model *m, size_t key)
{
    m->at[key].there = true;
    for (size_t i = 0; i < NAMES; i++) {
        m->at[key].value[i] = ABSENT;
    }
}

static bool same_record(const gob_records *records, size_t key, const gob_row *row)
{
    size_t count = 0;
    bool same = true;
    for (size_t i = 0; same && i < NAMES; i++) {
        int place = expected.at[key].value[i];
        gob_value value = gob_records_value(records, row, name_of(i));
        same =
            place == ABSENT ? value.kind == GOB_VALUE_NONE : same_value(&value, &value_pool[place]);
        count += place != ABSENT;
    }
    return same && row->shape.count == count;
}

/* Every record is there by its key, and met once by a walk. */
static bool matches(const gob_records *records)
{
    const char *why = NULL;
    if (!gob_records_validate(records, &why)) {
        fprintf(stderr, "%s\n", why);
        return false;
    }
    gob_row row;
    gob_value key;
    size_t count = 0;
    size_t walked = 0;
    bool same = true;
    for (size_t i = 0; same && i < KEYS; i++) {
        same = gob_records_find(records, key_of(i), &row) == expected.at[i].there &&
               (!expected.at[i].there || same_record(records, i, &row));
        count += expected.at[i].there;
    }
    for (size_t at = 0; gob_records_next(records, &at, &key, &row); walked++) {
        gob_scratch scratch;
        gob_row found;
        same = same && gob_records_find(records, gob_value_bytes(&key, &scratch), &found) &&
               found.codes == row.codes;
    }
    gob_records_memory memory = gob_records_bytes(records);
    return same && count == gob_records_count(records) && walked == count &&
           records->alloc.live == memory.shapes + memory.table + memory.arena;
}

/* A column in steps of n agrees with the walk. */
static bool same_column(size_t name, size_t n)
{
    gob_value values[KEYS];
    gob_value key;
    gob_row row;
    bool same = true;
    size_t walk = 0;
    size_t at = 0;
    for (size_t got; (got = gob_records_column(&r, name_of(name), &at, values, n)) != 0;) {
        for (size_t i = 0; i < got; i++) {
            same = same && gob_records_next(&r, &walk, &key, &row);
            gob_value value = gob_records_value(&r, &row, name_of(name));
            same = same && value.kind == values[i].kind;
        }
    }
    return same && !gob_records_next(&r, &walk, &key, &row);
}

/* Random cells; what they make of a record of the model. */
static size_t random_cells(gob_cell *cells, model *m, size_t key, bool removals)
{
    size_t n = random_below(&rng, CELLS + 1);
    for (size_t i = 0; i < n; i++) {
        size_t name = random_below(&rng, random_below(&rng, 2) == 0 ? 6 : NAMES);
        bool goes = removals && random_below(&rng, 3) == 0;
        int place = goes ? ABSENT : (int)random_below(&rng, VALUES);
        cells[i].field = name_of(name);
        cells[i].value = goes ? (gob_value){.kind = GOB_VALUE_NONE} : value_pool[place];
        m->at[key].value[name] = (int16_t)place;
    }
    return n;
}

static void fail_sometimes(void)
{
    gob_alloc_fail_at(&r.alloc, random_below(&rng, 3) == 0 ? 1 + random_below(&rng, 12) : 0);
}

/* What failed has changed nothing. */
static void settle(gob_status status, const model *before)
{
    CHECK(status == GOB_OK || status == GOB_NOMEM);
    if (status != GOB_OK) {
        expected = *before;
    }
    gob_alloc_fail_at(&r.alloc, 0);
}

static void edit_one(void)
{
    model before = expected;
    gob_cell cells[CELLS];
    uint64_t stamp = r.stamp;
    size_t key = random_below(&rng, KEYS);
    if (!expected.at[key].there) {
        empty_record(&expected, key);
    }
    size_t n = random_cells(cells, &expected, key, true);
    bool changes = memcmp(&before, &expected, sizeof before) != 0;
    fail_sometimes();
    gob_status status = gob_records_edit(&r, key_of(key), cells, n);
    /* Another value may be stored alike. */
    CHECK(status == GOB_OK ? r.stamp == stamp || changes : r.stamp == stamp);
    settle(status, &before);
}

static void remove_one(void)
{
    size_t key = random_below(&rng, KEYS);
    fail_sometimes();
    CHECK(gob_records_remove(&r, key_of(key)) == expected.at[key].there);
    expected.at[key].there = false;
    memset(expected.at[key].value, 0, sizeof expected.at[key].value);
    gob_alloc_fail_at(&r.alloc, 0);
}

static gob_status stage_some(gob_fields *stage)
{
    gob_status status = GOB_OK;
    gob_cell cells[CELLS];
    size_t rows = random_below(&rng, 40);
    gob_records_stage(&r, stage);
    fail_sometimes();
    for (size_t i = 0; status == GOB_OK && i < rows; i++) {
        size_t key = random_below(&rng, KEYS);
        empty_record(&expected, key);
        size_t n = random_cells(cells, &expected, key, false);
        status = gob_records_put(&r, stage, key_of(key), cells, n);
    }
    return status;
}

static void load_many(void)
{
    model before = expected;
    gob_fields stage;
    uint64_t stamp = r.stamp;
    gob_status status = stage_some(&stage);
    bool gives_up = random_below(&rng, 4) == 0;
    CHECK(r.stamp == stamp);
    if (status == GOB_OK && !gives_up) {
        status = gob_records_commit(&r, &stage);
    }
    if (status != GOB_OK || gives_up) {
        gob_records_abandon(&r, &stage);
        CHECK(r.stamp == stamp);
        expected = before;
    }
    settle(status, &before);
}

static void optimize(void)
{
    uint64_t stamp = r.stamp;
    fail_sometimes();
    gob_status status = gob_records_optimize(&r);
    CHECK(r.stamp == stamp && (status == GOB_OK || status == GOB_NOMEM));
    CHECK(status != GOB_OK ||
          (r.rows.arena.capacity == r.rows.arena.used && gob_shapes_waste(&r.shapes) == 0));
    gob_alloc_fail_at(&r.alloc, 0);
}

static void copy(void)
{
    gob_records twin;
    gob_records_init(&twin, rng);
    gob_alloc_fail_at(&twin.alloc, random_below(&rng, 3) == 0 ? 1 + random_below(&rng, 60) : 0);
    gob_status status = gob_records_copy(&twin, &r);
    gob_alloc_fail_at(&twin.alloc, 0);
    CHECK(status == GOB_OK ? matches(&twin) : twin.alloc.live == 0);
    gob_records_clear(&twin);
    CHECK(twin.alloc.live == 0);
}

static void test_random(uint64_t seed, unsigned narrow_bits)
{
    begin_test(seed, narrow_bits);
    for (size_t i = 0; i < 1500; i++) {
        uint64_t what = random_below(&rng, 100);
        if (what < 60) {
            edit_one();
        } else if (what < 80 || (i / 300 % 2 == 1 && what < 90)) {
            remove_one();
        } else if (what < 94) {
            load_many();
        } else if (what < 97) {
            optimize();
        } else {
            copy();
        }
        if (i % 16 == 0 || i > 1450) {
            CHECK(matches(&r));
            CHECK(same_column(random_below(&rng, NAMES), 1 + random_below(&rng, KEYS)));
        }
    }
    CHECK(matches(&r));
    end_test();
}

/* Each allocation of a call fails once. */
static void test_every_failure(void)
{
    gob_cell cells[] = {
        {name_of(3), value_pool[0]}, {name_of(1), value_pool[60]}, {name_of(40), value_pool[1]}};
    begin_test(5, GOB_NARROW_BITS);
    empty_record(&expected, 0);
    empty_record(&expected, 1);
    CHECK(gob_records_edit(&r, key_of(0), NULL, 0) == GOB_OK);
    CHECK(gob_records_edit(&r, key_of(1), NULL, 0) == GOB_OK);
    uint64_t n = 1;
    for (gob_status status = GOB_NOMEM; status != GOB_OK; n++) {
        gob_alloc_fail_at(&r.alloc, n);
        status = gob_records_edit(&r, key_of(1), cells, 3);
        gob_alloc_fail_at(&r.alloc, 0);
        if (status == GOB_OK) {
            expected.at[1].value[3] = 0;
            expected.at[1].value[1] = 60;
            expected.at[1].value[40] = 1;
        }
        CHECK(matches(&r));
    }
    CHECK(n > 8);
    end_test();
}

/* Fields and shapes are shared, and go with the last record that has them. */
static void test_shapes_are_shared(void)
{
    begin_test(9, GOB_NARROW_BITS);
    for (size_t key = 0; key < KEYS; key++) {
        gob_cell cells[] = {{name_of(key % 3), value_pool[1]},
                            {name_of((key + 1) % 3), value_pool[2]},
                            {name_of((key + 2) % 3), value_pool[key]}};
        CHECK(gob_records_edit(&r, key_of(key), cells, 3) == GOB_OK);
    }
    CHECK(gob_intern_count(&r.shapes.shapes) == 1 && gob_intern_count(&r.shapes.names) == 3);
    gob_cell extra = {name_of(7), value_pool[0]};
    CHECK(gob_records_edit(&r, key_of(4), &extra, 1) == GOB_OK);
    CHECK(gob_intern_count(&r.shapes.shapes) == 2 && gob_intern_count(&r.shapes.names) == 4);
    extra.value.kind = GOB_VALUE_NONE;
    CHECK(gob_records_edit(&r, key_of(4), &extra, 1) == GOB_OK);
    CHECK(gob_intern_count(&r.shapes.shapes) == 1 && gob_intern_count(&r.shapes.names) == 3);
    for (size_t key = 0; key < KEYS; key++) {
        CHECK(gob_records_remove(&r, key_of(key)));
    }
    CHECK(gob_shapes_bytes(&r.shapes) == 0);
    end_test();
}

/* Many shapes that go leave no room behind, wherever the numbers of those that stay are. */
static void test_room_of_shapes_is_given_back(void)
{
    enum { RECORDS = 600, KEPT = 3 };
    for (size_t kept = 0; kept < RECORDS; kept += RECORDS / KEPT) {
        gob_row row;
        char text[RECORDS][16];
        gob_name key[RECORDS];
        begin_test(kept, GOB_NARROW_BITS);
        for (size_t i = 0; i < RECORDS; i++) {
            int len = snprintf(text[i], sizeof text[i], "name:%06zu", i);
            key[i] = (gob_name){(uint8_t *)text[i], (size_t)len};
            gob_cell cells[] = {{key[i], value_pool[0]}, {key[i / 2], value_pool[1]}};
            CHECK(gob_records_edit(&r, key[i], cells, 2) == GOB_OK);
        }
        for (size_t i = 0; i < RECORDS; i++) {
            CHECK(i == kept || gob_records_remove(&r, key[i]));
        }
        CHECK(r.alloc.live < 4096);
        CHECK(gob_records_optimize(&r) == GOB_OK && r.alloc.live < 256);
        CHECK(gob_records_find(&r, key[kept], &row) && row.number == 0);
        CHECK(gob_records_value(&r, &row, key[kept / 2]).kind != GOB_VALUE_NONE);
        end_test();
    }
}

/* A record of 32 shared fields costs its values, its key and a byte a value. */
static void test_bytes_of_a_record(void)
{
    enum { RECORDS = 20000, FIELDS_EACH = 32, TEXT = 16 };
    char names[FIELDS_EACH][TEXT];
    char text[32];
    gob_cell cells[FIELDS_EACH];
    begin_test(3, GOB_NARROW_BITS);
    for (size_t i = 0; i < RECORDS; i++) {
        for (size_t k = 0; k < FIELDS_EACH; k++) {
            int len = snprintf(names[k], TEXT, "field:%08zu", k);
            cells[k].field = (gob_name){(uint8_t *)names[k], (size_t)len};
            cells[k].value = gob_value_text((gob_name){(const uint8_t *)"value:0123456789", TEXT});
        }
        int len = snprintf(text, sizeof text, "record:%07zu", i);
        gob_name key = {(uint8_t *)text, (size_t)len};
        CHECK(gob_records_edit(&r, key, cells, FIELDS_EACH) == GOB_OK);
    }
    CHECK(gob_records_optimize(&r) == GOB_OK);
    CHECK(r.alloc.live < RECORDS * (size_t)(14 + 32 * 17 + 12));
    end_test();
}

static void test_faults_are_found(void)
{
    const char *why;
    gob_cell cells[] = {{name_of(3), value_pool[0]}, {name_of(1), value_pool[60]}};
    begin_test(7, GOB_NARROW_BITS);
    CHECK(gob_records_edit(&r, key_of(1), cells, 2) == GOB_OK);
    r.shapes.shapes.items[0].uses++;
    CHECK_FAULT(gob_records_validate(&r, &why), why, "records: uses of the shapes");
    r.shapes.shapes.items[0].uses--;
    r.shapes.names.items[0].uses++;
    CHECK_FAULT(gob_records_validate(&r, &why), why, "shapes: uses of the fields");
    r.shapes.names.items[0].uses--;
    gob_row row;
    CHECK(gob_records_find(&r, key_of(1), &row));
    uint8_t *codes = r.rows.arena.at + (row.codes - r.rows.arena.at);
    codes[0]++;
    CHECK_FAULT(gob_records_validate(&r, &why), why, "row: values overrun");
    codes[0]--;
    codes[-1]++;
    CHECK_FAULT(gob_records_validate(&r, &why), why, "row: a shape that is not there");
    codes[-1]--;
    CHECK(gob_records_validate(&r, &why));
    const uint8_t rows[][7] = {
        {(uint8_t)row.number, GOB_CELL_LONG, GOB_CELL_TEXT, 3, 'a', 'b', 'c'},
        {(uint8_t)row.number, GOB_CELL_TEXT, GOB_CELL_LONG, 0x80},
        {0x80, 0x80}};
    CHECK_FAULT(gob_row_validate(&r.shapes, (gob_name){rows[0], 7}, &why), why,
                "row: values overrun");
    CHECK_FAULT(gob_row_validate(&r.shapes, (gob_name){rows[1], 4}, &why), why,
                "row: values overrun");
    CHECK_FAULT(gob_row_validate(&r.shapes, (gob_name){rows[2], 2}, &why), why,
                "row: a shape that is not there");
    end_test();
}

int main(void)
{
    test_random(1, GOB_NARROW_BITS);
    test_random(2, 12);
    test_every_failure();
    test_shapes_are_shared();
    test_room_of_shapes_is_given_back();
    test_bytes_of_a_record();
    test_faults_are_found();
    return test_report();
}
