/* The type goblin._core.Record: one record of a table, looked up anew at each call. */
#include "py_table_row.h"
#include "py_args.h"
#include "py_status.h"

/* The same: 1, or 0 where the record is gone, or -1 with an exception. */
static int find(const gob_view_object *self, gob_view_call *c, gob_row *row)
{
    int found = gob_find_name(NULL, self->key, (gob_kind)c->kinds.key, &c->key, &c->key_scratch);
    if (found < 0) {
        return -1;
    }
    int result = gob_table_ready_for(self->table, c->kinds);
    if (result == 0) {
        result = found && gob_records_find(&self->table->records, c->key, row);
    }
    if (found && result <= 0) {
        gob_name_release(&c->key_scratch);
    }
    return result;
}

int gob_view_reach(const gob_view_object *self, gob_view_call *c, gob_row *row)
{
    int found = find(self, c, row);
    if (found == 0) {
        gob_raise_key(self->key);
    }
    return found == 1 ? 0 : -1;
}

/* The value of a field, GOB_VALUE_NONE also for what can't be one. 1, or 0 where the record is
 * gone, or -1 with an exception. */
static int peek(const gob_view_object *self, PyObject *field, gob_value *value)
{
    gob_view_call c = {.kinds = self->table->kinds};
    gob_row row;
    int named = gob_find_name(NULL, field, (gob_kind)c.kinds.field, &c.field, &c.scratch);
    if (named < 0) {
        return -1;
    }
    value->kind = GOB_VALUE_NONE;
    int found = find(self, &c, &row);
    if (found == 1) {
        if (named) {
            *value = gob_records_value(&self->table->records, &row, c.field);
        }
        gob_name_release(&c.key_scratch);
    }
    if (named) {
        gob_name_release(&c.scratch);
    }
    return found;
}

/* The same, with KeyError where the record is gone. 0, or -1 with an exception. */
static int look_up(const gob_view_object *self, PyObject *field, gob_value *value)
{
    int found = peek(self, field, value);
    if (found == 0) {
        gob_raise_key(self->key);
    }
    return found == 1 ? 0 : -1;
}

PyObject *gob_view_value(const gob_view_object *self, const gob_value *value)
{
    return gob_value_object((gob_kind)self->table->kinds.value, value);
}

static PyObject *record_item(gob_view_object *self, PyObject *field)
{
    gob_value value;
    if (look_up(self, field, &value) < 0) {
        return NULL;
    }
    return value.kind == GOB_VALUE_NONE ? gob_raise_key(field) : gob_view_value(self, &value);
}

static PyObject *record_get(gob_view_object *self, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames)
{
    static const gob_signature signature = {"get", {"key", "default"}, 2, 1};
    PyObject *given[2];
    gob_value value;
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0 ||
        peek(self, given[0], &value) < 0) {
        return NULL;
    }
    if (value.kind != GOB_VALUE_NONE) {
        return gob_view_value(self, &value);
    }
    return Py_NewRef(given[1] != NULL ? given[1] : Py_None);
}

static int record_contains(gob_view_object *self, PyObject *field)
{
    gob_value value;
    return look_up(self, field, &value) < 0 ? -1 : value.kind != GOB_VALUE_NONE;
}

int gob_table_edit(gob_table_object *self, gob_name key, const gob_cell *cells, size_t n)
{
    if (gob_table_check_own(self) < 0) {
        return -1;
    }
    gob_status status = gob_records_edit(&self->records, key, cells, n);
    return status == GOB_OK ? gob_finish_short(&self->records.alloc) : (gob_raise(status), -1);
}

/* Sets the field of a call, or with GOB_VALUE_NONE removes it. */
static int edit(const gob_view_object *self, gob_view_call *c, const gob_value *value)
{
    gob_row row;
    if (gob_view_reach(self, c, &row) < 0) {
        return -1;
    }
    gob_cell cell = {c->field, *value};
    int result = gob_table_edit(self->table, c->key, &cell, 1);
    gob_name_release(&c->key_scratch);
    return result;
}

static int set(const gob_view_object *self, PyObject *field, PyObject *object)
{
    gob_view_call c = {.kinds = self->table->kinds};
    gob_value_argument value;
    if (gob_name_argument(NULL, field, (gob_kind)c.kinds.field, &c.field, &c.scratch) < 0) {
        return -1;
    }
    int result = gob_take_value((gob_kind)c.kinds.value, object, &value);
    if (result == 0) {
        result = edit(self, &c, &value.value);
        gob_name_release(&value.scratch);
    }
    gob_name_release(&c.scratch);
    return result;
}

static int delete (const gob_view_object *self, PyObject *field)
{
    gob_view_call c = {.kinds = self->table->kinds};
    gob_value none;
    if (look_up(self, field, &none) < 0) {
        return -1;
    }
    if (none.kind == GOB_VALUE_NONE) {
        gob_raise_key(field);
        return -1;
    }
    none.kind = GOB_VALUE_NONE;
    if (gob_name_argument(NULL, field, (gob_kind)c.kinds.field, &c.field, &c.scratch) < 0) {
        return -1;
    }
    int result = edit(self, &c, &none);
    gob_name_release(&c.scratch);
    return result;
}

static int record_set_item(gob_view_object *self, PyObject *field, PyObject *value)
{
    return value != NULL ? set(self, field, value) : delete (self, field);
}

/* The field is named by its new object, as its own name lies in the table. */
static int remove_named(const gob_view_object *self, gob_view_call *c, PyObject *field)
{
    const gob_value none = {.kind = GOB_VALUE_NONE};
    if (gob_name_argument(NULL, field, (gob_kind)c->kinds.field, &c->field, &c->scratch) < 0) {
        return -1;
    }
    int result = edit(self, c, &none);
    gob_name_release(&c->scratch);
    return result;
}

/* Fills an empty pair, which it steals, with the last field of a row, whose value is removed. */
static PyObject *take_last(const gob_view_object *self, gob_view_call *c, const gob_row *row,
                           PyObject *pair)
{
    size_t last = row->shape.count - 1;
    gob_value value = gob_row_value(row, last);
    gob_name name = gob_records_field(&self->table->records, row, last);
    PyObject *field = gob_name_object(NULL, (gob_kind)c->kinds.field, name);
    PyObject *object = gob_view_value(self, &value);
    PyTuple_SET_ITEM(pair, 0, field);
    PyTuple_SET_ITEM(pair, 1, object);
    if (field == NULL || object == NULL || remove_named(self, c, field) < 0) {
        Py_CLEAR(pair);
    }
    return pair;
}

/* The pair is made first, as that may run other code. */
static PyObject *record_popitem(gob_view_object *self, PyObject *unused)
{
    PyObject *pair = PyTuple_New(2);
    gob_view_call c = {.kinds = self->table->kinds};
    gob_row row;
    (void)unused;
    if (pair == NULL || gob_view_reach(self, &c, &row) < 0) {
        Py_XDECREF(pair);
        return NULL;
    }
    gob_name_release(&c.key_scratch);
    if (row.shape.count == 0) {
        Py_DECREF(pair);
        PyErr_SetString(PyExc_KeyError, "the Record is empty");
        return NULL;
    }
    return take_last(self, &c, &row, pair);
}

static Py_ssize_t record_length(gob_view_object *self)
{
    gob_view_call c = {.kinds = self->table->kinds};
    gob_row row;
    if (gob_view_reach(self, &c, &row) < 0) {
        return -1;
    }
    gob_name_release(&c.key_scratch);
    return (Py_ssize_t)row.shape.count;
}

static int record_bool(gob_view_object *self)
{
    gob_view_call c = {.kinds = self->table->kinds};
    gob_row row;
    int found = find(self, &c, &row);
    if (found != 1) {
        return found;
    }
    gob_name_release(&c.key_scratch);
    return row.shape.count != 0;
}

/* All of them are exact str, bytes, int or float, so that no other code runs meanwhile. */
static int fill_dict(const gob_view_object *self, const gob_row *row, PyObject *dict)
{
    gob_kind kind = (gob_kind)self->table->kinds.field;
    gob_part *parts = PyMem_New(gob_part, row->shape.count);
    if (parts == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    gob_row_parts(row, parts);
    int result = 0;
    for (size_t i = 0; result == 0 && i < row->shape.count; i++) {
        gob_value value = gob_decode(parts[i].kind, parts[i].bytes);
        gob_name name = gob_records_field(&self->table->records, row, i);
        PyObject *field = gob_name_object(NULL, kind, name);
        PyObject *object = gob_view_value(self, &value);
        bool made = field != NULL && object != NULL;
        result = made ? PyDict_SetItem(dict, field, object) : -1;
        Py_XDECREF(field);
        Py_XDECREF(object);
    }
    PyMem_Free(parts);
    return result;
}

/* The dict is made first, as that may run other code. */
static PyObject *record_to_dict(gob_view_object *self, PyObject *unused)
{
    (void)unused;
    PyObject *dict = PyDict_New();
    gob_view_call c = {.kinds = self->table->kinds};
    gob_row row;
    if (dict == NULL || gob_view_reach(self, &c, &row) < 0) {
        Py_XDECREF(dict);
        return NULL;
    }
    gob_name_release(&c.key_scratch);
    if (fill_dict(self, &row, dict) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* Construction: Record(table, key), KeyError where there is none */

static PyObject *key_object(const gob_table_object *table, PyObject *key)
{
    gob_name name;
    gob_name_scratch scratch;
    gob_kind kind = (gob_kind)table->kinds.key;
    if (PyUnicode_CheckExact(key) || PyBytes_CheckExact(key)) {
        return Py_NewRef(key);
    }
    if (gob_name_argument(NULL, key, kind, &name, &scratch) < 0) {
        return NULL;
    }
    PyObject *own = gob_name_object(NULL, kind, name);
    gob_name_release(&scratch);
    return own;
}

static PyObject *record_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *table, *key;
    PyObject *module = PyType_GetModuleByDef(type, &gob_module_def);
    const gob_module_state *state = PyModule_GetState(module);
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!O:Record", state->table_type, &table, &key)) {
        return NULL;
    }
    int found = PySequence_Contains(table, key);
    if (found <= 0) {
        return found < 0 ? NULL : gob_raise_key(key);
    }
    PyObject *own = key_object((gob_table_object *)table, key);
    gob_view_object *self = own == NULL ? NULL : (gob_view_object *)type->tp_alloc(type, 0);
    if (self == NULL) {
        Py_XDECREF(own);
        return NULL;
    }
    self->table = (gob_table_object *)Py_NewRef(table);
    self->key = own;
    return (PyObject *)self;
}

static int record_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((gob_view_object *)object)->table);
    return 0;
}

static void record_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_XDECREF(((gob_view_object *)object)->table);
    Py_XDECREF(((gob_view_object *)object)->key);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *record_table(gob_view_object *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->table);
}

static PyObject *record_key(gob_view_object *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->key);
}

PyDoc_STRVAR(get_doc,
             "get($self, key, default=None)\n--\n\n"
             "Return the value of a field, or default where it is absent, can't be one, or the\n"
             "record is gone. O(fields).\n\n"
             ">>> row = goblin.HashTable({'ann': {'elo': '1500'}})['ann']\n"
             ">>> row.get('elo'), row.get('age')\n"
             "('1500', None)\n");

PyDoc_STRVAR(to_dict_doc, "to_dict($self, /)\n--\n\n"
                          "Copy the record into a dict. KeyError where it is gone. O(fields).\n\n"
                          ">>> goblin.HashTable({'ann': {'elo': '1500'}})['ann'].to_dict()\n"
                          "{'elo': '1500'}\n");

PyDoc_STRVAR(pop_doc,
             "pop($self, key, default=<unrepresentable>)\n--\n\n"
             "Remove a field and return its value; default, or else KeyError, where it is absent.\n"
             "O(fields).\n\n"
             ">>> ann = goblin.HashTable({'ann': {'elo': '1500'}})['ann']\n"
             ">>> ann.pop('elo'), ann.pop('elo', None)\n"
             "('1500', None)\n");

PyDoc_STRVAR(
    setdefault_doc,
    "setdefault($self, key, default)\n--\n\n"
    "Return the value of a field, which gets default first where it is absent. O(fields).\n\n"
    ">>> ann = goblin.HashTable({'ann': {'elo': '1500'}})['ann']\n"
    ">>> ann.setdefault('elo', '0'), ann.setdefault('won', '0')\n"
    "('1500', '0')\n");

PyDoc_STRVAR(increment_doc,
             "increment($self, key, by=1)\n--\n\n"
             "Add to the value of a field, as Hash.increment does; the new value. O(fields).\n\n"
             ">>> goblin.HashTable({'ann': {'elo': '1500'}})['ann'].increment('elo', 16)\n"
             "1516\n");

PyDoc_STRVAR(popitem_doc,
             "popitem($self, /)\n--\n\n"
             "Remove any field and return it with its value; KeyError where there is none.\n"
             "O(fields).\n\n"
             ">>> goblin.HashTable({'ann': {'elo': '1500'}})['ann'].popitem()\n"
             "('elo', '1500')\n");

static PyMethodDef methods[] = {
    GOB_FAST("get", record_get, get_doc),
    GOB_FAST("pop", gob_view_pop, pop_doc),
    GOB_FAST("setdefault", gob_view_setdefault, setdefault_doc),
    GOB_FAST("increment", gob_view_increment, increment_doc),
    GOB_PLAIN("_set_many", gob_view_set_many, METH_VARARGS, NULL),
    GOB_PLAIN("popitem", record_popitem, METH_NOARGS, popitem_doc),
    GOB_PLAIN("to_dict", record_to_dict, METH_NOARGS, to_dict_doc),
    GOB_PLAIN("__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, NULL),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"_table", (getter)record_table, NULL, NULL, NULL},
    {"_key", (getter)record_key, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Field -> value of one record: the C half of goblin.Record."},
    {Py_tp_new, record_new},
    {Py_tp_dealloc, record_dealloc},
    {Py_tp_traverse, record_traverse},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_nb_bool, record_bool},
    {Py_mp_length, record_length},
    {Py_mp_subscript, record_item},
    {Py_mp_ass_subscript, record_set_item},
    {Py_sq_contains, record_contains},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "goblin._core.Record",
    .basicsize = sizeof(gob_view_object),
    .flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

int gob_add_record(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    int result = type == NULL ? -1 : PyModule_AddType(module, (PyTypeObject *)type);
    Py_XDECREF(type);
    return result;
}
