#include "py_args.h"

#include <math.h>

#include "gob_compiler.h"
#include "py_status.h"

static Py_ssize_t find_parameter(const gob_signature *s, PyObject *name)
{
    for (Py_ssize_t i = 0; s->parameters[i] != NULL; i++) {
        if (PyUnicode_CompareWithASCIIString(name, s->parameters[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static int take_keywords(const gob_signature *s, PyObject *const *values_given, PyObject *kwnames,
                         PyObject **values)
{
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); k++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, k);
        Py_ssize_t at = find_parameter(s, name);
        if (at < 0 || values[at] != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() got %s argument '%U'", s->function,
                         at < 0 ? "an unexpected keyword" : "multiple values for", name);
            return -1;
        }
        values[at] = values_given[k];
    }
    return 0;
}

int gob_parse(const gob_signature *s, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
              PyObject **values)
{
    if (nargs > s->positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %zd positional arguments (%zd given)",
                     s->function, s->positional, nargs);
        return -1;
    }
    for (Py_ssize_t i = 0; s->parameters[i] != NULL; i++) {
        values[i] = i < nargs ? args[i] : NULL;
    }
    if (kwnames != NULL && take_keywords(s, args + nargs, kwnames, values) < 0) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < s->required; i++) {
        if (values[i] == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument: '%s'", s->function,
                         s->parameters[i]);
            return -1;
        }
    }
    return 0;
}

/* What an error shows of an object: its type where its repr fails, as that of an int of thousands
 * of digits does. */
static PyObject *shown(PyObject *object)
{
    PyObject *text = PyObject_Repr(object);
    if (text == NULL && PyErr_ExceptionMatches(PyExc_Exception) &&
        !PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear();
        text = PyUnicode_FromFormat("<%.100s>", Py_TYPE(object)->tp_name);
    }
    return text;
}

int gob_refuse_type(PyObject *object, const char *wanted, const char *hint)
{
    PyObject *text = shown(object); /* before the type is read, which a repr may change */
    if (text != NULL) {
        PyErr_Format(PyExc_TypeError, "%.100U must be %s, not %.100s%s", text, wanted,
                     Py_TYPE(object)->tp_name, hint);
        Py_DECREF(text);
    }
    return -1;
}

static int refuse_width(PyObject *integer, unsigned member_bytes)
{
    PyObject *text = shown(integer);
    if (text != NULL) {
        PyErr_Format(PyExc_OverflowError, "%U does not fit int%u", text, member_bytes * 8);
        Py_DECREF(text);
    }
    return -1;
}

/* Whether a Python int fits. */
static bool read_int(PyObject *integer, unsigned member_bytes, int64_t *out)
{
    int overflow;
    *out = PyLong_AsLongLongAndOverflow(integer, &overflow);
    return overflow == 0 && (member_bytes == 8 || *out == (int32_t)*out);
}

static int member_of_int(PyObject *integer, unsigned member_bytes, int64_t *out)
{
    return read_int(integer, member_bytes, out) ? 0 : refuse_width(integer, member_bytes);
}

int gob_member_of(PyObject *object, unsigned member_bytes, int64_t *out)
{
    if (GOB_LIKELY(PyLong_CheckExact(object))) {
        return member_of_int(object, member_bytes, out);
    }
    if (PyBool_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "a bool is no integer here");
        return -1;
    }
    if (!PyIndex_Check(object)) {
        return gob_refuse_type(object, "an integer", "");
    }
    PyObject *integer = PyNumber_Index(object);
    if (integer == NULL) {
        return -1;
    }
    int result = member_of_int(integer, member_bytes, out);
    Py_DECREF(integer);
    return result;
}

/* Without the errors of gob_member_of: these would show objects, and a repr can be long, or fail.
 */
int gob_find_member(PyObject *object, unsigned member_bytes, int64_t *out)
{
    if (GOB_LIKELY(PyLong_CheckExact(object))) {
        return read_int(object, member_bytes, out);
    }
    if (PyBool_Check(object) || !PyIndex_Check(object)) {
        return 0;
    }
    PyObject *integer = PyNumber_Index(object);
    if (integer != NULL) {
        bool fits = read_int(integer, member_bytes, out);
        Py_DECREF(integer);
        return fits;
    }
    if (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        return 0;
    }
    return -1;
}

int gob_number(PyObject *object, double *out)
{
    double value = PyFloat_AsDouble(object);
    if (value == -1.0 && PyErr_Occurred()) {
        return -1;
    }
    if (isnan(value)) {
        PyErr_SetString(PyExc_ValueError, "NaN is no number to keep");
        return -1;
    }
    *out = value;
    return 0;
}

/* Whether a score of this width holds another number than the integer; -1 on error. */
static int is_rounded(PyObject *object, double value, unsigned score_bytes)
{
    double kept = score_bytes == 4 ? (double)(float)value : value;
    if (fabs(value) < (score_bytes == 4 ? 0x1p24 : 0x1p53) || isinf(kept)) {
        return 0;
    }
    PyObject *integer = PyNumber_Index(object);
    if (integer == NULL) { /* an array of one float has the slot, too */
        bool refused = PyErr_ExceptionMatches(PyExc_TypeError);
        if (refused) {
            PyErr_Clear();
        }
        return refused ? 0 : -1;
    }
    PyObject *back = PyLong_FromDouble(kept);
    int differs = back == NULL ? -1 : PyObject_RichCompareBool(back, integer, Py_NE);
    Py_XDECREF(back);
    Py_DECREF(integer);
    return differs;
}

int gob_score_number(PyObject *object, unsigned score_bytes, double *out, bool *rounded)
{
    if (gob_number(object, out) < 0) {
        return -1;
    }
    if (GOB_UNLIKELY(PyIndex_Check(object))) {
        int result = is_rounded(object, *out, score_bytes);
        if (result < 0) {
            return -1;
        }
        *rounded = *rounded || result == 1;
    }
    return 0;
}

int gob_score_argument(PyObject *object, unsigned score_bytes, double *out)
{
    if (GOB_LIKELY(PyFloat_CheckExact(object))) {
        return gob_number(object, out);
    }
    bool rounded = false;
    if (gob_score_number(object, score_bytes, out, &rounded) < 0) {
        return -1;
    }
    return rounded ? gob_warn_precision("an integer score has more digits than a score holds") : 0;
}

int gob_blame_item(Py_ssize_t i)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (traceback == NULL && value != NULL &&
        (type == PyExc_TypeError || type == PyExc_ValueError || type == PyExc_OverflowError)) {
        PyErr_Format(type, "item %zd: %S", i, value);
        Py_DECREF(type);
        Py_DECREF(value);
    } else {
        PyErr_Restore(type, value, traceback);
    }
    return -1;
}

int gob_buffer(PyObject *object, Py_buffer *view, size_t element, bool writable, size_t *count)
{
    if (PyObject_GetBuffer(object, view, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) < 0) {
        return -1;
    }
    *count = (size_t)view->len / element;
    if ((size_t)view->len % element != 0) {
        PyBuffer_Release(view);
        PyErr_SetString(PyExc_ValueError, "a buffer does not hold whole elements");
        return -1;
    }
    return 0;
}

static void refuse_word(PyObject *object, const char *parameter, const char *const *words)
{
    PyObject *known = PyUnicode_FromString(words[0]);
    for (int i = 1; known != NULL && words[i] != NULL; i++) {
        Py_SETREF(known, PyUnicode_FromFormat("%U, %s", known, words[i]));
    }
    if (known != NULL) {
        PyErr_Format(PyExc_ValueError, "unknown %s: %R; known are %U", parameter, object, known);
        Py_DECREF(known);
    }
}

int gob_word(PyObject *object, const char *parameter, const char *const *words)
{
    for (int i = 0; PyUnicode_Check(object) && words[i] != NULL; i++) {
        if (PyUnicode_CompareWithASCIIString(object, words[i]) == 0) {
            return i;
        }
    }
    refuse_word(object, parameter, words);
    return -1;
}
