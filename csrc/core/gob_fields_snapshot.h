/* Records of a hash, or of a table, in snapshots: an arena of them in ascending order of the hashes
 * that their fields have for GOB_SNAPSHOT_SEED, and the table of that seed. So the bytes depend on
 * the records alone. */
#ifndef GOB_FIELDS_SNAPSHOT_H
#define GOB_FIELDS_SNAPSHOT_H

#include "gob_fields.h"
#include "gob_snapshot.h"

/* What is written in place of each record: the same field, and another value. */
typedef struct gob_rewriting {
    size_t (*bytes)(const void *context, const uint8_t *record, size_t bytes);
    const uint8_t *(*record)(const void *context, const uint8_t *record, size_t bytes);
    const void *context;
} gob_rewriting;

/* Writes the arena, and where it is `tabled` the table before it; nothing where there are no
 * records. GOB_NOMEM, GOB_STOPPED. */
gob_status gob_fields_save(const gob_fields *s, gob_alloc *a, const gob_rewriting *rewriting,
                           bool tabled, gob_writer *w);

/* The `count` records of a file as they lie there, once sizes have been looked at. A view is read
 * only, and not to be freed. */
gob_status gob_fields_view(gob_fields *view, const gob_reader *r, size_t count, bool tabled,
                           const char **why);

/* Whether arena and table are what gob_fields_save would write: each record is sound, but what it
 * stands for is not looked at. GOB_NOMEM, GOB_STOPPED, GOB_MALFORMED. */
gob_status gob_fields_check(const gob_fields *view, gob_alloc *a, const char **why);

/* The same, and that records are of their kinds, of what is read without having been looked
 * through; it is then no longer in doubt. */
gob_status gob_fields_trust(gob_fields *s, gob_alloc *a);

/* An empty s becomes a view that counts as live memory, and is to be freed. */
void gob_fields_map(gob_fields *s, gob_alloc *a, const gob_fields *view);

#endif
