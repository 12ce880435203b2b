/* Entries of a Hash and records of a HashTable as columns, some at a time. */
#include "py_numpy.h"

#include "py_hash.h"
#include "py_status.h"
#include "py_table.h"

static PyObject *texts_of(const gob_module_state *state, gob_kind kind, const gob_value *values,
                          size_t n)
{
    gob_name *names = PyMem_New(gob_name, n);
    gob_scratch *scratches = PyMem_New(gob_scratch, n);
    PyObject *column = NULL;
    if (names == NULL || scratches == NULL) {
        PyErr_NoMemory();
    } else {
        for (size_t i = 0; i < n; i++) {
            bool none = values[i].kind == GOB_VALUE_NONE;
            names[i] = none ? (gob_name){NULL, 0} : gob_value_bytes(&values[i], &scratches[i]);
        }
        column = gob_names_copy(state, kind, names, n);
    }
    PyMem_Free(names);
    PyMem_Free(scratches);
    return column;
}

static PyObject *numbers_of(gob_kind kind, const gob_value *values, size_t n)
{
    npy_intp shape = (npy_intp)n;
    PyObject *array = PyArray_ZEROS(1, &shape, kind == GOB_INTS ? NPY_INT64 : NPY_FLOAT64, 0);
    if (array == NULL) {
        return NULL;
    }
    char *out = PyArray_BYTES((PyArrayObject *)array);
    for (size_t i = 0; i < n; i++, out += sizeof(int64_t)) {
        if (values[i].kind == GOB_VALUE_INT) {
            memcpy(out, &values[i].integer, sizeof(int64_t));
        } else if (values[i].kind == GOB_VALUE_FLOAT) {
            memcpy(out, &values[i].real, sizeof(double));
        }
    }
    return array;
}

/* A Names, or an array of int64 or float64. */
static PyObject *column_of(const gob_module_state *state, gob_kind kind, const gob_value *values,
                           size_t n)
{
    return kind == GOB_STR || kind == GOB_BYTES ? texts_of(state, kind, values, n)
                                                : numbers_of(kind, values, n);
}

/* What is missing: bytes with a bit for each value that is there; None where all are. */
static PyObject *valid_of(const gob_value *values, size_t n, size_t *missing)
{
    *missing = 0;
    for (size_t i = 0; i < n; i++) {
        *missing += values[i].kind == GOB_VALUE_NONE;
    }
    if (*missing == 0) {
        return Py_NewRef(Py_None);
    }
    PyObject *bits = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((n + 7) / 8));
    if (bits != NULL) {
        uint8_t *out = (uint8_t *)PyBytes_AS_STRING(bits);
        memset(out, 0, (n + 7) / 8);
        for (size_t i = 0; i < n; i++) {
            out[i / 8] |= (uint8_t)((values[i].kind != GOB_VALUE_NONE) << i % 8);
        }
    }
    return bits;
}

static int parse_part(PyObject *args, size_t *at, size_t *most, PyObject **fields)
{
    Py_ssize_t from, rows;
    if (!PyArg_ParseTuple(args, fields == NULL ? "nn:_part" : "nnO:_part", &from, &rows, fields)) {
        return -1;
    }
    if (from < 0 || rows < 0) {
        PyErr_SetString(PyExc_ValueError, "a place and a number of rows are wanted");
        return -1;
    }
    *at = (size_t)from;
    *most = (size_t)rows;
    return 0;
}

/* Callers ask for as many rows as there are: only in a file that is mapped some are missing. */
static PyObject *raise_missing(void)
{
    return gob_raise(GOB_MALFORMED);
}

/* Objects are made while the hash is marked, as that may run finalisers. */
PyObject *gob_hash_part(gob_hash_object *self, PyObject *args)
{
    size_t at, most, n = 0;
    if (parse_part(args, &at, &most, NULL) < 0 || gob_ready(self) < 0) {
        return NULL;
    }
    size_t count = gob_hashmap_count(&self->map);
    size_t room = most < count ? most : count;
    gob_value *fields = PyMem_New(gob_value, 2 * room);
    gob_value *values = fields == NULL ? NULL : fields + room;
    if (fields == NULL) {
        return PyErr_NoMemory();
    }
    while (n < room && gob_hashmap_next(&self->map, &at, &fields[n], &values[n])) {
        n++;
    }
    if (n == 0 && room != 0) {
        PyMem_Free(fields);
        return raise_missing();
    }
    const gob_module_state *state = gob_state_of(self);
    gob_use before = gob_start(self, GOB_RUNNING);
    PyObject *keys = column_of(state, (gob_kind)self->key, fields, n);
    PyObject *column = keys == NULL ? NULL : column_of(state, (gob_kind)self->value, values, n);
    gob_finish(self, before);
    PyMem_Free(fields);
    if (column == NULL) {
        Py_XDECREF(keys);
        return NULL;
    }
    return Py_BuildValue("(NNn)", keys, column, (Py_ssize_t)at);
}

/* Records [at, at + n) of a table that is marked as running. */
typedef struct part {
    gob_table_object *self;
    const gob_module_state *state;
    const gob_names *fields;
    gob_value *values; /* n of them */
    size_t field_count;
    size_t at;
    size_t n;
} part;

static PyObject *keys_of(part *p, size_t *end)
{
    gob_row row;
    size_t n = 0;
    *end = p->at;
    while (n < p->n && gob_records_next(&p->self->records, end, &p->values[n], &row)) {
        n++;
    }
    if (n == 0 && p->n != 0) {
        return raise_missing();
    }
    p->n = n;
    return column_of(p->state, (gob_kind)p->self->kinds.key, p->values, n);
}

/* (values, valid, nulls) of one field */
static PyObject *field_of(part *p, size_t i)
{
    size_t missing, at = p->at;
    gob_name field = gob_names_at(p->fields, i);
    size_t n = gob_records_column(&p->self->records, field, &at, p->values, p->n);
    PyObject *column = column_of(p->state, (gob_kind)p->self->kinds.value, p->values, n);
    PyObject *valid = column == NULL ? NULL : valid_of(p->values, n, &missing);
    if (valid == NULL) {
        Py_XDECREF(column);
        return NULL;
    }
    return Py_BuildValue("(NNn)", column, valid, (Py_ssize_t)missing);
}

static PyObject *fields_of(part *p)
{
    PyObject *columns = PyTuple_New((Py_ssize_t)p->field_count);
    gob_breath breath = {0};
    for (size_t i = 0; columns != NULL && i < p->field_count; i++) {
        PyObject *column = gob_breathe_after(&breath, p->n) < 0 ? NULL : field_of(p, i);
        if (column == NULL) {
            Py_CLEAR(columns);
        } else {
            PyTuple_SET_ITEM(columns, (Py_ssize_t)i, column);
        }
    }
    return columns;
}

static PyObject *read_part(part *p)
{
    size_t end;
    p->values = PyMem_New(gob_value, p->n);
    if (p->values == NULL) {
        return PyErr_NoMemory();
    }
    gob_use before = gob_start(p->self, GOB_RUNNING);
    PyObject *keys = keys_of(p, &end);
    PyObject *columns = keys == NULL ? NULL : fields_of(p);
    gob_finish(p->self, before);
    PyMem_Free(p->values);
    if (columns == NULL) {
        Py_XDECREF(keys);
        return NULL;
    }
    return Py_BuildValue("(NNn)", keys, columns, (Py_ssize_t)end);
}

PyObject *gob_table_part(gob_table_object *self, PyObject *args)
{
    PyObject *fields;
    gob_table_kinds kinds = self->kinds;
    part p = {.self = self, .state = gob_state_of(self)};
    if (parse_part(args, &p.at, &p.n, &fields) < 0) {
        return NULL;
    }
    p.fields = gob_names_get(fields, (gob_kind)kinds.field, &p.field_count);
    if (p.fields == NULL || gob_table_ready_for(self, kinds) < 0) {
        return NULL;
    }
    size_t count = gob_records_count(&self->records);
    p.n = p.n < count ? p.n : count;
    return read_part(&p);
}
