/* The scanner of MediaWiki History rows against a slow reader of one row at a time; whatever blocks
 * a text comes in and however many rows a call may give, the same rows. */
#define _DEFAULT_SOURCE /* timegm */

#include <inttypes.h>
#include <time.h>

#include "gob_fuzz.h"
#include "gob_history.h"

enum { COLUMNS = 5 };

/* What of a file is read: every column by a kind of its own. */
typedef struct wanted {
    size_t width;
    gob_history_filter entity;
    gob_history_filter event;
    size_t column_count;
    size_t index[COLUMNS];
    gob_history_kind kind[COLUMNS];
} wanted;

/* What it came to. */
typedef struct reading {
    output rows;
    size_t read;
    size_t filtered;
    size_t pageless;
    size_t bad_width;
    size_t consumed;
    int64_t malformed[COLUMNS];
} reading;

static const size_t kind_bytes[GOB_HISTORY_KINDS] = {
    [GOB_HISTORY_PAGE_ID] = sizeof(int64_t),       [GOB_HISTORY_INTEGER] = sizeof(int64_t),
    [GOB_HISTORY_BOOLEAN] = sizeof(uint8_t),       [GOB_HISTORY_TIMESTAMP] = sizeof(int64_t),
    [GOB_HISTORY_TEXT] = sizeof(gob_history_span),
};

static void take_text(output *o, const char *at, size_t length)
{
    append(o, &length, sizeof length);
    append(o, at, length);
}

static void take_rows(reading *r, const gob_history_scan *scan, const char *block)
{
    for (size_t row = 0; row < scan->kept; row++) {
        for (size_t i = 0; i < scan->column_count; i++) {
            const gob_history_column *c = &scan->columns[i];
            const char *value = (const char *)c->out + row * kind_bytes[c->kind];
            if (c->kind != GOB_HISTORY_TEXT) {
                append(&r->rows, value, kind_bytes[c->kind]);
                continue;
            }
            gob_history_span span;
            memcpy(&span, value, sizeof span);
            REQUIRE(0 <= span.start && span.start <= span.stop);
            REQUIRE((size_t)span.stop < scan->consumed);
            take_text(&r->rows, block + span.start, (size_t)(span.stop - span.start));
        }
    }
}

/* One call on a copy of the block: bytes consumed. */
static size_t read_block(reading *r, const wanted *w, const char *text, size_t length,
                         size_t capacity)
{
    gob_history_column columns[COLUMNS];
    char *block = allocate_copy(text, length);
    for (size_t i = 0; i < w->column_count; i++) {
        columns[i] = (gob_history_column){.index = w->index[i], .kind = w->kind[i]};
        columns[i].out = allocate(capacity * kind_bytes[w->kind[i]]);
    }
    gob_history_scan scan = {.width = w->width,
                             .entity = w->entity,
                             .event = w->event,
                             .columns = columns,
                             .column_count = w->column_count,
                             .capacity = capacity};
    gob_status status = gob_history_read(&scan, block, length);
    REQUIRE(status == (scan.bad_width == 0 ? GOB_OK : GOB_MALFORMED));
    REQUIRE(scan.consumed <= length && scan.kept <= capacity);
    REQUIRE(scan.rows == count_lines(block, scan.consumed));
    take_rows(r, &scan, block);
    for (size_t i = 0; i < w->column_count; i++) {
        r->malformed[i] += columns[i].malformed;
        free(columns[i].out);
    }
    r->read += scan.rows;
    r->filtered += scan.filtered;
    r->pageless += scan.pageless;
    r->bad_width = scan.bad_width;
    r->consumed += scan.consumed;
    free(block);
    return scan.consumed;
}

static reading read_all(const wanted *w, feed f, size_t capacity)
{
    reading r = {0};
    do {
        (void)feed_more(&f);
        size_t step;
        do {
            step = read_block(&r, w, f.text + f.at, f.given - f.at, capacity);
            f.at += step;
        } while (step != 0 && r.bad_width == 0);
    } while (r.bad_width == 0 && f.given < f.length);
    return r;
}

/* The model: one field at a time */

static bool model_int64(const char *field, size_t length, int64_t *value)
{
    char digits[32] = "";
    char spelled[32];
    if (length >= sizeof digits) {
        return false;
    }
    memcpy(digits, field, length);
    *value = strtoll(digits, NULL, 10);
    int printed = snprintf(spelled, sizeof spelled, "%" PRId64, *value);
    return (size_t)printed == length && memcmp(spelled, field, length) == 0;
}

/* Whether `field` has a digit wherever the pattern has a 9, and is otherwise the same. */
static bool has_form(const char *field, size_t length, const char *pattern)
{
    bool same = length == strlen(pattern);
    for (size_t i = 0; same && i < length; i++) {
        bool digit = field[i] >= '0' && field[i] <= '9';
        same = pattern[i] == '9' ? digit : field[i] == pattern[i];
    }
    return same;
}

/* The digits in [from, to) of a field. */
static int number_at(const char *field, size_t from, size_t to)
{
    char digits[8] = "";
    memcpy(digits, field + from, to - from);
    return atoi(digits);
}

static bool model_timestamp(const char *field, size_t length, int64_t *value)
{
    enum { SECONDS = 19, FRACTION_MAX = 9 };
    struct tm again;
    *value = INT64_MIN;
    if (length == 0) {
        return true;
    }
    if (length < SECONDS || !has_form(field, SECONDS, "9999-99-99 99:99:99")) {
        return false;
    }
    struct tm given = {.tm_year = number_at(field, 0, 4) - 1900,
                       .tm_mon = number_at(field, 5, 7) - 1,
                       .tm_mday = number_at(field, 8, 10),
                       .tm_hour = number_at(field, 11, 13),
                       .tm_min = number_at(field, 14, 16),
                       .tm_sec = number_at(field, 17, 19)};
    struct tm settled = given;
    time_t seconds = timegm(&settled);
    if (gmtime_r(&seconds, &again) == NULL || again.tm_mon != given.tm_mon ||
        again.tm_mday != given.tm_mday || again.tm_hour != given.tm_hour ||
        again.tm_min != given.tm_min || again.tm_sec != given.tm_sec) {
        return false;
    }
    char micros[] = "000000";
    if (length > SECONDS) {
        static const char longest[] = ".999999999";
        char form[sizeof longest] = "";
        size_t digits = length - SECONDS - 1;
        if (digits < 1 || digits > FRACTION_MAX) {
            return false;
        }
        memcpy(form, longest, digits + 1);
        if (!has_form(field + SECONDS, digits + 1, form)) {
            return false;
        }
        memcpy(micros, field + SECONDS + 1, digits < 6 ? digits : 6);
    }
    *value = (int64_t)seconds * 1000000 + atoi(micros);
    return true;
}

/* Appends the value of a field; false where it is malformed. */
static bool take_field(output *o, gob_history_kind kind, const char *field, size_t length)
{
    int64_t number = -1;
    uint8_t truth = has_form(field, length, "true");
    bool sound = true;
    switch (kind) {
    case GOB_HISTORY_PAGE_ID:
        sound = model_int64(field, length, &number) && number >= 0;
        break;
    case GOB_HISTORY_INTEGER:
        sound = length == 0 || model_int64(field, length, &number);
        break;
    case GOB_HISTORY_BOOLEAN:
        append(o, &truth, sizeof truth);
        return truth || length == 0 || has_form(field, length, "false");
    case GOB_HISTORY_TIMESTAMP:
        sound = model_timestamp(field, length, &number);
        break;
    default:
        take_text(o, field, length);
        return true;
    }
    append(o, &number, sizeof number);
    return sound;
}

/* Where each field of a row starts, and one place past the last. */
static size_t split_row(const char *row, size_t length, const char **starts, size_t most)
{
    size_t width = 1;
    starts[0] = row;
    length -= length > 0 && row[length - 1] == '\r';
    for (size_t i = 0; i < length; i++) {
        if (row[i] == '\t') {
            starts[width < most ? width : most] = row + i + 1;
            width++;
        }
    }
    starts[width < most ? width : most] = row + length + 1;
    return width;
}

static bool passes(const gob_history_filter *filter, const char *const *starts)
{
    const char *field = starts[filter->index];
    size_t length = (size_t)(starts[filter->index + 1] - field) - 1;
    return filter->text == NULL ||
           (length == filter->length && memcmp(field, filter->text, length) == 0);
}

static void model_row(reading *r, const wanted *w, const char *const *starts)
{
    if (!passes(&w->entity, starts) || !passes(&w->event, starts)) {
        r->filtered++;
        return;
    }
    size_t before = r->rows.length;
    for (size_t i = 0; i < w->column_count; i++) {
        const char *field = starts[w->index[i]];
        size_t length = (size_t)(starts[w->index[i] + 1] - field) - 1;
        bool pageless = w->kind[i] == GOB_HISTORY_PAGE_ID && length == 0;
        if (pageless || !take_field(&r->rows, w->kind[i], field, length)) {
            r->pageless += pageless;
            r->malformed[i] += !pageless;
            r->rows.length = before;
            return;
        }
    }
}

static reading read_slowly(const wanted *w, const char *text, size_t length)
{
    const char *starts[GOB_HISTORY_MAX_WIDTH + 2];
    reading r = {0};
    const char *newline;
    while (r.consumed < length &&
           (newline = memchr(text + r.consumed, '\n', length - r.consumed)) != NULL) {
        const char *row = text + r.consumed;
        size_t width = split_row(row, (size_t)(newline - row), starts, GOB_HISTORY_MAX_WIDTH + 1);
        if (width != w->width) {
            r.bad_width = width;
            break;
        }
        model_row(&r, w, starts);
        r.consumed = (size_t)(newline - text) + 1;
        r.read++;
    }
    return r;
}

static void require_same(const reading *a, reading *b)
{
    REQUIRE(same_output(&a->rows, &b->rows));
    REQUIRE(a->read == b->read && a->filtered == b->filtered && a->pageless == b->pageless);
    REQUIRE(a->bad_width == b->bad_width && a->consumed == b->consumed);
    REQUIRE(memcmp(a->malformed, b->malformed, sizeof a->malformed) == 0);
    free(b->rows.at);
}

static gob_history_filter next_filter(script *s, size_t width, const char *text)
{
    gob_history_filter filter = {.index = next_below(s, width)};
    if (next_byte(s) % 2 != 0) {
        filter.text = text;
        filter.length = strlen(text);
    }
    return filter;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    script s = open_script(data, size);
    wanted w = {.width = 1 + next_below(&s, GOB_HISTORY_MAX_WIDTH)};
    w.entity = next_filter(&s, w.width, "page");
    w.event = next_filter(&s, w.width, "");
    w.column_count = next_below(&s, COLUMNS + 1);
    for (size_t i = 0; i < w.column_count; i++) {
        w.index[i] = next_below(&s, w.width);
        w.kind[i] = (gob_history_kind)next_below(&s, GOB_HISTORY_KINDS);
    }
    size_t capacity = 1 + next_below(&s, 4);
    size_t blocks = next_below(&s, 16);
    const uint8_t *plan = next_bytes(&s, &blocks);
    feed f = {.text = (const char *)s.at, .length = s.left};
    reading whole = read_all(&w, f, f.length + 1);
    f.plan = (script){plan, blocks};
    reading parts = read_all(&w, f, capacity);
    reading slow = read_slowly(&w, f.text, f.length);
    require_same(&whole, &parts);
    require_same(&whole, &slow);
    free(whole.rows.at);
    return 0;
}
