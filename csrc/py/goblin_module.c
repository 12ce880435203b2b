/* The extension module goblin._core: multi-phase initialisation, no mutable globals. */
#include "goblin_module.h"

static int module_exec(PyObject *module)
{
    return gob_add_traces(module);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "goblin._core",
    .m_doc = "The C core of goblin.",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&module_def);
}
