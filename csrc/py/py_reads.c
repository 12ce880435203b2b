/* Many reads at once, into arrays that the Python layer made. */
#include "py_columns.h"
#include "py_member.h"
#include "py_status.h"

#include "gob_digest.h"
#include "gob_scan.h"
#include "gob_utf8.h"

/* Scores by member */

typedef struct score_work {
    const gob_sortedset *self;
    const gob_inputs *in;
    char *out;
    double missing;
} score_work;

static gob_status score_stretch(void *context, size_t from, size_t n)
{
    score_work *work = context;
    unsigned bytes = gob_score_bytes(work->self);
    const gob_zset *z = &work->self->z;
    int64_t room[GOB_BATCH];
    for (size_t at = from; at < from + n; at += GOB_BATCH) {
        size_t batch = from + n - at < GOB_BATCH ? from + n - at : GOB_BATCH;
        GOB_TRY(gob_spend(z->alloc.pace, batch));
        const int64_t *ids = gob_bulk_ids(z, work->in, at, batch, room);
        for (size_t i = 0; i < batch; i++) {
            double score = gob_index_get(&z->index, ids[i]);
            gob_score_store(work->out + (at + i) * bytes, bytes,
                            gob_is_absent(score) ? work->missing : score);
        }
    }
    return GOB_OK;
}

/* _scores(members, out, missing) */
PyObject *gob_reads_scores(gob_sortedset *self, PyObject *args)
{
    gob_column_argument column;
    PyObject *members;
    Py_buffer out;
    score_work work = {.self = self, .in = &column.in};
    if (!PyArg_ParseTuple(args, "Ow*d:_scores", &members, &out, &work.missing)) {
        return NULL;
    }
    work.out = out.buf;
    int result = gob_take_column(self, members, &column);
    if (result == 0) {
        result = gob_ready_for(self, column.kind);
        if (result == 0 && (size_t)out.len < column.count * gob_score_bytes(self)) {
            PyErr_SetString(PyExc_ValueError, "the array is too short");
            result = -1;
        }
        result = result < 0 ? -1 : gob_run(self, score_stretch, &work, column.count);
        gob_column_release(&column);
    }
    PyBuffer_Release(&out);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

/* Entries by rank, into columns of the layout's own widths */

typedef struct columns {
    gob_kind kind;
    PyObject *names;   /* borrowed array of text or of bytes objects, */
    gob_name *list;    /* or where names lie, */
    Py_buffer members; /* or a buffer of integers or UUIDs */
    Py_buffer scores;
    size_t rows;
} columns;

static size_t member_width(const gob_sortedset *self)
{
    return self->kind == GOB_UUID ? self->z.index.members.fixed : gob_member_bytes(self);
}

/* Waits for the set first: it may be of another layout since the arrays were made for it. */
static int columns_take(gob_sortedset *self, PyObject *members, PyObject *scores, columns *c)
{
    size_t rows, width;
    if (gob_ready(self) < 0) {
        return -1;
    }
    *c = (columns){.kind = (gob_kind)self->kind};
    width = member_width(self);
    if (gob_member_rows(members, c->kind, width, &c->rows) < 0) {
        return -1;
    }
    if (c->kind == GOB_STR || c->kind == GOB_BYTES) {
        c->names = members;
    } else if (gob_buffer(members, &c->members, width, true, &c->rows) < 0) {
        return -1;
    }
    if (gob_buffer(scores, &c->scores, gob_score_bytes(self), true, &rows) < 0) {
        if (c->names == NULL) {
            PyBuffer_Release(&c->members);
        }
        return -1;
    }
    c->rows = rows < c->rows ? rows : c->rows;
    return 0;
}

static void columns_release(columns *c)
{
    if (c->names == NULL) {
        PyBuffer_Release(&c->members);
    }
    PyBuffer_Release(&c->scores);
}

enum { ROWS = 256 };

/* The name of a member, which has to be UTF-8 where others take it for that: in a file that is
 * mapped it may be anything. */
static gob_status name_of(const gob_sortedset *self, int64_t id, gob_name *name)
{
    *name = gob_members_name(&self->z.index.members, id);
    return self->z.mapped == 0 || self->kind != GOB_STR || gob_utf8_valid(name->at, name->len)
               ? GOB_OK
               : GOB_MALFORMED;
}

/* A batch of rows. Bytes objects need the GIL, see run_rows. */
static gob_status put_rows(const gob_sortedset *self, const columns *c, size_t row,
                           const gob_entry *entries, size_t n)
{
    unsigned score_bytes = gob_score_bytes(self);
    unsigned member_bytes = gob_member_bytes(self);
    gob_name names[ROWS];
    for (size_t i = 0; i < n; i++) {
        int64_t id = gob_unbias(entries[i].member);
        char *member = (char *)c->members.buf + (row + i) * member_bytes;
        if (c->kind != GOB_INTS) {
            GOB_TRY(name_of(self, id, &names[i]));
        } else if (member_bytes == 4) {
            gob_store32(member, (uint32_t)id);
        } else {
            gob_store64(member, (uint64_t)id);
        }
        gob_score_store((char *)c->scores.buf + (row + i) * score_bytes, score_bytes,
                        gob_key_score(entries[i].key));
    }
    if (c->list != NULL) {
        memcpy(c->list + row, names, n * sizeof *names);
        return GOB_OK;
    }
    for (size_t i = 0; c->kind == GOB_UUID && i < n; i++) {
        memcpy((char *)c->members.buf + (row + i) * names[i].len, names[i].at, names[i].len);
    }
    bool done = c->kind == GOB_STR     ? gob_names_pack(c->names, row, names, n)
                : c->kind == GOB_BYTES ? gob_names_write(c->names, c->kind, row, names, n) == 0
                                       : true;
    return done ? GOB_OK : GOB_NOMEM;
}

typedef struct row_work {
    const gob_sortedset *self;
    const columns *columns;
    uint64_t start;
    int64_t step;
    const int64_t *ranks; /* NULL: start, start + step, ... */
} row_work;

static gob_status row_stretch(void *context, size_t from, size_t n)
{
    row_work *work = context;
    gob_entry entries[ROWS];
    gob_window w;
    w.first_rank = w.count = 0;
    uint64_t rank = work->start + from * (uint64_t)work->step;
    for (size_t row = from; row < from + n; row += ROWS) {
        size_t batch = from + n - row < ROWS ? from + n - row : ROWS;
        GOB_TRY(gob_spend(work->self->z.alloc.pace, batch));
        for (size_t i = 0; i < batch; i++, rank += (uint64_t)work->step) {
            if (rank - w.first_rank >= w.count) {
                gob_zset_read(&work->self->z, rank, &w);
            }
            size_t at = (size_t)(rank - w.first_rank);
            entries[i] = (gob_entry){w.keys[at], w.members[at]};
        }
        GOB_TRY(put_rows(work->self, work->columns, row, entries, batch));
    }
    return GOB_OK;
}

static gob_status select_stretch(void *context, size_t from, size_t n)
{
    row_work *work = context;
    gob_entry entries[ROWS];
    uint64_t ranks[ROWS];
    for (size_t at = from; at < from + n; at += ROWS) {
        size_t batch = from + n - at < ROWS ? from + n - at : ROWS;
        GOB_TRY(gob_spend(work->self->z.alloc.pace, batch));
        for (size_t i = 0; i < batch; i++) {
            ranks[i] = (uint64_t)work->ranks[at + i];
        }
        gob_zset_select_many(&work->self->z, ranks, batch, entries);
        GOB_TRY(put_rows(work->self, work->columns, at, entries, batch));
    }
    return GOB_OK;
}

/* gob_run, but where rows are objects in short stretches that keep the GIL. */
static int run_rows(gob_sortedset *self, gob_work work, row_work *context, size_t total)
{
    bool objects = context->columns->kind == GOB_BYTES;
    return gob_run_in(self, work, context, total, objects ? GOB_DETACH_MIN - 1 : GOB_STRETCH);
}

static int outside(void)
{
    PyErr_SetString(PyExc_IndexError, "rank out of range");
    return -1;
}

/* Whether start, start + step, ... are ranks, n of them. */
static int check_range(const gob_sortedset *self, int64_t start, int64_t step, size_t n)
{
    int64_t last, count = (int64_t)gob_zset_count(&self->z);
    if (n == 0) {
        return 0;
    }
    if (__builtin_mul_overflow((int64_t)n - 1, step, &last) ||
        __builtin_add_overflow(last, start, &last) || start < 0 || start >= count || last < 0 ||
        last >= count) {
        return outside();
    }
    return 0;
}

/* _rows(start, step, members, scores): the entries at ranks start, start + step, ... */
PyObject *gob_reads_rows(gob_sortedset *self, PyObject *args)
{
    long long start, stride;
    PyObject *members, *scores;
    columns c;
    if (!PyArg_ParseTuple(args, "LLOO:_rows", &start, &stride, &members, &scores) ||
        columns_take(self, members, scores, &c) < 0) {
        return NULL;
    }
    row_work work = {self, &c, (uint64_t)start, stride, NULL};
    int result = gob_sync(self) < 0 || check_range(self, start, stride, c.rows) < 0
                     ? -1
                     : run_rows(self, row_stretch, &work, c.rows);
    columns_release(&c);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

static int check_ranks(const gob_sortedset *self, const int64_t *ranks, size_t n)
{
    int64_t count = (int64_t)gob_zset_count(&self->z);
    for (size_t i = 0; i < n; i++) {
        if (ranks[i] < 0 || ranks[i] >= count) {
            return outside();
        }
    }
    return 0;
}

/* _select(ranks, members, scores): the entries at these ranks. */
PyObject *gob_reads_select(gob_sortedset *self, PyObject *args)
{
    Py_buffer ranks;
    PyObject *members, *scores;
    columns c;
    if (!PyArg_ParseTuple(args, "y*OO:_select", &ranks, &members, &scores)) {
        return NULL;
    }
    int result = columns_take(self, members, scores, &c);
    if (result == 0) {
        size_t n = (size_t)ranks.len / sizeof(int64_t);
        n = n < c.rows ? n : c.rows;
        row_work work = {.self = self, .columns = &c, .ranks = ranks.buf};
        result = gob_sync(self) < 0 || check_ranks(self, ranks.buf, n) < 0
                     ? -1
                     : run_rows(self, select_stretch, &work, n);
        columns_release(&c);
    }
    PyBuffer_Release(&ranks);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

/* Scans of the index */

typedef struct scan {
    const gob_zset *z;
    gob_interval within;
    bool highest;
    size_t k;
    gob_entry *heap;
    size_t found;
    uint64_t count;
    double sum;
} scan;

/* A scan is one call of the core. -1 with what a signal handler has raised. */
static int run_scan(gob_sortedset *self, gob_work work, scan *s)
{
    gob_status status = gob_run_whole(self, work, s, (size_t)gob_zset_count(&self->z));
    return status == GOB_OK ? 0 : (gob_raise(status), -1);
}

static gob_status work_extremes(void *context, size_t from, size_t n)
{
    scan *s = context;
    (void)from;
    (void)n;
    return gob_scan_extremes(s->z, s->k, s->highest, s->heap, &s->found);
}

/* _extremes(highest, peek, members, scores) -> rows filled, best first; None where the order should
 * answer, which is not built for a peek. */
PyObject *gob_reads_extremes(gob_sortedset *self, PyObject *args)
{
    int highest, peek;
    PyObject *members, *scores, *result = NULL;
    columns c;
    if (!PyArg_ParseTuple(args, "ppOO:_extremes", &highest, &peek, &members, &scores) ||
        columns_take(self, members, scores, &c) < 0) {
        return NULL;
    }
    scan s = {.z = &self->z, .highest = highest != 0, .k = c.rows};
    s.heap = PyMem_RawMalloc((c.rows + 1) * sizeof *s.heap);
    if (s.heap == NULL) {
        PyErr_NoMemory();
    } else if (peek ? self->z.order != NULL : !gob_zset_prefers_scan(&self->z)) {
        result = Py_NewRef(Py_None);
    } else if (run_scan(self, work_extremes, &s) == 0) {
        gob_status status = GOB_OK;
        for (size_t row = 0; status == GOB_OK && row < s.found; row += ROWS) {
            size_t n = s.found - row < ROWS ? s.found - row : ROWS;
            status = put_rows(self, &c, row, s.heap + row, n);
        }
        result = status == GOB_OK ? PyLong_FromSize_t(s.found) : gob_raise(status);
    }
    PyMem_RawFree(s.heap);
    columns_release(&c);
    return result;
}

/* Bounds of queries are narrowed like scores, and saturate. Through memory, since gcc 12 drops the
 * conversions where it vectorises a pair of them. */
static double narrow_bound(const gob_sortedset *self, double bound)
{
    volatile float narrow = (float)bound;
    return gob_score_bytes(self) == 4 ? (double)narrow : bound;
}

static int parse_interval(const gob_sortedset *self, PyObject *args, gob_interval *within)
{
    int open_lo, open_hi;
    if (!PyArg_ParseTuple(args, "ddpp", &within->lo, &within->hi, &open_lo, &open_hi)) {
        return -1;
    }
    within->lo = narrow_bound(self, within->lo);
    within->hi = narrow_bound(self, within->hi);
    within->open_lo = open_lo != 0;
    within->open_hi = open_hi != 0;
    return 0;
}

static gob_status work_count(void *context, size_t from, size_t n)
{
    scan *s = context;
    (void)from;
    (void)n;
    return gob_scan_count(s->z, s->within, &s->count);
}

/* _count(lo, hi, open_lo, open_hi) */
PyObject *gob_reads_count(gob_sortedset *self, PyObject *args)
{
    scan s = {.z = &self->z};
    if (parse_interval(self, args, &s.within) < 0 || gob_ready(self) < 0) {
        return NULL;
    }
    if (gob_zset_prefers_scan(&self->z)) {
        return run_scan(self, work_count, &s) < 0 ? NULL : PyLong_FromUnsignedLongLong(s.count);
    }
    if (gob_sync(self) < 0) {
        return NULL;
    }
    uint64_t first = gob_zset_below(&self->z, s.within.lo, s.within.open_lo);
    uint64_t last = gob_zset_below(&self->z, s.within.hi, !s.within.open_hi);
    return PyLong_FromUnsignedLongLong(last < first ? 0 : last - first);
}

/* _span(lo, hi, open_lo, open_hi): the ranks [first, last) of the scores in between. */
PyObject *gob_reads_span(gob_sortedset *self, PyObject *args)
{
    gob_interval within;
    if (parse_interval(self, args, &within) < 0 || gob_ready(self) < 0 || gob_sync(self) < 0) {
        return NULL;
    }
    unsigned long long first = gob_zset_below(&self->z, within.lo, within.open_lo);
    unsigned long long last = gob_zset_below(&self->z, within.hi, !within.open_hi);
    return Py_BuildValue("(KK)", first, last < first ? first : last);
}

static gob_status work_sum(void *context, size_t from, size_t n)
{
    scan *s = context;
    (void)from;
    (void)n;
    return gob_scan_sum(s->z, s->within, &s->sum);
}

/* _sum(lo, hi, open_lo, open_hi): exact, rounded once. */
PyObject *gob_reads_sum(gob_sortedset *self, PyObject *args)
{
    scan s = {.z = &self->z};
    if (parse_interval(self, args, &s.within) < 0 || gob_ready(self) < 0) {
        return NULL;
    }
    return run_scan(self, work_sum, &s) < 0 ? NULL : PyFloat_FromDouble(s.sum);
}

typedef struct walk_work {
    const gob_zset *z;
    gob_walk *walk;
    int64_t *members;
    double *scores;
    size_t room;
    size_t filled;
} walk_work;

static gob_status walk_stretch(void *context, size_t from, size_t n)
{
    walk_work *work = context;
    (void)from;
    (void)n;
    while (work->room - work->filled >= GOB_WALK_MAX) {
        GOB_TRY(gob_spend(work->z->alloc.pace, GOB_WALK_MAX));
        size_t got = gob_index_walk(&work->z->index, work->walk, work->members + work->filled,
                                    work->scores + work->filled);
        if (got == 0) {
            break;
        }
        work->filled += got;
    }
    return GOB_OK;
}

/* The state of a walk, which has begun or begins now; RuntimeError where the set has changed since.
 */
static int walk_state(const gob_sortedset *self, const Py_buffer *buffer, gob_walk_state *state)
{
    if (buffer->len != (Py_ssize_t)sizeof *state) {
        PyErr_SetString(PyExc_ValueError, "not the state of a walk");
        return -1;
    }
    memcpy(state, buffer->buf, sizeof *state);
    if (!state->begun) {
        state->version = gob_version_of(self);
        state->begun = true;
    }
    if (!gob_is_version(self, state->version)) {
        PyErr_SetString(PyExc_RuntimeError, "SortedSet changed during iteration");
        return -1;
    }
    return 0;
}

/* _walk(state, ids, scores) -> rows filled, in no order; 0 at the end. state: _WALK_STATE zero
 * bytes at first; ids int64 (members, or what _names takes) and scores float64 with room for
 * _WALK_ROOM rows at least. */
PyObject *gob_reads_walk(gob_sortedset *self, PyObject *args)
{
    Py_buffer state, members, scores;
    if (!PyArg_ParseTuple(args, "w*w*w*:_walk", &state, &members, &scores)) {
        return NULL;
    }
    gob_walk_state walk;
    walk_work work = {
        .z = &self->z, .walk = &walk.walk, .members = members.buf, .scores = scores.buf};
    Py_ssize_t shorter = members.len < scores.len ? members.len : scores.len;
    work.room = (size_t)shorter / sizeof(double);
    int result = -1;
    if (work.room < GOB_WALK_MAX) {
        PyErr_SetString(PyExc_ValueError, "the array is too short");
    } else if (gob_ready(self) == 0 && walk_state(self, &state, &walk) == 0) {
        gob_use before = gob_start(self, GOB_RUNNING);
        result = gob_detached(walk_stretch, &work, 0, work.room) == GOB_OK ? 0 : -1;
        gob_finish(self, before);
        memcpy(state.buf, &walk, sizeof walk);
    }
    PyBuffer_Release(&state);
    PyBuffer_Release(&members);
    PyBuffer_Release(&scores);
    return result < 0 ? NULL : PyLong_FromSize_t(work.filled);
}

/* A Names of these. Making it may run finalisers, which can't use the set meanwhile. */
static PyObject *copy_list(gob_sortedset *self, const gob_name *names, size_t n)
{
    gob_use before = gob_start(self, GOB_RUNNING);
    PyObject *result = gob_names_copy(gob_state_of(self), (gob_kind)self->kind, names, n);
    gob_finish(self, before);
    return result;
}

static PyObject *copy_names(gob_sortedset *self, const int64_t *ids, size_t n)
{
    gob_name *names = PyMem_New(gob_name, n);
    if (names == NULL) {
        return PyErr_NoMemory();
    }
    gob_status status = GOB_OK;
    for (size_t i = 0; status == GOB_OK && i < n; i++) {
        status = name_of(self, ids[i], &names[i]);
    }
    PyObject *result = status == GOB_OK ? copy_list(self, names, n) : gob_raise(status);
    PyMem_Free(names);
    return result;
}

/* _names(state, ids) -> a Names with a copy of the members that _walk has just given ids of. */
PyObject *gob_reads_names(gob_sortedset *self, PyObject *args)
{
    Py_buffer state, ids;
    gob_walk_state walk;
    if (!PyArg_ParseTuple(args, "y*y*:_names", &state, &ids)) {
        return NULL;
    }
    PyObject *result = NULL;
    if (gob_ready(self) < 0 || walk_state(self, &state, &walk) < 0) {
        result = NULL;
    } else if (self->kind == GOB_INTS) {
        gob_refuse_kind();
    } else {
        result = copy_names(self, ids.buf, (size_t)ids.len / sizeof(int64_t));
    }
    PyBuffer_Release(&state);
    PyBuffer_Release(&ids);
    return result;
}

/* Rows from a rank on, whose scores have been given room, of a set of names that is ready. */
static PyObject *read_names(gob_sortedset *self, uint64_t start, columns *c)
{
    PyObject *result = NULL;
    row_work work = {self, c, start, 1, NULL};
    c->list = PyMem_New(gob_name, c->rows);
    if (c->list == NULL) {
        PyErr_NoMemory();
    } else if (gob_sync(self) == 0 && check_range(self, (int64_t)start, 1, c->rows) == 0 &&
               gob_run(self, row_stretch, &work, c->rows) == 0) {
        result = copy_list(self, c->list, c->rows);
    }
    PyMem_Free(c->list);
    return result;
}

/* _name_rows(start, scores) -> a Names of the members at ranks start, start + 1, ... */
PyObject *gob_reads_name_rows(gob_sortedset *self, PyObject *args)
{
    long long start;
    PyObject *scores;
    if (!PyArg_ParseTuple(args, "LO:_name_rows", &start, &scores) || gob_ready(self) < 0) {
        return NULL;
    }
    if (self->kind == GOB_INTS) {
        gob_refuse_kind();
        return NULL;
    }
    columns c = {.kind = (gob_kind)self->kind};
    if (gob_buffer(scores, &c.scores, gob_score_bytes(self), true, &c.rows) < 0) {
        return NULL;
    }
    PyObject *result = read_names(self, (uint64_t)start, &c);
    PyBuffer_Release(&c.scores);
    return result;
}

typedef struct digest_work {
    gob_digester digester;
    const gob_zset *z;
} digest_work;

static gob_status digest_stretch(void *context, size_t from, size_t n)
{
    digest_work *work = context;
    for (size_t end = from + n; from < end; from += n) {
        n = end - from < GOB_PACE ? end - from : GOB_PACE;
        GOB_TRY(gob_spend(work->z->alloc.pace, n));
        (void)gob_digester_step(&work->digester, work->z, n);
    }
    return GOB_OK;
}

/* _digest() -> (count, total, ordered low, high, mapping low, high) */
PyObject *gob_reads_digest(gob_sortedset *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready(self) < 0 || gob_sync(self) < 0) {
        return NULL;
    }
    digest_work work = {.z = &self->z};
    gob_digester_init(&work.digester);
    size_t count = (size_t)gob_zset_count(&self->z);
    if (gob_run(self, digest_stretch, &work, count) < 0) {
        return NULL;
    }
    gob_digest d = gob_digester_result(&work.digester);
    return Py_BuildValue("(nd(KK)(KK))", (Py_ssize_t)count, d.total,
                         (unsigned long long)d.ordered[0], (unsigned long long)d.ordered[1],
                         (unsigned long long)d.mapping[0], (unsigned long long)d.mapping[1]);
}
