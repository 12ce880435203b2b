/* Values of a hash in and out, whatever kind it has. */
#include "py_numpy.h"

#include <math.h>

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

/* Numbers are what is tried for texts. */
static int refuse_text(gob_kind kind, PyObject *object)
{
    bool real = PyFloat_Check(object);
    const char *hint = "";
    if (kind == GOB_STR && (real || PyIndex_Check(object))) {
        hint = real ? "; str() makes one, and value=\"float64\" is for floats"
                    : "; str() makes one, and value=\"int64\" is for integers";
    }
    PyErr_Format(PyExc_TypeError, "a value must be %s, not %.100s%s", gob_value_word(kind),
                 Py_TYPE(object)->tp_name, hint);
    return -1;
}

static bool is_text(gob_kind kind, PyObject *object)
{
    return kind == GOB_STR
               ? PyUnicode_Check(object)
               : PyBytes_Check(object) || PyByteArray_Check(object) || PyMemoryView_Check(object);
}

int gob_take_value(gob_kind kind, PyObject *object, gob_value_argument *arg)
{
    arg->scratch.object = NULL;
    if (kind == GOB_INTS || kind == GOB_FLOATS) {
        return gob_take_number(kind, object, &arg->value);
    }
    gob_name text;
    if (!is_text(kind, object)) {
        return refuse_text(kind, object);
    }
    if (gob_name_argument(NULL, object, kind, &text, &arg->scratch) < 0) {
        return -1;
    }
    arg->value = gob_value_text(text);
    return 0;
}

int gob_take_step(gob_kind kind, PyObject *object, gob_value *step)
{
    if (PyBool_Check(object) || PyArray_IsScalar(object, Bool)) {
        PyErr_SetString(PyExc_TypeError, "a bool is no number here");
        return -1;
    }
    bool integer = kind != GOB_FLOATS && PyIndex_Check(object);
    return gob_take_number(integer ? GOB_INTS : GOB_FLOATS, object, step);
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

static int rows_of_tuple(gob_kind kind, bool steps, PyObject *items, gob_value_rows *rows)
{
    if (rows_new(rows, (size_t)PyTuple_GET_SIZE(items)) < 0) {
        return -1;
    }
    for (size_t i = 0; i < rows->count; i++) {
        PyObject *item = PyTuple_GET_ITEM(items, (Py_ssize_t)i);
        int result = steps ? gob_take_step(kind, item, &rows->at[i])
                           : gob_take_number(kind, item, &rows->at[i]);
        if (result < 0) {
            gob_rows_release(rows);
            return gob_blame_item((Py_ssize_t)i);
        }
    }
    return 0;
}

/* The kind of numbers in an array that can be read as it lies, or -1. */
static int kind_of_array(PyObject *object)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_Check(object) || PyArray_NDIM(array) != 1 || !PyArray_IS_C_CONTIGUOUS(array) ||
        PyArray_ITEMSIZE(array) != sizeof(int64_t) || PyArray_ISBYTESWAPPED(array)) {
        return -1;
    }
    char letter = PyArray_DESCR(array)->kind;
    return letter == 'i' ? GOB_INTS : letter == 'f' ? GOB_FLOATS : -1;
}

static int take_element(gob_kind kind, const void *element, gob_value *out)
{
    double real;
    if (kind == GOB_INTS) {
        *out = gob_value_int((int64_t)gob_load64(element));
        return 0;
    }
    memcpy(&real, element, sizeof real);
    *out = gob_value_float(real + 0.0);
    if (isnan(real)) {
        PyErr_SetString(PyExc_ValueError, "NaN is no number to keep");
        return -1;
    }
    return 0;
}

static int rows_of_array(gob_kind kind, PyArrayObject *array, gob_value_rows *rows)
{
    if (rows_new(rows, (size_t)PyArray_DIM(array, 0)) < 0) {
        return -1;
    }
    const char *element = PyArray_BYTES(array);
    for (size_t i = 0; i < rows->count; i++, element += sizeof(int64_t)) {
        if (take_element(kind, element, &rows->at[i]) < 0) {
            gob_rows_release(rows);
            return -1;
        }
    }
    return 0;
}

/* Values of a kind, or steps for them, which are floats among floats and else of either kind. */
static int rows_of_numbers(gob_kind kind, bool steps, PyObject *object, gob_value_rows *rows)
{
    if (PyTuple_CheckExact(object)) {
        return rows_of_tuple(kind, steps, object, rows);
    }
    int given = kind_of_array(object);
    bool either = steps && kind != GOB_FLOATS;
    if (given < 0 || (!either && given != (int)kind)) {
        PyErr_SetString(PyExc_TypeError, "a tuple or an array of int64 or float64 is wanted");
        return -1;
    }
    return rows_of_array((gob_kind)given, (PyArrayObject *)object, rows);
}

int gob_take_values(gob_kind kind, PyObject *object, gob_value_rows *rows)
{
    return kind == GOB_STR || kind == GOB_BYTES ? rows_of_names(kind, object, rows)
                                                : rows_of_numbers(kind, false, object, rows);
}

int gob_take_steps(gob_kind kind, PyObject *object, size_t count, gob_value_rows *rows)
{
    gob_value one;
    if (PyTuple_CheckExact(object) || PyArray_Check(object)) {
        return rows_of_numbers(kind, true, object, rows);
    }
    if (gob_take_step(kind, object, &one) < 0 || rows_new(rows, count) < 0) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        rows->at[i] = one;
    }
    return 0;
}
