/* One field at a time: the calls that loops are made of. */
#include "py_args.h"
#include "py_hash.h"
#include "py_status.h"

int gob_hash_ready_for(gob_hash_object *self, gob_kind key, gob_kind value)
{
    if (gob_ready(self) < 0) {
        return -1;
    }
    if (GOB_UNLIKELY(self->key != key || self->value != value)) {
        PyErr_SetString(PyExc_RuntimeError, "the Hash got other kinds meanwhile");
        return -1;
    }
    return 0;
}

/* A key that is looked for, and its value, which is good until the hash changes. */
typedef struct lookup {
    gob_name name;
    gob_name_scratch scratch;
    gob_value value; /* GOB_VALUE_NONE also for what can't be a key */
} lookup;

/* gob_find_name, with a short cut for what nearly all keys are. */
GOB_INLINE int find_key(PyObject *key, gob_kind kind, lookup *l)
{
    if (GOB_LIKELY(kind == GOB_STR && PyUnicode_CheckExact(key) && PyUnicode_IS_ASCII(key))) {
        l->scratch.object = NULL;
        l->name = (gob_name){PyUnicode_1BYTE_DATA(key), (size_t)PyUnicode_GET_LENGTH(key)};
        return 1;
    }
    return gob_find_name(NULL, key, kind, &l->name, &l->scratch);
}

/* 0, or -1 with an exception; only then there is nothing to release. */
static int look_up(gob_hash_object *self, PyObject *key, lookup *l)
{
    gob_kind kind = (gob_kind)self->key;
    gob_kind value = (gob_kind)self->value;
    int found = find_key(key, kind, l);
    l->value.kind = GOB_VALUE_NONE;
    if (found < 0) {
        return -1;
    }
    if (gob_hash_ready_for(self, kind, value) < 0) {
        gob_name_release(&l->scratch);
        return -1;
    }
    if (found) {
        (void)gob_hashmap_get(&self->map, l->name, &l->value);
    }
    return 0;
}

int gob_hash_contains(gob_hash_object *self, PyObject *key)
{
    lookup l;
    if (look_up(self, key, &l) < 0) {
        return -1;
    }
    gob_name_release(&l.scratch);
    return l.value.kind != GOB_VALUE_NONE;
}

/* The value of a key; a new reference to `missing` where there is none, or NULL without an
 * exception. */
static PyObject *value_or(gob_hash_object *self, PyObject *key, PyObject *missing)
{
    lookup l;
    if (look_up(self, key, &l) < 0) {
        return NULL;
    }
    PyObject *value = l.value.kind == GOB_VALUE_NONE
                          ? Py_XNewRef(missing)
                          : gob_value_object((gob_kind)self->value, &l.value);
    gob_name_release(&l.scratch);
    return value;
}

PyObject *gob_hash_item(gob_hash_object *self, PyObject *key)
{
    PyObject *value = value_or(self, key, NULL);
    return value != NULL || PyErr_Occurred() ? value : gob_raise_key(key);
}

PyObject *gob_hash_get(gob_hash_object *self, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    static const gob_signature signature = {"get", {"key", "default"}, 2, 1};
    PyObject *given[2] = {NULL, NULL};
    if (GOB_LIKELY(nargs == 1 && kwnames == NULL)) {
        given[0] = args[0];
    } else if (gob_parse(&signature, args, nargs, kwnames, given) < 0) {
        return NULL;
    }
    return value_or(self, given[0], given[1] != NULL ? given[1] : Py_None);
}

/* A key that is there. 0, or -1 as of gob_finish_short. */
static int remove_name(gob_hash_object *self, gob_name name)
{
    (void)gob_hashmap_remove(&self->map, name);
    return gob_finish_short(&self->map.alloc);
}

/* Removes a key and gives its value; NULL without an exception where it is absent. */
static PyObject *take_out(gob_hash_object *self, PyObject *key)
{
    lookup l;
    if (look_up(self, key, &l) < 0) {
        return NULL;
    }
    PyObject *value = NULL;
    if (l.value.kind != GOB_VALUE_NONE && gob_hash_check_own(self) == 0) {
        value = gob_value_object((gob_kind)self->value, &l.value);
    }
    if (value != NULL && remove_name(self, l.name) < 0) {
        Py_CLEAR(value);
    }
    gob_name_release(&l.scratch);
    return value;
}

PyObject *gob_hash_pop(gob_hash_object *self, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    static const gob_signature signature = {"pop", {"key", "default"}, 2, 1};
    PyObject *given[2];
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0) {
        return NULL;
    }
    PyObject *value = take_out(self, given[0]);
    if (value != NULL || PyErr_Occurred()) {
        return value;
    }
    return given[1] != NULL ? Py_NewRef(given[1]) : gob_raise_key(given[0]);
}

/* A key and a value to write. */
typedef struct entry {
    gob_name name;
    gob_name_scratch scratch;
    gob_value_argument arg;
} entry;

/* Converts both for a hash that is ready then. 0, or -1 with an exception and nothing to release.
 */
static int take_entry(gob_hash_object *self, PyObject *key, PyObject *value, entry *e)
{
    gob_kind key_kind = (gob_kind)self->key;
    gob_kind value_kind = (gob_kind)self->value;
    if (gob_name_argument(NULL, key, key_kind, &e->name, &e->scratch) < 0) {
        return -1;
    }
    if (gob_take_value(value_kind, value, &e->arg) < 0) {
        gob_name_release(&e->scratch);
        return -1;
    }
    if (gob_hash_ready_for(self, key_kind, value_kind) < 0 || gob_hash_check_own(self) < 0) {
        gob_name_release(&e->arg.scratch);
        gob_name_release(&e->scratch);
        return -1;
    }
    return 0;
}

static void release_entry(entry *e)
{
    gob_name_release(&e->arg.scratch);
    gob_name_release(&e->scratch);
}

static int write_entry(gob_hash_object *self, const entry *e)
{
    bool created;
    gob_hash_expect(self, 1);
    gob_status status = gob_hashmap_set(&self->map, e->name, &e->arg.value, &created);
    return status == GOB_OK ? gob_finish_short(&self->map.alloc) : (gob_raise(status), -1);
}

static int delete_item(gob_hash_object *self, PyObject *key)
{
    lookup l;
    if (look_up(self, key, &l) < 0) {
        return -1;
    }
    if (gob_hash_check_own(self) < 0 || l.value.kind == GOB_VALUE_NONE) {
        gob_name_release(&l.scratch);
        if (!PyErr_Occurred()) {
            gob_raise_key(key);
        }
        return -1;
    }
    int result = remove_name(self, l.name);
    gob_name_release(&l.scratch);
    return result;
}

int gob_hash_set_item(gob_hash_object *self, PyObject *key, PyObject *value)
{
    entry e;
    if (value == NULL) {
        return delete_item(self, key);
    }
    if (take_entry(self, key, value, &e) < 0) {
        return -1;
    }
    int result = write_entry(self, &e);
    release_entry(&e);
    return result;
}

/* The result is made before anything changes, as that may fail, too. */
PyObject *gob_hash_setdefault(gob_hash_object *self, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames)
{
    static const gob_signature signature = {"setdefault", {"key", "default"}, 2, 2};
    PyObject *given[2];
    entry e;
    gob_value old;
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0 ||
        take_entry(self, given[0], given[1], &e) < 0) {
        return NULL;
    }
    bool there = gob_hashmap_get(&self->map, e.name, &old);
    PyObject *value = gob_value_object((gob_kind)self->value, there ? &old : &e.arg.value);
    if (value != NULL && !there && write_entry(self, &e) < 0) {
        Py_CLEAR(value);
    }
    release_entry(&e);
    return value;
}

/* The name is that of the new key, as the stored one lies in the hash. */
static int remove_key(gob_hash_object *self, PyObject *key)
{
    gob_name name;
    gob_name_scratch scratch;
    if (gob_name_argument(NULL, key, (gob_kind)self->key, &name, &scratch) < 0) {
        return -1;
    }
    int result = remove_name(self, name);
    gob_name_release(&scratch);
    return result;
}

PyObject *gob_hash_popitem(gob_hash_object *self, PyObject *unused)
{
    gob_value field;
    gob_value value;
    PyObject *pair = PyTuple_New(2); /* may run finalisers, so before the rest */
    (void)unused;
    if (pair == NULL || gob_ready(self) < 0 || gob_hash_check_own(self) < 0) {
        Py_XDECREF(pair);
        return NULL;
    }
    if (!gob_hashmap_any(&self->map, &field, &value)) {
        Py_DECREF(pair);
        PyErr_SetString(PyExc_KeyError, "the Hash is empty");
        return NULL;
    }
    pair = gob_hash_pair(self, pair, &field, &value);
    if (pair != NULL && remove_key(self, PyTuple_GET_ITEM(pair, 0)) < 0) {
        Py_CLEAR(pair);
    }
    return pair;
}
