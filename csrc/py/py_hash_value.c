/* Values of a hash in and out, whatever kind it has. */
#include "py_numpy.h"

#include "py_args.h"
#include "py_hash.h"

const char *gob_value_word(gob_kind kind)
{
    return kind == GOB_STR     ? "str"
           : kind == GOB_BYTES ? "bytes"
           : kind == GOB_INTS  ? "int64"
                               : "float64";
}

int gob_take_number(gob_kind kind, PyObject *object, gob_value *out)
{
    if (kind == GOB_INTS) {
        *out = gob_value_int(0);
        return gob_member_of(object, sizeof(int64_t), &out->integer);
    }
    *out = gob_value_float(0.0);
    if (gob_number(object, &out->real) < 0) {
        return -1;
    }
    out->real += 0.0; /* -0.0 is no value */
    return 0;
}

int gob_take_value(gob_kind kind, PyObject *object, gob_value_argument *arg)
{
    arg->scratch.object = NULL;
    if (kind == GOB_INTS || kind == GOB_FLOATS) {
        return gob_take_number(kind, object, &arg->value);
    }
    gob_name text;
    if (gob_name_argument(NULL, object, kind, &text, &arg->scratch) < 0) {
        return -1;
    }
    arg->value = gob_value_text(text);
    return 0;
}

int gob_take_step(PyObject *object, gob_value *step)
{
    if (PyArray_IsScalar(object, Bool)) {
        PyErr_SetString(PyExc_TypeError, "a bool is no number here");
        return -1;
    }
    return gob_take_number(PyIndex_Check(object) ? GOB_INTS : GOB_FLOATS, object, step);
}

int gob_take_number_step(gob_kind kind, PyObject *object, gob_value *out)
{
    (void)kind; /* of the values: texts take steps of both */
    return gob_take_step(object, out);
}

PyObject *gob_value_object(gob_kind kind, const gob_value *value)
{
    gob_scratch scratch;
    if (kind == GOB_INTS) {
        return PyLong_FromLongLong(value->integer);
    }
    if (kind == GOB_FLOATS) {
        return PyFloat_FromDouble(value->real);
    }
    return gob_name_object(NULL, kind, gob_value_bytes(value, &scratch));
}

PyObject *gob_hash_pair(const gob_hash_object *self, PyObject *pair, const gob_value *field,
                        const gob_value *value)
{
    PyObject *first = gob_value_object((gob_kind)self->key, field);
    PyObject *second = gob_value_object((gob_kind)self->value, value);
    PyTuple_SET_ITEM(pair, 0, first);
    PyTuple_SET_ITEM(pair, 1, second);
    if (first == NULL || second == NULL) {
        Py_CLEAR(pair);
    }
    return pair;
}

/* Rows */

static int rows_new(gob_value_rows *rows, size_t count)
{
    rows->count = count;
    rows->at = PyMem_New(gob_value, count);
    if (rows->at == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

void gob_rows_release(gob_value_rows *rows)
{
    PyMem_Free(rows->at);
}

static int rows_of_names(gob_kind kind, PyObject *names, gob_value_rows *rows)
{
    size_t count;
    const gob_names *column = gob_names_get(names, kind, &count);
    if (column == NULL || rows_new(rows, count) < 0) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        rows->at[i] = gob_value_text(gob_names_at(column, i));
    }
    return 0;
}

static int rows_of_tuple(gob_kind kind, PyObject *items, gob_take_row *take, gob_value_rows *rows)
{
    if (rows_new(rows, (size_t)PyTuple_GET_SIZE(items)) < 0) {
        return -1;
    }
    for (size_t i = 0; i < rows->count; i++) {
        if (take(kind, PyTuple_GET_ITEM(items, (Py_ssize_t)i), &rows->at[i]) < 0) {
            gob_rows_release(rows);
            return -1;
        }
    }
    return 0;
}

static int row_of_element(PyArrayObject *array, size_t i, gob_value *out)
{
    const void *element = PyArray_BYTES(array) + i * sizeof(int64_t);
    if (PyArray_TYPE(array) == NPY_INT64) {
        *out = gob_value_int((int64_t)gob_load64(element));
        return 0;
    }
    double real;
    memcpy(&real, element, sizeof real);
    *out = gob_value_float(real + 0.0);
    if (real != real) {
        PyErr_SetString(PyExc_ValueError, "NaN is no number to keep");
        return -1;
    }
    return 0;
}

static int rows_of_array(PyObject *object, gob_value_rows *rows)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_Check(object) || PyArray_NDIM(array) != 1 || !PyArray_IS_C_CONTIGUOUS(array) ||
        (PyArray_TYPE(array) != NPY_INT64 && PyArray_TYPE(array) != NPY_FLOAT64)) {
        PyErr_SetString(PyExc_TypeError, "a tuple or an array of int64 or float64 is wanted");
        return -1;
    }
    if (rows_new(rows, (size_t)PyArray_DIM(array, 0)) < 0) {
        return -1;
    }
    for (size_t i = 0; i < rows->count; i++) {
        if (row_of_element(array, i, &rows->at[i]) < 0) {
            gob_rows_release(rows);
            return -1;
        }
    }
    return 0;
}

int gob_take_rows(gob_kind kind, PyObject *object, gob_take_row *take, gob_value_rows *rows)
{
    if (PyTuple_CheckExact(object)) {
        return rows_of_tuple(kind, object, take, rows);
    }
    return PyArray_Check(object) ? rows_of_array(object, rows) : rows_of_names(kind, object, rows);
}
