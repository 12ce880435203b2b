/* Places in the order: ranks of members and of scores. */
#include "py_member.h"
#include "py_status.h"

typedef enum method { ORDINAL, MIN, MAX, AVERAGE, DENSE } method;

static const char *const methods[] = {"ordinal", "min", "max", "average", "dense", NULL};

/* Distinct scores among the ranks [from, to) of a synced set. O(to - from), by whole blocks. */
static uint64_t distinct(const gob_zset *z, uint64_t from, uint64_t to)
{
    gob_window w;
    uint64_t last = 0;
    uint64_t count = 0;
    for (uint64_t rank = from; rank < to; rank = w.first_rank + w.count) {
        gob_zset_read(z, rank, &w);
        for (size_t i = (size_t)(rank - w.first_rank); i < w.count && w.first_rank + i < to; i++) {
            count += count == 0 || w.keys[i] != last;
            last = w.keys[i];
        }
    }
    return count;
}

/* The rank of a present member; twice the rank for AVERAGE. */
static int64_t rank_of(const gob_zset *z, int64_t member, double score, method how, bool descending)
{
    uint64_t n = gob_zset_count(z);
    if (how == ORDINAL) {
        uint64_t rank = gob_zset_rank(z, gob_zset_entry(member, score));
        return (int64_t)(descending ? n - 1 - rank : rank);
    }
    uint64_t first = gob_zset_below(z, score, false);
    uint64_t last = gob_zset_below(z, score, true);
    if (how == DENSE) {
        return (int64_t)(descending ? distinct(z, last, n) : distinct(z, 0, first));
    }
    uint64_t low = descending ? n - last : first;
    uint64_t high = descending ? n - 1 - first : last - 1;
    return (int64_t)(how == MIN ? low : how == MAX ? high : low + high);
}

PyObject *gob_rank(gob_sortedset *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const gob_signature signature = {
        "rank", {"member", "method", "descending", "default"}, 1, 1};
    PyObject *given[4];
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0) {
        return NULL;
    }
    int how = given[1] == NULL ? ORDINAL : gob_word(given[1], "method", methods);
    int descending = given[2] == NULL ? 0 : PyObject_IsTrue(given[2]);
    if (how < 0 || descending < 0) {
        return NULL;
    }
    gob_argument arg;
    int found = gob_look_for(self, given[0], &arg);
    if (found < 0) {
        return NULL;
    }
    int ready = gob_ready_for(self, arg.kind);
    int64_t id = ready == 0 && found ? gob_zset_find(&self->z, &arg.member) : GOB_NO_ID;
    gob_argument_release(&arg);
    double score = ready == 0 && found ? gob_zset_score(&self->z, id) : GOB_ABSENT;
    if (ready < 0) {
        return NULL;
    }
    if (gob_is_absent(score)) {
        return given[3] != NULL ? Py_NewRef(given[3]) : gob_raise_key(given[0]);
    }
    if (gob_sync(self) < 0) {
        return NULL;
    }
    int64_t rank = rank_of(&self->z, id, score, (method)how, descending != 0);
    return how == AVERAGE ? PyFloat_FromDouble((double)rank / 2.0) : PyLong_FromLongLong(rank);
}

typedef struct rank_work {
    const gob_zset *z;
    const gob_inputs *in;
    int64_t *out;
    method how;
    bool descending;
} rank_work;

enum { BATCH = GOB_BATCH };

/* The ranks of a batch of members with these scores, by one call for all that are present. */
static void ordinal_batch(const rank_work *work, size_t at, size_t n, const int64_t *ids,
                          const double *scores)
{
    gob_entry entries[BATCH];
    uint64_t ranks[BATCH];
    uint64_t count = gob_zset_count(work->z);
    size_t present = 0;
    for (size_t i = 0; i < n; i++) {
        if (!gob_is_absent(scores[i])) {
            entries[present++] = gob_zset_entry(ids[i], scores[i]);
        }
    }
    gob_zset_rank_many(work->z, entries, present, ranks);
    present = 0;
    for (size_t i = 0; i < n; i++) {
        if (gob_is_absent(scores[i])) {
            work->out[at + i] = -1;
        } else {
            uint64_t rank = ranks[present++];
            work->out[at + i] = (int64_t)(work->descending ? count - 1 - rank : rank);
        }
    }
}

static gob_status rank_stretch(void *context, size_t from, size_t n)
{
    rank_work *work = context;
    double scores[BATCH];
    int64_t room[BATCH];
    for (size_t at = from; at < from + n; at += BATCH) {
        size_t batch = from + n - at < BATCH ? from + n - at : BATCH;
        GOB_TRY(gob_spend(work->z->alloc.pace, batch));
        const int64_t *ids = gob_bulk_ids(work->z, work->in, at, batch, room);
        gob_index_get_many(&work->z->index, ids, batch, GOB_ABSENT, scores);
        if (work->how == ORDINAL) {
            ordinal_batch(work, at, batch, ids, scores);
            continue;
        }
        for (size_t i = 0; i < batch; i++) {
            work->out[at + i] = gob_is_absent(scores[i]) ? -1
                                                         : rank_of(work->z, ids[i], scores[i],
                                                                   work->how, work->descending);
        }
    }
    return GOB_OK;
}

/* _ranks(members, out, method, descending): -1 where absent, doubled for "average". */
PyObject *gob_ranks(gob_sortedset *self, PyObject *args)
{
    gob_column_argument column;
    Py_buffer out;
    PyObject *members, *word;
    int descending;
    if (!PyArg_ParseTuple(args, "Ow*Op:_ranks", &members, &out, &word, &descending)) {
        return NULL;
    }
    int how = gob_word(word, "method", methods);
    int result = how < 0 ? -1 : gob_take_column(self, members, &column);
    if (result == 0) {
        if ((size_t)out.len < column.count * sizeof(int64_t)) {
            PyErr_SetString(PyExc_ValueError, "the array is too short");
            result = -1;
        } else if (gob_ready_for(self, column.kind) < 0 || gob_sync(self) < 0) {
            result = -1;
        } else {
            rank_work work = {&self->z, &column.in, out.buf, (method)how, descending != 0};
            result = gob_run(self, rank_stretch, &work, column.count);
        }
        gob_column_release(&column);
    }
    PyBuffer_Release(&out);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

/* _below(member, score): how many entries come before this one, which need not be there. */
PyObject *gob_ranks_below(gob_sortedset *self, PyObject *args)
{
    PyObject *member;
    double score;
    gob_argument arg;
    if (!PyArg_ParseTuple(args, "Od:_below", &member, &score) ||
        gob_take_member(self, member, &arg) < 0) {
        return NULL;
    }
    PyObject *result = NULL;
    if (gob_ready_for(self, arg.kind) == 0 && gob_sync(self) == 0) {
        gob_bound b = {gob_key(score), gob_bias(arg.member.id), arg.member.name};
        result = PyLong_FromUnsignedLongLong(gob_zset_lower_bound(&self->z, &b));
    }
    gob_argument_release(&arg);
    return result;
}

/* _item(rank) -> (member, score); negative ranks count from the end */
PyObject *gob_ranks_item(gob_sortedset *self, PyObject *index)
{
    Py_ssize_t rank = PyNumber_AsSsize_t(index, PyExc_IndexError);
    if ((rank == -1 && PyErr_Occurred()) || gob_ready(self) < 0 || gob_sync(self) < 0) {
        return NULL;
    }
    Py_ssize_t count = (Py_ssize_t)gob_zset_count(&self->z);
    rank += rank < 0 ? count : 0;
    if (rank < 0 || rank >= count) {
        PyErr_SetString(PyExc_IndexError, "rank out of range");
        return NULL;
    }
    return gob_pair_object(self, gob_zset_select(&self->z, (uint64_t)rank));
}
