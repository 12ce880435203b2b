/* The lock of the binding, csrc/py/py_lock.c, with the core behind it, under the thread sanitizer:
 * readers and writers of one set, and calls that take two sets, in one order. The GIL is a mutex.
 */
#include "Python.h"

#include "gob_bulk.h"
#include "gob_test.h"
#include "py_lock.h"
#include "py_status.h"

/* What py_lock.c wants of the interpreter. */

pthread_mutex_t the_gil = PTHREAD_MUTEX_INITIALIZER;
exception *PyExc_RuntimeError;
exception *PyExc_TypeError;
static _Thread_local int raised;

PyObject *PyErr_Format(exception *kind, const char *text, ...)
{
    (void)kind;
    (void)text;
    raised++;
    return NULL;
}

void PyErr_SetString(exception *kind, const char *text)
{
    (void)PyErr_Format(kind, text);
}

PyObject *gob_raise(gob_status status)
{
    return PyErr_Format(PyExc_RuntimeError, "%d", (int)status);
}

PyObject *PyErr_Occurred(void)
{
    static PyObject something;
    return raised == 0 ? NULL : &something;
}

int PyErr_CheckSignals(void)
{
    return 0;
}

unsigned long PyThread_get_thread_ident(void)
{
    return (unsigned long)pthread_self();
}

typedef struct function {
    PyObject object;
    PyObject *(*call)(PyObject *const *args, size_t nargs);
} function;

PyObject *PyObject_Vectorcall(PyObject *callable, PyObject *const *args, size_t nargs,
                              PyObject *kwnames)
{
    (void)kwnames;
    return ((function *)callable)->call(args, nargs);
}

/* A set with a lock, and calls as the binding makes them. */

typedef struct set {
    GOB_LOCK_HEAD
    gob_zset z;
} set;

enum { MEMBERS = 20000, ROUNDS = 12, THREADS = 4, SINGLES = 500 };

static PyTypeObject type = {"set"};
static set sets[2];
static int64_t ids[MEMBERS];

static gob_status increment_step(void *context, size_t from, size_t n)
{
    gob_inputs *in = ((void **)context)[1];
    gob_journal *j = ((void **)context)[2];
    return gob_bulk_increment(&((set *)((void **)context)[0])->z, j, *in, from, n, NULL);
}

static void increment_many(set *self)
{
    double one = 1.0;
    gob_inputs in = {.members = ids, .scores = {&one, 0}};
    gob_journal j;
    void *context[] = {self, &in, &j};
    if (gob_ready(self) < 0) {
        return;
    }
    gob_use before = gob_start(self, GOB_RUNNING);
    gob_status status = gob_bulk_begin(&self->z, &j, MEMBERS);
    for (size_t from = 0; status == GOB_OK && from < MEMBERS; from += MEMBERS / 4) {
        status = gob_detached(increment_step, context, from, MEMBERS / 4);
    }
    gob_bulk_commit(&self->z, &j);
    raised += status != GOB_OK;
    gob_finish(self, before);
}

static void increment_one(set *self)
{
    gob_member m = {.id = 5};
    double sum;
    raised += gob_ready(self) < 0 || gob_zset_increment(&self->z, &m, 1.0, &sum) != GOB_OK;
}

static gob_status sync(void *context, size_t from, size_t n)
{
    (void)from;
    (void)n;
    return gob_zset_sync(context);
}

/* A rank, which brings the order up to date first, without the GIL. */
static void read_rank(set *self)
{
    if (gob_ready(self) < 0 ||
        gob_run_whole(self, sync, &self->z, (size_t)gob_zset_count(&self->z)) != GOB_OK) {
        raised++;
        return;
    }
    uint64_t count = gob_zset_count(&self->z);
    raised += count != 0 && gob_zset_select(&self->z, count - 1).member == 0;
}

static gob_status add_up(void *context, size_t from, size_t n)
{
    void **c = context;
    set *self = c[0];
    double *sum = c[1];
    for (size_t i = from; i < from + n; i++) {
        *sum += gob_zset_score(&self->z, ids[i]);
    }
    return GOB_OK;
}

/* Holds two sets, the one of the higher address inside, and reads both: what _held.py does. */
static PyObject *read_both(PyObject *const *args, size_t nargs)
{
    for (size_t i = 0; i < 2; i++) {
        double sum = 0.0;
        void *context[] = {&sets[i], &sum};
        raised += gob_ready(&sets[i]) < 0 || gob_run(&sets[i], add_up, context, MEMBERS) < 0;
        /* No call is half done, and of single increments each is. */
        raised += sum < MEMBERS;
    }
    (void)args;
    return nargs == 0 ? &sets[0].ob_base : NULL;
}

static PyObject *hold_second(PyObject *const *args, size_t nargs)
{
    static const function inside = {{&type}, read_both};
    PyObject *call = (PyObject *)(uintptr_t)&inside;
    (void)args;
    (void)nargs;
    return gob_atomically(&sets[1], &call, 1, NULL);
}

static void hold_both(void)
{
    static const function outside = {{&type}, hold_second};
    PyObject *call = (PyObject *)(uintptr_t)&outside;
    raised += gob_atomically(&sets[0], &call, 1, NULL) == NULL;
}

static void *work(void *turn)
{
    set *mine = &sets[(uintptr_t)turn % 2];
    pthread_mutex_lock(&the_gil);
    for (int round = 0; round < ROUNDS; round++) {
        increment_many(mine);
        read_rank(mine);
        hold_both();
        for (int i = 0; i < SINGLES; i++) {
            increment_one(mine);
            pthread_mutex_unlock(&the_gil); /* as the interpreter may at any time */
            pthread_mutex_lock(&the_gil);
        }
    }
    pthread_mutex_unlock(&the_gil);
    return (void *)(intptr_t)raised;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int64_t i = 0; i < MEMBERS; i++) {
        ids[i] = 1 + i * 7 % MEMBERS;
    }
    for (int i = 0; i < 2; i++) {
        gob_layout layout = {.member_bytes = 8, .score_bytes = 8};
        sets[i].ob_base.ob_type = &type;
        gob_zset_init(&sets[i].z, layout, 1.0, 99);
        pthread_mutex_lock(&the_gil);
        increment_many(&sets[i]);
        pthread_mutex_unlock(&the_gil);
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0);
        CHECK((intptr_t)result == 0);
    }
    double each = 1.0 + THREADS / 2 * ROUNDS;
    for (int i = 0; i < 2; i++) {
        const char *why = NULL;
        CHECK(gob_zset_validate(&sets[i].z, &why));
        CHECK(gob_zset_count(&sets[i].z) == MEMBERS);
        CHECK(gob_zset_score(&sets[i].z, 6) == each);
        CHECK(gob_zset_score(&sets[i].z, 5) == each + THREADS / 2 * ROUNDS * SINGLES);
        CHECK(sets[i].use == GOB_FREE && sets[i].waiting == 0);
        gob_zset_clear(&sets[i].z);
    }
    return test_report();
}
