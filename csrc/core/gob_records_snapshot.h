/* Records of a table in snapshots: the options, the rows with their table, the names of fields in
 * their order, and the shapes in theirs.
 *
 * A file has numbers of its own for fields and shapes, their ranks, so that no history shows in
 * them; rows are written for these. */
#ifndef GOB_RECORDS_SNAPSHOT_H
#define GOB_RECORDS_SNAPSHOT_H

#include "gob_fields_snapshot.h"
#include "gob_records.h"

/* What a table's keys, fields and values are, as the caller has it. */
typedef struct gob_records_kinds {
    uint8_t key; /* gob_datum_kind: STR or BYTES */
    uint8_t field;
    uint8_t value; /* any */
} gob_records_kinds;

/* Writes everything. The bytes depend on records and kinds alone. GOB_NOMEM, GOB_STOPPED;
 * GOB_TOO_LARGE where a record has almost 2 GiB. O(n log n). */
gob_status gob_records_save(gob_records *r, gob_records_kinds kinds, gob_sink *sink, void *to);

/* Makes records, which need not be initialised, of a file of this kind. It copies and checks
 * everything, or where they are `mapped` reads rows and their table in the file, which has to stay
 * and not to change, as long as the records live, and of a large one has looked at names and shapes
 * only. On failure there are no records: GOB_NOMEM, GOB_STOPPED, GOB_MALFORMED with *why. */
gob_status gob_records_load(gob_records *r, gob_records_kinds *kinds, const gob_reader *reader,
                            uint64_t seed, bool mapped, const char **why);

#endif
