/* Ordered reads that a scan of the index answers more cheaply than an order that is not built. */
#ifndef GOB_SCAN_H
#define GOB_SCAN_H

#include "gob_zset.h"

/* Each fails with GOB_STOPPED only. */

/* The k highest (or lowest) entries by a scan of the index, best first; *found of them. heap has
 * room for k. O(n + k log k). */
gob_status gob_scan_extremes(const gob_zset *z, size_t k, bool highest, gob_entry *heap,
                             size_t *found);

/* Members with a score in the interval, by a scan. */
gob_status gob_scan_count(const gob_zset *z, gob_interval within, uint64_t *count);

/* Their exact sum, rounded once, by a scan. */
gob_status gob_scan_sum(const gob_zset *z, gob_interval within, double *total);

#endif
