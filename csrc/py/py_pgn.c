/* The scanner of PGN games for Python: bytes in, results into arrays that the caller made. */
#include "py_traces.h"

#include "gob_pgn.h"

/* The arrays of a call, in the order of the caller's tuple. */
enum {
    WHITE_ELO,
    BLACK_ELO,
    WHITE_DIFF,
    BLACK_DIFF,
    UTC,
    TEXTS,
    TEXT_STOPS,
    PLAYERS,
    PLAYER_STOPS,
    RATINGS,
    RATINGS_AFTER,
    SPEEDS,
    ARRAYS,
};

typedef struct arrays {
    Py_buffer views[ARRAYS];
    int count;
} arrays;

static void release_arrays(arrays *self)
{
    while (self->count > 0) {
        PyBuffer_Release(&self->views[--self->count]);
    }
}

/* Take the arrays of a tuple, each long enough for what a block of `length` bytes can give. */
static int take_arrays(arrays *self, PyObject *tuple, size_t capacity, size_t length)
{
    const size_t bytes[ARRAYS] = {
        [WHITE_ELO] = capacity * sizeof(int32_t),
        [BLACK_ELO] = capacity * sizeof(int32_t),
        [WHITE_DIFF] = capacity * sizeof(int32_t),
        [BLACK_DIFF] = capacity * sizeof(int32_t),
        [UTC] = capacity * sizeof(int64_t),
        [TEXTS] = length,
        [TEXT_STOPS] = (GOB_PGN_TEXTS * capacity + 1) * sizeof(int64_t),
        [PLAYERS] = length,
        [PLAYER_STOPS] = (2 * capacity + 1) * sizeof(int64_t),
        [RATINGS] = 2 * capacity * sizeof(int32_t),
        [RATINGS_AFTER] = 2 * capacity * sizeof(int32_t),
        [SPEEDS] = 2 * capacity,
    };
    self->count = 0;
    if (PyTuple_GET_SIZE(tuple) != ARRAYS) {
        PyErr_SetString(PyExc_ValueError, "wrong number of arrays");
        return -1;
    }
    for (; self->count < ARRAYS; self->count++) {
        PyObject *array = PyTuple_GET_ITEM(tuple, self->count);
        if (gob_get_output(array, bytes[self->count], &self->views[self->count]) < 0) {
            release_arrays(self);
            return -1;
        }
    }
    return 0;
}

static gob_pgn_output output(const arrays *taken, size_t capacity)
{
    const Py_buffer *views = taken->views;
    return (gob_pgn_output){
        .capacity = capacity,
        .elo = {views[WHITE_ELO].buf, views[BLACK_ELO].buf},
        .diff = {views[WHITE_DIFF].buf, views[BLACK_DIFF].buf},
        .utc = views[UTC].buf,
        .texts = views[TEXTS].buf,
        .text_stops = views[TEXT_STOPS].buf,
        .players = views[PLAYERS].buf,
        .player_stops = views[PLAYER_STOPS].buf,
        .ratings = views[RATINGS].buf,
        .ratings_after = views[RATINGS_AFTER].buf,
        .speeds = views[SPEEDS].buf,
    };
}

PyDoc_STRVAR(read_games_doc,
             "read_games(data, offset, final, kind, variant, arrays, capacity, /)\n--\n\n"
             "Scan PGN games; see gob_pgn.h.\n\n"
             "Returns (consumed, lines, games, observations, games of another kind, games of\n"
             "another variant, no player, no rating, whether what follows is no PGN).");

static PyObject *read_games(PyObject *module, PyObject *args)
{
    Py_buffer data;
    Py_ssize_t offset, variant_length, capacity;
    int final, kind;
    PyObject *tuple;
    gob_pgn_scan scan = {0};
    gob_status status;
    const char *start;
    size_t length;
    arrays taken;
    PyObject *result = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "y*npiz#O!n:read_games", &data, &offset, &final, &kind,
                          &scan.variant, &variant_length, &PyTuple_Type, &tuple, &capacity)) {
        return NULL;
    }
    if (kind < 0 || kind >= GOB_PGN_KINDS || capacity < 1 ||
        (size_t)capacity > SIZE_MAX / sizeof(int64_t) / (GOB_PGN_TEXTS + 1)) {
        PyErr_SetString(PyExc_ValueError, "no such kind or capacity");
        goto done;
    }
    if (gob_slice_block(&data, offset, &start, &length) < 0 ||
        take_arrays(&taken, tuple, (size_t)capacity, length) < 0) {
        goto done;
    }
    scan.final = final != 0;
    scan.kind = (gob_pgn_kind)kind;
    scan.variant_length = (size_t)variant_length;
    scan.out = output(&taken, (size_t)capacity);
    Py_BEGIN_ALLOW_THREADS status = gob_pgn_read(&scan, start, length);
    Py_END_ALLOW_THREADS result = Py_BuildValue(
        "(nnnnnnnnO)", (Py_ssize_t)scan.consumed, (Py_ssize_t)scan.lines, (Py_ssize_t)scan.games,
        (Py_ssize_t)scan.observations, (Py_ssize_t)scan.other_kind, (Py_ssize_t)scan.other_variant,
        (Py_ssize_t)scan.no_player, (Py_ssize_t)scan.no_rating,
        status == GOB_OK ? Py_False : Py_True);
    release_arrays(&taken);
done:
    PyBuffer_Release(&data);
    return result;
}

static PyMethodDef functions[] = {
    {"read_games", read_games, METH_VARARGS, read_games_doc},
    {NULL, NULL, 0, NULL},
};

int gob_add_pgn(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
