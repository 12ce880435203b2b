/* Iterators over the keys of a table, in the order of its arena. */
#include "py_table.h"

typedef struct iterator {
    PyObject_HEAD gob_table_object *table; /* NULL once exhausted */
    uint64_t stamp;
    uint32_t epoch;
    size_t at;
    size_t passed; /* records */
} iterator;

/* After rows were moved, which leaves their order. */
static void find_place(iterator *it, const gob_records *r)
{
    gob_value key;
    gob_row row;
    it->at = 0;
    it->epoch = r->epoch;
    for (size_t i = 0; i < it->passed; i++) {
        (void)gob_records_next(r, &it->at, &key, &row);
    }
}

static PyObject *next_of(iterator *it, gob_table_object *table)
{
    gob_records *r = &table->records;
    gob_value key;
    gob_row row;
    if (gob_ready(table) < 0) {
        return NULL;
    }
    if (it->stamp != r->stamp) {
        PyErr_SetString(PyExc_RuntimeError, "HashTable changed during iteration");
        return NULL;
    }
    if (it->epoch != r->epoch) {
        find_place(it, r);
    }
    if (!gob_records_next(r, &it->at, &key, &row)) {
        Py_CLEAR(it->table);
        return NULL;
    }
    it->passed++;
    return gob_value_object((gob_kind)table->kinds.key, &key);
}

static PyObject *iterator_next(PyObject *object)
{
    iterator *it = (iterator *)object;
    if (it->table == NULL) {
        return NULL;
    }
    /* Another thread may exhaust the iterator while this one waits for the table. */
    gob_table_object *table = (gob_table_object *)Py_NewRef((PyObject *)it->table);
    PyObject *result = next_of(it, table);
    Py_DECREF(table);
    return result;
}

static int iterator_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((iterator *)object)->table);
    return 0;
}

static int iterator_clear(PyObject *object)
{
    Py_CLEAR(((iterator *)object)->table);
    return 0;
}

static void iterator_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    (void)iterator_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyType_Slot slots[] = {
    {Py_tp_doc, "An iterator over the keys of a HashTable."},
    {Py_tp_dealloc, iterator_dealloc},
    {Py_tp_traverse, iterator_traverse},
    {Py_tp_clear, iterator_clear},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, iterator_next},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "goblin._core.HashTableIterator",
    .basicsize = sizeof(iterator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

PyObject *gob_table_iter(gob_table_object *self)
{
    if (gob_ready(self) < 0) {
        return NULL;
    }
    iterator *it = PyObject_GC_New(iterator, gob_state_of(self)->table_iterator_type);
    if (it == NULL) {
        return NULL;
    }
    it->table = (gob_table_object *)Py_NewRef((PyObject *)self);
    it->stamp = self->records.stamp;
    it->epoch = self->records.epoch;
    it->at = 0;
    it->passed = 0;
    PyObject_GC_Track((PyObject *)it);
    return (PyObject *)it;
}

int gob_add_table_iterator(PyObject *module)
{
    gob_module_state *state = PyModule_GetState(module);
    state->table_iterator_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->table_iterator_type == NULL ? -1 : 0;
}
