/* One pass finds the tabs and the end of a row, eight bytes at a time; the wanted fields are then
 * read from the noted places. Rows average some hundred bytes and mostly empty fields, so noting
 * every tab costs less than asking at each whether it is wanted. */
#include "gob_history.h"

#include "gob_text.h"

/* A row's fields: field i lies between stop[i - 1] + 1 and stop[i]. */
typedef struct row {
    const char *text;
    size_t length; /* with its '\n' */
    size_t width;
    size_t stop[GOB_HISTORY_MAX_WIDTH + 1]; /* the last place takes what is too much */
} row;

static void note_stop(row *r, size_t at)
{
    size_t slot = r->width < GOB_HISTORY_MAX_WIDTH ? r->width : GOB_HISTORY_MAX_WIDTH;
    r->stop[slot] = at;
    r->width++;
}

static void note_row_end(row *r, size_t newline)
{
    bool carriage = newline > 0 && r->text[newline - 1] == '\r';
    note_stop(r, carriage ? newline - 1 : newline);
    r->length = newline + 1;
}

/* Find the fields of the row that starts at text; false where its '\n' is not in the block. */
static bool find_fields(row *r, const char *text, size_t available)
{
    const uint64_t ones = 0x0101010101010101U;
    size_t at = 0;

    r->text = text;
    r->width = 0;
    for (; at + 8 <= available; at += 8) {
        uint64_t word = gob_load_ordered(text + at);
        uint64_t hits = gob_match_bytes(word, ones * '\t') | gob_match_bytes(word, ones * '\n');
        for (; hits != 0; hits &= hits - 1) {
            size_t place = at + gob_ctz64(hits) / 8;
            if (text[place] == '\n') {
                note_row_end(r, place);
                return true;
            }
            note_stop(r, place);
        }
    }
    for (; at < available; at++) {
        if (text[at] == '\n') {
            note_row_end(r, at);
            return true;
        }
        if (text[at] == '\t') {
            note_stop(r, at);
        }
    }
    return false;
}

static size_t field_start(const row *r, size_t index)
{
    return index == 0 ? 0 : r->stop[index - 1] + 1;
}

static bool passes(const row *r, const gob_history_filter *filter)
{
    if (filter->text == NULL) {
        return true;
    }
    size_t start = field_start(r, filter->index);
    size_t length = r->stop[filter->index] - start;
    return length == filter->length && memcmp(r->text + start, filter->text, length) == 0;
}

static bool read_boolean(const char *text, size_t length, uint8_t *value)
{
    if (length == 4 && memcmp(text, "true", 4) == 0) {
        *value = 1;
        return true;
    }
    *value = 0;
    return length == 0 || (length == 5 && memcmp(text, "false", 5) == 0);
}

/* "YYYY-MM-DD HH:MM:SS" and an optional fraction, of which microseconds are kept. */
static bool read_timestamp(const char *text, size_t length, int64_t *value)
{
    enum { WHOLE = 19, KEPT_DIGITS = 6, MAX_DIGITS = 9 };

    if (length == 0) {
        *value = INT64_MIN;
        return true;
    }
    if (length < WHOLE || text[4] != '-' || text[7] != '-' || text[10] != ' ' || text[13] != ':' ||
        text[16] != ':') {
        return false;
    }
    int64_t days = gob_days_since_epoch(gob_parse_digits(text, 4), gob_parse_digits(text + 5, 2),
                                        gob_parse_digits(text + 8, 2));
    int64_t hour = gob_parse_digits(text + 11, 2);
    int64_t minute = gob_parse_digits(text + 14, 2);
    int64_t second = gob_parse_digits(text + 17, 2);
    int64_t micros = 0;
    if (length > WHOLE) {
        size_t digits = length - WHOLE - 1;
        if (text[WHOLE] != '.' || digits == 0 || digits > MAX_DIGITS ||
            gob_parse_digits(text + WHOLE + 1, digits) < 0) {
            return false;
        }
        for (size_t i = 0; i < KEPT_DIGITS; i++) {
            micros = micros * 10 + (i < digits ? text[WHOLE + 1 + i] - '0' : 0);
        }
    }
    if (days == GOB_NO_DATE || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
        second > 59) {
        return false;
    }
    *value = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000000 + micros;
    return true;
}

static bool read_page_id(const char *text, size_t length, int64_t *value)
{
    return gob_parse_int64(text, length, value) && *value >= 0;
}

static bool read_integer(const char *text, size_t length, int64_t *value)
{
    *value = -1;
    return length == 0 || gob_parse_int64(text, length, value);
}

/* Write one field as the kept row number `slot`; false where it is malformed. */
static bool read_field(const gob_history_column *column, const row *r, const char *block,
                       size_t slot)
{
    const char *text = r->text + field_start(r, column->index);
    size_t length = (size_t)(r->text + r->stop[column->index] - text);

    switch (column->kind) {
    case GOB_HISTORY_PAGE_ID:
        return read_page_id(text, length, (int64_t *)column->out + slot);
    case GOB_HISTORY_INTEGER:
        return read_integer(text, length, (int64_t *)column->out + slot);
    case GOB_HISTORY_BOOLEAN:
        return read_boolean(text, length, (uint8_t *)column->out + slot);
    case GOB_HISTORY_TIMESTAMP:
        return read_timestamp(text, length, (int64_t *)column->out + slot);
    default: {
        gob_history_span *span = (gob_history_span *)column->out + slot;
        span->start = text - block;
        span->stop = span->start + (int64_t)length;
        return true;
    }
    }
}

/* Sort a row of the right width into kept, filtered, pageless or malformed. */
static void take_row(gob_history_scan *scan, const row *r, const char *block)
{
    if (!passes(r, &scan->entity) || !passes(r, &scan->event)) {
        scan->filtered++;
        return;
    }
    for (size_t i = 0; i < scan->column_count; i++) {
        gob_history_column *column = &scan->columns[i];
        if (column->kind == GOB_HISTORY_PAGE_ID &&
            r->stop[column->index] == field_start(r, column->index)) {
            scan->pageless++;
            return;
        }
        if (!read_field(column, r, block, scan->kept)) {
            column->malformed++;
            return;
        }
    }
    scan->kept++;
}

gob_status gob_history_read(gob_history_scan *scan, const char *data, size_t length)
{
    row r;

    scan->consumed = scan->rows = scan->kept = 0;
    scan->filtered = scan->pageless = scan->bad_width = 0;
    while (scan->kept < scan->capacity &&
           find_fields(&r, data + scan->consumed, length - scan->consumed)) {
        if (r.width != scan->width) {
            scan->bad_width = r.width;
            return GOB_MALFORMED;
        }
        take_row(scan, &r, data);
        scan->consumed += r.length;
        scan->rows++;
    }
    return GOB_OK;
}
