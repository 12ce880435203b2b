/* One member at a time: the calls that loops are made of. */
#include "py_member.h"
#include "py_status.h"

static const char *const modes[] = {"set", "nx", "xx", "gt", "lt", "xx_gt", "xx_lt", NULL};

/* The id and the score of a key, GOB_ABSENT also for what can't be a member; -1 with an exception.
 */
static int look_up(gob_sortedset *self, PyObject *key, int64_t *id, double *score)
{
    gob_argument arg;
    int found = gob_look_for(self, key, &arg);
    if (found < 0) {
        return -1;
    }
    int result = gob_ready_for(self, arg.kind);
    if (result == 0) {
        *id = found ? gob_zset_find(&self->z, &arg.member) : GOB_NO_ID;
        *score = found ? gob_zset_score(&self->z, *id) : GOB_ABSENT;
    }
    gob_argument_release(&arg);
    return result;
}

int gob_single_contains(gob_sortedset *self, PyObject *key)
{
    int64_t member;
    double score;
    return look_up(self, key, &member, &score) < 0 ? -1 : !gob_is_absent(score);
}

PyObject *gob_single_item(gob_sortedset *self, PyObject *key)
{
    int64_t member;
    double score;
    if (look_up(self, key, &member, &score) < 0) {
        return NULL;
    }
    return gob_is_absent(score) ? gob_raise_key(key) : PyFloat_FromDouble(score);
}

PyObject *gob_single_get(gob_sortedset *self, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames)
{
    static const gob_signature signature = {"get", {"member", "default"}, 2, 1};
    PyObject *given[2];
    int64_t member;
    double score;
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0 ||
        look_up(self, given[0], &member, &score) < 0) {
        return NULL;
    }
    if (!gob_is_absent(score)) {
        return PyFloat_FromDouble(score);
    }
    return Py_NewRef(given[1] != NULL ? given[1] : Py_None);
}

/* Removes a key; *score is its old score or GOB_ABSENT. */
static int take_out(gob_sortedset *self, PyObject *key, double *score)
{
    int64_t member;
    if (look_up(self, key, &member, score) < 0 || gob_check_own(self) < 0) {
        return -1;
    }
    if (!gob_is_absent(*score)) {
        gob_zset_remove(&self->z, member);
    }
    return gob_finish_short(&self->z.alloc);
}

static int put(gob_sortedset *self, PyObject *key, PyObject *value, gob_mode mode, bool *wrote)
{
    gob_argument arg;
    double score;
    if (gob_take_member(self, key, &arg) < 0) {
        return -1;
    }
    int result = gob_score_argument(value, gob_score_bytes(self), &score) < 0
                     ? -1
                     : gob_ready_to_write(self, &arg);
    gob_changes changes = {0};
    if (result == 0) {
        gob_sortedset_expect(self, 1);
        gob_status status = gob_zset_add(&self->z, &arg.member, score, mode, &changes);
        result = status == GOB_OK ? gob_finish_short(&self->z.alloc) : (gob_raise(status), -1);
    }
    gob_argument_release(&arg);
    *wrote = changes.added + changes.changed != 0;
    return result;
}

int gob_single_set_item(gob_sortedset *self, PyObject *key, PyObject *score)
{
    bool wrote;
    double old;
    if (score != NULL) {
        return put(self, key, score, GOB_SET, &wrote);
    }
    if (take_out(self, key, &old) < 0) {
        return -1;
    }
    if (gob_is_absent(old)) {
        gob_raise_key(key);
        return -1;
    }
    return 0;
}

PyObject *gob_single_add(gob_sortedset *self, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames)
{
    static const gob_signature signature = {"add", {"member", "score", "mode"}, 2, 2};
    PyObject *given[3];
    bool wrote;
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0) {
        return NULL;
    }
    int mode = given[2] == NULL ? GOB_SET : gob_word(given[2], "mode", modes);
    if (mode < 0 || put(self, given[0], given[1], (gob_mode)mode, &wrote) < 0) {
        return NULL;
    }
    return PyBool_FromLong(wrote);
}

PyObject *gob_single_setdefault(gob_sortedset *self, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *kwnames)
{
    static const gob_signature signature = {"setdefault", {"member", "default"}, 2, 2};
    PyObject *given[2];
    bool wrote;
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0 ||
        put(self, given[0], given[1], GOB_NX, &wrote) < 0) {
        return NULL;
    }
    return gob_single_item(self, given[0]);
}

int gob_warn_stuck(gob_sortedset *self)
{
    if (!self->z.stuck || self->warned) {
        return 0;
    }
    self->warned = true; /* also for what a warning runs */
    int result =
        gob_warn_precision("an increment was too small to change the score it was added to");
    self->warned = result == 0; /* one that is an error refuses, and will refuse again */
    return result;
}

PyObject *gob_single_increment(gob_sortedset *self, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames)
{
    static const gob_signature signature = {"increment", {"member", "by"}, 2, 1};
    PyObject *given[2] = {NULL, NULL};
    gob_argument arg;
    double by = 1.0;
    double sum;
    if (GOB_LIKELY(nargs == 1 && kwnames == NULL)) {
        given[0] = args[0];
    } else if (gob_parse(&signature, args, nargs, kwnames, given) < 0) {
        return NULL;
    }
    if (gob_take_member(self, given[0], &arg) < 0) {
        return NULL;
    }
    if ((given[1] != NULL && gob_score_argument(given[1], 8, &by) < 0) ||
        gob_ready_to_write(self, &arg) < 0) {
        gob_argument_release(&arg);
        return NULL;
    }
    self->z.stuck = false;
    gob_sortedset_expect(self, 1);
    gob_status status = gob_zset_increment(&self->z, &arg.member, by, &sum);
    gob_argument_release(&arg);
    if (GOB_UNLIKELY(status != GOB_OK)) {
        return gob_raise(status);
    }
    if (gob_finish_short(&self->z.alloc) < 0) {
        return NULL;
    }
    if (GOB_UNLIKELY(self->z.stuck) && gob_warn_stuck(self) < 0) {
        return NULL;
    }
    return PyFloat_FromDouble(sum);
}

PyObject *gob_single_discard(gob_sortedset *self, PyObject *key)
{
    double old;
    return take_out(self, key, &old) < 0 ? NULL : PyBool_FromLong(!gob_is_absent(old));
}

PyObject *gob_single_pop(gob_sortedset *self, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames)
{
    static const gob_signature signature = {"pop", {"member", "default"}, 2, 1};
    PyObject *given[2];
    double old;
    if (gob_parse(&signature, args, nargs, kwnames, given) < 0 ||
        take_out(self, given[0], &old) < 0) {
        return NULL;
    }
    if (!gob_is_absent(old)) {
        return PyFloat_FromDouble(old);
    }
    return given[1] != NULL ? Py_NewRef(given[1]) : gob_raise_key(given[0]);
}

PyObject *gob_single_pop_end(gob_sortedset *self, PyObject *highest)
{
    int from_top = PyObject_IsTrue(highest);
    gob_version version;
    gob_entry e;
    PyObject *pair = NULL;
    do {
        Py_CLEAR(pair);
        if (from_top < 0 || gob_ready_to_change(self) < 0 || gob_sync(self) < 0) {
            return NULL;
        }
        uint64_t count = gob_zset_count(&self->z);
        if (count == 0) {
            PyErr_SetString(PyExc_KeyError, "the SortedSet is empty");
            return NULL;
        }
        e = gob_zset_select(&self->z, from_top ? count - 1 : 0);
        version = gob_version_of(self);
        pair = gob_pair_object(self, e);
    } while (pair != NULL && !gob_is_version(self, version));
    if (pair != NULL) {
        gob_zset_remove(&self->z, gob_unbias(e.member));
        if (gob_finish_short(&self->z.alloc) < 0) {
            Py_CLEAR(pair);
        }
    }
    return pair;
}
