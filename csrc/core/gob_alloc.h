/* The allocator that each object carries: counts live bytes, and can fail on demand. With it goes
 * the pace of long work, so that both reach whatever builds a part of the object.
 *
 * Sizes are passed back on free, so nothing is stored beside a block and the count is exact. */
#ifndef GOB_ALLOC_H
#define GOB_ALLOC_H

#include "gob_compiler.h"
#include "gob_pace.h"

typedef struct gob_alloc {
    uint64_t live : 44;    /* bytes handed out and not given back */
    uint64_t fail_at : 20; /* the fail_at-th allocation from now fails, once; 0 for never */
    gob_pace *pace;        /* of the host's long work on the object; NULL for none */
} gob_alloc;

void gob_alloc_init(gob_alloc *a);

/* Counts bytes that are not the allocator's own; what wraps around takes some off. */
GOB_INLINE void gob_alloc_count(gob_alloc *a, size_t bytes)
{
    a->live = (a->live + bytes) & ((UINT64_C(1) << 44) - 1);
}

GOB_INLINE void gob_alloc_fail_at(gob_alloc *a, uint64_t nth)
{
    a->fail_at = (uint32_t)nth & ((1U << 20) - 1);
}

/* NULL on failure, with nothing changed; size must not be 0. */
void *gob_malloc(gob_alloc *a, size_t size);
void *gob_calloc(gob_alloc *a, size_t size);

/* old_size is the size p was allocated with; p may be NULL when old_size is 0. On NULL, p stands.
 */
void *gob_realloc(gob_alloc *a, void *p, size_t old_size, size_t size);

/* p may be NULL when size is 0. */
void gob_free(gob_alloc *a, void *p, size_t size);

/* *out = a * b, or false when that does not fit. */
GOB_INLINE bool gob_size_mul(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

#endif
