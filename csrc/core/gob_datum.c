#include "gob_datum.h"

#include <math.h>

#include "gob_utf8.h"

bool gob_datum_is_sound(gob_datum_kind kind, gob_value_kind stored, gob_name bytes, bool encoding)
{
    if (!gob_is_encoded(stored, bytes, encoding)) {
        return false;
    }
    switch (kind) {
    case GOB_DATUM_INT64:
        return stored == GOB_VALUE_INT;
    case GOB_DATUM_FLOAT64:
        return stored == GOB_VALUE_FLOAT && !isnan(gob_decode_number(stored, bytes).real);
    default:
        return stored == GOB_VALUE_TEXT
                   ? kind != GOB_DATUM_STR || gob_utf8_valid(bytes.at, bytes.len)
                   : encoding && stored != GOB_VALUE_FLOAT;
    }
}
