/* What this build is made of. */
#include "goblin_module.h"

#include "gob_cpu.h"
#include "gob_hash.h"

PyDoc_STRVAR(
    build_info_doc,
    "build_info()\n--\n\n"
    "Tell what this build is: version, compiler, vector kernels in use and available, and\n"
    "the version of xxHash, as a dict of text. O(1).\n\n"
    ">>> sorted(goblin.build_info())\n"
    "['best_simd', 'compiler', 'simd', 'version', 'xxhash']\n");

static PyObject *build_info(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *xxhash =
        PyUnicode_FromFormat("%d.%d.%d", XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE);
    if (xxhash == NULL) {
        return NULL;
    }
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:N}", "version", GOBLIN_VERSION, "compiler",
                         __VERSION__, "simd", gob_simd_name(gob_cpu_simd()), "best_simd",
                         gob_simd_name(gob_cpu_best()), "xxhash", xxhash);
}

static PyMethodDef functions[] = {
    {"build_info", build_info, METH_NOARGS, build_info_doc},
    {NULL, NULL, 0, NULL},
};

int gob_add_build_info(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
