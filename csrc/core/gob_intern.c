#include "gob_intern.h"

#include "gob_check.h"

enum { NUMBERS_MAX = INT32_MAX, LENGTH_MAX = INT32_MAX };

static uint64_t hash_of(const gob_intern *t, gob_name name)
{
    return XXH3_64bits_withSeed(name.at, name.len, t->table.seed);
}

typedef struct wanted {
    const gob_intern *t;
    gob_name name;
} wanted;

static bool is_name(const void *context, int64_t number)
{
    const wanted *w = context;
    gob_name name = gob_intern_at(w->t, (uint32_t)number);
    return name.len == w->name.len && (name.len == 0 || memcmp(name.at, w->name.at, name.len) == 0);
}

static size_t slot_of(const gob_intern *t, gob_name name)
{
    wanted w = {t, name};
    return gob_table_seek(&t->table, hash_of(t, name), is_name, &w);
}

uint32_t gob_intern_find(const gob_intern *t, gob_name name)
{
    size_t slot = slot_of(t, name);
    return slot == GOB_NO_SLOT ? GOB_NO_NUMBER : (uint32_t)gob_table_member(&t->table, slot);
}

void gob_intern_init(gob_intern *t, uint64_t seed)
{
    *t = (gob_intern){0};
    gob_table_init(&t->table, 4, 0, seed);
}

void gob_intern_free(gob_intern *t, gob_alloc *a)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->items[i].uses != 0) {
            gob_free(a, t->items[i].bytes, t->items[i].len);
        }
    }
    gob_free(a, t->items, t->room * sizeof *t->items);
    gob_table_free(&t->table, a);
    gob_intern_init(t, t->table.seed);
}

/* Room */

static gob_status resize_table(gob_intern *t, gob_alloc *a, size_t count)
{
    gob_table fresh;
    GOB_TRY(gob_table_resized(&t->table, a, count, false, &fresh));
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->items[i].uses != 0) {
            gob_table_insert_hashed(&fresh, hash_of(t, gob_intern_at(t, i)), (int64_t)i, 0.0);
        }
    }
    gob_table_free(&t->table, a);
    t->table = fresh;
    return GOB_OK;
}

static gob_status resize_items(gob_intern *t, gob_alloc *a, size_t room)
{
    size_t bytes = room * sizeof *t->items;
    gob_interned *items = gob_realloc(a, t->items, t->room * sizeof *t->items, bytes);
    if (items == NULL) {
        return GOB_NOMEM;
    }
    t->items = items;
    t->room = (uint32_t)room;
    return GOB_OK;
}

static gob_status reserve(gob_intern *t, gob_alloc *a)
{
    if (t->free == 0 && t->count == t->room) {
        size_t room = t->room + t->room / 2 + 4;
        if (room > NUMBERS_MAX) {
            return GOB_TOO_LARGE;
        }
        GOB_TRY(resize_items(t, a, room));
    }
    return gob_table_has_room(&t->table, 1) ? GOB_OK : resize_table(t, a, t->table.live + 1);
}

/* Holding and dropping */

static uint32_t take_number(gob_intern *t)
{
    if (t->free == 0) {
        return t->count++;
    }
    uint32_t number = t->free - 1;
    t->free = t->items[number].len;
    return number;
}

/* A copy of a string that is not empty; NULL for the empty one. */
static gob_status copy_bytes(gob_alloc *a, gob_name name, uint8_t **bytes)
{
    *bytes = NULL;
    if (name.len != 0) {
        *bytes = gob_malloc(a, name.len);
        if (*bytes == NULL) {
            return GOB_NOMEM;
        }
        memcpy(*bytes, name.at, name.len);
    }
    return GOB_OK;
}

static gob_status add(gob_intern *t, gob_alloc *a, gob_name name, uint32_t *number)
{
    uint8_t *bytes;
    if (name.len > LENGTH_MAX) {
        return GOB_TOO_LARGE;
    }
    GOB_TRY(reserve(t, a));
    GOB_TRY(copy_bytes(a, name, &bytes));
    /* Another thread may have changed the caller's bytes into a string that is there. */
    *number = gob_intern_find(t, (gob_name){bytes, name.len});
    if (GOB_UNLIKELY(*number != GOB_NO_NUMBER)) {
        gob_free(a, bytes, name.len);
        t->items[*number].uses++;
        return GOB_OK;
    }
    *number = take_number(t);
    t->items[*number] = (gob_interned){.bytes = bytes, .uses = 1, .len = (uint32_t)name.len};
    gob_table_insert_hashed(&t->table, hash_of(t, gob_intern_at(t, *number)), (int64_t)*number,
                            0.0);
    return GOB_OK;
}

gob_status gob_intern_hold(gob_intern *t, gob_alloc *a, gob_name name, uint32_t *number)
{
    *number = gob_intern_find(t, name);
    if (*number == GOB_NO_NUMBER) {
        return add(t, a, name, number);
    }
    t->items[*number].uses++;
    return GOB_OK;
}

bool gob_intern_drop(gob_intern *t, gob_alloc *a, uint32_t number)
{
    gob_interned *item = &t->items[number];
    if (item->uses > 1) {
        item->uses--;
        return false;
    }
    gob_table_erase(&t->table, slot_of(t, gob_intern_at(t, number)));
    gob_free(a, item->bytes, item->len);
    *item = (gob_interned){.len = t->free};
    t->free = number + 1;
    if (t->table.live == 0) {
        gob_intern_free(t, a);
    }
    return true;
}

/* The whole */

static gob_status copy_items(gob_intern *dst, gob_alloc *a, const gob_intern *src)
{
    GOB_TRY(resize_items(dst, a, src->count));
    for (; dst->count < src->count; dst->count++) {
        gob_interned item = src->items[dst->count];
        if (item.uses != 0) {
            GOB_TRY(copy_bytes(a, gob_intern_at(src, dst->count), &item.bytes));
        }
        dst->items[dst->count] = item;
    }
    dst->free = src->free;
    return resize_table(dst, a, src->table.live);
}

gob_status gob_intern_copy(gob_intern *dst, gob_alloc *a, const gob_intern *src)
{
    gob_status status = src->count == 0 ? GOB_OK : copy_items(dst, a, src);
    if (status != GOB_OK) {
        gob_intern_free(dst, a);
    }
    return status;
}

gob_status gob_intern_pack(const gob_intern *t, gob_alloc *a, gob_packing *p)
{
    *p = (gob_packing){0};
    gob_table_init(&p->table, 4, 0, t->table.seed);
    if (t->count == 0) {
        return GOB_OK;
    }
    p->items = gob_malloc(a, t->table.live * sizeof *p->items);
    p->numbers = p->items == NULL ? NULL : gob_malloc(a, t->count * sizeof *p->numbers);
    gob_status status = GOB_NOMEM;
    if (p->numbers != NULL) {
        status = gob_table_resized(&t->table, a, t->table.live, true, &p->table);
    }
    if (status != GOB_OK) {
        gob_intern_leave(t, a, p);
        return status;
    }
    uint32_t number = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->items[i].uses != 0) {
            p->items[number] = t->items[i];
            p->numbers[i] = number++;
        }
    }
    return GOB_OK;
}

static void free_numbers(const gob_intern *t, gob_alloc *a, gob_packing *p)
{
    if (p->numbers != NULL) {
        gob_free(a, p->numbers, t->count * sizeof *p->numbers);
    }
}

void gob_intern_take(gob_intern *t, gob_alloc *a, gob_packing *p)
{
    uint32_t count = (uint32_t)t->table.live;
    free_numbers(t, a, p);
    gob_free(a, t->items, t->room * sizeof *t->items);
    gob_table_free(&t->table, a);
    *t = (gob_intern){.table = p->table, .items = p->items, .count = count, .room = count};
    for (uint32_t i = 0; i < count; i++) {
        gob_table_insert_hashed(&t->table, hash_of(t, gob_intern_at(t, i)), (int64_t)i, 0.0);
    }
}

void gob_intern_leave(const gob_intern *t, gob_alloc *a, gob_packing *p)
{
    free_numbers(t, a, p);
    if (p->items != NULL) {
        gob_free(a, p->items, t->table.live * sizeof *p->items);
    }
    gob_table_free(&p->table, a);
}

size_t gob_intern_waste(const gob_intern *t)
{
    return (t->count - t->table.live) * sizeof *t->items;
}

size_t gob_intern_bytes(const gob_intern *t)
{
    size_t bytes = gob_table_bytes(&t->table) + t->room * sizeof *t->items;
    for (uint32_t i = 0; i < t->count; i++) {
        bytes += t->items[i].uses != 0 ? t->items[i].len : 0;
    }
    return bytes;
}

bool gob_intern_validate(const gob_intern *t, const char **why)
{
    uint32_t used = 0;
    uint32_t unused = 0;
    GOB_DEMAND(t->count <= t->room, "intern: items overrun");
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->items[i].uses != 0) {
            GOB_DEMAND(gob_intern_find(t, gob_intern_at(t, i)) == i,
                       "intern: a string is not found at its number");
            used++;
        }
    }
    for (uint32_t next = t->free; next != 0; next = t->items[next - 1].len) {
        GOB_DEMAND(next <= t->count && t->items[next - 1].uses == 0 && unused < t->count,
                   "intern: link of a free number");
        unused++;
    }
    GOB_DEMAND(used == t->table.live && used + unused == t->count, "intern: count of strings");
    return true;
}
