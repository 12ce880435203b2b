/* Most scores are short decimals, for which one division of two exact doubles is exactly rounded;
 * the rest goes to strtod. */
#include "gob_text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int64_t gob_days_since_epoch(int64_t year, int64_t month, int64_t day)
{
    static const int16_t before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    enum { DAYS_TO_1970 = 719528 };

    if (year < 0 || month < 1 || month > 12 || day < 1) {
        return GOB_NO_DATE;
    }
    int64_t leap = is_leap(year) ? 1 : 0;
    if (day > before[month] - before[month - 1] + (month == 2 ? leap : 0)) {
        return GOB_NO_DATE;
    }
    int64_t leaps = (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
    return year * 365 + leaps + before[month - 1] + (month > 2 ? leap : 0) + day - 1 - DAYS_TO_1970;
}

/* Up to 15 digits with at most one point: both the digits and the power of ten are exact doubles.
 */
static bool parse_short_decimal(const char *text, size_t length, double *value)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    enum { EXACT_DIGITS = 15 };
    bool negative = length > 0 && text[0] == '-';
    int64_t digits = 0;
    size_t seen = 0;
    size_t fraction = 0;
    bool point = false;

    for (size_t i = negative ? 1 : 0; i < length; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit <= 9) {
            digits = digits * 10 + digit;
            fraction += point;
            if (++seen > EXACT_DIGITS) {
                return false;
            }
        } else if (text[i] == '.' && !point) {
            point = true;
        } else {
            return false;
        }
    }
    if (seen == 0) {
        return false;
    }
    double magnitude = (double)digits / powers[fraction];
    *value = negative ? -magnitude : magnitude;
    return true;
}

/* Copy text for strtod with the locale's decimal point; false for bytes that no number has. */
static bool spell_for_strtod(const char *text, size_t length, char *out)
{
    const char *point = localeconv()->decimal_point;
    size_t point_length = strlen(point);

    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (c == '.') {
            memcpy(out, point, point_length);
            out += point_length;
        } else if (letter || (c >= '0' && c <= '9') || c == '+' || c == '-') {
            *out++ = c;
        } else {
            return false;
        }
    }
    *out = '\0';
    return true;
}

bool gob_parse_score(const char *text, size_t length, double *value)
{
    enum { POINT_MAX = 4 }; /* bytes of the longest decimal point, for a text of nothing else */
    char spelled[GOB_SCORE_TEXT_MAX * POINT_MAX + 1];
    char *stop;

    if (parse_short_decimal(text, length, value)) {
        return true;
    }
    if (length == 0 || length > GOB_SCORE_TEXT_MAX || !spell_for_strtod(text, length, spelled)) {
        return false;
    }
    errno = 0; /* the only way strtod tells of a value out of range */
    double result = strtod(spelled, &stop);
    bool out_of_range = errno == ERANGE && (isinf(result) || result == 0.0);
    if (*stop != '\0' || out_of_range || isnan(result)) {
        return false;
    }
    *value = result;
    return true;
}
