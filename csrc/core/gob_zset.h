/* A sorted set: the index, the order, and the changes that the order does not know yet.
 *
 * Every write ends in the index. The order is built at the first ordered read and then kept: a
 * write notes the member and the score that the order still has for it in `pending`, and the next
 * ordered read applies the pending changes as one sorted batch. Losing the order costs time, never
 * an answer, so a failed allocation there drops it. Small sets have none: ordered reads sort them.
 *
 * A member that is a name is found once and then goes by its id. One that is removed keeps its id
 * as long as the order or a bulk call may have it. */
#ifndef GOB_ZSET_H
#define GOB_ZSET_H

#include "gob_index.h"
#include "gob_order.h"

/* Whether a bulk call is under way, and what undoing it takes. */
typedef enum gob_undoing {
    GOB_NO_BULK,
    GOB_UNDO_ADDED, /* it began on an empty set */
    GOB_UNDO_ALL,   /* scores that it has overwritten may have to come back */
} gob_undoing;

typedef struct gob_zset {
    gob_alloc alloc;
    gob_index index;
    gob_table
        *pending;     /* member -> score in the order, NaN for "not there"; NULL: nothing pending */
    gob_order *order; /* NULL until an ordered read needs it */
    uint64_t stamp;   /* changes whenever a member or a score does */
    size_t mapped;    /* 1 + bytes of a file that it reads where they lie: read only. 0: none */
    float merge_exponent;
    bool compress : 1;
    bool stuck : 1;   /* some increment could not change a score */
    bool doubted : 1; /* it reads a file that has not been looked through */
    uint8_t bulk;     /* gob_undoing */
    uint8_t scans;    /* ordered reads that were answered by a scan, since the last change */
} gob_zset;

void gob_zset_init(gob_zset *z, gob_layout layout, float merge_exponent, uint64_t seed);

/* Gives all memory back; the set is then empty and usable. */
void gob_zset_clear(gob_zset *z);

GOB_INLINE const gob_members *gob_zset_names(const gob_zset *z)
{
    return gob_index_names(&z->index);
}

/* An initialised, empty dst of the same layout becomes a copy of src, in a table of its own seed.
 * GOB_NOMEM, GOB_STOPPED; GOB_MALFORMED where src reads a file. */
gob_status gob_zset_copy(gob_zset *dst, gob_zset *src);

/* Looks through what it reads where that is not done yet, as those do who go over all of it and
 * take room by what it says. GOB_STOPPED; GOB_MALFORMED with *why. */
gob_status gob_zset_trust(gob_zset *z, const char **why);

/* Exchanges the contents of two sets of one layout, but not their paces. */
void gob_zset_swap(gob_zset *a, gob_zset *b);

GOB_INLINE uint64_t gob_zset_count(const gob_zset *z)
{
    return z->index.live;
}

gob_layout gob_zset_layout(const gob_zset *z);

/* Conditions on a write, as ZADD's: GT and LT add absent members, XX_GT and XX_LT do not. And what
 * becomes of two scores in a union: NaN as a sum becomes 0. */
typedef enum gob_mode {
    GOB_SET,
    GOB_NX,
    GOB_XX,
    GOB_GT,
    GOB_LT,
    GOB_XX_GT,
    GOB_XX_LT,
    GOB_SUM,
} gob_mode;

typedef struct gob_changes {
    uint64_t added;
    uint64_t changed; /* writes that gave an existing member another score */
} gob_changes;

/* A member as its caller has it: an integer, or a name. */
typedef struct gob_member {
    int64_t id;
    gob_name name;
} gob_member;

/* The id by which everything else takes a member: the integer itself, or that of the name, or
 * GOB_NO_ID. */
GOB_INLINE int64_t gob_zset_find(const gob_zset *z, const gob_member *m)
{
    return z->index.named ? gob_members_find(&z->index.members, m->name) : m->id;
}

/* The score, or GOB_ABSENT; also for GOB_NO_ID of names. */
double gob_zset_score(const gob_zset *z, int64_t id);

/* Single members. Scores are narrowed to the layout: GOB_NAN, GOB_RANGE; GOB_TOO_LARGE for a name
 * of 2 GiB. On failure nothing changed. */
gob_status gob_zset_add(gob_zset *z, const gob_member *m, double score, gob_mode mode,
                        gob_changes *changes);
gob_status gob_zset_increment(gob_zset *z, const gob_member *m, double by, double *sum);
double gob_zset_remove(gob_zset *z, int64_t id); /* the old score or GOB_ABSENT; never fails */

/* Whether a write in this mode goes through, old being GOB_ABSENT where there is no member. */
bool gob_mode_admits(gob_mode mode, double old, double score);

/* The score that a write in this mode leaves where it goes through. GOB_NAN, GOB_RANGE. */
GOB_INLINE gob_status gob_mode_score(gob_mode mode, double old, double score, unsigned score_bytes,
                                     double *out)
{
    if (mode == GOB_SUM && !gob_is_absent(old)) {
        double sum = old + score;
        score = sum != sum && score == score ? 0.0 : sum;
    }
    return gob_narrow(score, score_bytes, out);
}

/* What writes are made of, for bulk calls */

/* Sets a score that the layout holds, where old is the one before. A name, which is looked at only
 * where id is GOB_NO_ID, gets an id first. Ids may change. On failure nothing changed. */
gob_status gob_zset_put(gob_zset *z, int64_t id, const gob_name *name, double score, double old);

/* Takes the score of a present member away. Inside a bulk call a place among the condemned has to
 * be reserved before. */
void gob_zset_erase(gob_zset *z, int64_t id);

/* Before a call that may change so many scores: room for what the order has for them, where there
 * is memory. */
void gob_zset_expect(gob_zset *z, size_t changes);

/* Before a member's score changes: notes what the order has for it. */
void gob_zset_touch(gob_zset *z, int64_t id);

/* After a call that wrote: settles the debt where it has grown past its limit. */
void gob_zset_settle(gob_zset *z);

/* Ordered reads */

/* Brings the order up to date, where the set is not small; the other ordered reads need that.
 * GOB_NOMEM, GOB_STOPPED; GOB_MALFORMED where it reads a file. */
gob_status gob_zset_sync(gob_zset *z);

/* Whether gob_zset_sync has nothing to do. */
GOB_INLINE bool gob_zset_is_synced(const gob_zset *z)
{
    return z->order != NULL ? z->pending == NULL : gob_zset_count(z) <= GOB_SMALL_MAX;
}

/* As of gob_order. For a small set each is O(count), and a window holds all of it. */
uint64_t gob_zset_lower_bound(const gob_zset *z, const gob_bound *b);
gob_entry gob_zset_select(const gob_zset *z, uint64_t rank);
void gob_zset_read(const gob_zset *z, uint64_t rank, gob_window *w);
uint64_t gob_zset_rank(const gob_zset *z, gob_entry e);
void gob_zset_rank_many(const gob_zset *z, const gob_entry *entries, size_t n, uint64_t *ranks);
void gob_zset_select_many(const gob_zset *z, const uint64_t *ranks, size_t n, gob_entry *entries);

/* True when a scan should answer a read that the order would answer in O(log n): the order is not
 * built or not up to date, and scans have been few since the last change. Counts the scan. */
bool gob_zset_prefers_scan(gob_zset *z);

/* The place of a (member, score) in the order. */
GOB_INLINE gob_entry gob_zset_entry(int64_t id, double score)
{
    return (gob_entry){gob_key(score), gob_bias(id)};
}

/* Members with a score below `score`, or with one not above it. */
uint64_t gob_zset_below(const gob_zset *z, double score, bool or_equal);

/* Applies what is pending and packs everything as small as it goes; names come to lie in the order
 * of their ranks. A set without an order gets none, and a small one gives its own up. */
gob_status gob_zset_optimize(gob_zset *z);

typedef struct gob_memory {
    size_t pages;
    size_t table;
    size_t members; /* names and their scores */
    size_t pending;
    size_t order;
} gob_memory;

/* Live bytes by part; together they are alloc.live. */
gob_memory gob_zset_memory(const gob_zset *z);

bool gob_zset_validate(const gob_zset *z, const char **why);

#endif
