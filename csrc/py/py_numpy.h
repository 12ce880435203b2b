/* numpy's C API. One table serves all files of the module; py_names.c has numpy fill it. */
#ifndef PY_NUMPY_H
#define PY_NUMPY_H

#include "goblin_module.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL gob_numpy_api
#ifndef GOB_NUMPY_IMPORT
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#endif
