/* Sorting entries of the order by (key, member). */
#ifndef GOB_SORT_H
#define GOB_SORT_H

#include "gob_block.h"

/* Ascending. scratch has room for n entries. O(n) for n large: a radix sort over the bytes in which
 * keys differ, then members inside ties. */
void gob_sort_entries(gob_entry *entries, gob_entry *scratch, size_t n);

#endif
