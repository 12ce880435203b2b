/* The type goblin._core.Names, and which way each kind of input goes: py_objects.c, py_arrays.c or
 * py_arrow.c. */
#define GOB_NUMPY_IMPORT
#include "py_numpy.h"

#include "py_args.h"
#include "py_columns.h"
#include "py_host.h"
#include "py_uuid.h"

const char *const gob_kind_words[] = {"str", "bytes", "uuid", NULL};

uint8_t *gob_names_own(gob_names_object *self, size_t rows, size_t row_bytes, size_t more)
{
    size_t limit = PY_SSIZE_T_MAX;
    bool fits = more <= limit && rows <= (limit - more) / row_bytes;
    self->own = fits ? PyMem_Malloc(rows * row_bytes + more) : NULL;
    if (self->own == NULL) {
        PyErr_NoMemory();
    }
    return self->own;
}

int gob_texts_new(gob_names_object *self, size_t count, size_t bytes, gob_texts *out)
{
    out->offsets = gob_names_own(self, count + 1, sizeof(int64_t), bytes);
    if (out->offsets == NULL) {
        return -1;
    }
    out->text = out->offsets + (count + 1) * sizeof(int64_t);
    gob_store64(out->offsets, 0);
    self->count = count;
    self->column =
        (gob_names){.form = GOB_NAMES_OFFSETS64, .data = out->text, .offsets = out->offsets};
    return 0;
}

int gob_names_parse(gob_names_object *self)
{
    const gob_module_state *state = PyType_GetModuleState(Py_TYPE(self));
    size_t count = self->count;
    gob_names_object parsed = {.kind = GOB_UUID};
    uint8_t *out = gob_names_own(&parsed, count, GOB_UUID_BYTES, 0);
    int result = out == NULL ? -1 : 0;
    gob_breath breath = {0};
    for (size_t i = 0; result == 0 && i < count; i++) {
        gob_name text = gob_names_at(&self->column, i);
        result = gob_uuid_parse(state, text.at, text.len, out + i * GOB_UUID_BYTES);
        result = result < 0 ? -1 : gob_breathe(&breath);
    }
    gob_names_forget(self);
    self->own = out;
    self->count = count;
    self->column = (gob_names){.form = GOB_NAMES_FIXED, .width = GOB_UUID_BYTES, .data = out};
    return result;
}

/* Whether a type has this attribute; special methods are looked up there. -1 on error. */
static int type_has(PyObject *object, const char *name)
{
    PyObject *found = PyObject_GetAttrString((PyObject *)Py_TYPE(object), name);
    if (found == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        return 0;
    }
    Py_XDECREF(found);
    return found == NULL ? -1 : 1;
}

/* Whether a dtype is polars' of Python objects, of which Arrow would be given the addresses. */
static int is_of_objects(PyObject *dtype)
{
    PyObject *name = PyObject_Str(dtype);
    int result = name == NULL ? -1 : PyUnicode_CompareWithASCIIString(name, "Object") == 0;
    Py_XDECREF(name);
    return result;
}

/* Whether numpy keeps the values of an object with __array__, so that a way over Arrow would be a
 * detour, or has to be asked since no other way is right; -1 on error. */
static int is_for_numpy(PyObject *values)
{
    int has_dtype = type_has(values, "dtype");
    if (has_dtype <= 0) {
        return has_dtype;
    }
    PyObject *dtype = PyObject_GetAttrString(values, "dtype");
    int result = dtype == NULL ? -1 : PyArray_DescrCheck(dtype) ? 1 : is_of_objects(dtype);
    Py_XDECREF(dtype);
    return result;
}

/* Whether an array has masked entries; -1 on error. */
static int is_masked(PyObject *array)
{
    int has_mask = PyArray_CheckExact(array) ? 0 : type_has(array, "mask");
    if (has_mask <= 0) {
        return has_mask;
    }
    PyObject *mask = PyObject_GetAttrString(array, "mask");
    PyObject *any = mask == NULL ? NULL : PyObject_CallMethod(mask, "any", NULL);
    int masked = any == NULL ? -1 : PyObject_IsTrue(any);
    Py_XDECREF(mask);
    Py_XDECREF(any);
    return masked;
}

/* An array of numpy's own type, without masked entries. */
static PyObject *as_array(PyObject *values)
{
    int masked = PyArray_Check(values) ? is_masked(values) : 0;
    if (masked > 0) {
        PyErr_SetString(PyExc_ValueError,
                        "masked entries have no value; leave them out, as .compressed() does");
    }
    return masked == 0 ? PyArray_FROM_OF(values, NPY_ARRAY_ENSUREARRAY) : NULL;
}

static int from_numpy(gob_names_object *self, PyObject *values)
{
    PyObject *array = as_array(values);
    if (array == NULL) {
        return -1;
    }
    int result = gob_names_from_array(self, array);
    Py_DECREF(array);
    return result;
}

/* 1 where the object is no exporter, or where pandas has the method but, without pyarrow, can't
 * follow it. */
static int from_arrow(gob_names_object *self, PyObject *values)
{
    int stream = type_has(values, "__arrow_c_stream__");
    int pair = stream == 0 ? type_has(values, "__arrow_c_array__") : 0;
    if (stream < 0 || pair < 0) {
        return -1;
    }
    if (stream == 0 && pair == 0) {
        return 1;
    }
    int result = gob_names_from_exporter(self, values, stream != 0);
    if (result < 0 && PyErr_ExceptionMatches(PyExc_ImportError)) {
        PyErr_Clear();
        gob_names_forget(self);
        return 1;
    }
    return result;
}

static int fill_from_others(gob_names_object *self, PyObject *values)
{
    int array = type_has(values, "__array__");
    int numpy = array > 0 ? is_for_numpy(values) : array;
    if (numpy == 0) {
        int result = from_arrow(self, values);
        if (result <= 0) {
            return result;
        }
    }
    if (numpy < 0) {
        return -1;
    }
    return array ? from_numpy(self, values) : gob_names_from_objects(self, values);
}

static int fill(gob_names_object *self, PyObject *values, const gob_module_state *state)
{
    if (PyUnicode_Check(values) || PyBytes_Check(values) || PyByteArray_Check(values)) {
        return gob_refuse_one(values);
    }
    if (PyArray_Check(values) || PyMemoryView_Check(values)) {
        return from_numpy(self, values);
    }
    if (Py_TYPE(values) == state->arrow_column_type) {
        return gob_names_from_column(self, values, false);
    }
    /* Our containers would give pairs, or a table, where they can be asked for arrays. */
    if (PyList_CheckExact(values) || PyTuple_CheckExact(values) ||
        PyObject_TypeCheck(values, state->sortedset_type) ||
        PyObject_TypeCheck(values, state->hash_type) ||
        PyObject_TypeCheck(values, state->table_type)) {
        return gob_names_from_objects(self, values);
    }
    return fill_from_others(self, values);
}

/* Without a column yet, and not tracked. */
static gob_names_object *new_empty(const gob_module_state *state, gob_kind kind)
{
    gob_names_object *self = PyObject_GC_New(gob_names_object, state->names_type);
    if (self != NULL) {
        self->column = (gob_names){.form = GOB_NAMES_LIST};
        self->kind = kind;
        self->source = NULL;
        self->own = NULL;
        self->count = 0;
    }
    return self;
}

static int copy_names(gob_names_object *self, const gob_name *list, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += list[i].len;
    }
    gob_texts texts;
    if (gob_texts_new(self, n, bytes, &texts) < 0) {
        return -1;
    }
    uint64_t end = 0;
    for (size_t i = 0; i < n; i++) {
        if (list[i].len != 0) {
            memcpy(texts.text + end, list[i].at, list[i].len);
        }
        end += list[i].len;
        gob_store64(texts.offsets + (i + 1) * sizeof end, end);
    }
    return 0;
}

PyObject *gob_names_copy(const gob_module_state *state, gob_kind kind, const gob_name *list,
                         size_t n)
{
    gob_names_object *self = new_empty(state, kind);
    if (self == NULL || copy_names(self, list, n) < 0) {
        Py_XDECREF(self);
        return NULL;
    }
    PyObject_GC_Track((PyObject *)self);
    return (PyObject *)self;
}

static int keep_pieces(gob_names_object *self, PyObject *text, const int64_t *stops, size_t count)
{
    uint8_t *offsets = gob_names_own(self, count + 1, sizeof *stops, 0);
    if (offsets == NULL) {
        return -1;
    }
    memcpy(offsets, stops, (count + 1) * sizeof *stops);
    self->source = Py_NewRef(text);
    self->count = count;
    self->column = (gob_names){.form = GOB_NAMES_OFFSETS64,
                               .data = (const uint8_t *)PyBytes_AS_STRING(text),
                               .offsets = offsets};
    return self->kind == GOB_STR ? gob_names_check_text(&self->column, count) : 0;
}

PyObject *gob_names_between(const gob_module_state *state, gob_kind kind, PyObject *text,
                            const int64_t *stops, size_t count)
{
    gob_names_object *self = new_empty(state, kind);
    if (self == NULL || keep_pieces(self, text, stops, count) < 0) {
        Py_XDECREF(self);
        return NULL;
    }
    PyObject_GC_Track((PyObject *)self);
    return (PyObject *)self;
}

PyObject *gob_names_or_nulls(const gob_module_state *state, gob_kind kind, PyObject *arrow_column)
{
    gob_names_object *self = new_empty(state, kind);
    if (self == NULL || gob_names_from_column(self, arrow_column, true) < 0) {
        Py_XDECREF(self);
        return NULL;
    }
    PyObject_GC_Track((PyObject *)self);
    return (PyObject *)self;
}

PyObject *gob_names_of(const gob_module_state *state, gob_kind kind, PyObject *values)
{
    gob_names_object *self = new_empty(state, kind);
    if (self == NULL || fill(self, values, state) < 0) {
        Py_XDECREF(self);
        return NULL;
    }
    PyObject_GC_Track((PyObject *)self);
    return (PyObject *)self;
}

PyDoc_STRVAR(names_doc, "names(values, kind, /)\n--\n\n"
                        "A column of members of kind \"str\", \"bytes\" or \"uuid\".");

static PyObject *names(PyObject *module, PyObject *args)
{
    PyObject *values, *word;
    if (!PyArg_ParseTuple(args, "OO:names", &values, &word)) {
        return NULL;
    }
    int chosen = gob_word(word, "kind of members", gob_kind_words);
    return chosen < 0
               ? NULL
               : gob_names_of(PyModule_GetState(module), (gob_kind)(GOB_STR + chosen), values);
}

void gob_names_forget(gob_names_object *self)
{
    self->count = 0;
    PyMem_Free(self->own);
    self->own = NULL;
    Py_CLEAR(self->source);
}

static int names_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((gob_names_object *)object)->source);
    return 0;
}

static int names_clear(PyObject *object)
{
    gob_names_forget((gob_names_object *)object);
    return 0;
}

static void names_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    (void)names_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

static Py_ssize_t names_length(PyObject *object)
{
    return (Py_ssize_t)((gob_names_object *)object)->count;
}

static PyObject *names_item(PyObject *object, Py_ssize_t i)
{
    gob_names_object *self = (gob_names_object *)object;
    if (i < 0 || (size_t)i >= self->count) {
        PyErr_SetString(PyExc_IndexError, "row out of range");
        return NULL;
    }
    return gob_name_object(PyType_GetModuleState(Py_TYPE(self)), self->kind,
                           gob_names_at(&self->column, (size_t)i));
}

static int write_rows(const gob_names_object *self, PyObject *array)
{
    gob_name rows[256];
    size_t room = sizeof rows / sizeof rows[0];
    gob_breath breath = {0};
    for (size_t from = 0, n; from < self->count; from += n) {
        n = self->count - from < room ? self->count - from : room;
        for (size_t i = 0; i < n; i++) {
            rows[i] = gob_names_at(&self->column, from + i);
        }
        if (gob_names_write(array, self->kind, from, rows, n) < 0 ||
            gob_breathe_after(&breath, n) < 0) {
            return -1;
        }
    }
    return 0;
}

PyDoc_STRVAR(to_array_doc, "to_array($self, /)\n--\n\n"
                           "The members as a new array: StringDType, objects (bytes), or V16.");

static PyObject *names_to_array(PyObject *object, PyObject *unused)
{
    (void)unused;
    const gob_names_object *self = (gob_names_object *)object;
    PyObject *array = gob_names_array(self->kind, self->count);
    if (array != NULL && write_rows(self, array) < 0) {
        Py_CLEAR(array);
    }
    return array;
}

static PyMethodDef methods[] = {
    {"to_array", names_to_array, METH_NOARGS, to_array_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A column of members that are byte strings, in the layout of where it came from."},
    {Py_tp_dealloc, names_dealloc},
    {Py_tp_traverse, names_traverse},
    {Py_tp_clear, names_clear},
    {Py_tp_methods, methods},
    {Py_sq_length, names_length},
    {Py_sq_item, names_item},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "goblin._core.Names",
    .basicsize = sizeof(gob_names_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

const gob_names *gob_names_get(PyObject *object, gob_kind kind, size_t *count)
{
    gob_names_object *self = (gob_names_object *)object;
    if (Py_TYPE(object)->tp_dealloc != names_dealloc || self->kind != kind) {
        PyErr_Format(PyExc_TypeError, "Names of kind %s are wanted", gob_kind_word(kind));
        return NULL;
    }
    *count = self->count;
    return &self->column;
}

static PyObject *copy_of(const gob_names_object *self)
{
    gob_name *list = PyMem_New(gob_name, self->count);
    if (list == NULL) {
        return PyErr_NoMemory();
    }
    for (size_t i = 0; i < self->count; i++) {
        list[i] = gob_names_at(&self->column, i);
    }
    PyObject *copy =
        gob_names_copy(PyType_GetModuleState(Py_TYPE(self)), self->kind, list, self->count);
    PyMem_Free(list);
    return copy;
}

PyObject *gob_names_keep(PyObject *object, gob_kind kind)
{
    size_t count;
    if (gob_names_get(object, kind, &count) == NULL) {
        return NULL;
    }
    const gob_names_object *self = (const gob_names_object *)object;
    const gob_module_state *state = PyType_GetModuleState(Py_TYPE(object));
    bool safe = self->source == NULL ||
                (!PyArray_Check(self->source) && Py_TYPE(self->source) != state->arrow_column_type);
    return safe ? Py_NewRef(object) : copy_of(self);
}

PyObject *gob_names_packed(PyObject *object)
{
    const gob_names_object *self = (const gob_names_object *)object;
    bool packed = self->column.form == GOB_NAMES_OFFSETS64 || self->column.form == GOB_NAMES_FIXED;
    return packed ? Py_NewRef(object) : copy_of(self);
}

static PyMethodDef functions[] = {
    {"names", names, METH_VARARGS, names_doc},
    {NULL, NULL, 0, NULL},
};

int gob_add_names(PyObject *module)
{
    gob_module_state *state = PyModule_GetState(module);
    if (PyArray_ImportNumPyAPI() < 0) {
        return -1;
    }
    state->names_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    if (state->names_type == NULL || PyModule_AddType(module, state->names_type) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(module, functions);
}
