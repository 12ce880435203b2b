/* Iterators over members, scores or pairs in rank order, one decoded block at a time. */
#include "py_iteration.h"
#include "py_member.h"

typedef enum kind { MEMBERS, SCORES, ITEMS } kind;

typedef struct iterator {
    gob_iteration base;
    uint64_t rank; /* of the next entry */
    uint64_t left;
    uint32_t epoch; /* of the ids in the window */
    int8_t step;
    uint8_t kind;
    gob_window window;
} iterator;

static PyObject *make_result(const iterator *it, const gob_sortedset *set, size_t at)
{
    gob_entry e = {it->window.keys[at], it->window.members[at]};
    return it->kind == MEMBERS  ? gob_member_object(set, gob_unbias(e.member))
           : it->kind == SCORES ? PyFloat_FromDouble(gob_key_score(e.key))
                                : gob_pair_object(set, e);
}

/* Being re-ordered or repacked is no change of a set. */
static PyObject *next_of(void *self, void *container)
{
    iterator *it = self;
    gob_sortedset *set = container;
    if (gob_iteration_check(it, set, &set->z.stamp) < 0) {
        return NULL;
    }
    if (it->left == 0) {
        gob_iteration_end(it);
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
    return gob_iteration_next(object, next_of);
}

static PyType_Slot slots[] = {
    {Py_tp_doc, "An iterator over a SortedSet in rank order."},
    {Py_tp_dealloc, gob_iteration_dealloc},
    {Py_tp_traverse, gob_iteration_traverse},
    {Py_tp_clear, gob_iteration_clear},
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
    if (chosen < 0) {
        return NULL;
    }
    iterator *it = gob_iteration_new(gob_state_of(self)->iterator_type);
    if (it == NULL || gob_ready(self) < 0) {
        Py_XDECREF(it);
        return NULL;
    }
    uint64_t count = gob_zset_count(&self->z);
    it->rank = reverse ? count - 1 : 0;
    it->left = count;
    it->step = reverse ? -1 : 1;
    it->kind = (uint8_t)chosen;
    it->epoch = gob_epoch_of(self);
    it->window.first_rank = 0;
    it->window.count = 0;
    return gob_iteration_start(it, self, self->z.stamp);
}

int gob_add_iterator(PyObject *module)
{
    gob_module_state *state = PyModule_GetState(module);
    state->iterator_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->iterator_type == NULL ? -1 : 0;
}
