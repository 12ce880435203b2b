/* The object behind goblin._core.Hash, and what its files share. */
#ifndef PY_HASH_H
#define PY_HASH_H

#include "py_host.h"
#include "py_names.h"
#include "py_snapshot.h"

#include "gob_hashmap.h"

/* It holds no references, so this type takes no part in garbage collection. */
typedef struct gob_hash_object {
    GOB_LOCK_HEAD
    uint8_t key;   /* gob_kind of the keys: GOB_STR or GOB_BYTES */
    uint8_t value; /* and of the values: these, GOB_INTS or GOB_FLOATS */
    gob_hashmap map;
} gob_hash_object;

/* Before a hash that is ready changes: ValueError where it is mapped from a file. */
GOB_INLINE int gob_hash_check_own(gob_hash_object *self)
{
    return GOB_LIKELY(!self->map.mapped) ? 0 : gob_snapshot_refuse_write(self);
}

/* "str", "bytes", "int64" or "float64". */
const char *gob_value_word(gob_kind kind);

/* Before it gets so many entries more: gives a hash that becomes large a host. */
GOB_INLINE void gob_hash_expect(gob_hash_object *self, size_t more)
{
    gob_host_for(self, &self->map.alloc, gob_hashmap_count(&self->map) + more);
}

/* Before the core gets what was converted for these kinds: gob_ready, and no one has made it a hash
 * of other kinds meanwhile. */
int gob_hash_ready_for(gob_hash_object *self, gob_kind key, gob_kind value);

/* Entries that are collected beside a hash, to be set all together. */
typedef struct gob_staging {
    gob_hash_object *self;
    gob_hashmap map; /* of the same options */
    size_t created;  /* how many fields were new */
} gob_staging;

void gob_staging_begin(gob_staging *s, gob_hash_object *self);

/* It has the hash's host no longer, nor its failures of allocations that tests ask for. */
void gob_staging_return(gob_staging *s);

/* Each ends it: sets all, or none and returns -1 with an exception; or forgets them. */
int gob_staging_commit(gob_staging *s);
void gob_staging_drop(gob_staging *s);

/* py_hash_value.c: one value as an argument. A text lies in the caller's object or in the scratch,
 * to be released after a success. */
typedef struct gob_value_argument {
    gob_value value;
    gob_name_scratch scratch;
} gob_value_argument;

/* A number as a value, or as what is given for an absent one. 0, or -1 with TypeError, ValueError
 * or OverflowError. */
int gob_take_number(gob_kind kind, PyObject *object, gob_value *out);

/* The same for all kinds. */
int gob_take_value(gob_kind kind, PyObject *object, gob_value_argument *arg);

/* What an increment of values of a kind adds: GOB_VALUE_INT for what has __index__, GOB_VALUE_FLOAT
 * for any other number, and for all of them among floats. */
int gob_take_step(gob_kind kind, PyObject *object, gob_value *step);

/* A new str, bytes, int or float. */
PyObject *gob_value_object(gob_kind kind, const gob_value *value);

/* A new (key, value) in an empty tuple of two, which it steals; no other code runs. */
PyObject *gob_hash_pair(const gob_hash_object *self, PyObject *pair, const gob_value *field,
                        const gob_value *value);

/* Many values, which may lie in the object that they come from. */
typedef struct gob_value_rows {
    gob_value *at;
    size_t count;
} gob_value_rows;

/* Names for texts; for numbers an array of their kind, or a tuple. 0, or -1 with an exception. */
int gob_take_values(gob_kind kind, PyObject *object, gob_value_rows *rows);

/* An array of int64 (not for floats) or float64, a tuple, or one step for all. */
int gob_take_steps(gob_kind kind, PyObject *object, size_t count, gob_value_rows *rows);

void gob_rows_release(gob_value_rows *rows);

/* An addition to the value of a field: GOB_VALUE_NONE counts as 0. */
typedef struct gob_addition {
    gob_kind key;  /* of the field */
    gob_kind kind; /* of the values */
    bool verbatim; /* texts stay as they are: no number stands for one */
    gob_name name;
    gob_value old;
    gob_value by;
} gob_addition;

enum { GOB_NUMBER_ROOM = 32 }; /* the shortest text of a double is at most 24 bytes */

/* What it makes of the value. */
typedef struct gob_sum {
    gob_value number; /* the result */
    gob_value stored; /* may lie in text */
    char text[GOB_NUMBER_ROOM];
} gob_sum;

/* The step of an addition, 1 where none is given: gob_take_step, and TypeError for a float that is
 * to be added to integers. */
int gob_take_addition(gob_kind kind, PyObject *object, gob_value *by);

/* The sum, also as a new object, or NULL with an exception that names field and value. No other
 * code runs. */
PyObject *gob_add(const gob_addition *a, gob_sum *sum);

/* Which fields a call sets: all, new ones, or those that are there. */
typedef enum gob_only { GOB_ANY, GOB_ONLY_NEW, GOB_ONLY_EXISTING } gob_only;

/* The arguments of _set_many(names, values, only). */
int gob_parse_set_many(PyObject *args, PyObject **names, PyObject **values, gob_only *only);

/* 0, or -1 with ValueError where there are not as many values as keys. */
int gob_check_values(size_t keys, size_t values);

/* Methods. py_hash_single.c: one field at a time. */
typedef PyObject *gob_hash_method(gob_hash_object *self, PyObject *const *args, Py_ssize_t nargs,
                                  PyObject *kwnames);
int gob_hash_contains(gob_hash_object *self, PyObject *key);
PyObject *gob_hash_item(gob_hash_object *self, PyObject *key);
int gob_hash_set_item(gob_hash_object *self, PyObject *key, PyObject *value);
gob_hash_method gob_hash_get;
gob_hash_method gob_hash_pop;
gob_hash_method gob_hash_setdefault;
PyObject *gob_hash_popitem(gob_hash_object *self, PyObject *unused);

/* py_hash_increment.c: arithmetic on values. */
gob_hash_method gob_hash_increment;
PyObject *gob_hash_increment_many(gob_hash_object *self, PyObject *args);

/* py_hash_bulk.c: many fields. */
gob_hash_method gob_hash_get_many;
PyObject *gob_hash_set_many(gob_hash_object *self, PyObject *args);
PyObject *gob_hash_pop_many(gob_hash_object *self, PyObject *names);

/* py_hash_iter.c */
PyObject *gob_hash_iter(gob_hash_object *self);
PyObject *gob_hash_iterate(gob_hash_object *self, PyObject *kind);
gob_hash_method gob_hash_scan;

/* py_value_columns.c: _part(at, most) -> (keys, values, at), Names or arrays of up to so many
 * entries from a place on (0 at first), and the place after them, which is good while _stamp stays.
 */
PyObject *gob_hash_part(gob_hash_object *self, PyObject *args);

/* py_hash_whole.c: the hash as a whole. */
PyObject *gob_hash_configure(gob_hash_object *self, PyObject *args);
PyObject *gob_hash_clear(gob_hash_object *self, PyObject *unused);
PyObject *gob_hash_assign(gob_hash_object *self, PyObject *other);
PyObject *gob_hash_swap(gob_hash_object *self, PyObject *other);
PyObject *gob_hash_optimize(gob_hash_object *self, PyObject *unused);
PyObject *gob_hash_save(gob_hash_object *self, PyObject *write);
PyObject *gob_hash_load(gob_hash_object *self, PyObject *args);
PyObject *gob_hash_memory(gob_hash_object *self, PyObject *unused);
PyObject *gob_hash_live_bytes(gob_hash_object *self, PyObject *unused);
PyObject *gob_hash_sizeof(gob_hash_object *self, PyObject *unused);
PyObject *gob_hash_validate(gob_hash_object *self, PyObject *unused);
PyObject *gob_hash_fail_at(gob_hash_object *self, PyObject *n);
PyObject *gob_hash_interrupt_at(gob_hash_object *self, PyObject *n);

#endif
