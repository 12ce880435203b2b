/* Sorted sets in snapshots.
 *
 * A file has the options; the table of members that are in no page, or of the ids of names; the
 * names; pages; and the order, where the set has one. */
#ifndef GOB_ZSET_SNAPSHOT_H
#define GOB_ZSET_SNAPSHOT_H

#include "gob_snapshot.h"
#include "gob_zset.h"

/* What members are, as files have it. */
typedef enum gob_member_kind {
    GOB_MEMBER_INT32 = 1,
    GOB_MEMBER_INT64 = 2,
    GOB_MEMBER_STR = 3,
    GOB_MEMBER_BYTES = 4,
    GOB_MEMBER_UUID = 5,
} gob_member_kind;

/* Brings the order up to date, where there is one, and writes everything. The bytes depend on
 * members, scores, options and the forms that these have, not on seeds. GOB_NOMEM, GOB_STOPPED. */
gob_status gob_zset_save(gob_zset *z, gob_member_kind kind, gob_sink *sink, void *to);

/* Makes a set, which need not be initialised, of a file of this kind. It copies and checks
 * everything, or where it is `mapped` reads the file, which has to stay and not to change, as long
 * as the set lives, and of a large one has looked at sizes and places only. On failure the set is
 * empty: GOB_NOMEM, GOB_STOPPED, GOB_MALFORMED with *why. */
gob_status gob_zset_load(gob_zset *z, gob_member_kind *kind, const gob_reader *r, uint64_t seed,
                         bool mapped, const char **why);

#endif
