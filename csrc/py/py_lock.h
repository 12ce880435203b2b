/* Who may touch a set.
 *
 * The GIL is the lock of every short call. A call that lets the GIL go marks the set as running
 * first; a composed method of the Python layer holds it over several calls of its own thread.
 * Everyone else waits, except where waiting could never end: the running thread itself, and a
 * forked child. */
#ifndef PY_LOCK_H
#define PY_LOCK_H

#include "py_sortedset.h"

/* Long work goes in stretches of this many members, with a look at signals in between. */
enum { GOB_STRETCH = 1 << 18 };

/* Work on fewer than this is done without letting the GIL go. */
enum { GOB_DETACH_MIN = 1 << 11 };

int gob_wait(gob_sortedset *self);

/* Before any access to the core: 0 when this thread may go on. */
GOB_INLINE int gob_ready(gob_sortedset *self)
{
    return GOB_LIKELY(self->use == GOB_FREE) ? 0 : gob_wait(self);
}

/* Marks a set that is ready as running, or as held; returns what gob_finish needs. */
gob_use gob_start(gob_sortedset *self, gob_use use);
void gob_finish(gob_sortedset *self, gob_use before);

typedef gob_status (*gob_work)(void *context, size_t from, size_t n);

/* One stretch of work on a running set, without the GIL where it is long. */
gob_status gob_detached(gob_work work, void *context, size_t from, size_t n);

/* All of it: total inputs in stretches on a set that is ready. -1 with an exception where the work
 * failed or a signal handler raised. */
int gob_run_in(gob_sortedset *self, gob_work work, void *context, size_t total, size_t stretch);

GOB_INLINE int gob_run(gob_sortedset *self, gob_work work, void *context, size_t total)
{
    return gob_run_in(self, work, context, total, GOB_STRETCH);
}

/* Calls method(*args, **kwargs) while this thread holds the set. */
PyObject *gob_atomically(gob_sortedset *self, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames);

#endif
