#include "gob_patch.h"

#include "gob_check.h"

enum { FREE = 0xFFFF };

static unsigned group_count(const gob_patch *patch)
{
    return patch->capacity / GOB_PATCH_GROUP;
}

static unsigned next_group(const gob_patch *patch, unsigned group)
{
    return group + 1 == group_count(patch) ? 0 : group + 1;
}

static uint8_t *group_at(const gob_patch *patch, gob_patch_kind kind, unsigned group)
{
    return gob_patch_groups(patch) + (size_t)group * GOB_PATCH_GROUP * (2U + kind.score_bytes);
}

static unsigned home_of(const gob_patch *patch, gob_patch_kind kind, unsigned position)
{
    size_t offset = (size_t)(gob_patch_home(patch, kind, position) - gob_patch_groups(patch));
    return (unsigned)(offset / (GOB_PATCH_GROUP * (2U + kind.score_bytes)));
}

size_t gob_patch_bytes(gob_patch_kind kind, unsigned capacity)
{
    return (size_t)capacity * (2U + kind.score_bytes);
}

unsigned gob_patch_capacity(unsigned n, bool tight)
{
    unsigned load = tight ? GOB_PATCH_FULL : GOB_PATCH_GROWN;
    unsigned places = (n * 64 + load - 1) / load;
    return (places + GOB_PATCH_GROUP - 1) / GOB_PATCH_GROUP * GOB_PATCH_GROUP;
}

bool gob_patch_has_room(const gob_patch *patch)
{
    return (patch->count + 1U) * 64 <= patch->capacity * (unsigned)GOB_PATCH_FULL;
}

int gob_patch_position(const gob_patch *patch, gob_patch_kind kind, unsigned place)
{
    const uint8_t *group = group_at(patch, kind, place / GOB_PATCH_GROUP);
    unsigned position = gob_load16(group + 2 * (place % GOB_PATCH_GROUP));
    return position == FREE ? -1 : (int)position;
}

double gob_patch_score(const gob_patch *patch, gob_patch_kind kind, unsigned place)
{
    const uint8_t *scores =
        group_at(patch, kind, place / GOB_PATCH_GROUP) + (size_t)2 * GOB_PATCH_GROUP;
    return gob_score_load(scores + place % GOB_PATCH_GROUP * (size_t)kind.score_bytes,
                          kind.score_bytes);
}

void gob_patch_insert(gob_patch *patch, gob_patch_kind kind, unsigned position, double score)
{
    unsigned home = home_of(patch, kind, position);
    for (unsigned group = home;; group = next_group(patch, group)) {
        uint8_t *at = group_at(patch, kind, group);
        unsigned room = gob_group_match8(at, FREE, (gob_simd)kind.simd);
        if (room != 0) {
            unsigned i = gob_ctz64(room);
            gob_store16(at + 2 * i, (uint16_t)position);
            gob_score_store(at + 2 * GOB_PATCH_GROUP + i * (size_t)kind.score_bytes,
                            kind.score_bytes, score);
            patch->count++;
            return;
        }
    }
}

/* A place of `group` whose position may move back into `hole`, an earlier group of its probe; or
 * GOB_PATCH_GROUP. */
static unsigned movable(const gob_patch *patch, gob_patch_kind kind, unsigned group, unsigned hole)
{
    unsigned groups = group_count(patch);
    for (unsigned i = 0; i < GOB_PATCH_GROUP; i++) {
        unsigned position = gob_load16(group_at(patch, kind, group) + 2 * i);
        if (position != FREE) {
            unsigned home = home_of(patch, kind, position);
            unsigned from_home = (group + groups - home) % groups;
            unsigned from_hole = (group + groups - hole) % groups;
            if (from_home >= from_hole) {
                return i;
            }
        }
    }
    return GOB_PATCH_GROUP;
}

/* Probes pass through full groups only, so a place freed in one is filled again from behind, until
 * the group that ends the run. */
void gob_patch_remove(gob_patch *patch, gob_patch_kind kind, unsigned position)
{
    const uint8_t *score = gob_patch_find(patch, kind, position);
    size_t size = GOB_PATCH_GROUP * (2U + kind.score_bytes);
    size_t offset = (size_t)(score - gob_patch_groups(patch));
    unsigned hole = (unsigned)(offset / size);
    unsigned at = (unsigned)((offset % size - 2 * GOB_PATCH_GROUP) / kind.score_bytes);
    unsigned width = kind.score_bytes;
    bool full = gob_group_match8(group_at(patch, kind, hole), FREE, (gob_simd)kind.simd) == 0;
    for (unsigned group = next_group(patch, hole); full && group != hole;
         group = next_group(patch, group)) {
        uint8_t *from = group_at(patch, kind, group);
        full = gob_group_match8(from, FREE, (gob_simd)kind.simd) == 0;
        unsigned i = movable(patch, kind, group, hole);
        if (i != GOB_PATCH_GROUP) {
            uint8_t *to = group_at(patch, kind, hole);
            memcpy(to + 2 * at, from + 2 * i, 2);
            memcpy(to + 2 * GOB_PATCH_GROUP + at * width, from + 2 * GOB_PATCH_GROUP + i * width,
                   width);
            hole = group;
            at = i;
        }
    }
    gob_store16(group_at(patch, kind, hole) + 2 * at, FREE);
    patch->count--;
}

static void point_to(gob_patch *patch, const uint8_t *groups)
{
    patch->groups = groups == NULL ? 0 : (int64_t)((uintptr_t)groups - (uintptr_t)patch);
}

gob_status gob_patch_resize(gob_patch *patch, gob_alloc *a, gob_patch_kind kind, unsigned capacity)
{
    GOB_ASSERT(capacity >= patch->count);
    gob_patch moved = {.capacity = (uint16_t)capacity};
    uint8_t *groups = NULL;
    if (capacity != 0) {
        groups = gob_malloc(a, gob_patch_bytes(kind, capacity));
        if (groups == NULL) {
            return GOB_NOMEM;
        }
        memset(groups, 0xFF, gob_patch_bytes(kind, capacity));
        point_to(&moved, groups);
    }
    for (unsigned place = 0; place < patch->capacity; place++) {
        int position = gob_patch_position(patch, kind, place);
        if (position >= 0) {
            gob_patch_insert(&moved, kind, (unsigned)position, gob_patch_score(patch, kind, place));
        }
    }
    gob_patch_free(patch, a, kind);
    *patch = moved;
    point_to(patch, groups);
    return GOB_OK;
}

void gob_patch_free(gob_patch *patch, gob_alloc *a, gob_patch_kind kind)
{
    if (patch->capacity != 0) {
        gob_free(a, gob_patch_groups(patch), gob_patch_bytes(kind, patch->capacity));
    }
    *patch = (gob_patch){0};
}

void gob_patch_lay(const gob_patch *patch, gob_patch_kind kind, uint8_t *groups)
{
    if (patch->capacity == 0) {
        return;
    }
    uint64_t present[(FREE + 1) / 64] = {0};
    gob_patch laid = {.capacity = patch->capacity};
    point_to(&laid, groups);
    memset(groups, 0xFF, gob_patch_bytes(kind, patch->capacity));
    for (unsigned place = 0; place < patch->capacity; place++) {
        int position = gob_patch_position(patch, kind, place);
        if (position >= 0) {
            present[position / 64] |= UINT64_C(1) << (position % 64);
        }
    }
    for (unsigned word = 0; word < (FREE + 1) / 64; word++) {
        for (uint64_t left = present[word]; left != 0; left &= left - 1) {
            unsigned position = word * 64 + gob_ctz64(left);
            const uint8_t *score = gob_patch_find(patch, kind, position);
            gob_patch_insert(&laid, kind, position, gob_score_load(score, kind.score_bytes));
        }
    }
}

bool gob_patch_validate(const gob_patch *patch, gob_patch_kind kind, unsigned end)
{
    uint64_t present[(FREE + 1) / 64] = {0};
    unsigned count = 0;
    for (unsigned place = 0; place < patch->capacity; place++) {
        int position = gob_patch_position(patch, kind, place);
        if (position < 0) {
            continue;
        }
        uint64_t bit = UINT64_C(1) << (position % 64);
        if ((unsigned)position >= end || (present[position / 64] & bit) != 0) {
            return false;
        }
        present[position / 64] |= bit;
        count++;
        unsigned group = home_of(patch, kind, (unsigned)position);
        for (; group != place / GOB_PATCH_GROUP; group = next_group(patch, group)) {
            const uint8_t *at = group_at(patch, kind, group);
            if (gob_group_match8(at, FREE, (gob_simd)kind.simd) != 0) {
                return false;
            }
        }
    }
    return count == patch->count;
}
