#include "gob_arena.h"

#include "gob_check.h"

static size_t lists_bytes(const gob_arena *r)
{
    return r->free == NULL ? 0 : GOB_FREE_LENGTHS * sizeof *r->free;
}

void gob_arena_free(gob_arena *r, gob_alloc *a)
{
    gob_free(a, r->at, r->capacity);
    gob_free(a, r->free, lists_bytes(r));
    *r = (gob_arena){0};
}

size_t gob_arena_bytes(const gob_arena *r)
{
    return r->capacity + lists_bytes(r);
}

gob_status gob_arena_reserve(gob_arena *r, gob_alloc *a, size_t bytes)
{
    if (bytes <= r->capacity - r->used) {
        return GOB_OK;
    }
    if (bytes > SIZE_MAX / 4 - r->used) {
        return GOB_NOMEM;
    }
    size_t least = r->used + bytes;
    /* Large blocks are remapped, not copied, so small steps cost little: 24.2 bytes a name became
     * 23.8 at 21.6 M with 1/32 instead of 1/8. */
    size_t capacity = least + least / 32;
    capacity = least < 256 ? (least + 15) / 16 * 16 : capacity;
    uint8_t *at = gob_realloc(a, r->at, r->capacity, capacity);
    if (at == NULL) {
        return GOB_NOMEM;
    }
    r->at = at;
    r->capacity = capacity;
    return GOB_OK;
}

bool gob_arena_take(gob_arena *r, size_t length, size_t bytes, size_t link, size_t *offset)
{
    if (r->free == NULL || length >= GOB_FREE_LENGTHS || r->free[length] == 0) {
        return false;
    }
    *offset = (size_t)r->free[length] - 1;
    r->free[length] = gob_load64(r->at + *offset + link);
    r->dead -= bytes;
    return true;
}

/* Whether free records of this length, which has to hold a link, are kept in a list. */
static bool is_listed(const gob_arena *r, size_t length)
{
    return length >= sizeof(uint64_t) && length < GOB_FREE_LENGTHS && r->used >= GOB_FREE_FROM;
}

void gob_arena_give(gob_arena *r, gob_alloc *a, size_t offset, size_t length, size_t bytes,
                    size_t link)
{
    r->dead += bytes;
    if (!is_listed(r, length)) {
        return;
    }
    if (r->free == NULL) {
        r->free = gob_calloc(a, GOB_FREE_LENGTHS * sizeof *r->free);
    }
    if (r->free != NULL) {
        gob_store64(r->at + offset + link, r->free[length]);
        r->free[length] = offset + 1;
    }
}

bool gob_arena_wasteful(const gob_arena *r)
{
    size_t kept = r->used - r->dead;
    return r->dead > kept / 2 + 128 || r->capacity - r->used > kept / 2 + 128;
}

bool gob_arena_validate(const gob_arena *r, size_t link,
                        bool (*is_free)(const void *owner, size_t offset, size_t length),
                        const void *owner, const char **why)
{
    for (size_t length = 0; r->free != NULL && length < GOB_FREE_LENGTHS; length++) {
        uint64_t head = r->free[length];
        for (size_t steps = 0; head != 0; steps++) {
            size_t offset = (size_t)head - 1;
            GOB_DEMAND(offset < r->used && steps <= r->used, "arena: link of a free record");
            GOB_DEMAND(is_free(owner, offset, length), "arena: a record in the wrong free list");
            head = gob_load64(r->at + offset + link);
        }
    }
    return true;
}
