/* Numbers, dates and marks in text. */
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
        unsigned ones = (unsigned)(unsigned char)text[at] - '0';
        if (ones > 9) {
            return false;
        }
        sum = sum * 10 + ones;
    }
    if (sum > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
        return false;
    }
    *value = (int64_t)(negative ? 0 - sum : sum);
    return true;
}

/* Exactly `count` digits; -1 where there is anything else. O(count). */
GOB_INLINE int64_t gob_parse_digits(const char *text, size_t count)
{
    int64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return -1;
        }
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

/* Days from 1970-01-01 to a date of years 0..9999; GOB_NO_DATE where there is none. */
enum { GOB_NO_DATE = -1000000000 };
int64_t gob_days_since_epoch(int64_t year, int64_t month, int64_t day);

/* 0x80 in each byte of word that equals the byte repeated in pattern; exact, without carries. */
GOB_INLINE uint64_t gob_match_bytes(uint64_t word, uint64_t pattern)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7fU;
    uint64_t differ = word ^ pattern;
    return ~(((differ & low) + low) | differ | low);
}

/* Eight bytes with the first in the lowest place. */
GOB_INLINE uint64_t gob_load_ordered(const char *p)
{
    uint64_t word = gob_load64(p);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* A score by Redis' rules: what strtod takes to the last byte (hexadecimal and inf too), without
 * blanks, NaN, or a finite text that overflows or vanishes; at most GOB_SCORE_TEXT_MAX bytes. The
 * locale's decimal point does not matter. False, and *value untouched, for anything else. */
enum { GOB_SCORE_TEXT_MAX = 1000 };
bool gob_parse_score(const char *text, size_t length, double *value);

#endif
