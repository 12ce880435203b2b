#include "gob_hashmap.h"

#include "gob_check.h"
#include "gob_fields_snapshot.h"

/* As of gob_zset. */
static void check(const gob_hashmap *h)
{
#ifdef GOB_DEBUG
    const char *why = NULL;
    if (h->stamp % (gob_hashmap_count(h) / 1024 + 1) == 0) {
        GOB_ASSERT(gob_hashmap_validate(h, &why));
    }
#endif
    (void)h;
}

/* Forms */

void gob_hashmap_init(gob_hashmap *h, bool encoding, uint32_t max_compact, uint64_t seed)
{
    *h = (gob_hashmap){
        .seed = seed,
        .max_compact = max_compact,
        .encoding = encoding,
        .compact = true,
    };
    gob_alloc_init(&h->alloc);
    gob_blob_init(&h->blob);
}

size_t gob_hashmap_count(const gob_hashmap *h)
{
    return h->compact ? h->blob.count : gob_fields_count(h->fields);
}

static void free_fields(gob_fields *s, gob_alloc *a)
{
    gob_fields_free(s, a);
    gob_free(a, s, sizeof *s);
}

/* Gives the memory of either form back. */
static void free_entries(gob_hashmap *h)
{
    if (h->compact) {
        gob_blob_free(&h->blob, &h->alloc);
    } else {
        free_fields(h->fields, &h->alloc);
        h->compact = true;
        gob_blob_init(&h->blob);
    }
}

void gob_hashmap_clear(gob_hashmap *h)
{
    if (gob_hashmap_count(h) != 0) {
        h->stamp++;
    }
    free_entries(h);
    h->mapped = false;
}

/* The records of a hash, in the form that it has. */
static const uint8_t *next_record(const void *hash, size_t *at, size_t *bytes)
{
    const gob_hashmap *h = hash;
    return h->compact ? gob_blob_next(&h->blob, at, bytes) : gob_fields_next(h->fields, at, bytes);
}

/* The full form of the entries of src, with memory of h. */
static gob_status fields_of(gob_hashmap *h, const gob_hashmap *src, gob_fields **fields)
{
    gob_fields *s = gob_malloc(&h->alloc, sizeof *s);
    if (s == NULL) {
        return GOB_NOMEM;
    }
    gob_fields_init(s, h->seed);
    gob_status status = gob_fields_build(s, &h->alloc, next_record, src);
    if (status != GOB_OK) {
        gob_free(&h->alloc, s, sizeof *s);
        return status;
    }
    *fields = s;
    return GOB_OK;
}

static void take_fields(gob_hashmap *h, gob_fields *s)
{
    free_entries(h);
    h->compact = false;
    h->fields = s;
}

gob_status gob_hashmap_trust(gob_hashmap *h)
{
    return h->compact ? GOB_OK : gob_fields_trust(h->fields, &h->alloc);
}

gob_status gob_hashmap_copy(gob_hashmap *dst, gob_hashmap *src)
{
    GOB_TRY(gob_hashmap_trust(src));
    if (src->compact) {
        dst->seed = src->seed;
        return gob_blob_copy(&dst->blob, &dst->alloc, &src->blob);
    }
    gob_fields *s;
    GOB_TRY(fields_of(dst, src, &s));
    take_fields(dst, s);
    return GOB_OK;
}

/* From the full form into a blob; GOB_TOO_LARGE where that may not be. */
static gob_status shrink(gob_hashmap *h)
{
    gob_blob blob;
    if (gob_hashmap_count(h) > h->max_compact) {
        return GOB_TOO_LARGE;
    }
    gob_blob_init(&blob);
    GOB_TRY(gob_blob_build(&blob, &h->alloc, h->seed, next_record, h));
    free_entries(h);
    h->blob = blob;
    return GOB_OK;
}

gob_status gob_hashmap_optimize(gob_hashmap *h)
{
    if (h->compact) {
        size_t buckets = h->blob.buckets;
        GOB_TRY(gob_blob_optimize(&h->blob, &h->alloc, h->seed));
        h->stamp += h->blob.buckets != buckets;
        return GOB_OK;
    }
    bool moves = h->fields->arena.dead != 0;
    gob_status status = shrink(h);
    if (status == GOB_TOO_LARGE) {
        status = gob_fields_optimize(h->fields, &h->alloc);
    }
    h->stamp += status == GOB_OK && (moves || h->compact);
    check(h);
    return status;
}

/* Reading */

/* The record of a field, or NULL. */
static const uint8_t *find_record(const gob_hashmap *h, const gob_field *f, size_t *bytes)
{
    if (h->compact) {
        gob_place p;
        bool found = gob_blob_find(&h->blob, f, &p);
        *bytes = p.bytes;
        return found ? gob_blob_record(&h->blob, &p) : NULL;
    }
    size_t slot = gob_fields_find(h->fields, f);
    return slot == GOB_NO_SLOT ? NULL : gob_fields_record(h->fields, slot, bytes);
}

static void get_prepared(const gob_hashmap *h, const gob_field *f, gob_value *value)
{
    size_t bytes;
    const uint8_t *record = find_record(h, f, &bytes);
    if (record == NULL) {
        value->kind = GOB_VALUE_NONE;
        return;
    }
    /* Field by field: a copy of the whole would wait for the stores before it. */
    gob_value found = gob_record_value_of(f, record, bytes);
    value->kind = found.kind;
    value->text.at = found.text.at;
    value->text.len = found.text.len;
}

bool gob_hashmap_get(const gob_hashmap *h, gob_name field, gob_value *value)
{
    gob_field f;
    gob_field_of(&f, field, h->encoding, h->seed);
    get_prepared(h, &f, value);
    return value->kind != GOB_VALUE_NONE;
}

/* Fields that are looked up together, and the values that they are to get. */
typedef struct batch {
    size_t n;
    gob_field field[GOB_BATCH];
    gob_coded value[GOB_BATCH];
} batch;

static void warm(const gob_hashmap *h, const batch *b)
{
    if (!h->compact) {
        gob_fields_warm(h->fields, b->field, b->n);
    }
}

/* The fields of rows [from, from + n), their loads under way. */
static void batch_begin(const gob_hashmap *h, const gob_names *fields, size_t from, size_t n,
                        batch *b)
{
    for (b->n = 0; b->n < n; b->n++) {
        gob_field_of(&b->field[b->n], gob_names_at(fields, from + b->n), h->encoding, h->seed);
    }
    warm(h, b);
}

void gob_hashmap_warm(const gob_hashmap *h, const gob_names *fields, size_t from, size_t n)
{
    batch b;
    batch_begin(h, fields, from, n, &b);
}

void gob_hashmap_get_many(const gob_hashmap *h, const gob_names *fields, size_t from, size_t n,
                          gob_value *values)
{
    batch b;
    batch_begin(h, fields, from, n, &b);
    for (size_t i = 0; i < n; i++) {
        get_prepared(h, &b.field[i], &values[i]);
    }
}

static void read_entry(const uint8_t *record, size_t bytes, gob_value *field, gob_value *value)
{
    gob_record r = gob_record_read(record, bytes);
    *field = gob_decode(r.field_kind, r.field);
    *value = gob_decode(r.value_kind, r.value);
}

bool gob_hashmap_next(const gob_hashmap *h, size_t *at, gob_value *field, gob_value *value)
{
    size_t bytes;
    const uint8_t *record = next_record(h, at, &bytes);
    if (record == NULL) {
        return false;
    }
    read_entry(record, bytes, field, value);
    return true;
}

bool gob_hashmap_any(const gob_hashmap *h, gob_value *field, gob_value *value)
{
    size_t at = 0;
    size_t bytes;
    if (h->compact) {
        return gob_hashmap_next(h, &at, field, value);
    }
    size_t slot = gob_fields_any(h->fields, h->stamp);
    if (slot == GOB_NO_SLOT) {
        return false;
    }
    const uint8_t *record = gob_fields_record(h->fields, slot, &bytes);
    read_entry(record, bytes, field, value);
    return true;
}

/* Writing one entry */

static bool has_value(const uint8_t *record, size_t bytes, const gob_coded *value)
{
    gob_record r = gob_record_read(record, bytes);
    return r.value_kind == value->kind && r.value.len == value->bytes.len &&
           gob_same_bytes(r.value.at, value->bytes.at, r.value.len);
}

/* Room is made for the entry in the full form before that takes over. */
static gob_status put_growing(gob_hashmap *h, const gob_field *f, const gob_coded *value)
{
    gob_fields *s;
    GOB_TRY(fields_of(h, h, &s));
    gob_status status = gob_fields_put(s, &h->alloc, f, value, gob_fields_find(s, f));
    if (status == GOB_OK) {
        take_fields(h, s);
    } else {
        free_fields(s, &h->alloc);
    }
    return status;
}

static gob_status put_compact(gob_hashmap *h, const gob_field *f, const gob_coded *value,
                              bool *created)
{
    gob_place p;
    *created = !gob_blob_find(&h->blob, f, &p);
    if (!*created && has_value(gob_blob_record(&h->blob, &p), p.bytes, value)) {
        return GOB_OK;
    }
    gob_status status = GOB_TOO_LARGE;
    if (!*created || h->blob.count < h->max_compact) {
        status = gob_blob_put(&h->blob, &h->alloc, h->seed, f, value, &p);
    }
    if (status == GOB_TOO_LARGE) {
        status = put_growing(h, f, value);
    }
    h->stamp += status == GOB_OK;
    return status;
}

static gob_status put_full(gob_hashmap *h, const gob_field *f, const gob_coded *value,
                           bool *created)
{
    size_t bytes;
    size_t slot = gob_fields_find(h->fields, f);
    *created = slot == GOB_NO_SLOT;
    if (!*created) {
        const uint8_t *record = gob_fields_record(h->fields, slot, &bytes);
        if (has_value(record, bytes, value)) {
            return GOB_OK;
        }
    }
    GOB_TRY(gob_fields_put(h->fields, &h->alloc, f, value, slot));
    h->stamp++;
    return GOB_OK;
}

static gob_status put(gob_hashmap *h, const gob_field *f, const gob_coded *value, bool *created)
{
    return h->compact ? put_compact(h, f, value, created) : put_full(h, f, value, created);
}

void gob_hashmap_settle(gob_hashmap *h)
{
    if (!h->compact && gob_fields_wasteful(h->fields)) {
        (void)gob_fields_optimize(h->fields, &h->alloc);
    }
    check(h);
}

gob_status gob_hashmap_set(gob_hashmap *h, gob_name field, const gob_value *value, bool *created)
{
    gob_field f;
    gob_coded coded;
    gob_field_of(&f, field, h->encoding, h->seed);
    gob_encode(&coded, value, h->encoding);
    uint64_t stamp = h->stamp;
    GOB_TRY(put(h, &f, &coded, created));
    if (h->stamp != stamp) {
        gob_hashmap_settle(h);
    }
    return GOB_OK;
}

static bool erase(gob_hashmap *h, const gob_field *f)
{
    if (h->compact) {
        gob_place p;
        if (!gob_blob_find(&h->blob, f, &p)) {
            return false;
        }
        gob_blob_remove(&h->blob, &h->alloc, h->seed, &p);
    } else {
        size_t slot = gob_fields_find(h->fields, f);
        if (slot == GOB_NO_SLOT) {
            return false;
        }
        gob_fields_remove(h->fields, &h->alloc, slot);
    }
    h->stamp++;
    return true;
}

bool gob_hashmap_remove(gob_hashmap *h, gob_name field)
{
    gob_field f;
    gob_field_of(&f, field, h->encoding, h->seed);
    bool there = erase(h, &f);
    if (there) {
        gob_hashmap_settle(h);
    }
    return there;
}

void gob_hashmap_erase_many(gob_hashmap *h, const gob_names *fields, size_t from, size_t n,
                            bool *there)
{
    batch b;
    batch_begin(h, fields, from, n, &b);
    for (size_t i = 0; i < n; i++) {
        there[i] = erase(h, &b.field[i]);
    }
}

/* Writing many */

/* Entries to come, from columns or from another hash. */
typedef struct rows {
    const gob_names *fields;
    const gob_value *values;
    const gob_hashmap *from; /* NULL: the columns */
    size_t n;
    size_t at;      /* the next row, or as of next_record */
    size_t end;     /* of the columns */
    gob_pace *pace; /* NULL where rows that are in can't be taken out again */
} rows;

static bool next_row(rows *r, const gob_hashmap *h, gob_field *f, gob_coded *value)
{
    if (r->from != NULL) {
        size_t bytes;
        const uint8_t *record = next_record(r->from, &r->at, &bytes);
        if (record == NULL) {
            return false;
        }
        gob_record_field(f, record, bytes, h->seed);
        gob_record_value(value, record, bytes);
        return true;
    }
    if (r->at == r->end) {
        return false;
    }
    gob_field_of(f, gob_names_at(r->fields, r->at), h->encoding, h->seed);
    gob_encode(value, &r->values[r->at++], h->encoding);
    return true;
}

/* The next rows, their loads under way; false at the end. */
static bool next_batch(rows *r, const gob_hashmap *h, batch *b)
{
    for (b->n = 0; b->n < GOB_BATCH && next_row(r, h, &b->field[b->n], &b->value[b->n]); b->n++) {
    }
    warm(h, b);
    return b->n != 0;
}

/* What the full form needs before no row can fail any more. Rows that repeat a new field count
 * each; and once a row changes a record's length, a later one that seems to fit may not. */
static gob_status reserve_rows(gob_hashmap *h, rows r)
{
    batch b;
    size_t entries = 0;
    size_t added = 0;
    size_t total = 0;
    bool resizes = false;
    while (next_batch(&r, h, &b)) {
        for (size_t i = 0; i < b.n; i++) {
            size_t old;
            size_t bytes = gob_record_bytes(&b.field[i], &b.value[i]);
            bool found = find_record(h, &b.field[i], &old) != NULL;
            if (bytes > INT32_MAX) {
                return GOB_TOO_LARGE;
            }
            entries += !found;
            added += found ? 0 : gob_fields_bytes_for(bytes);
            total += gob_fields_bytes_for(bytes);
            resizes = resizes || (found && old != bytes);
        }
        GOB_TRY(gob_spend(h->alloc.pace, b.n));
    }
    return gob_fields_reserve(h->fields, &h->alloc, entries, resizes ? total : added);
}

static gob_status put_rows(gob_hashmap *h, rows r, size_t *created)
{
    batch b;
    while (next_batch(&r, h, &b)) {
        for (size_t i = 0; i < b.n; i++) {
            bool new;
            GOB_TRY(put(h, &b.field[i], &b.value[i], &new));
            *created += new;
        }
        GOB_TRY(gob_spend(r.pace, b.n));
    }
    return GOB_OK;
}

static gob_status put_rows_full(gob_hashmap *h, rows r, size_t *created)
{
    GOB_TRY(reserve_rows(h, r));
    return put_rows(h, r, created);
}

/* Many rows go through the full form, as a blob is written anew for each new field. */
static gob_status stage(gob_hashmap *staged, const gob_hashmap *h, rows r, size_t *created)
{
    r.pace = h->alloc.pace;
    if (h->compact && (r.n < 4 || r.n <= h->blob.count / 16U)) {
        GOB_TRY(gob_blob_copy(&staged->blob, &staged->alloc, &h->blob));
        return put_rows(staged, r, created);
    }
    gob_fields *s;
    GOB_TRY(fields_of(staged, h, &s));
    take_fields(staged, s);
    GOB_TRY(put_rows_full(staged, r, created));
    gob_status status = h->compact ? shrink(staged) : GOB_OK;
    return status == GOB_TOO_LARGE ? GOB_OK : status;
}

/* Into a copy, which takes over once all rows are in. */
static gob_status put_rows_aside(gob_hashmap *h, rows r, size_t *created)
{
    gob_hashmap staged = *h;
    staged.alloc.live = 0;
    staged.compact = true;
    gob_blob_init(&staged.blob);
    gob_status status = stage(&staged, h, r, created);
    gob_alloc_fail_at(&h->alloc, staged.alloc.fail_at);
    if (status != GOB_OK || staged.stamp == h->stamp) {
        free_entries(&staged);
        return status;
    }
    free_entries(h);
    *h = staged;
    return GOB_OK;
}

/* The compact form always; the full one where that costs little beside the rows, which can then
 * stop. In place they can't. */
static bool goes_aside(const gob_hashmap *h, const rows *r)
{
    return h->compact || (r->n > GOB_ASIDE && r->n >= gob_fields_count(h->fields) / 2);
}

static gob_status set_rows(gob_hashmap *h, rows r, size_t *created)
{
    size_t count = 0;
    GOB_TRY(goes_aside(h, &r) ? put_rows_aside(h, r, &count) : put_rows_full(h, r, &count));
    gob_hashmap_settle(h);
    *created = count;
    return GOB_OK;
}

gob_status gob_hashmap_set_many(gob_hashmap *h, const gob_names *fields, const gob_value *values,
                                size_t from, size_t n, size_t *created)
{
    rows r = {.fields = fields, .values = values, .n = n, .at = from, .end = from + n};
    return set_rows(h, r, created);
}

gob_status gob_hashmap_update(gob_hashmap *h, const gob_hashmap *from, size_t *created)
{
    return set_rows(h, (rows){.from = from, .n = gob_hashmap_count(from)}, created);
}

void gob_hashmap_take(gob_hashmap *h, gob_hashmap *from)
{
    uint64_t stamp = h->stamp + (gob_hashmap_count(from) != 0);
    gob_alloc own = h->alloc;
    free_entries(h);
    *h = *from;
    h->stamp = stamp;
    h->alloc.pace = own.pace;
    gob_alloc_fail_at(&h->alloc, own.fail_at);
    gob_hashmap_init(from, from->encoding, from->max_compact, from->seed);
    check(h);
}

/* Looking at everything */

gob_hashmap_memory gob_hashmap_bytes(const gob_hashmap *h)
{
    if (h->compact) {
        return (gob_hashmap_memory){.blob = h->blob.size};
    }
    return (gob_hashmap_memory){
        .table = sizeof *h->fields + gob_table_bytes(&h->fields->table),
        .arena = gob_arena_bytes(&h->fields->arena),
    };
}

bool gob_hashmap_validate(const gob_hashmap *h, const char **why)
{
    gob_hashmap_memory m = gob_hashmap_bytes(h);
    GOB_DEMAND(m.blob + m.table + m.arena == h->alloc.live, "hashmap: live bytes");
    if (!h->compact) {
        GOB_DEMAND(h->fields->table.seed == h->seed, "hashmap: seed");
        return gob_fields_validate(h->fields, why);
    }
    GOB_DEMAND(h->blob.count <= h->max_compact, "hashmap: a blob of too many fields");
    return gob_blob_validate(&h->blob, h->seed, why);
}
