/* A patch: the exceptions of a page, position -> score.
 *
 * Open addressing in groups of eight: eight positions, compared at once, then their eight scores. A
 * position lies in its home group or in a later one that the groups between, all full, send it to.
 * Where the groups are is kept relative to the patch itself, so that pages are the same in memory
 * and in a file that is mapped. */
#ifndef GOB_PATCH_H
#define GOB_PATCH_H

#include "gob_alloc.h"
#include "gob_config.h"
#include "gob_group.h"
#include "gob_score.h"
#include "gob_status.h"

enum { GOB_PATCH_GROUP = 8 };

typedef struct gob_patch {
    int64_t groups; /* bytes from here to the groups; 0 without any */
    uint16_t count;
    uint16_t capacity; /* a multiple of GOB_PATCH_GROUP */
    uint32_t unused;
} gob_patch;

GOB_INLINE uint8_t *gob_patch_groups(const gob_patch *patch)
{
    return (uint8_t *)((uintptr_t)patch + (uintptr_t)patch->groups);
}

/* What all patches of a set have in common. */
typedef struct gob_patch_kind {
    uint8_t score_bytes;
    uint8_t simd;
} gob_patch_kind;

size_t gob_patch_bytes(gob_patch_kind kind, unsigned capacity);

/* The capacity for n exceptions, with room to grow or without. */
unsigned gob_patch_capacity(unsigned n, bool tight);

/* True when one more fits without a resize. */
bool gob_patch_has_room(const gob_patch *patch);

/* Moves to another capacity that holds all; GOB_NOMEM changes nothing. */
gob_status gob_patch_resize(gob_patch *patch, gob_alloc *a, gob_patch_kind kind, unsigned capacity);

void gob_patch_free(gob_patch *patch, gob_alloc *a, gob_patch_kind kind);

/* An absent position, into a patch that has room; and a present one out of it. */
void gob_patch_insert(gob_patch *patch, gob_patch_kind kind, unsigned position, double score);
void gob_patch_remove(gob_patch *patch, gob_patch_kind kind, unsigned position);

/* The same positions and scores in `groups`, which has room for the patch's capacity: bytes that
 * depend on nothing else. */
void gob_patch_lay(const gob_patch *patch, gob_patch_kind kind, uint8_t *groups);

/* Whether every position is found, and there are `count` of them below `end`. */
bool gob_patch_validate(const gob_patch *patch, gob_patch_kind kind, unsigned end);

/* The position in a place, or -1 where it is free. */
int gob_patch_position(const gob_patch *patch, gob_patch_kind kind, unsigned place);

/* The score in a place that is not free. */
double gob_patch_score(const gob_patch *patch, gob_patch_kind kind, unsigned place);

/* The group where the probe for a position starts. */
GOB_INLINE uint8_t *gob_patch_home(const gob_patch *patch, gob_patch_kind kind, unsigned position)
{
    unsigned groups = patch->capacity / GOB_PATCH_GROUP;
    unsigned home = (((position * 40503U) & 0xFFFF) * groups) >> 16;
    return gob_patch_groups(patch) + (size_t)home * GOB_PATCH_GROUP * (2U + kind.score_bytes);
}

/* The score of a position that is present. In a file that is mapped there may be none: then NULL,
 * or other bytes of the page. */
GOB_INLINE uint8_t *gob_patch_find(const gob_patch *patch, gob_patch_kind kind, unsigned position)
{
    size_t size = (size_t)GOB_PATCH_GROUP * (2U + kind.score_bytes);
    const uint8_t *end = gob_patch_groups(patch) + patch->capacity / GOB_PATCH_GROUP * size;
    uint8_t *group = gob_patch_home(patch, kind, position);
    for (unsigned left = patch->capacity / GOB_PATCH_GROUP;; left--) {
        unsigned match = gob_group_match8(group, (uint16_t)position, (gob_simd)kind.simd);
        if (GOB_LIKELY(match != 0)) {
            return group + 2 * GOB_PATCH_GROUP + gob_ctz64(match) * (size_t)kind.score_bytes;
        }
        if (left <= 1) {
            return NULL;
        }
        group = group + size == end ? gob_patch_groups(patch) : group + size;
    }
}

#endif
