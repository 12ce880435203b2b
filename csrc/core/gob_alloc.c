#include "gob_alloc.h"

#include <stdlib.h>

#include "gob_check.h"

void gob_alloc_init(gob_alloc *a)
{
    a->live = 0;
    a->fail_at = 0;
    a->pace = NULL;
}

static bool must_fail(gob_alloc *a)
{
    return a->fail_at != 0 && --a->fail_at == 0;
}

void *gob_malloc(gob_alloc *a, size_t size)
{
    GOB_ASSERT(size != 0);
    void *p = must_fail(a) ? NULL : malloc(size);
    if (p != NULL) {
        gob_alloc_count(a, size);
    }
    return p;
}

void *gob_calloc(gob_alloc *a, size_t size)
{
    GOB_ASSERT(size != 0);
    void *p = must_fail(a) ? NULL : calloc(1, size);
    if (p != NULL) {
        gob_alloc_count(a, size);
    }
    return p;
}

void *gob_realloc(gob_alloc *a, void *p, size_t old_size, size_t size)
{
    GOB_ASSERT(size != 0);
    void *q = must_fail(a) ? NULL : realloc(p, size);
    if (q != NULL) {
        gob_alloc_count(a, size - old_size);
    }
    return q;
}

void gob_free(gob_alloc *a, void *p, size_t size)
{
    GOB_ASSERT(a->live >= size);
    gob_alloc_count(a, 0 - size);
    free(p);
}
