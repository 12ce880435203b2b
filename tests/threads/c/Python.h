/* As much of the C API as csrc/py/py_lock.c uses, over POSIX threads: a GIL, one exception a
 * thread, and objects that are never counted. */
#ifndef PYTHON_H
#define PYTHON_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef ptrdiff_t Py_ssize_t;

typedef struct PyTypeObject {
    const char *tp_name;
} PyTypeObject;

typedef struct PyObject {
    PyTypeObject *ob_type;
} PyObject;

#define PyObject_HEAD PyObject ob_base;
#define Py_TYPE(object) ((object)->ob_type)

extern pthread_mutex_t the_gil;
#define Py_BEGIN_ALLOW_THREADS                                                                     \
    {                                                                                              \
        pthread_mutex_unlock(&the_gil);
#define Py_END_ALLOW_THREADS                                                                       \
    pthread_mutex_lock(&the_gil);                                                                  \
    }

typedef struct exception exception;
extern exception *PyExc_RuntimeError;
extern exception *PyExc_TypeError;
PyObject *PyErr_Format(exception *kind, const char *text, ...);
void PyErr_SetString(exception *kind, const char *text);
PyObject *PyErr_Occurred(void);
int PyErr_CheckSignals(void);
unsigned long PyThread_get_thread_ident(void);

/* A function has (void *) for its arguments. */
typedef PyObject *a_function(PyObject *const *args, size_t nargs);
PyObject *PyObject_Vectorcall(PyObject *callable, PyObject *const *args, size_t nargs,
                              PyObject *kwnames);

struct PyModuleDef;

#endif
