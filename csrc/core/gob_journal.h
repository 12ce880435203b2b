/* The undo journal of a bulk call: one bit per input that created its member, and the old score
 * where arithmetic cannot bring it back. Increments of integers, the common case, log nothing. */
#ifndef GOB_JOURNAL_H
#define GOB_JOURNAL_H

#include "gob_alloc.h"
#include "gob_status.h"

typedef struct gob_undo {
    size_t at; /* which input */
    double old;
} gob_undo;

typedef struct gob_journal {
    uint8_t *created;
    size_t inputs;
    size_t done;   /* inputs carried out; the first one that failed had no effect */
    gob_undo *log; /* ascending by `at` */
    size_t logged;
    size_t capacity;
    uint64_t stamp; /* of the set before the call */
} gob_journal;

gob_status gob_journal_init(gob_journal *j, gob_alloc *a, size_t inputs);
void gob_journal_free(gob_journal *j, gob_alloc *a);

/* Room for one more entry of the log, before the write that it would undo. */
gob_status gob_journal_reserve(gob_journal *j, gob_alloc *a);

GOB_INLINE void gob_journal_log(gob_journal *j, size_t at, double old)
{
    j->log[j->logged++] = (gob_undo){at, old};
}

GOB_INLINE void gob_journal_created(gob_journal *j, size_t at)
{
    j->created[at / 8] = (uint8_t)(j->created[at / 8] | 1U << (at % 8));
}

GOB_INLINE bool gob_journal_was_created(const gob_journal *j, size_t at)
{
    return (j->created[at / 8] >> (at % 8) & 1) != 0;
}

#endif
