/* Hashes that ascend have homes that ascend: the table is filled from its first group to its last,
 * as is the arena, and neither what is written nor what is read back needs a search. */
#include "gob_fields_snapshot.h"

#include <stdlib.h>

/* Records in the order of a file */

typedef struct listed {
    uint64_t hash;
    const uint8_t *at; /* in an arena: its length, then itself */
} listed;

static listed list(const uint8_t *at, const uint8_t *record, size_t bytes)
{
    gob_field f;
    gob_record_field(&f, record, bytes, GOB_SNAPSHOT_SEED);
    return (listed){f.hash, at};
}

static gob_record read_listed(const listed *l)
{
    size_t bytes;
    const uint8_t *record = gob_length_read(l->at, &bytes);
    return gob_record_read(record, bytes);
}

/* By hash; where these are equal, by field. */
static int compare(const void *left, const void *right)
{
    const listed *l = left;
    const listed *r = right;
    if (l->hash != r->hash) {
        return l->hash < r->hash ? -1 : 1;
    }
    gob_record a = read_listed(l);
    gob_record b = read_listed(r);
    return a.field_kind != b.field_kind ? (int)a.field_kind - (int)b.field_kind
                                        : gob_name_compare(a.field, b.field);
}

/* Records by leading bits of their hashes, which a seed that everyone knows does not hide: those
 * who choose their fields can make a sort longer, but not wrong. */
enum { PART_BITS = 12, PARTS = 1 << PART_BITS };

static size_t part_of(const listed *l, unsigned bits)
{
    return (size_t)(l->hash >> 1 >> (63 - bits));
}

/* Spreads n records over parts that are short enough to be sorted in one go each. */
static gob_status sort_listed(listed *to, const listed *from, size_t n, gob_pace *pace)
{
    size_t ends[PARTS] = {0};
    unsigned bits = n <= PARTS ? 0 : PART_BITS;
    size_t parts = (size_t)1 << bits;
    for (size_t i = 0; i < n; i++) {
        GOB_TRY(gob_spend(pace, 1));
        ends[part_of(&from[i], bits)]++;
    }
    for (size_t part = 0, sum = 0; part < parts; part++) {
        size_t count = ends[part];
        ends[part] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) {
        GOB_TRY(gob_spend(pace, 1));
        to[ends[part_of(&from[i], bits)]++] = from[i];
    }
    for (size_t part = 0, start = 0; part < parts; start = ends[part++]) {
        GOB_TRY(gob_spend(pace, ends[part] - start));
        qsort(to + start, ends[part] - start, sizeof *to, compare);
    }
    return GOB_OK;
}

/* Tables in the making */

typedef struct layout {
    gob_table table;
    size_t group; /* which takes the next record, unless its home comes later */
    bool wrapped; /* no home comes later any more */
} layout;

static unsigned offset_bytes(size_t arena_bytes)
{
    return arena_bytes <= UINT64_C(1) << GOB_NARROW_BITS ? 4 : 8;
}

static gob_status begin_layout(layout *l, gob_alloc *a, size_t count, size_t arena_bytes)
{
    gob_table like;
    gob_table_init(&like, offset_bytes(arena_bytes), 0, GOB_SNAPSHOT_SEED);
    *l = (layout){0};
    GOB_TRY(gob_table_resized(&like, a, count, true, &l->table));
    if (count != 0) {
        memset(gob_table_slot(&l->table, 0), 0, l->table.capacity * l->table.member_bytes);
    }
    return GOB_OK;
}

static void lay(layout *l, uint64_t hash, size_t offset)
{
    gob_table *t = &l->table;
    size_t home = gob_table_home(t, hash);
    l->group = !l->wrapped && home > l->group ? home : l->group;
    const uint8_t *ctrl = t->ctrl + l->group * GOB_GROUP;
    unsigned room;
    while ((room = gob_group_match(ctrl, GOB_CTRL_EMPTY, (gob_simd)t->simd)) == 0) {
        l->group = gob_table_next_group(t, l->group);
        l->wrapped = l->wrapped || l->group == 0;
        ctrl = t->ctrl + l->group * GOB_GROUP;
    }
    size_t slot = l->group * GOB_GROUP + gob_ctz64(room);
    t->ctrl[slot] = gob_table_tag(hash);
    gob_table_set_member(t, slot, (int64_t)offset);
    t->live++;
}

/* Writing */

typedef struct listing {
    const gob_rewriting *rewriting; /* or NULL */
    listed *items;                  /* room for twice as many */
    size_t count;
    size_t arena_bytes;
} listing;

static size_t written_bytes(const listing *l, const uint8_t *record, size_t bytes)
{
    const gob_rewriting *r = l->rewriting;
    return r == NULL ? bytes : r->bytes(r->context, record, bytes);
}

static gob_status fill_listing(listing *l, const gob_fields *s, gob_pace *pace)
{
    size_t bytes;
    const uint8_t *record;
    listed *unsorted = l->items + gob_fields_count(s);
    for (size_t at = 0; (record = gob_fields_next(s, &at, &bytes)) != NULL;) {
        GOB_TRY(gob_spend(pace, 1));
        unsorted[l->count++] = list(record - gob_length_bytes(bytes), record, bytes);
        l->arena_bytes += gob_fields_bytes_for(written_bytes(l, record, bytes));
    }
    return sort_listed(l->items, unsorted, l->count, pace);
}

static gob_status lay_all(layout *made, const listing *l, gob_pace *pace)
{
    size_t offset = 0;
    for (size_t i = 0; i < l->count; i++) {
        size_t bytes;
        const uint8_t *record = gob_length_read(l->items[i].at, &bytes);
        GOB_TRY(gob_spend(pace, 1));
        lay(made, l->items[i].hash, offset);
        offset += gob_fields_bytes_for(written_bytes(l, record, bytes));
    }
    return GOB_OK;
}

static gob_status write_table(const listing *l, gob_alloc *a, gob_writer *w)
{
    layout made;
    GOB_TRY(begin_layout(&made, a, l->count, l->arena_bytes));
    const gob_table *t = &made.table;
    gob_status status = lay_all(&made, l, a->pace);
    status = status == GOB_OK ? gob_writer_section(w, GOB_SECTION_TABLE) : status;
    status = status == GOB_OK ? gob_write(w, t->ctrl, gob_table_bytes(t)) : status;
    gob_table_free(&made.table, a);
    return status;
}

static gob_status write_arena(const listing *l, gob_writer *w)
{
    const gob_rewriting *r = l->rewriting;
    GOB_TRY(gob_writer_section(w, GOB_SECTION_ARENA));
    for (size_t i = 0; i < l->count; i++) {
        uint8_t length[8];
        size_t bytes;
        const uint8_t *record = gob_length_read(l->items[i].at, &bytes);
        size_t written = written_bytes(l, record, bytes);
        record = r == NULL ? record : r->record(r->context, record, bytes);
        GOB_TRY(gob_write(w, length, (size_t)(gob_length_write(length, written) - length)));
        GOB_TRY(gob_write(w, record, written));
    }
    return GOB_OK;
}

gob_status gob_fields_save(const gob_fields *s, gob_alloc *a, const gob_rewriting *rewriting,
                           bool tabled, gob_writer *w)
{
    size_t room = 2 * gob_fields_count(s) * sizeof(listed);
    if (room == 0) {
        return GOB_OK;
    }
    listing l = {.rewriting = rewriting, .items = gob_malloc(a, room)};
    if (l.items == NULL) {
        return GOB_NOMEM;
    }
    gob_status status = fill_listing(&l, s, a->pace);
    status = status == GOB_OK && tabled ? write_table(&l, a, w) : status;
    status = status == GOB_OK ? write_arena(&l, w) : status;
    gob_free(a, l.items, room);
    return status;
}

/* Reading */

gob_status gob_fields_view(gob_fields *view, const gob_reader *r, size_t count, bool tabled,
                           const char **why)
{
    gob_span table = gob_reader_section(r, GOB_SECTION_TABLE);
    gob_span arena = gob_reader_section(r, GOB_SECTION_ARENA);
    gob_table *t = &view->table;
    GOB_EXPECT(count <= arena.size, "count of entries");
    gob_fields_init(view, GOB_SNAPSHOT_SEED);
    gob_table_init(t, offset_bytes(arena.size), 0, GOB_SNAPSHOT_SEED);
    t->capacity = tabled ? gob_table_capacity_for(count, true) : 0;
    t->live = count;
    GOB_EXPECT(gob_table_bytes(t) == table.size, "bytes of the table");
    t->ctrl = (uint8_t *)(uintptr_t)table.at;
    GOB_EXPECT(gob_table_ends(t), "slots of the table");
    view->arena.at = (uint8_t *)(uintptr_t)arena.at;
    view->arena.used = view->arena.capacity = arena.size;
    return GOB_OK;
}

static gob_status check_records(const gob_fields *view, layout *l, gob_pace *pace, const char **why)
{
    const uint8_t *end = view->arena.at + view->arena.used;
    listed last = {0};
    size_t count = 0;
    size_t bytes;
    for (const uint8_t *at = view->arena.at; at != end; count++) {
        const uint8_t *record = gob_length_parse(at, end, &bytes);
        GOB_EXPECT(record != NULL && bytes <= (size_t)(end - record), "length of an entry");
        GOB_EXPECT(gob_record_validate(record, bytes, why), *why);
        listed now = list(at, record, bytes);
        GOB_EXPECT(count == 0 || compare(&last, &now) < 0, "order of entries");
        GOB_EXPECT(count < view->table.live, "count of entries");
        if (view->table.capacity != 0) {
            lay(l, now.hash, (size_t)(at - view->arena.at));
        }
        GOB_TRY(gob_spend(pace, 1));
        last = now;
        at = record + bytes;
    }
    GOB_EXPECT(count == view->table.live, "count of entries");
    return GOB_OK;
}

/* The table is compared with the one that the records give. */
gob_status gob_fields_check(const gob_fields *view, gob_alloc *a, const char **why)
{
    layout l;
    const gob_table *t = &view->table;
    GOB_TRY(begin_layout(&l, a, t->capacity == 0 ? 0 : t->live, view->arena.used));
    gob_status status = check_records(view, &l, a->pace, why);
    if (status == GOB_OK && t->capacity != 0 &&
        memcmp(t->ctrl, l.table.ctrl, gob_table_bytes(t)) != 0) {
        *why = "a table of other entries";
        status = GOB_MALFORMED;
    }
    gob_table_free(&l.table, a);
    return status;
}

gob_status gob_fields_trust(gob_fields *s, gob_alloc *a)
{
    const char *why;
    size_t bytes;
    size_t count = 0;
    if (!s->doubt.on) {
        return GOB_OK;
    }
    GOB_TRY(gob_fields_check(s, a, &why));
    for (size_t at = 0; gob_fields_next(s, &at, &bytes) != NULL; count++) {
        GOB_TRY(gob_spend(a->pace, 1));
    }
    if (count != gob_fields_count(s)) {
        return GOB_MALFORMED;
    }
    s->doubt.on = false;
    return GOB_OK;
}

void gob_fields_map(gob_fields *s, gob_alloc *a, const gob_fields *view)
{
    *s = *view;
    s->mapped = true;
    gob_alloc_count(a, gob_table_bytes(&s->table) + gob_arena_bytes(&s->arena));
}
