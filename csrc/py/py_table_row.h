/* The object behind goblin._core.Record, and what its files share. */
#ifndef PY_TABLE_ROW_H
#define PY_TABLE_ROW_H

#include "py_table.h"

typedef struct gob_view_object {
    PyObject_HEAD gob_table_object *table;
    PyObject *key; /* an exact str or bytes */
} gob_view_object;

/* What a call is given, converted: the record's own key, and a field. */
typedef struct gob_view_call {
    gob_table_kinds kinds;
    gob_name key;
    gob_name_scratch key_scratch;
    gob_name field;
    gob_name_scratch scratch;
} gob_view_call;

/* The row of a record, and its key, which needs gob_name_release after a success; KeyError where it
 * is gone. A table that has got keys of another kind has no record of this one. */
int gob_view_reach(const gob_view_object *self, gob_view_call *c, gob_row *row);

/* A new object with a value of the record. */
PyObject *gob_view_value(const gob_view_object *self, const gob_value *value);

/* py_table_row_write.c: methods that write. */
typedef PyObject *gob_view_method(gob_view_object *self, PyObject *const *args, Py_ssize_t nargs,
                                  PyObject *kwnames);
gob_view_method gob_view_pop;
gob_view_method gob_view_setdefault;
gob_view_method gob_view_increment;
PyObject *gob_view_set_many(gob_view_object *self, PyObject *args);

#endif
