/* The object behind goblin._core.Names, and what fills it. */
#ifndef PY_COLUMNS_H
#define PY_COLUMNS_H

#include "py_names.h"

/* What the column points into is kept alive by one or both of the last two. */
typedef struct gob_names_object {
    PyObject_HEAD gob_names column;
    size_t count;
    gob_kind kind;
    PyObject *source;
    uint8_t *own;
} gob_names_object;

extern const char *const gob_kind_words[]; /* by kind - GOB_STR */

GOB_INLINE const char *gob_kind_word(gob_kind kind)
{
    return gob_kind_words[kind - GOB_STR];
}

/* Memory that goes with the object, which has none yet. NULL with MemoryError. */
uint8_t *gob_names_own(gob_names_object *self, size_t rows, size_t row_bytes, size_t more);

/* Lets go of all that the column points into, and leaves it empty. */
void gob_names_forget(gob_names_object *self);

/* An own column of `count` texts, `bytes` long together: offsets and text for the caller to fill.
 * -1 with MemoryError. */
typedef struct gob_texts {
    uint8_t *offsets; /* of int64, the first is set */
    uint8_t *text;
} gob_texts;
int gob_texts_new(gob_names_object *self, size_t count, size_t bytes, gob_texts *out);

/* Each fills an empty object; 0, or -1 with an exception. */
int gob_names_from_objects(gob_names_object *self, PyObject *iterable);
int gob_names_from_array(gob_names_object *self, PyObject *array);
int gob_names_from_column(gob_names_object *self, PyObject *arrow_column, bool nulls);
int gob_names_from_exporter(gob_names_object *self, PyObject *exporter, bool stream);

/* Whether the rows of a column of offsets or views are UTF-8: 0, or -1 with Python's own error for
 * the first that is not. */
int gob_names_check_text(const gob_names *c, size_t count);

/* A new reference to a Names whose column is OFFSETS64 or FIXED, or to a copy of it as OFFSETS64.
 * NULL with MemoryError. */
PyObject *gob_names_packed(PyObject *names);

/* Turns a column of text into one of UUIDs. */
int gob_names_parse(gob_names_object *self);
#endif
