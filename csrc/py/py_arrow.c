/* Columns from Arrow's C data and stream interfaces, whose structs are laid out as its
 * specification says. What arrives is checked: another library made it. */
#include "py_columns.h"

#include "py_utf8.h"
#include "py_uuid.h"

typedef struct arrow_schema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t child_count;
    struct arrow_schema **children;
    struct arrow_schema *dictionary;
    void (*release)(struct arrow_schema *);
    void *private_data;
} arrow_schema;

typedef struct gob_arrow_array {
    int64_t length;
    int64_t null_count; /* -1: unknown */
    int64_t offset;
    int64_t buffer_count;
    int64_t child_count;
    const void **buffers;
    struct gob_arrow_array **children;
    struct gob_arrow_array *dictionary;
    void (*release)(struct gob_arrow_array *);
    void *private_data;
} gob_arrow_array;

typedef struct arrow_stream {
    int (*get_schema)(struct arrow_stream *, arrow_schema *);
    int (*get_next)(struct arrow_stream *, gob_arrow_array *);
    const char *(*get_last_error)(struct arrow_stream *);
    void (*release)(struct arrow_stream *);
    void *private_data;
} arrow_stream;

typedef struct column_type {
    const char *format;
    const char *name;
    gob_names_form form;
    bool is_text;
    size_t width;
} column_type;

static const column_type types[] = {
    {"u", "string", GOB_NAMES_OFFSETS32, true, 0},
    {"U", "large_string", GOB_NAMES_OFFSETS64, true, 0},
    {"vu", "string_view", GOB_NAMES_VIEWS, true, 0},
    {"z", "binary", GOB_NAMES_OFFSETS32, false, 0},
    {"Z", "large_binary", GOB_NAMES_OFFSETS64, false, 0},
    {"vz", "binary_view", GOB_NAMES_VIEWS, false, 0},
};

void gob_arrow_release(gob_arrow_array *chunks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        chunks[i].release(&chunks[i]);
    }
    PyMem_Free(chunks);
}

static bool find_type(const char *format, column_type *out)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(format, types[i].format) == 0) {
            *out = types[i];
            return true;
        }
    }
    if (format[0] != 'w' || format[1] != ':') {
        return false;
    }
    char *end;
    long width = strtol(format + 2, &end, 10);
    *out = (column_type){format, "fixed_size_binary", GOB_NAMES_FIXED, false, (size_t)width};
    return width > 0 && width <= INT32_MAX && *end == 0;
}

static bool suits(const column_type *type, gob_kind kind)
{
    return kind == GOB_UUID ? type->is_text || type->width == GOB_UUID_BYTES
                            : type->is_text == (kind == GOB_STR);
}

static int check_type(const arrow_schema *schema, gob_kind kind, column_type *out)
{
    if (schema->dictionary != NULL) {
        PyErr_Format(PyExc_TypeError,
                     "%s members can't come from a dictionary-encoded (categorical) Arrow column; "
                     "cast it to its values first",
                     gob_kind_word(kind));
        return -1;
    }
    *out = (column_type){.name = schema->format};
    if (!find_type(schema->format, out) || !suits(out, kind)) {
        PyErr_Format(PyExc_TypeError, "%s members can't come from an Arrow column of type %s",
                     gob_kind_word(kind), out->name);
        return -1;
    }
    return 0;
}

static int refuse(const char *fault)
{
    PyErr_Format(PyExc_ValueError, "the Arrow column is damaged: %s", fault);
    return -1;
}

static bool has_nulls(const gob_arrow_array *a)
{
    const uint8_t *valid = a->buffers[0];
    if (a->null_count == 0 || valid == NULL) {
        return a->null_count > 0;
    }
    for (int64_t i = a->offset; i < a->offset + a->length; i++) {
        if ((valid[i / 8] >> (i % 8) & 1) == 0) {
            return true;
        }
    }
    return false;
}

static int64_t offset_at(const gob_names *c, size_t i)
{
    return c->form == GOB_NAMES_OFFSETS32 ? (int32_t)gob_load32(c->offsets + 4 * i)
                                          : (int64_t)gob_load64(c->offsets + 8 * i);
}

static int check_offsets(const gob_names *c, size_t count)
{
    int64_t last = offset_at(c, 0);
    if (last < 0) {
        return refuse("an offset is negative");
    }
    for (size_t i = 1; i <= count; i++) {
        int64_t next = offset_at(c, i);
        if (next < last) {
            return refuse("offsets descend");
        }
        last = next;
    }
    return last != 0 && c->data == NULL ? refuse("it has no data") : 0;
}

static int check_view(const gob_names *c, const uint8_t *view, const int64_t *sizes, int64_t count)
{
    int32_t len = (int32_t)gob_load32(view);
    int32_t buffer = (int32_t)gob_load32(view + 8);
    int32_t from = (int32_t)gob_load32(view + 12);
    if (len >= 0 && len <= GOB_VIEW_IN_PLACE) {
        return 0;
    }
    if (len < 0 || buffer < 0 || buffer >= count || c->buffers[buffer] == NULL || from < 0 ||
        from > sizes[buffer] - len) {
        return refuse("a view leaves its buffer");
    }
    return 0;
}

static int check_views(const gob_names *c, size_t count, const gob_arrow_array *a)
{
    const int64_t *sizes = a->buffers[a->buffer_count - 1];
    int64_t buffers = sizes == NULL ? 0 : a->buffer_count - 3;
    for (size_t i = 0; i < count; i++) {
        if (check_view(c, c->data + i * GOB_VIEW_BYTES, sizes, buffers) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Python's own error for the first row that is no UTF-8. */
static int check_text(const gob_names *c, size_t count)
{
    if (c->form != GOB_NAMES_VIEWS) {
        int64_t first = offset_at(c, 0);
        int64_t end = offset_at(c, count);
        if (first == end || gob_utf8_ascii(c->data + first, (size_t)(end - first))) {
            return 0;
        }
    }
    for (size_t i = 0; i < count; i++) {
        gob_name text = gob_names_at(c, i);
        if (GOB_UNLIKELY(!gob_utf8_valid(text.at, text.len))) {
            PyObject *raises =
                PyUnicode_DecodeUTF8((const char *)text.at, (Py_ssize_t)text.len, NULL);
            Py_XDECREF(raises);
            return -1;
        }
    }
    return 0;
}

/* Buffers of an array, and that they are as many as its type has. */
static int find_buffers(const column_type *type, const gob_arrow_array *a, gob_names *out)
{
    bool views = type->form == GOB_NAMES_VIEWS;
    int64_t wanted = type->form == GOB_NAMES_FIXED ? 2 : 3;
    if (a->buffers == NULL || (views ? a->buffer_count < wanted : a->buffer_count != wanted)) {
        return refuse("wrong number of buffers");
    }
    *out = (gob_names){.form = type->form, .width = type->width};
    if (a->length == 0) {
        return 0;
    }
    const uint8_t *rows = a->buffers[1];
    size_t from = (size_t)a->offset;
    if (rows == NULL) {
        return refuse("it has no rows");
    }
    if (type->form == GOB_NAMES_OFFSETS32 || type->form == GOB_NAMES_OFFSETS64) {
        out->offsets = rows + from * (type->form == GOB_NAMES_OFFSETS32 ? 4 : 8);
        out->data = a->buffers[2];
    } else {
        out->data = rows + from * (views ? GOB_VIEW_BYTES : type->width);
        out->buffers = views ? (const uint8_t *const *)(a->buffers + 2) : NULL;
    }
    return 0;
}

static int check_counts(const gob_arrow_array *a, size_t width)
{
    int64_t limit = PY_SSIZE_T_MAX / (int64_t)(width < GOB_VIEW_BYTES ? GOB_VIEW_BYTES : width);
    return a->length < 0 || a->offset < 0 || a->length > limit || a->offset > limit - a->length
               ? refuse("impossible length")
               : 0;
}

static int read_chunk(const column_type *type, const gob_arrow_array *a, gob_names *out)
{
    if (check_counts(a, type->width) < 0 || find_buffers(type, a, out) < 0) {
        return -1;
    }
    size_t count = (size_t)a->length;
    if (count == 0) {
        return 0;
    }
    if (has_nulls(a)) {
        PyErr_SetString(PyExc_ValueError, "nulls can't be members; leave them out");
        return -1;
    }
    if (type->form == GOB_NAMES_VIEWS && check_views(out, count, a) < 0) {
        return -1;
    }
    if (type->width == 0 && type->form != GOB_NAMES_VIEWS && check_offsets(out, count) < 0) {
        return -1;
    }
    return type->is_text ? check_text(out, count) : 0;
}

static int count_rows(gob_names_object *self)
{
    int64_t total = 0;
    for (size_t i = 0; i < self->chunk_count; i++) {
        int64_t length = self->chunks[i].length;
        if (length < 0 || length > PY_SSIZE_T_MAX - total) {
            return refuse("impossible length");
        }
        total += length;
    }
    self->count = (size_t)total;
    return 0;
}

/* Rows of several chunks as one list. */
static int join_chunks(gob_names_object *self, const column_type *type)
{
    if (count_rows(self) < 0 || gob_names_own(self, self->count, sizeof(gob_name), 0) == NULL) {
        return -1;
    }
    gob_name *out = (gob_name *)(void *)self->own;
    for (size_t i = 0; i < self->chunk_count; i++) {
        gob_names chunk;
        if (read_chunk(type, &self->chunks[i], &chunk) < 0) {
            return -1;
        }
        for (size_t k = 0; k < (size_t)self->chunks[i].length; k++) {
            *out++ = gob_names_at(&chunk, k);
        }
    }
    self->column = (gob_names){.form = GOB_NAMES_LIST, .data = self->own};
    return 0;
}

static int take_chunks(gob_names_object *self, const column_type *type)
{
    int result = 0;
    if (self->chunk_count == 1) {
        result = read_chunk(type, &self->chunks[0], &self->column);
        self->count = (size_t)self->chunks[0].length;
    } else {
        result = join_chunks(self, type);
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

static int raise_stream(arrow_stream *stream)
{
    const char *text = stream->get_last_error(stream);
    PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %.500s", text == NULL ? "" : text);
    return -1;
}

static int read_stream(gob_names_object *self, arrow_stream *stream)
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

static int from_stream(gob_names_object *self, PyObject *capsule)
{
    arrow_stream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream == NULL) {
        return -1;
    }
    if (stream->release == NULL) {
        return refuse("the stream has been read");
    }
    arrow_schema schema = {.release = NULL};
    if (stream->get_schema(stream, &schema) != 0) {
        return raise_stream(stream);
    }
    column_type type;
    int result = check_type(&schema, self->kind, &type);
    if (result == 0 && read_stream(self, stream) == 0) {
        result = take_chunks(self, &type);
    } else {
        result = -1;
    }
    schema.release(&schema);
    return result;
}

static int from_pair(gob_names_object *self, PyObject *pair)
{
    PyObject *first, *second;
    if (!PyArg_ParseTuple(pair, "OO:__arrow_c_array__", &first, &second)) {
        return -1;
    }
    arrow_schema *schema = PyCapsule_GetPointer(first, "arrow_schema");
    gob_arrow_array *array = PyCapsule_GetPointer(second, "arrow_array");
    column_type type;
    if (schema == NULL || array == NULL || check_type(schema, self->kind, &type) < 0) {
        return -1;
    }
    if (array->release == NULL) {
        return refuse("it was taken before");
    }
    gob_arrow_array taken = *array;
    array->release = NULL;
    return add_chunk(self, &taken) < 0 ? -1 : take_chunks(self, &type);
}

int gob_names_from_arrow(gob_names_object *self, PyObject *exporter)
{
    bool streams = PyObject_HasAttrString((PyObject *)Py_TYPE(exporter), "__arrow_c_stream__");
    PyObject *exported =
        PyObject_CallMethod(exporter, streams ? "__arrow_c_stream__" : "__arrow_c_array__", NULL);
    if (exported == NULL) {
        return -1;
    }
    int result = streams ? from_stream(self, exported) : from_pair(self, exported);
    Py_DECREF(exported);
    return result;
}
