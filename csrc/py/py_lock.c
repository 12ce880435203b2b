#include "py_lock.h"

#include <time.h>
#include <unistd.h>

#include "py_status.h"

static int refuse(const char *text)
{
    PyErr_SetString(PyExc_RuntimeError, text);
    return -1;
}

int gob_wait(gob_sortedset *self)
{
    while (self->use != GOB_FREE) {
        if (self->owner == PyThread_get_thread_ident()) {
            return self->use == GOB_HELD
                       ? 0
                       : refuse("a SortedSet can't be used from inside a call that is changing or "
                                "reading it (a callback, signal handler or finaliser)");
        }
        if (self->pid != getpid()) {
            return refuse("this SortedSet was in use by another thread when the process forked");
        }
        struct timespec pause = {.tv_nsec = 200000};
        Py_BEGIN_ALLOW_THREADS nanosleep(&pause, NULL);
        Py_END_ALLOW_THREADS if (PyErr_CheckSignals() < 0)
        {
            return -1;
        }
    }
    return 0;
}

gob_use gob_start(gob_sortedset *self, gob_use use)
{
    gob_use before = (gob_use)self->use;
    self->owner = PyThread_get_thread_ident();
    self->pid = getpid();
    self->use = (uint8_t)use;
    return before;
}

void gob_finish(gob_sortedset *self, gob_use before)
{
    self->use = (uint8_t)before;
}

gob_status gob_detached(gob_work work, void *context, size_t from, size_t n)
{
    if (n < GOB_DETACH_MIN) {
        return work(context, from, n);
    }
    gob_status status;
    Py_BEGIN_ALLOW_THREADS status = work(context, from, n);
    Py_END_ALLOW_THREADS return status;
}

int gob_run_in(gob_sortedset *self, gob_work work, void *context, size_t total, size_t stretch)
{
    gob_use before = gob_start(self, GOB_RUNNING);
    gob_status status = GOB_OK;
    int signalled = 0;
    for (size_t from = 0; from < total && status == GOB_OK && signalled == 0; from += stretch) {
        size_t left = total - from;
        status = gob_detached(work, context, from, left < stretch ? left : stretch);
        signalled = PyErr_CheckSignals();
    }
    gob_finish(self, before);
    if (signalled == 0 && status != GOB_OK) {
        gob_raise(status);
    }
    return signalled == 0 && status == GOB_OK ? 0 : -1;
}

PyObject *gob_atomically(gob_sortedset *self, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames)
{
    if (nargs < 1) {
        PyErr_SetString(PyExc_TypeError, "a function is wanted");
        return NULL;
    }
    if (gob_ready(self) < 0) {
        return NULL;
    }
    gob_use before = gob_start(self, GOB_HELD);
    PyObject *result = PyObject_Vectorcall(args[0], args + 1, (size_t)(nargs - 1), kwnames);
    gob_finish(self, before);
    return result;
}
