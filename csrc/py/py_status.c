#include "py_status.h"

PyObject *gob_errors_get(const char *name)
{
    PyObject *errors = PyImport_ImportModule("goblin.errors");
    PyObject *type = errors == NULL ? NULL : PyObject_GetAttrString(errors, name);
    Py_XDECREF(errors);
    return type;
}

/* What is mapped is looked through only once that is needed. */
static PyObject *raise_damage(void)
{
    PyObject *type = gob_errors_get("SnapshotError");
    if (type != NULL) {
        PyErr_SetString(type, "the file that is mapped holds what no such container can");
        Py_DECREF(type);
    }
    return NULL;
}

PyObject *gob_raise(gob_status status)
{
    switch (status) {
    case GOB_NOMEM:
        return PyErr_NoMemory();
    case GOB_NAN:
        PyErr_SetString(PyExc_ValueError, "a score would be NaN, which has no place in an order");
        return NULL;
    case GOB_RANGE:
        PyErr_SetString(PyExc_OverflowError, "a score is beyond the range of float32");
        return NULL;
    case GOB_TOO_LARGE:
        PyErr_SetString(PyExc_OverflowError, "it would grow too large");
        return NULL;
    case GOB_STOPPED: /* with the exception of the signal handler */
        return NULL;
    case GOB_MALFORMED:
        return raise_damage();
    case GOB_OK:
    default:
        PyErr_Format(PyExc_SystemError, "unexpected status %d of the core", (int)status);
        return NULL;
    }
}

PyObject *gob_raise_key(PyObject *key)
{
    PyObject *args = PyTuple_Pack(1, key);
    if (args != NULL) {
        PyErr_SetObject(PyExc_KeyError, args);
        Py_DECREF(args);
    }
    return NULL;
}

int gob_warn_precision(const char *text)
{
    PyObject *warn = gob_errors_get("_warn_precision");
    PyObject *result = warn == NULL ? NULL : PyObject_CallFunction(warn, "s", text);
    Py_XDECREF(warn);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}
