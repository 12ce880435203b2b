/* The order: a counted B+ tree of packed blocks, every (key, member) of a set in ascending order.
 *
 * It is derived from the index, so it never has to survive a failed allocation: gob_order_apply
 * that fails leaves a tree that can only be freed, and the owner drops and later rebuilds it.
 *
 * Where members are names, an entry's member is their id, and the names decide among equal keys. */
#ifndef GOB_ORDER_H
#define GOB_ORDER_H

#include "gob_block.h"
#include "gob_members.h"
#include "gob_status.h"

/* A child as its parent knows it; the same for blocks and inner nodes. */
typedef struct gob_child {
    gob_entry first;
    uint64_t count; /* entries below */
    void *node;     /* gob_node, or gob_block under a node of level 0 */
} gob_child;

typedef struct gob_node gob_node;

typedef struct gob_order {
    gob_node *root; /* NULL when empty */
    uint64_t count;
    const gob_members *names; /* what ids stand for; NULL where members are integers */
    gob_layout layout;
    const uint8_t *end; /* of the blocks, where these lie in a file that is mapped: they are read
                           only, not freed, and looked at each time; or NULL */
} gob_order;

void gob_order_init(gob_order *o, gob_layout layout, const gob_members *names);
void gob_order_free(gob_order *o, gob_alloc *a);

/* A place in the order: of an entry, or of a name that need not be in the store. */
typedef struct gob_bound {
    uint64_t key;
    uint64_t member; /* biased; for integers */
    gob_name name;
} gob_bound;

gob_bound gob_bound_of(const gob_members *names, gob_entry e);

/* Negative, 0 or positive, as the entry is before, at or after the bound. */
GOB_INLINE int gob_bound_compare(const gob_members *names, gob_entry e, const gob_bound *b)
{
    if (e.key != b->key) {
        return e.key < b->key ? -1 : 1;
    }
    if (names != NULL) {
        return gob_name_compare(gob_members_name(names, gob_unbias(e.member)), b->name);
    }
    return (e.member > b->member) - (e.member < b->member);
}

/* Whether a comes before b. */
bool gob_order_less(const gob_members *names, gob_entry a, gob_entry b);

/* Entries before the bound. O(log n). */
uint64_t gob_order_lower_bound(const gob_order *o, const gob_bound *b);

/* The rank of an entry that is present. O(log n), and few looks at names. */
uint64_t gob_order_rank(const gob_order *o, gob_entry e);

/* The entry at rank < count. O(log n). */
gob_entry gob_order_select(const gob_order *o, uint64_t rank);

/* The same for n entries or ranks, with the loads of a batch of blocks overlapping. */
void gob_order_rank_many(const gob_order *o, const gob_entry *entries, size_t n, uint64_t *ranks);
void gob_order_select_many(const gob_order *o, const uint64_t *ranks, size_t n, gob_entry *entries);

/* One decoded block, for scans in either direction: each step reads the window that holds the rank.
 */
typedef struct gob_window {
    uint64_t first_rank;
    size_t count;
    uint64_t keys[GOB_BLOCK_MAX];
    uint64_t members[GOB_BLOCK_MAX];
} gob_window;

void gob_order_read(const gob_order *o, uint64_t rank, gob_window *w);

/* One change of an ascending batch; an entry that is removed is present, one that is not, absent.
 */
typedef struct gob_change {
    gob_entry entry;
    bool remove;
} gob_change;

/* Applies a batch: walks down once for each touched block and packs it once. */
gob_status gob_order_apply(gob_order *o, gob_alloc *a, const gob_change *changes, size_t n);

/* Builds a tree from ascending entries and, between them, whole ready blocks. */
typedef struct gob_builder {
    gob_order *order; /* initialised and empty */
    gob_alloc *alloc;
    gob_node *open[GOB_LEVELS_MAX];
    size_t count;
    uint64_t keys[GOB_BLOCK_MAX];
    uint64_t members[GOB_BLOCK_MAX];
} gob_builder;

void gob_builder_init(gob_builder *b, gob_order *o, gob_alloc *a);
gob_status gob_builder_add(gob_builder *b, gob_entry e);
/* Takes the block over when it succeeds. */
gob_status gob_builder_add_block(gob_builder *b, gob_child block);
gob_status gob_builder_finish(gob_builder *b);
/* Gives back everything of a build that failed. */
void gob_builder_abandon(gob_builder *b);

/* Packs blocks and nodes full again. Here a failure changes nothing. */
gob_status gob_order_optimize(gob_order *o, gob_alloc *a);

/* Every invariant; on false, *why says which. */
bool gob_order_validate(const gob_order *o, const char **why);

uint64_t gob_order_blocks(const gob_order *o);

/* The block that begins at a rank < count. Its node is NULL where it is one of a file that is not
 * what its head there says. */
gob_child gob_order_block(const gob_order *o, uint64_t rank);

#endif
