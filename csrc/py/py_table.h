/* The object behind goblin._core.HashTable, and what its files share. */
#ifndef PY_TABLE_H
#define PY_TABLE_H

#include "py_hash.h"

#include "gob_records.h"

/* What keys, fields and values are. */
typedef struct gob_table_kinds {
    uint8_t key; /* GOB_STR or GOB_BYTES */
    uint8_t field;
    uint8_t value; /* these, GOB_INTS or GOB_FLOATS */
} gob_table_kinds;

/* It holds no references, so this type takes no part in garbage collection. */
typedef struct gob_table_object {
    GOB_LOCK_HEAD
    gob_table_kinds kinds;
    gob_records records;
} gob_table_object;

/* Before a table that is ready changes: ValueError where it is mapped from a file. */
GOB_INLINE int gob_table_check_own(gob_table_object *self)
{
    return GOB_LIKELY(!self->records.rows.mapped) ? 0 : gob_snapshot_refuse_write(self);
}

/* Before it gets so many records more: gives a table that becomes large a host. */
GOB_INLINE void gob_table_expect(gob_table_object *self, size_t more)
{
    gob_host_for(self, &self->records.alloc, gob_records_count(&self->records) + more);
}

/* Before the core gets what was converted for these kinds: gob_ready, and no one has made it a
 * table of other kinds meanwhile. */
int gob_table_ready_for(gob_table_object *self, gob_table_kinds kinds);

/* Edits a record of a table that is ready. 0, or -1 with an exception: ValueError where the table
 * is mapped. */
int gob_table_edit(gob_table_object *self, gob_name key, const gob_cell *cells, size_t n);

/* py_table_bulk.c: many records. */
PyObject *gob_table_update(gob_table_object *self, PyObject *args);
PyObject *gob_table_take_rows(gob_table_object *self, PyObject *args);
PyObject *gob_table_column(gob_table_object *self, PyObject *args);

/* py_value_columns.c: _part(at, most, fields) -> (keys, columns, at) of up to so many records from
 * a place on (0 at first), as _part of a Hash; good while _stamp and _epoch stay. A column is
 * (values, valid, nulls): valid is None, or bytes with a bit for each record that has the field. */
PyObject *gob_table_part(gob_table_object *self, PyObject *args);

/* py_table_row_write.c */
PyObject *gob_table_increment(gob_table_object *self, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames);

/* py_table_iter.c */
PyObject *gob_table_iter(gob_table_object *self);

/* py_table_whole.c: the table as a whole. */
PyObject *gob_table_configure(gob_table_object *self, PyObject *args);
PyObject *gob_table_clear(gob_table_object *self, PyObject *unused);
PyObject *gob_table_assign(gob_table_object *self, PyObject *other);
PyObject *gob_table_swap(gob_table_object *self, PyObject *other);
PyObject *gob_table_optimize(gob_table_object *self, PyObject *unused);
PyObject *gob_table_save(gob_table_object *self, PyObject *write);
PyObject *gob_table_load(gob_table_object *self, PyObject *args);
PyObject *gob_table_fields(gob_table_object *self, PyObject *unused);
PyObject *gob_table_memory(gob_table_object *self, PyObject *unused);
PyObject *gob_table_live_bytes(gob_table_object *self, PyObject *unused);
PyObject *gob_table_sizeof(gob_table_object *self, PyObject *unused);
PyObject *gob_table_validate_all(gob_table_object *self, PyObject *unused);
PyObject *gob_table_fail_at(gob_table_object *self, PyObject *n);
PyObject *gob_table_interrupt_at(gob_table_object *self, PyObject *n);

#endif
