/* Arithmetic on values: typed numbers, and texts by Redis' rules. */
#include <math.h>

#include "py_args.h"
#include "py_hash.h"
#include "py_status.h"

#include "gob_text.h"

/* GOB_MALFORMED where there is no integer to add to, GOB_RANGE where the sum does not fit. */
static gob_status add_integers(const gob_value *old, int64_t by, gob_sum *out)
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
static gob_status add_finite(double old, double by, gob_sum *out)
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

static gob_status add_to_text(const gob_value *old, double by, gob_sum *out)
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

/* The sum of integers as a text, where no other kind stands for it. */
static gob_status add_in_text(const gob_value *old, int64_t by, gob_sum *out)
{
    gob_scratch scratch;
    GOB_TRY(add_integers(old, by, out));
    gob_name text = gob_value_bytes(&out->number, &scratch);
    memcpy(out->text, text.at, text.len);
    out->stored = gob_value_text((gob_name){(const uint8_t *)out->text, text.len});
    return GOB_OK;
}

static gob_status add(const gob_addition *a, gob_sum *out)
{
    if (a->kind == GOB_FLOATS) {
        return add_finite(a->old.kind == GOB_VALUE_NONE ? 0.0 : a->old.real, a->by.real, out);
    }
    if (a->by.kind != GOB_VALUE_INT) {
        return add_to_text(&a->old, a->by.real, out);
    }
    return (a->verbatim ? add_in_text : add_integers)(&a->old, a->by.integer, out);
}

static PyObject *refuse_value(const gob_addition *a)
{
    PyObject *field = gob_name_object(NULL, a->key, a->name);
    PyObject *value = field == NULL ? NULL : gob_value_object(a->kind, &a->old);
    if (value != NULL) {
        PyErr_Format(PyExc_ValueError, "the value of %R, %R, is no %s", field, value,
                     a->by.kind == GOB_VALUE_INT ? "integer of 64 bits in its shortest spelling"
                                                 : "finite number");
    }
    Py_XDECREF(field);
    Py_XDECREF(value);
    return NULL;
}

static PyObject *raise(const gob_addition *a, gob_status status)
{
    bool integers = a->by.kind == GOB_VALUE_INT;
    if (status == GOB_MALFORMED && !integers && !isfinite(a->by.real)) {
        PyErr_SetString(PyExc_ValueError, "the step is no finite number");
        return NULL;
    }
    if (status == GOB_MALFORMED) {
        return refuse_value(a);
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

int gob_take_addition(gob_kind kind, PyObject *object, gob_value *by)
{
    *by = kind == GOB_FLOATS ? gob_value_float(1.0) : gob_value_int(1);
    return (object != NULL && gob_take_step(kind, object, by) < 0) || check_step(kind, by) < 0 ? -1
                                                                                               : 0;
}

PyObject *gob_add(const gob_addition *a, gob_sum *sum)
{
    gob_status status = add(a, sum);
    if (status != GOB_OK) {
        return raise(a, status);
    }
    return gob_value_object(sum->number.kind == GOB_VALUE_INT ? GOB_INTS : GOB_FLOATS,
                            &sum->number);
}

/* The result is made before anything changes, as that may fail, too. */
static PyObject *increment(gob_hash_object *self, gob_addition *a)
{
    gob_sum sum;
    bool created;
    a->verbatim = a->kind != GOB_INTS && !self->map.encoding;
    (void)gob_hashmap_get(&self->map, a->name, &a->old);
    PyObject *result = gob_add(a, &sum);
    if (result == NULL) {
        return NULL;
    }
    gob_hash_expect(self, 1);
    gob_status status = gob_hashmap_set(&self->map, a->name, &sum.stored, &created);
    if (status != GOB_OK || gob_finish_short(&self->map.alloc) < 0) {
        Py_DECREF(result);
        return status == GOB_OK ? NULL : gob_raise(status);
    }
    return result;
}

PyObject *gob_hash_increment(gob_hash_object *self, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames)
{
    static const gob_signature signature = {"increment", {"key", "by"}, 2, 1};
    PyObject *given[2];
    gob_name_scratch scratch;
    gob_addition a = {.key = (gob_kind)self->key, .kind = (gob_kind)self->value};
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0 ||
        gob_name_argument(NULL, given[0], a.key, &a.name, &scratch) < 0) {
        return NULL;
    }
    PyObject *result = NULL;
    if (gob_take_addition(a.kind, given[1], &a.by) == 0 &&
        gob_hash_ready_for(self, a.key, a.kind) == 0 && gob_hash_check_own(self) == 0) {
        result = increment(self, &a);
    }
    gob_name_release(&scratch);
    return result;
}

/* Many increments: the new values are collected beside the hash, and set at the end. */
typedef struct call {
    gob_staging staging;
    const gob_names *names;
    gob_value_rows by;
    gob_addition now; /* the last one */
} call;

/* One increment of what is collected, or else of what the hash has. */
static gob_status collect(call *c, size_t i, const gob_value *own)
{
    gob_addition *a = &c->now;
    gob_sum sum;
    bool created;
    a->name = gob_names_at(c->names, i);
    a->by = c->by.at[i];
    if (!gob_hashmap_get(&c->staging.map, a->name, &a->old)) {
        a->old = *own;
    }
    GOB_TRY(add(a, &sum));
    return gob_hashmap_set(&c->staging.map, a->name, &sum.stored, &created);
}

static gob_status step(void *context, size_t from, size_t n)
{
    call *c = context;
    const gob_hashmap *own = &c->staging.self->map;
    gob_value values[GOB_BATCH];
    c->now.verbatim = c->now.kind != GOB_INTS && !own->encoding;
    for (size_t end = from + n, batch; from < end; from += batch) {
        batch = end - from < GOB_BATCH ? end - from : GOB_BATCH;
        gob_hashmap_get_many(own, c->names, from, batch, values);
        gob_hashmap_warm(&c->staging.map, c->names, from, batch);
        for (size_t i = 0; i < batch; i++) {
            GOB_TRY(collect(c, from + i, &values[i]));
        }
        GOB_TRY(gob_spend(own->alloc.pace, batch));
    }
    return GOB_OK;
}

/* Texts need the GIL, so their stretches are short enough to keep it. */
static int carry_out(call *c, gob_hash_object *self, size_t count)
{
    bool text = self->value == GOB_STR || self->value == GOB_BYTES;
    gob_status status;
    gob_hash_expect(self, count);
    gob_staging_begin(&c->staging, self);
    int result = gob_try_in(self, step, c, count, text ? GOB_DETACH_MIN - 1 : GOB_STRETCH, &status);
    if (result < 0 || status != GOB_OK) {
        if (result == 0) {
            raise(&c->now, status); /* while the value that it names lies there */
        }
        gob_staging_drop(&c->staging);
        return -1;
    }
    return gob_staging_commit(&c->staging);
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
    call c = {.now = {.key = key, .kind = kind}};
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
