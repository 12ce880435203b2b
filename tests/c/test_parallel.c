/* Two pieces of work at once. */
#define _POSIX_C_SOURCE 200809L
#include "gob_parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "gob_test.h"

typedef struct work {
    int done;
    pthread_t by;
    bool hears_signals;
} work;

static void run(void *context)
{
    sigset_t blocked;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    work *w = context;
    *w = (work){w->done + 1, pthread_self(), sigismember(&blocked, SIGINT) == 0};
}

int main(void)
{
    for (int turn = 0; turn < 100; turn++) {
        work here = {0};
        work aside = {0};
        gob_parallel((gob_task){run, &here}, (gob_task){run, &aside});
        CHECK(here.done == 1 && aside.done == 1);
        CHECK(pthread_equal(here.by, pthread_self()) != 0);
        CHECK(here.hears_signals && !aside.hears_signals);
    }
    work after = {0};
    run(&after);
    CHECK(after.hears_signals);
    return test_report();
}
