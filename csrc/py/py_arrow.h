/* Arrow's C data interface: structs laid out as its specification says, and columns that were
 * checked, since another library made them. */
#ifndef PY_ARROW_H
#define PY_ARROW_H

#include "py_columns.h"

typedef struct gob_arrow_schema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t child_count;
    struct gob_arrow_schema **children;
    struct gob_arrow_schema *dictionary;
    void (*release)(struct gob_arrow_schema *);
    void *private_data;
} gob_arrow_schema;

typedef struct gob_arrow_array {
    int64_t length;
    int64_t null_count; /* -1: unknown */
    int64_t offset;
    int64_t buffer_count;
    int64_t child_count;
    const void **buffers;
    struct gob_arrow_array **children;
    struct gob_arrow_array *dictionary;
    void (*release)(struct gob_arrow_array *);
    void *private_data;
} gob_arrow_array;

typedef struct gob_arrow_stream {
    int (*get_schema)(struct gob_arrow_stream *, gob_arrow_schema *);
    int (*get_next)(struct gob_arrow_stream *, gob_arrow_array *);
    const char *(*get_last_error)(struct gob_arrow_stream *);
    void (*release)(struct gob_arrow_stream *);
    void *private_data;
} gob_arrow_stream;

/* goblin._core.ArrowColumn: a schema and arrays that were moved here. */
typedef struct gob_arrow_column_object {
    PyObject_HEAD gob_arrow_schema schema;
    gob_arrow_array *chunks;
    size_t chunk_count;
    size_t rows; /* of all chunks */
} gob_arrow_column_object;

/* A new ArrowColumn of what an exporter gives; TypeError, ValueError, and what it raises. */
PyObject *gob_arrow_read(const gob_module_state *state, PyObject *exporter, bool stream);

/* Its methods. */
PyObject *gob_arrow_numbers(PyObject *column, PyObject *nulls);
PyObject *gob_arrow_texts(PyObject *column, PyObject *kind);
PyObject *gob_arrow_valid(PyObject *column, PyObject *unused);

/* What the format of a schema means here. */
typedef struct gob_arrow_type {
    const char *format;
    gob_names_form form; /* LIST: a column of nulls, as one without rows often is */
    bool is_text;
    size_t width;       /* of FIXED */
    size_t index_bytes; /* 0: the column is no dictionary's */
    bool index_signed;
    bool nulls; /* are allowed */
} gob_arrow_type;

/* TypeError where such a column has no members of this kind. */
int gob_arrow_find_type(const gob_arrow_schema *schema, gob_kind kind, gob_arrow_type *out);

/* The rows of an array that is no dictionary's. ValueError for nulls, for damage, and, as
 * UnicodeDecodeError, for text that is no UTF-8. */
int gob_arrow_column(const gob_arrow_type *type, const gob_arrow_array *a, gob_names *out);

/* The same rows one by one, in which nulls are empty. */
int gob_arrow_list(const gob_arrow_type *type, const gob_arrow_array *a, gob_name *out);

/* Where rows of a width lie, and the indices of a dictionary's array; ValueError for damage, and of
 * the latter for nulls that are not allowed. */
int gob_arrow_fixed(const gob_arrow_array *a, size_t width, const uint8_t **out);
int gob_arrow_indices(const gob_arrow_type *type, const gob_arrow_array *a, const uint8_t **out);

/* The place of row i in the dictionary. -1 with ValueError where it leaves that. */
int gob_arrow_index(const gob_arrow_type *type, const gob_arrow_array *a, const uint8_t *indices,
                    size_t i, size_t *place);

/* Fills in what indices are; false where the format is none of integers. */
bool gob_arrow_find_index(const char *format, gob_arrow_type *out);

/* The format of a column's values, which a dictionary may hold; of a dictionary in a dictionary a
 * text that is no format. */
const char *gob_arrow_values(const gob_arrow_schema *schema);

/* The number that numpy has for a format of numbers; -1 for another. */
int gob_arrow_dtype(const char *format);

/* What the values of a column are: the name of a dtype, "str", "bytes", "uuid" or "null", else
 * their format. */
const char *gob_arrow_kind(const gob_arrow_schema *schema);

/* Of an array that has rows: whether its bitmap, or its type, says that some are nulls. */
bool gob_arrow_holds_nulls(const gob_arrow_array *a);
bool gob_arrow_has_nulls(const gob_arrow_type *type, const gob_arrow_array *a);
int gob_arrow_refuse_nulls(void);

/* A bit for each row that is no null; NULL where none is. */
GOB_INLINE const uint8_t *gob_arrow_bitmap(const gob_arrow_array *a)
{
    bool none = a->null_count == 0 || a->buffer_count < 1 || a->buffers == NULL;
    return none ? NULL : a->buffers[0];
}

GOB_INLINE bool gob_arrow_is_null(const gob_arrow_array *a, size_t i)
{
    const uint8_t *valid = gob_arrow_bitmap(a);
    size_t at = (size_t)a->offset + i;
    return valid != NULL && (valid[at / 8] >> at % 8 & 1) == 0;
}

int gob_arrow_refuse(const char *fault);

#endif
