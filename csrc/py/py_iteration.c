#include "py_iteration.h"

/* Steps between two looks at signals. */
enum { STEPS = 1024 };

void *gob_iteration_new(PyTypeObject *type)
{
    gob_iteration *it = (gob_iteration *)PyType_GenericAlloc(type, 0);
    if (it != NULL) {
        PyObject_GC_UnTrack((PyObject *)it);
    }
    return it;
}

PyObject *gob_iteration_start(void *iterator, void *container, uint64_t stamp)
{
    gob_iteration *it = iterator;
    it->container = Py_NewRef((PyObject *)container);
    it->stamp = stamp;
    PyObject_GC_Track((PyObject *)it);
    return (PyObject *)it;
}

PyObject *gob_iteration_next(PyObject *iterator, gob_next *next)
{
    gob_iteration *it = (gob_iteration *)iterator;
    if (it->container == NULL) {
        return NULL;
    }
    /* Another thread may exhaust the iterator while this one waits for the container. */
    PyObject *container = Py_NewRef(it->container);
    PyObject *result = next(it, container);
    Py_DECREF(container);
    return result;
}

void gob_iteration_end(void *iterator)
{
    Py_CLEAR(((gob_iteration *)iterator)->container);
}

int gob_iteration_check(void *iterator, void *container, const uint64_t *stamp)
{
    gob_iteration *it = iterator;
    if (++it->steps == STEPS) {
        it->steps = 0;
        if (PyErr_CheckSignals() < 0) { /* before the look at what handlers may change */
            return -1;
        }
    }
    if (gob_ready(container) < 0) {
        return -1;
    }
    if (it->stamp != *stamp) {
        PyErr_Format(PyExc_RuntimeError, "%.100s changed during iteration",
                     Py_TYPE((PyObject *)container)->tp_name);
        return -1;
    }
    return 0;
}

int gob_iteration_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((gob_iteration *)object)->container);
    return 0;
}

int gob_iteration_clear(PyObject *object)
{
    gob_iteration_end(object);
    return 0;
}

void gob_iteration_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    gob_iteration_end(object);
    type->tp_free(object);
    Py_DECREF(type);
}
