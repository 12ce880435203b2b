/* Hashes in snapshots: the options and the records, with a table unless the hash is compact. */
#ifndef GOB_HASHMAP_SNAPSHOT_H
#define GOB_HASHMAP_SNAPSHOT_H

#include "gob_fields_snapshot.h"
#include "gob_hashmap.h"

/* What a hash's keys and values are, as the caller has it. */
typedef struct gob_hashmap_kinds {
    uint8_t key; /* gob_datum_kind: STR or BYTES */
    uint8_t value;
} gob_hashmap_kinds;

/* Writes everything. The bytes depend on entries, options and the form alone. GOB_NOMEM,
 * GOB_STOPPED. O(n log n). */
gob_status gob_hashmap_save(gob_hashmap *h, gob_hashmap_kinds kinds, gob_sink *sink, void *to);

/* Makes a hash, which need not be initialised, of a file of this kind. It copies and checks
 * everything, or where it is `mapped` reads the file, which has to stay and not to change, as long
 * as the hash lives, and of a large one has looked at sizes only; a compact one is always copied,
 * and `mapped` all the same. On failure the hash is empty: GOB_NOMEM, GOB_STOPPED, GOB_MALFORMED
 * with *why. */
gob_status gob_hashmap_load(gob_hashmap *h, gob_hashmap_kinds *kinds, const gob_reader *r,
                            uint64_t seed, bool mapped, const char **why);

#endif
