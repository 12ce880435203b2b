#define _POSIX_C_SOURCE 200809L /* for masks of signals, which C11 has not */

#include "gob_parallel.h"

#ifdef _WIN32 /* which has no POSIX threads */

void gob_parallel(gob_task here, gob_task aside)
{
    here.run(here.context);
    aside.run(aside.context);
}

#else

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static void *run(void *task)
{
    const gob_task *t = task;
    t->run(t->context);
    return NULL;
}

void gob_parallel(gob_task here, gob_task aside)
{
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, run, &aside) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    here.run(here.context);
    if (started) {
        (void)pthread_join(thread, NULL);
    } else {
        aside.run(aside.context);
    }
}

#endif
