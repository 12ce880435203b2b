/* The type goblin._core.SortedSet: construction, slots and the table of its methods. */
#include "py_sortedset.h"

#include "py_args.h"
#include "py_member.h"

static PyObject *sortedset_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const gob_layout layout = {sizeof(int64_t), sizeof(double), true, false, 0};
    uint64_t seed;
    (void)args; /* for __init__ of the Python class */
    (void)kwargs;
    if (gob_seed(&seed) < 0) {
        return NULL;
    }
    PyObject *object = type->tp_alloc(type, 0);
    if (object != NULL) {
        gob_sortedset *self = (gob_sortedset *)object;
        self->wide = true;
        gob_zset_init(&self->z, layout, 1.0F, seed);
    }
    return object;
}

static void sortedset_dealloc(PyObject *object)
{
    gob_sortedset *self = (gob_sortedset *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->z.mapped != 0) {
        gob_snapshot_unmap(self);
    }
    if (gob_is_intact(self)) {
        gob_zset_clear(&self->z);
        gob_host_free(&self->z.alloc);
    }
    type->tp_free(object);
    Py_DECREF(type);
}

static Py_ssize_t sortedset_length(gob_sortedset *self)
{
    return gob_ready(self) < 0 ? -1 : (Py_ssize_t)gob_zset_count(&self->z);
}

static PyObject *sortedset_iter(gob_sortedset *self)
{
    return gob_iterator_new(self, NULL, false);
}

static PyObject *sortedset_reversed(gob_sortedset *self, PyObject *unused)
{
    (void)unused;
    return gob_iterator_new(self, NULL, true);
}

static PyObject *sortedset_iterate(gob_sortedset *self, PyObject *args)
{
    PyObject *kind;
    int reverse;
    if (!PyArg_ParseTuple(args, "Op:_iterate", &kind, &reverse)) {
        return NULL;
    }
    return gob_iterator_new(self, kind, reverse != 0);
}

static PyObject *sortedset_layout(gob_sortedset *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromFormat("%s-float%u", gob_kind_name(self), gob_score_bytes(self) * 8);
}

static PyObject *sortedset_member_dtype(gob_sortedset *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(gob_kind_name(self));
}

static PyObject *sortedset_score_dtype(gob_sortedset *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromFormat("float%u", gob_score_bytes(self) * 8);
}

static PyObject *sortedset_stamp(gob_sortedset *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(self->z.stamp);
}

static PyObject *sortedset_compress(gob_sortedset *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(self->z.compress);
}

static PyObject *sortedset_merge_exponent(gob_sortedset *self, void *unused)
{
    (void)unused;
    return PyFloat_FromDouble((double)self->z.merge_exponent);
}

PyDoc_STRVAR(
    get_doc,
    "get($self, member, default=None)\n--\n\n"
    "Return the score of a member as float, or default where it is absent or can't be one.\n"
    "O(1).\n\n"
    ">>> z = goblin.SortedSet({7: 1.5})\n"
    ">>> z.get(7), z.get(8), z.get('7', 0.0)\n"
    "(1.5, None, 0.0)\n");

PyDoc_STRVAR(
    add_doc,
    "add($self, member, score, *, mode='set')\n--\n\n"
    "Set the score of a member; True if anything changed.\n\n"
    "mode says when: 'set' always, 'nx' only new members, 'xx' only present ones, 'gt' and 'lt'\n"
    "new ones or a higher (lower) score, 'xx_gt' and 'xx_lt' present ones only. TypeError or\n"
    "OverflowError for what is no member or score, ValueError for NaN or an unknown mode.\n"
    "O(1); what it adds to the next ordered read is O(log n).\n\n"
    ">>> z = goblin.SortedSet({7: 1.5})\n"
    ">>> z.add(7, 3), z.add(7, 2, mode='gt'), z[7]\n"
    "(True, False, 3.0)\n");

PyDoc_STRVAR(
    increment_doc,
    "increment($self, member, by=1.0)\n--\n\n"
    "Add to the score of a member and return the new score; a new member starts at by.\n\n"
    "TypeError or OverflowError for what is no member or number, and for scores beyond\n"
    "float32; ValueError where the sum would be NaN; PrecisionWarning, once per set, where by\n"
    "is too small to change the score. O(1).\n\n"
    ">>> z = goblin.SortedSet({7: 1.5})\n"
    ">>> z.increment(7), z.increment(8, by=-2)\n"
    "(2.5, -2.0)\n");

PyDoc_STRVAR(discard_doc, "discard($self, member, /)\n--\n\n"
                          "Remove a member if it is there; True if it was. O(1).\n\n"
                          ">>> z = goblin.SortedSet({7: 1.5})\n"
                          ">>> z.discard(7), z.discard(7)\n"
                          "(True, False)\n");

PyDoc_STRVAR(
    pop_doc,
    "pop($self, member, default=<unrepresentable>)\n--\n\n"
    "Remove a member and return its score; default, or else KeyError, where it is absent.\n"
    "O(1).\n\n"
    ">>> z = goblin.SortedSet({7: 1.5})\n"
    ">>> z.pop(7), z.pop(7, None)\n"
    "(1.5, None)\n");

PyDoc_STRVAR(
    setdefault_doc,
    "setdefault($self, member, default)\n--\n\n"
    "Return the score of a member, which gets default first where it is absent. TypeError,\n"
    "OverflowError or ValueError for what is no member or score. O(1).\n\n"
    ">>> z = goblin.SortedSet({7: 1.5})\n"
    ">>> z.setdefault(7, 9), z.setdefault(8, 9)\n"
    "(1.5, 9.0)\n");

PyDoc_STRVAR(
    rank_doc,
    "rank($self, member, *, method='ordinal', descending=False, default=<unrepresentable>)\n"
    "--\n\n"
    "Return the 0-based rank of a member, counted from the lowest score.\n\n"
    "Among equal scores 'ordinal' counts on by member; 'min', 'max' and 'average' (a float) give\n"
    "all the same; 'dense' is the number of distinct lower scores. default, or else KeyError,\n"
    "where the member is absent; ValueError for an unknown method. O(log n), 'dense' O(n).\n\n"
    ">>> z = goblin.SortedSet({7: 1.0, 8: 1.0, 9: 5.0})\n"
    ">>> z.rank(9), z.rank(9, descending=True), z.rank(8, method='average')\n"
    "(2, 0, 0.5)\n");

PyDoc_STRVAR(clear_doc, "clear($self, /)\n--\n\n"
                        "Remove all members and give their memory back. O(n).\n\n"
                        ">>> z = goblin.SortedSet({7: 1.5})\n"
                        ">>> z.clear()\n"
                        ">>> len(z)\n"
                        "0\n");

PyDoc_STRVAR(
    optimize_doc,
    "optimize($self, /)\n--\n\n"
    "Apply pending changes and pack everything as small as it goes; iterators live on. O(n).\n\n"
    ">>> z = goblin.SortedSet({7: 1.5})\n"
    ">>> z.optimize()\n");

static PyMethodDef methods[] = {
    GOB_FAST("get", gob_single_get, get_doc),
    GOB_FAST("add", gob_single_add, add_doc),
    GOB_FAST("increment", gob_single_increment, increment_doc),
    GOB_FAST("pop", gob_single_pop, pop_doc),
    GOB_FAST("setdefault", gob_single_setdefault, setdefault_doc),
    GOB_PLAIN("discard", gob_single_discard, METH_O, discard_doc),
    GOB_FAST("rank", gob_rank, rank_doc),
    GOB_PLAIN("clear", gob_whole_clear, METH_NOARGS, clear_doc),
    GOB_PLAIN("optimize", gob_whole_optimize, METH_NOARGS, optimize_doc),
    GOB_PLAIN("__reversed__", sortedset_reversed, METH_NOARGS, NULL),
    GOB_PLAIN("__sizeof__", gob_whole_sizeof, METH_NOARGS, NULL),
    GOB_PLAIN("__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, NULL),
    /* For the Python layer */
    GOB_FAST("_atomically", gob_atomically, NULL),
    GOB_PLAIN("_iterate", sortedset_iterate, METH_VARARGS, NULL),
    GOB_PLAIN("_pop_end", gob_single_pop_end, METH_O, NULL),
    GOB_PLAIN("_ranks", gob_ranks, METH_VARARGS, NULL),
    GOB_PLAIN("_item", gob_ranks_item, METH_O, NULL),
    GOB_PLAIN("_below", gob_ranks_below, METH_VARARGS, NULL),
    GOB_PLAIN("_shards", gob_shards, METH_VARARGS, NULL),
    GOB_PLAIN("_update", gob_write_update, METH_VARARGS, NULL),
    GOB_PLAIN("_increment", gob_write_increment, METH_VARARGS, NULL),
    GOB_PLAIN("_remove", gob_write_remove, METH_VARARGS, NULL),
    GOB_PLAIN("_scores", gob_reads_scores, METH_VARARGS, NULL),
    GOB_PLAIN("_rows", gob_reads_rows, METH_VARARGS, NULL),
    GOB_PLAIN("_name_rows", gob_reads_name_rows, METH_VARARGS, NULL),
    GOB_PLAIN("_select", gob_reads_select, METH_VARARGS, NULL),
    GOB_PLAIN("_extremes", gob_reads_extremes, METH_VARARGS, NULL),
    GOB_PLAIN("_walk", gob_reads_walk, METH_VARARGS, NULL),
    GOB_PLAIN("_names", gob_reads_names, METH_VARARGS, NULL),
    GOB_PLAIN("_count", gob_reads_count, METH_VARARGS, NULL),
    GOB_PLAIN("_span", gob_reads_span, METH_VARARGS, NULL),
    GOB_PLAIN("_sum", gob_reads_sum, METH_VARARGS, NULL),
    GOB_PLAIN("_digest", gob_reads_digest, METH_NOARGS, NULL),
    GOB_PLAIN("_configure", gob_whole_configure, METH_VARARGS, NULL),
    GOB_PLAIN("_assign", gob_whole_assign, METH_O, NULL),
    GOB_PLAIN("_swap", gob_whole_swap, METH_O, NULL),
    GOB_PLAIN("_rescore", gob_whole_rescore, METH_VARARGS, NULL),
    GOB_PLAIN("_save", gob_whole_save, METH_O, NULL),
    GOB_PLAIN("_load", gob_whole_load, METH_VARARGS, NULL),
    GOB_PLAIN("_memory", gob_whole_memory, METH_NOARGS, NULL),
    /* For tests */
    GOB_PLAIN("_live_bytes", gob_whole_live_bytes, METH_NOARGS, NULL),
    GOB_PLAIN("_structure", gob_whole_structure, METH_NOARGS, NULL),
    GOB_PLAIN("_validate", gob_whole_validate, METH_NOARGS, NULL),
    GOB_PLAIN("_fail_at", gob_whole_fail_at, METH_O, NULL),
    GOB_PLAIN("_interrupt_at", gob_whole_interrupt_at, METH_O, NULL),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"layout", (getter)sortedset_layout, NULL,
     "Kinds of member and score, such as 'int64-float64'.", NULL},
    {"member_dtype", (getter)sortedset_member_dtype, NULL, "Kind of the members, as text.", NULL},
    {"score_dtype", (getter)sortedset_score_dtype, NULL, "Kind of the scores, as text.", NULL},
    {"_stamp", (getter)sortedset_stamp, NULL, NULL, NULL},
    {"_compress", (getter)sortedset_compress, NULL, NULL, NULL},
    {"_merge_exponent", (getter)sortedset_merge_exponent, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Member -> score, always readable in score order: the C half of goblin.SortedSet."},
    {Py_tp_new, sortedset_new},
    {Py_tp_dealloc, sortedset_dealloc},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_iter, sortedset_iter},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_mp_length, sortedset_length},
    {Py_mp_subscript, gob_single_item},
    {Py_mp_ass_subscript, gob_single_set_item},
    {Py_sq_contains, gob_single_contains},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "goblin._core.SortedSet",
    .basicsize = sizeof(gob_sortedset),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

int gob_add_sortedset(PyObject *module)
{
    gob_module_state *state = PyModule_GetState(module);
    state->sortedset_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    /* What a caller of _walk has to provide. */
    if (PyModule_AddIntConstant(module, "_WALK_STATE", (long)sizeof(gob_walk_state)) < 0 ||
        PyModule_AddIntConstant(module, "_WALK_ROOM", GOB_WALK_MAX) < 0) {
        return -1;
    }
    return state->sortedset_type == NULL ? -1 : PyModule_AddType(module, state->sortedset_type);
}
