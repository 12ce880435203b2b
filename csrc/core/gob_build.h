/* Building the order of a whole index. */
#ifndef GOB_BUILD_H
#define GOB_BUILD_H

#include "gob_index.h"
#include "gob_order.h"

/* Fills an initialised, empty order. Needs a fixed buffer and about a quarter of the order's size
 * on top; O(n). On failure the order is empty again. */
gob_status gob_build(gob_order *o, gob_alloc *a, const gob_index *ix);

#endif
