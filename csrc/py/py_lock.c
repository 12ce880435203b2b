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

/* Milliseconds between two looks at signals and other threads. Those cost a busy thread up to 5 ms
 * for the GIL. */
enum { PATIENCE = 20 };

/* Work between two questions where tests count them, so that small sets have many. */
enum { TESTS_PACE = 256 };

/* Milliseconds, which wrap around; never 0. */
static uint32_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint32_t)((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000) | 1;
}

static void let_threads_run(void)
{
    Py_BEGIN_ALLOW_THREADS Py_END_ALLOW_THREADS
}

/* With the GIL. A call that has failed already has nothing to hear, and little left to do. */
static bool hear_signals(gob_host *host, bool interrupt)
{
    if (interrupt) {
        PyErr_SetInterrupt();
    }
    host->stopped = PyErr_Occurred() != NULL || PyErr_CheckSignals() < 0;
    return !host->stopped;
}

/* Short calls come here with the GIL, which kept others off the object until now. */
static bool goes_on(gob_pace *pace)
{
    gob_host *host = (gob_host *)(void *)pace;
    bool interrupt = host->interrupt_at == 1;
    if (host->interrupt_at != 0) {
        host->interrupt_at--;
        pace->left = TESTS_PACE;
    }
    if (!host->stopped && !interrupt && now() - host->looked < PATIENCE) {
        return true;
    }
    bool attached = PyGILState_Check();
    PyGILState_STATE state = PyGILState_Ensure();
    gob_use before = gob_start(host->self, GOB_RUNNING);
    if (attached) {
        let_threads_run();
    }
    bool result = hear_signals(host, interrupt);
    gob_finish(host->self, before);
    host->looked = now();
    PyGILState_Release(state);
    return result;
}

void gob_host_for(void *object, gob_alloc *a, size_t members)
{
    if (a->pace != NULL || members < GOB_DETACH_MIN) {
        return;
    }
    gob_host *host = PyMem_RawMalloc(sizeof *host);
    if (host != NULL) {
        *host = (gob_host){.pace = {goes_on, GOB_PACE}, .self = object};
        a->pace = &host->pace;
    }
}

void gob_host_free(gob_alloc *a)
{
    PyMem_RawFree(a->pace);
    a->pace = NULL;
}

static int raise_now(void *exception)
{
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF((PyObject *)exception);
    return -1;
}

int gob_put_off(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (type == NULL) {
        return 0;
    }
    PyErr_NormalizeException(&type, &value, &traceback);
    if (Py_AddPendingCall(raise_now, value) < 0) {
        PyErr_Restore(type, value, traceback);
        return -1;
    }
    Py_DECREF(type);
    Py_XDECREF(traceback);
    return 0;
}

int gob_breathe_now(gob_breath *b)
{
    uint32_t time = now();
    b->count = 0;
    if (b->looked != 0 && time - b->looked >= PATIENCE) {
        let_threads_run();
        time = now();
    } else if (b->looked != 0) {
        return 0;
    }
    b->looked = time;
    return PyErr_CheckSignals();
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
