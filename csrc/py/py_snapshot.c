#include "py_snapshot.h"

#include "py_host.h"
#include "py_status.h"

#include "gob_fields_snapshot.h"

enum { CHUNK = 1 << 20 };

/* Writing */

typedef struct output {
    PyObject *write;
    PyObject *chunk; /* bytes that are being filled, and that nobody else has */
    size_t used;
    PyThreadState *thread; /* while the GIL is let go */
} output;

/* With the GIL: hands over what is there; false with an exception. */
static bool hand_over(output *o)
{
    if (o->used != CHUNK && _PyBytes_Resize(&o->chunk, (Py_ssize_t)o->used) < 0) {
        return false;
    }
    PyObject *result = PyObject_CallOneArg(o->write, o->chunk);
    Py_XDECREF(result);
    if (result == NULL || PyErr_CheckSignals() < 0) {
        return false;
    }
    o->used = 0;
    if (Py_REFCNT(o->chunk) != 1) { /* it was kept */
        Py_SETREF(o->chunk, PyBytes_FromStringAndSize(NULL, CHUNK));
    }
    return o->chunk != NULL;
}

static bool take(void *to, const void *bytes, size_t n)
{
    output *o = to;
    const uint8_t *from = bytes;
    while (n != 0) {
        size_t room = CHUNK - o->used;
        size_t part = n < room ? n : room;
        memcpy(PyBytes_AS_STRING(o->chunk) + o->used, from, part);
        o->used += part;
        from += part;
        n -= part;
        if (o->used == CHUNK) {
            PyEval_RestoreThread(o->thread);
            bool good = hand_over(o);
            o->thread = PyEval_SaveThread();
            if (!good) {
                return false;
            }
        }
    }
    return true;
}

PyObject *gob_snapshot_save(void *object, PyObject *write, gob_saver *saver)
{
    output o = {.write = write, .chunk = PyBytes_FromStringAndSize(NULL, CHUNK)};
    if (o.chunk == NULL || gob_ready(object) < 0) {
        Py_XDECREF(o.chunk);
        return NULL;
    }
    gob_use before = gob_start(object, GOB_RUNNING);
    o.thread = PyEval_SaveThread();
    gob_status status = saver(object, take, &o);
    PyEval_RestoreThread(o.thread);
    bool good = status == GOB_OK && hand_over(&o);
    gob_finish(object, before);
    Py_XDECREF(o.chunk);
    if (status != GOB_OK && status != GOB_STOPPED) {
        return gob_raise(status);
    }
    return good && !PyErr_Occurred() ? Py_NewRef(Py_None) : NULL;
}

/* Reading */

static PyObject *raise_damage(void *object, const char *why)
{
    const char *name = strrchr(Py_TYPE((PyObject *)object)->tp_name, '.');
    PyObject *type = gob_errors_get("SnapshotError");
    if (type != NULL) {
        PyErr_Format(type, "no %s can be read from this: %s",
                     name == NULL ? Py_TYPE((PyObject *)object)->tp_name : name + 1, why);
        Py_DECREF(type);
    }
    return NULL;
}

/* What is to be loaded, and how. */
typedef struct source {
    gob_span file;
    Py_ssize_t checked_max; /* as of gob_reader */
    int mapped;
} source;

static gob_status load_from(void *object, const source *from, gob_pace *pace, uint64_t seed,
                            gob_loader *loader, const char **why)
{
    gob_reader r;
    gob_status status = gob_reader_open(&r, from->file, why);
    if (status != GOB_OK) {
        return status;
    }
    r.pace = pace;
    r.checked_max = (size_t)from->checked_max;
    Py_BEGIN_ALLOW_THREADS status = loader(object, &r, seed, from->mapped != 0, why);
    Py_END_ALLOW_THREADS return status;
}

/* The buffer, or a copy of it where somebody may write it while it is read, or where it does not
 * begin at a multiple of eight bytes, as structures in it do. */
static PyObject *settled(PyObject *buffer)
{
    Py_buffer view;
    if (PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    bool good = view.readonly && (uintptr_t)view.buf % 8 == 0;
    PyBuffer_Release(&view);
    return good ? PyMemoryView_FromObject(buffer) : PyBytes_FromObject(buffer);
}

/* One mapped object. A list in the module's state spares each object a pointer, and letting go of
 * a buffer an allocation. */
struct gob_mapping {
    const void *object;
    PyObject *buffer;
    struct gob_mapping *next;
};

static struct gob_mapping **mappings_of(const void *object)
{
    return &((gob_module_state *)(uintptr_t)gob_state_of(object))->mapped;
}

static int keep(const void *object, PyObject *buffer)
{
    struct gob_mapping **list = mappings_of(object);
    struct gob_mapping *m = PyMem_Malloc(sizeof *m);
    if (m == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *m = (struct gob_mapping){object, Py_NewRef(buffer), *list};
    *list = m;
    return 0;
}

void gob_snapshot_unmap(void *object)
{
    struct gob_mapping **at = mappings_of(object);
    while ((*at)->object != object) {
        at = &(*at)->next;
    }
    struct gob_mapping *m = *at;
    *at = m->next;
    Py_DECREF(m->buffer);
    PyMem_Free(m);
}

PyObject *gob_snapshot_load(void *object, gob_alloc *a, PyObject *args, gob_loader *loader)
{
    PyObject *buffer;
    Py_buffer view;
    source from = {.checked_max = GOB_CHECKED_MAX};
    uint64_t seed;
    const char *why = "";
    if (!PyArg_ParseTuple(args, "Op|n:_load", &buffer, &from.mapped, &from.checked_max) ||
        gob_seed(&seed) < 0 || gob_ready(object) < 0) {
        return NULL;
    }
    buffer = settled(buffer);
    if (buffer == NULL || PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE) < 0) {
        Py_XDECREF(buffer);
        return NULL;
    }
    if (from.mapped && keep(object, buffer) < 0) {
        PyBuffer_Release(&view);
        Py_DECREF(buffer);
        return NULL;
    }
    from.file = (gob_span){view.buf, (size_t)view.len};
    gob_host_for(object, a, from.file.size);
    gob_use before = gob_start(object, GOB_RUNNING);
    gob_status status = load_from(object, &from, a->pace, seed, loader, &why);
    gob_finish(object, before);
    PyBuffer_Release(&view);
    Py_DECREF(buffer);
    if (status == GOB_OK) {
        Py_RETURN_NONE;
    }
    if (from.mapped) {
        gob_snapshot_unmap(object);
    }
    return status == GOB_STOPPED     ? NULL
           : status == GOB_MALFORMED ? raise_damage(object, why)
                                     : gob_raise(status);
}

uint8_t gob_datum_of(gob_kind kind)
{
    switch (kind) {
    case GOB_STR:
        return GOB_DATUM_STR;
    case GOB_BYTES:
        return GOB_DATUM_BYTES;
    case GOB_INTS:
        return GOB_DATUM_INT64;
    case GOB_FLOATS:
    case GOB_UUID:
    default:
        return GOB_DATUM_FLOAT64;
    }
}

gob_kind gob_kind_of_datum(unsigned datum)
{
    static const gob_kind kinds[] = {GOB_STR, GOB_BYTES, GOB_INTS, GOB_FLOATS};
    return kinds[datum - GOB_DATUM_STR];
}

int gob_snapshot_refuse_write(void *object)
{
    PyErr_Format(PyExc_ValueError,
                 "this %s reads a file that is mapped, so it can't be changed; its copy() can",
                 Py_TYPE((PyObject *)object)->tp_name);
    return -1;
}

/* For tests */

/* _reseal(data) -> data with checksums that are right */
static PyObject *reseal(PyObject *module, PyObject *data)
{
    (void)module;
    PyObject *copy = PyByteArray_FromObject(data);
    if (copy != NULL) {
        gob_snapshot_reseal((uint8_t *)PyByteArray_AS_STRING(copy),
                            (size_t)PyByteArray_GET_SIZE(copy));
        Py_SETREF(copy, PyBytes_FromStringAndSize(PyByteArray_AS_STRING(copy),
                                                  PyByteArray_GET_SIZE(copy)));
    }
    return copy;
}

static PyMethodDef functions[] = {
    {"_reseal", reseal, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

int gob_add_snapshot(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
