/* A Swiss table: integer member -> score.
 *
 * With score_bytes 0 it holds members alone, and with hashes of the caller's they may stand for
 * something else: the refs of gob_members stand for names.
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
#include "gob_group.h"
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

/* Control bytes: a full slot has the low seven bits of its hash. */
enum {
    GOB_CTRL_EMPTY = 0x80,
    GOB_CTRL_DELETED = 0xFE, /* was full, in a group that probes may have passed through */
    GOB_CTRL_NEVER = 0xFF,   /* no slot behind it */
};

/* For batches of finds: starts the load of a hash's control bytes; and once these are there, of
 * the slot that they point to, which is returned (or GOB_NO_SLOT). */
void gob_table_prefetch_hash(const gob_table *t, uint64_t hash);
size_t gob_table_prefetch_slot(const gob_table *t, uint64_t hash);

/* The same for a member that is to be inserted into a table with slots: the place it will take. */
void gob_table_prefetch_room(const gob_table *t, uint64_t hash);

GOB_INLINE void gob_table_prefetch(const gob_table *t, int64_t member)
{
    gob_table_prefetch_hash(t, gob_hash_int(member, t->seed));
}

/* True when `count` more members fit without allocating. */
bool gob_table_has_room(const gob_table *t, size_t count);

/* A member that is absent, into a table that has room. */
void gob_table_insert_hashed(gob_table *t, uint64_t hash, int64_t member, double score);

GOB_INLINE void gob_table_insert(gob_table *t, int64_t member, double score)
{
    gob_table_insert_hashed(t, gob_hash_int(member, t->seed), member, score);
}

void gob_table_erase(gob_table *t, size_t slot);

/* An empty table like t with the room that gob_table_rehash would give it. */
gob_status gob_table_resized(const gob_table *t, gob_alloc *a, size_t count, bool tight,
                             gob_table *resized);

/* Inserts all members of t into another table that has room. GOB_STOPPED: only some. */
gob_status gob_table_pour(const gob_table *t, gob_alloc *a, gob_table *into);

/* Rebuilds the table for `count` >= live members with room to grow; `tight` leaves none. */
gob_status gob_table_rehash(gob_table *t, gob_alloc *a, size_t count, bool tight);

/* The same members and scores in a tight table of that seed, whose bytes depend on nothing else. */
gob_status gob_table_relaid(const gob_table *t, gob_alloc *a, uint64_t seed, gob_table *relaid);

/* Every member of an other table, into one that has room and none of them. GOB_STOPPED: only some.
 */
gob_status gob_table_insert_all(gob_table *t, const gob_table *other, gob_pace *pace);

/* The capacity that gob_table_rehash would choose. */
size_t gob_table_capacity_for(size_t count, bool tight);

/* The first full slot at or after `slot`, or GOB_NO_SLOT. */
size_t gob_table_next(const gob_table *t, size_t slot);

size_t gob_table_bytes(const gob_table *t);

/* Whether no control byte is that of a slot beyond the capacity. */
bool gob_table_ends(const gob_table *t);

bool gob_table_validate(const gob_table *t, gob_pace *pace, const char **why);

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

GOB_INLINE void gob_table_set_member(gob_table *t, size_t slot, int64_t member)
{
    uint8_t *p = gob_table_slot(t, slot);
    if (t->member_bytes == 4) {
        gob_store32(p, (uint32_t)(uint64_t)member);
    } else {
        gob_store64(p, (uint64_t)member);
    }
}

GOB_INLINE double gob_table_score(const gob_table *t, size_t slot)
{
    return gob_score_load(gob_table_slot(t, slot) + t->member_bytes, t->score_bytes);
}

GOB_INLINE void gob_table_set_score(gob_table *t, size_t slot, double score)
{
    gob_score_store(gob_table_slot(t, slot) + t->member_bytes, t->score_bytes, score);
}

GOB_INLINE uint8_t gob_table_tag(uint64_t hash)
{
    return (uint8_t)(hash & 0x7F);
}

GOB_INLINE size_t gob_table_home(const gob_table *t, uint64_t hash)
{
    return (size_t)gob_mulhi64(hash, gob_table_groups(t));
}

GOB_INLINE size_t gob_table_next_group(const gob_table *t, size_t group)
{
    return group + 1 == gob_table_groups(t) ? 0 : group + 1;
}

/* For a single find in a table with slots of up to 4 bytes: starts the loads of the control bytes
 * and of the slots behind them, which otherwise wait for each other. */
GOB_INLINE void gob_table_prefetch_group(const gob_table *t, uint64_t hash)
{
    size_t group = gob_table_home(t, hash);
    const uint8_t *slots = gob_table_slot(t, group * GOB_GROUP);
    GOB_PREFETCH(t->ctrl + group * GOB_GROUP);
    GOB_PREFETCH(slots);
    GOB_PREFETCH(slots + 63);
}

/* The slot with this hash whose member `is` what is looked for, or GOB_NO_SLOT. */
GOB_INLINE size_t gob_table_seek(const gob_table *t, uint64_t hash,
                                 bool (*is)(const void *wanted, int64_t member), const void *wanted)
{
    size_t groups = gob_table_groups(t);
    if (groups == 0) {
        return GOB_NO_SLOT;
    }
    gob_simd simd = (gob_simd)t->simd;
    size_t group = gob_table_home(t, hash);
    for (size_t probe = 0; probe < groups; probe++) {
        const uint8_t *ctrl = t->ctrl + group * GOB_GROUP;
        for (unsigned m = gob_group_match(ctrl, gob_table_tag(hash), simd); m != 0; m &= m - 1) {
            size_t slot = group * GOB_GROUP + gob_ctz64(m);
            if (GOB_LIKELY(is(wanted, gob_table_member(t, slot)))) {
                return slot;
            }
        }
        if (GOB_LIKELY(gob_group_match(ctrl, GOB_CTRL_EMPTY, simd) != 0)) {
            return GOB_NO_SLOT;
        }
        group = gob_table_next_group(t, group);
    }
    return GOB_NO_SLOT;
}

#endif
