/* Who may touch a set or a hash.
 *
 * The GIL is the lock of every short call. A call that lets the GIL go marks the object as running
 * first; a composed method of the Python layer holds it over several calls of its own thread.
 * Everyone else waits, except where waiting could never end: the running thread itself, and a
 * forked child. Who comes while others wait lets them go first. */
#ifndef PY_LOCK_H
#define PY_LOCK_H

#include "goblin_module.h"

#include "gob_compiler.h"
#include "gob_status.h"

typedef enum gob_use { GOB_FREE, GOB_HELD, GOB_RUNNING } gob_use;

/* What the struct of an object with a lock begins with. */
#define GOB_LOCK_HEAD                                                                              \
    PyObject_HEAD unsigned long owner; /* the thread that holds or runs it */                      \
    int32_t pid;                                                                                   \
    uint8_t use;                                                                                   \
    uint8_t waiting; /* how many threads do, up to 255 */

/* Any such object; the calls below take them all. */
typedef struct gob_locked {
    GOB_LOCK_HEAD
} gob_locked;

/* Long work goes in stretches of this many members, with a look at signals in between. */
enum { GOB_STRETCH = 1 << 18 };

/* Work on fewer than this is done without letting the GIL go. */
enum { GOB_DETACH_MIN = 1 << 11 };

/* gob_ready where the object is in use or others wait for it. */
int gob_wait(gob_locked *self);

/* Before any access to the core: 0 when this thread may go on. */
GOB_INLINE int gob_ready(void *object)
{
    gob_locked *self = object;
    return GOB_LIKELY((self->use | self->waiting) == 0) ? 0 : gob_wait(self);
}

/* Marks what is ready as running, or as held; returns what gob_finish needs. */
gob_use gob_start(void *object, gob_use use);
void gob_finish(void *object, gob_use before);

/* False where another thread was writing it when the process forked: that is beyond repair. */
bool gob_is_intact(const void *object);

typedef gob_status (*gob_work)(void *context, size_t from, size_t n);

/* One stretch of work on a running object, without the GIL where it is long. GOB_STOPPED, too,
 * where a signal handler has raised meanwhile, though the work may have ignored it. */
gob_status gob_detached(gob_work work, void *context, size_t from, size_t n);

/* All of it: total inputs in stretches on an object that is ready. -1 with an exception where a
 * signal handler raised; what the work failed with is the caller's to raise. */
int gob_try_in(void *object, gob_work work, void *context, size_t total, size_t stretch,
               gob_status *status);

/* The same, raising either. */
int gob_run_in(void *object, gob_work work, void *context, size_t total, size_t stretch);

GOB_INLINE int gob_run(void *object, gob_work work, void *context, size_t total)
{
    return gob_run_in(object, work, context, total, GOB_STRETCH);
}

/* Work that is one call, however long; size is what it grows with. */
gob_status gob_run_whole(void *object, gob_work work, void *context, size_t size);

/* Calls method(*args, **kwargs) while this thread holds the object. */
PyObject *gob_atomically(void *object, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

#endif
