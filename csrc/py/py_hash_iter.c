/* Iterators over keys, values or pairs of a Hash, in no particular order. */
#include "py_args.h"
#include "py_hash.h"

typedef enum kind { KEYS, VALUES, ITEMS } kind;

typedef struct iterator {
    PyObject_HEAD gob_hash_object *hash; /* NULL once exhausted */
    uint64_t stamp;
    size_t at;
    uint8_t kind;
} iterator;

static int check_unchanged(const iterator *it, gob_hash_object *hash)
{
    if (gob_ready(hash) < 0) {
        return -1;
    }
    if (it->stamp != hash->map.stamp) {
        PyErr_SetString(PyExc_RuntimeError, "Hash changed during iteration");
        return -1;
    }
    return 0;
}

/* The pair is there before the hash is looked at, as making it may run finalisers. */
static PyObject *next_of(iterator *it, gob_hash_object *hash)
{
    gob_value field;
    gob_value value;
    PyObject *pair = it->kind == ITEMS ? PyTuple_New(2) : NULL;
    if ((it->kind == ITEMS && pair == NULL) || check_unchanged(it, hash) < 0) {
        Py_XDECREF(pair);
        return NULL;
    }
    if (!gob_hashmap_next(&hash->map, &it->at, &field, &value)) {
        Py_XDECREF(pair);
        Py_CLEAR(it->hash);
        return NULL;
    }
    return pair != NULL       ? gob_hash_pair(hash, pair, &field, &value)
           : it->kind == KEYS ? gob_value_object((gob_kind)hash->key, &field)
                              : gob_value_object((gob_kind)hash->value, &value);
}

static PyObject *iterator_next(PyObject *object)
{
    iterator *it = (iterator *)object;
    if (it->hash == NULL) {
        return NULL;
    }
    /* Another thread may exhaust the iterator while this one waits for the hash. */
    gob_hash_object *hash = (gob_hash_object *)Py_NewRef((PyObject *)it->hash);
    PyObject *result = next_of(it, hash);
    Py_DECREF(hash);
    return result;
}

static int iterator_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((iterator *)object)->hash);
    return 0;
}

static int iterator_clear(PyObject *object)
{
    Py_CLEAR(((iterator *)object)->hash);
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
    {Py_tp_doc, "An iterator over a Hash."},
    {Py_tp_dealloc, iterator_dealloc},
    {Py_tp_traverse, iterator_traverse},
    {Py_tp_clear, iterator_clear},
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
    iterator *it = PyObject_GC_New(iterator, gob_state_of(self)->hash_iterator_type);
    if (it == NULL) {
        return NULL;
    }
    if (gob_ready(self) < 0) {
        it->hash = NULL;
        Py_DECREF(it);
        return NULL;
    }
    it->hash = (gob_hash_object *)Py_NewRef((PyObject *)self);
    it->stamp = self->map.stamp;
    it->at = 0;
    it->kind = (uint8_t)chosen;
    PyObject_GC_Track((PyObject *)it);
    return (PyObject *)it;
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
