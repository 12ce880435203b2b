/* Records by key, each a few fields with a value, whose names are kept once for all records.
 *
 * Keys, and values that are texts, are kept as a hash keeps its own: a text may come back as
 * GOB_VALUE_INT or GOB_VALUE_UUID, which gob_value_bytes spells as it was. Bytes that a call is
 * given must not change while it runs. What a call gives points into the records, up to the next
 * change. */
#ifndef GOB_RECORDS_H
#define GOB_RECORDS_H

#include "gob_fields.h"
#include "gob_row.h"

typedef struct gob_records {
    gob_alloc alloc;
    gob_fields rows; /* by key; `mapped`: only reads, and clear, are for these records */
    gob_shapes shapes;
    uint64_t stamp; /* changes with each change of a record */
    uint32_t epoch; /* changes when rows move without a change */
    uint8_t values; /* gob_datum_kind, where rows are in doubt */
} gob_records;

/* A field and its value; none: the field is to go. */
typedef struct gob_cell {
    gob_name field;
    gob_value value;
} gob_cell;

/* Empty, and without memory. */
void gob_records_init(gob_records *r, uint64_t seed);

/* Gives all memory back; the records are then none. Those that were mapped have to be initialised
 * before they are used again, as their seed is no secret. */
void gob_records_clear(gob_records *r);

/* An initialised, empty dst becomes a copy of src. O(n). */
gob_status gob_records_copy(gob_records *dst, gob_records *src);

/* Looks through a file that they read, where that is not done yet. GOB_NOMEM, GOB_STOPPED,
 * GOB_MALFORMED. */
gob_status gob_records_trust(gob_records *r);

GOB_INLINE size_t gob_records_count(const gob_records *r)
{
    return gob_fields_count(&r->rows);
}

/* Whether there is a record of this key; *row is what it holds. */
bool gob_records_find(const gob_records *r, gob_name key, gob_row *row);

/* The value of a field of a row; kind GOB_VALUE_NONE where there is none. O(fields). */
gob_value gob_records_value(const gob_records *r, const gob_row *row, gob_name field);

/* The name of the field at a place of a row. */
gob_name gob_records_field(const gob_records *r, const gob_row *row, size_t place);

/* Sets and removes fields of a record, in order; a new record is made. GOB_NOMEM; GOB_TOO_LARGE for
 * a record of 2 GiB. On failure nothing changed. O(fields). */
gob_status gob_records_edit(gob_records *r, gob_name key, const gob_cell *cells, size_t n);

/* The record goes, if it is there: whether it was. */
bool gob_records_remove(gob_records *r, gob_name key);

/* Many records, all or none: puts gather them, of one key the last one, in a stage of their own;
 * then commit takes them over, each in place of the one of its key, or abandon lets them go; the
 * stage is empty then. No other change may come in between. */
void gob_records_stage(const gob_records *r, gob_fields *stage);
gob_status gob_records_put(gob_records *r, gob_fields *stage, gob_name key, const gob_cell *cells,
                           size_t n);
gob_status gob_records_commit(gob_records *r, gob_fields *stage);
void gob_records_abandon(gob_records *r, gob_fields *stage);

/* The next record from *at on (0 at first), in no particular order; false at the end. *at is good
 * while stamp and epoch stay; the order, while the stamp does. */
bool gob_records_next(const gob_records *r, size_t *at, gob_value *key, gob_row *row);

/* The key of any one record, O(1); false where there is none. */
bool gob_records_any(const gob_records *r, gob_value *key);

/* The values of a field in up to n records from *at on, in that order; how many. */
size_t gob_records_column(const gob_records *r, gob_name field, size_t *at, gob_value *values,
                          size_t n);

/* Packs everything as small as it goes. */
gob_status gob_records_optimize(gob_records *r);

typedef struct gob_records_memory {
    size_t shapes;
    size_t table;
    size_t arena; /* and its lists of free records */
} gob_records_memory;

/* Live bytes by part; together they are alloc.live. */
gob_records_memory gob_records_bytes(const gob_records *r);

bool gob_records_validate(const gob_records *r, const char **why);

#endif
