/* Core statuses as Python exceptions. */
#ifndef PY_STATUS_H
#define PY_STATUS_H

#include "goblin_module.h"

#include "gob_status.h"

/* Sets the exception of a status that is not GOB_OK; returns NULL for `return gob_raise(status)`.
 */
PyObject *gob_raise(gob_status status);

/* KeyError with the key itself as its argument, tuples too. */
PyObject *gob_raise_key(PyObject *key);

/* What goblin.errors has by that name, or NULL with an exception. */
PyObject *gob_errors_get(const char *name);

/* Warns with goblin.PrecisionWarning; -1 where that raises. */
int gob_warn_precision(const char *text);

#endif
