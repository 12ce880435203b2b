/* Two pieces of work at once. */
#define _POSIX_C_SOURCE 200809L
#include "gob_parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Goes on until it was told to, as one that nobody waits for never is. */
static void run_until_told(void *context)
{
    atomic_bool *told = context;
    while (!atomic_load(told)) {
    }
}

static void tell(void *context)
{
    atomic_bool *told = context;
    atomic_store(told, true);
}

typedef struct forking {
    atomic_bool told;
    pid_t child; /* 0 in the child */
} forking;

/* The child, where nobody runs `waiting`, is told at once. */
static void run_fork(void *context)
{
    forking *f = context;
    f->child = fork();
    CHECK(f->child >= 0);
    if (f->child == 0) {
        (void)alarm(60); /* where it would wait for ever */
        atomic_store(&f->told, true);
    }
}

/* The other thread is under way when the process forks; its work is done in the child, too. */
static void check_fork(void)
{
    forking f = {0};
    gob_parallel((gob_task){run_fork, &f}, (gob_task){run_until_told, &f.told},
                 (gob_task){tell, &f.told});
    if (f.child == 0) {
        _exit(0);
    }
    int status;
    CHECK(waitpid(f.child, &status, 0) == f.child && status == 0);
}

int main(void)
{
    for (int turn = 0; turn < 100; turn++) {
        work here = {0};
        work aside = {0};
        work waiting = {0};
        gob_parallel((gob_task){run, &here}, (gob_task){run, &aside}, (gob_task){run, &waiting});
        CHECK(here.done == 1 && aside.done == 1);
        CHECK(pthread_equal(here.by, pthread_self()) != 0);
        CHECK(here.hears_signals && !aside.hears_signals);
    }
    atomic_bool told = false;
    work here = {0};
    gob_parallel((gob_task){run, &here}, (gob_task){run_until_told, &told},
                 (gob_task){tell, &told});
    CHECK(here.done == 1 && atomic_load(&told));
    check_fork();
    work after = {0};
    run(&after);
    CHECK(after.hears_signals);
    return test_report();
}
