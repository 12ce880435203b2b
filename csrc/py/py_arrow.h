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

/* What the format of a schema means here. */
typedef struct gob_arrow_type {
    const char *format;
    const char *name;
    gob_names_form form; /* LIST: a column of nulls, as one without rows often is */
    bool is_text;
    size_t width;       /* of FIXED */
    size_t index_bytes; /* 0: the column is no dictionary's */
    bool index_signed;
} gob_arrow_type;

/* TypeError where such a column has no members of this kind. */
int gob_arrow_find_type(const gob_arrow_schema *schema, gob_kind kind, gob_arrow_type *out);

/* The rows of an array that is no dictionary's. ValueError for nulls, for damage, and, as
 * UnicodeDecodeError, for text that is no UTF-8. */
int gob_arrow_column(const gob_arrow_type *type, const gob_arrow_array *a, gob_names *out);

/* Where the indices of a dictionary's array lie, with the same checks. */
int gob_arrow_indices(const gob_arrow_type *type, const gob_arrow_array *a, const uint8_t **out);

int gob_arrow_refuse(const char *fault);

#endif
