/* Schemas, arrays and streams in Arrow's C data interface, for other libraries.
 *
 * Consumers may move a child out of its parent and release both in any order, on any thread, even
 * after the interpreter has ended. So each struct owns what it points to but its children's
 * structs, and takes the GIL to let go of Python objects. */
#include "py_numpy.h"

#include <errno.h>

#include "py_arrow.h"
#include "py_host.h"

enum { NULLABLE = 2 }; /* a flag: what consumers expect of every column of a table */

/* False where there is no interpreter any more, whose objects then stay as they are. */
static bool attach(PyGILState_STATE *state)
{
#if PY_VERSION_HEX >= 0x030D0000
    bool ending = Py_IsFinalizing();
#else
    bool ending = _Py_IsFinalizing();
#endif
    if (!Py_IsInitialized() || ending) {
        return false;
    }
    *state = PyGILState_Ensure();
    return true;
}

/* Consumers release things wherever they are, also while an exception is on its way. */
static void let_go(PyObject *one, PyObject *other)
{
    PyGILState_STATE state;
    PyObject *type, *value, *traceback;
    if (!attach(&state)) {
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    Py_XDECREF(one);
    Py_XDECREF(other);
    PyErr_Restore(type, value, traceback);
    PyGILState_Release(state);
}

/* PyArg_ParseTuple of what may be no tuple. */
static bool parse(PyObject *tuple, const char *format, ...)
{
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "a tuple is wanted");
        return false;
    }
    va_list out;
    va_start(out, format);
    int result = PyArg_VaParse(tuple, format, out);
    va_end(out);
    return result != 0;
}

/* Schemas: the texts of one are in one piece of memory, and so are the structs of its children */

static void release_schema(gob_arrow_schema *schema)
{
    for (int64_t i = 0; i < schema->child_count; i++) {
        if (schema->children[i]->release != NULL) {
            schema->children[i]->release(schema->children[i]);
        }
    }
    PyMem_RawFree(schema->children);
    PyMem_RawFree(schema->private_data);
    schema->release = NULL;
}

static int fill_schema(gob_arrow_schema *out, const char *format, const char *name,
                       PyObject *metadata)
{
    size_t format_size = strlen(format) + 1;
    size_t name_size = strlen(name) + 1;
    size_t more = metadata == Py_None ? 0 : (size_t)PyBytes_GET_SIZE(metadata);
    char *texts = PyMem_RawMalloc(format_size + name_size + more);
    if (texts == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(texts, format, format_size);
    memcpy(texts + format_size, name, name_size);
    *out = (gob_arrow_schema){.format = texts,
                              .name = texts + format_size,
                              .flags = NULLABLE,
                              .release = release_schema,
                              .private_data = texts};
    if (more != 0) {
        out->metadata = memcpy(texts + format_size + name_size, PyBytes_AS_STRING(metadata), more);
    }
    return 0;
}

static int add_child_schemas(gob_arrow_schema *out, size_t n)
{
    out->children = PyMem_RawCalloc(n, sizeof *out->children + sizeof *out);
    if (out->children == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    gob_arrow_schema *structs = (gob_arrow_schema *)(void *)(out->children + n);
    for (size_t i = 0; i < n; i++) {
        out->children[i] = &structs[i];
    }
    out->child_count = (int64_t)n;
    return 0;
}

/* A struct of these fields, as the module's functions take them. -1 with an exception. */
static int make_schema(PyObject *fields, gob_arrow_schema *out)
{
    size_t n = (size_t)PyTuple_GET_SIZE(fields);
    if (fill_schema(out, "+s", "", Py_None) < 0) {
        return -1;
    }
    out->flags = 0;
    int result = add_child_schemas(out, n);
    for (size_t i = 0; result == 0 && i < n; i++) {
        const char *name, *format;
        PyObject *metadata;
        result = parse(PyTuple_GET_ITEM(fields, i), "ssO:field", &name, &format, &metadata)
                     ? fill_schema(out->children[i], format, name, metadata)
                     : -1;
    }
    if (result < 0) {
        out->release(out);
    }
    return result;
}

/* Arrays */

typedef struct kept {
    const void *buffers[3];
    PyObject *values; /* have the buffers, as does */
    PyObject *valid;  /* the bitmap of what is not null, if anything is */
} kept;

static void release_array(gob_arrow_array *array)
{
    for (int64_t i = 0; i < array->child_count; i++) {
        if (array->children[i]->release != NULL) {
            array->children[i]->release(array->children[i]);
        }
    }
    kept *k = array->private_data;
    if (k->values != NULL) {
        let_go(k->values, k->valid);
    }
    PyMem_RawFree(array->children);
    PyMem_RawFree(k);
    array->release = NULL;
}

static kept *fill_array(gob_arrow_array *out, size_t length, int64_t buffers)
{
    kept *k = PyMem_RawCalloc(1, sizeof *k);
    if (k == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    *out = (gob_arrow_array){.length = (int64_t)length,
                             .buffer_count = buffers,
                             .buffers = k->buffers,
                             .release = release_array,
                             .private_data = k};
    return k;
}

static int add_child_arrays(gob_arrow_array *out, size_t n)
{
    out->children = PyMem_RawCalloc(n, sizeof *out->children + sizeof *out);
    if (out->children == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    gob_arrow_array *structs = (gob_arrow_array *)(void *)(out->children + n);
    for (size_t i = 0; i < n; i++) {
        out->children[i] = &structs[i];
    }
    out->child_count = (int64_t)n;
    return 0;
}

static int refuse_column(void)
{
    PyErr_SetString(PyExc_ValueError, "a column has not as many values as its batch has rows");
    return -1;
}

static int take_names(gob_arrow_array *out, size_t length, const char *format, PyObject *names)
{
    const gob_names_object *self = (const gob_names_object *)names;
    bool fixed = self->column.form == GOB_NAMES_FIXED;
    bool fits = self->count == length && fixed == (format[0] == 'w');
    kept *k = fits ? fill_array(out, length, fixed ? 2 : 3) : NULL;
    if (k == NULL) {
        return PyErr_Occurred() ? -1 : refuse_column();
    }
    k->values = Py_NewRef(names);
    k->buffers[1] = fixed ? self->column.data : self->column.offsets;
    k->buffers[2] = fixed ? NULL : self->column.data;
    return 0;
}

/* Values as they lie in an array; booleans ("b") eight to a byte. */
static int take_numbers(gob_arrow_array *out, size_t length, const char *format, PyObject *values)
{
    PyArrayObject *array = (PyArrayObject *)values;
    size_t rows = strcmp(format, "b") == 0 ? length / 8 + (length % 8 != 0) : length;
    if (!PyArray_Check(values) || PyArray_NDIM(array) != 1 || !PyArray_IS_C_CONTIGUOUS(array) ||
        (size_t)PyArray_DIM(array, 0) != rows) {
        return refuse_column();
    }
    kept *k = fill_array(out, length, 2);
    if (k == NULL) {
        return -1;
    }
    k->values = Py_NewRef(values);
    k->buffers[1] = PyArray_DATA(array);
    return 0;
}

static int take_valid(gob_arrow_array *out, PyObject *valid, int64_t nulls)
{
    kept *k = out->private_data;
    if (valid == Py_None) {
        return 0;
    }
    if (!PyBytes_Check(valid) || PyBytes_GET_SIZE(valid) < (out->length + 7) / 8) {
        return refuse_column();
    }
    k->valid = Py_NewRef(valid);
    k->buffers[0] = PyBytes_AS_STRING(valid);
    out->null_count = nulls;
    return 0;
}

static int take_column(const gob_module_state *state, PyObject *field, PyObject *column,
                       size_t length, gob_arrow_array *out)
{
    const char *name, *format;
    PyObject *metadata, *values, *valid;
    long long nulls;
    if (!parse(field, "ssO:field", &name, &format, &metadata) ||
        !parse(column, "OOL:column", &values, &valid, &nulls)) {
        return -1;
    }
    int result;
    if (Py_TYPE(values) == state->names_type) {
        PyObject *packed = gob_names_packed(values);
        result = packed == NULL ? -1 : take_names(out, length, format, packed);
        Py_XDECREF(packed);
    } else {
        result = take_numbers(out, length, format, values);
    }
    return result < 0 ? -1 : take_valid(out, valid, nulls);
}

/* A struct of these columns. -1 with an exception. */
static int make_array(const gob_module_state *state, PyObject *fields, PyObject *batch,
                      gob_arrow_array *out)
{
    Py_ssize_t length;
    PyObject *columns;
    size_t n = (size_t)PyTuple_GET_SIZE(fields);
    if (!parse(batch, "nO!:batch", &length, &PyTuple_Type, &columns)) {
        return -1;
    }
    if ((size_t)PyTuple_GET_SIZE(columns) != n || length < 0) {
        return refuse_column();
    }
    if (fill_array(out, (size_t)length, 1) == NULL) {
        return -1;
    }
    int result = add_child_arrays(out, n);
    for (size_t i = 0; result == 0 && i < n; i++) {
        result = take_column(state, PyTuple_GET_ITEM(fields, i), PyTuple_GET_ITEM(columns, i),
                             (size_t)length, out->children[i]);
    }
    if (result < 0) {
        out->release(out);
    }
    return result;
}

/* Streams */

typedef struct source {
    const gob_module_state *state;
    PyObject *module; /* has the state */
    PyObject *fields;
    PyObject *batches; /* an iterator */
    char *error;
} source;

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = PyMem_RawMalloc(size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}

/* Keeps the exception as text, which is all that a consumer can be given, and clears it; Ctrl-C
 * and the like are raised again once the consumer has returned. The number for it. */
static int keep_error(source *s)
{
    bool put_off = !PyErr_ExceptionMatches(PyExc_Exception);
    int number = put_off ? EINTR : PyErr_ExceptionMatches(PyExc_MemoryError) ? ENOMEM : EINVAL;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *text = PyUnicode_FromFormat("%s: %S", ((PyTypeObject *)type)->tp_name, value);
    const char *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    PyErr_Clear();
    PyMem_RawFree(s->error);
    s->error = copy_text(utf8 == NULL ? "an error without a text" : utf8);
    Py_XDECREF(text);
    PyErr_Restore(type, value, traceback);
    if (!put_off || gob_put_off() < 0) {
        PyErr_Clear();
    }
    return number;
}

static int stream_schema(gob_arrow_stream *stream, gob_arrow_schema *out)
{
    source *s = stream->private_data;
    PyGILState_STATE state;
    if (!attach(&state)) {
        return EINVAL;
    }
    int result = make_schema(s->fields, out) < 0 ? keep_error(s) : 0;
    PyGILState_Release(state);
    return result;
}

/* A failed iterator has ended: it is asked no more. */
static int next_batch(source *s, gob_arrow_array *out)
{
    PyObject *batch = PyIter_Next(s->batches);
    if (batch == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    int result = make_array(s->state, s->fields, batch, out);
    Py_DECREF(batch);
    return result;
}

static int stream_next(gob_arrow_stream *stream, gob_arrow_array *out)
{
    source *s = stream->private_data;
    PyGILState_STATE state;
    out->release = NULL;
    if (!attach(&state)) {
        return EINVAL;
    }
    int result = s->error != NULL ? EINVAL : next_batch(s, out) < 0 ? keep_error(s) : 0;
    PyGILState_Release(state);
    return result;
}

static const char *stream_error(gob_arrow_stream *stream)
{
    return ((source *)stream->private_data)->error;
}

static void release_stream(gob_arrow_stream *stream)
{
    source *s = stream->private_data;
    let_go(s->batches, s->fields);
    let_go(s->module, NULL);
    PyMem_RawFree(s->error);
    PyMem_RawFree(s);
    stream->release = NULL;
}

/* Capsules, whose structs are released unless a consumer has moved them */

/* Also of one that its consumer gave another name. */
static void *pointer(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
}

static void drop_schema(PyObject *capsule)
{
    gob_arrow_schema *schema = pointer(capsule);
    if (schema->release != NULL) {
        schema->release(schema);
    }
    PyMem_RawFree(schema);
}

static void drop_array(PyObject *capsule)
{
    gob_arrow_array *array = pointer(capsule);
    if (array->release != NULL) {
        array->release(array);
    }
    PyMem_RawFree(array);
}

static void drop_stream(PyObject *capsule)
{
    gob_arrow_stream *stream = pointer(capsule);
    if (stream->release != NULL) {
        stream->release(stream);
    }
    PyMem_RawFree(stream);
}

/* A capsule of zeros, which is not released. */
static PyObject *new_capsule(size_t size, const char *name, PyCapsule_Destructor drop)
{
    void *empty = PyMem_RawCalloc(1, size);
    if (empty == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *capsule = PyCapsule_New(empty, name, drop);
    if (capsule == NULL) {
        PyMem_RawFree(empty);
    }
    return capsule;
}

static PyObject *schema_capsule(PyObject *fields)
{
    PyObject *capsule = new_capsule(sizeof(gob_arrow_schema), "arrow_schema", drop_schema);
    if (capsule != NULL && make_schema(fields, pointer(capsule)) < 0) {
        Py_CLEAR(capsule);
    }
    return capsule;
}

static PyObject *array_capsule(PyObject *module, PyObject *fields, PyObject *batch)
{
    PyObject *capsule = new_capsule(sizeof(gob_arrow_array), "arrow_array", drop_array);
    if (capsule != NULL &&
        make_array(PyModule_GetState(module), fields, batch, pointer(capsule)) < 0) {
        Py_CLEAR(capsule);
    }
    return capsule;
}

PyDoc_STRVAR(schema_doc, "arrow_schema(fields, /)\n--\n\n"
                         "A capsule of a struct; a field is (name, format, metadata or None).");

static PyObject *arrow_schema(PyObject *module, PyObject *args)
{
    PyObject *fields;
    (void)module;
    return PyArg_ParseTuple(args, "O!:arrow_schema", &PyTuple_Type, &fields)
               ? schema_capsule(fields)
               : NULL;
}

PyDoc_STRVAR(array_doc,
             "arrow_array(fields, batch, /)\n--\n\n"
             "Capsules of the schema of fields and of an array with what a batch has: (rows,\n"
             "columns), a column being (Names or array, bytes of a bitmap or None, nulls).");

static PyObject *arrow_array(PyObject *module, PyObject *args)
{
    PyObject *fields, *batch;
    if (!PyArg_ParseTuple(args, "O!O:arrow_array", &PyTuple_Type, &fields, &batch)) {
        return NULL;
    }
    PyObject *schema = schema_capsule(fields);
    PyObject *array = schema == NULL ? NULL : array_capsule(module, fields, batch);
    if (array == NULL) {
        Py_XDECREF(schema);
        return NULL;
    }
    return Py_BuildValue("(NN)", schema, array);
}

PyDoc_STRVAR(stream_doc, "arrow_stream(fields, batches, /)\n--\n\n"
                         "A capsule of a stream that takes its batches from an iterator.");

static PyObject *arrow_stream(PyObject *module, PyObject *args)
{
    PyObject *fields, *batches;
    if (!PyArg_ParseTuple(args, "O!O:arrow_stream", &PyTuple_Type, &fields, &batches)) {
        return NULL;
    }
    PyObject *capsule = new_capsule(sizeof(gob_arrow_stream), "arrow_array_stream", drop_stream);
    source *s = capsule == NULL ? NULL : PyMem_RawMalloc(sizeof *s);
    if (s == NULL) {
        Py_XDECREF(capsule);
        return PyErr_NoMemory();
    }
    *s = (source){.state = PyModule_GetState(module),
                  .module = Py_NewRef(module),
                  .fields = Py_NewRef(fields),
                  .batches = Py_NewRef(batches)};
    gob_arrow_stream *stream = pointer(capsule);
    *stream = (gob_arrow_stream){.get_schema = stream_schema,
                                 .get_next = stream_next,
                                 .get_last_error = stream_error,
                                 .release = release_stream,
                                 .private_data = s};
    return capsule;
}

static PyMethodDef functions[] = {
    {"arrow_schema", arrow_schema, METH_VARARGS, schema_doc},
    {"arrow_array", arrow_array, METH_VARARGS, array_doc},
    {"arrow_stream", arrow_stream, METH_VARARGS, stream_doc},
    {NULL, NULL, 0, NULL},
};

int gob_add_arrow_export(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
