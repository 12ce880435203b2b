/* Increments of many sets in one call, all or nothing: the rows are sorted by set, then each set
 * carries out its own as one bulk call, and all are committed or rolled back together. */
#include "py_member.h"
#include "py_status.h"

typedef struct board {
    gob_sortedset *set;
    gob_use before;
    bool begun;
    size_t start; /* of its rows among the sorted ones */
    size_t stop;
    gob_names names;
    gob_journal journal;
} board;

typedef struct boards {
    board *list;
    size_t count;
    size_t at; /* the board that the next row may belong to */
    const int64_t *places;
    gob_column_argument column;
    size_t inputs;
    gob_column by;
    void *members;  /* sorted: int64_t or gob_name */
    double *scores; /* sorted, unless there is one for all */
    bool too_wide;  /* some member is */
    PyObject *seal;
} boards;

static size_t member_size(const boards *c)
{
    return c->column.kind == GOB_INTS ? sizeof(int64_t) : sizeof(gob_name);
}

static void copy_row(boards *c, size_t to, size_t row)
{
    if (c->column.kind == GOB_INTS) {
        ((int64_t *)c->members)[to] = c->column.in.members[row];
    } else {
        ((gob_name *)c->members)[to] = gob_names_at(c->column.in.names, row);
    }
    if (c->by.step != 0) {
        c->scores[to] = c->by.at[row];
    }
}

/* By counting, so that the rows of one set stay in input order. */
static gob_status sort_rows(void *context, size_t from, size_t n)
{
    boards *c = context;
    (void)from;
    gob_pace *pace = c->list[0].set->z.alloc.pace;
    for (size_t i = 0; i < n; i++) {
        c->list[c->places[i]].stop++;
    }
    GOB_TRY(gob_spend(pace, n));
    size_t start = 0;
    for (size_t b = 0; b < c->count; b++) {
        size_t rows = c->list[b].stop;
        c->list[b].start = c->list[b].stop = start;
        start += rows;
    }
    for (size_t i = 0; i < n; i++) {
        GOB_TRY(gob_spend(pace, 1));
        copy_row(c, c->list[c->places[i]].stop++, i);
    }
    return GOB_OK;
}

/* The rows of one set, as its own bulk call sees them. */
static gob_inputs rows_of(const boards *c, board *b)
{
    gob_inputs in = {.scores = c->by};
    if (c->by.step != 0) {
        in.scores.at = c->scores + b->start;
    }
    if (c->column.kind == GOB_INTS) {
        in.members = (const int64_t *)c->members + b->start;
    } else {
        const void *names = (const gob_name *)c->members + b->start;
        b->names = (gob_names){.form = GOB_NAMES_LIST, .data = names};
        in.names = &b->names;
    }
    return in;
}

static gob_status begin(board *b)
{
    GOB_TRY(gob_bulk_begin(&b->set->z, &b->journal, b->stop - b->start));
    b->set->z.stuck = false;
    b->begun = true;
    return GOB_OK;
}

static gob_status step(void *context, size_t from, size_t n)
{
    boards *c = context;
    for (size_t end = from + n; from < end;) {
        board *b = &c->list[c->at];
        size_t stop = b->stop < end ? b->stop : end;
        if (from < stop) {
            if (!b->begun) {
                GOB_TRY(begin(b));
            }
            gob_inputs in = rows_of(c, b);
            size_t row = from - b->start;
            if (!gob_members_fit(b->set, in.members, row, stop - from)) {
                c->too_wide = true;
                return GOB_RANGE;
            }
            GOB_TRY(gob_bulk_increment(&b->set->z, &b->journal, in, row, stop - from, NULL));
            from = stop;
        }
        c->at += from == b->stop;
    }
    return GOB_OK;
}

static gob_status roll_back(void *context, size_t from, size_t n)
{
    boards *c = context;
    (void)n;
    for (size_t i = from; i < c->count; i++) {
        board *b = &c->list[i];
        if (b->begun) {
            gob_bulk_rollback(&b->set->z, &b->journal, rows_of(c, b), GOB_INCREMENT);
        }
    }
    return GOB_OK;
}

static gob_status commit(void *context, size_t from, size_t n)
{
    boards *c = context;
    (void)n;
    for (size_t i = from; i < c->count; i++) {
        if (c->list[i].begun) {
            gob_bulk_commit(&c->list[i].set->z, &c->list[i].journal);
        }
    }
    return GOB_OK;
}

static int carry_out(boards *c)
{
    for (size_t done = 0, n; done < c->inputs; done += n) {
        n = c->inputs - done < GOB_STRETCH ? c->inputs - done : GOB_STRETCH;
        gob_status status = gob_detached(step, c, done, n);
        if (status != GOB_OK) {
            c->too_wide ? gob_refuse_kind() : (void)gob_raise(status);
            return -1;
        }
        if (PyErr_CheckSignals() < 0) {
            return -1;
        }
    }
    for (size_t i = 0; i < c->count; i++) {
        if (c->list[i].begun && gob_warn_stuck(c->list[i].set) < 0) {
            return -1;
        }
    }
    return gob_finish_with(c->seal);
}

/* The whole call, on sets that are ready and marked. */
static int transact(boards *c)
{
    c->members = PyMem_Malloc(c->inputs * member_size(c));
    c->scores = PyMem_Malloc(c->by.step == 0 ? 1 : c->inputs * sizeof(double));
    int result = -1;
    if (c->members == NULL || c->scores == NULL) {
        PyErr_NoMemory();
    } else {
        gob_status status = gob_detached(sort_rows, c, 0, c->inputs);
        result = status == GOB_OK ? carry_out(c) : -1; /* with what the handler has raised */
        (void)gob_detached(result < 0 ? roll_back : commit, c, 0, c->inputs);
        result = result < 0 ? -1 : gob_put_off();
    }
    PyMem_Free(c->members);
    PyMem_Free(c->scores);
    return result;
}

/* Takes every set, in the order given, then does the work, then lets go of them. */
static int hold_all(boards *c)
{
    size_t held = 0;
    while (held < c->count && gob_ready_for(c->list[held].set, c->column.kind) == 0) {
        gob_sortedset_expect(c->list[held].set, c->inputs / c->count);
        c->list[held].before = gob_start(c->list[held].set, GOB_RUNNING);
        held++;
    }
    int result = held < c->count ? -1 : transact(c);
    while (held-- > 0) {
        gob_finish(c->list[held].set, c->list[held].before);
    }
    return result;
}

/* A number for all, or a buffer with as many as there are members, none of them NaN. */
static int take_by(boards *c, PyObject *object, Py_buffer *view, double *one)
{
    size_t count = 1;
    c->by = (gob_column){one, 0};
    if (PyFloat_CheckExact(object)) {
        *one = PyFloat_AS_DOUBLE(object);
    } else if (gob_buffer(object, view, sizeof(double), false, &count) < 0) {
        view->obj = NULL;
        return -1;
    } else if (count != c->inputs) {
        PyErr_Format(PyExc_ValueError, "%zu members, but %zu scores", c->inputs, count);
        return -1;
    } else {
        c->by = (gob_column){view->buf, 1};
    }
    for (size_t i = 0; i < count; i++) {
        if (isnan(c->by.at[i])) {
            gob_raise(GOB_NAN);
            return -1;
        }
    }
    return 0;
}

static int take_places(boards *c, PyObject *object, Py_buffer *view)
{
    size_t rows;
    if (gob_buffer(object, view, sizeof(int64_t), false, &rows) < 0) {
        view->obj = NULL;
        return -1;
    }
    c->places = view->buf;
    if (rows != c->inputs) {
        PyErr_Format(PyExc_ValueError, "%zu members, but %zu groups", c->inputs, rows);
        return -1;
    }
    for (size_t i = 0; i < rows; i++) {
        if (c->places[i] < 0 || (size_t)c->places[i] >= c->count) {
            PyErr_SetString(PyExc_IndexError, "a place is outside the sets");
            return -1;
        }
    }
    return 0;
}

/* The list of boards, for the caller to free; -1 with an exception. */
static int take_sets(boards *c, PyObject *module, PyObject *sets)
{
    const gob_module_state *state = PyModule_GetState(module);
    c->count = (size_t)PyTuple_GET_SIZE(sets);
    c->list = PyMem_Calloc(c->count, sizeof *c->list);
    if (c->list == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < c->count; i++) {
        PyObject *set = PyTuple_GET_ITEM(sets, (Py_ssize_t)i);
        if (!PyObject_TypeCheck(set, state->sortedset_type)) {
            PyErr_SetString(PyExc_TypeError, "SortedSets are wanted");
            return -1;
        }
        c->list[i].set = (gob_sortedset *)set;
    }
    return 0;
}

static int take_members(boards *c, PyObject *members)
{
    if (gob_take_column(c->list[0].set, members, &c->column) < 0) {
        return -1;
    }
    c->inputs = c->column.count;
    return 0;
}

PyDoc_STRVAR(
    increment_doc,
    "increment_sets(sets, places, members, by, seal, /)\n--\n\n"
    "Add by, a float or one each, to members of the sets at these places of a tuple.\n"
    "seal, unless None, is a built-in that is called last; where it raises nothing changed.");

static PyObject *increment_sets(PyObject *module, PyObject *args)
{
    boards c = {0};
    Py_buffer places_view = {0}, by_view = {0};
    double one;
    PyObject *sets, *places, *members, *by;
    if (!PyArg_ParseTuple(args, "O!OOOO:increment_sets", &PyTuple_Type, &sets, &places, &members,
                          &by, &c.seal)) {
        return NULL;
    }
    int result = take_sets(&c, module, sets);
    if (result == 0 && c.count != 0) {
        bool taken = take_members(&c, members) == 0 && take_places(&c, places, &places_view) == 0 &&
                     take_by(&c, by, &by_view, &one) == 0;
        result = taken ? hold_all(&c) : -1;
    }
    PyMem_Free(c.list);
    gob_column_release(&c.column);
    if (places_view.obj != NULL) {
        PyBuffer_Release(&places_view);
    }
    if (by_view.obj != NULL) {
        PyBuffer_Release(&by_view);
    }
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"increment_sets", increment_sets, METH_VARARGS, increment_doc},
    {NULL, NULL, 0, NULL},
};

int gob_add_boards(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
