/* A sorted set: the index, the order, and the changes that the order does not know yet.
 *
 * Every write ends in the index. The order is built at the first ordered read and then kept: a
 * write notes the member and the score that the order still has for it in `pending`, and the next
 * ordered read applies the pending changes as one sorted batch. Losing the order costs time, never
 * an answer, so a failed allocation there drops it. */
#ifndef GOB_ZSET_H
#define GOB_ZSET_H

#include "gob_index.h"
#include "gob_journal.h"
#include "gob_order.h"

typedef struct gob_zset {
    gob_alloc alloc;
    gob_index index;
    gob_table
        *pending;     /* member -> score in the order, NaN for "not there"; NULL: nothing pending */
    gob_order *order; /* NULL until an ordered read needs it */
    uint64_t stamp;   /* changes whenever a member or a score does */
    float merge_exponent;
    bool compress;
    bool stuck;    /* some increment could not change a score */
    uint8_t scans; /* ordered reads that were answered by a scan, since the last change */
} gob_zset;

void gob_zset_init(gob_zset *z, gob_layout layout, float merge_exponent, uint64_t seed);

/* Gives all memory back; the set is then empty and usable. */
void gob_zset_clear(gob_zset *z);

/* An initialised, empty dst of the same layout becomes a copy of src, in a table of its own seed.
 */
gob_status gob_zset_copy(gob_zset *dst, const gob_zset *src);

/* Exchanges the contents of two sets of one layout. */
void gob_zset_swap(gob_zset *a, gob_zset *b);

GOB_INLINE uint64_t gob_zset_count(const gob_zset *z)
{
    return z->index.live;
}

gob_layout gob_zset_layout(const gob_zset *z);

/* Conditions on a write, as ZADD's. GT and LT add absent members; XX_GT and XX_LT do not. */
typedef enum gob_mode {
    GOB_SET,
    GOB_NX,
    GOB_XX,
    GOB_GT,
    GOB_LT,
    GOB_XX_GT,
    GOB_XX_LT,
} gob_mode;

typedef struct gob_changes {
    uint64_t added;
    uint64_t changed; /* writes that gave an existing member another score */
} gob_changes;

/* Single members. Scores are narrowed to the layout: GOB_NAN, GOB_RANGE. On failure nothing
 * changed. */
double gob_zset_score(const gob_zset *z, int64_t member); /* GOB_ABSENT where there is none */
gob_status gob_zset_add(gob_zset *z, int64_t member, double score, gob_mode mode,
                        gob_changes *changes);
gob_status gob_zset_increment(gob_zset *z, int64_t member, double by, double *sum);
double gob_zset_remove(gob_zset *z, int64_t member); /* the old score or GOB_ABSENT; never fails */

/* Bulk calls
 *
 * begin; then steps over consecutive stretches of the same input, in order, with anything in
 * between that leaves the set alone; then commit, or rollback with the same input, after which the
 * set is as it was before begin. A step that fails must be followed by rollback. */

gob_status gob_zset_begin(gob_zset *z, gob_journal *j, size_t inputs);

/* Input i is members[i] with scores.at[i * scores.step]; the arrays are those of the whole call and
 * the step does inputs [from, from + n). */
typedef struct gob_inputs {
    const int64_t *members;
    gob_column scores;
} gob_inputs;

gob_status gob_zset_update_step(gob_zset *z, gob_journal *j, gob_inputs in, size_t from, size_t n,
                                gob_mode mode, gob_changes *changes);
/* out[i], if any, gets the score after input i. */
gob_status gob_zset_increment_step(gob_zset *z, gob_journal *j, gob_inputs in, size_t from,
                                   size_t n, double *out);
/* *removed grows by the members that were there. */
gob_status gob_zset_remove_step(gob_zset *z, gob_journal *j, gob_inputs in, size_t from, size_t n,
                                uint64_t *removed);

void gob_zset_commit(gob_zset *z, gob_journal *j);

/* What the call did, which undoing has to know. */
typedef enum gob_verb { GOB_UPDATE, GOB_INCREMENT, GOB_REMOVE } gob_verb;

void gob_zset_rollback(gob_zset *z, gob_journal *j, gob_inputs in, gob_verb verb);

/* Ordered reads */

/* Brings the order up to date; afterwards z->order is not NULL and agrees with the index. */
gob_status gob_zset_sync(gob_zset *z);

/* True when a scan should answer a read that the order would answer in O(log n): the order is not
 * built or not up to date, and scans have been few since the last change. Counts the scan. */
bool gob_zset_prefers_scan(gob_zset *z);

/* The place of a (member, score) in the order. */
GOB_INLINE gob_entry gob_zset_entry(int64_t member, double score)
{
    return (gob_entry){gob_key(score), gob_bias(member)};
}

/* Members with a score below `score`, or with one not above it. Needs a synced order. */
uint64_t gob_zset_below(const gob_zset *z, double score, bool or_equal);

/* The k highest (or lowest) entries by a scan of the index, best first; returns how many there are.
 * heap has room for k. O(n + k log k). */
size_t gob_zset_scan_extremes(const gob_zset *z, size_t k, bool highest, gob_entry *heap);

/* Members with a score in the interval, by a scan. */
uint64_t gob_zset_scan_count(const gob_zset *z, gob_interval within);

/* Their exact sum, rounded once, by a scan. */
double gob_zset_scan_sum(const gob_zset *z, gob_interval within);

/* Applies what is pending and packs everything as small as it goes. Builds no order. */
gob_status gob_zset_optimize(gob_zset *z);

typedef struct gob_memory {
    size_t pages;
    size_t table;
    size_t pending;
    size_t order;
} gob_memory;

/* Live bytes by part; together they are alloc.live. */
gob_memory gob_zset_memory(const gob_zset *z);

bool gob_zset_validate(const gob_zset *z, const char **why);

#endif
