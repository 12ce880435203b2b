#include "py_uuid.h"

static uint64_t load_big(const uint8_t *at)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++) {
        v = v << 8 | at[i];
    }
    return v;
}

static void store_big(uint8_t *at, uint64_t v)
{
    for (unsigned i = 8; i-- != 0; v >>= 8) {
        at[i] = (uint8_t)v;
    }
}

static int read_integer(const gob_module_state *state, PyObject *integer, uint8_t *out)
{
    if (!PyLong_Check(integer)) {
        PyErr_SetString(PyExc_TypeError, "the int of a UUID must be an integer");
        return -1;
    }
    PyObject *high = PyNumber_Rshift(integer, state->uuid.half);
    if (high == NULL) {
        return -1;
    }
    uint64_t high_bits = PyLong_AsUnsignedLongLong(high);
    Py_DECREF(high);
    if (high_bits == UINT64_MAX && PyErr_Occurred()) {
        return -1;
    }
    store_big(out, high_bits);
    store_big(out + 8, PyLong_AsUnsignedLongLongMask(integer));
    return 0;
}

static int read_uuid(const gob_module_state *state, PyObject *uuid, uint8_t *out)
{
    PyObject *integer = PyObject_GetAttr(uuid, state->uuid.integer);
    if (integer == NULL) {
        return -1;
    }
    int result = read_integer(state, integer, out);
    Py_DECREF(integer);
    return result;
}

/* Whatever uuid.UUID makes of a text. */
static int read_spelling(const gob_module_state *state, PyObject *text, uint8_t *out)
{
    PyObject *uuid = PyObject_CallOneArg(state->uuid.type, text);
    if (uuid == NULL) {
        return -1;
    }
    int result = read_uuid(state, uuid, out);
    Py_DECREF(uuid);
    return result;
}

static int digit_of(uint8_t c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 32 digits with hyphens anywhere, which uuid.UUID leaves out; false for any other spelling. */
static bool parse_digits(const uint8_t *text, size_t len, uint8_t *out)
{
    size_t digits = 0;
    for (size_t i = 0; i < len; i++) {
        int value = digit_of(text[i]);
        if (value < 0 && text[i] == '-') {
            continue;
        }
        if (value < 0 || digits == 2 * GOB_UUID_BYTES) {
            return false;
        }
        uint8_t *byte = &out[digits / 2];
        *byte = (uint8_t)(digits % 2 == 0 ? value << 4 : *byte | value);
        digits++;
    }
    return digits == 2 * GOB_UUID_BYTES;
}

int gob_uuid_parse(const gob_module_state *state, const uint8_t *text, size_t len, uint8_t *out)
{
    if (GOB_LIKELY(parse_digits(text, len, out))) {
        return 0;
    }
    PyObject *object = PyUnicode_DecodeUTF8((const char *)text, (Py_ssize_t)len, NULL);
    if (object == NULL) {
        return -1;
    }
    int result = read_spelling(state, object, out);
    Py_DECREF(object);
    return result;
}

int gob_uuid_read(const gob_module_state *state, PyObject *object, uint8_t *out)
{
    if (PyObject_TypeCheck(object, (PyTypeObject *)state->uuid.type)) {
        return read_uuid(state, object, out);
    }
    if (PyUnicode_Check(object)) {
        bool done = PyUnicode_IS_COMPACT_ASCII(object) &&
                    parse_digits(PyUnicode_DATA(object), (size_t)PyUnicode_GET_LENGTH(object), out);
        return done ? 0 : read_spelling(state, object, out);
    }
    PyErr_Format(PyExc_TypeError, "a member must be a uuid.UUID or its text, not %.100s%s",
                 Py_TYPE(object)->tp_name,
                 PyBytes_Check(object) ? "; make one by uuid.UUID(bytes=...)" : "");
    return -1;
}

static PyObject *integer_of(const gob_module_state *state, const uint8_t *bytes)
{
    PyObject *high = PyLong_FromUnsignedLongLong(load_big(bytes));
    PyObject *low = PyLong_FromUnsignedLongLong(load_big(bytes + 8));
    PyObject *shifted = high == NULL ? NULL : PyNumber_Lshift(high, state->uuid.half);
    PyObject *whole = shifted == NULL || low == NULL ? NULL : PyNumber_Or(shifted, low);
    Py_XDECREF(high);
    Py_XDECREF(low);
    Py_XDECREF(shifted);
    return whole;
}

PyObject *gob_uuid_new(const gob_module_state *state, const uint8_t *bytes)
{
    PyTypeObject *type = (PyTypeObject *)state->uuid.type;
    PyObject *integer = integer_of(state, bytes);
    PyObject *uuid = integer == NULL ? NULL : type->tp_alloc(type, 0);
    /* Its own __setattr__ refuses, so that UUIDs are immutable. */
    if (uuid != NULL &&
        (PyObject_GenericSetAttr(uuid, state->uuid.integer, integer) < 0 ||
         PyObject_GenericSetAttr(uuid, state->uuid.is_safe, state->uuid.unknown) < 0)) {
        Py_CLEAR(uuid);
    }
    Py_XDECREF(integer);
    return uuid;
}

static int take_types(gob_uuid_state *uuid, PyObject *library)
{
    PyObject *safety = PyObject_GetAttrString(library, "SafeUUID");
    if (safety == NULL) {
        return -1;
    }
    uuid->unknown = PyObject_GetAttrString(safety, "unknown");
    Py_DECREF(safety);
    uuid->type = PyObject_GetAttrString(library, "UUID");
    if (uuid->type != NULL && !PyType_Check(uuid->type)) {
        PyErr_SetString(PyExc_TypeError, "uuid.UUID is no type");
        return -1;
    }
    return uuid->unknown == NULL || uuid->type == NULL ? -1 : 0;
}

int gob_add_uuid(PyObject *module)
{
    gob_uuid_state *uuid = &((gob_module_state *)PyModule_GetState(module))->uuid;
    uuid->integer = PyUnicode_InternFromString("int");
    uuid->is_safe = PyUnicode_InternFromString("is_safe");
    uuid->half = PyLong_FromLong(64);
    if (uuid->integer == NULL || uuid->is_safe == NULL || uuid->half == NULL) {
        return -1;
    }
    PyObject *library = PyImport_ImportModule("uuid");
    if (library == NULL) {
        return -1;
    }
    int result = take_types(uuid, library);
    Py_DECREF(library);
    return result;
}
