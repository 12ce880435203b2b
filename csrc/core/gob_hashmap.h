/* A hash: field -> value, in one blob while it is small, in a table and an arena when it is large.
 *
 * It leaves the compact form by itself, when the blob would pass 64 KiB, an entry 32,767 bytes or
 * the fields max_compact, and comes back by optimize or clear. Fields are byte strings; a value is
 * a byte string, an int64 or a double, and each entry knows which. With `encoding`, canonical
 * decimal integers and UUIDs among fields and texts are kept in binary: a text may come back as
 * GOB_VALUE_INT or GOB_VALUE_UUID, which gob_value_bytes spells as it was.
 *
 * Bytes that a call is given must not change while it runs, nor lie in the hash itself. What a call
 * gives points into the hash, up to the next change. */
#ifndef GOB_HASHMAP_H
#define GOB_HASHMAP_H

#include "gob_blob.h"
#include "gob_fields.h"

#define GOB_COMPACT_ALWAYS UINT32_MAX /* max_compact: the size of the blob decides */

typedef struct gob_hashmap {
    gob_alloc alloc;
    uint64_t seed;
    uint64_t stamp; /* changes whenever a field or a value does, and when entries move */
    union {
        gob_blob blob;
        gob_fields *fields;
    };
    uint32_t max_compact; /* fields; 0: never compact */
    bool encoding;
    bool compact; /* false: `fields` is in use; an empty hash is compact until the first entry */
    bool mapped;  /* it reads a file where it lies: only reads, and clear, are for it */
} gob_hashmap;

/* An empty hash; allocates nothing. */
void gob_hashmap_init(gob_hashmap *h, bool encoding, uint32_t max_compact, uint64_t seed);

/* Gives all memory back; the hash is then empty, compact (unless max_compact is 0) and usable; one
 * that was mapped has to be initialised first, as its seed is no secret. */
void gob_hashmap_clear(gob_hashmap *h);

/* An initialised, empty dst of the same options becomes a copy of src, of a compact one with its
 * seed too. O(n). */
gob_status gob_hashmap_copy(gob_hashmap *dst, gob_hashmap *src);

/* Looks through a file that it reads, where that is not done yet. GOB_NOMEM, GOB_STOPPED,
 * GOB_MALFORMED. */
gob_status gob_hashmap_trust(gob_hashmap *h);

size_t gob_hashmap_count(const gob_hashmap *h);

/* The value of a field; false, and kind GOB_VALUE_NONE, where there is none. */
bool gob_hashmap_get(const gob_hashmap *h, gob_name field, gob_value *value);

/* The same for rows [from, from + n) of a column, n <= GOB_BATCH, with overlapping loads. */
void gob_hashmap_get_many(const gob_hashmap *h, const gob_names *fields, size_t from, size_t n,
                          gob_value *values);

/* Starts the loads that calls on such rows will need, as gob_hashmap_get_many does for its own. */
void gob_hashmap_warm(const gob_hashmap *h, const gob_names *fields, size_t from, size_t n);

/* TEXT, INT or FLOAT; *created says whether the field is new. Setting the value that is there
 * changes nothing, not even the stamp. GOB_NOMEM; GOB_TOO_LARGE for an entry of 2 GiB. On failure
 * nothing changed. */
gob_status gob_hashmap_set(gob_hashmap *h, gob_name field, const gob_value *value, bool *created);

/* Rows [from, from + n) in order, or on failure none; *created counts the new fields. values[i] of
 * row i. */
gob_status gob_hashmap_set_many(gob_hashmap *h, const gob_names *fields, const gob_value *values,
                                size_t from, size_t n, size_t *created);

/* All entries of another hash of the same `encoding`, or on failure none. For bulk increments:
 * collect the new values in an empty hash, which its own get then prefers, and update with that at
 * the end. */
gob_status gob_hashmap_update(gob_hashmap *h, const gob_hashmap *from, size_t *created);

/* An empty h takes over the entries of another hash of the same options and seed, which is empty
 * then. O(1), never fails. */
void gob_hashmap_take(gob_hashmap *h, gob_hashmap *from);

/* Whether the field was there. Never fails. */
bool gob_hashmap_remove(gob_hashmap *h, gob_name field);

/* The same for rows as of gob_hashmap_get_many, without giving memory back, so that many are
 * removed in linear time, also where that is stopped: a bulk call reads all, then erases all, then
 * settles.
 */
void gob_hashmap_erase_many(gob_hashmap *h, const gob_names *fields, size_t from, size_t n,
                            bool *there);

/* After changes: gives back what is much. Without memory for that, or stopped, all stays as it is.
 */
void gob_hashmap_settle(gob_hashmap *h);

/* The next entry from *at on (0 at first), in no particular order; false at the end. *at is good
 * while the stamp stays. A field is TEXT, INT or UUID. */
bool gob_hashmap_next(const gob_hashmap *h, size_t *at, gob_value *field, gob_value *value);

/* Any one entry, O(1); false where there is none. */
bool gob_hashmap_any(const gob_hashmap *h, gob_value *field, gob_value *value);

/* Packs everything as small as it goes, and into a blob where that may be. The stamp changes where
 * entries come in another order. */
gob_status gob_hashmap_optimize(gob_hashmap *h);

GOB_INLINE bool gob_hashmap_is_compact(const gob_hashmap *h)
{
    return h->compact && h->max_compact != 0;
}

typedef struct gob_hashmap_memory {
    size_t blob;
    size_t table;
    size_t arena; /* and its lists of free records */
} gob_hashmap_memory;

/* Live bytes by part; together they are alloc.live. */
gob_hashmap_memory gob_hashmap_bytes(const gob_hashmap *h);

bool gob_hashmap_validate(const gob_hashmap *h, const char **why);

#endif
