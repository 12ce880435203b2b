/* Iterators over the keys of a table, in the order of its arena. */
#include "py_iteration.h"
#include "py_table.h"

typedef struct iterator {
    gob_iteration base;
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

static PyObject *next_of(void *self, void *container)
{
    iterator *it = self;
    gob_table_object *table = container;
    gob_records *r = &table->records;
    gob_value key;
    gob_row row;
    if (gob_iteration_check(it, table, &r->stamp) < 0) {
        return NULL;
    }
    if (it->epoch != r->epoch) {
        find_place(it, r);
    }
    if (!gob_records_next(r, &it->at, &key, &row)) {
        gob_iteration_end(it);
        return NULL;
    }
    it->passed++;
    return gob_value_object((gob_kind)table->kinds.key, &key);
}

static PyObject *iterator_next(PyObject *object)
{
    return gob_iteration_next(object, next_of);
}

static PyType_Slot slots[] = {
    {Py_tp_doc, "An iterator over the keys of a HashTable."},
    {Py_tp_dealloc, gob_iteration_dealloc},
    {Py_tp_traverse, gob_iteration_traverse},
    {Py_tp_clear, gob_iteration_clear},
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
    iterator *it = gob_iteration_new(gob_state_of(self)->table_iterator_type);
    if (it == NULL || gob_ready(self) < 0) {
        Py_XDECREF(it);
        return NULL;
    }
    it->epoch = self->records.epoch;
    return gob_iteration_start(it, self, self->records.stamp);
}

int gob_add_table_iterator(PyObject *module)
{
    gob_module_state *state = PyModule_GetState(module);
    state->table_iterator_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->table_iterator_type == NULL ? -1 : 0;
}
