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

/* Before the core gets what was converted for a kind: gob_ready, and no one has made it a set of
 * another kind meanwhile. */
GOB_INLINE int gob_ready_for(gob_sortedset *self, gob_kind kind)
{
    if (gob_ready(self) < 0) {
        return -1;
    }
    if (GOB_UNLIKELY(self->kind != kind)) {
        PyErr_SetString(PyExc_RuntimeError, "the SortedSet got another kind of members meanwhile");
        return -1;
    }
    return 0;
}

/* A column of members: int64 in a buffer, or a Names. */
typedef struct gob_column_argument {
    gob_inputs in;
    size_t count;
    gob_kind kind;
    Py_buffer view; /* obj is NULL for names, which the caller's object keeps */
} gob_column_argument;

int gob_take_column(const gob_sortedset *self, PyObject *object, gob_column_argument *column);
void gob_column_release(gob_column_argument *column);

/* A new int, str, bytes or UUID. */
PyObject *gob_member_object(const gob_sortedset *self, int64_t id);

/* A new (member, score). */
PyObject *gob_pair_object(const gob_sortedset *self, gob_entry e);

#endif
