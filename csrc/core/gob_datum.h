/* What keys, fields and values of hashes and tables are, by the numbers that files have for it. */
#ifndef GOB_DATUM_H
#define GOB_DATUM_H

#include "gob_encoding.h"

typedef enum gob_datum_kind {
    GOB_DATUM_STR = 1,
    GOB_DATUM_BYTES = 2,
    GOB_DATUM_INT64 = 3,
    GOB_DATUM_FLOAT64 = 4,
} gob_datum_kind;

GOB_INLINE bool gob_datum_is_text(unsigned kind)
{
    return kind == GOB_DATUM_STR || kind == GOB_DATUM_BYTES;
}

/* Whether a datum of this kind may be stored so; a str has to be UTF-8. O(length). */
bool gob_datum_is_sound(gob_datum_kind kind, gob_value_kind stored, gob_name bytes, bool encoding);

#endif
