#include "py_member.h"

void gob_refuse_kind(void)
{
    PyErr_SetString(PyExc_RuntimeError, "the SortedSet got another kind of members meanwhile");
}

int gob_take_column(const gob_sortedset *self, PyObject *object, gob_column_argument *column)
{
    *column = (gob_column_argument){.kind = (gob_kind)self->kind};
    if (column->kind != GOB_INTS) {
        column->in.names = gob_names_get(object, column->kind, &column->count);
        return column->in.names == NULL ? -1 : 0;
    }
    if (gob_buffer(object, &column->view, sizeof(int64_t), false, &column->count) < 0) {
        column->view.obj = NULL;
        return -1;
    }
    column->in.members = column->view.buf;
    return 0;
}

bool gob_members_fit(const gob_sortedset *self, const int64_t *members, size_t from, size_t n)
{
    uint64_t beyond = 0;
    bool narrow = self->relaid && self->kind == GOB_INTS && gob_member_bytes(self) == 4;
    for (size_t i = from; narrow && i < from + n; i++) {
        beyond |= ((uint64_t)members[i] + (UINT64_C(1) << 31)) >> 32;
    }
    return beyond == 0;
}

void gob_column_release(gob_column_argument *column)
{
    if (column->view.obj != NULL) {
        PyBuffer_Release(&column->view);
    }
}

PyObject *gob_member_object(const gob_sortedset *self, int64_t id)
{
    return self->kind == GOB_INTS ? PyLong_FromLongLong(id)
                                  : gob_name_object(gob_state_for(self), (gob_kind)self->kind,
                                                    gob_members_name(&self->z.index.members, id));
}

/* The member first: a new tuple may run finalisers, which may change the set. */
PyObject *gob_pair_object(const gob_sortedset *self, gob_entry e)
{
    PyObject *member = gob_member_object(self, gob_unbias(e.member));
    PyObject *score = PyFloat_FromDouble(gob_key_score(e.key));
    PyObject *pair = PyTuple_New(2);
    if (pair == NULL || member == NULL || score == NULL) {
        Py_XDECREF(pair);
        Py_XDECREF(member);
        Py_XDECREF(score);
        return NULL;
    }
    PyTuple_SET_ITEM(pair, 0, member);
    PyTuple_SET_ITEM(pair, 1, score);
    return pair;
}
