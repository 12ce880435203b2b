/* Names from Arrow columns. */
#include "py_args.h"
#include "py_arrow.h"
#include "py_columns.h"

static int list_rows(const gob_arrow_type *type, const gob_arrow_array *a, gob_name *out)
{
    gob_names chunk;
    if (type->nulls && gob_arrow_has_nulls(type, a)) {
        return gob_arrow_list(type, a, out);
    }
    if (gob_arrow_column(type, a, &chunk) < 0) {
        return -1;
    }
    for (size_t i = 0; i < (size_t)a->length; i++) {
        out[i] = gob_names_at(&chunk, i);
    }
    return 0;
}

static int list_indexed(const gob_arrow_type *type, const gob_arrow_array *a, gob_name *out)
{
    const uint8_t *indices;
    gob_names values;
    if (gob_arrow_indices(type, a, &indices) < 0 ||
        gob_arrow_column(type, a->dictionary, &values) < 0) {
        return -1;
    }
    for (size_t i = 0; i < (size_t)a->length; i++) {
        size_t place;
        if (gob_arrow_is_null(a, i)) {
            out[i] = (gob_name){NULL, 0};
        } else if (gob_arrow_index(type, a, indices, i, &place) < 0) {
            return -1;
        } else {
            out[i] = gob_names_at(&values, place);
        }
    }
    return 0;
}

/* Rows of several chunks, or those that a dictionary holds, or with nulls, as one list. */
static int list_chunks(gob_names_object *self, const gob_arrow_type *type,
                       const gob_arrow_column_object *c)
{
    if (gob_names_own(self, c->rows, sizeof(gob_name), 0) == NULL) {
        return -1;
    }
    gob_name *out = (gob_name *)(void *)self->own;
    for (size_t i = 0; i < c->chunk_count; i++) {
        const gob_arrow_array *chunk = &c->chunks[i];
        int result =
            type->index_bytes == 0 ? list_rows(type, chunk, out) : list_indexed(type, chunk, out);
        if (result < 0) {
            return -1;
        }
        out += chunk->length;
    }
    self->column = (gob_names){.form = GOB_NAMES_LIST, .data = self->own};
    return 0;
}

/* Bytes of a variable length, as polars, which has no other, keeps UUIDs. */
static int check_uuids(const gob_names_object *self)
{
    for (size_t i = 0; i < self->count; i++) {
        size_t len = gob_names_at(&self->column, i).len;
        if (len != GOB_UUID_BYTES) {
            PyErr_Format(PyExc_ValueError, "a UUID has %d bytes, not %zu", GOB_UUID_BYTES, len);
            return -1;
        }
    }
    return 0;
}

int gob_names_from_column(gob_names_object *self, PyObject *object, bool nulls)
{
    const gob_arrow_column_object *c = (const gob_arrow_column_object *)object;
    gob_arrow_type type;
    if (gob_arrow_find_type(&c->schema, self->kind, &type) < 0) {
        return -1;
    }
    type.nulls = nulls;
    self->source = Py_NewRef(object);
    self->count = c->rows;
    bool as_it_lies = c->chunk_count == 1 && type.index_bytes == 0 && !nulls;
    int result = as_it_lies ? gob_arrow_column(&type, &c->chunks[0], &self->column)
                            : list_chunks(self, &type, c);
    if (result < 0 || self->kind != GOB_UUID) {
        return result;
    }
    return type.is_text ? gob_names_parse(self) : check_uuids(self);
}

int gob_names_from_exporter(gob_names_object *self, PyObject *exporter, bool stream)
{
    const gob_module_state *state = PyType_GetModuleState(Py_TYPE(self));
    PyObject *column = gob_arrow_read(state, exporter, stream);
    int result = column == NULL ? -1 : gob_names_from_column(self, column, false);
    Py_XDECREF(column);
    return result;
}

PyObject *gob_arrow_texts(PyObject *column, PyObject *word)
{
    int chosen = gob_word(word, "kind of texts", gob_kind_words);
    return chosen < 0 ? NULL
                      : gob_names_or_nulls(PyType_GetModuleState(Py_TYPE(column)),
                                           (gob_kind)(GOB_STR + chosen), column);
}
