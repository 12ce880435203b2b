/* Shards of members, by which a state is spread over machines. */
#include "py_member.h"

#include "gob_shard.h"

typedef struct shard_work {
    const gob_inputs *in;
    uint16_t *out;
    uint16_t shards;
} shard_work;

static gob_status shard_stretch(void *context, size_t from, size_t n)
{
    shard_work *work = context;
    for (size_t i = from; i < from + n; i++) {
        work->out[i] = work->in->names == NULL
                           ? gob_shard_of_int(work->in->members[i], work->shards)
                           : gob_shard_of_name(gob_names_at(work->in->names, i), work->shards);
    }
    return GOB_OK;
}

/* _shards(members, count, out): which of so many shards each belongs to, as uint16. */
PyObject *gob_shards(gob_sortedset *self, PyObject *args)
{
    gob_column_argument column;
    PyObject *members;
    unsigned short shards; /* "H" cuts what is longer: callers check */
    Py_buffer out;
    if (!PyArg_ParseTuple(args, "OHw*:_shards", &members, &shards, &out)) {
        return NULL;
    }
    int result = gob_take_column(self, members, &column);
    if (result == 0) {
        if ((size_t)out.len / sizeof(uint16_t) < column.count) {
            PyErr_SetString(PyExc_ValueError, "the array is too short");
            result = -1;
        } else if (gob_ready_for(self, column.kind) < 0) {
            result = -1;
        } else {
            shard_work work = {&column.in, out.buf, shards};
            result = gob_run(self, shard_stretch, &work, column.count);
        }
        gob_column_release(&column);
    }
    PyBuffer_Release(&out);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}
