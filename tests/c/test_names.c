#include "gob_names.h"
#include "gob_test.h"

static bool is(gob_name name, const char *text)
{
    return name.len == strlen(text) && memcmp(name.at, text, name.len) == 0;
}

static void test_list(void)
{
    gob_name list[] = {{(const uint8_t *)"ab", 2}, {(const uint8_t *)"", 0}};
    gob_names c = {.form = GOB_NAMES_LIST, .data = (const uint8_t *)list};
    CHECK(is(gob_names_at(&c, 0), "ab"));
    CHECK(is(gob_names_at(&c, 1), ""));
}

static void test_rows_of_one_width(void)
{
    const uint8_t rows[] = "abcd"
                           "e\0f\0"
                           "g\0\0\0"
                           "\0\0\0\0";
    gob_names c = {.form = GOB_NAMES_FIXED, .width = 4, .data = rows};
    CHECK(gob_names_at(&c, 2).at == rows + 8);
    CHECK(gob_names_at(&c, 2).len == 4);
    c.form = GOB_NAMES_PADDED;
    CHECK(is(gob_names_at(&c, 0), "abcd"));
    CHECK(gob_names_at(&c, 1).len == 3); /* a NUL within stays */
    CHECK(is(gob_names_at(&c, 2), "g"));
    CHECK(is(gob_names_at(&c, 3), ""));
    c.width = 0;
    CHECK(is(gob_names_at(&c, 1), ""));
}

/* Both widths of offsets, also where they are not aligned. */
static void test_offsets(void)
{
    const uint32_t stops[] = {1, 3, 3, 6};
    uint8_t narrow[sizeof stops + 1];
    uint8_t wide[2 * sizeof stops + 1];
    for (size_t i = 0; i < 4; i++) {
        gob_store32(narrow + 1 + 4 * i, stops[i]);
        gob_store64(wide + 1 + 8 * i, stops[i]);
    }
    gob_names c = {
        .form = GOB_NAMES_OFFSETS32, .data = (const uint8_t *)"-abcde", .offsets = narrow + 1};
    for (int pass = 0; pass < 2; pass++) {
        CHECK(is(gob_names_at(&c, 0), "ab"));
        CHECK(is(gob_names_at(&c, 1), ""));
        CHECK(is(gob_names_at(&c, 2), "cde"));
        c.form = GOB_NAMES_OFFSETS64;
        c.offsets = wide + 1;
    }
}

static void test_views(void)
{
    const uint8_t *buffers[] = {(const uint8_t *)"", (const uint8_t *)"--thirteen long-"};
    uint8_t views[3 * GOB_VIEW_BYTES] = {0};
    gob_store32(views, 12);
    memcpy(views + 4, "twelve bytes", 12);
    gob_store32(views + 2 * GOB_VIEW_BYTES, 13);
    memcpy(views + 2 * GOB_VIEW_BYTES + 4, "thir", 4);
    gob_store32(views + 2 * GOB_VIEW_BYTES + 8, 1);
    gob_store32(views + 2 * GOB_VIEW_BYTES + 12, 2);
    gob_names c = {.form = GOB_NAMES_VIEWS, .data = views, .buffers = buffers};
    CHECK(is(gob_names_at(&c, 0), "twelve bytes"));
    CHECK(is(gob_names_at(&c, 1), ""));
    CHECK(is(gob_names_at(&c, 2), "thirteen long"));
}

int main(void)
{
    test_list();
    test_rows_of_one_width();
    test_offsets();
    test_views();
    return test_report();
}
