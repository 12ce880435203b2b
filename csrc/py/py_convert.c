/* Python sequences into arrays, exactly: numpy's own conversion turns 2**63 into a float. */
#include "goblin_module.h"

#include "py_args.h"
#include "py_host.h"

static PyObject *too_short(Py_buffer *view)
{
    PyBuffer_Release(view);
    PyErr_SetString(PyExc_ValueError, "the array is too short");
    return NULL;
}

int gob_refuse_one(PyObject *object)
{
    PyErr_Format(PyExc_TypeError, "several are wanted, but this is one %.100s; put it into a list",
                 Py_TYPE(object)->tp_name);
    return -1;
}

PyObject *gob_items(PyObject *iterable)
{
    if (Py_TYPE(iterable)->tp_iter == NULL && !PySequence_Check(iterable)) {
        gob_refuse_one(iterable);
        return NULL;
    }
    if (PyList_CheckExact(iterable) || PyTuple_CheckExact(iterable)) {
        return PySequence_Tuple(iterable);
    }
    gob_breath breath = {0};
    PyObject *iterator = PyObject_GetIter(iterable);
    PyObject *list = iterator == NULL ? NULL : PyList_New(0);
    PyObject *item;
    while (list != NULL && (item = PyIter_Next(iterator)) != NULL) {
        if (PyList_Append(list, item) < 0 || gob_breathe(&breath) < 0) {
            Py_CLEAR(list);
        }
        Py_DECREF(item);
    }
    PyObject *result = list == NULL || PyErr_Occurred() ? NULL : PyList_AsTuple(list);
    Py_XDECREF(iterator);
    Py_XDECREF(list);
    return result;
}

PyDoc_STRVAR(items_doc, "items(iterable, /)\n--\n\nThe items as a tuple.");

static PyObject *items(PyObject *module, PyObject *iterable)
{
    (void)module;
    return gob_items(iterable);
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
    gob_breath breath = {0};
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(items); i++) {
        result = gob_member_of(PyTuple_GET_ITEM(items, i), bytes, &members[i]);
        result = result < 0 ? gob_blame_item(i) : gob_breathe(&breath);
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
    gob_breath breath = {0};
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(items); i++) {
        result = gob_score_number(PyTuple_GET_ITEM(items, i), bytes, &scores[i], &rounded);
        result = result < 0 ? -1 : gob_breathe(&breath);
    }
    PyBuffer_Release(&out);
    return result < 0 ? NULL : PyBool_FromLong(rounded);
}

/* One (member, score), any iterable of length 2 that is no text. */
static int split_pair(PyObject *item, PyObject *members, PyObject *scores)
{
    Py_ssize_t at = PyList_GET_SIZE(members);
    if (PyUnicode_Check(item) || PyBytes_Check(item) || PyByteArray_Check(item)) {
        PyErr_Format(PyExc_TypeError, "item %zd is no pair, but %.100s", at,
                     Py_TYPE(item)->tp_name);
        return -1;
    }
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
    int result = PyList_Append(members, PyTuple_GET_ITEM(pair, 0));
    result = result < 0 ? -1 : PyList_Append(scores, PyTuple_GET_ITEM(pair, 1));
    Py_DECREF(pair);
    return result;
}

PyDoc_STRVAR(split_pairs_doc, "split_pairs(items, /)\n--\n\n"
                              "An iterable of pairs as (tuple of members, tuple of scores).");

static PyObject *split_pairs(PyObject *module, PyObject *items)
{
    (void)module;
    gob_breath breath = {0};
    PyObject *iterator = PyObject_GetIter(items);
    PyObject *members = PyList_New(0);
    PyObject *scores = PyList_New(0);
    int result = iterator == NULL || members == NULL || scores == NULL ? -1 : 0;
    PyObject *item;
    while (result == 0 && (item = PyIter_Next(iterator)) != NULL) {
        result = split_pair(item, members, scores);
        Py_DECREF(item);
        result = result < 0 ? -1 : gob_breathe(&breath);
    }
    PyObject *both = NULL;
    if (result == 0 && !PyErr_Occurred()) {
        both = Py_BuildValue("(NN)", PyList_AsTuple(members), PyList_AsTuple(scores));
    }
    Py_XDECREF(iterator);
    Py_XDECREF(members);
    Py_XDECREF(scores);
    return both;
}

PyDoc_STRVAR(number_doc, "number(value, /)\n--\n\nA real number but NaN, as float.");

static PyObject *number(PyObject *module, PyObject *value)
{
    (void)module;
    double result;
    return gob_number(value, &result) < 0 ? NULL : PyFloat_FromDouble(result);
}

static PyMethodDef functions[] = {
    {"items", items, METH_O, items_doc},
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
