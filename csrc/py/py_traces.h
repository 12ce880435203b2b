/* What the bindings of the trace scanners share. Each call returns 0, or -1 with an exception. */
#ifndef PY_TRACES_H
#define PY_TRACES_H

#include "goblin_module.h"

/* What is left of a block from an offset on; ValueError where it lies outside. */
int gob_slice_block(const Py_buffer *data, Py_ssize_t offset, const char **start, size_t *length);

/* Take a writable buffer of at least `bytes` bytes; ValueError for a shorter one. */
int gob_get_output(PyObject *object, size_t bytes, Py_buffer *view);

#endif
