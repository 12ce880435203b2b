/* Columns and single members from Python objects. */
#include "py_args.h"
#include "py_columns.h"
#include "py_host.h"
#include "py_uuid.h"

#include "gob_utf8.h"

/* Bytes of a text that is not ASCII; -1 with UnicodeEncodeError. */
static Py_ssize_t encoded_size(PyObject *text)
{
    Py_ssize_t size = 0;
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text); i++) {
        uint32_t c = PyUnicode_READ_CHAR(text, i);
        if (!gob_utf8_encodes(c)) {
            PyObject *raises = PyUnicode_AsUTF8String(text);
            Py_XDECREF(raises);
            return -1;
        }
        size += (Py_ssize_t)gob_utf8_size(c);
    }
    return size;
}

static uint8_t *encode(PyObject *text, uint8_t *out)
{
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text); i++) {
        out = gob_utf8_put(out, PyUnicode_READ_CHAR(text, i));
    }
    return out;
}

static gob_name name_of_ascii(PyObject *text)
{
    return (gob_name){PyUnicode_DATA(text), (size_t)PyUnicode_GET_LENGTH(text)};
}

static gob_name name_of_bytes(PyObject *bytes)
{
    return (gob_name){(const uint8_t *)PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes)};
}

static int refuse_type(PyObject *object, gob_kind kind)
{
    bool number = kind == GOB_STR && (PyFloat_Check(object) || PyIndex_Check(object));
    return gob_refuse_type(object, gob_kind_word(kind), number ? "; str() makes one" : "");
}

static bool has_bytes(PyObject *object)
{
    return PyBytes_Check(object) || PyByteArray_Check(object) || PyMemoryView_Check(object);
}

/* UTF-8 of the items that are not ASCII, together; -1 with an exception. */
static Py_ssize_t check_texts(PyObject *items)
{
    Py_ssize_t total = 0;
    gob_breath breath = {0};
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++) {
        PyObject *item = PyTuple_GET_ITEM(items, i);
        if (!PyUnicode_Check(item)) {
            refuse_type(item, GOB_STR);
            return gob_blame_item(i);
        }
        Py_ssize_t size = PyUnicode_IS_ASCII(item) ? 0 : encoded_size(item);
        if (size < 0 || gob_breathe(&breath) < 0) {
            return -1;
        }
        total += size;
    }
    return total;
}

/* A list of names: of ASCII where the strings have it, of other text behind the list. Python would
 * encode it, too, but keep the result in each string. */
static int take_texts(gob_names_object *self, PyObject *items)
{
    Py_ssize_t more = check_texts(items);
    if (more < 0 || gob_names_own(self, self->count, sizeof(gob_name), (size_t)more) == NULL) {
        return -1;
    }
    gob_name *list = (gob_name *)(void *)self->own;
    uint8_t *out = self->own + self->count * sizeof(gob_name);
    gob_breath breath = {0};
    for (size_t i = 0; i < self->count; i++) {
        PyObject *item = PyTuple_GET_ITEM(items, (Py_ssize_t)i);
        if (PyUnicode_IS_ASCII(item)) {
            list[i] = name_of_ascii(item);
        } else {
            uint8_t *end = encode(item, out);
            list[i] = (gob_name){out, (size_t)(end - out)};
            out = end;
        }
        if (gob_breathe(&breath) < 0) {
            return -1;
        }
    }
    return 0;
}

/* A new reference to bytes that no one can change. */
static PyObject *as_bytes(PyObject *object)
{
    if (PyBytes_Check(object)) {
        return Py_NewRef(object);
    }
    if (has_bytes(object)) {
        return PyBytes_FromObject(object);
    }
    refuse_type(object, GOB_BYTES);
    return NULL;
}

static PyObject *all_as_bytes(PyObject *items)
{
    PyObject *out = PyTuple_New(PyTuple_GET_SIZE(items));
    gob_breath breath = {0};
    for (Py_ssize_t i = 0; out != NULL && i < PyTuple_GET_SIZE(items); i++) {
        PyObject *bytes = as_bytes(PyTuple_GET_ITEM(items, i));
        if (bytes != NULL) {
            PyTuple_SET_ITEM(out, i, bytes);
        }
        if (bytes == NULL ? gob_blame_item(i) : gob_breathe(&breath)) {
            Py_CLEAR(out);
        }
    }
    return out;
}

static int take_bytes(gob_names_object *self, PyObject *items)
{
    self->source = all_as_bytes(items);
    if (self->source == NULL || gob_names_own(self, self->count, sizeof(gob_name), 0) == NULL) {
        return -1;
    }
    gob_name *list = (gob_name *)(void *)self->own;
    gob_breath breath = {0};
    for (size_t i = 0; i < self->count; i++) {
        list[i] = name_of_bytes(PyTuple_GET_ITEM(self->source, (Py_ssize_t)i));
        if (gob_breathe(&breath) < 0) {
            return -1;
        }
    }
    return 0;
}

static int take_uuids(gob_names_object *self, PyObject *items)
{
    const gob_module_state *state = PyType_GetModuleState(Py_TYPE(self));
    uint8_t *out = gob_names_own(self, self->count, GOB_UUID_BYTES, 0);
    gob_breath breath = {0};
    for (size_t i = 0; out != NULL && i < self->count; i++) {
        PyObject *item = PyTuple_GET_ITEM(items, (Py_ssize_t)i);
        if (gob_uuid_read(state, item, out + i * GOB_UUID_BYTES) < 0 || gob_breathe(&breath) < 0) {
            return -1;
        }
    }
    return out == NULL ? -1 : 0;
}

/* A tuple is taken first: it can't shrink while items are converted. */
int gob_names_from_objects(gob_names_object *self, PyObject *iterable)
{
    PyObject *items = gob_items(iterable);
    if (items == NULL) {
        return -1;
    }
    self->count = (size_t)PyTuple_GET_SIZE(items);
    int result;
    if (self->kind == GOB_STR) {
        result = take_texts(self, items);
        self->source = Py_NewRef(items);
    } else {
        result = self->kind == GOB_BYTES ? take_bytes(self, items) : take_uuids(self, items);
    }
    Py_DECREF(items);
    self->column = (gob_names){.form = self->kind == GOB_UUID ? GOB_NAMES_FIXED : GOB_NAMES_LIST,
                               .width = GOB_UUID_BYTES,
                               .data = self->own};
    return result;
}

static int text_argument(PyObject *text, gob_name *out, gob_name_scratch *scratch)
{
    if (PyUnicode_IS_ASCII(text)) {
        *out = name_of_ascii(text);
        return 0;
    }
    Py_ssize_t size = encoded_size(text);
    if (size < 0) {
        return -1;
    }
    if (size <= GOB_NAME_ROOM) {
        *out = (gob_name){scratch->room, (size_t)(encode(text, scratch->room) - scratch->room)};
        return 0;
    }
    scratch->object = PyUnicode_AsUTF8String(text);
    if (scratch->object == NULL) {
        return -1;
    }
    *out = name_of_bytes(scratch->object);
    return 0;
}

static int bytes_argument(PyObject *object, gob_name *out, gob_name_scratch *scratch)
{
    scratch->object = as_bytes(object);
    if (scratch->object == NULL) {
        return -1;
    }
    *out = name_of_bytes(scratch->object);
    return 0;
}

int gob_name_argument(const gob_module_state *state, PyObject *object, gob_kind kind, gob_name *out,
                      gob_name_scratch *scratch)
{
    scratch->object = NULL;
    if (kind == GOB_STR) {
        return PyUnicode_Check(object) ? text_argument(object, out, scratch)
                                       : refuse_type(object, kind);
    }
    if (kind == GOB_BYTES) {
        return bytes_argument(object, out, scratch);
    }
    *out = (gob_name){scratch->room, GOB_UUID_BYTES};
    return gob_uuid_read(state, object, scratch->room);
}

int gob_find_name(const gob_module_state *state, PyObject *object, gob_kind kind, gob_name *out,
                  gob_name_scratch *scratch)
{
    scratch->object = NULL;
    if ((kind == GOB_STR && !PyUnicode_Check(object)) ||
        (kind == GOB_BYTES && !has_bytes(object))) {
        return 0; /* without an error, which would show the object: as gob_find_member */
    }
    if (gob_name_argument(state, object, kind, out, scratch) == 0) {
        return 1;
    }
    if (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear();
        return 0;
    }
    return -1;
}
