/* A Swiss table: integer member -> score.
 *
 * Groups of 16 control bytes are probed at once; each slot holds member and score side by side. The
 * number of groups is arbitrary and the home group is a multiply-shift of the hash, so a table
 * grows by a fraction and a rehash streams through both tables in order. Tables of up to one group
 * may own fewer slots than control bytes. */
#ifndef GOB_TABLE_H
#define GOB_TABLE_H

#include "gob_alloc.h"
#include "gob_config.h"
#include "gob_cpu.h"
#include "gob_hash.h"
#include "gob_score.h"
#include "gob_status.h"

typedef struct gob_table {
    uint8_t *ctrl; /* control bytes of all groups, then the slots; NULL while capacity is 0 */
    size_t capacity;
    size_t live;
    size_t dead;   /* deleted slots that still lengthen probes */
    uint64_t seed; /* random, so that no two tables share an order and keys cannot be crafted */
    uint8_t member_bytes;
    uint8_t score_bytes;
    uint8_t simd;
} gob_table;

#define GOB_NO_SLOT SIZE_MAX

void gob_table_init(gob_table *t, unsigned member_bytes, unsigned score_bytes, uint64_t seed);
void gob_table_free(gob_table *t, gob_alloc *a);

/* The slot of a member, or GOB_NO_SLOT. */
size_t gob_table_find(const gob_table *t, int64_t member);

/* For batches of finds: starts the load of a member's control bytes; and once these are there, of
 * the slot that they point to. */
void gob_table_prefetch(const gob_table *t, int64_t member);
void gob_table_prefetch_slot(const gob_table *t, int64_t member);

/* True when `count` more members fit without allocating. */
bool gob_table_has_room(const gob_table *t, size_t count);

/* A member that is absent, into a table that has room. */
void gob_table_insert(gob_table *t, int64_t member, double score);

void gob_table_erase(gob_table *t, size_t slot);

/* Rebuilds the table for `count` >= live members with room to grow; `tight` leaves none. */
gob_status gob_table_rehash(gob_table *t, gob_alloc *a, size_t count, bool tight);

/* The capacity that gob_table_rehash would choose. */
size_t gob_table_capacity_for(size_t count, bool tight);

/* The first full slot at or after `slot`, or GOB_NO_SLOT. */
size_t gob_table_next(const gob_table *t, size_t slot);

size_t gob_table_bytes(const gob_table *t);

bool gob_table_validate(const gob_table *t, const char **why);

GOB_INLINE size_t gob_table_groups(const gob_table *t)
{
    return (t->capacity + GOB_GROUP - 1) / GOB_GROUP;
}

GOB_INLINE uint8_t *gob_table_slot(const gob_table *t, size_t slot)
{
    return t->ctrl + gob_table_groups(t) * GOB_GROUP +
           slot * ((size_t)t->member_bytes + t->score_bytes);
}

GOB_INLINE int64_t gob_table_member(const gob_table *t, size_t slot)
{
    const uint8_t *p = gob_table_slot(t, slot);
    return t->member_bytes == 4 ? (int32_t)gob_load32(p) : (int64_t)gob_load64(p);
}

GOB_INLINE double gob_table_score(const gob_table *t, size_t slot)
{
    return gob_score_load(gob_table_slot(t, slot) + t->member_bytes, t->score_bytes);
}

GOB_INLINE void gob_table_set_score(gob_table *t, size_t slot, double score)
{
    gob_score_store(gob_table_slot(t, slot) + t->member_bytes, t->score_bytes, score);
}

#endif
