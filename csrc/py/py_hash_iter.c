/* Iterators over keys, values or pairs of a Hash, in no particular order. */
#include "py_args.h"
#include "py_hash.h"
#include "py_iteration.h"

#include "gob_glob.h"

typedef enum kind { KEYS, VALUES, ITEMS } kind;

typedef struct iterator {
    gob_iteration base;
    size_t at;
    PyObject *match; /* bytes of the glob that keys are of, or NULL */
    uint8_t kind;
} iterator;

/* Entries passed over before a look at signals. */
enum { PASSED_MAX = 1 << 14 };

static bool is_wanted(const iterator *it, const gob_hash_object *hash, const gob_value *field)
{
    if (it->match == NULL) {
        return true;
    }
    gob_scratch scratch;
    gob_name glob = {(const uint8_t *)PyBytes_AS_STRING(it->match),
                     (size_t)PyBytes_GET_SIZE(it->match)};
    return gob_glob_matches(glob, gob_value_bytes(field, &scratch), hash->key == GOB_STR);
}

/* The next entry that is wanted: 1, or 0 where there is none, or -1 with an exception. */
static int next_entry(iterator *it, gob_hash_object *hash, gob_value *field, gob_value *value)
{
    do {
        for (size_t passed = 0; passed < PASSED_MAX; passed++) {
            if (!gob_hashmap_next(&hash->map, &it->at, field, value)) {
                return 0;
            }
            if (is_wanted(it, hash, field)) {
                return 1;
            }
        }
    } while (PyErr_CheckSignals() == 0 && gob_iteration_check(it, hash, &hash->map.stamp) == 0);
    return -1;
}

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
    int found = next_entry(it, hash, &field, &value);
    if (found <= 0) {
        Py_XDECREF(pair);
        if (found == 0) {
            gob_iteration_end(it);
        }
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

static void iterator_dealloc(PyObject *object)
{
    Py_CLEAR(((iterator *)object)->match);
    gob_iteration_dealloc(object);
}

static PyType_Slot slots[] = {
    {Py_tp_doc, "An iterator over a Hash."},
    {Py_tp_dealloc, iterator_dealloc},
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

/* Steals match. */
static PyObject *iterator_new(gob_hash_object *self, kind chosen, PyObject *match)
{
    iterator *it = gob_iteration_new(gob_state_of(self)->hash_iterator_type);
    if (it == NULL) {
        Py_XDECREF(match);
        return NULL;
    }
    it->match = match;
    it->kind = (uint8_t)chosen;
    if (gob_ready(self) < 0) {
        Py_DECREF(it);
        return NULL;
    }
    return gob_iteration_start(it, self, self->map.stamp);
}

PyObject *gob_hash_iter(gob_hash_object *self)
{
    return iterator_new(self, KEYS, NULL);
}

/* _iterate(kind) */
PyObject *gob_hash_iterate(gob_hash_object *self, PyObject *word)
{
    static const char *const words[] = {"keys", "values", "items", NULL};
    int chosen = gob_word(word, "kind", words);
    return chosen < 0 ? NULL : iterator_new(self, (kind)chosen, NULL);
}

/* The bytes of a glob of the kind of the keys. */
static PyObject *glob_of(const gob_hash_object *self, PyObject *match)
{
    gob_name name;
    gob_name_scratch scratch;
    if (gob_name_argument(NULL, match, (gob_kind)self->key, &name, &scratch) < 0) {
        return NULL;
    }
    PyObject *glob = gob_name_object(NULL, GOB_BYTES, name);
    gob_name_release(&scratch);
    return glob;
}

PyObject *gob_hash_scan(gob_hash_object *self, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames)
{
    static const gob_signature signature = {"scan", {"match"}, 1, 0};
    PyObject *match;
    if (gob_parse(&signature, args, nargs, kwnames, &match) < 0) {
        return NULL;
    }
    if (match == NULL || match == Py_None) {
        return iterator_new(self, ITEMS, NULL);
    }
    PyObject *glob = glob_of(self, match);
    return glob == NULL ? NULL : iterator_new(self, ITEMS, glob);
}

int gob_add_hash_iterator(PyObject *module)
{
    gob_module_state *state = PyModule_GetState(module);
    state->hash_iterator_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->hash_iterator_type == NULL ? -1 : 0;
}
