/* Building the order of an index, against sorting its members. */
#include "gob_build.h"
#include "gob_random.h"
#include "gob_sort.h"
#include "gob_test.h"

enum { MOST = 400000 };

static gob_alloc a;
static gob_index ix;

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
    gob_sort_entries(expected, scratch, count);

    const char *why = NULL;
    gob_order o;
    size_t live = a.live;
    gob_order_init(&o, layout, NULL);
    CHECK(gob_build(&o, &a, &ix) == GOB_OK);
    CHECK(gob_order_validate(&o, &why));
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

/* Every allocation fails once; the order is empty again, and nothing is left. */
static void test_failures(gob_layout layout, bool large)
{
    uint64_t rng = 4;
    begin_test(layout);
    for (int64_t i = 0; i < (large ? 270000 : 12000); i++) {
        put(large ? i << 20 : i, large ? 0.5 : (double)random_below(&rng, 2));
        if (i % 3 == 0 && !large) {
            put(i << 20 | 77, (double)random_below(&rng, 1000) * 0.5);
        }
    }
    size_t live = a.live;
    size_t failures = 0;
    gob_status status = GOB_NOMEM;
    for (uint64_t nth = 1; status != GOB_OK; nth += large ? 1 + nth : 1) {
        gob_order o;
        gob_order_init(&o, layout, NULL);
        a.fail_at = nth;
        status = gob_build(&o, &a, &ix);
        failures += status != GOB_OK;
        CHECK(status == GOB_OK || (status == GOB_NOMEM && o.root == NULL && o.count == 0));
        CHECK(status == GOB_OK || a.live == live);
        gob_order_free(&o, &a);
        CHECK(a.live == live);
    }
    a.fail_at = 0;
    CHECK(failures > 5);
    end_test();
}

int main(void)
{
    const gob_layout narrow = {.member_bytes = 4, .score_bytes = 4, .compress = true};
    const gob_layout wide = {.member_bytes = 8, .score_bytes = 8, .compress = true};
    const gob_layout plain = {.member_bytes = 8, .score_bytes = 8, .compress = false};
    for (shape s = 0; s < SHAPES; s++) {
        test_table_only(wide, s, INT64_C(1) << (s == ALL_EQUAL ? 44 : 20), 300000);
    }
    test_table_only(narrow, ALL_EQUAL, 14000, 300000);
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
    return test_report();
}
