/* A table as a whole: kinds, copies, snapshots, memory; and what tests need. */
#include "py_args.h"
#include "py_status.h"
#include "py_table.h"

#include "gob_records_snapshot.h"

static int kind_of(const char *word, const char *parameter, bool numbers, uint8_t *out)
{
    static const gob_kind kinds[] = {GOB_STR, GOB_BYTES, GOB_INTS, GOB_FLOATS};
    for (size_t i = 0; i < (numbers ? 4 : 2); i++) {
        if (strcmp(word, gob_value_word(kinds[i])) == 0) {
            *out = (uint8_t)kinds[i];
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "unknown %s: '%s'; known are str, bytes%s", parameter, word,
                 numbers ? ", int64, float64" : "");
    return -1;
}

/* _configure(key, field, value): makes it an empty table of these kinds */
PyObject *gob_table_configure(gob_table_object *self, PyObject *args)
{
    const char *key, *field, *value;
    gob_table_kinds kinds;
    if (!PyArg_ParseTuple(args, "sss:_configure", &key, &field, &value) ||
        kind_of(key, "key", false, &kinds.key) < 0 ||
        kind_of(field, "field", false, &kinds.field) < 0 ||
        kind_of(value, "value", true, &kinds.value) < 0 || gob_ready(self) < 0 ||
        gob_table_check_own(self) < 0) {
        return NULL;
    }
    gob_records_clear(&self->records);
    self->kinds = kinds;
    Py_RETURN_NONE;
}

PyObject *gob_table_clear(gob_table_object *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready(self) < 0 || gob_table_check_own(self) < 0) {
        return NULL;
    }
    if (gob_records_count(&self->records) != 0) { /* else iterators live on */
        gob_records_clear(&self->records);
    }
    Py_RETURN_NONE;
}

typedef struct pair {
    gob_records *to;
    gob_records *from;
} pair;

static gob_status copy_work(void *context, size_t from, size_t n)
{
    pair *p = context;
    (void)from;
    (void)n;
    return gob_records_copy(p->to, p->from);
}

/* object as another table, or NULL with TypeError. */
static gob_table_object *other_table(const gob_table_object *self, PyObject *object)
{
    if (!PyObject_TypeCheck(object, gob_state_of(self)->table_type)) {
        PyErr_SetString(PyExc_TypeError, "a HashTable is wanted");
        return NULL;
    }
    return (gob_table_object *)object;
}

/* Other records, as one change that iterators notice; the host stays. */
static void replace(gob_table_object *self, const gob_records *records, gob_table_kinds kinds)
{
    uint64_t stamp = self->records.stamp + 1;
    gob_pace *pace = self->records.alloc.pace;
    self->records = *records;
    self->records.alloc.pace = pace;
    self->records.stamp = stamp;
    self->kinds = kinds;
}

/* _assign(other): as that of a SortedSet. */
PyObject *gob_table_assign(gob_table_object *self, PyObject *object)
{
    uint64_t seed;
    gob_records twin;
    gob_table_object *other = other_table(self, object);
    if (other == NULL || gob_seed(&seed) < 0 || gob_ready(other) < 0) {
        return NULL;
    }
    gob_table_kinds kinds = other->kinds;
    gob_records_init(&twin, seed);
    pair p = {&twin, &other->records};
    /* The host, and the failures that tests ask for, are those of the table that is copied. */
    twin.alloc.pace = p.from->alloc.pace;
    gob_alloc_fail_at(&twin.alloc, p.from->alloc.fail_at);
    gob_status status = gob_run_whole(other, copy_work, &p, gob_records_count(p.from));
    gob_alloc_fail_at(&p.from->alloc, twin.alloc.fail_at);
    gob_alloc_fail_at(&twin.alloc, 0);
    if (status != GOB_OK) {
        return gob_raise(status);
    }
    if (gob_ready(self) < 0 || gob_table_check_own(self) < 0) {
        gob_records_clear(&twin);
        return NULL;
    }
    gob_records_clear(&self->records);
    replace(self, &twin, kinds);
    gob_table_expect(self, 0);
    Py_RETURN_NONE;
}

/* _swap(other): exchanges the contents of two tables. */
PyObject *gob_table_swap(gob_table_object *self, PyObject *object)
{
    gob_table_object *other = other_table(self, object);
    if (other == NULL || gob_ready(self) < 0 || gob_ready(other) < 0 ||
        gob_table_check_own(self) < 0 || gob_table_check_own(other) < 0) {
        return NULL;
    }
    gob_records records = self->records;
    gob_table_kinds kinds = self->kinds;
    replace(self, &other->records, other->kinds);
    replace(other, &records, kinds);
    gob_table_expect(self, 0);
    gob_table_expect(other, 0);
    Py_RETURN_NONE;
}

static gob_status optimize_work(void *context, size_t from, size_t n)
{
    (void)from;
    (void)n;
    return gob_records_optimize(context);
}

PyObject *gob_table_optimize(gob_table_object *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready(self) < 0 || gob_table_check_own(self) < 0) {
        return NULL;
    }
    size_t count = gob_records_count(&self->records);
    int result = gob_run_change(self, &self->records.alloc, optimize_work, &self->records, count);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

static gob_status save_records(void *object, gob_sink *sink, void *to)
{
    gob_table_object *self = object;
    gob_records_kinds kinds = {
        .key = gob_datum_of((gob_kind)self->kinds.key),
        .field = gob_datum_of((gob_kind)self->kinds.field),
        .value = gob_datum_of((gob_kind)self->kinds.value),
    };
    return gob_records_save(&self->records, kinds, sink, to);
}

PyObject *gob_table_save(gob_table_object *self, PyObject *write)
{
    return gob_snapshot_save(self, write, save_records);
}

static gob_status load_records(void *object, const gob_reader *reader, uint64_t seed, bool mapped,
                               const char **why)
{
    gob_table_object *self = object;
    gob_records records;
    gob_records_kinds kinds;
    GOB_TRY(gob_records_load(&records, &kinds, reader, seed, mapped, why));
    gob_table_kinds own = {
        .key = (uint8_t)gob_kind_of_datum(kinds.key),
        .field = (uint8_t)gob_kind_of_datum(kinds.field),
        .value = (uint8_t)gob_kind_of_datum(kinds.value),
    };
    gob_records_clear(&self->records);
    self->records = records;
    self->kinds = own;
    gob_table_expect(self, 0);
    return GOB_OK;
}

PyObject *gob_table_load(gob_table_object *self, PyObject *args)
{
    return gob_table_check_own(self) < 0
               ? NULL
               : gob_snapshot_load(self, &self->records.alloc, args, load_records);
}

/* The list is made first, as that may run other code; str and bytes are no containers. */
PyObject *gob_table_fields(gob_table_object *self, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    int result = list == NULL || gob_ready(self) < 0 ? -1 : 0;
    const gob_intern *names = &self->records.shapes.names;
    (void)unused;
    for (uint32_t i = 0; result == 0 && i < names->count; i++) {
        if (names->items[i].uses != 0) {
            PyObject *field =
                gob_name_object(NULL, (gob_kind)self->kinds.field, gob_intern_at(names, i));
            result = field == NULL ? -1 : PyList_Append(list, field);
            Py_XDECREF(field);
        }
    }
    if (result < 0) {
        Py_CLEAR(list);
    }
    return list;
}

/* _memory() -> (shapes, table, arena) in bytes */
PyObject *gob_table_memory(gob_table_object *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready(self) < 0) {
        return NULL;
    }
    gob_records_memory m = gob_records_bytes(&self->records);
    return Py_BuildValue("(nnn)", (Py_ssize_t)m.shapes, (Py_ssize_t)m.table, (Py_ssize_t)m.arena);
}

PyObject *gob_table_live_bytes(gob_table_object *self, PyObject *unused)
{
    (void)unused;
    return gob_ready(self) < 0 ? NULL : PyLong_FromSize_t(self->records.alloc.live);
}

PyObject *gob_table_sizeof(gob_table_object *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready(self) < 0) {
        return NULL;
    }
    return PyLong_FromSize_t((size_t)Py_TYPE((PyObject *)self)->tp_basicsize +
                             self->records.alloc.live);
}

/* _validate(): AssertionError with the invariant that is broken */
PyObject *gob_table_validate_all(gob_table_object *self, PyObject *unused)
{
    const char *why = NULL;
    (void)unused;
    if (gob_ready(self) < 0) {
        return NULL;
    }
    if (!gob_records_validate(&self->records, &why)) {
        PyErr_SetString(PyExc_AssertionError, why);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* _fail_at(n) -> what was left of the last n
 *
 * The n-th allocation from now fails, once; 0 for none. */
PyObject *gob_table_fail_at(gob_table_object *self, PyObject *n)
{
    unsigned long long at = PyLong_AsUnsignedLongLong(n);
    if ((at == (unsigned long long)-1 && PyErr_Occurred()) || gob_ready(self) < 0) {
        return NULL;
    }
    uint64_t left = self->records.alloc.fail_at;
    gob_alloc_fail_at(&self->records.alloc, at);
    return PyLong_FromUnsignedLongLong(left);
}

PyObject *gob_table_interrupt_at(gob_table_object *self, PyObject *n)
{
    return gob_host_interrupt_at(self, &self->records.alloc, n);
}
