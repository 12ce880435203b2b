/* The type goblin._core.Hash: construction, slots and the table of its methods. */
#include "py_hash.h"
#include "py_args.h"

static PyObject *hash_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    uint64_t seed;
    (void)args; /* for __init__ of the Python class */
    (void)kwargs;
    if (gob_seed(&seed) < 0) {
        return NULL;
    }
    PyObject *object = type->tp_alloc(type, 0);
    if (object != NULL) {
        gob_hash_object *self = (gob_hash_object *)object;
        gob_hashmap_init(&self->map, true, GOB_COMPACT_ALWAYS, seed);
        self->key = self->value = GOB_STR;
    }
    return object;
}

static void hash_dealloc(PyObject *object)
{
    gob_hash_object *self = (gob_hash_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->map.mapped) {
        gob_snapshot_unmap(self);
    }
    if (gob_is_intact(self)) {
        gob_hashmap_clear(&self->map);
        gob_host_free(&self->map.alloc);
    }
    type->tp_free(object);
    Py_DECREF(type);
}

static Py_ssize_t hash_length(gob_hash_object *self)
{
    return gob_ready(self) < 0 ? -1 : (Py_ssize_t)gob_hashmap_count(&self->map);
}

static PyObject *hash_key_dtype(gob_hash_object *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(gob_value_word((gob_kind)self->key));
}

static PyObject *hash_value_dtype(gob_hash_object *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(gob_value_word((gob_kind)self->value));
}

static PyObject *hash_is_compact(gob_hash_object *self, void *unused)
{
    (void)unused;
    return gob_ready(self) < 0 ? NULL : PyBool_FromLong(gob_hashmap_is_compact(&self->map));
}

static PyObject *hash_stamp(gob_hash_object *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(self->map.stamp);
}

static PyObject *hash_encoding(gob_hash_object *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(self->map.encoding);
}

static PyObject *hash_max_compact(gob_hash_object *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(self->map.max_compact);
}

PyDoc_STRVAR(get_doc,
             "get($self, key, default=None)\n--\n\n"
             "Return the value of a key, or default where it is absent or can't be one. O(1).\n\n"
             ">>> h = goblin.Hash({'name': 'Ann'})\n"
             ">>> h.get('name'), h.get('elo'), h.get(7, '-')\n"
             "('Ann', None, '-')\n");

PyDoc_STRVAR(pop_doc, "pop($self, key, default=<unrepresentable>)\n--\n\n"
                      "Remove a key and return its value; default, or else KeyError, where it is\n"
                      "absent. O(1), in the compact form O(n).\n\n"
                      ">>> h = goblin.Hash({'name': 'Ann'})\n"
                      ">>> h.pop('name'), h.pop('name', None)\n"
                      "('Ann', None)\n");

PyDoc_STRVAR(popitem_doc,
             "popitem($self, /)\n--\n\n"
             "Remove any one entry and return it as (key, value). KeyError when empty.\n"
             "O(1), in the compact form O(n).\n\n"
             ">>> goblin.Hash({'name': 'Ann'}).popitem()\n"
             "('name', 'Ann')\n");

PyDoc_STRVAR(setdefault_doc,
             "setdefault($self, key, default)\n--\n\n"
             "Return the value of a key, which gets default first where it is absent. TypeError,\n"
             "OverflowError or ValueError for what is no key or value. O(1), in the compact form\n"
             "O(n).\n\n"
             ">>> h = goblin.Hash({'name': 'Ann'})\n"
             ">>> h.setdefault('name', 'Bob'), h.setdefault('elo', '1500')\n"
             "('Ann', '1500')\n");

PyDoc_STRVAR(
    increment_doc,
    "increment($self, key, by=1)\n--\n\n"
    "Add to a value and return the sum; what is absent counts as 0.\n\n"
    "An int is added to int64 and to text that is one in its shortest spelling, exactly; any\n"
    "number to float64; a float to text of a finite number, which becomes the shortest that reads\n"
    "back.\n"
    "ValueError for other text or numbers that are not finite, OverflowError for a sum out of\n"
    "range, TypeError for what is no number; then nothing has changed. O(1), in the compact form\n"
    "O(n) where the length changes.\n\n"
    ">>> h = goblin.Hash({'games': '9'})\n"
    ">>> h.increment('games'), h.increment('points', 0.5), h.to_dict() == {\n"
    "...     'games': '10', 'points': '0.5'}\n"
    "(10, 0.5, True)\n");

PyDoc_STRVAR(
    get_many_doc,
    "get_many($self, keys, *, missing=None)\n--\n\n"
    "Look up keys of shape (n,): a list of str or bytes, or an array of int64 or float64.\n\n"
    "`missing` stands for what is absent; None among numbers for -1 or NaN. TypeError for\n"
    "what is no key. O(n).\n\n"
    ">>> goblin.Hash({'name': 'Ann'}).get_many(['elo', 'name'])\n"
    "[None, 'Ann']\n"
    ">>> goblin.Hash({'elo': 1500}, value='int64').get_many(['elo', 'rd'])\n"
    "array([1500,   -1])\n");

PyDoc_STRVAR(
    scan_doc,
    "scan($self, match=None)\n--\n\n"
    "Iterate over the (key, value) pairs whose key is of a pattern; None: all. O(size).\n\n"
    "The pattern is Redis' glob: `*`, `?`, `[a-z]`, `[^a-z]`, and a backslash before what is "
    "meant\n"
    "as it is. TypeError for one of another kind than the keys.\n\n"
    ">>> h = goblin.Hash({'elo:blitz': '1500', 'elo:bullet': '1400', 'name': 'Ann'})\n"
    ">>> sorted(h.scan('elo:b?ll*'))\n"
    "[('elo:bullet', '1400')]\n");

PyDoc_STRVAR(clear_doc, "clear($self, /)\n--\n\n"
                        "Remove all entries and give their memory back. O(1).\n\n"
                        ">>> h = goblin.Hash({'name': 'Ann'})\n"
                        ">>> h.clear()\n"
                        ">>> len(h)\n"
                        "0\n");

PyDoc_STRVAR(optimize_doc,
             "optimize($self, /)\n--\n\n"
             "Pack everything as small as it goes, in the compact form where that may be. O(n).\n\n"
             ">>> h = goblin.Hash({'name': 'Ann'})\n"
             ">>> h.optimize()\n"
             ">>> h.is_compact\n"
             "True\n");

PyDoc_STRVAR(is_compact_doc,
             "Whether all entries are in one compact block. It grows out of that by itself, and\n"
             "returns by `optimize()` or `clear()`.\n\n"
             ">>> goblin.Hash({'name': 'Ann'}).is_compact\n"
             "True\n");

PyDoc_STRVAR(key_dtype_doc, "Kind of the keys, as text.\n\n"
                            ">>> goblin.Hash().key_dtype\n"
                            "'str'\n");

PyDoc_STRVAR(value_dtype_doc, "Kind of the values, as text.\n\n"
                              ">>> goblin.Hash(value='int64').value_dtype\n"
                              "'int64'\n");

static PyMethodDef methods[] = {
    GOB_FAST("get", gob_hash_get, get_doc),
    GOB_FAST("pop", gob_hash_pop, pop_doc),
    GOB_PLAIN("popitem", gob_hash_popitem, METH_NOARGS, popitem_doc),
    GOB_FAST("setdefault", gob_hash_setdefault, setdefault_doc),
    GOB_FAST("increment", gob_hash_increment, increment_doc),
    GOB_FAST("get_many", gob_hash_get_many, get_many_doc),
    GOB_FAST("scan", gob_hash_scan, scan_doc),
    GOB_PLAIN("clear", gob_hash_clear, METH_NOARGS, clear_doc),
    GOB_PLAIN("optimize", gob_hash_optimize, METH_NOARGS, optimize_doc),
    GOB_PLAIN("__sizeof__", gob_hash_sizeof, METH_NOARGS, NULL),
    GOB_PLAIN("__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, NULL),
    /* For the Python layer */
    GOB_FAST("_atomically", gob_atomically, NULL),
    GOB_PLAIN("_iterate", gob_hash_iterate, METH_O, NULL),
    GOB_PLAIN("_set_many", gob_hash_set_many, METH_VARARGS, NULL),
    GOB_PLAIN("_pop_many", gob_hash_pop_many, METH_O, NULL),
    GOB_PLAIN("_part", gob_hash_part, METH_VARARGS, NULL),
    GOB_PLAIN("_increment_many", gob_hash_increment_many, METH_VARARGS, NULL),
    GOB_PLAIN("_configure", gob_hash_configure, METH_VARARGS, NULL),
    GOB_PLAIN("_assign", gob_hash_assign, METH_O, NULL),
    GOB_PLAIN("_swap", gob_hash_swap, METH_O, NULL),
    GOB_PLAIN("_save", gob_hash_save, METH_O, NULL),
    GOB_PLAIN("_load", gob_hash_load, METH_VARARGS, NULL),
    GOB_PLAIN("_memory", gob_hash_memory, METH_NOARGS, NULL),
    /* For tests */
    GOB_PLAIN("_live_bytes", gob_hash_live_bytes, METH_NOARGS, NULL),
    GOB_PLAIN("_validate", gob_hash_validate, METH_NOARGS, NULL),
    GOB_PLAIN("_fail_at", gob_hash_fail_at, METH_O, NULL),
    GOB_PLAIN("_interrupt_at", gob_hash_interrupt_at, METH_O, NULL),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"is_compact", (getter)hash_is_compact, NULL, is_compact_doc, NULL},
    {"key_dtype", (getter)hash_key_dtype, NULL, key_dtype_doc, NULL},
    {"value_dtype", (getter)hash_value_dtype, NULL, value_dtype_doc, NULL},
    {"_stamp", (getter)hash_stamp, NULL, NULL, NULL},
    {"_encoding", (getter)hash_encoding, NULL, NULL, NULL},
    {"_max_compact", (getter)hash_max_compact, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Key -> value in one compact block or a table: the C half of goblin.Hash."},
    {Py_tp_new, hash_new},
    {Py_tp_dealloc, hash_dealloc},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_iter, gob_hash_iter},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_mp_length, hash_length},
    {Py_mp_subscript, gob_hash_item},
    {Py_mp_ass_subscript, gob_hash_set_item},
    {Py_sq_contains, gob_hash_contains},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "goblin._core.Hash",
    .basicsize = sizeof(gob_hash_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

int gob_add_hash(PyObject *module)
{
    gob_module_state *state = PyModule_GetState(module);
    state->hash_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    /* For max_compact: the size of the block decides. */
    if (PyModule_AddIntConstant(module, "_COMPACT_ALWAYS", (long)GOB_COMPACT_ALWAYS) < 0) {
        return -1;
    }
    return state->hash_type == NULL ? -1 : PyModule_AddType(module, state->hash_type);
}
