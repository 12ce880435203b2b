/* The trace scanners for Python: bytes in, results into arrays that the caller made. */
#include "py_traces.h"

#include "py_args.h"
#include "py_names.h"

#include "gob_commands.h"
#include "gob_history.h"

int gob_slice_block(const Py_buffer *data, Py_ssize_t offset, const char **start, size_t *length)
{
    if (offset < 0 || offset > data->len) {
        PyErr_SetString(PyExc_ValueError, "offset lies outside the block");
        return -1;
    }
    *start = (const char *)data->buf + offset;
    *length = (size_t)(data->len - offset);
    return 0;
}

int gob_get_output(PyObject *object, size_t bytes, Py_buffer *view)
{
    if (PyObject_GetBuffer(object, view, PyBUF_WRITABLE) < 0) {
        return -1;
    }
    if ((size_t)view->len < bytes) {
        PyErr_SetString(PyExc_ValueError, "output array is too short");
        PyBuffer_Release(view);
        return -1;
    }
    return 0;
}

static const size_t kind_bytes[GOB_HISTORY_KINDS] = {
    [GOB_HISTORY_PAGE_ID] = sizeof(int64_t),       [GOB_HISTORY_INTEGER] = sizeof(int64_t),
    [GOB_HISTORY_BOOLEAN] = sizeof(uint8_t),       [GOB_HISTORY_TIMESTAMP] = sizeof(int64_t),
    [GOB_HISTORY_TEXT] = sizeof(gob_history_span),
};

/* The columns of one call and the buffers they write to. */
typedef struct columns {
    gob_history_column list[GOB_HISTORY_MAX_WIDTH];
    Py_buffer views[GOB_HISTORY_MAX_WIDTH];
    size_t count;
} columns;

static void release_columns(columns *self)
{
    while (self->count > 0) {
        PyBuffer_Release(&self->views[--self->count]);
    }
}

/* Add (index, kind, output array). */
static int add_column(columns *self, PyObject *spec, size_t width, size_t capacity)
{
    Py_ssize_t index;
    int kind;
    PyObject *output;

    if (!PyArg_ParseTuple(spec, "niO", &index, &kind, &output)) {
        return -1;
    }
    if (index < 0 || (size_t)index >= width || kind < 0 || kind >= GOB_HISTORY_KINDS ||
        self->count == GOB_HISTORY_MAX_WIDTH) {
        PyErr_SetString(PyExc_ValueError, "no such column");
        return -1;
    }
    Py_buffer *view = &self->views[self->count];
    if (gob_get_output(output, capacity * kind_bytes[kind], view) < 0) {
        return -1;
    }
    self->list[self->count++] = (gob_history_column){
        .index = (size_t)index, .kind = (gob_history_kind)kind, .out = view->buf};
    return 0;
}

static int add_columns(columns *self, PyObject *specs, size_t width, size_t capacity)
{
    self->count = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(specs); i++) {
        if (add_column(self, PyTuple_GET_ITEM(specs, i), width, capacity) < 0) {
            release_columns(self);
            return -1;
        }
    }
    return 0;
}

static PyObject *history_result(const gob_history_scan *scan)
{
    PyObject *malformed = PyTuple_New((Py_ssize_t)scan->column_count);
    if (malformed == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < scan->column_count; i++) {
        PyObject *count = PyLong_FromLongLong(scan->columns[i].malformed);
        if (count == NULL) {
            Py_DECREF(malformed);
            return NULL;
        }
        PyTuple_SET_ITEM(malformed, (Py_ssize_t)i, count);
    }
    return Py_BuildValue("(nnnnnnN)", (Py_ssize_t)scan->consumed, (Py_ssize_t)scan->rows,
                         (Py_ssize_t)scan->kept, (Py_ssize_t)scan->filtered,
                         (Py_ssize_t)scan->pageless, (Py_ssize_t)scan->bad_width, malformed);
}

PyDoc_STRVAR(
    read_history_doc,
    "read_history(data, offset, width, entity, event, columns, capacity, /)\n--\n\n"
    "Scan rows of a MediaWiki History block; see gob_history.h.\n\n"
    "entity and event are (index, bytes or None); columns is a tuple of (index, kind, array).\n"
    "Returns (consumed, rows, kept, filtered, pageless, bad width or 0, malformed per column).");

static PyObject *read_history(PyObject *module, PyObject *args)
{
    Py_buffer data;
    Py_ssize_t offset, width, capacity, entity_length, event_length;
    PyObject *specs;
    gob_history_scan scan = {0};
    const char *start;
    size_t length;
    columns wanted;
    PyObject *result = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "y*nn(nz#)(nz#)O!n:read_history", &data, &offset, &width,
                          &scan.entity.index, &scan.entity.text, &entity_length, &scan.event.index,
                          &scan.event.text, &event_length, &PyTuple_Type, &specs, &capacity)) {
        return NULL;
    }
    if (width < 1 || width > GOB_HISTORY_MAX_WIDTH || scan.entity.index >= (size_t)width ||
        scan.event.index >= (size_t)width || capacity < 1) {
        PyErr_SetString(PyExc_ValueError, "no such layout");
        goto done;
    }
    scan.width = (size_t)width;
    scan.capacity = (size_t)capacity;
    scan.entity.length = (size_t)entity_length;
    scan.event.length = (size_t)event_length;
    if (gob_slice_block(&data, offset, &start, &length) < 0 ||
        add_columns(&wanted, specs, scan.width, scan.capacity) < 0) {
        goto done;
    }
    scan.columns = wanted.list;
    scan.column_count = wanted.count;
    Py_BEGIN_ALLOW_THREADS(void) gob_history_read(&scan, start, length); /* the width tells */
    Py_END_ALLOW_THREADS result = history_result(&scan);
    release_columns(&wanted);
done:
    PyBuffer_Release(&data);
    return result;
}

static const char *const verb_names[] = {
    [GOB_COMMANDS_ZADD] = "ZADD", [GOB_COMMANDS_ZINCRBY] = "ZINCRBY"};

static const char *const fault_texts[GOB_COMMANDS_FAULTS] = {
    [GOB_COMMANDS_SOUND] = NULL,
    [GOB_COMMANDS_UNKNOWN] = "only ZADD and ZINCRBY are read",
    [GOB_COMMANDS_ARITY] = "wrong number of arguments",
    [GOB_COMMANDS_OPTION] = "options of ZADD, such as NX, are not read",
    [GOB_COMMANDS_SCORE] = "score is not a valid float",
    [GOB_COMMANDS_QUOTES] = "unbalanced quotes",
    [GOB_COMMANDS_PROTOCOL] = "not a RESP array of strings",
};

PyDoc_STRVAR(read_commands_doc, "read_commands(data, offset, text, stops, scores, /)\n--\n\n"
                                "Scan one run of ZADD or ZINCRBY commands; see gob_commands.h.\n\n"
                                "Returns (consumed, lines, verb, pairs, fault or None).");

static PyObject *read_commands(PyObject *module, PyObject *args)
{
    Py_buffer data, text, stops, scores;
    Py_ssize_t offset;
    PyObject *text_object, *stops_object, *scores_object;
    const char *start;
    size_t length;
    gob_commands_run run = {0};
    PyObject *result = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "y*nOOO:read_commands", &data, &offset, &text_object, &stops_object,
                          &scores_object)) {
        return NULL;
    }
    if (gob_slice_block(&data, offset, &start, &length) < 0) {
        goto no_text;
    }
    size_t pairs = GOB_COMMANDS_MAX_PAIRS(length);
    if (gob_get_output(text_object, length, &text) < 0) {
        goto no_text;
    }
    if (gob_get_output(stops_object, (pairs + 1) * sizeof(int64_t), &stops) < 0) {
        goto no_stops;
    }
    if (gob_get_output(scores_object, pairs * sizeof(double), &scores) < 0) {
        goto no_scores;
    }
    run.text = text.buf;
    run.stops = stops.buf;
    run.scores = scores.buf;
    Py_BEGIN_ALLOW_THREADS(void) gob_commands_read(&run, start, length); /* the fault tells */
    Py_END_ALLOW_THREADS result =
        Py_BuildValue("(nnsnz)", (Py_ssize_t)run.consumed, (Py_ssize_t)run.lines,
                      verb_names[run.verb], (Py_ssize_t)run.count, fault_texts[run.fault]);
    PyBuffer_Release(&scores);
no_scores:
    PyBuffer_Release(&stops);
no_stops:
    PyBuffer_Release(&text);
no_text:
    PyBuffer_Release(&data);
    return result;
}

/* Stops that do not ascend within the text would read outside of it. */
static bool stops_fit(const int64_t *stops, size_t count, Py_ssize_t length)
{
    int64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        if (stops[i] < last || stops[i] > (int64_t)length) {
            return false;
        }
        last = stops[i];
    }
    return true;
}

PyDoc_STRVAR(integer_members_doc,
             "integer_members(text, stops, out, /)\n--\n\n"
             "Write members as int64 to out; False where one is no canonical int64.");

static PyObject *integer_members(PyObject *module, PyObject *args)
{
    Py_buffer text, stops, out;
    PyObject *out_object;
    PyObject *result = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*O:integer_members", &text, &stops, &out_object)) {
        return NULL;
    }
    size_t places = (size_t)stops.len / sizeof(int64_t);
    if (places == 0 || !stops_fit(stops.buf, places, text.len)) {
        PyErr_SetString(PyExc_ValueError, "stops do not fit the text");
    } else if (gob_get_output(out_object, (places - 1) * sizeof(int64_t), &out) == 0) {
        result = PyBool_FromLong(gob_commands_integers(text.buf, stops.buf, places - 1, out.buf));
        PyBuffer_Release(&out);
    }
    PyBuffer_Release(&stops);
    PyBuffer_Release(&text);
    return result;
}

PyDoc_STRVAR(text_names_doc,
             "text_names(text, stops, kind, /)\n--\n\n"
             "Names of kind \"str\" or \"bytes\": the pieces of text between the stops, in place.");

static PyObject *text_names(PyObject *module, PyObject *args)
{
    static const char *const kinds[] = {"str", "bytes", NULL};
    PyObject *text, *word;
    Py_buffer stops;
    PyObject *result = NULL;

    if (!PyArg_ParseTuple(args, "Sy*O:text_names", &text, &stops, &word)) {
        return NULL;
    }
    size_t places = (size_t)stops.len / sizeof(int64_t);
    int kind = gob_word(word, "kind of pieces", kinds);
    if (kind >= 0 && (places == 0 || !stops_fit(stops.buf, places, PyBytes_GET_SIZE(text)))) {
        PyErr_SetString(PyExc_ValueError, "stops do not fit the text");
    } else if (kind >= 0) {
        result = gob_names_between(PyModule_GetState(module), (gob_kind)(GOB_STR + kind), text,
                                   stops.buf, places - 1);
    }
    PyBuffer_Release(&stops);
    return result;
}

/* Fill an array of texts with every step-th of the pieces between the stops. */
static int write_pieces(PyObject *array, size_t count, const char *text, const int64_t *stops,
                        size_t step)
{
    gob_name rows[256];
    size_t room = sizeof rows / sizeof rows[0];
    for (size_t from = 0, n; from < count; from += n) {
        n = count - from < room ? count - from : room;
        for (size_t i = 0; i < n; i++) {
            const int64_t *piece = stops + (from + i) * step;
            rows[i] = (gob_name){(const uint8_t *)text + piece[0], (size_t)(piece[1] - piece[0])};
        }
        if (gob_names_write(array, GOB_STR, from, rows, n) < 0) {
            return -1;
        }
    }
    return 0;
}

PyDoc_STRVAR(text_column_doc,
             "text_column(text, stops, first, step, /)\n--\n\n"
             "A StringDType array of the pieces first, first + step, ... that lie\n"
             "between two stops each; text must be UTF-8.");

static PyObject *text_column(PyObject *module, PyObject *args)
{
    Py_buffer text, stops;
    Py_ssize_t first, step;
    PyObject *array = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*nn:text_column", &text, &stops, &first, &step)) {
        return NULL;
    }
    size_t places = (size_t)stops.len / sizeof(int64_t);
    if (first < 0 || step < 1 || places == 0 || !stops_fit(stops.buf, places, text.len)) {
        PyErr_SetString(PyExc_ValueError, "stops do not fit the text");
    } else {
        size_t left = places - 1 > (size_t)first ? places - 1 - (size_t)first : 0;
        size_t count = (left + (size_t)step - 1) / (size_t)step;
        array = gob_names_array(GOB_STR, count);
        if (array != NULL &&
            write_pieces(array, count, text.buf, (int64_t *)stops.buf + first, (size_t)step) < 0) {
            Py_CLEAR(array);
        }
    }
    PyBuffer_Release(&stops);
    PyBuffer_Release(&text);
    return array;
}

static PyMethodDef functions[] = {
    {"read_history", read_history, METH_VARARGS, read_history_doc},
    {"read_commands", read_commands, METH_VARARGS, read_commands_doc},
    {"integer_members", integer_members, METH_VARARGS, integer_members_doc},
    {"text_names", text_names, METH_VARARGS, text_names_doc},
    {"text_column", text_column, METH_VARARGS, text_column_doc},
    {NULL, NULL, 0, NULL},
};

int gob_add_traces(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
