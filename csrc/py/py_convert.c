/* Python sequences into arrays, exactly: numpy's own conversion turns 2**63 into a float. */
#include "goblin_module.h"

#include "py_args.h"

static PyObject *too_short(Py_buffer *view)
{
    PyBuffer_Release(view);
    PyErr_SetString(PyExc_ValueError, "the array is too short");
    return NULL;
}

PyDoc_STRVAR(fill_members_doc, "fill_members(items, member_bytes, out, /)\n--\n\n"
                               "Write a tuple of members to an int64 array.");

static PyObject *fill_members(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *items;
    unsigned bytes;
    Py_buffer out;
    if (!PyArg_ParseTuple(args, "O!Iw*:fill_members", &PyTuple_Type, &items, &bytes, &out)) {
        return NULL;
    }
    if ((size_t)out.len / sizeof(int64_t) < (size_t)PyTuple_GET_SIZE(items)) {
        return too_short(&out);
    }
    int result = 0;
    int64_t *members = out.buf;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(items); i++) {
        result = gob_member_of(PyTuple_GET_ITEM(items, i), bytes, &members[i]);
    }
    PyBuffer_Release(&out);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(fill_scores_doc, "fill_scores(items, score_bytes, out, /)\n--\n\n"
                              "Write a tuple of numbers to a float64 array; True if one was an "
                              "integer with too many digits.");

static PyObject *fill_scores(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *items;
    unsigned bytes;
    Py_buffer out;
    if (!PyArg_ParseTuple(args, "O!Iw*:fill_scores", &PyTuple_Type, &items, &bytes, &out)) {
        return NULL;
    }
    if ((size_t)out.len / sizeof(double) < (size_t)PyTuple_GET_SIZE(items)) {
        return too_short(&out);
    }
    int result = 0;
    bool rounded = false;
    double *scores = out.buf;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(items); i++) {
        result = gob_score_number(PyTuple_GET_ITEM(items, i), bytes, &scores[i], &rounded);
    }
    PyBuffer_Release(&out);
    return result < 0 ? NULL : PyBool_FromLong(rounded);
}

/* One (member, score), any iterable of length 2. */
static int split_pair(PyObject *item, PyObject *members, PyObject *scores, Py_ssize_t at)
{
    PyObject *pair = PySequence_Tuple(item);
    if (pair == NULL) {
        return -1;
    }
    if (PyTuple_GET_SIZE(pair) != 2) {
        PyErr_Format(PyExc_ValueError, "item %zd is no pair: its length is %zd", at,
                     PyTuple_GET_SIZE(pair));
        Py_DECREF(pair);
        return -1;
    }
    PyTuple_SET_ITEM(members, at, Py_NewRef(PyTuple_GET_ITEM(pair, 0)));
    PyTuple_SET_ITEM(scores, at, Py_NewRef(PyTuple_GET_ITEM(pair, 1)));
    Py_DECREF(pair);
    return 0;
}

PyDoc_STRVAR(split_pairs_doc, "split_pairs(items, /)\n--\n\n"
                              "A tuple of pairs as (tuple of members, tuple of scores).");

static PyObject *split_pairs(PyObject *module, PyObject *items)
{
    (void)module;
    if (!PyTuple_Check(items)) {
        PyErr_SetString(PyExc_TypeError, "a tuple of pairs is wanted");
        return NULL;
    }
    PyObject *members = PyTuple_New(PyTuple_GET_SIZE(items));
    PyObject *scores = PyTuple_New(PyTuple_GET_SIZE(items));
    int result = members == NULL || scores == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(items); i++) {
        result = split_pair(PyTuple_GET_ITEM(items, i), members, scores, i);
    }
    if (result < 0) {
        Py_XDECREF(members);
        Py_XDECREF(scores);
        return NULL;
    }
    return Py_BuildValue("(NN)", members, scores);
}

PyDoc_STRVAR(number_doc, "number(value, /)\n--\n\nA real number but NaN, as float.");

static PyObject *number(PyObject *module, PyObject *value)
{
    (void)module;
    double result;
    return gob_number(value, &result) < 0 ? NULL : PyFloat_FromDouble(result);
}

static PyMethodDef functions[] = {
    {"fill_members", fill_members, METH_VARARGS, fill_members_doc},
    {"fill_scores", fill_scores, METH_VARARGS, fill_scores_doc},
    {"split_pairs", split_pairs, METH_O, split_pairs_doc},
    {"number", number, METH_O, number_doc},
    {NULL, NULL, 0, NULL},
};

int gob_add_convert(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
