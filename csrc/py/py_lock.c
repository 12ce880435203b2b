#include "py_lock.h"

#include <time.h>
#include <unistd.h>

#include "py_status.h"

/* The text has a %s for the type. */
static int refuse(gob_locked *self, const char *text)
{
    PyErr_Format(PyExc_RuntimeError, text, Py_TYPE((PyObject *)self)->tp_name);
    return -1;
}

/* At least one pause, in which those who wait already may find it free. Else a thread that makes
 * one long call after the other, free only while it has the GIL, would keep them out for ever. */
static int wait_for_turn(gob_locked *self)
{
    do {
        if (self->pid != getpid()) {
            return refuse(self, "this %s was in use by another thread when the process forked");
        }
        struct timespec pause = {.tv_nsec = 200000};
        Py_BEGIN_ALLOW_THREADS nanosleep(&pause, NULL);
        Py_END_ALLOW_THREADS if (PyErr_CheckSignals() < 0)
        {
            return -1;
        }
    } while (self->use != GOB_FREE);
    return 0;
}

int gob_wait(gob_locked *self)
{
    if (self->use != GOB_FREE && self->owner == PyThread_get_thread_ident()) {
        return self->use == GOB_HELD
                   ? 0
                   : refuse(self, "a %s can't be used from inside a call that is changing or "
                                  "reading it (a callback, signal handler or finaliser)");
    }
    if (self->use == GOB_FREE && self->pid != getpid()) {
        self->waiting = 0; /* they are threads of the parent */
        return 0;
    }
    if (self->waiting < UINT8_MAX) {
        self->waiting++;
    }
    int result = wait_for_turn(self);
    if (self->waiting > 0) {
        self->waiting--;
    }
    return result;
}

gob_use gob_start(void *object, gob_use use)
{
    gob_locked *self = object;
    gob_use before = (gob_use)self->use;
    self->owner = PyThread_get_thread_ident();
    self->pid = getpid();
    self->use = (uint8_t)use;
    return before;
}

void gob_finish(void *object, gob_use before)
{
    ((gob_locked *)object)->use = (uint8_t)before;
}

bool gob_is_intact(const void *object)
{
    const gob_locked *self = object;
    return self->use != GOB_RUNNING || self->pid == getpid();
}

gob_status gob_detached(gob_work work, void *context, size_t from, size_t n)
{
    gob_status status;
    if (n < GOB_DETACH_MIN) {
        status = work(context, from, n);
    } else {
        Py_BEGIN_ALLOW_THREADS status = work(context, from, n);
        Py_END_ALLOW_THREADS
    }
    return status == GOB_OK && PyErr_Occurred() ? GOB_STOPPED : status;
}

int gob_try_in(void *object, gob_work work, void *context, size_t total, size_t stretch,
               gob_status *status)
{
    gob_use before = gob_start(object, GOB_RUNNING);
    int signalled = 0;
    *status = GOB_OK;
    for (size_t from = 0; from < total && *status == GOB_OK && signalled == 0; from += stretch) {
        size_t left = total - from;
        *status = gob_detached(work, context, from, left < stretch ? left : stretch);
        signalled = *status == GOB_OK ? PyErr_CheckSignals() : 0;
    }
    gob_finish(object, before);
    return signalled;
}

int gob_run_in(void *object, gob_work work, void *context, size_t total, size_t stretch)
{
    gob_status status;
    if (gob_try_in(object, work, context, total, stretch, &status) < 0) {
        return -1;
    }
    if (status != GOB_OK) {
        gob_raise(status);
        return -1;
    }
    return 0;
}

gob_status gob_run_whole(void *object, gob_work work, void *context, size_t size)
{
    gob_use before = gob_start(object, GOB_RUNNING);
    gob_status status = gob_detached(work, context, 0, size);
    gob_finish(object, before);
    return status;
}

PyObject *gob_atomically(void *object, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (nargs < 1) {
        PyErr_SetString(PyExc_TypeError, "a function is wanted");
        return NULL;
    }
    if (gob_ready(object) < 0) {
        return NULL;
    }
    gob_use before = gob_start(object, GOB_HELD);
    PyObject *result = PyObject_Vectorcall(args[0], args + 1, (size_t)(nargs - 1), kwnames);
    gob_finish(object, before);
    return result;
}
