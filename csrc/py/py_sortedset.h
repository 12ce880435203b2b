/* The object behind goblin._core.SortedSet, and what its files share. */
#ifndef PY_SORTEDSET_H
#define PY_SORTEDSET_H

#include "goblin_module.h"
#include "py_host.h"
#include "py_names.h"
#include "py_snapshot.h"

#include "gob_zset.h"

/* It holds no references, so this type takes no part in garbage collection. */
typedef struct gob_sortedset {
    GOB_LOCK_HEAD
    uint8_t kind;    /* gob_kind of the members */
    bool wide : 1;   /* integers of 64 bits */
    bool narrow : 1; /* scores of 32 bits */
    bool warned : 1; /* has warned that an increment changed nothing */
    bool laid : 1;   /* has got its layout, */
    bool relaid : 1; /* and then another one, while calls may have converted for the first */
    gob_zset z;
} gob_sortedset;

/* Of integers; and of scores. Known also while a call of another thread changes the core. */
GOB_INLINE unsigned gob_member_bytes(const gob_sortedset *self)
{
    return self->wide ? 8 : 4;
}

GOB_INLINE unsigned gob_score_bytes(const gob_sortedset *self)
{
    return self->narrow ? 4 : 8;
}

/* Before a set that is ready changes: ValueError where it is mapped from a file. */
GOB_INLINE int gob_check_own(gob_sortedset *self)
{
    return GOB_LIKELY(self->z.mapped == 0) ? 0 : gob_snapshot_refuse_write(self);
}

/* Both. */
GOB_INLINE int gob_ready_to_change(gob_sortedset *self)
{
    return gob_ready(self) < 0 ? -1 : gob_check_own(self);
}

/* "int32", "int64", "str", "bytes" or "uuid". */
const char *gob_kind_name(const gob_sortedset *self);

/* An empty core for a set that has had one; its host stays. */
GOB_INLINE void gob_sortedset_init(gob_sortedset *self, gob_layout layout, float merge_exponent,
                                   uint64_t seed)
{
    gob_pace *pace = self->z.alloc.pace;
    gob_zset_init(&self->z, layout, merge_exponent, seed);
    self->z.alloc.pace = pace;
}

/* Before it gets so many members more: gives a set that becomes large a host. */
GOB_INLINE void gob_sortedset_expect(gob_sortedset *self, size_t more)
{
    gob_host_for(self, &self->z.alloc, (size_t)gob_zset_count(&self->z) + more);
}

/* Brings the order of a set that is ready up to date. 0, or -1 with an exception. */
int gob_sync(gob_sortedset *self);

/* Warns once that an increment changed nothing; -1 where the warning raises. */
int gob_warn_stuck(gob_sortedset *self);

PyObject *gob_iterator_new(gob_sortedset *self, PyObject *kind, bool reverse);

/* Methods. py_single.c: one member at a time. */
typedef PyObject *gob_fast_method(gob_sortedset *self, PyObject *const *args, Py_ssize_t nargs,
                                  PyObject *kwnames);
int gob_single_contains(gob_sortedset *self, PyObject *key);
PyObject *gob_single_item(gob_sortedset *self, PyObject *key);
int gob_single_set_item(gob_sortedset *self, PyObject *key, PyObject *score);
gob_fast_method gob_single_get;
gob_fast_method gob_single_add;
gob_fast_method gob_single_increment;
gob_fast_method gob_single_pop;
gob_fast_method gob_single_setdefault;
PyObject *gob_single_discard(gob_sortedset *self, PyObject *key);
PyObject *gob_single_pop_end(gob_sortedset *self, PyObject *highest);

/* py_ranks.c: places in the order. */
gob_fast_method gob_rank;
PyObject *gob_ranks(gob_sortedset *self, PyObject *args);
PyObject *gob_ranks_item(gob_sortedset *self, PyObject *index);
PyObject *gob_ranks_below(gob_sortedset *self, PyObject *args);

/* py_shards.c: parts of a state. */
PyObject *gob_shards(gob_sortedset *self, PyObject *args);

/* py_bulk.c: many writes. */
PyObject *gob_write_update(gob_sortedset *self, PyObject *args);
PyObject *gob_write_increment(gob_sortedset *self, PyObject *args);
PyObject *gob_write_remove(gob_sortedset *self, PyObject *args);

/* Calls the last act before a bulk call is committed; None for none. Straight from C: the
 * interpreter would let a signal raise once that act is done, and the call be taken back. */
int gob_finish_with(PyObject *seal);

/* py_reads.c: many reads. */
PyObject *gob_reads_scores(gob_sortedset *self, PyObject *args);
PyObject *gob_reads_rows(gob_sortedset *self, PyObject *args);
PyObject *gob_reads_name_rows(gob_sortedset *self, PyObject *args);
PyObject *gob_reads_select(gob_sortedset *self, PyObject *args);
PyObject *gob_reads_extremes(gob_sortedset *self, PyObject *args);
PyObject *gob_reads_walk(gob_sortedset *self, PyObject *args);
PyObject *gob_reads_names(gob_sortedset *self, PyObject *args);
PyObject *gob_reads_count(gob_sortedset *self, PyObject *args);
PyObject *gob_reads_span(gob_sortedset *self, PyObject *args);
PyObject *gob_reads_sum(gob_sortedset *self, PyObject *args);
PyObject *gob_reads_digest(gob_sortedset *self, PyObject *unused);

/* py_whole.c: the set as a whole. */
PyObject *gob_whole_configure(gob_sortedset *self, PyObject *args);
PyObject *gob_whole_clear(gob_sortedset *self, PyObject *unused);
PyObject *gob_whole_assign(gob_sortedset *self, PyObject *other);
PyObject *gob_whole_swap(gob_sortedset *self, PyObject *other);
PyObject *gob_whole_rescore(gob_sortedset *self, PyObject *args);
PyObject *gob_whole_optimize(gob_sortedset *self, PyObject *unused);
PyObject *gob_whole_save(gob_sortedset *self, PyObject *write);
PyObject *gob_whole_load(gob_sortedset *self, PyObject *args);
PyObject *gob_whole_memory(gob_sortedset *self, PyObject *unused);
PyObject *gob_whole_live_bytes(gob_sortedset *self, PyObject *unused);
PyObject *gob_whole_sizeof(gob_sortedset *self, PyObject *unused);
PyObject *gob_whole_structure(gob_sortedset *self, PyObject *unused);
PyObject *gob_whole_validate(gob_sortedset *self, PyObject *unused);
PyObject *gob_whole_fail_at(gob_sortedset *self, PyObject *n);
PyObject *gob_whole_interrupt_at(gob_sortedset *self, PyObject *n);

#endif
