#include "gob_table.h"

#include "gob_check.h"

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

static bool is_member(const void *wanted, int64_t member)
{
    return *(const int64_t *)wanted == member;
}

size_t gob_table_find(const gob_table *t, int64_t member)
{
    return gob_table_seek(t, gob_hash_int(member, t->seed), is_member, &member);
}

void gob_table_prefetch_hash(const gob_table *t, uint64_t hash)
{
    if (t->capacity != 0) {
        GOB_PREFETCH(t->ctrl + gob_table_home(t, hash) * GOB_GROUP);
    }
}

size_t gob_table_prefetch_slot(const gob_table *t, uint64_t hash)
{
    if (t->capacity == 0) {
        return GOB_NO_SLOT;
    }
    size_t slot = gob_table_home(t, hash) * GOB_GROUP;
    unsigned match = gob_group_match(t->ctrl + slot, gob_table_tag(hash), (gob_simd)t->simd);
    if (match == 0) {
        gob_table_prefetch_room(t, hash);
        return GOB_NO_SLOT;
    }
    slot += gob_ctz64(match);
    GOB_PREFETCH(gob_table_slot(t, slot));
    return slot;
}

void gob_table_prefetch_room(const gob_table *t, uint64_t hash)
{
    size_t slot = gob_table_home(t, hash) * GOB_GROUP;
    unsigned room = gob_group_match(t->ctrl + slot, GOB_CTRL_EMPTY, (gob_simd)t->simd);
    if (room != 0) {
        GOB_PREFETCH(gob_table_slot(t, slot + gob_ctz64(room)));
    }
}

bool gob_table_has_room(const gob_table *t, size_t count)
{
    return t->live + t->dead + count <= limit_of(t->capacity);
}

void gob_table_insert_hashed(gob_table *t, uint64_t hash, int64_t member, double score)
{
    gob_simd simd = (gob_simd)t->simd;
    size_t group = gob_table_home(t, hash);
    unsigned room;
    for (;; group = gob_table_next_group(t, group)) {
        const uint8_t *ctrl = t->ctrl + group * GOB_GROUP;
        room = gob_group_match(ctrl, GOB_CTRL_EMPTY, simd) |
               gob_group_match(ctrl, GOB_CTRL_DELETED, simd);
        if (room != 0) {
            break;
        }
    }
    size_t slot = group * GOB_GROUP + gob_ctz64(room);
    t->dead -= t->ctrl[slot] == GOB_CTRL_DELETED;
    t->live++;
    t->ctrl[slot] = gob_table_tag(hash);
    gob_table_set_member(t, slot, member);
    if (t->score_bytes != 0) {
        gob_table_set_score(t, slot, score);
    }
}

void gob_table_erase(gob_table *t, size_t slot)
{
    /* A probe passes through a group only while it has no empty byte, so a group that has one stays
     * an end of probes; and a single group is never passed through. */
    const uint8_t *ctrl = t->ctrl + slot / GOB_GROUP * GOB_GROUP;
    bool ends =
        gob_table_groups(t) == 1 || gob_group_match(ctrl, GOB_CTRL_EMPTY, (gob_simd)t->simd) != 0;
    t->ctrl[slot] = ends ? GOB_CTRL_EMPTY : GOB_CTRL_DELETED;
    t->dead += !ends;
    t->live--;
}

size_t gob_table_capacity_for(size_t count, bool tight)
{
    if (count <= GOB_GROUP) {
        return (count + 1) / 2 * 2;
    }
    size_t load = tight ? GOB_TABLE_FULL : GOB_TABLE_GROWN;
    size_t least = count / load * 64 + (count % load * 64 + load - 1) / load;
    return (least + GOB_GROUP - 1) / GOB_GROUP * GOB_GROUP;
}

gob_status gob_table_resized(const gob_table *t, gob_alloc *a, size_t count, bool tight,
                             gob_table *resized)
{
    if (count > SIZE_MAX / 64) {
        return GOB_NOMEM;
    }
    gob_table fresh = *t;
    fresh.capacity = gob_table_capacity_for(count, tight);
    fresh.live = fresh.dead = 0;
    fresh.ctrl = NULL;
    if (fresh.capacity != 0) {
        fresh.ctrl = gob_malloc(a, gob_table_bytes(&fresh));
        if (fresh.ctrl == NULL) {
            return GOB_NOMEM;
        }
        memset(fresh.ctrl, GOB_CTRL_EMPTY, gob_table_groups(&fresh) * GOB_GROUP);
        memset(fresh.ctrl + fresh.capacity, GOB_CTRL_NEVER,
               gob_table_groups(&fresh) * GOB_GROUP - fresh.capacity);
    }
    *resized = fresh;
    return GOB_OK;
}

gob_status gob_table_pour(const gob_table *t, gob_alloc *a, gob_table *into)
{
    for (size_t slot = 0; (slot = gob_table_next(t, slot)) != GOB_NO_SLOT; slot++) {
        GOB_TRY(gob_spend(a->pace, 1));
        gob_table_insert(into, gob_table_member(t, slot), gob_table_score(t, slot));
    }
    return GOB_OK;
}

gob_status gob_table_rehash(gob_table *t, gob_alloc *a, size_t count, bool tight)
{
    GOB_ASSERT(count >= t->live);
    gob_table grown;
    GOB_TRY(gob_table_resized(t, a, count, tight, &grown));
    gob_status status = gob_table_pour(t, a, &grown);
    if (status != GOB_OK) {
        gob_table_free(&grown, a);
        return status;
    }
    gob_table_free(t, a);
    *t = grown;
    return GOB_OK;
}

/* Members in flight: their places in another table are loaded a batch at a time. */
typedef struct flight {
    size_t from; /* the next slot of the source */
    size_t count;
    int64_t member[GOB_BATCH];
    double score[GOB_BATCH];
} flight;

static bool next_flight(const gob_table *from, const gob_table *to, flight *f)
{
    for (f->count = 0; f->count < GOB_BATCH; f->from++) {
        f->from = gob_table_next(from, f->from);
        if (f->from == GOB_NO_SLOT) {
            f->from = from->capacity;
            break;
        }
        f->member[f->count] = gob_table_member(from, f->from);
        f->score[f->count] = gob_table_score(from, f->from);
        gob_table_prefetch(to, f->member[f->count++]);
    }
    for (size_t i = 0; i < f->count; i++) {
        gob_table_prefetch_room(to, gob_hash_int(f->member[i], to->seed));
    }
    return f->count != 0;
}

gob_status gob_table_insert_all(gob_table *t, const gob_table *other, gob_pace *pace)
{
    for (flight f = {0}; next_flight(other, t, &f);) {
        GOB_TRY(gob_spend(pace, f.count));
        for (size_t i = 0; i < f.count; i++) {
            gob_table_insert(t, f.member[i], f.score[i]);
        }
    }
    return GOB_OK;
}

static size_t slot_bytes(const gob_table *t)
{
    return (size_t)t->member_bytes + t->score_bytes;
}

static void swap_slots(gob_table *t, size_t a, size_t b)
{
    uint8_t kept[16];
    uint8_t ctrl = t->ctrl[a];
    memcpy(kept, gob_table_slot(t, a), slot_bytes(t));
    memcpy(gob_table_slot(t, a), gob_table_slot(t, b), slot_bytes(t));
    memcpy(gob_table_slot(t, b), kept, slot_bytes(t));
    t->ctrl[a] = t->ctrl[b];
    t->ctrl[b] = ctrl;
}

/* The slot of the largest member of a full group. */
static size_t largest(const gob_table *t, size_t group)
{
    size_t most = group * GOB_GROUP;
    for (size_t slot = most + 1; slot < (group + 1) * GOB_GROUP; slot++) {
        most = gob_table_member(t, slot) > gob_table_member(t, most) ? slot : most;
    }
    return most;
}

/* A full group keeps its smallest members and sends the others on, so that each ends in the same
 * group whatever the order in which they come (as in the deferred acceptance of Gale and Shapley).
 */
static void insert_ordered(gob_table *t, int64_t member, double score)
{
    uint64_t hash = gob_hash_int(member, t->seed);
    size_t group = gob_table_home(t, hash);
    while (gob_group_match(t->ctrl + group * GOB_GROUP, GOB_CTRL_EMPTY, (gob_simd)t->simd) == 0) {
        size_t most = largest(t, group);
        int64_t other = gob_table_member(t, most);
        if (member < other) {
            double moved = gob_table_score(t, most);
            t->ctrl[most] = gob_table_tag(hash);
            gob_table_set_member(t, most, member);
            gob_table_set_score(t, most, score);
            member = other;
            score = moved;
            hash = gob_hash_int(member, t->seed);
        }
        group = gob_table_next_group(t, group);
    }
    size_t slot = group * GOB_GROUP + gob_ctz64(gob_group_match(t->ctrl + group * GOB_GROUP,
                                                                GOB_CTRL_EMPTY, (gob_simd)t->simd));
    t->ctrl[slot] = gob_table_tag(hash);
    gob_table_set_member(t, slot, member);
    gob_table_set_score(t, slot, score);
    t->live++;
}

/* Full slots first, in ascending order of their members. */
static void sort_group(gob_table *t, size_t group)
{
    size_t first = group * GOB_GROUP;
    size_t end = first + GOB_GROUP < t->capacity ? first + GOB_GROUP : t->capacity;
    for (size_t i = first; i < end && t->ctrl[i] < GOB_CTRL_EMPTY; i++) {
        for (size_t at = i; at > first && gob_table_member(t, at) < gob_table_member(t, at - 1);
             at--) {
            swap_slots(t, at, at - 1);
        }
    }
}

static gob_status lay(const gob_table *t, gob_table *fresh, gob_pace *pace)
{
    for (flight f = {0}; next_flight(t, fresh, &f);) {
        GOB_TRY(gob_spend(pace, f.count));
        for (size_t i = 0; i < f.count; i++) {
            insert_ordered(fresh, f.member[i], f.score[i]);
        }
    }
    for (size_t group = 0; group < gob_table_groups(fresh); group++) {
        GOB_TRY(gob_spend(pace, 1));
        sort_group(fresh, group);
    }
    return GOB_OK;
}

gob_status gob_table_relaid(const gob_table *t, gob_alloc *a, uint64_t seed, gob_table *relaid)
{
    gob_table fresh;
    GOB_TRY(gob_table_resized(t, a, t->live, true, &fresh));
    fresh.seed = seed;
    if (fresh.capacity != 0) {
        memset(gob_table_slot(&fresh, 0), 0, fresh.capacity * slot_bytes(&fresh));
    }
    gob_status status = lay(t, &fresh, a->pace);
    if (status != GOB_OK) {
        gob_table_free(&fresh, a);
        return status;
    }
    *relaid = fresh;
    return GOB_OK;
}

size_t gob_table_next(const gob_table *t, size_t slot)
{
    for (; slot < t->capacity; slot++) {
        if (t->ctrl[slot] < GOB_CTRL_EMPTY) {
            return slot;
        }
    }
    return GOB_NO_SLOT;
}

bool gob_table_ends(const gob_table *t)
{
    bool ends = true;
    for (size_t i = t->capacity; i < gob_table_groups(t) * GOB_GROUP; i++) {
        ends = ends && t->ctrl[i] == GOB_CTRL_NEVER;
    }
    return ends;
}

bool gob_table_validate(const gob_table *t, gob_pace *pace, const char **why)
{
    size_t live = 0;
    size_t dead = 0;
    for (size_t slot = 0; slot < t->capacity; slot++) {
        uint8_t ctrl = t->ctrl[slot];
        GOB_DEMAND(ctrl < GOB_CTRL_EMPTY || ctrl == GOB_CTRL_EMPTY || ctrl == GOB_CTRL_DELETED,
                   "table: control byte");
        live += ctrl < GOB_CTRL_EMPTY;
        dead += ctrl == GOB_CTRL_DELETED;
        GOB_DEMAND_TIME(pace, 1);
        if (ctrl < GOB_CTRL_EMPTY) {
            GOB_DEMAND(gob_table_find(t, gob_table_member(t, slot)) == slot,
                       "table: a member is not found at its slot");
        }
    }
    GOB_DEMAND(gob_table_ends(t), "table: control byte without a slot");
    GOB_DEMAND(live == t->live, "table: live count");
    GOB_DEMAND(dead == t->dead, "table: deleted count");
    GOB_DEMAND(t->capacity <= GOB_GROUP || live < t->capacity, "table: no end for a probe");
    return true;
}
