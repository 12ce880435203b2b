/* What each py_*.c file gives the module: one function that adds its types and functions. */
#ifndef GOBLIN_MODULE_H
#define GOBLIN_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Each returns 0, or -1 with an exception set. */
int gob_add_traces(PyObject *module);

#endif
