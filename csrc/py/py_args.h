/* Arguments: vectorcall parsing, members, scores, buffers. Everything here may run Python code, so
 * callers convert first and look at the set afterwards. */
#ifndef PY_ARGS_H
#define PY_ARGS_H

#include "goblin_module.h"

#include <stdbool.h>

/* Entries of a method table. */
#define GOB_FAST(name, function, doc)                                                              \
    {                                                                                              \
        name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS, doc          \
    }
#define GOB_PLAIN(name, function, flags, doc)                                                      \
    {                                                                                              \
        name, (PyCFunction)(void (*)(void))(function), flags, doc                                  \
    }

typedef struct gob_signature {
    const char *function;
    const char *parameters[5]; /* NULL after the last */
    Py_ssize_t positional;     /* how many may be given by position */
    Py_ssize_t required;
} gob_signature;

/* Borrowed values in the order of the parameters, NULL where not given. 0, or -1 with TypeError. */
int gob_parse(const gob_signature *s, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
              PyObject **values);

/* TypeError for one object where several are wanted. Always -1. */
int gob_refuse_one(PyObject *object);

/* TypeError for an object of a wrong type, where `wanted` is, ending in a hint. Always -1. */
int gob_refuse_type(PyObject *object, const char *wanted, const char *hint);

/* A new tuple of the items of an iterable, letting others in on the way; a list is taken at one
 * moment. */
PyObject *gob_items(PyObject *iterable);

/* An integer member: anything with __index__ but bool. 0, or -1 with TypeError or OverflowError. */
int gob_member_of(PyObject *object, unsigned member_bytes, int64_t *out);

/* The same for look-ups: 1, or 0 for what can't be a member, or -1 with any other exception. */
int gob_find_member(PyObject *object, unsigned member_bytes, int64_t *out);

/* A real number but NaN. 0, or -1 with TypeError, ValueError or OverflowError. */
int gob_number(PyObject *object, double *out);

/* A number to store: *rounded becomes true for an integer that a score of this width rounds. */
int gob_score_number(PyObject *object, unsigned score_bytes, double *out, bool *rounded);

/* The same, with a warning for rounded ones. */
int gob_score_argument(PyObject *object, unsigned score_bytes, double *out);

/* The exception that some item caused names it, unless it comes from Python code. Always -1. */
int gob_blame_item(Py_ssize_t i);

/* A contiguous buffer of whole elements; *count of them. -1 with an exception otherwise. */
int gob_buffer(PyObject *object, Py_buffer *view, size_t element, bool writable, size_t *count);

/* The index of a word in a NULL-terminated list, or -1 with ValueError. */
int gob_word(PyObject *object, const char *parameter, const char *const *words);

#endif
