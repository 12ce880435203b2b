/* Many fields at once. Writes are all or nothing. */
#include "py_numpy.h"

#include "py_args.h"
#include "py_hash.h"
#include "py_status.h"

#include "gob_config.h"

/* What a hash has when a call begins. */
typedef struct kinds {
    gob_kind key;
    gob_kind value;
} kinds;

/* Reads: texts as a list */

static PyObject *text_or_missing(gob_kind kind, const gob_value *value, PyObject *missing)
{
    if (GOB_LIKELY(value->kind == GOB_VALUE_TEXT)) {
        return gob_name_object(NULL, kind, value->text);
    }
    return value->kind == GOB_VALUE_NONE ? Py_NewRef(missing) : gob_value_object(kind, value);
}

/* The new objects are no containers: making them runs no other code. */
static int fill_list(const gob_hash_object *self, const gob_names *names, size_t from, size_t n,
                     PyObject *list, PyObject *missing)
{
    gob_value values[GOB_BATCH];
    gob_hashmap_get_many(&self->map, names, from, n, values);
    for (size_t i = 0; i < n; i++) {
        PyObject *value = text_or_missing((gob_kind)self->value, &values[i], missing);
        if (value == NULL) {
            return -1;
        }
        PyList_SET_ITEM(list, (Py_ssize_t)(from + i), value);
    }
    return 0;
}

/* A new list of the values of a hash that is ready. */
static PyObject *list_values(gob_hash_object *self, const gob_names *names, PyObject *list,
                             PyObject *missing)
{
    size_t count = (size_t)PyList_GET_SIZE(list);
    gob_host_for(self, &self->map.alloc, count);
    gob_use before = gob_start(self, GOB_RUNNING);
    int result = 0;
    for (size_t from = 0; from < count && result == 0; from += GOB_BATCH) {
        size_t n = count - from < GOB_BATCH ? count - from : GOB_BATCH;
        gob_status status = gob_spend(self->map.alloc.pace, n);
        result = status == GOB_OK ? fill_list(self, names, from, n, list, missing) : -1;
    }
    gob_finish(self, before);
    if (result < 0) {
        Py_CLEAR(list);
    }
    return list;
}

static PyObject *texts(gob_hash_object *self, kinds k, PyObject *names, PyObject *missing)
{
    size_t count;
    const gob_names *column = gob_names_get(names, k.key, &count);
    PyObject *list = column == NULL ? NULL : PyList_New((Py_ssize_t)count);
    if (list == NULL || gob_hash_ready_for(self, k.key, k.value) < 0) {
        Py_XDECREF(list);
        return NULL;
    }
    return list_values(self, column, list, missing);
}

/* Reads: numbers into an array */

typedef struct reading {
    const gob_hash_object *self;
    const gob_names *names;
    gob_value missing;
    uint8_t *out; /* of int64 or double */
} reading;

static gob_status read_stretch(void *context, size_t from, size_t count)
{
    reading *r = context;
    gob_value values[GOB_BATCH];
    for (size_t end = from + count, n; from < end; from += n) {
        n = end - from < GOB_BATCH ? end - from : GOB_BATCH;
        gob_hashmap_get_many(&r->self->map, r->names, from, n, values);
        for (size_t i = 0; i < n; i++) {
            const gob_value *v = values[i].kind == GOB_VALUE_NONE ? &r->missing : &values[i];
            memcpy(r->out + (from + i) * sizeof v->integer, &v->integer, sizeof v->integer);
        }
        GOB_TRY(gob_spend(r->self->map.alloc.pace, n));
    }
    return GOB_OK;
}

/* What is absent reads as: a number of the kind, NaN too; None: -1 or NaN. */
static int take_missing(gob_kind kind, PyObject *object, gob_value *missing)
{
    if (object == Py_None) {
        *missing = kind == GOB_INTS ? gob_value_int(-1) : gob_value_float(Py_NAN);
        return 0;
    }
    if (kind == GOB_INTS) {
        return gob_take_number(kind, object, missing);
    }
    *missing = gob_value_float(PyFloat_AsDouble(object));
    return missing->real == -1.0 && PyErr_Occurred() ? -1 : 0;
}

/* A new array of int64 or float64. */
static PyObject *numbers(gob_hash_object *self, kinds k, PyObject *names, PyObject *missing)
{
    size_t count;
    reading r = {.self = self, .names = gob_names_get(names, k.key, &count)};
    if (take_missing(k.value, missing, &r.missing) < 0) {
        return NULL;
    }
    npy_intp shape = (npy_intp)count;
    PyObject *array = PyArray_SimpleNew(1, &shape, k.value == GOB_INTS ? NPY_INT64 : NPY_FLOAT64);
    if (array == NULL) {
        return NULL;
    }
    r.out = (uint8_t *)PyArray_BYTES((PyArrayObject *)array);
    if (gob_hash_ready_for(self, k.key, k.value) < 0 ||
        gob_run(self, read_stretch, &r, count) < 0) {
        Py_CLEAR(array);
    }
    return array;
}

PyObject *gob_hash_get_many(gob_hash_object *self, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames)
{
    static const gob_signature signature = {"get_many", {"keys", "missing"}, 1, 1};
    kinds k = {(gob_kind)self->key, (gob_kind)self->value};
    PyObject *given[2];
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0) {
        return NULL;
    }
    PyObject *missing = given[1] != NULL ? given[1] : Py_None;
    PyObject *names = gob_names_of(gob_state_of(self), k.key, given[0]);
    if (names == NULL) {
        return NULL;
    }
    bool text = k.value == GOB_STR || k.value == GOB_BYTES;
    PyObject *result = text ? texts(self, k, names, missing) : numbers(self, k, names, missing);
    Py_DECREF(names);
    return result;
}

/* Writes */

typedef struct call {
    gob_hash_object *self;
    gob_staging staging;
    const gob_names *names;
    gob_value_rows values;
    size_t created;
    gob_only only;
} call;

static gob_status set_all(void *context, size_t from, size_t n)
{
    call *c = context;
    return gob_hashmap_set_many(&c->self->map, c->names, c->values.at, from, n, &c->created);
}

void gob_staging_begin(gob_staging *s, gob_hash_object *self)
{
    s->self = self;
    gob_hashmap_init(&s->map, self->map.encoding, self->map.max_compact, self->map.seed);
    s->map.alloc.pace = self->map.alloc.pace;
    gob_alloc_fail_at(&s->map.alloc, self->map.alloc.fail_at);
}

void gob_staging_return(gob_staging *s)
{
    gob_alloc_fail_at(&s->self->map.alloc, s->map.alloc.fail_at);
    gob_alloc_fail_at(&s->map.alloc, 0);
    s->map.alloc.pace = NULL;
}

void gob_staging_drop(gob_staging *s)
{
    gob_staging_return(s);
    gob_hashmap_clear(&s->map);
}

static gob_status set_staged(void *context, size_t from, size_t n)
{
    gob_staging *s = context;
    (void)from;
    (void)n;
    if (gob_hashmap_count(&s->self->map) == 0) {
        s->created = gob_hashmap_count(&s->map);
        gob_hashmap_take(&s->self->map, &s->map);
        return GOB_OK;
    }
    return gob_hashmap_update(&s->self->map, &s->map, &s->created);
}

int gob_staging_commit(gob_staging *s)
{
    size_t count = gob_hashmap_count(&s->map);
    gob_staging_return(s);
    int result = gob_run_change(s->self, &s->self->map.alloc, set_staged, s, count);
    gob_hashmap_clear(&s->map);
    return result;
}

/* Collects the rows that are to be written. */
static gob_status choose(void *context, size_t from, size_t n)
{
    call *c = context;
    for (size_t i = from; i < from + n; i++) {
        gob_name name = gob_names_at(c->names, i);
        gob_value old;
        bool is_new;
        bool there = gob_hashmap_get(&c->self->map, name, &old) ||
                     (c->only == GOB_ONLY_NEW && gob_hashmap_get(&c->staging.map, name, &old));
        if (there == (c->only == GOB_ONLY_EXISTING)) {
            GOB_TRY(gob_hashmap_set(&c->staging.map, name, &c->values.at[i], &is_new));
        }
        GOB_TRY(gob_spend(c->self->map.alloc.pace, 1));
    }
    return GOB_OK;
}

static int set_chosen(call *c, size_t count)
{
    gob_staging_begin(&c->staging, c->self);
    if (gob_run(c->self, choose, c, count) < 0) {
        gob_staging_drop(&c->staging);
        return -1;
    }
    int result = gob_staging_commit(&c->staging);
    c->created = c->staging.created;
    return result;
}

static int set_rows(call *c, size_t count)
{
    gob_hash_expect(c->self, count);
    return c->only == GOB_ANY ? gob_run_change(c->self, &c->self->map.alloc, set_all, c, count)
                              : set_chosen(c, count);
}

int gob_check_values(size_t keys, size_t values)
{
    if (keys != values) {
        PyErr_Format(PyExc_ValueError, "%zu keys, but %zu values", keys, values);
        return -1;
    }
    return 0;
}

/* The keys are kept. */
static PyObject *set_many(gob_hash_object *self, PyObject *names, PyObject *values, gob_only chosen)
{
    size_t count;
    gob_kind key = (gob_kind)self->key;
    gob_kind kind = (gob_kind)self->value;
    call c = {.self = self, .only = chosen};
    c.names = gob_names_get(names, key, &count);
    if (c.names == NULL || gob_take_values(kind, values, &c.values) < 0) {
        return NULL;
    }
    int result = gob_check_values(count, c.values.count) < 0 ||
                         gob_hash_ready_for(self, key, kind) < 0 || gob_hash_check_own(self) < 0
                     ? -1
                     : set_rows(&c, count);
    gob_rows_release(&c.values);
    return result < 0 ? NULL : PyLong_FromSize_t(c.created);
}

int gob_parse_set_many(PyObject *args, PyObject **names, PyObject **values, gob_only *only)
{
    static const char *const words[] = {"any", "new", "existing", NULL};
    PyObject *word;
    if (!PyArg_ParseTuple(args, "OOO:_set_many", names, values, &word)) {
        return -1;
    }
    int chosen = gob_word(word, "only", words);
    *only = (gob_only)chosen;
    return chosen < 0 ? -1 : 0;
}

/* _set_many(names, values, only) -> how many keys are new. values: Names for texts, else a tuple or
 * an array of the kind. */
PyObject *gob_hash_set_many(gob_hash_object *self, PyObject *args)
{
    PyObject *names, *values;
    gob_only only;
    if (gob_parse_set_many(args, &names, &values, &only) < 0) {
        return NULL;
    }
    PyObject *kept = gob_names_keep(names, (gob_kind)self->key);
    PyObject *result = kept == NULL ? NULL : set_many(self, kept, values, only);
    Py_XDECREF(kept);
    return result;
}

/* Removes the keys whose values are in the list; one that comes again finds nothing left. Others
 * are let in, but what they raise comes too late. */
static int remove_all(gob_hash_object *self, const gob_names *names, PyObject *list)
{
    gob_alloc *a = &self->map.alloc;
    size_t count = (size_t)PyList_GET_SIZE(list);
    bool there[GOB_BATCH];
    gob_use before = gob_start(self, GOB_RUNNING);
    for (size_t from = 0, n; from < count; from += n) {
        n = count - from < GOB_BATCH ? count - from : GOB_BATCH;
        gob_hashmap_erase_many(&self->map, names, from, n, there);
        for (size_t i = 0; i < n; i++) {
            if (!there[i]) {
                (void)PyList_SetItem(list, (Py_ssize_t)(from + i), Py_NewRef(Py_None));
            }
        }
        (void)gob_spend(a->pace, n);
    }
    gob_hashmap_settle(&self->map);
    gob_finish(self, before);
    return gob_finish_short(a);
}

/* _pop_many(names) -> list of the values, None where absent. All are read first. */
PyObject *gob_hash_pop_many(gob_hash_object *self, PyObject *names)
{
    kinds k = {(gob_kind)self->key, (gob_kind)self->value};
    PyObject *list = texts(self, k, names, Py_None);
    if (list == NULL || gob_hash_check_own(self) < 0) {
        Py_XDECREF(list);
        return NULL;
    }
    size_t count;
    const gob_names *column = gob_names_get(names, k.key, &count);
    if (remove_all(self, column, list) < 0) {
        Py_CLEAR(list);
    }
    return list;
}
