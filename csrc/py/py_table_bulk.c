/* Many records, all or nothing, and columns. */
#include "py_numpy.h"

#include "py_args.h"
#include "py_status.h"
#include "py_table.h"

/* Rows of values: Names for texts, else an array of int64 or float64. Borrowed. */
typedef struct column {
    const gob_names *texts;
    const uint8_t *numbers;
    const uint8_t *present; /* a bool for each row; NULL: all are */
    size_t count;
    bool real;
} column;

static gob_value value_at(const column *c, size_t i)
{
    if (c->texts != NULL) {
        return gob_value_text(gob_names_at(c->texts, i));
    }
    const uint8_t *at = c->numbers + i * sizeof(int64_t);
    if (!c->real) {
        return gob_value_int((int64_t)gob_load64(at));
    }
    double real;
    memcpy(&real, at, sizeof real);
    return gob_value_float(real + 0.0); /* -0.0 is no value */
}

/* An array of int64 or float64, one after the other. 0, or -1 with TypeError. */
static int check_numbers(PyObject *object, gob_kind kind)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_Check(object) || PyArray_NDIM(array) != 1 || !PyArray_IS_C_CONTIGUOUS(array) ||
        PyArray_TYPE(array) != (kind == GOB_INTS ? NPY_INT64 : NPY_FLOAT64)) {
        PyErr_Format(PyExc_TypeError, "an array of %s is wanted", gob_value_word(kind));
        return -1;
    }
    return 0;
}

static int take_column(gob_kind kind, PyObject *object, column *out)
{
    *out = (column){.real = kind == GOB_FLOATS};
    if (kind == GOB_STR || kind == GOB_BYTES) {
        out->texts = gob_names_get(object, kind, &out->count);
        return out->texts == NULL ? -1 : 0;
    }
    if (check_numbers(object, kind) < 0) {
        return -1;
    }
    out->numbers = (const uint8_t *)PyArray_BYTES((PyArrayObject *)object);
    out->count = (size_t)PyArray_DIM((PyArrayObject *)object, 0);
    for (size_t i = 0; out->real && i < out->count; i++) {
        gob_value value = value_at(out, i);
        if (value.real != value.real) {
            PyErr_SetString(PyExc_ValueError, "NaN is no number to keep");
            return -1;
        }
    }
    return 0;
}

/* The rows of a call: either `counts` says how many of the fields and of the one column of values
 * each row has, or a row has each field whose column has a value for it. */
typedef struct load {
    gob_table_object *self;
    gob_table_kinds kinds;
    const gob_names *keys;
    const gob_names *fields;
    const int64_t *counts;
    const column *columns;
    size_t rows;
    size_t field_count;
    size_t at; /* the first field of the next row, where there are counts */
    gob_cell *cells;
    uint8_t *key; /* a copy of the row's, which has to stay the same while it is looked up */
    size_t key_room;
    gob_fields stage;
} load;

static size_t read_cells(load *c, size_t row)
{
    size_t n = (size_t)c->counts[row];
    for (size_t i = 0; i < n; i++, c->at++) {
        c->cells[i].field = gob_names_at(c->fields, c->at);
        c->cells[i].value = value_at(c->columns, c->at);
    }
    return n;
}

static size_t read_row(load *c, size_t row)
{
    size_t n = 0;
    for (size_t i = 0; i < c->field_count; i++) {
        const column *values = &c->columns[i];
        if (values->present == NULL || values->present[row]) {
            c->cells[n].field = gob_names_at(c->fields, i);
            c->cells[n++].value = value_at(values, row);
        }
    }
    return n;
}

static gob_status read_key(load *c, size_t row, gob_name *key)
{
    gob_name name = gob_names_at(c->keys, row);
    if (name.len > c->key_room) {
        uint8_t *room = PyMem_RawRealloc(c->key, name.len);
        if (room == NULL) {
            return GOB_NOMEM;
        }
        c->key = room;
        c->key_room = name.len;
    }
    if (name.len != 0) {
        memcpy(c->key, name.at, name.len);
    }
    *key = (gob_name){c->key, name.len};
    return GOB_OK;
}

static gob_status put_rows(void *context, size_t from, size_t n)
{
    load *c = context;
    for (size_t row = from; row < from + n; row++) {
        gob_name key;
        size_t cells = c->counts == NULL ? read_row(c, row) : read_cells(c, row);
        GOB_TRY(read_key(c, row, &key));
        GOB_TRY(gob_records_put(&c->self->records, &c->stage, key, c->cells, cells));
    }
    return GOB_OK;
}

static gob_status commit(void *context, size_t from, size_t n)
{
    load *c = context;
    (void)from;
    (void)n;
    return gob_records_commit(&c->self->records, &c->stage);
}

static gob_status abandon(void *context, size_t from, size_t n)
{
    load *c = context;
    (void)from;
    (void)n;
    gob_records_abandon(&c->self->records, &c->stage);
    return GOB_OK;
}

/* The whole call, on a table that is ready. What is staged uses the table's shapes, so that no one
 * may come in between. */
static int transact(load *c)
{
    gob_status status;
    gob_table_expect(c->self, c->rows);
    gob_use before = gob_start(c->self, GOB_RUNNING);
    gob_records_stage(&c->self->records, &c->stage);
    int result = gob_try_in(c->self, put_rows, c, c->rows, GOB_STRETCH / 8, &status);
    if (status != GOB_OK) {
        gob_raise(status);
        result = -1;
    }
    if (result == 0) {
        result = gob_run_change(c->self, &c->self->records.alloc, commit, c, c->rows);
    }
    if (result < 0) {
        (void)gob_detached(abandon, c, 0, c->rows);
    }
    gob_finish(c->self, before);
    return result;
}

/* Room for the cells of a row, then the call. */
static PyObject *carry_out(load *c, size_t most)
{
    int result = -1;
    c->cells = PyMem_New(gob_cell, most);
    if (c->cells == NULL) {
        PyErr_NoMemory();
    } else if (gob_table_ready_for(c->self, c->kinds) == 0 && gob_table_check_own(c->self) == 0) {
        result = transact(c);
    }
    PyMem_RawFree(c->key);
    PyMem_Free(c->cells);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

static int take_names(load *c, PyObject *keys, PyObject *fields)
{
    c->keys = gob_names_get(keys, (gob_kind)c->kinds.key, &c->rows);
    if (c->keys == NULL) {
        return -1;
    }
    c->fields = gob_names_get(fields, (gob_kind)c->kinds.field, &c->field_count);
    return c->fields == NULL ? -1 : 0;
}

/* The largest count in *most; -1 unless they fit the rows, and their sum the fields and values. */
static int check_counts(const load *c, size_t counts, size_t *most)
{
    size_t sum = 0;
    *most = 0;
    bool fits = counts == c->rows && c->columns->count == c->field_count;
    for (size_t i = 0; fits && i < counts; i++) {
        fits = c->counts[i] >= 0 && (size_t)c->counts[i] <= c->field_count - sum;
        sum += (size_t)c->counts[i];
        *most = (size_t)c->counts[i] > *most ? (size_t)c->counts[i] : *most;
    }
    if (!fits || sum != c->field_count) {
        PyErr_SetString(PyExc_ValueError, "keys, fields and values differ in length");
        return -1;
    }
    return 0;
}

/* _update(keys, counts, fields, values): of each key, so many of the fields and values */
PyObject *gob_table_update(gob_table_object *self, PyObject *args)
{
    PyObject *keys, *counts, *fields, *values;
    load c = {.self = self, .kinds = self->kinds};
    column one;
    Py_buffer view;
    size_t rows, most;
    if (!PyArg_ParseTuple(args, "OOOO:_update", &keys, &counts, &fields, &values) ||
        take_names(&c, keys, fields) < 0 ||
        take_column((gob_kind)c.kinds.value, values, &one) < 0 ||
        gob_buffer(counts, &view, sizeof(int64_t), false, &rows) < 0) {
        return NULL;
    }
    c.columns = &one;
    c.counts = view.buf;
    PyObject *result = check_counts(&c, rows, &most) < 0 ? NULL : carry_out(&c, most);
    PyBuffer_Release(&view);
    return result;
}

/* None, or an array of bool. */
static int take_present(PyObject *object, size_t rows, column *out)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (object == Py_None) {
        return 0;
    }
    if (!PyArray_Check(object) || PyArray_TYPE(array) != NPY_BOOL || PyArray_NDIM(array) != 1 ||
        !PyArray_IS_C_CONTIGUOUS(array) || (size_t)PyArray_DIM(array, 0) != rows) {
        PyErr_SetString(PyExc_TypeError, "an array of bool, one a row, is wanted");
        return -1;
    }
    out->present = (const uint8_t *)PyArray_BYTES(array);
    return 0;
}

static int take_columns(const load *c, PyObject *objects, column *columns)
{
    for (size_t i = 0; i < c->field_count; i++) {
        PyObject *object, *present;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(objects, (Py_ssize_t)i), "OO:column", &object,
                              &present) ||
            take_column((gob_kind)c->kinds.value, object, &columns[i]) < 0 ||
            take_present(present, c->rows, &columns[i]) < 0) {
            return -1;
        }
        if (columns[i].count != c->rows) {
            PyErr_Format(PyExc_ValueError, "%zu keys, but %zu values in a column", c->rows,
                         columns[i].count);
            return -1;
        }
    }
    return 0;
}

/* _take_rows(keys, fields, columns): of each key, all fields; columns is a tuple of their values,
 * each (values, present), the latter an array of bool, or None where every row has the field */
PyObject *gob_table_take_rows(gob_table_object *self, PyObject *args)
{
    PyObject *keys, *fields, *objects;
    load c = {.self = self, .kinds = self->kinds};
    if (!PyArg_ParseTuple(args, "OOO!:_take_rows", &keys, &fields, &PyTuple_Type, &objects) ||
        take_names(&c, keys, fields) < 0) {
        return NULL;
    }
    if ((size_t)PyTuple_GET_SIZE(objects) != c.field_count) {
        PyErr_SetString(PyExc_ValueError, "fields and columns differ in length");
        return NULL;
    }
    column *columns = PyMem_New(column, c.field_count);
    if (columns == NULL) {
        return PyErr_NoMemory();
    }
    c.columns = columns;
    PyObject *result = take_columns(&c, objects, columns) < 0 ? NULL : carry_out(&c, c.field_count);
    PyMem_Free(columns);
    return result;
}

/* Columns */

typedef struct reader {
    gob_table_object *self;
    gob_name field;
    size_t at; /* where the next record is */
    gob_value missing;
    uint8_t *out; /* numbers */
} reader;

static gob_status read_numbers(void *context, size_t from, size_t n)
{
    reader *c = context;
    gob_value values[GOB_BATCH];
    uint8_t *out = c->out + from * sizeof(int64_t);
    for (size_t done = 0, got; done < n; done += got) {
        size_t most = n - done < GOB_BATCH ? n - done : GOB_BATCH;
        got = gob_records_column(&c->self->records, c->field, &c->at, values, most);
        for (size_t i = 0; i < got; i++, out += sizeof(int64_t)) {
            const gob_value *v = values[i].kind == GOB_VALUE_NONE ? &c->missing : &values[i];
            memcpy(out, v->kind == GOB_VALUE_INT ? (const void *)&v->integer : &v->real,
                   sizeof(int64_t));
        }
        GOB_TRY(gob_spend(c->self->records.alloc.pace, got));
    }
    return GOB_OK;
}

/* New str or bytes, which run no other code. */
static int read_texts(reader *c, PyArrayObject *array, PyObject *missing)
{
    gob_value values[GOB_BATCH];
    gob_kind kind = (gob_kind)c->self->kinds.value;
    PyObject **out = (PyObject **)(void *)PyArray_BYTES(array);
    size_t got;
    while ((got = gob_records_column(&c->self->records, c->field, &c->at, values, GOB_BATCH)) !=
           0) {
        if (gob_spend(c->self->records.alloc.pace, got) != GOB_OK) {
            return -1;
        }
        for (size_t i = 0; i < got; i++, out++) {
            bool absent = values[i].kind == GOB_VALUE_NONE;
            PyObject *text = absent ? Py_NewRef(missing) : gob_value_object(kind, &values[i]);
            if (text == NULL) {
                return -1;
            }
            PyObject *old = *out; /* None, or nothing */
            *out = text;
            Py_XDECREF(old);
        }
    }
    return 0;
}

static int take_missing(gob_kind kind, PyObject *object, gob_value *missing)
{
    if (kind == GOB_INTS) {
        *missing = gob_value_int(0);
        return gob_member_of(object, sizeof(int64_t), &missing->integer);
    }
    *missing = gob_value_float(PyFloat_AsDouble(object)); /* NaN, too */
    return missing->real == -1.0 && PyErr_Occurred() ? -1 : 0;
}

/* The column into an array that was checked, of a table that is ready. */
static int read_column(reader *c, PyArrayObject *array, PyObject *missing)
{
    size_t count = gob_records_count(&c->self->records);
    if ((size_t)PyArray_DIM(array, 0) != count) {
        PyErr_SetString(PyExc_RuntimeError, "the HashTable changed meanwhile");
        return -1;
    }
    if (PyArray_TYPE(array) == NPY_OBJECT) {
        gob_use before = gob_start(c->self, GOB_RUNNING);
        int result = read_texts(c, array, missing);
        gob_finish(c->self, before);
        return result;
    }
    c->out = (uint8_t *)PyArray_BYTES(array);
    return gob_run(c->self, read_numbers, c, count);
}

/* _column(field, out, missing): out is a new array of int64 or float64, of objects for texts */
PyObject *gob_table_column(gob_table_object *self, PyObject *args)
{
    PyObject *field, *out, *missing;
    gob_table_kinds kinds = self->kinds;
    gob_kind kind = (gob_kind)kinds.value;
    bool texts = kind == GOB_STR || kind == GOB_BYTES;
    gob_name_scratch scratch;
    reader c = {.self = self};
    if (!PyArg_ParseTuple(args, "OO!O:_column", &field, &PyArray_Type, &out, &missing)) {
        return NULL;
    }
    bool fits = texts ? PyArray_TYPE((PyArrayObject *)out) == NPY_OBJECT &&
                            PyArray_IS_C_CONTIGUOUS((PyArrayObject *)out) &&
                            PyArray_NDIM((PyArrayObject *)out) == 1
                      : check_numbers(out, kind) == 0;
    if (!fits && texts) {
        PyErr_SetString(PyExc_TypeError, "an array of objects is wanted");
    }
    if (!fits || (!texts && take_missing(kind, missing, &c.missing) < 0) ||
        gob_name_argument(NULL, field, (gob_kind)kinds.field, &c.field, &scratch) < 0) {
        return NULL;
    }
    int result = gob_table_ready_for(self, kinds);
    if (result == 0) {
        result = read_column(&c, (PyArrayObject *)out, missing);
    }
    gob_name_release(&scratch);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}
