/* Whether the order of a set is that of its index, where both come from somebody else. */
#ifndef GOB_ZSET_CHECK_H
#define GOB_ZSET_CHECK_H

#include "gob_snapshot.h"
#include "gob_zset.h"

/* The order, where there is one, ascends and has the members and scores of the index, which is
 * sound. Where members are names, `starts` tells which ids there are. Other entries are found as
 * gob_multiset.h says, for which the seed has to be secret. O(n), and memory is read from the
 * first byte to the last. GOB_NOMEM, GOB_STOPPED by the reader's poll, GOB_MALFORMED with *why. */
gob_status gob_zset_check_order(gob_zset *z, const uint64_t *starts, uint64_t seed,
                                const gob_reader *r, const char **why);

#endif
