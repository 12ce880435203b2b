/* Who may touch a set or a hash.
 *
 * The GIL is the lock of every short call. A call that lets the GIL go marks the object as running
 * first; a composed method of the Python layer holds it over several calls of its own thread.
 * Everyone else waits, except where waiting could never end: the running thread itself, and a
 * forked child. Who comes while others wait lets them go first.
 *
 * Long work of the core is let on for a while at a time: then other threads run, and the handlers
 * of signals. What they raise stops it, as a failed allocation would. */
#ifndef PY_LOCK_H
#define PY_LOCK_H

#include "goblin_module.h"

#include "gob_alloc.h"
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

GOB_INLINE int gob_finish_short(const gob_alloc *a)
{
    gob_host *host = (gob_host *)(void *)a->pace;
    if (GOB_LIKELY(host == NULL || !host->stopped)) {
        return 0;
    }
    host->stopped = false;
    return gob_put_off();
}

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
