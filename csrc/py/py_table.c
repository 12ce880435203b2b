/* The type goblin._core.HashTable: construction, slots and the table of its methods. */
#include "py_table.h"

#include "py_args.h"
#include "py_status.h"

static PyObject *table_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    uint64_t seed;
    (void)args; /* for __init__ of the Python class */
    (void)kwargs;
    if (gob_seed(&seed) < 0) {
        return NULL;
    }
    PyObject *object = type->tp_alloc(type, 0);
    if (object != NULL) {
        gob_table_object *self = (gob_table_object *)object;
        self->kinds = (gob_table_kinds){GOB_STR, GOB_STR, GOB_STR};
        gob_records_init(&self->records, seed);
    }
    return object;
}

static void table_dealloc(PyObject *object)
{
    gob_table_object *self = (gob_table_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->records.rows.mapped) {
        gob_snapshot_unmap(self);
    }
    if (gob_is_intact(self)) {
        gob_records_clear(&self->records);
        gob_host_free(&self->records.alloc);
    }
    type->tp_free(object);
    Py_DECREF(type);
}

int gob_table_ready_for(gob_table_object *self, gob_table_kinds kinds)
{
    if (gob_ready(self) < 0) {
        return -1;
    }
    if (GOB_UNLIKELY(memcmp(&self->kinds, &kinds, sizeof kinds) != 0)) {
        PyErr_SetString(PyExc_RuntimeError, "the HashTable got other kinds meanwhile");
        return -1;
    }
    return 0;
}

static Py_ssize_t table_length(gob_table_object *self)
{
    return gob_ready(self) < 0 ? -1 : (Py_ssize_t)gob_records_count(&self->records);
}

static int table_contains(gob_table_object *self, PyObject *key)
{
    gob_table_kinds kinds = self->kinds;
    gob_name name;
    gob_name_scratch scratch;
    gob_row row;
    int found = gob_find_name(NULL, key, (gob_kind)kinds.key, &name, &scratch);
    if (found <= 0) {
        return found;
    }
    int result = gob_table_ready_for(self, kinds);
    if (result == 0) {
        result = gob_records_find(&self->records, name, &row);
    }
    gob_name_release(&scratch);
    return result;
}

/* _remove(key): whether the record was there. */
static PyObject *table_remove(gob_table_object *self, PyObject *key)
{
    gob_table_kinds kinds = self->kinds;
    gob_name name;
    gob_name_scratch scratch;
    int found = gob_find_name(NULL, key, (gob_kind)kinds.key, &name, &scratch);
    if (found < 0) {
        return NULL;
    }
    if (found == 0) {
        Py_RETURN_FALSE;
    }
    PyObject *result = NULL;
    if (gob_table_ready_for(self, kinds) == 0 && gob_table_check_own(self) == 0) {
        bool removed = gob_records_remove(&self->records, name);
        result = gob_finish_short(&self->records.alloc) < 0 ? NULL : PyBool_FromLong(removed);
    }
    gob_name_release(&scratch);
    return result;
}

/* _any() -> the key of any one record, or KeyError */
static PyObject *table_any(gob_table_object *self, PyObject *unused)
{
    gob_value key;
    (void)unused;
    if (gob_ready(self) < 0) {
        return NULL;
    }
    if (!gob_records_any(&self->records, &key)) {
        PyErr_SetString(PyExc_KeyError, "the HashTable is empty");
        return NULL;
    }
    return gob_value_object((gob_kind)self->kinds.key, &key);
}

static PyObject *table_key_dtype(gob_table_object *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(gob_value_word((gob_kind)self->kinds.key));
}

static PyObject *table_field_dtype(gob_table_object *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(gob_value_word((gob_kind)self->kinds.field));
}

static PyObject *table_value_dtype(gob_table_object *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(gob_value_word((gob_kind)self->kinds.value));
}

static PyObject *table_stamp(gob_table_object *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(self->records.stamp);
}

static PyObject *table_epoch(gob_table_object *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(self->records.epoch);
}

PyDoc_STRVAR(clear_doc, "clear($self, /)\n--\n\n"
                        "Remove all records and give their memory back. O(n).\n\n"
                        ">>> t = goblin.HashTable({'ann': {'elo': '1500'}})\n"
                        ">>> t.clear()\n"
                        ">>> len(t)\n"
                        "0\n");

PyDoc_STRVAR(increment_doc,
             "increment($self, key, field, by=1)\n--\n\n"
             "Add to the value of a field in the record of a key; both are made where absent. The\n"
             "new value; errors as of Record.increment. O(fields).\n\n"
             ">>> table = goblin.HashTable(value='int64')\n"
             ">>> table.increment('ann', 'won'), table.increment('ann', 'won', 2)\n"
             "(1, 3)\n");

PyDoc_STRVAR(fields_doc,
             "fields($self, /)\n--\n\n"
             "List the fields that some record has, in no particular order. O(fields).\n\n"
             ">>> goblin.HashTable({'ann': {'elo': '1500'}, 'bob': {}}).fields()\n"
             "['elo']\n");

PyDoc_STRVAR(
    optimize_doc,
    "optimize($self, /)\n--\n\n"
    "Pack everything as small as it goes; iterators live on. MemoryError leaves all as it was.\n"
    "O(n).\n\n"
    ">>> t = goblin.HashTable({'ann': {'elo': '1500'}})\n"
    ">>> t.optimize()\n");

static PyMethodDef methods[] = {
    GOB_PLAIN("clear", gob_table_clear, METH_NOARGS, clear_doc),
    GOB_FAST("increment", gob_table_increment, increment_doc),
    GOB_PLAIN("fields", gob_table_fields, METH_NOARGS, fields_doc),
    GOB_PLAIN("optimize", gob_table_optimize, METH_NOARGS, optimize_doc),
    GOB_PLAIN("__sizeof__", gob_table_sizeof, METH_NOARGS, NULL),
    GOB_PLAIN("__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, NULL),
    /* For the Python layer */
    GOB_FAST("_atomically", gob_atomically, NULL),
    GOB_PLAIN("_any", table_any, METH_NOARGS, NULL),
    GOB_PLAIN("_remove", table_remove, METH_O, NULL),
    GOB_PLAIN("_update", gob_table_update, METH_VARARGS, NULL),
    GOB_PLAIN("_take_rows", gob_table_take_rows, METH_VARARGS, NULL),
    GOB_PLAIN("_save", gob_table_save, METH_O, NULL),
    GOB_PLAIN("_load", gob_table_load, METH_VARARGS, NULL),
    GOB_PLAIN("_column", gob_table_column, METH_VARARGS, NULL),
    GOB_PLAIN("_part", gob_table_part, METH_VARARGS, NULL),
    GOB_PLAIN("_configure", gob_table_configure, METH_VARARGS, NULL),
    GOB_PLAIN("_assign", gob_table_assign, METH_O, NULL),
    GOB_PLAIN("_swap", gob_table_swap, METH_O, NULL),
    GOB_PLAIN("_memory", gob_table_memory, METH_NOARGS, NULL),
    /* For tests */
    GOB_PLAIN("_live_bytes", gob_table_live_bytes, METH_NOARGS, NULL),
    GOB_PLAIN("_validate", gob_table_validate_all, METH_NOARGS, NULL),
    GOB_PLAIN("_fail_at", gob_table_fail_at, METH_O, NULL),
    GOB_PLAIN("_interrupt_at", gob_table_interrupt_at, METH_O, NULL),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"key_dtype", (getter)table_key_dtype, NULL, "Kind of the records' keys, as text.", NULL},
    {"field_dtype", (getter)table_field_dtype, NULL, "Kind of the fields, as text.", NULL},
    {"value_dtype", (getter)table_value_dtype, NULL, "Kind of the values, as text.", NULL},
    {"_stamp", (getter)table_stamp, NULL, NULL, NULL},
    {"_epoch", (getter)table_epoch, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Key -> record of fields and values: the C half of goblin.HashTable."},
    {Py_tp_new, table_new},
    {Py_tp_dealloc, table_dealloc},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_iter, gob_table_iter},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_mp_length, table_length},
    {Py_sq_contains, table_contains},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "goblin._core.HashTable",
    .basicsize = sizeof(gob_table_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

int gob_add_table(PyObject *module)
{
    gob_module_state *state = PyModule_GetState(module);
    state->table_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->table_type == NULL ? -1 : PyModule_AddType(module, state->table_type);
}
