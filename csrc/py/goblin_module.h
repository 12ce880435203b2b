/* What each py_*.c file gives the module: one function that adds its types and functions. */
#ifndef GOBLIN_MODULE_H
#define GOBLIN_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

/* What py_uuid.c needs of the module uuid. */
typedef struct gob_uuid_state {
    PyObject *type;
    PyObject *unknown; /* SafeUUID.unknown */
    PyObject *integer; /* names of the two slots */
    PyObject *is_safe;
    PyObject *half; /* bits of half a UUID */
} gob_uuid_state;

typedef struct gob_module_state {
    PyTypeObject *arrow_column_type;
    PyTypeObject *hash_type;
    PyTypeObject *hash_iterator_type;
    PyTypeObject *iterator_type;
    PyTypeObject *names_type;
    PyTypeObject *sortedset_type;
    PyTypeObject *table_type;
    PyTypeObject *table_iterator_type;
    struct gob_mapping *mapped; /* the objects that read files, and their buffers */
    gob_uuid_state uuid;
} gob_module_state;

extern struct PyModuleDef gob_module_def;

/* That of the module which an object's type, or a base of it, comes from. */
const gob_module_state *gob_state_of(const void *object);

/* A new seed for a table. 0, or -1 with OSError. */
int gob_seed(uint64_t *seed);

/* Each returns 0, or -1 with an exception set. */
int gob_add_arrow(PyObject *module);
int gob_add_arrow_export(PyObject *module);
int gob_add_boards(PyObject *module);
int gob_add_build_info(PyObject *module);
int gob_add_convert(PyObject *module);
int gob_add_hash(PyObject *module);
int gob_add_hash_iterator(PyObject *module);
int gob_add_iterator(PyObject *module);
int gob_add_names(PyObject *module);
int gob_add_pgn(PyObject *module);
int gob_add_record(PyObject *module);
int gob_add_snapshot(PyObject *module);
int gob_add_sortedset(PyObject *module);
int gob_add_table(PyObject *module);
int gob_add_table_iterator(PyObject *module);
int gob_add_traces(PyObject *module);
int gob_add_uuid(PyObject *module);

#endif
