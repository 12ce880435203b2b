#define _POSIX_C_SOURCE 200809L /* for masks of signals, which C11 has not */

#include "gob_parallel.h"

#ifdef _WIN32 /* which has no POSIX threads */

void gob_parallel(gob_task here, gob_task aside, gob_task waiting)
{
    (void)waiting;
    here.run(here.context);
    aside.run(aside.context);
}

#else

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_NS = 5000000 };

typedef struct other {
    gob_task task;
    pid_t process; /* that has the thread */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool done;
} other;

static void *run(void *context)
{
    other *o = context;
    o->task.run(o->task.context);
    (void)pthread_mutex_lock(&o->mutex);
    o->done = true;
    (void)pthread_cond_signal(&o->ended);
    (void)pthread_mutex_unlock(&o->mutex);
    return NULL;
}

static bool start(other *o)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&o->thread, NULL, run, o) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Whether it is done, a few milliseconds later at most. */
static bool has_ended(other *o)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += WAIT_NS;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&o->mutex);
    int timed_out = 0;
    while (!o->done && timed_out == 0) {
        timed_out = pthread_cond_timedwait(&o->ended, &o->mutex, &t);
    }
    bool done = o->done;
    (void)pthread_mutex_unlock(&o->mutex);
    return done;
}

static bool is_child(const other *o)
{
    return getpid() != o->process;
}

/* What a child gets is a copy, of a mutex too, which the thread may have held: it leaves that
 * alone, and runs what was not done by then. */
static void finish(other *o, bool started, gob_task waiting)
{
    while (started && !is_child(o) && !has_ended(o)) {
        waiting.run(waiting.context);
    }
    if (started && !is_child(o)) {
        (void)pthread_join(o->thread, NULL);
    } else if (!o->done) {
        o->task.run(o->task.context);
    }
}

void gob_parallel(gob_task here, gob_task aside, gob_task waiting)
{
    other o = {aside, .process = getpid(), .mutex = PTHREAD_MUTEX_INITIALIZER,
               .ended = PTHREAD_COND_INITIALIZER};
    bool started = start(&o);
    here.run(here.context);
    finish(&o, started, waiting);
    if (!is_child(&o)) {
        (void)pthread_cond_destroy(&o.ended);
        (void)pthread_mutex_destroy(&o.mutex);
    }
}

#endif
