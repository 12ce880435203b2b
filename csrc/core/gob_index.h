/* The index: member -> score, the truth of a sorted set.
 *
 * Names live in the member store, and everything here takes their ids. Integer members start in the
 * table. When the table is about to grow, pages that hold enough of its members to be cheaper as
 * pages move out; a page that empties moves back. If a page exists, all members of its range are in
 * it. */
#ifndef GOB_INDEX_H
#define GOB_INDEX_H

#include "gob_block.h"
#include "gob_members.h"
#include "gob_pages.h"
#include "gob_table.h"

typedef struct gob_index {
    union {
        struct {
            gob_table table;
            gob_pages pages;
        };
        gob_members members; /* where `named` */
    };
    uint64_t live : 48; /* in one word with the rest: small sets count bytes */
    uint64_t score_bytes : 8;
    uint64_t named : 1;
} gob_index;

void gob_index_init(gob_index *ix, gob_layout layout, uint64_t seed);
void gob_index_free(gob_index *ix, gob_alloc *a);

/* The store of names, or NULL. */
GOB_INLINE const gob_members *gob_index_names(const gob_index *ix)
{
    return ix->named ? &ix->members : NULL;
}

/* dst, initialised and empty, becomes a copy with a table of its own seed. */
gob_status gob_index_copy(gob_index *dst, gob_alloc *a, const gob_index *src);

/* The score, or GOB_ABSENT; also for GOB_NO_ID. */
double gob_index_get(const gob_index *ix, int64_t member);

/* Sets or inserts a score that the layout holds (of a name: one that its form fits); *old gets the
 * score before, or GOB_ABSENT. On GOB_NOMEM nothing changed. */
gob_status gob_index_put(gob_index *ix, gob_alloc *a, int64_t member, double score, double *old);

/* Removes; returns the old score, or GOB_ABSENT where there was none. A name stays, without a
 * score. Never fails. */
double gob_index_erase(gob_index *ix, gob_alloc *a, int64_t member);

/* A column of scores: value i is at[i * step], in steps of 1, or of 0 where one value serves all.
 */
typedef struct gob_column {
    const double *at;
    size_t step;
} gob_column;

/* old + by as the layout stores it. GOB_NAN, GOB_RANGE. */
gob_status gob_index_sum(const gob_index *ix, double old, double by, double *sum);

/* Finds the page of a member, or NULL, and starts the load of its code, or of its slot in the
 * table. (Where it took codes of two bytes or more for those of one, reads and writes of 10 M
 * members with scattered scores took 2.5 to 3 times as long.) */
GOB_INLINE gob_page_ref *gob_index_look_ahead(const gob_pages *pages, const gob_table *table,
                                              int64_t member)
{
    gob_page_ref *ref = gob_pages_find(pages, gob_page_number(member));
    if (GOB_LIKELY(ref != NULL)) {
        GOB_PREFETCH(&ref->page->codes[gob_page_position(member) * gob_ref_width(ref)]);
    } else {
        gob_table_prefetch(table, member);
    }
    return ref;
}

/* Starts the load of a member's slot, once its control bytes are there. */
GOB_INLINE void gob_index_warm_slot(const gob_table *table, int64_t member)
{
    (void)gob_table_prefetch_slot(table, gob_hash_int(member, table->seed));
}

/* Starts the loads that lookups of these members, at most GOB_BATCH, will need. */
void gob_index_warm(const gob_index *ix, const int64_t *members, size_t n);

/* The scores of n members, `missing` where absent. */
void gob_index_get_many(const gob_index *ix, const int64_t *members, size_t n, double missing,
                        double *out);

/* Bulk calls: between begin and end nothing shrinks, so whatever they created or overwrote can be
 * put back without allocating. */
void gob_index_begin(gob_index *ix);
void gob_index_end(gob_index *ix, gob_alloc *a);

/* For undoing: moves what is left in pages born since begin back to the table. */
void gob_index_dissolve_young(gob_index *ix, gob_alloc *a);

/* Pages where they pay, cheapest widths, no slack: the same for the same content. Integers only:
 * the order has to know when ids change. */
gob_status gob_index_optimize(gob_index *ix, gob_alloc *a);

/* Members with a score in the interval. O(n), but plain codes at memory speed. */
gob_status gob_index_count(const gob_index *ix, gob_interval within, gob_pace *pace, uint64_t *out);

/* A walk over all members, in no particular order, a chunk at a time; starts as {0} or with a
 * bound. Plain codes of a page whose largest code is below `codes_from` are passed over, at the
 * speed of its exceptions; all other members are given. The bound may rise on the way. */
typedef struct gob_walk {
    double codes_from;
    size_t page;
    size_t slot;       /* of the table, or the place in the arena of the names */
    unsigned position; /* in the page, or the place in its patch */
    bool patch_only;
} gob_walk;

/* Fills up to GOB_WALK_MAX members and scores; 0 when the walk is over. */
size_t gob_index_walk(const gob_index *ix, gob_walk *w, int64_t *members, double *scores);

/* Members by the counts of the table and of the pages. */
uint64_t gob_index_counted(const gob_index *ix);

bool gob_index_validate(const gob_index *ix, gob_pace *pace, const char **why);

#endif
