/* What iterators over objects with a lock share. */
#ifndef PY_ITERATION_H
#define PY_ITERATION_H

#include "py_lock.h"

typedef struct gob_iteration {
    PyObject_HEAD PyObject *container; /* NULL once exhausted */
    uint64_t stamp;                    /* of the container, as it has to stay */
    uint32_t steps;                    /* since signals were heard */
} gob_iteration;

/* An iterator that is neither tracked nor has a container. */
void *gob_iteration_new(PyTypeObject *type);

/* Takes a container, which is ready, and tracks the iterator. */
PyObject *gob_iteration_start(void *iterator, void *container, uint64_t stamp);

/* The slot of an iterator whose next entry comes from `next`, which gets a container that lives
 * until it returns, and says by gob_iteration_end that there is none. */
typedef PyObject *gob_next(void *iterator, void *container);
PyObject *gob_iteration_next(PyObject *iterator, gob_next *next);
void gob_iteration_end(void *iterator);

/* At each step: waits for the container, and now and then hears signals, which a consumer in C,
 * like list(), does not. -1 with what a handler has raised, or with RuntimeError where the
 * container's stamp, which is at *stamp, has changed. */
int gob_iteration_check(void *iterator, void *container, const uint64_t *stamp);

int gob_iteration_traverse(PyObject *object, visitproc visit, void *arg);
int gob_iteration_clear(PyObject *object);
void gob_iteration_dealloc(PyObject *object);

#endif
