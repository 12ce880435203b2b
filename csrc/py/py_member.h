/* Members of a set in and out, whatever kind it has. */
#ifndef PY_MEMBER_H
#define PY_MEMBER_H

#include "py_args.h"
#include "py_sortedset.h"

#include "gob_bulk.h"

/* One member as an argument. A name lies in the caller's object, or in *scratch, to be released. */
typedef struct gob_argument {
    gob_member member;
    gob_kind kind;
    gob_name_scratch scratch;
} gob_argument;

/* Only UUIDs need it. */
GOB_INLINE const gob_module_state *gob_state_for(const gob_sortedset *self)
{
    return self->kind == GOB_UUID ? gob_state_of(self) : NULL;
}

/* 0, or -1 with an exception for what is no member; nothing to release then. */
GOB_INLINE int gob_take_member(const gob_sortedset *self, PyObject *object, gob_argument *arg)
{
    arg->kind = (gob_kind)self->kind;
    if (GOB_LIKELY(arg->kind == GOB_INTS)) {
        arg->scratch.object = NULL;
        return gob_member_of(object, gob_member_bytes(self), &arg->member.id);
    }
    arg->member.id = GOB_NO_ID;
    return gob_name_argument(gob_state_for(self), object, arg->kind, &arg->member.name,
                             &arg->scratch);
}

/* The same for look-ups: 1, or 0 for what can't be a member, or -1 with any other exception. */
GOB_INLINE int gob_look_for(const gob_sortedset *self, PyObject *object, gob_argument *arg)
{
    arg->kind = (gob_kind)self->kind;
    arg->scratch.object = NULL;
    if (GOB_LIKELY(arg->kind == GOB_INTS)) {
        return gob_find_member(object, gob_member_bytes(self), &arg->member.id);
    }
    arg->member.id = GOB_NO_ID;
    return gob_find_name(gob_state_for(self), object, arg->kind, &arg->member.name, &arg->scratch);
}

GOB_INLINE void gob_argument_release(gob_argument *arg)
{
    gob_name_release(&arg->scratch);
}

/* RuntimeError */
void gob_refuse_kind(void);

/* Before the core gets what was converted for a kind: gob_ready, and no one has made it a set of
 * another kind meanwhile. */
GOB_INLINE int gob_ready_for(gob_sortedset *self, gob_kind kind)
{
    if (gob_ready(self) < 0) {
        return -1;
    }
    if (GOB_UNLIKELY(self->kind != kind)) {
        gob_refuse_kind();
        return -1;
    }
    return 0;
}

GOB_INLINE bool gob_member_fits(const gob_sortedset *self, int64_t member)
{
    return gob_member_bytes(self) == 8 || (int32_t)member == member;
}

/* The same before a write. What was taken for int64 has to fit where that has become int32. */
GOB_INLINE int gob_ready_to_write(gob_sortedset *self, const gob_argument *arg)
{
    if (gob_ready_for(self, arg->kind) < 0 || gob_check_own(self) < 0) {
        return -1;
    }
    if (GOB_UNLIKELY(arg->kind == GOB_INTS && !gob_member_fits(self, arg->member.id))) {
        gob_refuse_kind();
        return -1;
    }
    return 0;
}

/* Ids mean the same while a set is of one version. */
typedef struct gob_version {
    uint64_t stamp;
    uint32_t epoch;
} gob_version;

/* Packing a set is no change of it, but may give its names other ids. */
GOB_INLINE uint32_t gob_epoch_of(const gob_sortedset *self)
{
    return self->z.index.named ? self->z.index.members.epoch : 0;
}

GOB_INLINE gob_version gob_version_of(const gob_sortedset *self)
{
    return (gob_version){self->z.stamp, gob_epoch_of(self)};
}

GOB_INLINE bool gob_is_version(const gob_sortedset *self, gob_version version)
{
    gob_version now = gob_version_of(self);
    return now.stamp == version.stamp && now.epoch == version.epoch;
}

/* What a walk over a set keeps between its steps. */
typedef struct gob_walk_state {
    gob_walk walk;
    gob_version version;
    bool begun;
} gob_walk_state;

/* A column of members: int64 in a buffer, or a Names. */
typedef struct gob_column_argument {
    gob_inputs in;
    size_t count;
    gob_kind kind;
    Py_buffer view; /* obj is NULL for names, which the caller's object keeps */
} gob_column_argument;

int gob_take_column(const gob_sortedset *self, PyObject *object, gob_column_argument *column);
/* Whether members [from, from + n) fit a set of integers, which may have been taken for int64
 * before it became one of int32. Always for names. */
bool gob_members_fit(const gob_sortedset *self, const int64_t *members, size_t from, size_t n);

void gob_column_release(gob_column_argument *column);

/* A new int, str, bytes or UUID. */
PyObject *gob_member_object(const gob_sortedset *self, int64_t id);

/* A new (member, score). May run finalisers, which may change the set. */
PyObject *gob_pair_object(const gob_sortedset *self, gob_entry e);

#endif
