/* Redis' glob: `*` any run, `?` any one, `[a-z]` and `[^a-z]` one of a class, `\` takes the next as
 * it is.
 *
 * A class that is not closed ends with the pattern; a range may be written backwards; `]` closes a
 * class also where it comes first, and is the end of a range after `-`. Case counts. */
#ifndef GOB_GLOB_H
#define GOB_GLOB_H

#include "gob_names.h"

/* Whether the whole text is of the pattern: by byte, or by character where both are UTF-8.
 * O(text * pattern), O(text + pattern) with up to one star. */
bool gob_glob_matches(gob_name pattern, gob_name text, bool utf8);

#endif
