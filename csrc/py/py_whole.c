/* The set as a whole: layout, order, copies, snapshots, memory, and what tests look at. */
#include "py_member.h"
#include "py_status.h"

#include "gob_utf8.h"
#include "gob_zset_snapshot.h"

static gob_status sync_work(void *context, size_t from, size_t n)
{
    (void)from;
    (void)n;
    return gob_zset_sync(context);
}

int gob_sync(gob_sortedset *self)
{
    gob_zset *z = &self->z;
    if (GOB_LIKELY(gob_zset_is_synced(z))) {
        return 0;
    }
    size_t size = z->order == NULL ? (size_t)gob_zset_count(z) : z->pending->live;
    gob_status status = gob_run_whole(self, sync_work, z, size);
    if (status != GOB_OK) {
        gob_raise(status);
        return -1;
    }
    return 0;
}

/* The kinds of members. */
static const char *const kind_words[] = {"int32", "int64", "str", "bytes", "uuid", NULL};

const char *gob_kind_name(const gob_sortedset *self)
{
    return self->kind == GOB_INTS ? kind_words[gob_member_bytes(self) / 8]
                                  : kind_words[self->kind + 1];
}

/* _configure(kind, score_bytes, compress, merge_exponent): empties the set first. */
PyObject *gob_whole_configure(gob_sortedset *self, PyObject *args)
{
    PyObject *word;
    unsigned char score_bytes;
    int compress;
    float merge_exponent;
    uint64_t seed;
    if (!PyArg_ParseTuple(args, "Obpf:_configure", &word, &score_bytes, &compress,
                          &merge_exponent)) {
        return NULL;
    }
    int kind = gob_word(word, "member", kind_words);
    if (kind < 0 || gob_seed(&seed) < 0 || gob_ready_to_change(self) < 0) {
        return NULL;
    }
    gob_layout layout = {
        .member_bytes = kind == 1 ? 8 : 4,
        .score_bytes = score_bytes,
        .compress = compress != 0,
        .named = kind > 1,
    };
    self->kind = (uint8_t)(kind > 1 ? kind - 1 : GOB_INTS);
    self->wide = kind == 1;
    self->narrow = score_bytes == 4;
    layout.fixed = self->kind == GOB_UUID ? 16 : 0;
    uint64_t stamp = self->z.stamp + 1;
    gob_zset_clear(&self->z);
    gob_sortedset_init(self, layout, merge_exponent, seed);
    self->z.stamp = stamp;
    Py_RETURN_NONE;
}

PyObject *gob_whole_clear(gob_sortedset *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready_to_change(self) < 0) {
        return NULL;
    }
    gob_zset_clear(&self->z);
    Py_RETURN_NONE;
}

/* object as another set, or NULL with TypeError. */
static gob_sortedset *other_set(const gob_sortedset *self, PyObject *object)
{
    const gob_module_state *state = gob_state_of(self);
    if (!PyObject_TypeCheck(object, state->sortedset_type)) {
        PyErr_SetString(PyExc_TypeError, "a SortedSet is wanted");
        return NULL;
    }
    return (gob_sortedset *)object;
}

/* A pair of sets of the core, in long work. */
typedef struct pair {
    gob_zset *to;
    gob_zset *from;
    gob_walk walk;
    double factor;
    double delta;
    bool texts; /* members are str */
    bool changed;
} pair;

/* A set in the making has the host of the one that it is made from, and for tests that make
 * allocations fail its own count as that one's. */
static gob_pace *lend_host(pair *p)
{
    gob_pace *own = p->to->alloc.pace;
    gob_alloc_fail_at(&p->to->alloc, p->from->alloc.fail_at);
    p->to->alloc.pace = p->from->alloc.pace;
    return own;
}

static void return_host(pair *p, gob_pace *own)
{
    gob_alloc_fail_at(&p->from->alloc, p->to->alloc.fail_at);
    gob_alloc_fail_at(&p->to->alloc, 0);
    p->to->alloc.pace = own;
}

/* Names that are to become str have to be UTF-8. */
static gob_status check_texts(const gob_zset *z, const char **why)
{
    int64_t ids[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    size_t at = 0;
    for (size_t n;
         (n = gob_members_walk(&z->index.members, &at, GOB_WALK_MAX, ids, scores)) != 0;) {
        for (size_t i = 0; i < n; i++) {
            gob_name name = gob_members_name(&z->index.members, ids[i]);
            GOB_EXPECT(gob_utf8_valid(name.at, name.len), "a member that is no UTF-8");
        }
        GOB_TRY(gob_spend(z->alloc.pace, n));
    }
    return GOB_OK;
}

static gob_status copy_work(void *context, size_t from, size_t n)
{
    pair *p = context;
    const char *why;
    (void)from;
    (void)n;
    GOB_TRY(p->texts && p->from->mapped != 0 ? check_texts(p->from, &why) : GOB_OK);
    return gob_zset_copy(p->to, p->from);
}

/* Gives a set that is ready another content, and takes that which it has. */
static void exchange(gob_sortedset *self, gob_zset *z, uint8_t *kind, bool *wide)
{
    uint8_t old = self->kind;
    bool old_wide = self->wide;
    bool alike = old == *kind && old_wide == *wide;
    self->relaid = self->relaid || (self->laid && !alike);
    self->laid = true;
    gob_zset_swap(&self->z, z);
    self->kind = *kind;
    self->wide = *wide;
    self->narrow = self->z.index.score_bytes == 4;
    *kind = old;
    *wide = old_wide;
}

/* _assign(other): self becomes a copy of other, which it may be itself. The copy is made beside
 * it, as others may know what the class's __new__ gave. */
PyObject *gob_whole_assign(gob_sortedset *self, PyObject *object)
{
    uint64_t seed;
    gob_sortedset *other = other_set(self, object);
    if (other == NULL || gob_seed(&seed) < 0 || gob_ready(other) < 0) {
        return NULL;
    }
    uint8_t kind = other->kind;
    bool wide = other->wide;
    gob_zset twin;
    gob_zset_init(&twin, gob_zset_layout(&other->z), other->z.merge_exponent, seed);
    pair p = {.to = &twin, .from = &other->z, .texts = kind == GOB_STR};
    gob_pace *own = lend_host(&p);
    gob_status status = gob_run_whole(other, copy_work, &p, (size_t)gob_zset_count(&other->z));
    return_host(&p, own);
    bool copied = status == GOB_OK && gob_ready(self) == 0;
    if (copied) {
        gob_alloc_fail_at(&twin.alloc, self->z.alloc.fail_at);
        exchange(self, &twin, &kind, &wide);
        gob_sortedset_expect(self, 0);
    }
    gob_zset_clear(&twin);
    if (status != GOB_OK) {
        return gob_raise(status);
    }
    return copied ? Py_NewRef(Py_None) : NULL;
}

/* _swap(other): exchanges the contents of two sets. */
PyObject *gob_whole_swap(gob_sortedset *self, PyObject *object)
{
    gob_sortedset *other = other_set(self, object);
    if (other == NULL || gob_ready_to_change(self) < 0 || gob_ready_to_change(other) < 0) {
        return NULL;
    }
    bool wide = other->wide;
    exchange(self, &other->z, &other->kind, &wide);
    other->wide = wide;
    other->narrow = other->z.index.score_bytes == 4;
    gob_sortedset_expect(self, 0);
    gob_sortedset_expect(other, 0);
    Py_RETURN_NONE;
}

static gob_status rescore_work(void *context, size_t from, size_t n)
{
    pair *p = context;
    int64_t members[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    gob_changes changes = {0};
    (void)from;
    for (size_t done = 0, got; done < n; done += got) {
        got = gob_index_walk(&p->from->index, &p->walk, members, scores);
        if (got == 0) {
            break;
        }
        GOB_TRY(gob_spend(p->from->alloc.pace, got));
        for (size_t i = 0; i < got; i++) {
            double score = scores[i] * p->factor + p->delta;
            GOB_TRY(gob_narrow(score, p->to->index.score_bytes, &score));
            gob_member m = {.id = members[i]};
            if (p->from->index.named) {
                m.name = gob_members_name(&p->from->index.members, members[i]);
            }
            GOB_TRY(gob_zset_add(p->to, &m, score, GOB_SET, &changes));
            p->changed = p->changed || score != scores[i];
        }
    }
    return GOB_OK;
}

/* _rescore(factor, delta): every score becomes score * factor + delta, or nothing changes. */
PyObject *gob_whole_rescore(gob_sortedset *self, PyObject *args)
{
    uint64_t seed;
    gob_zset fresh;
    pair p = {.to = &fresh, .from = &self->z};
    if (!PyArg_ParseTuple(args, "dd:_rescore", &p.factor, &p.delta) || gob_seed(&seed) < 0 ||
        gob_ready_to_change(self) < 0) {
        return NULL;
    }
    gob_zset_init(&fresh, gob_zset_layout(&self->z), self->z.merge_exponent, seed);
    gob_pace *own = lend_host(&p);
    int result = gob_run(self, rescore_work, &p, (size_t)gob_zset_count(&self->z));
    if (result == 0 && p.changed) { /* else iterators live on */
        fresh.alloc.pace = own;
        gob_zset_swap(&self->z, &fresh);
    } else {
        return_host(&p, own);
    }
    gob_zset_clear(&fresh);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

static gob_status optimize_work(void *context, size_t from, size_t n)
{
    (void)from;
    (void)n;
    return gob_zset_optimize(context);
}

PyObject *gob_whole_optimize(gob_sortedset *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready_to_change(self) < 0) {
        return NULL;
    }
    gob_status status =
        gob_run_whole(self, optimize_work, &self->z, (size_t)gob_zset_count(&self->z));
    return status == GOB_OK ? Py_NewRef(Py_None) : gob_raise(status);
}

static gob_member_kind member_kind(const gob_sortedset *self)
{
    switch ((gob_kind)self->kind) {
    case GOB_STR:
        return GOB_MEMBER_STR;
    case GOB_BYTES:
        return GOB_MEMBER_BYTES;
    case GOB_UUID:
        return GOB_MEMBER_UUID;
    case GOB_INTS:
    default:
        return gob_member_bytes(self) == 4 ? GOB_MEMBER_INT32 : GOB_MEMBER_INT64;
    }
}

static gob_status save_set(void *object, gob_sink *sink, void *to)
{
    gob_sortedset *self = object;
    return gob_zset_save(&self->z, member_kind(self), sink, to);
}

PyObject *gob_whole_save(gob_sortedset *self, PyObject *write)
{
    return gob_snapshot_save(self, write, save_set);
}

static gob_status load_set(void *object, const gob_reader *r, uint64_t seed, bool mapped,
                           const char **why)
{
    gob_sortedset *self = object;
    gob_member_kind kind;
    gob_zset_clear(&self->z);
    GOB_TRY(gob_zset_load(&self->z, &kind, r, seed, mapped, why));
    gob_status status = GOB_OK;
    if (kind == GOB_MEMBER_STR && gob_reader_checks(r, mapped)) {
        status = check_texts(&self->z, why);
    }
    if (status != GOB_OK) {
        gob_zset_clear(&self->z);
        return status;
    }
    self->kind = (uint8_t)(kind == GOB_MEMBER_STR     ? GOB_STR
                           : kind == GOB_MEMBER_BYTES ? GOB_BYTES
                           : kind == GOB_MEMBER_UUID  ? GOB_UUID
                                                      : GOB_INTS);
    self->wide = kind == GOB_MEMBER_INT64;
    self->narrow = self->z.index.score_bytes == 4;
    self->laid = true;
    gob_sortedset_expect(self, 0);
    return GOB_OK;
}

PyObject *gob_whole_load(gob_sortedset *self, PyObject *args)
{
    return gob_ready_to_change(self) < 0 ? NULL
                                         : gob_snapshot_load(self, &self->z.alloc, args, load_set);
}

/* _memory() -> (pages, table, members, pending, order) in bytes */
PyObject *gob_whole_memory(gob_sortedset *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready(self) < 0) {
        return NULL;
    }
    gob_memory m = gob_zset_memory(&self->z);
    return Py_BuildValue("(nnnnn)", (Py_ssize_t)m.pages, (Py_ssize_t)m.table, (Py_ssize_t)m.members,
                         (Py_ssize_t)m.pending, (Py_ssize_t)m.order);
}

PyObject *gob_whole_live_bytes(gob_sortedset *self, PyObject *unused)
{
    (void)unused;
    return gob_ready(self) < 0 ? NULL : PyLong_FromSize_t(self->z.alloc.live);
}

PyObject *gob_whole_sizeof(gob_sortedset *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready(self) < 0) {
        return NULL;
    }
    return PyLong_FromSize_t((size_t)Py_TYPE((PyObject *)self)->tp_basicsize + self->z.alloc.live);
}

/* _structure() -> what the set is made of, for tests that must know which path they took */
PyObject *gob_whole_structure(gob_sortedset *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready(self) < 0) {
        return NULL;
    }
    const gob_zset *z = &self->z;
    return Py_BuildValue("{s:K,s:K,s:K,s:O,s:K}", "pages",
                         (unsigned long long)(z->index.named ? 0 : z->index.pages.count),
                         "table_members", (unsigned long long)z->index.table.live, "pending",
                         (unsigned long long)(z->pending == NULL ? 0 : z->pending->live),
                         "order_built", z->order == NULL ? Py_False : Py_True, "leaves",
                         (unsigned long long)(z->order == NULL ? 0 : gob_order_blocks(z->order)));
}

/* _validate(): AssertionError with the invariant that is broken */
PyObject *gob_whole_validate(gob_sortedset *self, PyObject *unused)
{
    const char *why = NULL;
    (void)unused;
    if (gob_ready(self) < 0) {
        return NULL;
    }
    if (!gob_zset_validate(&self->z, &why)) {
        PyErr_SetString(PyExc_AssertionError, why);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* _fail_at(n) -> what was left of the last n
 *
 * The n-th allocation from now fails, once; 0 for none. */
PyObject *gob_whole_fail_at(gob_sortedset *self, PyObject *n)
{
    unsigned long long at = PyLong_AsUnsignedLongLong(n);
    if ((at == (unsigned long long)-1 && PyErr_Occurred()) || gob_ready(self) < 0) {
        return NULL;
    }
    uint64_t left = self->z.alloc.fail_at;
    gob_alloc_fail_at(&self->z.alloc, at);
    return PyLong_FromUnsignedLongLong(left);
}

PyObject *gob_whole_interrupt_at(gob_sortedset *self, PyObject *n)
{
    return gob_host_interrupt_at(self, &self->z.alloc, n);
}
