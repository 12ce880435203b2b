/* Many writes at once, all or nothing: begin, stretches without the GIL, commit or rollback. */
#include "py_member.h"
#include "py_status.h"

typedef struct call {
    gob_sortedset *self;
    gob_journal journal;
    gob_column_argument column;
    gob_inputs in;
    size_t inputs;
    gob_verb verb;
    gob_mode mode;
    bool too_wide; /* some member is */
    double *out;
    gob_changes changes;
    uint64_t removed;
} call;

static gob_status step(void *context, size_t from, size_t n)
{
    call *c = context;
    gob_zset *z = &c->self->z;
    if (!gob_members_fit(c->self, c->in.members, from, n)) {
        c->too_wide = true;
        return GOB_RANGE;
    }
    switch (c->verb) {
    case GOB_INCREMENT:
        return gob_bulk_increment(z, &c->journal, c->in, from, n, c->out);
    case GOB_REMOVE:
        return gob_bulk_remove(z, &c->journal, c->in, from, n, &c->removed);
    case GOB_UPDATE:
    default:
        return gob_bulk_update(z, &c->journal, c->in, from, n, c->mode, &c->changes);
    }
}

static gob_status roll_back(void *context, size_t from, size_t n)
{
    call *c = context;
    (void)from;
    (void)n;
    gob_bulk_rollback(&c->self->z, &c->journal, c->in, c->verb);
    return GOB_OK;
}

static gob_status commit(void *context, size_t from, size_t n)
{
    call *c = context;
    (void)from;
    (void)n;
    gob_bulk_commit(&c->self->z, &c->journal);
    return GOB_OK;
}

/* Tells a Python callable of n inputs done; None for nobody. */
static int report(PyObject *advance, size_t n)
{
    PyObject *result = advance == Py_None ? Py_NewRef(Py_None)
                                          : PyObject_CallFunction(advance, "n", (Py_ssize_t)n);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

int gob_finish_with(PyObject *seal)
{
    PyObject *result = seal == Py_None ? Py_NewRef(Py_None) : PyObject_CallNoArgs(seal);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

static int carry_out(call *c, PyObject *callback)
{
    size_t done = 0;
    while (done < c->inputs) {
        size_t n = c->inputs - done < GOB_STRETCH ? c->inputs - done : GOB_STRETCH;
        gob_status status = gob_detached(step, c, done, n);
        if (status != GOB_OK) {
            c->too_wide ? gob_refuse_kind() : (void)gob_raise(status);
            return -1;
        }
        if ((c->verb == GOB_INCREMENT && report(callback, n) < 0) || PyErr_CheckSignals() < 0) {
            return -1;
        }
        done += n;
    }
    return c->verb == GOB_INCREMENT ? gob_warn_stuck(c->self) : gob_finish_with(callback);
}

/* The whole call on a set that is ready. 0, or -1 with an exception and nothing changed. */
static int transact(call *c, PyObject *callback)
{
    gob_sortedset_expect(c->self, c->inputs);
    gob_use before = gob_start(c->self, GOB_RUNNING);
    gob_status status = gob_bulk_begin(&c->self->z, &c->journal, c->inputs);
    int result = -1;
    if (status != GOB_OK) {
        gob_raise(status);
    } else {
        c->self->z.stuck = false;
        result = carry_out(c, callback);
        (void)gob_detached(result < 0 ? roll_back : commit, c, 0, c->inputs);
        result = result < 0 ? -1 : gob_finish_short(&c->self->z.alloc);
    }
    gob_finish(c->self, before);
    return result;
}

/* Scores that come with the members: one number for all, or as many as there are members. */
typedef struct scores {
    Py_buffer view; /* obj is NULL for one number */
    double one;
} scores;

static int take_scores(PyObject *object, size_t inputs, scores *s)
{
    size_t count;
    s->view.obj = NULL;
    if (PyFloat_CheckExact(object)) {
        s->one = PyFloat_AS_DOUBLE(object);
        return 0;
    }
    if (gob_buffer(object, &s->view, sizeof(double), false, &count) < 0) {
        return -1;
    }
    if (count != inputs) {
        PyErr_Format(PyExc_ValueError, "%zu members, but %zu scores", inputs, count);
        PyBuffer_Release(&s->view);
        return -1;
    }
    return 0;
}

static gob_column addends(const scores *s)
{
    return s->view.obj == NULL ? (gob_column){&s->one, 0} : (gob_column){s->view.buf, 1};
}

typedef struct score_check {
    gob_column scores;
    unsigned score_bytes;
} score_check;

static gob_status check_stretch(void *context, size_t from, size_t n)
{
    score_check *c = context;
    double kept;
    for (size_t i = from; i < from + n; i++) {
        GOB_TRY(gob_narrow(c->scores.at[i * c->scores.step], c->score_bytes, &kept));
    }
    return GOB_OK;
}

/* Every score before anything changes; what is added only has to be a number. */
static int check_scores(call *c)
{
    score_check check = {c->in.scores, c->verb == GOB_UPDATE ? gob_score_bytes(c->self) : 8};
    return gob_run(c->self, check_stretch, &check, c->in.scores.step == 0 ? 1 : c->inputs);
}

static int write_scores(call *c, PyObject *values, PyObject *advance)
{
    scores s;
    if (take_scores(values, c->inputs, &s) < 0) {
        return -1;
    }
    c->in.scores = addends(&s);
    int result = gob_ready_for(c->self, c->column.kind) < 0 || gob_check_own(c->self) < 0 ||
                         check_scores(c) < 0
                     ? -1
                     : transact(c, advance);
    if (s.view.obj != NULL) {
        PyBuffer_Release(&s.view);
    }
    return result;
}

/* A call for these members. */
static int call_init(call *c, gob_sortedset *self, gob_verb verb, PyObject *members)
{
    *c = (call){.self = self, .verb = verb};
    int result = gob_take_column(self, members, &c->column);
    c->in = c->column.in;
    c->inputs = c->column.count;
    return result;
}

/* In the order of gob_mode. */
static const char *const modes[] = {"set", "nx", "xx", "gt", "lt", "xx_gt", "xx_lt", "sum", NULL};

/* _update(members, scores, mode) -> (added, changed, total) */
PyObject *gob_write_update(gob_sortedset *self, PyObject *args)
{
    call c;
    PyObject *members, *values, *word;
    if (!PyArg_ParseTuple(args, "OOO:_update", &members, &values, &word) ||
        call_init(&c, self, GOB_UPDATE, members) < 0) {
        return NULL;
    }
    int mode = gob_word(word, "mode", modes);
    c.mode = (gob_mode)mode;
    int result = mode < 0 ? -1 : write_scores(&c, values, Py_None);
    gob_column_release(&c.column);
    if (result < 0) {
        return NULL;
    }
    return Py_BuildValue("(KKK)", (unsigned long long)c.changes.added,
                         (unsigned long long)c.changes.changed,
                         (unsigned long long)gob_zset_count(&self->z));
}

/* _increment(members, by, out, advance): out is None or gets the score after each input. */
PyObject *gob_write_increment(gob_sortedset *self, PyObject *args)
{
    call c;
    Py_buffer out = {0};
    PyObject *members, *values, *out_object, *advance;
    if (!PyArg_ParseTuple(args, "OOOO:_increment", &members, &values, &out_object, &advance) ||
        call_init(&c, self, GOB_INCREMENT, members) < 0) {
        return NULL;
    }
    size_t room = c.inputs;
    int result = 0;
    if (out_object != Py_None) {
        result = gob_buffer(out_object, &out, sizeof(double), true, &room);
        c.out = out.buf;
    }
    if (result == 0 && room != c.inputs) {
        PyErr_SetString(PyExc_ValueError, "out has another length than members");
        result = -1;
    } else if (result == 0) {
        result = write_scores(&c, values, advance);
    }
    if (out.obj != NULL) {
        PyBuffer_Release(&out);
    }
    gob_column_release(&c.column);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

/* _remove(members, seal) -> how many were there. seal, unless None, is a built-in that is called
 * once they are gone; where it raises they come back. */
PyObject *gob_write_remove(gob_sortedset *self, PyObject *args)
{
    call c;
    PyObject *members, *seal;
    if (!PyArg_ParseTuple(args, "OO:_remove", &members, &seal) ||
        call_init(&c, self, GOB_REMOVE, members) < 0) {
        return NULL;
    }
    int result =
        gob_ready_for(self, c.column.kind) < 0 || gob_check_own(self) < 0 ? -1 : transact(&c, seal);
    gob_column_release(&c.column);
    return result < 0 ? NULL : PyLong_FromUnsignedLongLong(c.removed);
}
