/* Iterators over members, scores or pairs in rank order, one decoded block at a time. */
#include "py_member.h"

typedef enum kind { MEMBERS, SCORES, ITEMS } kind;

typedef struct iterator {
    PyObject_HEAD gob_sortedset *set; /* NULL once exhausted */
    uint64_t stamp;
    uint64_t rank; /* of the next entry */
    uint64_t left;
    uint32_t epoch; /* of the ids in the window */
    int8_t step;
    uint8_t kind;
    gob_window window;
} iterator;

/* Changes of the set show in its stamp; being re-ordered or repacked is none. */
static int check_unchanged(const iterator *it, gob_sortedset *set)
{
    if (gob_ready(set) < 0) {
        return -1;
    }
    if (it->stamp != set->z.stamp) {
        PyErr_SetString(PyExc_RuntimeError, "SortedSet changed during iteration");
        return -1;
    }
    return 0;
}

static PyObject *make_result(const iterator *it, const gob_sortedset *set, size_t at)
{
    gob_entry e = {it->window.keys[at], it->window.members[at]};
    return it->kind == MEMBERS  ? gob_member_object(set, gob_unbias(e.member))
           : it->kind == SCORES ? PyFloat_FromDouble(gob_key_score(e.key))
                                : gob_pair_object(set, e);
}

static PyObject *next_of(iterator *it, gob_sortedset *set)
{
    if (check_unchanged(it, set) < 0) {
        return NULL;
    }
    if (it->left == 0) {
        Py_CLEAR(it->set);
        return NULL;
    }
    uint64_t at = it->rank - it->window.first_rank;
    if (GOB_UNLIKELY(at >= it->window.count || it->epoch != gob_epoch_of(set))) {
        if (gob_sync(set) < 0) {
            return NULL;
        }
        gob_zset_read(&set->z, it->rank, &it->window);
        it->epoch = gob_epoch_of(set);
        at = it->rank - it->window.first_rank;
    }
    it->rank += (uint64_t)(int64_t)it->step;
    it->left--;
    return make_result(it, set, (size_t)at);
}

static PyObject *iterator_next(PyObject *object)
{
    iterator *it = (iterator *)object;
    if (it->set == NULL) {
        return NULL;
    }
    /* Another thread may exhaust the iterator while this one waits for the set. */
    gob_sortedset *set = (gob_sortedset *)Py_NewRef((PyObject *)it->set);
    PyObject *result = next_of(it, set);
    Py_DECREF(set);
    return result;
}

static int iterator_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((iterator *)object)->set);
    return 0;
}

static int iterator_clear(PyObject *object)
{
    Py_CLEAR(((iterator *)object)->set);
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
    {Py_tp_doc, "An iterator over a SortedSet in rank order."},
    {Py_tp_dealloc, iterator_dealloc},
    {Py_tp_traverse, iterator_traverse},
    {Py_tp_clear, iterator_clear},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, iterator_next},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "goblin._core.SortedSetIterator",
    .basicsize = sizeof(iterator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

PyObject *gob_iterator_new(gob_sortedset *self, PyObject *what, bool reverse)
{
    static const char *const words[] = {"members", "scores", "items", NULL};
    int chosen = what == NULL ? MEMBERS : gob_word(what, "kind", words);
    if (chosen < 0 || gob_ready(self) < 0) {
        return NULL;
    }
    PyObject *module = PyType_GetModuleByDef(Py_TYPE(self), &gob_module_def);
    if (module == NULL) {
        return NULL;
    }
    PyTypeObject *type = ((gob_module_state *)PyModule_GetState(module))->iterator_type;
    iterator *it = PyObject_GC_New(iterator, type);
    if (it == NULL) {
        return NULL;
    }
    uint64_t count = gob_zset_count(&self->z);
    it->set = (gob_sortedset *)Py_NewRef((PyObject *)self);
    it->stamp = self->z.stamp;
    it->rank = reverse ? count - 1 : 0;
    it->left = count;
    it->step = reverse ? -1 : 1;
    it->kind = (uint8_t)chosen;
    it->epoch = gob_epoch_of(self);
    it->window.first_rank = 0;
    it->window.count = 0;
    PyObject_GC_Track((PyObject *)it);
    return (PyObject *)it;
}

int gob_add_iterator(PyObject *module)
{
    gob_module_state *state = PyModule_GetState(module);
    state->iterator_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->iterator_type == NULL ? -1 : 0;
}
