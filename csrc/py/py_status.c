#include "py_status.h"

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
    case GOB_OK:
    case GOB_MALFORMED:
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
    PyObject *errors = PyImport_ImportModule("goblin.errors");
    if (errors == NULL) {
        return -1;
    }
    PyObject *result = PyObject_CallMethod(errors, "_warn_precision", "s", text);
    Py_DECREF(errors);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}
