/* Numbers from text. */
#ifndef GOB_TEXT_H
#define GOB_TEXT_H

#include "gob_compiler.h"

/* The one spelling that int64 prints as: no sign but '-', no leading zero, no "-0". False, and
 * *value untouched, for anything else. O(length). */
GOB_INLINE bool gob_parse_int64(const char *text, size_t length, int64_t *value)
{
    enum { MAX_DIGITS = 19 };
    bool negative = length > 0 && text[0] == '-';
    size_t at = negative ? 1 : 0;

    if (length == at || length - at > MAX_DIGITS || (text[at] == '0' && length > 1)) {
        return false;
    }
    uint64_t sum = 0; /* 19 digits always fit */
    for (; at < length; at++) {
        unsigned digit = (unsigned)(unsigned char)text[at] - '0';
        if (digit > 9) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    if (sum > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
        return false;
    }
    *value = (int64_t)(negative ? 0 - sum : sum);
    return true;
}

/* A score by Redis' rules: what strtod takes to the last byte (hexadecimal and inf too), without
 * blanks, NaN, or a finite text that overflows or vanishes; at most GOB_SCORE_TEXT_MAX bytes. The
 * locale's decimal point does not matter. False, and *value untouched, for anything else. */
enum { GOB_SCORE_TEXT_MAX = 1000 };
bool gob_parse_score(const char *text, size_t length, double *value);

#endif
