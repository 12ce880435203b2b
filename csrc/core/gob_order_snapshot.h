/* The order in a snapshot: what its lowest nodes know of each block, and apart from that the blocks
 * as they lie in memory. The nodes above are made anew. */
#ifndef GOB_ORDER_SNAPSHOT_H
#define GOB_ORDER_SNAPSHOT_H

#include "gob_order.h"
#include "gob_snapshot.h"

/* GOB_STOPPED; GOB_MALFORMED for what a mapped file can't hold. */
gob_status gob_order_save(const gob_order *o, gob_writer *w);

/* An initialised, empty order gets copies of the blocks in a file; or, where it is mapped, those
 * themselves, which are looked at when they are read. GOB_MALFORMED, GOB_NOMEM, GOB_STOPPED: it is
 * empty. What blocks hold is gob_order_validate's to judge. */
gob_status gob_order_load(gob_order *o, gob_alloc *a, const gob_reader *r, bool mapped,
                          const char **why);

#endif
