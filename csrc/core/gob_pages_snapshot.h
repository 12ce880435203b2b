/* Pages in a snapshot: the heads of all in ascending order of their numbers, and apart from them
 * the pages, each with its patch behind it, as they lie in memory. */
#ifndef GOB_PAGES_SNAPSHOT_H
#define GOB_PAGES_SNAPSHOT_H

#include "gob_pages.h"
#include "gob_snapshot.h"

/* Writes what depends on nothing but the pages' members, scores, widths and capacities. */
gob_status gob_pages_save(const gob_pages *p, gob_alloc *a, gob_writer *w);

/* Initialised, empty pages become copies of those in a file; or, where they are mapped, those
 * themselves, of which only the beginnings are looked at. member_bytes limits their numbers.
 * GOB_MALFORMED, GOB_NOMEM, GOB_STOPPED: they can only be freed. Whether what pages hold is sound
 * is gob_pages_validate's to say. */
gob_status gob_pages_load(gob_pages *p, gob_alloc *a, const gob_reader *r, unsigned member_bytes,
                          bool mapped, const char **why);

#endif
