/* Columns from exporters of Arrow arrays and streams. */
#include "py_arrow.h"

/* Whoever made an array or a schema may run Python code when it is released, and must not meet an
 * exception of ours. */
void gob_arrow_release(gob_arrow_array *chunks, size_t n)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    for (size_t i = 0; i < n; i++) {
        chunks[i].release(&chunks[i]);
    }
    PyMem_Free(chunks);
    PyErr_Restore(type, value, traceback);
}

static int count_rows(gob_names_object *self)
{
    int64_t total = 0;
    for (size_t i = 0; i < self->chunk_count; i++) {
        int64_t length = self->chunks[i].length;
        if (length < 0 || length > PY_SSIZE_T_MAX - total) {
            return gob_arrow_refuse("impossible length");
        }
        total += length;
    }
    self->count = (size_t)total;
    return 0;
}

static int list_rows(const gob_arrow_type *type, const gob_arrow_array *a, gob_name *out)
{
    gob_names chunk;
    if (gob_arrow_column(type, a, &chunk) < 0) {
        return -1;
    }
    for (size_t i = 0; i < (size_t)a->length; i++) {
        out[i] = gob_names_at(&chunk, i);
    }
    return 0;
}

/* A negative index becomes one that is too large. */
static uint64_t load_index(const gob_arrow_type *type, const uint8_t *at)
{
    switch (type->index_bytes) {
    case 1:
        return type->index_signed ? (uint64_t)(int8_t)*at : *at;
    case 2:
        return type->index_signed ? (uint64_t)(int16_t)gob_load16(at) : gob_load16(at);
    case 4:
        return type->index_signed ? (uint64_t)(int32_t)gob_load32(at) : gob_load32(at);
    default:
        return gob_load64(at);
    }
}

static int list_indexed(const gob_arrow_type *type, const gob_arrow_array *a, gob_name *out)
{
    const uint8_t *indices;
    gob_names values;
    if (gob_arrow_indices(type, a, &indices) < 0 ||
        gob_arrow_column(type, a->dictionary, &values) < 0) {
        return -1;
    }
    for (size_t i = 0; i < (size_t)a->length; i++) {
        uint64_t index = load_index(type, indices + i * type->index_bytes);
        if (index >= (uint64_t)a->dictionary->length) {
            return gob_arrow_refuse("an index leaves the dictionary");
        }
        out[i] = gob_names_at(&values, (size_t)index);
    }
    return 0;
}

/* Rows of several chunks, or those that a dictionary holds, as one list. */
static int list_chunks(gob_names_object *self, const gob_arrow_type *type)
{
    if (count_rows(self) < 0 || gob_names_own(self, self->count, sizeof(gob_name), 0) == NULL) {
        return -1;
    }
    gob_name *out = (gob_name *)(void *)self->own;
    for (size_t i = 0; i < self->chunk_count; i++) {
        const gob_arrow_array *chunk = &self->chunks[i];
        int result =
            type->index_bytes == 0 ? list_rows(type, chunk, out) : list_indexed(type, chunk, out);
        if (result < 0) {
            return -1;
        }
        out += chunk->length;
    }
    self->column = (gob_names){.form = GOB_NAMES_LIST, .data = self->own};
    return 0;
}

static int take_chunks(gob_names_object *self, const gob_arrow_type *type)
{
    int result = 0;
    if (self->chunk_count == 1 && type->index_bytes == 0) {
        result = gob_arrow_column(type, &self->chunks[0], &self->column);
        self->count = (size_t)self->chunks[0].length;
    } else {
        result = list_chunks(self, type);
    }
    return result == 0 && self->kind == GOB_UUID && type->is_text ? gob_names_parse(self) : result;
}

/* Takes over an array, also where that fails. */
static int add_chunk(gob_names_object *self, gob_arrow_array *array)
{
    size_t n = self->chunk_count;
    if ((n & (n - 1)) == 0) { /* full: room grows by powers of two */
        size_t room = n == 0 ? 1 : 2 * n;
        gob_arrow_array *larger = PyMem_Realloc(self->chunks, room * sizeof *larger);
        if (larger == NULL) {
            array->release(array);
            PyErr_NoMemory();
            return -1;
        }
        self->chunks = larger;
    }
    self->chunks[self->chunk_count++] = *array;
    return 0;
}

static int raise_stream(gob_arrow_stream *stream)
{
    const char *text = stream->get_last_error(stream);
    PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %.500s", text == NULL ? "" : text);
    return -1;
}

static int read_stream(gob_names_object *self, gob_arrow_stream *stream)
{
    for (;;) {
        gob_arrow_array array = {.release = NULL};
        if (stream->get_next(stream, &array) != 0) {
            return raise_stream(stream);
        }
        if (array.release == NULL) {
            return 0;
        }
        if (add_chunk(self, &array) < 0) {
            return -1;
        }
    }
}

static void release_schema(gob_arrow_schema *schema)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    schema->release(schema);
    PyErr_Restore(type, value, traceback);
}

static int take_stream(gob_names_object *self, PyObject *capsule)
{
    gob_arrow_stream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream == NULL) {
        return -1;
    }
    if (stream->release == NULL) {
        return gob_arrow_refuse("the stream has been read");
    }
    gob_arrow_schema schema = {.release = NULL};
    if (stream->get_schema(stream, &schema) != 0) {
        return raise_stream(stream);
    }
    gob_arrow_type type;
    int result = gob_arrow_find_type(&schema, self->kind, &type);
    release_schema(&schema);
    if (result < 0 || read_stream(self, stream) < 0) {
        return -1;
    }
    return take_chunks(self, &type);
}

static int take_pair(gob_names_object *self, PyObject *pair)
{
    PyObject *first, *second;
    if (!PyArg_ParseTuple(pair, "OO:__arrow_c_array__", &first, &second)) {
        return -1;
    }
    gob_arrow_schema *schema = PyCapsule_GetPointer(first, "arrow_schema");
    gob_arrow_array *array = PyCapsule_GetPointer(second, "arrow_array");
    gob_arrow_type type;
    if (schema == NULL || array == NULL || gob_arrow_find_type(schema, self->kind, &type) < 0) {
        return -1;
    }
    if (array->release == NULL) {
        return gob_arrow_refuse("it was taken before");
    }
    gob_arrow_array taken = *array;
    array->release = NULL;
    return add_chunk(self, &taken) < 0 ? -1 : take_chunks(self, &type);
}

int gob_names_from_stream(gob_names_object *self, PyObject *exporter)
{
    PyObject *capsule = PyObject_CallMethod(exporter, "__arrow_c_stream__", NULL);
    int result = capsule == NULL ? -1 : take_stream(self, capsule);
    Py_XDECREF(capsule);
    return result;
}

int gob_names_from_pair(gob_names_object *self, PyObject *exporter)
{
    PyObject *pair = PyObject_CallMethod(exporter, "__arrow_c_array__", NULL);
    int result = pair == NULL ? -1 : take_pair(self, pair);
    Py_XDECREF(pair);
    return result;
}
