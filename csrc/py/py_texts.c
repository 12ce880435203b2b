/* Byte strings as results: one object, or rows of an array. */
#include "py_numpy.h"

#include "py_names.h"
#include "py_uuid.h"

#include "gob_utf8.h"

/* memcpy without a call for the lengths that values have. */
static void copy(void *to, const uint8_t *from, size_t n)
{
    if (n >= 8 && n <= 16) {
        uint64_t last = gob_load64(from + n - 8);
        gob_store64(to, gob_load64(from));
        gob_store64((uint8_t *)to + n - 8, last);
    } else {
        memcpy(to, from, n);
    }
}

/* Python's decoder, but for short ASCII, which it takes twice as long for. */
static PyObject *text_object(gob_name text)
{
    if (text.len < 2 || text.len > 64 || !gob_utf8_ascii(text.at, text.len)) {
        return PyUnicode_DecodeUTF8((const char *)text.at, (Py_ssize_t)text.len, NULL);
    }
    PyObject *object = PyUnicode_New((Py_ssize_t)text.len, 127);
    if (object != NULL) {
        copy(PyUnicode_1BYTE_DATA(object), text.at, text.len);
    }
    return object;
}

PyObject *gob_name_object(const gob_module_state *state, gob_kind kind, gob_name name)
{
    const char *at = (const char *)name.at;
    if (kind == GOB_STR) {
        return text_object(name);
    }
    return kind == GOB_BYTES ? PyBytes_FromStringAndSize(at, (Py_ssize_t)name.len)
                             : gob_uuid_new(state, name.at);
}

static int type_number(gob_kind kind)
{
    return kind == GOB_STR ? NPY_VSTRING : kind == GOB_BYTES ? NPY_OBJECT : NPY_VOID;
}

PyObject *gob_names_array(gob_kind kind, size_t n)
{
    npy_intp shape = (npy_intp)n;
    PyArray_Descr *descr = kind == GOB_UUID ? PyArray_DescrNewFromType(NPY_VOID)
                                            : PyArray_DescrFromType(type_number(kind));
    if (descr == NULL) { /* numpy has another error in place of this one */
        PyErr_NoMemory();
        return NULL;
    }
    if (kind == GOB_UUID) {
        PyDataType_SET_ELSIZE(descr, GOB_UUID_BYTES);
    }
    return PyArray_Zeros(1, &shape, descr, 0);
}

static char *row(PyArrayObject *array, size_t i)
{
    return PyArray_BYTES(array) + (npy_intp)i * PyArray_STRIDE(array, 0);
}

static bool is_array_for(PyObject *object, gob_kind kind, size_t width)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_Check(object) || PyArray_NDIM(array) != 1 || !PyArray_ISWRITEABLE(array) ||
        !PyArray_ISALIGNED(array)) {
        return false;
    }
    bool fixed = kind == GOB_INTS || kind == GOB_UUID;
    bool right =
        kind == GOB_INTS ? PyArray_ISINTEGER(array) : PyArray_TYPE(array) == type_number(kind);
    return right && (!fixed || (size_t)PyArray_ITEMSIZE(array) == width);
}

int gob_member_rows(PyObject *object, gob_kind kind, size_t width, size_t *rows)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (!is_array_for(object, kind, width)) {
        PyErr_SetString(PyExc_TypeError, "not an array for members of this kind");
        return -1;
    }
    *rows = (size_t)PyArray_DIM(array, 0);
    return 0;
}

static int check_array(PyObject *array, gob_kind kind, size_t at, size_t n)
{
    size_t rows;
    if (gob_member_rows(array, kind, GOB_UUID_BYTES, &rows) < 0) {
        return -1;
    }
    if (at > rows || n > rows - at) {
        PyErr_SetString(PyExc_ValueError, "the array is too short");
        return -1;
    }
    return 0;
}

bool gob_names_pack(PyObject *object, size_t at, const gob_name *names, size_t n)
{
    PyArrayObject *array = (PyArrayObject *)object;
    npy_string_allocator *allocator =
        NpyString_acquire_allocator((PyArray_StringDTypeObject *)PyArray_DESCR(array));
    int result = 0;
    for (size_t i = 0; result == 0 && i < n; i++) {
        result = NpyString_pack(allocator, (npy_packed_static_string *)(void *)row(array, at + i),
                                (const char *)names[i].at, names[i].len);
    }
    NpyString_release_allocator(allocator);
    return result == 0;
}

static int write_bytes(PyArrayObject *array, size_t at, const gob_name *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        PyObject *bytes =
            PyBytes_FromStringAndSize((const char *)names[i].at, (Py_ssize_t)names[i].len);
        if (bytes == NULL) {
            return -1;
        }
        PyObject **slot = (PyObject **)(void *)row(array, at + i);
        Py_XSETREF(*slot, bytes);
    }
    return 0;
}

int gob_names_write(PyObject *object, gob_kind kind, size_t at, const gob_name *names, size_t n)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (check_array(object, kind, at, n) < 0) {
        return -1;
    }
    if (kind == GOB_BYTES) {
        return write_bytes(array, at, names, n);
    }
    if (kind == GOB_STR) {
        if (!gob_names_pack(object, at, names, n)) {
            PyErr_NoMemory();
            return -1;
        }
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(row(array, at + i), names[i].at, GOB_UUID_BYTES);
    }
    return 0;
}
