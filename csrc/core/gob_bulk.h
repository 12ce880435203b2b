/* Bulk writes to a sorted set, all or nothing.
 *
 * begin; then steps over consecutive stretches of the same input, in order, with anything in
 * between that leaves the set alone; then commit, or rollback with the same input, after which the
 * set is as it was before begin. A step that fails must be followed by rollback. */
#ifndef GOB_BULK_H
#define GOB_BULK_H

#include "gob_journal.h"
#include "gob_zset.h"

/* Input i is members[i], or row i of names, with scores.at[i * scores.step]; the arrays are those
 * of the whole call, and a step does inputs [from, from + n). */
typedef struct gob_inputs {
    const int64_t *members; /* of a set of integers */
    const gob_names *names; /* of one of names */
    gob_column scores;
} gob_inputs;

gob_status gob_bulk_begin(gob_zset *z, gob_journal *j, size_t inputs);

gob_status gob_bulk_update(gob_zset *z, gob_journal *j, gob_inputs in, size_t from, size_t n,
                           gob_mode mode, gob_changes *changes);
/* out[i], if any, gets the score after input i. */
gob_status gob_bulk_increment(gob_zset *z, gob_journal *j, gob_inputs in, size_t from, size_t n,
                              double *out);
/* *removed grows by the members that were there. */
gob_status gob_bulk_remove(gob_zset *z, gob_journal *j, gob_inputs in, size_t from, size_t n,
                           uint64_t *removed);

void gob_bulk_commit(gob_zset *z, gob_journal *j);

/* What the call did, which undoing has to know. */
typedef enum gob_verb { GOB_UPDATE, GOB_INCREMENT, GOB_REMOVE } gob_verb;

void gob_bulk_rollback(gob_zset *z, gob_journal *j, gob_inputs in, gob_verb verb);

/* The ids of inputs [from, from + n), n <= GOB_BATCH, with the loads for them under way; of names
 * that are not there, GOB_NO_ID. `room` is for n of them, and may be what is returned. */
const int64_t *gob_bulk_ids(const gob_zset *z, const gob_inputs *in, size_t from, size_t n,
                            int64_t *room);

#endif
