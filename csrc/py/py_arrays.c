/* Columns from numpy arrays: U, StringDType, S, V16, rows of 16 bytes, objects. */
#include "py_numpy.h"

#include "py_columns.h"
#include "py_uuid.h"

#include "gob_utf8.h"

/* Rows of a one-dimensional array, any distance apart. */
typedef struct rows {
    const char *at;
    npy_intp stride;
    size_t count;
    size_t width; /* bytes of a row */
} rows;

static rows rows_of(PyArrayObject *array)
{
    return (rows){.at = PyArray_BYTES(array),
                  .stride = PyArray_STRIDE(array, 0),
                  .count = (size_t)PyArray_DIM(array, 0),
                  .width = (size_t)PyArray_ITEMSIZE(array)};
}

static const char *row(const rows *r, size_t i)
{
    return r->at + (npy_intp)i * r->stride;
}

/* Fixed rows where numpy has them, or a copy of scattered ones. */
static int take_fixed(gob_names_object *self, PyArrayObject *array, gob_names_form form,
                      size_t width)
{
    PyArrayObject *whole = PyArray_GETCONTIGUOUS(array);
    if (whole == NULL) {
        return -1;
    }
    self->source = (PyObject *)whole;
    self->count = (size_t)PyArray_DIM(whole, 0);
    self->column = (gob_names){.form = form, .width = width, .data = PyArray_DATA(whole)};
    return 0;
}

static uint32_t code_point(const char *text, size_t i, bool swapped)
{
    uint32_t c = gob_load32(text + 4 * i);
    return swapped ? __builtin_bswap32(c) : c;
}

/* Code points of a row without its trailing NULs. */
static size_t code_points(const char *text, size_t width)
{
    size_t n = width / 4;
    while (n != 0 && gob_load32(text + 4 * (n - 1)) == 0) {
        n--;
    }
    return n;
}

/* For a row that has no UTF-8; Python's own error where it is a str. */
static int raise_unencodable(PyArrayObject *array, const char *text, uint32_t c)
{
    if (c > 0x10FFFF) {
        PyErr_SetString(PyExc_ValueError, "an array of text holds what is no code point");
        return -1;
    }
    PyObject *object = PyArray_GETITEM(array, text);
    PyObject *encoded = object == NULL ? NULL : PyUnicode_AsUTF8String(object);
    Py_XDECREF(object);
    Py_XDECREF(encoded);
    return -1;
}

/* UTF-8 of all rows together; -1 with UnicodeEncodeError or ValueError. */
static Py_ssize_t unicode_size(PyArrayObject *array, const rows *r, bool swapped)
{
    Py_ssize_t total = 0;
    for (size_t i = 0; i < r->count; i++) {
        const char *text = row(r, i);
        size_t n = code_points(text, r->width);
        for (size_t k = 0; k < n; k++) {
            uint32_t c = code_point(text, k, swapped);
            if (GOB_UNLIKELY(!gob_utf8_encodes(c))) {
                return raise_unencodable(array, text, c);
            }
            total += (Py_ssize_t)gob_utf8_size(c);
        }
    }
    return total;
}

static int take_unicode(gob_names_object *self, PyArrayObject *array)
{
    rows r = rows_of(array);
    bool swapped = PyArray_ISBYTESWAPPED(array);
    Py_ssize_t size = unicode_size(array, &r, swapped);
    gob_texts texts;
    if (size < 0 || gob_texts_new(self, r.count, (size_t)size, &texts) < 0) {
        return -1;
    }
    uint8_t *out = texts.text;
    for (size_t i = 0; i < r.count; i++) {
        const char *text = row(&r, i);
        size_t n = code_points(text, r.width);
        for (size_t k = 0; k < n; k++) {
            out = gob_utf8_put(out, code_point(text, k, swapped));
        }
        gob_store64(texts.offsets + 8 * (i + 1), (uint64_t)(out - texts.text));
    }
    return 0;
}

enum { LOADED, MISSING, FAILED };

/* Bytes of all rows together. */
static int string_size(npy_string_allocator *allocator, const rows *r, size_t *total)
{
    *total = 0;
    for (size_t i = 0; i < r->count; i++) {
        npy_static_string text = {0, NULL};
        int result = NpyString_load(allocator, (const void *)row(r, i), &text);
        if (result != 0) {
            return result > 0 ? MISSING : FAILED;
        }
        *total += text.size;
    }
    return LOADED;
}

static int copy_strings(npy_string_allocator *allocator, const rows *r, const gob_texts *texts)
{
    uint64_t end = 0;
    for (size_t i = 0; i < r->count; i++) {
        npy_static_string text = {0, NULL};
        if (NpyString_load(allocator, (const void *)row(r, i), &text) != 0) {
            return FAILED;
        }
        if (text.size != 0) {
            memcpy(texts->text + end, text.buf, text.size);
        }
        end += text.size;
        gob_store64(texts->offsets + 8 * (i + 1), end);
    }
    return LOADED;
}

/* A copy, since writes to the array would move the text of all rows. */
static int take_strings(gob_names_object *self, PyArrayObject *array)
{
    rows r = rows_of(array);
    gob_texts texts;
    size_t size;
    npy_string_allocator *allocator =
        NpyString_acquire_allocator((PyArray_StringDTypeObject *)PyArray_DESCR(array));
    int result = string_size(allocator, &r, &size);
    bool memory = result == LOADED && gob_texts_new(self, r.count, size, &texts) == 0;
    if (memory) {
        result = copy_strings(allocator, &r, &texts);
    }
    NpyString_release_allocator(allocator);
    if (result == MISSING) {
        PyErr_SetString(PyExc_ValueError, "missing strings have no value; leave them out");
    } else if (result == FAILED) {
        PyErr_SetString(PyExc_RuntimeError, "numpy can't load a string");
    }
    return memory && result == LOADED ? 0 : -1;
}

static int refuse_dtype(const gob_names_object *self, PyArrayObject *array)
{
    int type = PyArray_TYPE(array);
    const char *hint = "";
    if (self->kind == GOB_UUID && type == NPY_STRING) {
        hint = ", which drops trailing NULs; keep them as V16";
    } else if (self->kind == GOB_STR && (PyTypeNum_ISINTEGER(type) || PyTypeNum_ISFLOAT(type))) {
        hint = "; astype(str) makes text of it";
    }
    PyErr_Format(PyExc_TypeError, "%s can't come from an array of %S%s", gob_kind_word(self->kind),
                 PyArray_DESCR(array), hint);
    return -1;
}

/* Text, also of UUIDs. */
static int take_text(gob_names_object *self, PyArrayObject *array)
{
    int result =
        PyArray_TYPE(array) == NPY_UNICODE ? take_unicode(self, array) : take_strings(self, array);
    return result == 0 && self->kind == GOB_UUID ? gob_names_parse(self) : result;
}

static bool is_plain_void(PyArrayObject *array)
{
    return PyArray_TYPE(array) == NPY_VOID && !PyDataType_HASFIELDS(PyArray_DESCR(array)) &&
           PyArray_ITEMSIZE(array) == GOB_UUID_BYTES;
}

static bool is_uuid_rows(PyArrayObject *array)
{
    return PyArray_NDIM(array) == 2 && PyArray_TYPE(array) == NPY_UBYTE &&
           PyArray_DIM(array, 1) == GOB_UUID_BYTES;
}

int gob_names_from_array(gob_names_object *self, PyObject *object)
{
    PyArrayObject *array = (PyArrayObject *)object;
    int type = PyArray_TYPE(array);
    if (self->kind == GOB_UUID && is_uuid_rows(array)) {
        return take_fixed(self, array, GOB_NAMES_FIXED, GOB_UUID_BYTES);
    }
    if (PyArray_NDIM(array) != 1) {
        PyErr_Format(PyExc_ValueError, "an array must have one dimension, not %d",
                     PyArray_NDIM(array));
        return -1;
    }
    if (type == NPY_OBJECT) {
        return gob_names_from_objects(self, object);
    }
    if (self->kind != GOB_BYTES && (type == NPY_UNICODE || type == NPY_VSTRING)) {
        return take_text(self, array);
    }
    if (self->kind == GOB_BYTES && type == NPY_STRING) {
        return take_fixed(self, array, GOB_NAMES_PADDED, (size_t)PyArray_ITEMSIZE(array));
    }
    if (self->kind == GOB_UUID && is_plain_void(array)) {
        return take_fixed(self, array, GOB_NAMES_FIXED, GOB_UUID_BYTES);
    }
    return refuse_dtype(self, array);
}
