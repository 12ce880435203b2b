/* Arithmetic on values: typed numbers, and texts by Redis' rules. */
#include <math.h>

#include "py_args.h"
#include "py_hash.h"
#include "py_status.h"

#include "gob_text.h"

enum { NUMBER_ROOM = 32 }; /* the shortest text of a double is at most 24 bytes */

/* What an increment makes of a value. */
typedef struct sum {
    gob_value number; /* the result */
    gob_value stored; /* may lie in text */
    char text[NUMBER_ROOM];
} sum;

/* GOB_MALFORMED where there is no integer to add to, GOB_RANGE where the sum does not fit. */
static gob_status add_integers(const gob_value *old, int64_t by, sum *out)
{
    int64_t integer = 0;
    if (old->kind == GOB_VALUE_INT) {
        integer = old->integer;
    } else if (old->kind == GOB_VALUE_TEXT) {
        if (!gob_parse_int64((const char *)old->text.at, old->text.len, &integer)) {
            return GOB_MALFORMED;
        }
    } else if (old->kind != GOB_VALUE_NONE) {
        return GOB_MALFORMED;
    }
    if (__builtin_add_overflow(integer, by, &integer)) {
        return GOB_RANGE;
    }
    out->number = out->stored = gob_value_int(integer);
    return GOB_OK;
}

/* GOB_MALFORMED where a number is infinite, GOB_RANGE where the sum is. */
static gob_status add_finite(double old, double by, sum *out)
{
    if (!isfinite(old) || !isfinite(by)) {
        return GOB_MALFORMED;
    }
    double result = old + by + 0.0;
    if (!isfinite(result)) {
        return GOB_RANGE;
    }
    out->number = out->stored = gob_value_float(result);
    return GOB_OK;
}

static gob_status add_to_text(const gob_value *old, double by, sum *out)
{
    gob_scratch scratch;
    double number = 0.0;
    if (old->kind != GOB_VALUE_NONE) {
        gob_name text = gob_value_bytes(old, &scratch);
        if (!gob_parse_score((const char *)text.at, text.len, &number)) {
            return GOB_MALFORMED;
        }
    }
    GOB_TRY(add_finite(number, by, out));
    char *text = PyOS_double_to_string(out->number.real, 'r', 0, 0, NULL);
    if (text == NULL) {
        PyErr_Clear();
        return GOB_NOMEM;
    }
    size_t length = strlen(text);
    memcpy(out->text, text, length);
    PyMem_Free(text);
    out->stored = gob_value_text((gob_name){(const uint8_t *)out->text, length});
    return GOB_OK;
}

/* old: of a hash with values of a kind, or GOB_VALUE_NONE, which counts as 0. */
static gob_status add(gob_kind kind, const gob_value *old, const gob_value *by, sum *out)
{
    if (kind == GOB_FLOATS) {
        return add_finite(old->kind == GOB_VALUE_NONE ? 0.0 : old->real, by->real, out);
    }
    if (by->kind != GOB_VALUE_INT) {
        return add_to_text(old, by->real, out);
    }
    GOB_TRY(add_integers(old, by->integer, out));
    if (kind != GOB_INTS) { /* a text, which encoding alone may store as a number */
        gob_scratch scratch;
        gob_name text = gob_value_bytes(&out->number, &scratch);
        memcpy(out->text, text.at, text.len);
        out->stored = gob_value_text((gob_name){(const uint8_t *)out->text, text.len});
    }
    return GOB_OK;
}

static PyObject *raise(gob_status status, const gob_value *by)
{
    bool integers = by->kind == GOB_VALUE_INT;
    if (status == GOB_MALFORMED) {
        PyErr_SetString(PyExc_ValueError,
                        integers ? "the value is no integer of 64 bits in its shortest spelling"
                                 : "the value or the step is no finite number");
        return NULL;
    }
    if (status == GOB_RANGE) {
        PyErr_SetString(PyExc_OverflowError, integers ? "the sum does not fit int64"
                                                      : "the sum is beyond the range of float64");
        return NULL;
    }
    return gob_raise(status);
}

/* Only integers are added to integers. */
static int check_step(gob_kind kind, const gob_value *by)
{
    if (kind == GOB_INTS && by->kind != GOB_VALUE_INT) {
        PyErr_SetString(PyExc_TypeError, "integers are incremented by integers");
        return -1;
    }
    return 0;
}

/* The result is made before anything changes, as that may fail, too. */
static PyObject *increment(gob_hash_object *self, gob_name name, const gob_value *by)
{
    gob_value old;
    sum s;
    bool created;
    (void)gob_hashmap_get(&self->map, name, &old);
    gob_status status = add((gob_kind)self->value, &old, by, &s);
    if (status != GOB_OK) {
        return raise(status, by);
    }
    PyObject *result =
        gob_value_object(s.number.kind == GOB_VALUE_INT ? GOB_INTS : GOB_FLOATS, &s.number);
    if (result == NULL) {
        return NULL;
    }
    status = gob_hashmap_set(&self->map, name, &s.stored, &created);
    if (status != GOB_OK) {
        Py_DECREF(result);
        return gob_raise(status);
    }
    return result;
}

PyObject *gob_hash_increment(gob_hash_object *self, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames)
{
    static const gob_signature signature = {"increment", {"key", "by"}, 2, 1};
    PyObject *given[2];
    gob_kind key = (gob_kind)self->key;
    gob_kind kind = (gob_kind)self->value;
    gob_name name;
    gob_name_scratch scratch;
    gob_value by = kind == GOB_FLOATS ? gob_value_float(1.0) : gob_value_int(1);
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0 ||
        gob_name_argument(NULL, given[0], key, &name, &scratch) < 0) {
        return NULL;
    }
    PyObject *result = NULL;
    if ((given[1] == NULL || gob_take_step(kind, given[1], &by) == 0) &&
        check_step(kind, &by) == 0 && gob_hash_ready_for(self, key, kind) == 0 &&
        gob_hash_check_own(self) == 0) {
        result = increment(self, name, &by);
    }
    gob_name_release(&scratch);
    return result;
}

/* Many increments: the new values are collected beside the hash, and set at the end. */
typedef struct call {
    gob_staging staging;
    const gob_names *names;
    gob_value_rows by;
    size_t failed; /* the row that did */
} call;

static gob_status step(void *context, size_t from, size_t n)
{
    call *c = context;
    const gob_hash_object *self = c->staging.self;
    for (size_t i = from; i < from + n; i++) {
        gob_name name = gob_names_at(c->names, i);
        gob_value old;
        sum s;
        bool created;
        c->failed = i;
        if (!gob_hashmap_get(&c->staging.map, name, &old)) {
            (void)gob_hashmap_get(&self->map, name, &old);
        }
        GOB_TRY(add((gob_kind)self->value, &old, &c->by.at[i], &s));
        GOB_TRY(gob_hashmap_set(&c->staging.map, name, &s.stored, &created));
    }
    return GOB_OK;
}

/* Texts need the GIL, so their stretches are short enough to keep it. */
static int carry_out(call *c, gob_hash_object *self, size_t count)
{
    bool text = self->value == GOB_STR || self->value == GOB_BYTES;
    gob_status status;
    gob_staging_begin(&c->staging, self);
    int result = gob_try_in(self, step, c, count, text ? GOB_DETACH_MIN - 1 : GOB_STRETCH, &status);
    if (result < 0 || status != GOB_OK) {
        gob_staging_drop(&c->staging);
    } else {
        status = gob_staging_commit(&c->staging);
    }
    if (result == 0 && status != GOB_OK) {
        raise(status, &c->by.at[c->failed]);
        result = -1;
    }
    return result;
}

static int check_rows(gob_kind kind, const gob_value_rows *by, size_t count)
{
    if (by->count != count) {
        PyErr_Format(PyExc_ValueError, "%zu keys, but %zu increments", count, by->count);
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (check_step(kind, &by->at[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The keys are kept. */
static PyObject *increment_many(gob_hash_object *self, PyObject *names, PyObject *by)
{
    size_t count;
    gob_kind key = (gob_kind)self->key;
    gob_kind kind = (gob_kind)self->value;
    call c = {.failed = 0};
    c.names = gob_names_get(names, key, &count);
    if (c.names == NULL || gob_take_steps(kind, by, count, &c.by) < 0) {
        return NULL;
    }
    int result = check_rows(kind, &c.by, count) < 0 || gob_hash_ready_for(self, key, kind) < 0 ||
                         gob_hash_check_own(self) < 0
                     ? -1
                     : carry_out(&c, self, count);
    gob_rows_release(&c.by);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

/* _increment_many(names, by): by is as of gob_take_steps. */
PyObject *gob_hash_increment_many(gob_hash_object *self, PyObject *args)
{
    PyObject *names, *by;
    if (!PyArg_ParseTuple(args, "OO:_increment_many", &names, &by)) {
        return NULL;
    }
    PyObject *kept = gob_names_keep(names, (gob_kind)self->key);
    PyObject *result = kept == NULL ? NULL : increment_many(self, kept, by);
    Py_XDECREF(kept);
    return result;
}
