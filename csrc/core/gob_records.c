#include "gob_records.h"

#include <stdlib.h>

#include "gob_check.h"

/* As of gob_zset. */
static void check(const gob_records *r)
{
#ifdef GOB_DEBUG
    const char *why = NULL;
    if (r->stamp % (gob_records_count(r) / 1024 + 1) == 0) {
        GOB_ASSERT(gob_records_validate(r, &why));
    }
#endif
    (void)r;
}

/* Reading */

/* What lies in a file that has not been looked through may be no row: then one without fields. */
static gob_row doubted_row(const gob_records *r, gob_name bytes)
{
    const char *why;
    if (gob_row_validate(&r->shapes, bytes, &why)) {
        gob_row row = gob_row_read(&r->shapes, bytes);
        if (gob_row_holds(&row, (gob_datum_kind)r->values)) {
            return row;
        }
    }
    return (gob_row){.number = GOB_NO_NUMBER};
}

static gob_row row_of(const gob_records *r, gob_name bytes)
{
    return GOB_UNLIKELY(r->rows.doubt.on) ? doubted_row(r, bytes) : gob_row_read(&r->shapes, bytes);
}

static gob_name bytes_in(const gob_fields *rows, size_t slot)
{
    size_t bytes;
    const uint8_t *record = gob_fields_record(rows, slot, &bytes);
    return gob_record_read(record, bytes).value;
}

bool gob_records_find(const gob_records *r, gob_name key, gob_row *row)
{
    gob_field f;
    gob_field_of(&f, key, true, r->rows.table.seed);
    size_t slot = gob_fields_find(&r->rows, &f);
    if (slot == GOB_NO_SLOT) {
        return false;
    }
    *row = row_of(r, bytes_in(&r->rows, slot));
    return true;
}

gob_value gob_records_value(const gob_records *r, const gob_row *row, gob_name field)
{
    uint32_t number = gob_intern_find(&r->shapes.names, field);
    size_t place = gob_shape_place(row->shape, number);
    return place == GOB_NO_PLACE ? (gob_value){.kind = GOB_VALUE_NONE} : gob_row_value(row, place);
}

gob_name gob_records_field(const gob_records *r, const gob_row *row, size_t place)
{
    return gob_intern_at(&r->shapes.names, row->shape.fields[place]);
}

bool gob_records_next(const gob_records *r, size_t *at, gob_value *key, gob_row *row)
{
    size_t bytes;
    const uint8_t *at_record = gob_fields_next(&r->rows, at, &bytes);
    if (at_record == NULL) {
        return false;
    }
    gob_record record = gob_record_read(at_record, bytes);
    *key = gob_decode(record.field_kind, record.field);
    *row = row_of(r, record.value);
    return true;
}

bool gob_records_any(const gob_records *r, gob_value *key)
{
    size_t bytes;
    size_t slot = gob_fields_any(&r->rows, r->stamp);
    if (slot == GOB_NO_SLOT) {
        return false;
    }
    const uint8_t *at_record = gob_fields_record(&r->rows, slot, &bytes);
    gob_record record = gob_record_read(at_record, bytes);
    *key = gob_decode(record.field_kind, record.field);
    return true;
}

size_t gob_records_column(const gob_records *r, gob_name field, size_t *at, gob_value *values,
                          size_t n)
{
    uint32_t number = gob_intern_find(&r->shapes.names, field);
    uint32_t shape = GOB_NO_NUMBER; /* whose place is known */
    size_t place = GOB_NO_PLACE;
    size_t filled = 0;
    gob_value key;
    gob_row row;
    for (; filled < n && gob_records_next(r, at, &key, &row); filled++) {
        if (row.number != shape) {
            shape = row.number;
            place = gob_shape_place(row.shape, number);
        }
        values[filled] = place == GOB_NO_PLACE ? (gob_value){.kind = GOB_VALUE_NONE}
                                               : gob_row_value(&row, place);
    }
    return filled;
}

/* A new row for a record, in the making: of the parts that it has now, and of those of the cells */

typedef struct draft {
    void *memory;
    size_t size;
    gob_part *parts;
    gob_coded *coded; /* of the cells */
    uint32_t *held;   /* fields of the cells */
    uint32_t *fields; /* of the parts */
    size_t count;     /* parts */
    size_t new_count; /* cells that are held */
} draft;

static gob_status begin_draft(draft *d, gob_alloc *a, size_t old, size_t cells)
{
    if (old + cells > SIZE_MAX / 256) {
        return GOB_NOMEM;
    }
    size_t parts = (old + cells) * sizeof(gob_part);
    size_t coded = cells * sizeof(gob_coded);
    *d = (draft){.size = parts + coded + (old + 2 * cells) * sizeof(uint32_t)};
    if (d->size == 0) {
        return GOB_OK;
    }
    uint8_t *memory = gob_malloc(a, d->size);
    if (memory == NULL) {
        return GOB_NOMEM;
    }
    d->memory = memory;
    d->parts = d->memory;
    d->coded = (gob_coded *)(void *)(memory + parts);
    d->held = (uint32_t *)(void *)(memory + parts + coded);
    d->fields = d->held + cells;
    return GOB_OK;
}

static void end_draft(draft *d, gob_records *r)
{
    for (size_t i = 0; i < d->new_count; i++) {
        (void)gob_intern_drop(&r->shapes.names, &r->alloc, d->held[i]);
    }
    gob_free(&r->alloc, d->memory, d->size);
}

static gob_status add_cells(draft *d, gob_records *r, const gob_cell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gob_part *part = &d->parts[d->count];
        GOB_TRY(
            gob_intern_hold(&r->shapes.names, &r->alloc, cells[i].field, &d->held[d->new_count]));
        *part = (gob_part){.field = d->held[d->new_count++], .kind = GOB_VALUE_NONE};
        if (cells[i].value.kind != GOB_VALUE_NONE) {
            gob_encode(&d->coded[i], &cells[i].value, true);
            part->kind = d->coded[i].kind;
            part->bytes = d->coded[i].bytes;
        }
        d->count++;
    }
    return GOB_OK;
}

/* By field, and of one field in the order that they came, which their addresses keep: sorted are
 * pointers. */
static int compare_parts(const void *left, const void *right)
{
    const gob_part *l = *(const gob_part *const *)left;
    const gob_part *r = *(const gob_part *const *)right;
    return l->field != r->field ? (l->field > r->field) - (l->field < r->field) : (l > r) - (l < r);
}

static bool ascends(const draft *d)
{
    bool ascending = true;
    for (size_t i = 1; i < d->count && ascending; i++) {
        ascending = d->parts[i - 1].field < d->parts[i].field;
    }
    return ascending;
}

/* Moves the part of one cell to its place behind the others of its field, which are sorted. */
static void insert_last(draft *d)
{
    gob_part last = d->parts[d->count - 1];
    size_t at = d->count - 1;
    for (; at > 0 && d->parts[at - 1].field > last.field; at--) {
        d->parts[at] = d->parts[at - 1];
    }
    d->parts[at] = last;
}

static gob_status sort_parts(draft *d, gob_alloc *a)
{
    if (d->new_count == 1) {
        insert_last(d);
        return GOB_OK;
    }
    if (ascends(d)) {
        return GOB_OK;
    }
    size_t size = d->count * (sizeof(gob_part *) + sizeof(gob_part));
    const gob_part **order = gob_malloc(a, size);
    if (order == NULL) {
        return GOB_NOMEM;
    }
    gob_part *sorted = (gob_part *)(void *)(order + d->count);
    for (size_t i = 0; i < d->count; i++) {
        order[i] = &d->parts[i];
    }
    qsort(order, d->count, sizeof(gob_part *), compare_parts);
    for (size_t i = 0; i < d->count; i++) {
        sorted[i] = *order[i];
    }
    memcpy(d->parts, sorted, d->count * sizeof(gob_part));
    gob_free(a, order, size);
    return GOB_OK;
}

/* The last part of each field stays, unless that is to go. */
static void settle_parts(draft *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->count; i++) {
        bool last = i + 1 == d->count || d->parts[i].field != d->parts[i + 1].field;
        if (last && d->parts[i].kind != GOB_VALUE_NONE) {
            d->parts[kept] = d->parts[i];
            d->fields[kept++] = d->parts[i].field;
        }
    }
    d->count = kept;
}

/* Writing */

typedef struct target {
    gob_records *r;
    gob_fields *rows; /* its own, or a stage */
    gob_field key;
    size_t slot;
    gob_name old; /* bytes of the row that is there */
} target;

static void find_target(target *t, gob_records *r, gob_fields *rows, gob_name key)
{
    t->r = r;
    t->rows = rows;
    gob_field_of(&t->key, key, true, rows->table.seed);
    t->slot = gob_fields_find(rows, &t->key);
    t->old = (gob_name){NULL, 0};
    if (t->slot != GOB_NO_SLOT) {
        t->old = bytes_in(rows, t->slot);
    }
}

static uint32_t shape_in(gob_name row)
{
    size_t number;
    (void)gob_length_read(row.at, &number);
    return (uint32_t)number;
}

static bool is_same(const target *t, gob_name bytes)
{
    return bytes.len == t->old.len && memcmp(bytes.at, t->old.at, bytes.len) == 0;
}

/* Takes over the use of the new row's shape, or on failure does not. */
static gob_status put_row(target *t, gob_name bytes)
{
    gob_coded value = {.bytes = bytes, .kind = GOB_VALUE_TEXT};
    bool was_there = t->slot != GOB_NO_SLOT;
    uint32_t old_shape = was_there ? shape_in(t->old) : 0;
    if (!is_same(t, bytes)) {
        GOB_TRY(gob_fields_put(t->rows, &t->r->alloc, &t->key, &value, t->slot));
        t->r->stamp += t->rows == &t->r->rows;
    }
    if (was_there) {
        gob_shapes_drop(&t->r->shapes, &t->r->alloc, old_shape);
    }
    return GOB_OK;
}

static gob_status put_parts(target *t, uint32_t shape, const draft *d)
{
    gob_alloc *a = &t->r->alloc;
    size_t len = gob_row_bytes(shape, d->parts, d->count);
    uint8_t *row = gob_malloc(a, len);
    if (row == NULL) {
        return GOB_NOMEM;
    }
    gob_row_write(row, shape, d->parts, d->count);
    gob_status status = put_row(t, (gob_name){row, len});
    gob_free(a, row, len);
    return status;
}

static gob_status finish_draft(draft *d, target *t, const gob_cell *cells, size_t n)
{
    uint32_t shape;
    gob_records *r = t->r;
    GOB_TRY(add_cells(d, r, cells, n));
    GOB_TRY(sort_parts(d, &r->alloc));
    settle_parts(d);
    GOB_TRY(gob_shapes_hold(&r->shapes, &r->alloc, d->fields, d->count, &shape));
    gob_status status = put_parts(t, shape, d);
    if (status != GOB_OK) {
        gob_shapes_drop(&r->shapes, &r->alloc, shape);
    }
    return status;
}

/* The row of the target becomes what it was, unless it is to be replaced, and the cells. */
static gob_status write_row(target *t, const gob_cell *cells, size_t n, bool replace)
{
    bool keeps = !replace && t->slot != GOB_NO_SLOT;
    gob_row old = {0};
    if (keeps) {
        old = gob_row_read(&t->r->shapes, t->old);
    }
    draft d;
    GOB_TRY(begin_draft(&d, &t->r->alloc, old.shape.count, n));
    if (keeps) {
        gob_row_parts(&old, d.parts);
        d.count = old.shape.count;
    }
    gob_status status = finish_draft(&d, t, cells, n);
    end_draft(&d, t->r);
    return status;
}

/* Packing: shapes get numbers without gaps, by which the rows name them */

typedef struct renumbered {
    const gob_fields *rows;
    const uint32_t *numbers; /* new ones of the shapes, none of them larger */
    uint8_t *room;           /* for the longest record */
} renumbered;

static const uint8_t *next_renumbered(const void *source, size_t *at, size_t *bytes)
{
    const renumbered *c = source;
    const uint8_t *record = gob_fields_next(c->rows, at, bytes);
    if (record == NULL) {
        return NULL;
    }
    size_t shape;
    const uint8_t *row = gob_record_read(record, *bytes).value.at;
    const uint8_t *codes = gob_length_read(row, &shape);
    size_t head = (size_t)(row - record);
    size_t tail = *bytes - (size_t)(codes - record);
    memcpy(c->room, record, head);
    uint8_t *to = gob_length_write(c->room + head, c->numbers[shape]);
    memcpy(to, codes, tail);
    *bytes = (size_t)(to - c->room) + tail;
    return c->room;
}

static gob_status longest_record(const gob_records *r, size_t *longest)
{
    size_t bytes;
    *longest = 0;
    for (size_t at = 0; gob_fields_next(&r->rows, &at, &bytes) != NULL;) {
        *longest = bytes > *longest ? bytes : *longest;
        GOB_TRY(gob_spend(r->alloc.pace, 1));
    }
    return GOB_OK;
}

/* The rows with other numbers of their shapes, with room for no more. */
static gob_status renumber_rows(gob_records *r, const uint32_t *numbers, gob_fields *fresh)
{
    gob_records_stage(r, fresh);
    size_t longest;
    GOB_TRY(longest_record(r, &longest));
    if (longest == 0) {
        return GOB_OK;
    }
    renumbered source = {&r->rows, numbers, gob_malloc(&r->alloc, longest)};
    if (source.room == NULL) {
        return GOB_NOMEM;
    }
    gob_status status = gob_fields_build(fresh, &r->alloc, next_renumbered, &source);
    gob_free(&r->alloc, source.room, longest);
    return status;
}

gob_status gob_records_optimize(gob_records *r)
{
    gob_shapes_packing packing;
    gob_fields fresh;
    GOB_TRY(gob_shapes_pack(&r->shapes, &r->alloc, &packing));
    gob_status status = renumber_rows(r, packing.shapes.numbers, &fresh);
    if (status != GOB_OK) {
        gob_shapes_leave(&r->shapes, &r->alloc, &packing);
        return status;
    }
    gob_shapes_take(&r->shapes, &r->alloc, &packing);
    gob_fields_free(&r->rows, &r->alloc);
    r->rows = fresh;
    r->epoch++;
    return GOB_OK;
}

/* Measured by the rows, as these are written anew. */
static bool is_wasteful(const gob_records *r)
{
    return gob_fields_wasteful(&r->rows) ||
           gob_shapes_waste(&r->shapes) > r->rows.arena.used / 2 + 1024;
}

/* The end of each change; a failure to shrink is none. */
static void shrink(gob_records *r)
{
    if (gob_records_count(r) == 0) {
        gob_fields_free(&r->rows, &r->alloc);
    } else if (is_wasteful(r)) {
        (void)gob_records_optimize(r);
    }
    check(r);
}

/* Gives a field that is there another value of the same length; false where it is not that simple.
 */
static bool set_in_place(const target *t, const gob_cell *cell)
{
    gob_records *r = t->r;
    if (t->slot == GOB_NO_SLOT || cell->value.kind == GOB_VALUE_NONE) {
        return false;
    }
    gob_row row = gob_row_read(&r->shapes, t->old);
    size_t place = gob_shape_place(row.shape, gob_intern_find(&r->shapes.names, cell->field));
    if (place == GOB_NO_PLACE) {
        return false;
    }
    gob_coded coded;
    gob_encode(&coded, &cell->value, true);
    gob_part now = gob_row_part(&row, place);
    size_t len = coded.bytes.len;
    if (now.kind != coded.kind || now.bytes.len != len) {
        return false;
    }
    if (len != 0 && memcmp(now.bytes.at, coded.bytes.at, len) != 0) {
        memcpy(r->rows.arena.at + (now.bytes.at - r->rows.arena.at), coded.bytes.at, len);
        r->stamp++;
    }
    return true;
}

gob_status gob_records_edit(gob_records *r, gob_name key, const gob_cell *cells, size_t n)
{
    target t;
    find_target(&t, r, &r->rows, key);
    if (n == 1 && set_in_place(&t, cells)) {
        return GOB_OK;
    }
    GOB_TRY(write_row(&t, cells, n, false));
    shrink(r);
    return GOB_OK;
}

bool gob_records_remove(gob_records *r, gob_name key)
{
    target t;
    find_target(&t, r, &r->rows, key);
    if (t.slot == GOB_NO_SLOT) {
        return false;
    }
    gob_shapes_drop(&r->shapes, &r->alloc, shape_in(t.old));
    gob_fields_remove(&r->rows, &r->alloc, t.slot);
    r->stamp++;
    shrink(r);
    return true;
}

/* Many records */

void gob_records_stage(const gob_records *r, gob_fields *stage)
{
    gob_fields_init(stage, r->rows.table.seed);
    stage->narrow_bits = r->rows.narrow_bits;
}

gob_status gob_records_put(gob_records *r, gob_fields *stage, gob_name key, const gob_cell *cells,
                           size_t n)
{
    target t;
    find_target(&t, r, stage, key);
    return write_row(&t, cells, n, true);
}

/* A row of a stage into room that is there. */
static void move_row(gob_records *r, const gob_field *key, gob_name bytes)
{
    target t = {.r = r, .rows = &r->rows, .key = *key, .slot = gob_fields_find(&r->rows, key)};
    if (t.slot != GOB_NO_SLOT) {
        t.old = bytes_in(&r->rows, t.slot);
    }
    gob_status status = put_row(&t, bytes);
    GOB_ASSERT(status == GOB_OK);
    (void)status;
}

static void move_rows(gob_records *r, const gob_fields *stage)
{
    gob_field keys[GOB_BATCH];
    gob_name rows[GOB_BATCH];
    size_t n;
    size_t at = 0;
    do {
        size_t bytes;
        const uint8_t *record;
        for (n = 0; n < GOB_BATCH && (record = gob_fields_next(stage, &at, &bytes)) != NULL; n++) {
            gob_record_field(&keys[n], record, bytes, r->rows.table.seed);
            rows[n] = gob_record_read(record, bytes).value;
        }
        gob_fields_warm(&r->rows, keys, n);
        for (size_t i = 0; i < n; i++) {
            move_row(r, &keys[i], rows[i]);
        }
    } while (n == GOB_BATCH);
}

gob_status gob_records_commit(gob_records *r, gob_fields *stage)
{
    if (gob_records_count(r) == 0 && gob_fields_count(stage) != 0) {
        gob_fields_free(&r->rows, &r->alloc);
        r->rows = *stage;
        gob_records_stage(r, stage);
        r->stamp++;
        return GOB_OK;
    }
    GOB_TRY(gob_fields_reserve(&r->rows, &r->alloc, gob_fields_count(stage), stage->arena.used));
    move_rows(r, stage);
    gob_fields_free(stage, &r->alloc);
    shrink(r);
    return GOB_OK;
}

void gob_records_abandon(gob_records *r, gob_fields *stage)
{
    size_t bytes;
    const uint8_t *record;
    for (size_t at = 0; (record = gob_fields_next(stage, &at, &bytes)) != NULL;) {
        gob_shapes_drop(&r->shapes, &r->alloc, shape_in(gob_record_read(record, bytes).value));
    }
    gob_fields_free(stage, &r->alloc);
}

/* The whole */

void gob_records_init(gob_records *r, uint64_t seed)
{
    *r = (gob_records){0};
    gob_alloc_init(&r->alloc);
    gob_fields_init(&r->rows, seed);
    gob_shapes_init(&r->shapes, gob_reseed(seed));
}

void gob_records_clear(gob_records *r)
{
    gob_fields_free(&r->rows, &r->alloc);
    gob_shapes_free(&r->shapes, &r->alloc);
    r->stamp++;
}

gob_status gob_records_copy(gob_records *dst, gob_records *src)
{
    GOB_TRY(gob_records_trust(src));
    gob_status status = gob_shapes_copy(&dst->shapes, &dst->alloc, &src->shapes);
    if (status == GOB_OK) {
        status = gob_fields_build(&dst->rows, &dst->alloc, gob_fields_next, &src->rows);
    }
    if (status != GOB_OK) {
        gob_records_clear(dst);
    }
    return status;
}

gob_records_memory gob_records_bytes(const gob_records *r)
{
    return (gob_records_memory){
        .shapes = gob_shapes_bytes(&r->shapes),
        .table = gob_table_bytes(&r->rows.table),
        .arena = gob_arena_bytes(&r->rows.arena),
    };
}

static bool validate_uses(const gob_records *r, uint64_t rows, const char **why)
{
    uint64_t uses = 0;
    for (uint32_t i = 0; i < r->shapes.shapes.count; i++) {
        uses += r->shapes.shapes.items[i].uses;
    }
    GOB_DEMAND(uses == rows, "records: uses of the shapes");
    return true;
}

bool gob_records_validate(const gob_records *r, const char **why)
{
    if (!gob_fields_validate(&r->rows, why) || !gob_shapes_validate(&r->shapes, why)) {
        return false;
    }
    uint64_t rows = 0;
    size_t bytes;
    const uint8_t *at_record;
    for (size_t at = 0; (at_record = gob_fields_next(&r->rows, &at, &bytes)) != NULL; rows++) {
        gob_record record = gob_record_read(at_record, bytes);
        GOB_DEMAND(record.value_kind == GOB_VALUE_TEXT, "records: kind of a row");
        if (!gob_row_validate(&r->shapes, record.value, why)) {
            return false;
        }
    }
    return validate_uses(r, rows, why);
}
