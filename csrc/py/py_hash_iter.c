/* Iterators over keys, values or pairs of a Hash, in no particular order. */
#include "py_args.h"
#include "py_hash.h"
#include "py_iteration.h"

typedef enum kind { KEYS, VALUES, ITEMS } kind;

typedef struct iterator {
    gob_iteration base;
    size_t at;
    uint8_t kind;
} iterator;

/* The pair is there before the hash is looked at, as making it may run finalisers. */
static PyObject *next_of(void *self, void *container)
{
    iterator *it = self;
    gob_hash_object *hash = container;
    gob_value field;
    gob_value value;
    PyObject *pair = it->kind == ITEMS ? PyTuple_New(2) : NULL;
    if ((it->kind == ITEMS && pair == NULL) ||
        gob_iteration_check(it, hash, &hash->map.stamp) < 0) {
        Py_XDECREF(pair);
        return NULL;
    }
    if (!gob_hashmap_next(&hash->map, &it->at, &field, &value)) {
        Py_XDECREF(pair);
        gob_iteration_end(it);
        return NULL;
    }
    return pair != NULL       ? gob_hash_pair(hash, pair, &field, &value)
           : it->kind == KEYS ? gob_value_object((gob_kind)hash->key, &field)
                              : gob_value_object((gob_kind)hash->value, &value);
}

static PyObject *iterator_next(PyObject *object)
{
    return gob_iteration_next(object, next_of);
}

static PyType_Slot slots[] = {
    {Py_tp_doc, "An iterator over a Hash."},
    {Py_tp_dealloc, gob_iteration_dealloc},
    {Py_tp_traverse, gob_iteration_traverse},
    {Py_tp_clear, gob_iteration_clear},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, iterator_next},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "goblin._core.HashIterator",
    .basicsize = sizeof(iterator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

static PyObject *iterator_new(gob_hash_object *self, kind chosen)
{
    iterator *it = gob_iteration_new(gob_state_of(self)->hash_iterator_type);
    if (it == NULL || gob_ready(self) < 0) {
        Py_XDECREF(it);
        return NULL;
    }
    it->kind = (uint8_t)chosen;
    return gob_iteration_start(it, self, self->map.stamp);
}

PyObject *gob_hash_iter(gob_hash_object *self)
{
    return iterator_new(self, KEYS);
}

/* _iterate(kind) */
PyObject *gob_hash_iterate(gob_hash_object *self, PyObject *word)
{
    static const char *const words[] = {"keys", "values", "items", NULL};
    int chosen = gob_word(word, "kind", words);
    return chosen < 0 ? NULL : iterator_new(self, (kind)chosen);
}

int gob_add_hash_iterator(PyObject *module)
{
    gob_module_state *state = PyModule_GetState(module);
    state->hash_iterator_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->hash_iterator_type == NULL ? -1 : 0;
}
