/* The hash as a whole: kinds, copies, snapshots, memory, and what tests look at. */
#include "py_args.h"
#include "py_hash.h"
#include "py_status.h"

#include "gob_hashmap_snapshot.h"

/* Another content and other options, as one change that iterators notice; the host stays. */
static void replace(gob_hash_object *self, const gob_hashmap *map, uint8_t key, uint8_t value)
{
    uint64_t stamp = self->map.stamp + 1;
    gob_pace *pace = self->map.alloc.pace;
    self->map = *map;
    self->map.alloc.pace = pace;
    self->map.stamp = stamp;
    self->key = key;
    self->value = value;
}

/* _configure(key, value, max_compact, encoding): empties the hash first. max_compact: None or a
 * number of fields. */
PyObject *gob_hash_configure(gob_hash_object *self, PyObject *args)
{
    static const char *const words[] = {"str", "bytes", "int64", "float64", NULL};
    static const char *const key_words[] = {"str", "bytes", NULL};
    static const gob_kind kinds[] = {GOB_STR, GOB_BYTES, GOB_INTS, GOB_FLOATS};
    PyObject *key_word, *value_word;
    unsigned max_compact;
    int encoding;
    uint64_t seed;
    if (!PyArg_ParseTuple(args, "OOIp:_configure", &key_word, &value_word, &max_compact,
                          &encoding)) {
        return NULL;
    }
    int key = gob_word(key_word, "key", key_words);
    int value = key < 0 ? -1 : gob_word(value_word, "value", words);
    if (value < 0 || gob_seed(&seed) < 0 || gob_ready(self) < 0 || gob_hash_check_own(self) < 0) {
        return NULL;
    }
    gob_hashmap fresh;
    gob_hashmap_init(&fresh, encoding != 0, max_compact, seed);
    gob_hashmap_clear(&self->map);
    replace(self, &fresh, (uint8_t)kinds[key], (uint8_t)kinds[value]);
    Py_RETURN_NONE;
}

PyObject *gob_hash_clear(gob_hash_object *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready(self) < 0 || gob_hash_check_own(self) < 0) {
        return NULL;
    }
    gob_hashmap_clear(&self->map);
    Py_RETURN_NONE;
}

/* object as another hash, or NULL with TypeError. */
static gob_hash_object *other_hash(const gob_hash_object *self, PyObject *object)
{
    if (!PyObject_TypeCheck(object, gob_state_of(self)->hash_type)) {
        PyErr_SetString(PyExc_TypeError, "a Hash is wanted");
        return NULL;
    }
    return (gob_hash_object *)object;
}

static gob_status copy_work(void *context, size_t from, size_t n)
{
    gob_staging *s = context;
    (void)from;
    (void)n;
    return gob_hashmap_copy(&s->map, &s->self->map);
}

/* _assign(other): as that of a SortedSet. */
PyObject *gob_hash_assign(gob_hash_object *self, PyObject *object)
{
    gob_hash_object *other = other_hash(self, object);
    if (other == NULL || gob_ready(other) < 0) {
        return NULL;
    }
    uint8_t key = other->key;
    uint8_t value = other->value;
    gob_staging twin;
    gob_staging_begin(&twin, other);
    gob_status status = gob_run_whole(other, copy_work, &twin, gob_hashmap_count(&other->map));
    gob_staging_return(&twin);
    if (status != GOB_OK) {
        return gob_raise(status);
    }
    if (gob_ready(self) < 0 || gob_hash_check_own(self) < 0) {
        gob_hashmap_clear(&twin.map);
        return NULL;
    }
    gob_hashmap_clear(&self->map);
    replace(self, &twin.map, key, value);
    gob_hash_expect(self, 0);
    Py_RETURN_NONE;
}

/* _swap(other): exchanges the contents of two hashes. */
PyObject *gob_hash_swap(gob_hash_object *self, PyObject *object)
{
    gob_hash_object *other = other_hash(self, object);
    if (other == NULL || gob_ready(self) < 0 || gob_ready(other) < 0 ||
        gob_hash_check_own(self) < 0 || gob_hash_check_own(other) < 0) {
        return NULL;
    }
    gob_hashmap map = self->map;
    uint8_t key = self->key;
    uint8_t value = self->value;
    replace(self, &other->map, other->key, other->value);
    replace(other, &map, key, value);
    gob_hash_expect(self, 0);
    gob_hash_expect(other, 0);
    Py_RETURN_NONE;
}

static gob_status optimize_work(void *context, size_t from, size_t n)
{
    (void)from;
    (void)n;
    return gob_hashmap_optimize(context);
}

PyObject *gob_hash_optimize(gob_hash_object *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready(self) < 0 || gob_hash_check_own(self) < 0) {
        return NULL;
    }
    size_t count = gob_hashmap_count(&self->map);
    int result = gob_run_change(self, &self->map.alloc, optimize_work, &self->map, count);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

static gob_status save_map(void *object, gob_sink *sink, void *to)
{
    gob_hash_object *self = object;
    gob_hashmap_kinds kinds = {gob_datum_of((gob_kind)self->key),
                               gob_datum_of((gob_kind)self->value)};
    return gob_hashmap_save(&self->map, kinds, sink, to);
}

PyObject *gob_hash_save(gob_hash_object *self, PyObject *write)
{
    return gob_snapshot_save(self, write, save_map);
}

static gob_status load_map(void *object, const gob_reader *r, uint64_t seed, bool mapped,
                           const char **why)
{
    gob_hash_object *self = object;
    gob_hashmap map;
    gob_hashmap_kinds kinds;
    GOB_TRY(gob_hashmap_load(&map, &kinds, r, seed, mapped, why));
    gob_hashmap_clear(&self->map);
    self->map = map;
    self->key = (uint8_t)gob_kind_of_datum(kinds.key);
    self->value = (uint8_t)gob_kind_of_datum(kinds.value);
    gob_hash_expect(self, 0);
    return GOB_OK;
}

PyObject *gob_hash_load(gob_hash_object *self, PyObject *args)
{
    return gob_hash_check_own(self) < 0 ? NULL
                                        : gob_snapshot_load(self, &self->map.alloc, args, load_map);
}

/* _memory() -> (blob, table, arena) in bytes */
PyObject *gob_hash_memory(gob_hash_object *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready(self) < 0) {
        return NULL;
    }
    gob_hashmap_memory m = gob_hashmap_bytes(&self->map);
    return Py_BuildValue("(nnn)", (Py_ssize_t)m.blob, (Py_ssize_t)m.table, (Py_ssize_t)m.arena);
}

PyObject *gob_hash_live_bytes(gob_hash_object *self, PyObject *unused)
{
    (void)unused;
    return gob_ready(self) < 0 ? NULL : PyLong_FromSize_t(self->map.alloc.live);
}

PyObject *gob_hash_sizeof(gob_hash_object *self, PyObject *unused)
{
    (void)unused;
    if (gob_ready(self) < 0) {
        return NULL;
    }
    size_t object = (size_t)Py_TYPE((PyObject *)self)->tp_basicsize;
    return PyLong_FromSize_t(object + self->map.alloc.live);
}

/* _validate(): AssertionError with the invariant that is broken */
PyObject *gob_hash_validate(gob_hash_object *self, PyObject *unused)
{
    const char *why = NULL;
    (void)unused;
    if (gob_ready(self) < 0) {
        return NULL;
    }
    if (!gob_hashmap_validate(&self->map, &why)) {
        PyErr_SetString(PyExc_AssertionError, why);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* _fail_at(n) -> what was left of the last n
 *
 * The n-th allocation from now fails, once; 0 for none. */
PyObject *gob_hash_fail_at(gob_hash_object *self, PyObject *n)
{
    unsigned long long at = PyLong_AsUnsignedLongLong(n);
    if ((at == (unsigned long long)-1 && PyErr_Occurred()) || gob_ready(self) < 0) {
        return NULL;
    }
    uint64_t left = self->map.alloc.fail_at;
    gob_alloc_fail_at(&self->map.alloc, at);
    return PyLong_FromUnsignedLongLong(left);
}

PyObject *gob_hash_interrupt_at(gob_hash_object *self, PyObject *n)
{
    return gob_host_interrupt_at(self, &self->map.alloc, n);
}
