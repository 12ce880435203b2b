/* Many reads at once, into arrays that the Python layer made. */
#include "py_args.h"
#include "py_lock.h"
#include "py_status.h"

#include "gob_digest.h"

/* Scores by member */

typedef struct score_work {
    const gob_sortedset *self;
    const int64_t *members;
    char *out;
    double missing;
} score_work;

static gob_status score_stretch(void *context, size_t from, size_t n)
{
    enum { BATCH = 1024 };
    score_work *work = context;
    unsigned bytes = gob_score_bytes(work->self);
    double scores[BATCH];
    for (size_t at = from; at < from + n; at += BATCH) {
        size_t batch = from + n - at < BATCH ? from + n - at : BATCH;
        gob_index_get_many(&work->self->z.index, work->members + at, batch, work->missing, scores);
        for (size_t i = 0; i < batch; i++) {
            gob_score_store(work->out + (at + i) * bytes, bytes, scores[i]);
        }
    }
    return GOB_OK;
}

/* _scores(members, out, missing) */
PyObject *gob_reads_scores(gob_sortedset *self, PyObject *args)
{
    Py_buffer members, out;
    score_work work = {.self = self};
    if (!PyArg_ParseTuple(args, "y*w*d:_scores", &members, &out, &work.missing)) {
        return NULL;
    }
    work.members = members.buf;
    work.out = out.buf;
    size_t inputs = (size_t)members.len / sizeof(int64_t);
    int result = -1;
    if ((size_t)out.len < inputs * gob_score_bytes(self)) {
        PyErr_SetString(PyExc_ValueError, "the array is too short");
    } else if (gob_ready(self) == 0) {
        result = gob_run(self, score_stretch, &work, inputs);
    }
    PyBuffer_Release(&members);
    PyBuffer_Release(&out);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

/* Entries by rank, into columns of the layout's own widths */

typedef struct columns {
    Py_buffer members;
    Py_buffer scores;
    size_t rows;
} columns;

static void put_row(const gob_sortedset *self, const columns *c, size_t row, gob_entry e)
{
    unsigned member_bytes = gob_member_bytes(self);
    unsigned score_bytes = gob_score_bytes(self);
    char *member = (char *)c->members.buf + row * member_bytes;
    if (member_bytes == 4) {
        gob_store32(member, (uint32_t)gob_unbias(e.member));
    } else {
        gob_store64(member, (uint64_t)gob_unbias(e.member));
    }
    gob_score_store((char *)c->scores.buf + row * score_bytes, score_bytes, gob_key_score(e.key));
}

static int columns_take(const gob_sortedset *self, PyObject *members, PyObject *scores, columns *c)
{
    size_t rows;
    if (gob_buffer(members, &c->members, gob_member_bytes(self), true, &c->rows) < 0) {
        return -1;
    }
    if (gob_buffer(scores, &c->scores, gob_score_bytes(self), true, &rows) < 0) {
        PyBuffer_Release(&c->members);
        return -1;
    }
    c->rows = rows < c->rows ? rows : c->rows;
    return 0;
}

static void columns_release(columns *c)
{
    PyBuffer_Release(&c->members);
    PyBuffer_Release(&c->scores);
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
    gob_window w;
    w.first_rank = w.count = 0;
    uint64_t rank = work->start + from * (uint64_t)work->step;
    for (size_t row = from; row < from + n; row++, rank += (uint64_t)work->step) {
        if (rank - w.first_rank >= w.count) {
            gob_order_read(work->self->z.order, rank, &w);
        }
        size_t at = (size_t)(rank - w.first_rank);
        put_row(work->self, work->columns, row, (gob_entry){w.keys[at], w.members[at]});
    }
    return GOB_OK;
}

static gob_status select_stretch(void *context, size_t from, size_t n)
{
    enum { BATCH = 256 };
    row_work *work = context;
    gob_entry entries[BATCH];
    uint64_t ranks[BATCH];
    for (size_t at = from; at < from + n; at += BATCH) {
        size_t batch = from + n - at < BATCH ? from + n - at : BATCH;
        for (size_t i = 0; i < batch; i++) {
            ranks[i] = (uint64_t)work->ranks[at + i];
        }
        gob_order_select_many(work->self->z.order, ranks, batch, entries);
        for (size_t i = 0; i < batch; i++) {
            put_row(work->self, work->columns, at + i, entries[i]);
        }
    }
    return GOB_OK;
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
    int result =
        gob_ready(self) < 0 || gob_sync(self) < 0 || check_range(self, start, stride, c.rows) < 0
            ? -1
            : gob_run(self, row_stretch, &work, c.rows);
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
        result = gob_ready(self) < 0 || gob_sync(self) < 0 || check_ranks(self, ranks.buf, n) < 0
                     ? -1
                     : gob_run(self, select_stretch, &work, n);
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

/* A scan is one call of the core, however long. */
static void run_scan(gob_sortedset *self, gob_work work, scan *s)
{
    gob_use before = gob_start(self, GOB_RUNNING);
    (void)gob_detached(work, s, 0, (size_t)gob_zset_count(&self->z));
    gob_finish(self, before);
}

static gob_status scan_extremes(void *context, size_t from, size_t n)
{
    scan *s = context;
    (void)from;
    (void)n;
    s->found = gob_zset_scan_extremes(s->z, s->k, s->highest, s->heap);
    return GOB_OK;
}

/* _extremes(highest, members, scores) -> rows filled, best first; None where the order should
 * answer. */
PyObject *gob_reads_extremes(gob_sortedset *self, PyObject *args)
{
    int highest;
    PyObject *members, *scores, *result = NULL;
    columns c;
    if (!PyArg_ParseTuple(args, "pOO:_extremes", &highest, &members, &scores) ||
        columns_take(self, members, scores, &c) < 0) {
        return NULL;
    }
    scan s = {.z = &self->z, .highest = highest != 0, .k = c.rows};
    s.heap = PyMem_RawMalloc((c.rows + 1) * sizeof *s.heap);
    if (s.heap == NULL) {
        PyErr_NoMemory();
    } else if (gob_ready(self) < 0) {
        result = NULL;
    } else if (!gob_zset_prefers_scan(&self->z)) {
        result = Py_NewRef(Py_None);
    } else {
        run_scan(self, scan_extremes, &s);
        for (size_t row = 0; row < s.found; row++) {
            put_row(self, &c, row, s.heap[row]);
        }
        result = PyLong_FromSize_t(s.found);
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

static gob_status scan_count(void *context, size_t from, size_t n)
{
    scan *s = context;
    (void)from;
    (void)n;
    s->count = gob_zset_scan_count(s->z, s->within);
    return GOB_OK;
}

/* _count(lo, hi, open_lo, open_hi) */
PyObject *gob_reads_count(gob_sortedset *self, PyObject *args)
{
    scan s = {.z = &self->z};
    if (parse_interval(self, args, &s.within) < 0 || gob_ready(self) < 0) {
        return NULL;
    }
    if (gob_zset_prefers_scan(&self->z)) {
        run_scan(self, scan_count, &s);
        return PyLong_FromUnsignedLongLong(s.count);
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

static gob_status scan_sum(void *context, size_t from, size_t n)
{
    scan *s = context;
    (void)from;
    (void)n;
    s->sum = gob_zset_scan_sum(s->z, s->within);
    return GOB_OK;
}

/* _sum(lo, hi, open_lo, open_hi): exact, rounded once. */
PyObject *gob_reads_sum(gob_sortedset *self, PyObject *args)
{
    scan s = {.z = &self->z};
    if (parse_interval(self, args, &s.within) < 0 || gob_ready(self) < 0) {
        return NULL;
    }
    run_scan(self, scan_sum, &s);
    return PyFloat_FromDouble(s.sum);
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
        size_t got = gob_index_walk(&work->z->index, work->walk, work->members + work->filled,
                                    work->scores + work->filled);
        if (got == 0) {
            break;
        }
        work->filled += got;
    }
    return GOB_OK;
}

/* _walk(state, members, scores) -> rows filled, in no order; 0 at the end. state: _WALK_STATE zero
 * bytes at first; members int64 and scores float64 with room for _WALK_ROOM rows at least. */
PyObject *gob_reads_walk(gob_sortedset *self, PyObject *args)
{
    Py_buffer state, members, scores;
    if (!PyArg_ParseTuple(args, "w*w*w*:_walk", &state, &members, &scores)) {
        return NULL;
    }
    gob_walk walk;
    walk_work work = {.z = &self->z, .walk = &walk, .members = members.buf, .scores = scores.buf};
    Py_ssize_t shorter = members.len < scores.len ? members.len : scores.len;
    work.room = (size_t)shorter / sizeof(double);
    int result = -1;
    if (state.len != (Py_ssize_t)sizeof walk || work.room < GOB_WALK_MAX) {
        PyErr_SetString(PyExc_ValueError, "the array is too short");
    } else if (gob_ready(self) == 0) {
        memcpy(&walk, state.buf, sizeof walk);
        gob_use before = gob_start(self, GOB_RUNNING);
        (void)gob_detached(walk_stretch, &work, 0, work.room);
        result = PyErr_CheckSignals();
        gob_finish(self, before);
        memcpy(state.buf, &walk, sizeof walk);
    }
    PyBuffer_Release(&state);
    PyBuffer_Release(&members);
    PyBuffer_Release(&scores);
    return result < 0 ? NULL : PyLong_FromSize_t(work.filled);
}

typedef struct digest_work {
    gob_digester digester;
    const gob_zset *z;
} digest_work;

static gob_status digest_stretch(void *context, size_t from, size_t n)
{
    digest_work *work = context;
    (void)from;
    (void)gob_digester_step(&work->digester, work->z, n);
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
