#include "gob_fields.h"

#include "gob_check.h"

/* Records in the arena */

/* A record of the arena, or NULL where there can't be one. */
static const uint8_t *bounded_at(const gob_fields *s, size_t offset, size_t *bytes)
{
    const uint8_t *end = s->arena.at + s->arena.used;
    const uint8_t *record =
        offset < s->arena.used ? gob_length_parse(s->arena.at + offset, end, bytes) : NULL;
    return record != NULL && *bytes <= (size_t)(end - record) ? record : NULL;
}

static __attribute__((noinline)) bool is_sound(const gob_fields *s, const uint8_t *record,
                                               size_t bytes)
{
    const char *why;
    if (!gob_record_validate(record, bytes, &why)) {
        return false;
    }
    gob_record r = gob_record_read(record, bytes);
    const gob_doubt *d = &s->doubt;
    return gob_datum_is_sound((gob_datum_kind)d->key, r.field_kind, r.field, d->encodes_keys) &&
           gob_datum_is_sound((gob_datum_kind)d->value, r.value_kind, r.value, d->encodes_values);
}

static __attribute__((noinline)) const uint8_t *doubted_at(const gob_fields *s, size_t offset,
                                                           size_t *bytes)
{
    static const uint8_t texts[] = {GOB_VALUE_TEXT << GOB_FIELD_BITS | GOB_FIELD_TEXT};
    static const uint8_t ints[2] = {GOB_VALUE_INT << GOB_FIELD_BITS | GOB_FIELD_TEXT};
    static const uint8_t floats[9] = {GOB_VALUE_FLOAT << GOB_FIELD_BITS | GOB_FIELD_TEXT};
    const uint8_t *record = bounded_at(s, offset, bytes);
    if (record != NULL && is_sound(s, record, *bytes)) {
        return record;
    }
    switch ((gob_datum_kind)s->doubt.value) {
    case GOB_DATUM_INT64:
        *bytes = sizeof ints;
        return ints;
    case GOB_DATUM_FLOAT64:
        *bytes = sizeof floats;
        return floats;
    default:
        *bytes = sizeof texts;
        return texts;
    }
}

static const uint8_t *record_at(const gob_fields *s, size_t offset, size_t *bytes)
{
    return GOB_UNLIKELY(s->doubt.on) ? doubted_at(s, offset, bytes)
                                     : gob_length_read(s->arena.at + offset, bytes);
}

static bool is_free(const uint8_t *record)
{
    return (*record & GOB_FIELD_CODES) == GOB_FIELD_FREE;
}

size_t gob_fields_bytes_for(size_t record_bytes)
{
    return gob_length_bytes(record_bytes) + record_bytes;
}

static const uint8_t *any_next(const gob_fields *s, size_t *at, size_t *bytes)
{
    if (*at >= s->arena.used) {
        return NULL;
    }
    const uint8_t *record = GOB_UNLIKELY(s->doubt.on) ? bounded_at(s, *at, bytes)
                                                      : gob_length_read(s->arena.at + *at, bytes);
    *at = record == NULL ? s->arena.used : (size_t)(record - s->arena.at) + *bytes;
    return record;
}

/* Whether a walk passes over a record. */
static bool is_none(const gob_fields *s, const uint8_t *record, size_t bytes)
{
    return GOB_UNLIKELY(s->doubt.on) ? !is_sound(s, record, bytes) : is_free(record);
}

const uint8_t *gob_fields_next(const void *fields, size_t *at, size_t *bytes)
{
    const gob_fields *s = fields;
    const uint8_t *record;
    do {
        record = any_next(s, at, bytes);
    } while (record != NULL && is_none(s, record, *bytes));
    return record;
}

/* Where the record that a walk has just given begins, its length included. */
static size_t offset_before(size_t at, size_t bytes)
{
    return at - gob_fields_bytes_for(bytes);
}

/* Offsets in the table */

static bool is_wide(const gob_fields *s)
{
    return s->table.member_bytes == 8;
}

static size_t offset_of(const gob_fields *s, int64_t member)
{
    return is_wide(s) ? (size_t)member : (uint32_t)member;
}

/* Whether offsets of the present width reach an arena of so many bytes. */
static bool reaches(const gob_fields *s, size_t used)
{
    return is_wide(s) || used <= UINT64_C(1) << s->narrow_bits;
}

static void set_offset(const gob_fields *s, size_t slot, size_t offset)
{
    uint8_t *p = gob_table_slot(&s->table, slot);
    if (is_wide(s)) {
        gob_store64(p, offset);
    } else {
        gob_store32(p, (uint32_t)offset);
    }
}

/* Finding */

typedef struct wanted {
    const gob_fields *s;
    const gob_field *f;
} wanted;

static bool is_field(const void *context, int64_t member)
{
    const wanted *w = context;
    size_t bytes;
    return gob_record_is(record_at(w->s, offset_of(w->s, member), &bytes), w->f);
}

size_t gob_fields_find(const gob_fields *s, const gob_field *f)
{
    wanted w = {s, f};
    return gob_table_seek(&s->table, f->hash, is_field, &w);
}

/* In three rounds: control bytes, slots, records. */
void gob_fields_warm(const gob_fields *s, const gob_field *f, size_t n)
{
    size_t slot[GOB_BATCH];
    if (s->arena.used < GOB_FAR) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        gob_table_prefetch_hash(&s->table, f[i].hash);
    }
    for (size_t i = 0; i < n; i++) {
        slot[i] = gob_table_prefetch_slot(&s->table, f[i].hash);
    }
    for (size_t i = 0; i < n; i++) {
        if (slot[i] != GOB_NO_SLOT) {
            GOB_PREFETCH(s->arena.at + offset_of(s, gob_table_member(&s->table, slot[i])));
        }
    }
}

const uint8_t *gob_fields_record(const gob_fields *s, size_t slot, size_t *bytes)
{
    return record_at(s, offset_of(s, gob_table_member(&s->table, slot)), bytes);
}

size_t gob_fields_any(const gob_fields *s, uint64_t salt)
{
    const gob_table *t = &s->table;
    uint64_t hash = gob_hash_int((int64_t)salt, t->seed);
    size_t slot = gob_table_next(t, (size_t)gob_mulhi64(hash, t->capacity));
    return slot == GOB_NO_SLOT ? gob_table_next(t, 0) : slot;
}

/* Room */

/* Every record into an empty table that has room. The arena is read in order, and the table's
 * places are loaded a batch at a time. */
static gob_status fill_table(const gob_fields *s, gob_table *t, gob_pace *pace)
{
    uint64_t hash[GOB_BATCH];
    int64_t member[GOB_BATCH];
    const uint8_t *record = s->arena.at;
    for (size_t at = 0; record != NULL;) {
        size_t n = 0;
        size_t bytes;
        while (n < GOB_BATCH && (record = gob_fields_next(s, &at, &bytes)) != NULL) {
            gob_field f;
            gob_record_field(&f, record, bytes, t->seed);
            hash[n] = f.hash;
            member[n] = (int64_t)offset_before(at, bytes);
            gob_table_prefetch_hash(t, hash[n++]);
        }
        for (size_t i = 0; i < n; i++) {
            gob_table_prefetch_room(t, hash[i]);
        }
        for (size_t i = 0; i < n; i++) {
            gob_table_insert_hashed(t, hash[i], member[i], 0.0);
        }
        GOB_TRY(gob_spend(pace, n));
    }
    return GOB_OK;
}

/* A table of all records, with room for `count` and with offsets of so many bytes. */
static gob_status table_for(const gob_fields *s, gob_alloc *a, size_t count, unsigned offset_bytes,
                            bool tight, gob_table *t)
{
    gob_table like = s->table;
    like.member_bytes = (uint8_t)offset_bytes;
    GOB_TRY(gob_table_resized(&like, a, count, tight, t));
    gob_status status = fill_table(s, t, a->pace);
    if (status != GOB_OK) {
        gob_table_free(t, a);
    }
    return status;
}

static void take_table(gob_fields *s, gob_alloc *a, const gob_table *t)
{
    gob_table_free(&s->table, a);
    s->table = *t;
}

gob_status gob_fields_reserve(gob_fields *s, gob_alloc *a, size_t entries, size_t bytes)
{
    bool narrow = reaches(s, s->arena.used + bytes);
    if (narrow && gob_table_has_room(&s->table, entries)) {
        return gob_arena_reserve(&s->arena, a, bytes);
    }
    gob_table grown;
    unsigned offset_bytes = narrow ? s->table.member_bytes : 8;
    GOB_TRY(table_for(s, a, gob_fields_count(s) + entries, offset_bytes, false, &grown));
    gob_status status = gob_arena_reserve(&s->arena, a, bytes);
    if (status != GOB_OK) {
        gob_table_free(&grown, a);
        return status;
    }
    take_table(s, a, &grown);
    return GOB_OK;
}

/* Free records: those of less than GOB_FREE_LENGTHS behind their head, so that one byte is before
 * it. */

enum { LINK = 2 };

static void give_free(gob_fields *s, gob_alloc *a, size_t offset)
{
    size_t bytes;
    const uint8_t *record = record_at(s, offset, &bytes);
    s->arena.at[record - s->arena.at] = GOB_FIELD_FREE;
    gob_arena_give(&s->arena, a, offset, bytes - 1, gob_fields_bytes_for(bytes), LINK);
}

/* A new record into space that is there or reserved; its offset. */
static size_t write_record(gob_fields *s, const gob_field *f, const gob_coded *value, size_t bytes)
{
    size_t all = gob_fields_bytes_for(bytes);
    size_t offset;
    if (!gob_arena_take(&s->arena, bytes - 1, all, LINK, &offset)) {
        offset = s->arena.used;
        s->arena.used += all;
    }
    gob_record_write(gob_length_write(s->arena.at + offset, bytes), f, value);
    return offset;
}

/* Changing */

gob_status gob_fields_put(gob_fields *s, gob_alloc *a, const gob_field *f, const gob_coded *value,
                          size_t slot)
{
    size_t bytes = gob_record_bytes(f, value);
    if (bytes > INT32_MAX) {
        return GOB_TOO_LARGE;
    }
    if (slot == GOB_NO_SLOT) {
        GOB_TRY(gob_fields_reserve(s, a, 1, gob_fields_bytes_for(bytes)));
        size_t offset = write_record(s, f, value, bytes);
        gob_table_insert_hashed(&s->table, f->hash, (int64_t)offset, 0.0);
        return GOB_OK;
    }
    size_t old_bytes;
    size_t old = offset_of(s, gob_table_member(&s->table, slot));
    const uint8_t *record = record_at(s, old, &old_bytes);
    if (old_bytes == bytes) {
        gob_record_write(s->arena.at + (record - s->arena.at), f, value);
        return GOB_OK;
    }
    GOB_TRY(gob_fields_reserve(s, a, 0, gob_fields_bytes_for(bytes)));
    slot = gob_fields_find(s, f); /* the table may be another one */
    set_offset(s, slot, write_record(s, f, value, bytes));
    give_free(s, a, old);
    return GOB_OK;
}

void gob_fields_remove(gob_fields *s, gob_alloc *a, size_t slot)
{
    size_t offset = offset_of(s, gob_table_member(&s->table, slot));
    gob_table_erase(&s->table, slot);
    give_free(s, a, offset);
}

/* Whole */

void gob_fields_init(gob_fields *s, uint64_t seed)
{
    *s = (gob_fields){.narrow_bits = GOB_NARROW_BITS};
    gob_table_init(&s->table, 4, 0, seed);
}

void gob_fields_free(gob_fields *s, gob_alloc *a)
{
    if (s->mapped) {
        gob_alloc_count(a, 0 - (gob_table_bytes(&s->table) + gob_arena_bytes(&s->arena)));
    } else {
        gob_table_free(&s->table, a);
        gob_arena_free(&s->arena, a);
    }
    uint8_t narrow_bits = s->narrow_bits;
    gob_fields_init(s, s->table.seed);
    s->narrow_bits = narrow_bits;
}

static gob_status copy_records(gob_fields *s, gob_pace *pace, gob_next_record *next,
                               const void *source)
{
    size_t bytes;
    const uint8_t *record;
    for (size_t at = 0; (record = next(source, &at, &bytes)) != NULL;) {
        uint8_t *to = gob_length_write(s->arena.at + s->arena.used, bytes);
        memcpy(to, record, bytes);
        s->arena.used += gob_fields_bytes_for(bytes);
        GOB_TRY(gob_spend(pace, 1));
    }
    return GOB_OK;
}

gob_status gob_fields_build(gob_fields *s, gob_alloc *a, gob_next_record *next, const void *source)
{
    size_t count = 0;
    size_t total = 0;
    size_t bytes;
    for (size_t at = 0; next(source, &at, &bytes) != NULL; count++) {
        total += gob_fields_bytes_for(bytes);
        GOB_TRY(gob_spend(a->pace, 1));
    }
    if (count == 0) {
        return GOB_OK;
    }
    s->arena.at = gob_malloc(a, total);
    if (s->arena.at == NULL) {
        return GOB_NOMEM;
    }
    s->arena.capacity = total;
    gob_table t;
    gob_status status = copy_records(s, a->pace, next, source);
    if (status == GOB_OK) {
        status = table_for(s, a, count, reaches(s, total) ? 4 : 8, true, &t);
    }
    if (status != GOB_OK) {
        gob_fields_free(s, a);
        return status;
    }
    take_table(s, a, &t);
    return GOB_OK;
}

bool gob_fields_wasteful(const gob_fields *s)
{
    bool table =
        s->table.capacity > GOB_SMALL_MAX * 4 && gob_fields_count(s) * 3 < s->table.capacity;
    return gob_arena_wasteful(&s->arena) || table;
}

gob_status gob_fields_optimize(gob_fields *s, gob_alloc *a)
{
    gob_fields fresh;
    gob_fields_init(&fresh, s->table.seed);
    fresh.narrow_bits = s->narrow_bits;
    GOB_TRY(gob_fields_build(&fresh, a, gob_fields_next, s));
    gob_fields_free(s, a);
    *s = fresh;
    return GOB_OK;
}

static bool is_free_record(const void *owner, size_t offset, size_t length)
{
    size_t bytes;
    return is_free(record_at(owner, offset, &bytes)) && bytes == length + 1;
}

bool gob_fields_validate(const gob_fields *s, const char **why)
{
    size_t dead = 0;
    size_t count = 0;
    size_t at = 0;
    size_t bytes;
    const uint8_t *record;
    GOB_DEMAND(s->arena.used <= s->arena.capacity && reaches(s, s->arena.used),
               "fields: arena overrun");
    while ((record = any_next(s, &at, &bytes)) != NULL) {
        GOB_DEMAND(at <= s->arena.used, "fields: records do not fill the arena");
        if (is_free(record)) {
            dead += gob_fields_bytes_for(bytes);
            continue;
        }
        gob_field f;
        if (!gob_record_validate(record, bytes, why)) {
            return false;
        }
        gob_record_field(&f, record, bytes, s->table.seed);
        size_t slot = gob_fields_find(s, &f);
        GOB_DEMAND(slot != GOB_NO_SLOT && gob_fields_record(s, slot, &bytes) == record,
                   "fields: a field is not found at its record");
        count++;
    }
    GOB_DEMAND(count == gob_fields_count(s), "fields: count of entries");
    GOB_DEMAND(dead == s->arena.dead, "fields: bytes of free records");
    return gob_arena_validate(&s->arena, LINK, is_free_record, s, why);
}
