/* Building the order of an index, against sorting its members. */
#include "gob_build.h"
#include "gob_random.h"
#include "gob_sort.h"
#include "gob_test.h"

enum { MOST = 400000 };

static gob_alloc a;
static gob_index ix;

/* What an order of these entries takes, whatever built it. */
static size_t packed_bytes(gob_layout layout, const gob_entry *entries, size_t n)
{
    gob_alloc other;
    gob_order o;
    gob_builder b;
    gob_alloc_init(&other);
    gob_order_init(&o, layout, NULL);
    gob_builder_init(&b, &o, &other);
    for (size_t i = 0; i < n; i++) {
        CHECK(gob_builder_add(&b, entries[i]) == GOB_OK);
    }
    CHECK(gob_builder_finish(&b) == GOB_OK);
    size_t bytes = other.live;
    gob_order_free(&o, &other);
    return bytes;
}

/* Builds, and reads the order against the sorted content of the index. */
static void check_build(gob_layout layout)
{
    static gob_entry expected[MOST];
    static gob_entry scratch[MOST];
    static int64_t members[GOB_WALK_MAX];
    static double scores[GOB_WALK_MAX];
    gob_walk w = {0};
    size_t count = 0;
    for (size_t n; (n = gob_index_walk(&ix, &w, members, scores)) != 0;) {
        for (size_t i = 0; i < n; i++) {
            expected[count++] = (gob_entry){gob_key(scores[i]), gob_bias(members[i])};
        }
    }
    CHECK(count == ix.live);
    const gob_members *names = gob_index_names(&ix);
    if (names != NULL) {
        CHECK(gob_sort_names(names, 0, expected, scratch, count, NULL) == GOB_OK);
    } else {
        CHECK(gob_sort_entries(expected, scratch, count, NULL) == GOB_OK);
    }

    const char *why = NULL;
    gob_order o;
    size_t live = a.live;
    gob_order_init(&o, layout, names);
    CHECK(gob_build(&o, &a, &ix) == GOB_OK);
    CHECK(gob_order_validate(&o, &why));
    CHECK(names == NULL || a.live - live == packed_bytes(layout, expected, count));
    bool same = o.count == count;
    static gob_window window;
    for (uint64_t rank = 0; same && rank < count; rank += window.count) {
        gob_order_read(&o, rank, &window);
        for (size_t i = 0; i < window.count; i++) {
            gob_entry e = expected[rank + i];
            same = same && e.key == window.keys[i] && e.member == window.members[i];
        }
    }
    CHECK(same);
    gob_order_free(&o, &a);
    CHECK(a.live == live);
}

static void put(int64_t member, double score)
{
    double old;
    CHECK(gob_index_put(&ix, &a, member, score, &old) == GOB_OK);
}

static void begin_test(gob_layout layout)
{
    gob_alloc_init(&a);
    gob_index_init(&ix, layout, 5);
}

static void end_test(void)
{
    gob_index_free(&ix, &a);
    CHECK(a.live == 0);
}

/* The shapes of scores in a table that is larger than the buffer of a range. */
typedef enum shape { ALL_EQUAL, TWO_VALUES, ALL_DIFFERENT, NEAR, SMALL, SHAPES } shape;

static double score_of(shape s, uint64_t *rng)
{
    switch (s) {
    case ALL_EQUAL: /* only members can cut this */
        return 0.5;
    case TWO_VALUES:
        return random_below(rng, 10) == 0 ? -HUGE_VAL : 7.0;
    case ALL_DIFFERENT:
        return (double)(int64_t)random_next(rng);
    case NEAR: /* keys that differ in their last digits only */
        return 1.0 + (double)random_below(rng, 3) * DBL_EPSILON;
    case SMALL:
    default:
        return (double)random_below(rng, 20);
    }
}

/* No pages: a range after another, cut by digits of keys and then of members. */
static void test_table_only(gob_layout layout, shape s, int64_t stride, size_t n)
{
    uint64_t rng = 1;
    begin_test(layout);
    for (size_t i = 0; i < n; i++) {
        put(((int64_t)i - (int64_t)n / 2) * stride, score_of(s, &rng));
    }
    CHECK(ix.pages.count == 0 && ix.table.live == n);
    check_build(layout);
    end_test();
}

/* Ties from pages, between them exceptions, scores without codes, and members of the table. */
static void test_mixture(gob_layout layout, unsigned others, size_t n)
{
    const double rare[] = {-HUGE_VAL, -3.0, -0.5, 0.5, 253.0, 254.0, 255.0, 70000.0, HUGE_VAL};
    uint64_t rng = 2;
    begin_test(layout);
    for (size_t i = 0; i < n; i++) {
        bool is_rare = random_below(&rng, 100) < others;
        uint64_t most = random_below(&rng, 3) == 0 ? 254 : 3;
        double score = is_rare ? rare[random_below(&rng, 9)] : (double)random_below(&rng, most);
        if (is_rare && random_below(&rng, 2) != 0) {
            score = (double)(1000 + random_below(&rng, 1 << 20)) * 0.5;
        }
        int64_t stray = (int64_t)(int32_t)random_next(&rng);
        put(random_below(&rng, 10) == 0 ? stray : (int64_t)i - 7000, score);
    }
    CHECK(ix.pages.count != 0 && ix.table.live != 0);
    check_build(layout);
    CHECK(gob_index_optimize(&ix, &a) == GOB_OK);
    check_build(layout);
    end_test();
}

/* Pages as wide as a score, with more entries than a range holds. */
static void test_wide_pages(gob_layout layout)
{
    uint64_t rng = 3;
    begin_test(layout);
    for (int64_t member = 0; member < 300000; member++) {
        put(member, (double)random_below(&rng, 1 << 24) * 0.25);
    }
    CHECK(ix.table.live < 300000 && gob_index_optimize(&ix, &a) == GOB_OK);
    bool wide = false;
    for (size_t at = 0; at < (size_t)1 << ix.pages.bits; at++) {
        const gob_page *page = ix.pages.dir[at].page;
        wide = wide || (page != NULL && page->width == layout.score_bytes);
    }
    CHECK(wide);
    check_build(layout);
    end_test();
}

/* Every size around those of blocks and nodes. */
static void test_sizes(gob_layout layout)
{
    const size_t sizes[] = {0, 1, 2, 255, 256, 257, 511, 512, 513, 16383, 16384, 16385, 16641};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        for (int dense = 0; dense < 2; dense++) {
            begin_test(layout);
            for (size_t i = 0; i < sizes[k]; i++) {
                put((int64_t)i * (dense != 0 ? 1 : 70000), (double)(i % 3));
            }
            check_build(layout);
            end_test();
        }
    }
}

/* Every allocation fails once, or some of many; the order is empty again, and nothing is left. */
static void check_failures(gob_layout layout, bool large)
{
    size_t live = a.live;
    size_t failures = 0;
    gob_status status = GOB_NOMEM;
    for (uint64_t nth = 1; status != GOB_OK; nth += large ? 1 + nth : 1) {
        gob_order o;
        gob_order_init(&o, layout, gob_index_names(&ix));
        gob_alloc_fail_at(&a, nth);
        status = gob_build(&o, &a, &ix);
        failures += status != GOB_OK;
        CHECK(status == GOB_OK || (status == GOB_NOMEM && o.root == NULL && o.count == 0));
        CHECK(status == GOB_OK || a.live == live);
        gob_order_free(&o, &a);
        CHECK(a.live == live);
    }
    gob_alloc_fail_at(&a, 0);
    CHECK(failures > 4);
}

static void test_failures(gob_layout layout, bool large)
{
    uint64_t rng = 4;
    begin_test(layout);
    for (int64_t i = 0; i < (large ? 40000 : 12000); i++) {
        put(large ? i << 20 : i, large ? 0.5 : (double)random_below(&rng, 2));
        if (i % 3 == 0 && !large) {
            put(i << 20 | 77, (double)random_below(&rng, 1000) * 0.5);
        }
    }
    check_failures(layout, large);
    end_test();
}

/* Names */

static void put_name(gob_name name, double score)
{
    int64_t id;
    CHECK(gob_members_add(&ix.members, &a, name, &id) == GOB_OK);
    put(id, score);
}

static void begin_names(gob_layout layout)
{
    int64_t none = GOB_NO_ID;
    begin_test(layout);
    CHECK(gob_members_renew(&ix.members, &a, GOB_FORM_FLOAT, layout.member_bytes == 8, true,
                            &none) == GOB_OK);
}

/* How names differ: in their last bytes, in all of them, or late and beyond the first few. */
typedef enum kin { NUMBERED, UUIDS, LATE, KINS } kin;

static gob_name name_of(kin k, size_t i, uint64_t *rng)
{
    static uint8_t at[32];
    size_t number = i * 7919 % 1000003; /* a permutation */
    switch (k) {
    case NUMBERED:
        return (gob_name){at, (size_t)snprintf((char *)at, sizeof at, "user:%zu", number)};
    case UUIDS:
        gob_store64(at, random_next(rng));
        gob_store64(at + 8, number);
        return (gob_name){at, 16};
    case LATE:
    default:
        memset(at, i % 20 == 0 ? 'b' : 'a', 20);
        at[20] = (uint8_t)(number >> 16);
        at[21] = (uint8_t)(number >> 8);
        at[22] = (uint8_t)number;
        return (gob_name){at, 23};
    }
}

static void fill_names(gob_layout layout, kin k, shape s, size_t n)
{
    uint64_t rng = 5;
    begin_names(layout);
    for (size_t i = 0; i < n; i++) {
        put_name(name_of(k, i, &rng), score_of(s, &rng));
    }
}

/* Ranges cut by the digits of keys, then by those of names, and names that no digits tell apart. */
static void test_names(gob_layout layout, kin k, shape s, size_t n)
{
    fill_names(layout, k, s, n);
    check_build(layout);
    if (s == ALL_EQUAL) {
        check_failures(layout, n > GOB_PAGE_IDS);
    }
    end_test();
}

/* Names without a score are in no order. */
static void test_unscored(gob_layout layout)
{
    double old;
    fill_names(layout, NUMBERED, SMALL, 3000);
    for (size_t i = 0; i < 3000; i += 3) {
        uint64_t rng;
        int64_t id = gob_members_find(&ix.members, name_of(NUMBERED, i, &rng));
        old = gob_index_erase(&ix, &a, id);
        CHECK(!gob_is_absent(old));
    }
    CHECK(ix.live == 2000 && ix.members.records == 3000);
    check_build(layout);
    end_test();
}

int main(void)
{
    const gob_layout narrow = {.member_bytes = 4, .score_bytes = 4, .compress = true};
    const gob_layout wide = {.member_bytes = 8, .score_bytes = 8, .compress = true};
    const gob_layout plain = {.member_bytes = 8, .score_bytes = 8, .compress = false};
    for (shape s = 0; s < SHAPES; s++) {
        test_table_only(wide, s, INT64_C(1) << (s == ALL_EQUAL ? 44 : 20), 60000);
    }
    test_table_only(narrow, ALL_EQUAL, 70000, 60000);
    test_table_only(plain, ALL_DIFFERENT, 1 << 20, 20000);
    test_mixture(narrow, 5, 120000);
    test_mixture(wide, 40, 120000);
    test_mixture(plain, 2, 60000);
    test_mixture(wide, 2, 390000);
    test_wide_pages(wide);
    test_sizes(wide);
    test_sizes(plain);
    test_failures(wide, false);
    test_failures(plain, false);
    test_failures(wide, true);
    const gob_layout strings = {
        .member_bytes = 4, .score_bytes = 8, .compress = true, .named = true};
    const gob_layout unpacked = {.member_bytes = 8, .score_bytes = 4, .named = true};
    gob_layout uuids = strings;
    uuids.fixed = 16;
    for (size_t n = 0; n < 600; n += 1 + n / 3) {
        test_names(strings, NUMBERED, SMALL, n);
        test_names(unpacked, NUMBERED, n < 50 ? SMALL : ALL_EQUAL, n);
    }
    test_names(strings, NUMBERED, ALL_DIFFERENT, 40000);
    test_names(unpacked, LATE, ALL_EQUAL, 40000);
    test_names(uuids, UUIDS, NEAR, 40000);
    test_unscored(strings);
    return test_report();
}
