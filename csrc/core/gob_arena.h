/* Records of any length in one block that grows. Their owner knows what is in them; a free one has
 * a link in its bytes and is taken again by another of its length. */
#ifndef GOB_ARENA_H
#define GOB_ARENA_H

#include "gob_alloc.h"
#include "gob_config.h"
#include "gob_status.h"

typedef struct gob_arena {
    uint8_t *at;
    size_t used; /* bytes of records, free ones too */
    size_t capacity;
    size_t dead;    /* bytes of free records */
    uint64_t *free; /* heads of the lists of free records by length, offset + 1; or NULL */
} gob_arena;

/* Gives all memory back. */
void gob_arena_free(gob_arena *r, gob_alloc *a);

/* Room for so many more bytes of records. */
gob_status gob_arena_reserve(gob_arena *r, gob_alloc *a, size_t bytes);

/* A free record of this length and so many bytes in all; false where there is none. In it the link
 * is `link` bytes from the beginning, as it is for all records of an arena. */
bool gob_arena_take(gob_arena *r, size_t length, size_t bytes, size_t link, size_t *offset);

/* Frees a record that its owner has marked. Too short and too long ones, those of small arenas, and
 * all while there is no memory for the lists, wait until the owner makes a new arena. */
void gob_arena_give(gob_arena *r, gob_alloc *a, size_t offset, size_t length, size_t bytes,
                    size_t link);

/* Live bytes. */
size_t gob_arena_bytes(const gob_arena *r);

/* Whether a new arena would give much memory back. */
bool gob_arena_wasteful(const gob_arena *r);

/* Whether the lists have records that `is_free` confirms. */
bool gob_arena_validate(const gob_arena *r, size_t link,
                        bool (*is_free)(const void *owner, size_t offset, size_t length),
                        const void *owner, const char **why);

#endif
