/* The type goblin._core.ArrowColumn, and how exporters of Arrow arrays and streams become columns.
 */
#include "py_arrow.h"

/* Whoever made an array or a schema may run Python code when it is released, and must not meet an
 * exception of ours. */
static void release_schema(gob_arrow_schema *schema)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    schema->release(schema);
    PyErr_Restore(type, value, traceback);
}

static void release_array(gob_arrow_array *array)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    array->release(array);
    PyErr_Restore(type, value, traceback);
}

static void release_stream(gob_arrow_stream *stream)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    stream->release(stream);
    PyErr_Restore(type, value, traceback);
}

/* Columns */

/* Moves the schema. */
static gob_arrow_column_object *new_column(const gob_module_state *state, gob_arrow_schema *schema)
{
    gob_arrow_column_object *self =
        (gob_arrow_column_object *)PyType_GenericAlloc(state->arrow_column_type, 0);
    if (self != NULL) {
        self->schema = *schema;
        schema->release = NULL;
    }
    return self;
}

/* Takes over an array, also where that fails. */
static int add_chunk(gob_arrow_column_object *self, gob_arrow_array *array)
{
    size_t n = self->chunk_count;
    int result = 0;
    if (array->length < 0 || array->offset < 0 ||
        (size_t)array->length > (size_t)PY_SSIZE_T_MAX - self->rows) {
        result = gob_arrow_refuse("impossible length");
    } else if ((n & (n - 1)) == 0) { /* full: room grows by powers of two */
        size_t room = n == 0 ? 1 : 2 * n;
        gob_arrow_array *larger = PyMem_Realloc(self->chunks, room * sizeof *larger);
        if (larger == NULL) {
            PyErr_NoMemory();
            result = -1;
        } else {
            self->chunks = larger;
        }
    }
    if (result < 0) {
        release_array(array);
        return -1;
    }
    self->chunks[self->chunk_count++] = *array;
    self->rows += (size_t)array->length;
    array->release = NULL;
    return 0;
}

static void column_dealloc(PyObject *object)
{
    gob_arrow_column_object *self = (gob_arrow_column_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (size_t i = 0; i < self->chunk_count; i++) {
        release_array(&self->chunks[i]);
    }
    PyMem_Free(self->chunks);
    if (self->schema.release != NULL) {
        release_schema(&self->schema);
    }
    type->tp_free(object);
    Py_DECREF(type);
}

static Py_ssize_t column_length(PyObject *object)
{
    return (Py_ssize_t)((gob_arrow_column_object *)object)->rows;
}

/* Tables: a list of columns, of the children of a struct */

static bool is_struct(const gob_arrow_schema *schema)
{
    return schema->dictionary == NULL && strcmp(schema->format, "+s") == 0;
}

static bool has_type(const gob_arrow_schema *schema)
{
    return schema != NULL && schema->release != NULL && schema->format != NULL &&
           (schema->dictionary == NULL || schema->dictionary->format != NULL);
}

/* What is read here of a schema, and of a struct's children: whoever made it may have left out
 * what has to be there. */
static int check_schema(const gob_arrow_schema *schema)
{
    bool good = has_type(schema);
    if (good && is_struct(schema)) {
        good = schema->child_count == 0 || (schema->child_count > 0 && schema->children != NULL);
        for (int64_t i = 0; good && i < schema->child_count; i++) {
            good = has_type(schema->children[i]);
        }
    }
    return good ? 0 : gob_arrow_refuse("its schema lacks a type");
}

/* Moves the schema's children. A new list of (name, column). */
static PyObject *new_table(const gob_module_state *state, const gob_arrow_schema *schema)
{
    PyObject *table = PyList_New(0);
    for (int64_t i = 0; table != NULL && i < schema->child_count; i++) {
        const char *name = schema->children[i]->name;
        gob_arrow_column_object *column = new_column(state, schema->children[i]);
        PyObject *pair =
            column == NULL ? NULL : Py_BuildValue("(sN)", name == NULL ? "" : name, column);
        if (pair == NULL || PyList_Append(table, pair) < 0) {
            Py_CLEAR(table);
        }
        Py_XDECREF(pair);
    }
    return table;
}

/* The rows of a struct are rows [offset, offset + length) of its children. */
static int take_child(gob_arrow_column_object *column, const gob_arrow_array *parent,
                      gob_arrow_array *child)
{
    gob_arrow_array taken = *child;
    child->release = NULL;
    if (parent->offset < 0 || parent->length < 0 || taken.offset < 0 ||
        parent->offset > taken.length || parent->length > taken.length - parent->offset ||
        taken.offset > INT64_MAX - parent->offset) {
        release_array(&taken);
        return gob_arrow_refuse("a column is shorter than its table");
    }
    taken.null_count = parent->length == taken.length ? taken.null_count : -1;
    taken.offset += parent->offset;
    taken.length = parent->length;
    return add_chunk(column, &taken);
}

static int take_children(PyObject *table, gob_arrow_array *array)
{
    Py_ssize_t n = PyList_GET_SIZE(table);
    if (array->child_count != n || array->buffer_count != 1 || array->buffers == NULL ||
        (n > 0 && array->children == NULL)) {
        return gob_arrow_refuse("a table has not as many columns as its schema");
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (array->children[i] == NULL || array->children[i]->release == NULL) {
            return gob_arrow_refuse("a column is missing");
        }
        PyObject *column = PyTuple_GET_ITEM(PyList_GET_ITEM(table, i), 1);
        if (take_child((gob_arrow_column_object *)column, array, array->children[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Takes over an array, also where that fails. */
static int add_rows(PyObject *to, bool table, gob_arrow_array *array)
{
    if (!table) {
        return add_chunk((gob_arrow_column_object *)to, array);
    }
    int result = array->length > 0 && gob_arrow_holds_nulls(array) ? gob_arrow_refuse_nulls()
                                                                   : take_children(to, array);
    release_array(array);
    return result;
}

/* Exporters */

static int raise_stream(gob_arrow_stream *stream)
{
    const char *text = stream->get_last_error(stream);
    if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %.500s", text == NULL ? "" : text);
    }
    return -1;
}

static int read_stream(PyObject *to, bool table, gob_arrow_stream *stream)
{
    for (;;) {
        gob_arrow_array array = {.release = NULL};
        if (stream->get_next(stream, &array) != 0) {
            return raise_stream(stream);
        }
        if (array.release == NULL) {
            return 0;
        }
        if (add_rows(to, table, &array) < 0 || PyErr_CheckSignals() < 0) {
            return -1;
        }
    }
}

/* What rows of a schema go into: a table, where one is wanted and the schema has columns, or one
 * column. The schema is gone then. */
static PyObject *new_rows(const gob_module_state *state, gob_arrow_schema *schema, bool *table)
{
    bool good = check_schema(schema) == 0;
    *table = good && *table && is_struct(schema);
    PyObject *rows = !good    ? NULL
                     : *table ? new_table(state, schema)
                              : (PyObject *)new_column(state, schema);
    if (schema->release != NULL) {
        release_schema(schema);
    }
    return rows;
}

static PyObject *read_rows(const gob_module_state *state, gob_arrow_stream *stream, bool table)
{
    gob_arrow_schema schema = {.release = NULL};
    if (stream->get_schema(stream, &schema) != 0) {
        (void)raise_stream(stream);
        return NULL;
    }
    PyObject *rows = new_rows(state, &schema, &table);
    if (rows != NULL && read_stream(rows, table, stream) < 0) {
        Py_CLEAR(rows);
    }
    return rows;
}

/* Moves the stream, so that who reads it again is told. */
static PyObject *take_stream(const gob_module_state *state, PyObject *capsule, bool table)
{
    gob_arrow_stream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream == NULL) {
        return NULL;
    }
    if (stream->release == NULL) {
        PyErr_SetString(PyExc_ValueError, "the Arrow stream has been read before");
        return NULL;
    }
    gob_arrow_stream taken = *stream;
    stream->release = NULL;
    PyObject *rows = read_rows(state, &taken, table);
    release_stream(&taken);
    return rows;
}

static PyObject *take_pair(const gob_module_state *state, PyObject *pair, bool table)
{
    PyObject *first, *second;
    if (!PyTuple_Check(pair)) {
        PyErr_SetString(PyExc_TypeError, "__arrow_c_array__ has to give two capsules");
        return NULL;
    }
    if (!PyArg_ParseTuple(pair, "OO:__arrow_c_array__", &first, &second)) {
        return NULL;
    }
    gob_arrow_schema *schema = PyCapsule_GetPointer(first, "arrow_schema");
    gob_arrow_array *array = schema == NULL ? NULL : PyCapsule_GetPointer(second, "arrow_array");
    if (array == NULL) {
        return NULL;
    }
    if (array->release == NULL || schema->release == NULL) {
        PyErr_SetString(PyExc_ValueError, "the Arrow array has been read before");
        return NULL;
    }
    gob_arrow_array taken = *array;
    array->release = NULL;
    PyObject *rows = new_rows(state, schema, &table);
    if (rows == NULL) {
        release_array(&taken);
    } else if (add_rows(rows, table, &taken) < 0) {
        Py_CLEAR(rows);
    }
    return rows;
}

static PyObject *read_exporter(const gob_module_state *state, PyObject *exporter, bool stream,
                               bool table)
{
    const char *method = stream ? "__arrow_c_stream__" : "__arrow_c_array__";
    PyObject *exported = PyObject_CallMethod(exporter, method, NULL);
    if (exported == NULL) {
        return NULL;
    }
    PyObject *rows =
        stream ? take_stream(state, exported, table) : take_pair(state, exported, table);
    Py_DECREF(exported);
    return rows;
}

PyObject *gob_arrow_read(const gob_module_state *state, PyObject *exporter, bool stream)
{
    return read_exporter(state, exporter, stream, false);
}

PyDoc_STRVAR(read_doc, "arrow_read(exporter, stream, /)\n--\n\n"
                       "A list of (name, ArrowColumn) of a table, or the ArrowColumn of an array;\n"
                       "by __arrow_c_stream__ or __arrow_c_array__.");

static PyObject *arrow_read(PyObject *module, PyObject *args)
{
    PyObject *exporter;
    int stream;
    return PyArg_ParseTuple(args, "Op:arrow_read", &exporter, &stream)
               ? read_exporter(PyModule_GetState(module), exporter, stream != 0, true)
               : NULL;
}

static PyObject *column_kind(PyObject *object, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(gob_arrow_kind(&((gob_arrow_column_object *)object)->schema));
}

static PyMethodDef methods[] = {
    {"numbers", gob_arrow_numbers, METH_O,
     "numbers($self, nulls, /)\n--\n\nA new array; 0 for nulls where these are allowed."},
    {"texts", gob_arrow_texts, METH_O,
     "texts($self, kind, /)\n--\n\nNames, in which nulls are empty."},
    {"valid", gob_arrow_valid, METH_NOARGS,
     "valid($self, /)\n--\n\nNone, or where there are nulls an array of bool: what is none."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"kind", column_kind, NULL,
     "The name of a dtype, str, bytes, uuid or null; else the type as Arrow has it.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A column that another library made."},
    {Py_tp_dealloc, column_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_sq_length, column_length},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "goblin._core.ArrowColumn",
    .basicsize = sizeof(gob_arrow_column_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

static PyMethodDef functions[] = {
    {"arrow_read", arrow_read, METH_VARARGS, read_doc},
    {NULL, NULL, 0, NULL},
};

int gob_add_arrow(PyObject *module)
{
    gob_module_state *state = PyModule_GetState(module);
    state->arrow_column_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    if (state->arrow_column_type == NULL ||
        PyModule_AddType(module, state->arrow_column_type) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(module, functions);
}
