#include "gob_journal.h"

static size_t bitmap_bytes(size_t inputs)
{
    return inputs / 8 + 1;
}

gob_status gob_journal_init(gob_journal *j, gob_alloc *a, size_t inputs)
{
    *j = (gob_journal){.inputs = inputs};
    j->created = gob_calloc(a, bitmap_bytes(inputs));
    return j->created == NULL ? GOB_NOMEM : GOB_OK;
}

void gob_journal_free(gob_journal *j, gob_alloc *a)
{
    gob_free(a, j->created, j->created == NULL ? 0 : bitmap_bytes(j->inputs));
    gob_free(a, j->log, j->capacity * sizeof *j->log);
    *j = (gob_journal){0};
}

gob_status gob_journal_reserve(gob_journal *j, gob_alloc *a)
{
    if (j->logged < j->capacity) {
        return GOB_OK;
    }
    size_t capacity = j->capacity + j->capacity / 2 + 16;
    size_t bytes;
    if (!gob_size_mul(capacity, sizeof *j->log, &bytes)) {
        return GOB_NOMEM;
    }
    gob_undo *log = gob_realloc(a, j->log, j->capacity * sizeof *j->log, bytes);
    if (log == NULL) {
        return GOB_NOMEM;
    }
    j->log = log;
    j->capacity = capacity;
    return GOB_OK;
}
