#include "gob_records_snapshot.h"

#include "gob_check.h"

#include <stdlib.h>

typedef struct options {
    uint8_t key; /* gob_datum_kind */
    uint8_t field;
    uint8_t value;
    uint8_t unused;
    uint32_t names;
    uint32_t shapes;
    uint32_t unused_too;
    uint64_t count;
} options;

/* A shape in a file; its fields' numbers follow, of four bytes each. */
typedef struct shape_head {
    uint32_t fields;
    uint32_t records[2]; /* that have it; the low half first */
} shape_head;

_Static_assert(sizeof(options) == 24 && sizeof(shape_head) == 12, "they are the same everywhere");

/* Numbers for a file */

/* A field of a shape in the file's order. */
typedef struct place {
    uint32_t field; /* its number there */
    uint32_t from;  /* its place here */
} place;

typedef struct ranked_name {
    gob_name name;
    uint32_t number; /* here */
} ranked_name;

typedef struct ranked_shape {
    const place *places;
    size_t count;
    uint32_t number; /* here */
} ranked_shape;

typedef struct ranking {
    const gob_records *r;
    void *memory;
    size_t size;
    gob_part *parts;    /* of a row here, and then of that row there */
    ranked_name *names; /* those in use, in their order; so shapes */
    ranked_shape *shapes;
    place *places;
    uint32_t *name_rank; /* by number */
    uint32_t *shape_rank;
    uint8_t *row; /* a record as it is written */
    uint32_t name_count;
    uint32_t shape_count;
} ranking;

typedef struct extent {
    size_t places; /* of all shapes */
    size_t widest; /* the most that a shape has */
} extent;

static extent measure(const gob_shapes *s)
{
    extent e = {0};
    for (uint32_t i = 0; i < s->shapes.count; i++) {
        if (s->shapes.items[i].uses != 0) {
            size_t count = gob_shapes_at(s, i).count;
            e.places += count;
            e.widest = count > e.widest ? count : e.widest;
        }
    }
    return e;
}

/* Bytes of the longest record, whose shape may get a longer number. */
static size_t longest_record(const gob_fields *rows)
{
    size_t longest = 0;
    size_t bytes;
    for (size_t at = 0; gob_fields_next(rows, &at, &bytes) != NULL;) {
        longest = bytes > longest ? bytes : longest;
    }
    return longest + gob_length_bytes(INT32_MAX) - 1;
}

/* One block for all parts, those of the widest types first. */
static gob_status begin_ranking(ranking *k, gob_records *r)
{
    extent e = measure(&r->shapes);
    size_t longest = longest_record(&r->rows);
    size_t names = r->shapes.names.count;
    size_t shapes = r->shapes.shapes.count;
    if (longest > INT32_MAX) {
        return GOB_TOO_LARGE;
    }
    size_t size = 2 * e.widest * sizeof *k->parts + names * (sizeof *k->names + 4) +
                  shapes * (sizeof *k->shapes + 4) + e.places * sizeof *k->places + longest;
    void *memory = gob_malloc(&r->alloc, size);
    if (memory == NULL) {
        return GOB_NOMEM;
    }
    *k = (ranking){.r = r, .memory = memory, .size = size, .parts = memory};
    k->names = (void *)(k->parts + 2 * e.widest);
    k->shapes = (void *)(k->names + names);
    k->places = (void *)(k->shapes + shapes);
    k->name_rank = (void *)(k->places + e.places);
    k->shape_rank = k->name_rank + names;
    k->row = (void *)(k->shape_rank + shapes);
    return GOB_OK;
}

static int compare_names(const void *left, const void *right)
{
    return gob_name_compare(((const ranked_name *)left)->name, ((const ranked_name *)right)->name);
}

static int compare_places(const void *left, const void *right)
{
    uint32_t l = ((const place *)left)->field;
    uint32_t r = ((const place *)right)->field;
    return (l > r) - (l < r);
}

/* By the first field that differs; a shape that is the beginning of another comes before it. */
static int compare_shapes(const void *left, const void *right)
{
    const ranked_shape *l = left;
    const ranked_shape *r = right;
    for (size_t i = 0; i < l->count && i < r->count; i++) {
        int order = compare_places(&l->places[i], &r->places[i]);
        if (order != 0) {
            return order;
        }
    }
    return (l->count > r->count) - (l->count < r->count);
}

static void rank_names(ranking *k)
{
    const gob_intern *names = &k->r->shapes.names;
    for (uint32_t i = 0; i < names->count; i++) {
        if (names->items[i].uses != 0) {
            k->names[k->name_count++] = (ranked_name){gob_intern_at(names, i), i};
        }
    }
    qsort(k->names, k->name_count, sizeof *k->names, compare_names);
    for (uint32_t i = 0; i < k->name_count; i++) {
        k->name_rank[k->names[i].number] = i;
    }
}

static void rank_shapes(ranking *k)
{
    const gob_intern *shapes = &k->r->shapes.shapes;
    place *places = k->places;
    for (uint32_t i = 0; i < shapes->count; i++) {
        if (shapes->items[i].uses == 0) {
            continue;
        }
        gob_shape shape = gob_shapes_at(&k->r->shapes, i);
        for (uint32_t from = 0; from < shape.count; from++) {
            places[from] = (place){k->name_rank[shape.fields[from]], from};
        }
        qsort(places, shape.count, sizeof *places, compare_places);
        k->shapes[k->shape_count++] = (ranked_shape){places, shape.count, i};
        places += shape.count;
    }
    qsort(k->shapes, k->shape_count, sizeof *k->shapes, compare_shapes);
    for (uint32_t i = 0; i < k->shape_count; i++) {
        k->shape_rank[k->shapes[i].number] = i;
    }
}

/* Writing */

static size_t written_bytes(const void *context, const uint8_t *at, size_t bytes)
{
    const ranking *k = context;
    size_t number;
    (void)gob_length_read(gob_record_read(at, bytes).value.at, &number);
    return bytes - gob_length_bytes(number) + gob_length_bytes(k->shape_rank[number]);
}

/* The key stays; the values come in the order that their fields have in the file. */
static const uint8_t *written_record(const void *context, const uint8_t *at, size_t bytes)
{
    const ranking *k = context;
    gob_record record = gob_record_read(at, bytes);
    gob_row row = gob_row_read(&k->r->shapes, record.value);
    uint32_t rank = k->shape_rank[row.number];
    const ranked_shape *shape = &k->shapes[rank];
    gob_part *parts = k->parts + shape->count;
    size_t key = (size_t)(record.value.at - at);
    gob_row_parts(&row, k->parts);
    for (size_t i = 0; i < shape->count; i++) {
        parts[i] = k->parts[shape->places[i].from];
    }
    memcpy(k->row, at, key);
    gob_row_write(k->row + key, rank, parts, shape->count);
    return k->row;
}

static gob_status write_options(const ranking *k, gob_records_kinds kinds, gob_writer *w)
{
    options o = {
        .key = kinds.key,
        .field = kinds.field,
        .value = kinds.value,
        .names = k->name_count,
        .shapes = k->shape_count,
        .count = gob_records_count(k->r),
    };
    GOB_TRY(gob_writer_section(w, GOB_SECTION_OPTIONS));
    return gob_write(w, &o, sizeof o);
}

static gob_status write_names(const ranking *k, gob_writer *w)
{
    GOB_TRY(gob_writer_section(w, GOB_SECTION_NAMES));
    for (uint32_t i = 0; i < k->name_count; i++) {
        uint8_t length[8];
        gob_name name = k->names[i].name;
        GOB_TRY(gob_write(w, length, (size_t)(gob_length_write(length, name.len) - length)));
        GOB_TRY(gob_write(w, name.at, name.len));
    }
    return GOB_OK;
}

static gob_status write_shapes(const ranking *k, gob_writer *w)
{
    GOB_TRY(gob_writer_section(w, GOB_SECTION_SHAPES));
    for (uint32_t i = 0; i < k->shape_count; i++) {
        const ranked_shape *shape = &k->shapes[i];
        uint64_t uses = k->r->shapes.shapes.items[shape->number].uses;
        shape_head head = {(uint32_t)shape->count, {(uint32_t)uses, (uint32_t)(uses >> 32)}};
        GOB_TRY(gob_write(w, &head, sizeof head));
        for (size_t n = 0; n < shape->count; n++) {
            GOB_TRY(gob_write(w, &shape->places[n].field, sizeof shape->places[n].field));
        }
    }
    return GOB_OK;
}

static gob_status write_all(const ranking *k, gob_alloc *a, gob_records_kinds kinds, gob_writer *w)
{
    gob_rewriting rewriting = {written_bytes, written_record, k};
    GOB_TRY(write_options(k, kinds, w));
    if (gob_records_count(k->r) != 0) {
        GOB_TRY(gob_fields_save(&k->r->rows, a, &rewriting, true, w));
        GOB_TRY(write_names(k, w));
        GOB_TRY(write_shapes(k, w));
    }
    return gob_writer_end(w);
}

gob_status gob_records_save(gob_records *r, gob_records_kinds kinds, gob_sink *sink, void *to)
{
    ranking k;
    gob_writer w;
    GOB_TRY(gob_records_trust(r));
    GOB_TRY(gob_writer_begin(&w, GOB_SNAPSHOT_HASH_TABLE, sink, to));
    GOB_TRY(begin_ranking(&k, r));
    rank_names(&k);
    rank_shapes(&k);
    gob_status status = write_all(&k, &r->alloc, kinds, &w);
    gob_free(&r->alloc, k.memory, k.size);
    return status;
}

/* Reading */

static gob_status read_options(const gob_reader *reader, options *o, const char **why)
{
    gob_span file = gob_reader_section(reader, GOB_SECTION_OPTIONS);
    GOB_EXPECT(reader->kind == GOB_SNAPSHOT_HASH_TABLE, gob_reader_what(reader));
    GOB_EXPECT(file.size == sizeof *o && gob_reader_is_sound(reader, GOB_SECTION_OPTIONS),
               "options");
    memcpy(o, file.at, sizeof *o);
    GOB_EXPECT(gob_datum_is_text(o->key) && gob_datum_is_text(o->field), "kind of keys or fields");
    GOB_EXPECT(o->value >= GOB_DATUM_STR && o->value <= GOB_DATUM_FLOAT64, "kind of values");
    GOB_EXPECT(o->unused == 0 && o->unused_too == 0, "options");
    uint32_t sections = 1 << GOB_SECTION_OPTIONS;
    if (o->count != 0) {
        sections |= 1 << GOB_SECTION_TABLE | 1 << GOB_SECTION_ARENA | 1 << GOB_SECTION_NAMES |
                    1 << GOB_SECTION_SHAPES;
    }
    GOB_EXPECT(gob_reader_has_only(reader, sections), "sections");
    return GOB_OK;
}

/* Each gets its rank as its number, and one use. */
static gob_status load_names(gob_records *r, const gob_reader *reader, uint32_t count,
                             unsigned kind, const char **why)
{
    gob_span file = gob_reader_section(reader, GOB_SECTION_NAMES);
    const uint8_t *at = file.at;
    const uint8_t *end = at + file.size;
    gob_name last = {0};
    for (uint32_t i = 0; i < count; i++) {
        gob_name name;
        uint32_t number;
        name.at = gob_length_parse(at, end, &name.len);
        GOB_EXPECT(name.at != NULL && name.len <= (size_t)(end - name.at), "length of a name");
        GOB_EXPECT(i == 0 || gob_name_compare(last, name) < 0, "order of names");
        GOB_EXPECT(gob_datum_is_sound((gob_datum_kind)kind, GOB_VALUE_TEXT, name, false),
                   "a field that is none of its kind, or no UTF-8");
        GOB_TRY(gob_spend(r->alloc.pace, 1));
        GOB_TRY(gob_intern_hold(&r->shapes.names, &r->alloc, name, &number));
        last = name;
        at = name.at + name.len;
    }
    GOB_EXPECT(at == end, "bytes behind the last name");
    return GOB_OK;
}

static int compare_fields(gob_shape l, gob_shape r)
{
    for (size_t i = 0; i < l.count && i < r.count; i++) {
        if (l.fields[i] != r.fields[i]) {
            return l.fields[i] < r.fields[i] ? -1 : 1;
        }
    }
    return (l.count > r.count) - (l.count < r.count);
}

static bool ascends(gob_shape shape, uint32_t names)
{
    for (size_t i = 0; i < shape.count; i++) {
        if (shape.fields[i] >= names || (i != 0 && shape.fields[i] <= shape.fields[i - 1])) {
            return false;
        }
    }
    return true;
}

/* The same for shapes, each with the uses that the file says. */
static gob_status load_shapes(gob_records *r, const gob_reader *reader, const options *o,
                              const char **why)
{
    gob_span file = gob_reader_section(reader, GOB_SECTION_SHAPES);
    gob_shape last = {0};
    uint64_t left = o->count;
    for (uint32_t i = 0; i < o->shapes; i++) {
        shape_head head;
        uint32_t number;
        GOB_EXPECT(file.size >= sizeof head, "shapes");
        memcpy(&head, file.at, sizeof head);
        GOB_EXPECT(head.fields <= (file.size - sizeof head) / sizeof(uint32_t), "shapes");
        const void *fields = file.at + sizeof head;
        gob_shape shape = {fields, head.fields};
        GOB_EXPECT(ascends(shape, o->names), "fields of a shape");
        GOB_EXPECT(i == 0 || compare_fields(last, shape) < 0, "order of shapes");
        uint64_t uses = head.records[0] | (uint64_t)head.records[1] << 32;
        GOB_EXPECT(uses != 0 && uses <= left, "records of a shape");
        GOB_TRY(gob_spend(r->alloc.pace, 1));
        GOB_TRY(gob_shapes_hold(&r->shapes, &r->alloc, shape.fields, shape.count, &number));
        r->shapes.shapes.items[number].uses = uses;
        left -= uses;
        last = shape;
        file.at += sizeof head + shape.count * sizeof(uint32_t);
        file.size -= sizeof head + shape.count * sizeof(uint32_t);
    }
    GOB_EXPECT(left == 0 && file.size == 0, "shapes of all records");
    return GOB_OK;
}

static gob_status load_all_shapes(gob_records *r, const options *o, const gob_reader *reader,
                                  const char **why)
{
    GOB_EXPECT(gob_reader_is_sound(reader, GOB_SECTION_NAMES) &&
                   gob_reader_is_sound(reader, GOB_SECTION_SHAPES),
               "checksum of its names or shapes");
    GOB_TRY(load_names(r, reader, o->names, o->field, why));
    GOB_TRY(load_shapes(r, reader, o, why));
    for (uint32_t i = 0; i < o->names; i++) {
        GOB_EXPECT(r->shapes.names.items[i].uses > 1, "a name that no shape has");
        r->shapes.names.items[i].uses--;
    }
    /* Numbers have no gaps, so these stay: it takes room away. */
    gob_shapes_packing packing;
    GOB_TRY(gob_shapes_pack(&r->shapes, &r->alloc, &packing));
    gob_shapes_take(&r->shapes, &r->alloc, &packing);
    return GOB_OK;
}

/* What rows are checked with: of what kinds they are, and how many have a shape. */
typedef struct checking {
    const gob_records *r;
    gob_records_kinds kinds;
    uint64_t *uses;
} checking;

static gob_status check_record(const checking *c, const uint8_t *at, size_t bytes, const char **why)
{
    gob_record record = gob_record_read(at, bytes);
    GOB_EXPECT(
        gob_datum_is_sound((gob_datum_kind)c->kinds.key, record.field_kind, record.field, true),
        "a key that is none of its kind, or no UTF-8");
    GOB_EXPECT(record.value_kind == GOB_VALUE_TEXT, "kind of a row");
    GOB_EXPECT(gob_row_validate(&c->r->shapes, record.value, why), *why);
    gob_row row = gob_row_read(&c->r->shapes, record.value);
    GOB_EXPECT(gob_row_holds(&row, (gob_datum_kind)c->kinds.value),
               "a value that is none of its kind, or no UTF-8");
    c->uses[row.number]++;
    return GOB_OK;
}

static gob_status check_rows(const checking *c, const gob_fields *view, const char **why)
{
    size_t bytes;
    const uint8_t *record;
    for (size_t at = 0; (record = gob_fields_next(view, &at, &bytes)) != NULL;) {
        GOB_TRY(gob_spend(c->r->alloc.pace, 1));
        GOB_TRY(check_record(c, record, bytes, why));
    }
    for (uint32_t n = 0; n < c->r->shapes.shapes.count; n++) {
        GOB_EXPECT(c->uses[n] == c->r->shapes.shapes.items[n].uses, "records of a shape");
    }
    return GOB_OK;
}

static gob_status check(gob_records *r, gob_records_kinds kinds, const gob_fields *view,
                        const char **why)
{
    GOB_TRY(gob_fields_check(view, &r->alloc, why));
    size_t size = r->shapes.shapes.count * sizeof(uint64_t);
    if (size == 0) {
        return GOB_OK;
    }
    uint64_t *uses = gob_calloc(&r->alloc, size);
    if (uses == NULL) {
        return GOB_NOMEM;
    }
    checking c = {r, kinds, uses};
    gob_status status = check_rows(&c, view, why);
    gob_free(&r->alloc, uses, size);
    return status;
}

gob_status gob_records_trust(gob_records *r)
{
    const char *why;
    gob_fields view = r->rows;
    gob_records_kinds kinds = {.key = view.doubt.key, .value = r->values};
    if (view.doubt.on) {
        view.doubt.on = false;
        GOB_TRY(check(r, kinds, &view, &why));
        r->rows.doubt.on = false;
    }
    return GOB_OK;
}

static gob_status load(gob_records *r, const options *o, const gob_reader *reader, bool mapped,
                       const char **why)
{
    gob_fields view;
    GOB_TRY(gob_fields_view(&view, reader, (size_t)o->count, true, why));
    GOB_TRY(load_all_shapes(r, o, reader, why));
    if (gob_reader_checks(reader, mapped)) {
        GOB_TRY(gob_reader_check_all(reader, why));
        GOB_TRY(check(r, (gob_records_kinds){o->key, o->field, o->value}, &view, why));
    } else {
        view.doubt = (gob_doubt){true, o->key, GOB_DATUM_BYTES, true, false};
        r->values = o->value;
    }
    if (mapped) {
        gob_fields_map(&r->rows, &r->alloc, &view);
        return GOB_OK;
    }
    GOB_TRY(gob_fields_build(&r->rows, &r->alloc, gob_fields_next, &view));
    GOB_ASSERT(gob_records_validate(r, why));
    return GOB_OK;
}

gob_status gob_records_load(gob_records *r, gob_records_kinds *kinds, const gob_reader *reader,
                            uint64_t seed, bool mapped, const char **why)
{
    options o;
    gob_records_init(r, seed);
    r->alloc.pace = reader->pace;
    GOB_TRY(read_options(reader, &o, why));
    *kinds = (gob_records_kinds){o.key, o.field, o.value};
    gob_status status = load(r, &o, reader, mapped, why);
    if (status != GOB_OK) {
        gob_records_clear(r);
    }
    return status;
}
