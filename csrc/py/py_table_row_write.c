/* Writes to a record that depend on what it has, and those of many fields: each is one edit. */
#include "py_args.h"
#include "py_status.h"
#include "py_table_row.h"

typedef gob_view_object record;
typedef gob_view_call call;

/* Edits the row that was reached; releases its key. */
static int edit(const record *self, call *c, const gob_cell *cells, size_t n)
{
    int result = gob_table_edit(self->table, c->key, cells, n);
    gob_name_release(&c->key_scratch);
    return result;
}

static int put(const record *self, call *c, gob_value value)
{
    gob_cell cell = {c->field, value};
    return edit(self, c, &cell, 1);
}

/* The value of the field of a call, GOB_VALUE_NONE where there is none, in a row that is reached.
 */
static int look_up(const record *self, call *c, gob_value *value)
{
    gob_row row;
    if (gob_view_reach(self, c, &row) < 0) {
        return -1;
    }
    *value = gob_records_value(&self->table->records, &row, c->field);
    return 0;
}

/* Making a str, bytes, int or float runs no other code: what was read is still so. */
static PyObject *take_out(const record *self, call *c)
{
    gob_value value;
    if (look_up(self, c, &value) < 0) {
        return NULL;
    }
    PyObject *object = NULL;
    if (value.kind != GOB_VALUE_NONE) {
        object = gob_view_value(self, &value);
    }
    if (object == NULL) {
        gob_name_release(&c->key_scratch);
    } else if (put(self, c, (gob_value){.kind = GOB_VALUE_NONE}) < 0) {
        Py_CLEAR(object);
    }
    return object;
}

/* What can't be a field is absent, unless the record is. */
static PyObject *pop(const record *self, PyObject *field)
{
    call c = {.kinds = self->table->kinds};
    gob_row row;
    int found = gob_find_name(NULL, field, (gob_kind)c.kinds.field, &c.field, &c.scratch);
    if (found == 0 && gob_view_reach(self, &c, &row) == 0) {
        gob_name_release(&c.key_scratch);
    }
    if (found <= 0) {
        return NULL;
    }
    PyObject *value = take_out(self, &c);
    gob_name_release(&c.scratch);
    return value;
}

PyObject *gob_view_pop(record *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const gob_signature signature = {"pop", {"key", "default"}, 2, 1};
    PyObject *given[2];
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0) {
        return NULL;
    }
    PyObject *value = pop(self, given[0]);
    if (value != NULL || PyErr_Occurred()) {
        return value;
    }
    return given[1] != NULL ? Py_NewRef(given[1]) : gob_raise_key(given[0]);
}

static PyObject *value_or_set(const record *self, call *c, const gob_value *fallback)
{
    gob_value old;
    if (look_up(self, c, &old) < 0) {
        return NULL;
    }
    bool absent = old.kind == GOB_VALUE_NONE;
    PyObject *object = gob_view_value(self, absent ? fallback : &old);
    if (object == NULL || !absent) {
        gob_name_release(&c->key_scratch);
    } else if (put(self, c, *fallback) < 0) {
        Py_CLEAR(object);
    }
    return object;
}

PyObject *gob_view_setdefault(record *self, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames)
{
    static const gob_signature signature = {"setdefault", {"key", "default"}, 2, 2};
    call c = {.kinds = self->table->kinds};
    gob_value_argument value;
    PyObject *given[2];
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0 ||
        gob_name_argument(NULL, given[0], (gob_kind)c.kinds.field, &c.field, &c.scratch) < 0) {
        return NULL;
    }
    PyObject *result = NULL;
    if (gob_take_value((gob_kind)c.kinds.value, given[1], &value) == 0) {
        result = value_or_set(self, &c, &value.value);
        gob_name_release(&value.scratch);
    }
    gob_name_release(&c.scratch);
    return result;
}

/* Adds to a field of the record of a key; one that is not there is made. */
static PyObject *increment(gob_table_object *table, gob_name key, gob_addition *a)
{
    gob_sum sum;
    gob_row row;
    a->old.kind = GOB_VALUE_NONE;
    if (gob_records_find(&table->records, key, &row)) {
        a->old = gob_records_value(&table->records, &row, a->name);
    }
    PyObject *result = gob_add(a, &sum);
    if (result == NULL) {
        return NULL;
    }
    gob_cell cell = {a->name, sum.stored};
    if (gob_table_edit(table, key, &cell, 1) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

static PyObject *increment_here(const record *self, call *c, gob_addition *a)
{
    gob_row row;
    if (gob_view_reach(self, c, &row) < 0) {
        return NULL;
    }
    PyObject *result = increment(self->table, c->key, a);
    gob_name_release(&c->key_scratch);
    return result;
}

PyObject *gob_view_increment(record *self, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames)
{
    static const gob_signature signature = {"increment", {"key", "by"}, 2, 1};
    call c = {.kinds = self->table->kinds};
    gob_addition a = {.key = (gob_kind)c.kinds.field, .kind = (gob_kind)c.kinds.value};
    PyObject *given[2];
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0 ||
        gob_name_argument(NULL, given[0], a.key, &a.name, &c.scratch) < 0) {
        return NULL;
    }
    PyObject *result =
        gob_take_addition(a.kind, given[1], &a.by) < 0 ? NULL : increment_here(self, &c, &a);
    gob_name_release(&c.scratch);
    return result;
}

/* As of a record, which may be new. */
static PyObject *increment_at(gob_table_object *table, gob_table_kinds kinds, PyObject *key,
                              gob_addition *a)
{
    gob_name name;
    gob_name_scratch scratch;
    if (gob_name_argument(NULL, key, (gob_kind)kinds.key, &name, &scratch) < 0) {
        return NULL;
    }
    PyObject *result = gob_table_ready_for(table, kinds) < 0 ? NULL : increment(table, name, a);
    gob_name_release(&scratch);
    return result;
}

PyObject *gob_table_increment(gob_table_object *self, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames)
{
    static const gob_signature signature = {"increment", {"key", "field", "by"}, 3, 2};
    gob_table_kinds kinds = self->kinds;
    gob_addition a = {.key = (gob_kind)kinds.field, .kind = (gob_kind)kinds.value};
    gob_name_scratch scratch;
    PyObject *given[3];
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0 ||
        gob_name_argument(NULL, given[1], a.key, &a.name, &scratch) < 0) {
        return NULL;
    }
    PyObject *result = gob_take_addition(a.kind, given[2], &a.by) < 0
                           ? NULL
                           : increment_at(self, kinds, given[0], &a);
    gob_name_release(&scratch);
    return result;
}

/* Many fields */

/* The cells of an edit that is as setting one row after another; how many. Among new fields the
 * first one of a name counts, so that they come in reverse. */
static size_t choose_cells(const record *self, const gob_row *row, const gob_names *names,
                           const gob_value_rows *values, gob_only only, gob_cell *cells)
{
    size_t n = 0;
    for (size_t i = 0; i < values->count; i++) {
        size_t at = only == GOB_ONLY_NEW ? values->count - 1 - i : i;
        gob_name name = gob_names_at(names, at);
        bool wanted = true;
        if (only != GOB_ANY) {
            gob_value old = gob_records_value(&self->table->records, row, name);
            wanted = (old.kind == GOB_VALUE_NONE) == (only == GOB_ONLY_NEW);
        }
        if (wanted) {
            cells[n++] = (gob_cell){name, values->at[at]};
        }
    }
    return n;
}

/* How many fields are new. */
static PyObject *set_cells(const record *self, call *c, const gob_names *names,
                           const gob_value_rows *values, gob_only only, gob_cell *cells)
{
    gob_row row;
    if (gob_view_reach(self, c, &row) < 0) {
        return NULL;
    }
    size_t before = row.shape.count;
    size_t n = choose_cells(self, &row, names, values, only, cells);
    int result = n == 0 ? 0 : gob_table_edit(self->table, c->key, cells, n);
    (void)gob_records_find(&self->table->records, c->key, &row);
    gob_name_release(&c->key_scratch);
    return result == 0 ? PyLong_FromSize_t(row.shape.count - before) : NULL;
}

static PyObject *set_many(const record *self, PyObject *names, PyObject *values, gob_only only)
{
    size_t count;
    call c = {.kinds = self->table->kinds};
    gob_value_rows rows;
    const gob_names *column = gob_names_get(names, (gob_kind)c.kinds.field, &count);
    if (column == NULL || gob_take_values((gob_kind)c.kinds.value, values, &rows) < 0) {
        return NULL;
    }
    PyObject *result = NULL;
    gob_cell *cells = PyMem_New(gob_cell, count);
    if (cells == NULL) {
        PyErr_NoMemory();
    } else if (gob_check_values(count, rows.count) == 0) {
        result = set_cells(self, &c, column, &rows, only, cells);
    }
    PyMem_Free(cells);
    gob_rows_release(&rows);
    return result;
}

/* _set_many(names, values, only), as that of a Hash. */
PyObject *gob_view_set_many(record *self, PyObject *args)
{
    PyObject *names, *values;
    gob_only only;
    if (gob_parse_set_many(args, &names, &values, &only) < 0) {
        return NULL;
    }
    PyObject *kept = gob_names_keep(names, (gob_kind)self->table->kinds.field);
    PyObject *result = kept == NULL ? NULL : set_many(self, kept, values, only);
    Py_XDECREF(kept);
    return result;
}
