/* What each py_*.c file gives the module: one function that adds its types and functions. */
#ifndef GOBLIN_MODULE_H
#define GOBLIN_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct gob_module_state {
    PyTypeObject *iterator_type;
    PyTypeObject *sortedset_type;
} gob_module_state;

extern struct PyModuleDef gob_module_def;

/* Each returns 0, or -1 with an exception set. */
int gob_add_build_info(PyObject *module);
int gob_add_convert(PyObject *module);
int gob_add_iterator(PyObject *module);
int gob_add_sortedset(PyObject *module);
int gob_add_traces(PyObject *module);

#endif
