/* Members that are byte strings: columns and single ones from Python objects, and back.
 *
 * Text is UTF-8, a UUID is its 16 bytes. Everything that takes a PyObject may run Python code, so
 * callers convert first and look at the set afterwards. */
#ifndef PY_NAMES_H
#define PY_NAMES_H

#include "goblin_module.h"

#include "gob_names.h"

/* GOB_FLOATS only as values of a hash. */
typedef enum gob_kind { GOB_INTS, GOB_STR, GOB_BYTES, GOB_UUID, GOB_FLOATS } gob_kind;

/* The column of a goblin._core.Names of this kind, borrowed; TypeError for any other object. */
const gob_names *gob_names_get(PyObject *object, gob_kind kind, size_t *count);

/* A new Names of what a caller has: any iterable, array or Arrow data. NULL with an exception. */
PyObject *gob_names_of(const gob_module_state *state, gob_kind kind, PyObject *values);

/* The same of an ArrowColumn, in which nulls become empty. */
PyObject *gob_names_or_nulls(const gob_module_state *state, gob_kind kind, PyObject *arrow_column);

/* A new Names with a copy of these. */
PyObject *gob_names_copy(const gob_module_state *state, gob_kind kind, const gob_name *list,
                         size_t n);

/* A new reference to a Names, or to one with a copy of it where an array or Arrow has the bytes,
 * which others may change while a call works without the GIL. NULL with TypeError as of
 * gob_names_get. */
PyObject *gob_names_keep(PyObject *object, gob_kind kind);

/* A new Names, of str or bytes, of the pieces between count + 1 stops, which ascend within this
 * bytes object: that is kept, the stops are copied. NULL also with UnicodeDecodeError. */
PyObject *gob_names_between(const gob_module_state *state, gob_kind kind, PyObject *text,
                            const int64_t *stops, size_t count);

/* Where a name lies that does not lie in its object. */
enum { GOB_NAME_ROOM = 256 };
typedef struct gob_name_scratch {
    PyObject *object; /* owned, or NULL */
    uint8_t room[GOB_NAME_ROOM];
} gob_name_scratch;

/* One member. *out lies in the object or in *scratch, which needs no initialisation and has to be
 * released after a success. 0, or -1 with TypeError or ValueError (also UnicodeEncodeError). */
int gob_name_argument(const gob_module_state *state, PyObject *object, gob_kind kind, gob_name *out,
                      gob_name_scratch *scratch);

/* The same for look-ups: 1, or 0 for what can't be a member, or -1 with any other exception. */
int gob_find_name(const gob_module_state *state, PyObject *object, gob_kind kind, gob_name *out,
                  gob_name_scratch *scratch);

GOB_INLINE void gob_name_release(gob_name_scratch *scratch)
{
    Py_CLEAR(scratch->object);
}

/* A new str, bytes or uuid.UUID. */
PyObject *gob_name_object(const gob_module_state *state, gob_kind kind, gob_name name);

/* A new array of n members for gob_names_write: StringDType, objects, V16. */
PyObject *gob_names_array(gob_kind kind, size_t n);

/* How many rows such an array has, or one of integers of this width, as of UUIDs; -1 with TypeError
 * for any other object. */
int gob_member_rows(PyObject *array, gob_kind kind, size_t width, size_t *rows);

/* Fills the rows from `at` of such an array. 0, or -1 with an exception. */
int gob_names_write(PyObject *array, gob_kind kind, size_t at, const gob_name *names, size_t n);

/* The same for text, without exceptions; false where memory ran out. Needs no GIL, as long as no
 * one else uses the array: numpy's allocator of strings has a lock of its own. */
bool gob_names_pack(PyObject *array, size_t at, const gob_name *names, size_t n);

#endif
