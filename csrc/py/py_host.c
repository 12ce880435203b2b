#include "py_host.h"

#include <time.h>

#include "py_status.h"

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

typedef struct change {
    gob_work work;
    void *context;
    gob_status status;
} change;

static gob_status carry_out(void *context, size_t from, size_t n)
{
    change *c = context;
    c->status = c->work(c->context, from, n);
    return c->status;
}

int gob_run_change(void *object, gob_alloc *a, gob_work work, void *context, size_t size)
{
    change c = {.work = work, .context = context};
    (void)gob_run_whole(object, carry_out, &c, size);
    return c.status == GOB_OK ? gob_finish_short(a) : (gob_raise(c.status), -1);
}

PyObject *gob_host_interrupt_at(void *object, gob_alloc *a, PyObject *n)
{
    unsigned long at = PyLong_AsUnsignedLong(n);
    if ((at == (unsigned long)-1 && PyErr_Occurred()) || gob_ready(object) < 0) {
        return NULL;
    }
    gob_host_for(object, a, SIZE_MAX);
    gob_host *host = (gob_host *)(void *)a->pace;
    if (host == NULL) {
        return PyErr_NoMemory();
    }
    uint32_t left = host->interrupt_at;
    host->interrupt_at = (uint32_t)at;
    host->pace.left = at == 0 ? GOB_PACE : 1;
    return PyLong_FromUnsignedLong(left);
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
