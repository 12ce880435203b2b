/* The extension module goblin._core: multi-phase initialisation, no mutable globals. */
#include "goblin_module.h"

#include <sys/random.h> /* getentropy, which the C libraries of Linux have in the other */
#include <unistd.h>

const gob_module_state *gob_state_of(const void *object)
{
    PyTypeObject *type = Py_TYPE((PyObject *)(uintptr_t)object);
    return PyModule_GetState(PyType_GetModuleByDef(type, &gob_module_def));
}

int gob_seed(uint64_t *seed)
{
    if (getentropy(seed, sizeof *seed) != 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        return -1;
    }
    return 0;
}

static int module_exec(PyObject *module)
{
    if (gob_add_build_info(module) < 0 || gob_add_convert(module) < 0 ||
        gob_add_iterator(module) < 0 || gob_add_uuid(module) < 0 || gob_add_names(module) < 0 ||
        gob_add_sortedset(module) < 0 || gob_add_boards(module) < 0 || gob_add_hash(module) < 0 ||
        gob_add_hash_iterator(module) < 0 || gob_add_table(module) < 0 ||
        gob_add_table_iterator(module) < 0 || gob_add_record(module) < 0 ||
        gob_add_pgn(module) < 0 || gob_add_snapshot(module) < 0 || gob_add_arrow(module) < 0 ||
        gob_add_arrow_export(module) < 0) {
        return -1;
    }
    return gob_add_traces(module);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    gob_module_state *state = PyModule_GetState(module);
    Py_VISIT(state->arrow_column_type);
    Py_VISIT(state->hash_type);
    Py_VISIT(state->hash_iterator_type);
    Py_VISIT(state->iterator_type);
    Py_VISIT(state->names_type);
    Py_VISIT(state->sortedset_type);
    Py_VISIT(state->table_type);
    Py_VISIT(state->table_iterator_type);
    Py_VISIT(state->uuid.type);
    Py_VISIT(state->uuid.unknown);
    Py_VISIT(state->uuid.integer);
    Py_VISIT(state->uuid.is_safe);
    Py_VISIT(state->uuid.half);
    return 0;
}

static int module_clear(PyObject *module)
{
    gob_module_state *state = PyModule_GetState(module);
    Py_CLEAR(state->arrow_column_type);
    Py_CLEAR(state->hash_type);
    Py_CLEAR(state->hash_iterator_type);
    Py_CLEAR(state->iterator_type);
    Py_CLEAR(state->names_type);
    Py_CLEAR(state->sortedset_type);
    Py_CLEAR(state->table_type);
    Py_CLEAR(state->table_iterator_type);
    Py_CLEAR(state->uuid.type);
    Py_CLEAR(state->uuid.unknown);
    Py_CLEAR(state->uuid.integer);
    Py_CLEAR(state->uuid.is_safe);
    Py_CLEAR(state->uuid.half);
    return 0;
}

static void module_free(void *module)
{
    (void)module_clear(module);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#ifdef Py_mod_multiple_interpreters
    /* numpy, whose C API this needs, can be loaded once in a process. */
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_USED}, /* it is the lock of every short call: py_lock.h */
#endif
    {0, NULL},
};

struct PyModuleDef gob_module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "goblin._core",
    .m_doc = "The C core of goblin.",
    .m_size = sizeof(gob_module_state),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&gob_module_def);
}
