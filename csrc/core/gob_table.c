#include "gob_table.h"

#include "gob_check.h"
#include "gob_group.h"

/* Control bytes: a full slot has the low seven bits of its hash. */
enum {
    EMPTY = 0x80,
    DELETED = 0xFE, /* was full, in a group that probes may have passed through */
    NEVER = 0xFF,   /* no slot behind it */
};

static uint8_t tag_of(uint64_t hash)
{
    return (uint8_t)(hash & 0x7F);
}

static size_t home_of(const gob_table *t, uint64_t hash)
{
    return (size_t)gob_mulhi64(hash, gob_table_groups(t));
}

static size_t next_group(const gob_table *t, size_t group)
{
    return group + 1 == gob_table_groups(t) ? 0 : group + 1;
}

static size_t bytes_for(const gob_table *t, size_t capacity)
{
    size_t groups = (capacity + GOB_GROUP - 1) / GOB_GROUP;
    return groups * GOB_GROUP + capacity * ((size_t)t->member_bytes + t->score_bytes);
}

/* How many slots may be full or deleted. A single group may fill up: its probe ends all the same.
 */
static size_t limit_of(size_t capacity)
{
    return capacity <= GOB_GROUP
               ? capacity
               : capacity / 64 * GOB_TABLE_FULL + capacity % 64 * GOB_TABLE_FULL / 64;
}

void gob_table_init(gob_table *t, unsigned member_bytes, unsigned score_bytes, uint64_t seed)
{
    *t = (gob_table){
        .seed = seed,
        .member_bytes = (uint8_t)member_bytes,
        .score_bytes = (uint8_t)score_bytes,
        .simd = (uint8_t)gob_cpu_simd(),
    };
}

size_t gob_table_bytes(const gob_table *t)
{
    return bytes_for(t, t->capacity);
}

void gob_table_free(gob_table *t, gob_alloc *a)
{
    gob_free(a, t->ctrl, gob_table_bytes(t));
    t->ctrl = NULL;
    t->capacity = t->live = t->dead = 0;
}

size_t gob_table_find(const gob_table *t, int64_t member)
{
    uint64_t hash = gob_hash_int(member, t->seed);
    size_t groups = gob_table_groups(t);
    if (groups == 0) {
        return GOB_NO_SLOT;
    }
    gob_simd simd = (gob_simd)t->simd;
    size_t group = home_of(t, hash);
    for (size_t probe = 0; probe < groups; probe++) {
        const uint8_t *ctrl = t->ctrl + group * GOB_GROUP;
        for (unsigned m = gob_group_match(ctrl, tag_of(hash), simd); m != 0; m &= m - 1) {
            size_t slot = group * GOB_GROUP + gob_ctz64(m);
            if (GOB_LIKELY(gob_table_member(t, slot) == member)) {
                return slot;
            }
        }
        if (GOB_LIKELY(gob_group_match(ctrl, EMPTY, simd) != 0)) {
            return GOB_NO_SLOT;
        }
        group = next_group(t, group);
    }
    return GOB_NO_SLOT;
}

void gob_table_prefetch(const gob_table *t, int64_t member)
{
    if (t->capacity != 0) {
        GOB_PREFETCH(t->ctrl + home_of(t, gob_hash_int(member, t->seed)) * GOB_GROUP);
    }
}

void gob_table_prefetch_slot(const gob_table *t, int64_t member)
{
    if (t->capacity != 0) {
        uint64_t hash = gob_hash_int(member, t->seed);
        size_t slot = home_of(t, hash) * GOB_GROUP;
        unsigned match = gob_group_match(t->ctrl + slot, tag_of(hash), (gob_simd)t->simd);
        if (match != 0) {
            GOB_PREFETCH(gob_table_slot(t, slot + gob_ctz64(match)));
        }
    }
}

bool gob_table_has_room(const gob_table *t, size_t count)
{
    return t->live + t->dead + count <= limit_of(t->capacity);
}

void gob_table_insert(gob_table *t, int64_t member, double score)
{
    uint64_t hash = gob_hash_int(member, t->seed);
    gob_simd simd = (gob_simd)t->simd;
    size_t group = home_of(t, hash);
    unsigned room;
    for (;; group = next_group(t, group)) {
        const uint8_t *ctrl = t->ctrl + group * GOB_GROUP;
        room = gob_group_match(ctrl, EMPTY, simd) | gob_group_match(ctrl, DELETED, simd);
        if (room != 0) {
            break;
        }
    }
    size_t slot = group * GOB_GROUP + gob_ctz64(room);
    t->dead -= t->ctrl[slot] == DELETED;
    t->live++;
    t->ctrl[slot] = tag_of(hash);
    uint8_t *p = gob_table_slot(t, slot);
    if (t->member_bytes == 4) {
        gob_store32(p, (uint32_t)(uint64_t)member);
    } else {
        gob_store64(p, (uint64_t)member);
    }
    gob_score_store(p + t->member_bytes, t->score_bytes, score);
}

void gob_table_erase(gob_table *t, size_t slot)
{
    /* A probe passes through a group only while it has no empty byte, so a group that has one stays
     * an end of probes; and a single group is never passed through. */
    const uint8_t *ctrl = t->ctrl + slot / GOB_GROUP * GOB_GROUP;
    bool ends = gob_table_groups(t) == 1 || gob_group_match(ctrl, EMPTY, (gob_simd)t->simd) != 0;
    t->ctrl[slot] = ends ? EMPTY : DELETED;
    t->dead += !ends;
    t->live--;
}

size_t gob_table_capacity_for(size_t count, bool tight)
{
    if (count <= GOB_GROUP) {
        return (count + 3) / 4 * 4;
    }
    size_t load = tight ? GOB_TABLE_FULL : GOB_TABLE_GROWN;
    return (count / load * 64 + count % load * 64 / load + GOB_GROUP) / GOB_GROUP * GOB_GROUP;
}

gob_status gob_table_rehash(gob_table *t, gob_alloc *a, size_t count, bool tight)
{
    GOB_ASSERT(count >= t->live);
    if (count > SIZE_MAX / 64) {
        return GOB_NOMEM;
    }
    gob_table grown = *t;
    grown.capacity = gob_table_capacity_for(count, tight);
    grown.live = grown.dead = 0;
    grown.ctrl = NULL;
    if (grown.capacity != 0) {
        grown.ctrl = gob_malloc(a, gob_table_bytes(&grown));
        if (grown.ctrl == NULL) {
            return GOB_NOMEM;
        }
        memset(grown.ctrl, EMPTY, gob_table_groups(&grown) * GOB_GROUP);
        memset(grown.ctrl + grown.capacity, NEVER,
               gob_table_groups(&grown) * GOB_GROUP - grown.capacity);
    }
    for (size_t slot = 0; (slot = gob_table_next(t, slot)) != GOB_NO_SLOT; slot++) {
        gob_table_insert(&grown, gob_table_member(t, slot), gob_table_score(t, slot));
    }
    gob_table_free(t, a);
    *t = grown;
    return GOB_OK;
}

size_t gob_table_next(const gob_table *t, size_t slot)
{
    for (; slot < t->capacity; slot++) {
        if (t->ctrl[slot] < EMPTY) {
            return slot;
        }
    }
    return GOB_NO_SLOT;
}

bool gob_table_validate(const gob_table *t, const char **why)
{
    size_t live = 0;
    size_t dead = 0;
    for (size_t slot = 0; slot < t->capacity; slot++) {
        uint8_t ctrl = t->ctrl[slot];
        GOB_DEMAND(ctrl < EMPTY || ctrl == EMPTY || ctrl == DELETED, "table: control byte");
        live += ctrl < EMPTY;
        dead += ctrl == DELETED;
        if (ctrl < EMPTY) {
            GOB_DEMAND(gob_table_find(t, gob_table_member(t, slot)) == slot,
                       "table: a member is not found at its slot");
        }
    }
    for (size_t i = t->capacity; i < gob_table_groups(t) * GOB_GROUP; i++) {
        GOB_DEMAND(t->ctrl[i] == NEVER, "table: control byte without a slot");
    }
    GOB_DEMAND(live == t->live, "table: live count");
    GOB_DEMAND(dead == t->dead, "table: deleted count");
    GOB_DEMAND(t->capacity <= GOB_GROUP || live < t->capacity, "table: no end for a probe");
    return true;
}
