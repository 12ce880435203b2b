/* Bulk increments of an index: the work of counting, and the hottest loop of goblin. */
#ifndef GOB_INCREMENT_H
#define GOB_INCREMENT_H

#include "gob_index.h"
#include "gob_journal.h"

/* What a bulk increment did; both only ever become true. */
typedef struct gob_effects {
    bool changed; /* some score, or a member was created */
    bool stuck;   /* some finite score was too large for its addend to change it */
} gob_effects;

/* Adds to n members in input order, input i journalled as `at + i`; out, if any, gets the new
 * scores. Stops at the first failure, everything before it done and journalled. */
gob_status gob_increment_many(gob_index *ix, gob_alloc *a, const int64_t *members, gob_column by,
                              size_t n, gob_journal *j, size_t at, double *out,
                              gob_effects *effects);

#endif
