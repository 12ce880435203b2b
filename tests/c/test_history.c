/* Blocks are copied to allocations of their exact size, so that ASan sees a read past the end. */
#include <stdlib.h>

#include "gob_history.h"
#include "gob_test.h"

enum { WIDTH = 5, CAPACITY = 64 };

typedef struct results {
    gob_history_scan scan;
    gob_history_column columns[3];
    int64_t pages[CAPACITY];
    int64_t numbers[CAPACITY];
    gob_history_span texts[CAPACITY];
    char *block;
} results;

/* Rows of: entity, event, page id, number, text. */
static gob_status scan_text(results *r, const char *text, size_t length, size_t capacity)
{
    r->block = malloc(length + (length == 0));
    if (r->block == NULL) {
        abort();
    }
    memcpy(r->block, text, length);
    r->columns[0] = (gob_history_column){2, GOB_HISTORY_PAGE_ID, r->pages, 0};
    r->columns[1] = (gob_history_column){3, GOB_HISTORY_INTEGER, r->numbers, 0};
    r->columns[2] = (gob_history_column){4, GOB_HISTORY_TEXT, r->texts, 0};
    r->scan = (gob_history_scan){
        .width = WIDTH,
        .entity = {0, "revision", 8},
        .event = {1, "create", 6},
        .columns = r->columns,
        .column_count = 3,
        .capacity = capacity,
    };
    return gob_history_read(&r->scan, r->block, length);
}

static void test_rows(void)
{
    static const char text[] = "revision\tcreate\t12\t-5\tfirst\n"
                               "page\tcreate\t13\t1\tx\n"
                               "revision\tmove\t13\t1\tx\n"
                               "revision\tcreate\t\t1\tx\n"
                               "revision\tcreate\t1e3\t1\tx\n"
                               "revision\tcreate\t13\t1.5\tx\n"
                               "revision\tcreate\t0\t\t\r\n"
                               "revision\tcreate\t14\t1\tcut";
    results r;
    CHECK(scan_text(&r, text, sizeof text - 1, CAPACITY) == GOB_OK);
    CHECK(r.scan.rows == 7);
    CHECK(r.scan.kept == 2);
    CHECK(r.scan.filtered == 2);
    CHECK(r.scan.pageless == 1);
    CHECK(r.columns[0].malformed == 1);
    CHECK(r.columns[1].malformed == 1);
    CHECK(r.pages[0] == 12 && r.pages[1] == 0);
    CHECK(r.numbers[0] == -5 && r.numbers[1] == -1);
    CHECK(memcmp(r.block + r.texts[0].start, "first", 5) == 0);
    CHECK(r.texts[0].stop - r.texts[0].start == 5);
    CHECK(r.texts[1].stop == r.texts[1].start);
    CHECK(strcmp(text + r.scan.consumed, "revision\tcreate\t14\t1\tcut") == 0);
    free(r.block);
}

static void test_capacity_stops_the_scan(void)
{
    static const char text[] = "revision\tcreate\t1\t\t\nrevision\tcreate\t2\t\t\n";
    results r;
    CHECK(scan_text(&r, text, sizeof text - 1, 1) == GOB_OK);
    CHECK(r.scan.kept == 1 && r.scan.consumed == (sizeof text - 1) / 2);
    free(r.block);
}

static void test_widths(void)
{
    char text[400] = "revision\tcreate\t1\t\t\n";
    size_t good = strlen(text);
    for (size_t width = 1; width < 300; width++) {
        memset(text + good, '\t', width - 1);
        text[good + width - 1] = '\n';
        results r;
        gob_status status = scan_text(&r, text, good + width, CAPACITY);
        if (width == WIDTH) {
            CHECK(status == GOB_OK && r.scan.rows == 2);
        } else {
            CHECK(status == GOB_MALFORMED && r.scan.bad_width == width);
            CHECK(r.scan.kept == 1 && r.scan.consumed == good);
        }
        free(r.block);
    }
}

/* Every cut of a text: whole rows are read, nothing past the cut is. */
static void test_every_cut(void)
{
    static const char text[] = "revision\tcreate\t9223372036854775807\t-9223372036854775808\tabc\n"
                               "user\tcreate\t\t\t\n"
                               "revision\tcreate\t0\t0\t\xc3\xa9\r\n";
    for (size_t cut = 0; cut < sizeof text; cut++) {
        size_t rows = 0;
        for (size_t i = 0; i < cut; i++) {
            rows += text[i] == '\n';
        }
        results r;
        CHECK(scan_text(&r, text, cut, CAPACITY) == GOB_OK);
        CHECK(r.scan.rows == rows);
        CHECK(r.scan.kept + r.scan.filtered == rows);
        CHECK(rows == 0 || (r.pages[0] == INT64_MAX && r.numbers[0] == INT64_MIN));
        free(r.block);
    }
}

/* Random bytes of the few that matter: every row is accounted for, as a plain loop counts them. */
static void test_random_bytes(void)
{
    static const char letters[] = "\t\t\t\n\r01-9x\x08\x0b\x89\x8a";
    uint64_t state = 1;
    for (int round = 0; round < 20000; round++) {
        char text[96];
        size_t length = (size_t)round % sizeof text;
        for (size_t i = 0; i < length; i++) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            text[i] = letters[(state >> 33) % (sizeof letters - 1)];
        }
        results r;
        gob_status status = scan_text(&r, text, length, CAPACITY);
        size_t at = 0;
        size_t rows = 0;
        size_t width = 1;
        for (size_t i = 0; i < length && width <= 96; i++) {
            width += text[i] == '\t';
            if (text[i] == '\n') {
                if (width != WIDTH) {
                    break;
                }
                rows++;
                at = i + 1;
                width = 1;
            }
        }
        CHECK(r.scan.rows == rows && r.scan.consumed == at);
        CHECK((status == GOB_MALFORMED) == (memchr(text + at, '\n', length - at) != NULL));
        free(r.block);
    }
}

static void test_timestamps(void)
{
    static const struct {
        const char *text;
        int64_t micros;
    } cases[] = {
        {"1970-01-01 00:00:00.0", 0},
        {"1969-12-31 23:59:59.999999", -1},
        {"2000-02-29 12:34:56.5", 951827696500000},
        {"0000-01-01 00:00:00", -62167219200000000},
        {"9999-12-31 23:59:59.9", 253402300799900000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64] = "";
        strcat(strcat(text, cases[i].text), "\n");
        int64_t micros = 1;
        gob_history_column column = {0, GOB_HISTORY_TIMESTAMP, &micros, 0};
        gob_history_scan scan = {.width = 1, .columns = &column, .column_count = 1, .capacity = 1};
        CHECK(gob_history_read(&scan, text, strlen(text)) == GOB_OK);
        CHECK(scan.kept == 1 && micros == cases[i].micros);
    }
}

int main(void)
{
    test_rows();
    test_capacity_stops_the_scan();
    test_widths();
    test_every_cut();
    test_random_bytes();
    test_timestamps();
    return test_report();
}
