/* A packed block: up to GOB_BLOCK_MAX entries (key, member) of the order, in ascending order.
 *
 * The first entry is the block's base and is kept by its parent. What follows is packed:
 *   ties    all keys equal, members ascending: bit-packed gaps between these, no bits for keys
 *           (run-length encoding falls out);
 *   mixed   bit-packed key differences after a common right shift, and members as bit-packed
 *           offsets from the block's smallest;
 *   plain   both columns at the layout's width (compress=False).
 * Members are biased unsigned integers (gob_bias), keys those of gob_key. */
#ifndef GOB_BLOCK_H
#define GOB_BLOCK_H

#include "gob_alloc.h"
#include "gob_config.h"
#include "gob_pack.h"
#include "gob_score.h"

typedef struct gob_entry {
    uint64_t key;
    uint64_t member;
} gob_entry;

GOB_INLINE bool gob_entry_less(gob_entry a, gob_entry b)
{
    return a.key != b.key ? a.key < b.key : a.member < b.member;
}

/* What members are, widths, and whether blocks are packed. */
typedef struct gob_layout {
    uint8_t member_bytes; /* 4 or 8; of names: of their ids */
    uint8_t score_bytes;  /* 4 or 8 */
    bool compress;
    bool named;    /* members are names, and entries hold their ids */
    uint8_t fixed; /* bytes of every name, or 0 where they vary */
} gob_layout;

typedef enum gob_block_form { GOB_TIES, GOB_MIXED, GOB_PLAIN } gob_block_form;

typedef struct gob_block {
    uint16_t count;
    uint8_t form;
    uint8_t key_bits;
    uint8_t key_shift;
    uint8_t member_bits;
    uint8_t data[];
} gob_block;

/* A block of n ascending entries, 1 <= n <= GOB_BLOCK_MAX; NULL when memory runs out. */
gob_block *gob_block_encode(gob_alloc *a, gob_layout layout, const uint64_t *keys,
                            const uint64_t *members, size_t n);

/* Every entry, into arrays of at least count elements. */
void gob_block_decode(const gob_block *b, gob_layout layout, gob_entry base, uint64_t *keys,
                      uint64_t *members);

/* Whether the decoded entries of a block of integers ascend. */
bool gob_block_ascends(const gob_block *b, const uint64_t *keys, const uint64_t *members);

/* Entry i < count. O(i), a few additions an entry. */
gob_entry gob_block_get(const gob_block *b, gob_layout layout, gob_entry base, size_t i);

/* The place of a member that is in the block. O(count), without a look at keys. */
size_t gob_block_find(const gob_block *b, gob_layout layout, gob_entry base, uint64_t member);

/* How many entries are less than e. */
size_t gob_block_lower_bound(const gob_block *b, gob_layout layout, gob_entry base, gob_entry e);

/* Starts the loads of a block's first lines; the hardware follows the columns from there. */
GOB_INLINE void gob_block_prefetch(const gob_block *b)
{
    const uint8_t *p = (const uint8_t *)b;
    GOB_PREFETCH(p);
    GOB_PREFETCH(p + 64);
    GOB_PREFETCH(p + 128);
    GOB_PREFETCH(p + 192);
}

size_t gob_block_bytes(const gob_block *b, gob_layout layout);

/* Whether a head is one that gob_block_encode writes, but for the values behind it. */
bool gob_block_is_sound(const gob_block *head, gob_layout layout);

void gob_block_free(gob_alloc *a, gob_layout layout, gob_block *b);

#endif
