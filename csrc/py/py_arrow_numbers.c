/* Numbers of Arrow columns, and which rows are nulls, as numpy arrays. */
#include "py_numpy.h"

#include "py_arrow.h"

/* Fixed-width ones lie as numpy has them. */
int gob_arrow_dtype(const char *format)
{
    static const char formats[] = "cCsSiIlLefg";
    static const int numbers[] = {NPY_INT8,    NPY_UINT8,   NPY_INT16,  NPY_UINT16,
                                  NPY_INT32,   NPY_UINT32,  NPY_INT64,  NPY_UINT64,
                                  NPY_FLOAT16, NPY_FLOAT32, NPY_FLOAT64};
    const char *found = format[0] == 0 || format[1] != 0 ? NULL : strchr(formats, format[0]);
    return found == NULL ? -1 : numbers[found - formats];
}

static void copy_rows(const gob_arrow_array *a, const uint8_t *rows, size_t width, char *out)
{
    size_t n = (size_t)a->length;
    memcpy(out, rows, n * width);
    for (size_t i = 0; gob_arrow_holds_nulls(a) && i < n; i++) {
        if (gob_arrow_is_null(a, i)) {
            memset(out + i * width, 0, width);
        }
    }
}

static int copy_plain(const gob_arrow_array *a, size_t width, char *out)
{
    const uint8_t *rows;
    if (gob_arrow_fixed(a, width, &rows) < 0) {
        return -1;
    }
    if (a->length != 0) {
        copy_rows(a, rows, width, out);
    }
    return 0;
}

static int copy_indexed(const gob_arrow_type *type, const gob_arrow_array *a, size_t width,
                        char *out)
{
    const uint8_t *indices, *rows;
    if (gob_arrow_indices(type, a, &indices) < 0 ||
        gob_arrow_fixed(a->dictionary, width, &rows) < 0) {
        return -1;
    }
    if (a->dictionary->length > 0 && gob_arrow_holds_nulls(a->dictionary)) {
        return gob_arrow_refuse_nulls();
    }
    for (size_t i = 0; i < (size_t)a->length; i++, out += width) {
        size_t place;
        if (gob_arrow_is_null(a, i)) {
            memset(out, 0, width);
        } else if (gob_arrow_index(type, a, indices, i, &place) < 0) {
            return -1;
        } else {
            memcpy(out, rows + place * width, width);
        }
    }
    return 0;
}

static int fill(const gob_arrow_column_object *self, const gob_arrow_type *type,
                PyArrayObject *array)
{
    size_t width = (size_t)PyArray_ITEMSIZE(array);
    char *out = PyArray_BYTES(array);
    for (size_t i = 0; i < self->chunk_count; i++) {
        const gob_arrow_array *chunk = &self->chunks[i];
        int result = type->index_bytes == 0 ? copy_plain(chunk, width, out)
                                            : copy_indexed(type, chunk, width, out);
        if (result == 0 && !type->nulls && chunk->length > 0 && gob_arrow_holds_nulls(chunk)) {
            result = gob_arrow_refuse_nulls();
        }
        if (result < 0) {
            return -1;
        }
        out += (size_t)chunk->length * width;
    }
    return 0;
}

PyObject *gob_arrow_numbers(PyObject *object, PyObject *nulls)
{
    const gob_arrow_column_object *self = (const gob_arrow_column_object *)object;
    int number = gob_arrow_dtype(gob_arrow_values(&self->schema));
    gob_arrow_type type = {.nulls = nulls == Py_True};
    npy_intp shape = (npy_intp)self->rows;
    if (number < 0 ||
        (self->schema.dictionary != NULL && !gob_arrow_find_index(self->schema.format, &type))) {
        const char *kind = gob_arrow_kind(&self->schema);
        const char *hint = strcmp(kind, "decimal") == 0 ? "; cast it to float64 or int64" : "";
        PyErr_Format(PyExc_TypeError, "numbers can't come from an Arrow column of type %s%s", kind,
                     hint);
        return NULL;
    }
    PyObject *array = PyArray_SimpleNew(1, &shape, number);
    if (array != NULL && fill(self, &type, (PyArrayObject *)array) < 0) {
        Py_CLEAR(array);
    }
    return array;
}

static bool any_nulls(const gob_arrow_column_object *self)
{
    for (size_t i = 0; i < self->chunk_count; i++) {
        if (self->chunks[i].length > 0 && gob_arrow_holds_nulls(&self->chunks[i])) {
            return true;
        }
    }
    return false;
}

PyObject *gob_arrow_valid(PyObject *object, PyObject *unused)
{
    const gob_arrow_column_object *self = (const gob_arrow_column_object *)object;
    bool none = strcmp(self->schema.format, "n") == 0;
    npy_intp shape = (npy_intp)self->rows;
    (void)unused;
    if (!none && !any_nulls(self)) {
        Py_RETURN_NONE;
    }
    PyObject *array = PyArray_ZEROS(1, &shape, NPY_BOOL, 0);
    if (array == NULL || none) {
        return array;
    }
    char *out = PyArray_BYTES((PyArrayObject *)array);
    for (size_t i = 0; i < self->chunk_count; i++) {
        for (size_t row = 0; row < (size_t)self->chunks[i].length; row++) {
            *out++ = !gob_arrow_is_null(&self->chunks[i], row);
        }
    }
    return array;
}
