/* Records of a hash, or of a table, in snapshots: an arena of them in ascending order of the hashes
 * that their fields have for GOB_SNAPSHOT_SEED, and the table of that seed. So the bytes depend on
 * the records alone. */
#ifndef GOB_FIELDS_SNAPSHOT_H
#define GOB_FIELDS_SNAPSHOT_H

#include "gob_fields.h"
#include "gob_snapshot.h"

/* What keys, fields and values are, as files have it. */
typedef enum gob_datum_kind {
    GOB_DATUM_STR = 1,
    GOB_DATUM_BYTES = 2,
    GOB_DATUM_INT64 = 3,
    GOB_DATUM_FLOAT64 = 4,
} gob_datum_kind;

GOB_INLINE bool gob_datum_is_text(unsigned kind)
{
    return kind == GOB_DATUM_STR || kind == GOB_DATUM_BYTES;
}

/* Whether a datum of this kind may be stored so. */
bool gob_datum_is_sound(gob_datum_kind kind, gob_value_kind stored, gob_name bytes, bool encoding);

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

/* An empty s becomes a view that counts as live memory, and is to be freed. */
void gob_fields_map(gob_fields *s, gob_alloc *a, const gob_fields *view);

#endif
