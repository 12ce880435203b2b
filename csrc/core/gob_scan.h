/* Ordered reads that a scan of the index answers more cheaply than an order that is not built. */
#ifndef GOB_SCAN_H
#define GOB_SCAN_H

#include "gob_zset.h"

/* The k highest (or lowest) entries by a scan of the index, best first; returns how many there are.
 * heap has room for k. O(n + k log k). */
size_t gob_scan_extremes(const gob_zset *z, size_t k, bool highest, gob_entry *heap);

/* Members with a score in the interval, by a scan. */
uint64_t gob_scan_count(const gob_zset *z, gob_interval within);

/* Their exact sum, rounded once, by a scan. */
double gob_scan_sum(const gob_zset *z, gob_interval within);

#endif
