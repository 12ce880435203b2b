/* Sorting entries of the order by (key, member), or by key and name. */
#ifndef GOB_SORT_H
#define GOB_SORT_H

#include "gob_block.h"
#include "gob_members.h"

/* Ascending. scratch has room for n entries. O(n) for n large: a radix sort over the bytes in which
 * keys differ, then members inside ties. GOB_STOPPED: some entries are lost. */
gob_status gob_sort_entries(gob_entry *entries, gob_entry *scratch, size_t n, gob_pace *pace);

/* The same for ids of names, which decide where keys are equal. All names agree before `depth`. */
gob_status gob_sort_names(const gob_members *names, size_t depth, gob_entry *entries,
                          gob_entry *scratch, size_t n, gob_pace *pace);

#endif
