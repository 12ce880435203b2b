/* Byte strings that are kept once, however many use them; small numbers stand for them.
 *
 * The number of a string stays while it is in use, and goes to another one afterwards. */
#ifndef GOB_INTERN_H
#define GOB_INTERN_H

#include "gob_alloc.h"
#include "gob_names.h"
#include "gob_status.h"
#include "gob_table.h"

typedef struct gob_interned {
    uint8_t *bytes; /* NULL for the empty string */
    uint64_t uses;  /* 0: the number is free */
    uint32_t len;   /* of a free number: the next free one, plus 1 */
} gob_interned;

typedef struct gob_intern {
    gob_table table; /* numbers, by the hash of their strings */
    gob_interned *items;
    uint32_t count; /* items, free ones too */
    uint32_t room;
    uint32_t free; /* the first free number, plus 1 */
} gob_intern;

#define GOB_NO_NUMBER UINT32_MAX

void gob_intern_init(gob_intern *t, uint64_t seed);
void gob_intern_free(gob_intern *t, gob_alloc *a);

/* An initialised, empty dst gets the strings of src, with their numbers and uses. */
gob_status gob_intern_copy(gob_intern *dst, gob_alloc *a, const gob_intern *src);

/* The number of a string, or GOB_NO_NUMBER. O(length). */
uint32_t gob_intern_find(const gob_intern *t, gob_name name);

/* One more use of a string; *number is what stands for it. GOB_NOMEM; GOB_TOO_LARGE for 2 GiB. */
gob_status gob_intern_hold(gob_intern *t, gob_alloc *a, gob_name name, uint32_t *number);

/* One use less; whether that was the last one, with which the string goes. */
bool gob_intern_drop(gob_intern *t, gob_alloc *a, uint32_t number);

/* The same strings with numbers from 0 on, in the same order, and room for no more. */
typedef struct gob_packing {
    gob_interned *items;
    gob_table table;   /* still empty */
    uint32_t *numbers; /* the new number of each old one */
} gob_packing;

/* Makes one, which goes by take or leave; meanwhile nothing is held or dropped. */
gob_status gob_intern_pack(const gob_intern *t, gob_alloc *a, gob_packing *p);

/* Takes it over. The strings in it may have been changed, as long as they all differ. */
void gob_intern_take(gob_intern *t, gob_alloc *a, gob_packing *p);
void gob_intern_leave(const gob_intern *t, gob_alloc *a, gob_packing *p);

/* Bytes that stand idle for numbers that are free. */
size_t gob_intern_waste(const gob_intern *t);

size_t gob_intern_bytes(const gob_intern *t);

bool gob_intern_validate(const gob_intern *t, const char **why);

GOB_INLINE gob_name gob_intern_at(const gob_intern *t, uint32_t number)
{
    return (gob_name){t->items[number].bytes, t->items[number].len};
}

GOB_INLINE size_t gob_intern_count(const gob_intern *t)
{
    return t->table.live;
}

#endif
