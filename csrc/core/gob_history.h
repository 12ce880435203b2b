/* Scanner of MediaWiki History rows: tab-separated columns without quoting, one row per '\n'.
 *
 * It reads the wanted columns of the wanted rows of one block straight into the caller's arrays. A
 * row with a field that cannot be read is left out and counted; nothing is allocated. */
#ifndef GOB_HISTORY_H
#define GOB_HISTORY_H

#include "gob_compiler.h"
#include "gob_status.h"

enum { GOB_HISTORY_MAX_WIDTH = 78 };

typedef enum gob_history_kind {
    GOB_HISTORY_PAGE_ID, /* int64_t, canonical and not negative; an empty one leaves the row out */
    GOB_HISTORY_INTEGER, /* int64_t, -1 where empty */
    GOB_HISTORY_BOOLEAN, /* uint8_t, 0 where empty */
    GOB_HISTORY_TIMESTAMP, /* int64_t, microseconds since 1970, INT64_MIN where empty */
    GOB_HISTORY_TEXT,      /* gob_history_span */
    GOB_HISTORY_KINDS,
} gob_history_kind;

/* A field's place in the block. */
typedef struct gob_history_span {
    int64_t start;
    int64_t stop;
} gob_history_span;

/* A wanted value of a field, or any value where text is NULL. */
typedef struct gob_history_filter {
    size_t index;
    const char *text;
    size_t length;
} gob_history_filter;

typedef struct gob_history_column {
    size_t index;
    gob_history_kind kind;
    void *out;         /* `capacity` values of the kind */
    int64_t malformed; /* rows left out because of this field; the scan adds to it */
} gob_history_column;

typedef struct gob_history_scan {
    size_t width; /* columns of a row, at most GOB_HISTORY_MAX_WIDTH */
    gob_history_filter entity;
    gob_history_filter event;
    gob_history_column *columns;
    size_t column_count;
    size_t capacity; /* rows that fit the columns' arrays */
    /* Results of one call. */
    size_t consumed;  /* bytes of the rows read, a multiple of whole rows */
    size_t rows;      /* rows read, kept or not */
    size_t kept;      /* rows written to the columns */
    size_t filtered;  /* rows of another entity or event */
    size_t pageless;  /* rows with an empty page id */
    size_t bad_width; /* columns of the row that stopped the scan */
} gob_history_scan;

/* Read whole rows of data[0..length) until they or the capacity end. GOB_MALFORMED: the row at
 * `consumed` has `bad_width` columns; the rows before it are delivered. O(length). */
gob_status gob_history_read(gob_history_scan *scan, const char *data, size_t length);

#endif
