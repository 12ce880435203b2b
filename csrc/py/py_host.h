/* How long work lets others in: the answer of the binding to gob_pace.h.
 *
 * Every few hundredths of a second, long work of the core on an object stops for a moment, marked
 * as running: then other threads run, and the handlers of signals. What a handler raises stops it,
 * as a failed allocation would. Loops over Python objects take breath likewise. */
#ifndef PY_HOST_H
#define PY_HOST_H

#include "py_lock.h"

#include "gob_alloc.h"

/* The host of the core's work on an object, for objects that are large enough to need one. */
typedef struct gob_host {
    gob_pace pace;
    gob_locked *self;
    uint32_t looked;       /* when others were let in last, in milliseconds */
    uint32_t interrupt_at; /* tests: the interrupt_at-th question finds a Ctrl-C; 0: none */
    bool stopped;          /* by an exception, which is set until the call returns */
} gob_host;

/* Gives the core of an object a host, unless it has one, when it holds or gets so many members.
 * Where memory is short it has to do without. */
void gob_host_for(void *object, gob_alloc *a, size_t members);

/* Before the object goes. */
void gob_host_free(gob_alloc *a);

/* After work that can't be undone, or that has ignored a stop on its way: what the handler has
 * raised is raised once the present call has returned, as if the signal had come then. 0, or -1
 * with the exception where that can't be had. */
int gob_put_off(void);

/* After short work that was done: 0, or -1 as of gob_put_off. */
GOB_INLINE int gob_finish_short(const gob_alloc *a)
{
    gob_host *host = (gob_host *)(void *)a->pace;
    if (GOB_LIKELY(host == NULL || !host->stopped)) {
        return 0;
    }
    host->stopped = false;
    return gob_put_off();
}

/* A change of an object that is ready, in one call of size: it is done or has failed, and what it
 * has ignored on its way is put off. 0, or -1 with an exception. */
int gob_run_change(void *object, gob_alloc *a, gob_work work, void *context, size_t size);

/* _interrupt_at(n) of an object that is ready -> what is left of the last n: long work of the core
 * finds a Ctrl-C the n-th time that it looks out for one, once; 0 for none. For tests. */
PyObject *gob_host_interrupt_at(void *object, gob_alloc *a, PyObject *n);

/* For loops over Python objects: lets others in every now and then. 0, or -1 with what a signal
 * handler has raised. Starts as {0}. */
typedef struct gob_breath {
    uint32_t looked;
    uint32_t count;
} gob_breath;

int gob_breathe_now(gob_breath *b);

GOB_INLINE int gob_breathe_after(gob_breath *b, size_t items)
{
    b->count += (uint32_t)items;
    return GOB_LIKELY(b->count < 4096) ? 0 : gob_breathe_now(b);
}

GOB_INLINE int gob_breathe(gob_breath *b)
{
    return gob_breathe_after(b, 1);
}

#endif
