/* Whether the index of a set is sound, and the order that of the index, where both come from
 * somebody else. */
#ifndef GOB_ZSET_CHECK_H
#define GOB_ZSET_CHECK_H

#include "gob_zset.h"

/* The index is sound; and the order, where there is one, ascends and has the index's members and
 * scores. The two are read at once, from the first byte to the last, by two threads where the set
 * is large. What differs is found as gob_multiset.h says, for which the seed has to be secret.
 *
 * Where members are names, `starts` tells which ids there are; without, only the index is looked
 * at. O(n). GOB_NOMEM, GOB_STOPPED by the pace of the set's allocator, GOB_MALFORMED with *why. */
gob_status gob_zset_check(gob_zset *z, const uint64_t *starts, uint64_t seed, const char **why);

#endif
