/* A script of operations on the records of a table, beside a list of cells, with allocations that
 * fail where the script says. */
#include "gob_records.h"

#include "gob_fuzz_entries.h"

enum { KEYS = 60, CELLS = 600, EDITS = 8, OPERATIONS = 40 };

/* The model: each cell of each record; and the records, which may be without cells. */
typedef struct model {
    size_t keys;
    size_t cells;
    gob_name key[KEYS];
    struct {
        size_t key;
        gob_name field;
        gob_value value;
    } cell[CELLS];
} model;

static model m;
static model before; /* a call that may fail */
static gob_records r;

/* The place of a key; m.keys where there is none. */
static size_t find_key(gob_name key)
{
    size_t i = 0;
    while (i < m.keys && !same_bytes(m.key[i], key)) {
        i++;
    }
    return i;
}

static size_t find_cell(size_t key, gob_name field)
{
    size_t i = 0;
    while (i < m.cells && (m.cell[i].key != key || !same_bytes(m.cell[i].field, field))) {
        i++;
    }
    return i;
}

/* The place of a key, which is added where there is none. */
static size_t model_key(gob_name key)
{
    size_t i = find_key(key);
    if (i == m.keys) {
        m.key[m.keys++] = key;
    }
    return i;
}

static void model_empty(size_t key)
{
    size_t kept = 0;
    for (size_t i = 0; i < m.cells; i++) {
        if (m.cell[i].key != key) {
            m.cell[kept++] = m.cell[i];
        }
    }
    m.cells = kept;
}

/* The last key takes the place of the one that goes. */
static void model_remove(size_t key)
{
    model_empty(key);
    m.key[key] = m.key[--m.keys];
    for (size_t i = 0; i < m.cells; i++) {
        if (m.cell[i].key == m.keys) {
            m.cell[i].key = key;
        }
    }
}

static void model_edit(size_t key, const gob_cell *cells, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t i = find_cell(key, cells[k].field);
        if (cells[k].value.kind == GOB_VALUE_NONE) {
            if (i != m.cells) {
                m.cell[i] = m.cell[--m.cells];
            }
            continue;
        }
        m.cells += i == m.cells;
        m.cell[i].key = key;
        m.cell[i].field = cells[k].field;
        m.cell[i].value = cells[k].value;
    }
}

/* Comparing */

static void require_record(const gob_records *records, size_t key, const gob_row *row)
{
    size_t count = 0;
    for (size_t i = 0; i < m.cells; i++) {
        if (m.cell[i].key == key) {
            gob_value value = gob_records_value(records, row, m.cell[i].field);
            REQUIRE(same_value(&value, &m.cell[i].value));
            count++;
        }
    }
    REQUIRE(row->shape.count == count);
    for (size_t place = 0; place < count; place++) {
        REQUIRE(find_cell(key, gob_records_field(records, row, place)) != m.cells);
    }
}

static void require_sound(const gob_records *records)
{
    REQUIRE_VALID(gob_records_validate(records, &why), why);
    gob_records_memory memory = gob_records_bytes(records);
    REQUIRE(records->alloc.live == memory.shapes + memory.table + memory.arena);
    REQUIRE(gob_records_count(records) == m.keys);
}

/* Every record is there by its key, and met once by a walk, as by a column of a field. */
static void require_all(const gob_records *records, gob_name field)
{
    gob_scratch scratch;
    gob_value key;
    gob_row row;
    gob_value values[KEYS];
    bool seen[KEYS] = {false};
    size_t at = 0;
    for (size_t i = 0; i < m.keys; i++) {
        REQUIRE(gob_records_find(records, m.key[i], &row));
        require_record(records, i, &row);
    }
    REQUIRE(gob_records_column(records, field, &at, values, KEYS) == m.keys);
    at = 0;
    for (size_t i = 0; i < m.keys; i++) {
        REQUIRE(gob_records_next(records, &at, &key, &row));
        size_t place = find_key(gob_value_bytes(&key, &scratch));
        REQUIRE(place != m.keys && !seen[place]);
        seen[place] = true;
        size_t cell = find_cell(place, field);
        REQUIRE(cell == m.cells ? values[i].kind == GOB_VALUE_NONE
                                : same_value(&values[i], &m.cell[cell].value));
    }
    REQUIRE(!gob_records_next(records, &at, &key, &row));
}

/* Operations */

static void settle(gob_status status, uint64_t stamp)
{
    REQUIRE(status == GOB_OK || status == GOB_NOMEM);
    if (status != GOB_OK) {
        m = before;
        REQUIRE(r.stamp == stamp);
    }
}

/* A key that is there, or a new one. */
static gob_name next_key(script *s)
{
    size_t i = next_byte(s);
    return i < m.keys ? m.key[i] : next_name(s);
}

static size_t draw_cells(script *s, gob_cell *cells, bool removals)
{
    size_t n = next_below(s, EDITS + 1);
    for (size_t i = 0; i < n; i++) {
        cells[i].field = next_name(s);
        cells[i].value = next_value(s);
        if (removals && next_byte(s) % 3 == 1) {
            cells[i].value.kind = GOB_VALUE_NONE;
        }
    }
    return n;
}

static bool has_room(void)
{
    return m.keys < KEYS && m.cells + EDITS <= CELLS;
}

static void edit_one(script *s)
{
    gob_cell cells[EDITS];
    uint64_t stamp = r.stamp;
    gob_name key = next_key(s);
    size_t n = draw_cells(s, cells, true);
    if (has_room()) {
        model_edit(model_key(key), cells, n);
        settle(gob_records_edit(&r, key, cells, n), stamp);
    }
}

static void remove_one(script *s)
{
    gob_name key = next_key(s);
    size_t i = find_key(key);
    uint64_t stamp = r.stamp;
    bool there = i != m.keys;
    if (there) {
        model_remove(i);
    }
    REQUIRE(gob_records_remove(&r, key) == there && (r.stamp != stamp) == there);
}

static void load_many(script *s)
{
    gob_fields stage;
    gob_cell cells[EDITS];
    uint64_t stamp = r.stamp;
    gob_status status = GOB_OK;
    size_t rows = next_below(s, 20);
    bool gives_up = next_byte(s) % 4 == 1;
    gob_records_stage(&r, &stage);
    for (size_t i = 0; i < rows && status == GOB_OK && has_room(); i++) {
        gob_name key = next_key(s);
        size_t n = draw_cells(s, cells, false);
        size_t place = model_key(key);
        model_empty(place);
        model_edit(place, cells, n);
        status = gob_records_put(&r, &stage, key, cells, n);
        REQUIRE(r.stamp == stamp);
    }
    if (status == GOB_OK && !gives_up) {
        status = gob_records_commit(&r, &stage);
    }
    if (status != GOB_OK || gives_up) {
        gob_records_abandon(&r, &stage);
        m = before;
    }
    settle(status, stamp);
}

static void copy(void)
{
    gob_records other;
    gob_records_init(&other, 5);
    gob_alloc_fail_at(&other.alloc, r.alloc.fail_at);
    gob_status status = gob_records_copy(&other, &r);
    gob_alloc_fail_at(&other.alloc, 0);
    if (status == GOB_OK) {
        require_sound(&other);
        require_all(&other, field_pool[0]);
    }
    REQUIRE(status == GOB_OK || (status == GOB_NOMEM && other.alloc.live == 0));
    gob_records_clear(&other);
    REQUIRE(other.alloc.live == 0);
}

static void clear(void)
{
    gob_records_clear(&r);
    REQUIRE(r.alloc.live == 0);
    m.keys = m.cells = 0;
}

static void operate(script *s)
{
    uint8_t code = next_byte(s);
    uint64_t stamp = r.stamp;
    gob_alloc_fail_at(&r.alloc, code >= 128 ? 1 + next_below(s, 24) : 0);
    before = m;
    switch (code % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
        edit_one(s);
        break;
    case 7:
    case 8:
        remove_one(s);
        break;
    case 9:
    case 10:
        load_many(s);
        break;
    case 11:
        settle(gob_records_optimize(&r), stamp);
        REQUIRE(r.stamp == stamp);
        break;
    case 12:
        copy();
        break;
    case 13:
        clear();
        break;
    default:
        require_all(&r, next_name(s));
    }
    gob_alloc_fail_at(&r.alloc, 0);
    require_sound(&r);
    if (code >= 128) {
        require_all(&r, field_pool[0]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    script s = open_script(data, size);
    prepare_entries();
    gob_records_init(&r, next_byte(&s));
    r.rows.narrow_bits = (uint8_t)(next_byte(&s) % 2 == 0 ? GOB_NARROW_BITS : 10);
    m.keys = m.cells = 0;
    for (size_t i = 0; i < OPERATIONS && s.left != 0; i++) {
        operate(&s);
    }
    require_all(&r, field_pool[0]);
    clear();
    return 0;
}
