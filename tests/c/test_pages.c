/* Pages against an array of scores: every width, exceptions, recoding, failing allocations. */
#include "gob_pages.h"
#include "gob_random.h"
#include "gob_test.h"

enum { PAGES = 3, IDS = PAGES * GOB_PAGE_IDS };

/* The model: scores by id, which belongs to member base + id; base starts a page. */
typedef struct model {
    double score[IDS];
    int64_t base;
} model;

static void model_init(model *m, int64_t base)
{
    m->base = base;
    for (size_t id = 0; id < IDS; id++) {
        m->score[id] = GOB_ABSENT;
    }
}

static gob_page_ref *ref_of(const gob_pages *p, const model *m, size_t id)
{
    return gob_pages_find(p, gob_page_number(m->base + (int64_t)id));
}

static bool valid(const gob_pages *p)
{
    const char *why = NULL;
    bool ok = gob_pages_validate(p, NULL, &why);
    if (!ok) {
        fprintf(stderr, "%s\n", why);
    }
    return ok;
}

static bool same_score(double a, double b)
{
    return a == b || (gob_is_absent(a) && gob_is_absent(b));
}

static bool matches(const gob_pages *p, const gob_alloc *a, const model *m)
{
    bool same = valid(p) && a->live == gob_pages_bytes(p);
    for (size_t id = 0; id < IDS && same; id++) {
        const gob_page_ref *ref = ref_of(p, m, id);
        double score =
            ref == NULL ? GOB_ABSENT : gob_page_get(p, ref->page, gob_page_position((int64_t)id));
        same = same_score(score, m->score[id]);
    }
    return same;
}

static void add_page(gob_pages *p, gob_alloc *a, const model *m, size_t page)
{
    gob_page_census none = {0};
    int64_t number = gob_page_number(m->base) + (int64_t)page;
    gob_page_ref *ref = gob_pages_add(p, a, number, &none);
    CHECK(ref != NULL && gob_ref_number(ref) == number && ref->page->live == 0);
    CHECK(ref != NULL && gob_ref_width(ref) == 1);
}

/* Scores of ever other kinds: `kind` says how many need more than a byte, or more than two. */
static double random_score(uint64_t *rng, unsigned kind, unsigned score_bytes)
{
    const double edges[] = {0.0,     253.0,   254.0,    255.0, 256.0,    65533.0,
                            65534.0, 65535.0, HUGE_VAL, -1.0,  -DBL_MIN, 0.5};
    double v = (double)random_below(rng, 200);
    unsigned draw = (unsigned)random_below(rng, 10);
    if (draw == 9) {
        v = edges[random_below(rng, sizeof edges / sizeof edges[0])];
    } else if (draw < 3 * kind) {
        v = kind == 3 ? (double)random_below(rng, 1 << 20) * 0.5 : (double)random_below(rng, 65000);
    }
    return score_bytes == 4 ? (double)(float)v + 0.0 : v;
}

static void put(gob_pages *p, gob_alloc *a, model *m, size_t id, double score)
{
    gob_page_ref *ref = ref_of(p, m, id);
    gob_status status = gob_page_put(p, a, ref, gob_page_position((int64_t)id), score);
    CHECK(status == GOB_OK || status == GOB_NOMEM);
    if (status == GOB_OK) {
        m->score[id] = score;
    }
    double got = gob_page_get(p, ref->page, gob_page_position((int64_t)id));
    CHECK(same_score(got, m->score[id]));
}

static void erase(gob_pages *p, gob_alloc *a, model *m, size_t id)
{
    if (!gob_is_absent(m->score[id])) {
        gob_page_erase(p, a, ref_of(p, m, id), gob_page_position((int64_t)id));
        m->score[id] = GOB_ABSENT;
    }
}

/* Copies agree, whatever they are copies of, or give everything back. */
static void check_copy(const gob_pages *p, const model *m, unsigned score_bytes, uint64_t *rng)
{
    gob_alloc a;
    gob_pages copy;
    gob_alloc_init(&a);
    gob_alloc_fail_at(&a, random_below(rng, 10));
    gob_pages_init(&copy, score_bytes, random_next(rng));
    gob_status status = gob_pages_copy(&copy, &a, p);
    CHECK(status == GOB_NOMEM || (status == GOB_OK && matches(&copy, &a, m)));
    gob_pages_free(&copy, &a);
    CHECK(a.live == 0);
}

static void drop_page(gob_pages *p, gob_alloc *a, model *m, size_t page)
{
    gob_pages_drop(p, a, ref_of(p, m, page * GOB_PAGE_IDS));
    for (size_t id = page * GOB_PAGE_IDS; id < (page + 1) * GOB_PAGE_IDS; id++) {
        m->score[id] = GOB_ABSENT;
    }
    CHECK(ref_of(p, m, page * GOB_PAGE_IDS) == NULL);
    CHECK(matches(p, a, m));
}

static void test_random(int64_t base, unsigned score_bytes, gob_simd simd)
{
    static model m;
    uint64_t rng = (uint64_t)base + score_bytes;
    unsigned widths[9] = {0};
    gob_alloc a;
    gob_pages p;
    gob_alloc_init(&a);
    gob_pages_init(&p, score_bytes, random_next(&rng));
    p.kind.simd = (uint8_t)simd;
    model_init(&m, base);
    CHECK(gob_pages_find(&p, 0) == NULL && matches(&p, &a, &m));
    for (size_t page = 0; page < PAGES; page++) {
        add_page(&p, &a, &m, page);
    }
    for (unsigned round = 0; round < 24; round++) {
        unsigned kind = round / 2 % 4;
        size_t from = random_below(&rng, 2) == 0 ? 0 : random_below(&rng, IDS);
        p.hold = round % 5 == 4;
        for (int i = 0; i < 12000; i++) {
            size_t id = (from + random_below(&rng, IDS / (1 + round % 4))) % IDS;
            gob_alloc_fail_at(&a, random_below(&rng, 20) == 0);
            if (round % 6 == 5 && random_below(&rng, 3) != 0) {
                erase(&p, &a, &m, id);
            } else {
                put(&p, &a, &m, id, random_score(&rng, kind, score_bytes));
            }
        }
        gob_alloc_fail_at(&a, 0);
        CHECK(matches(&p, &a, &m));
        p.hold = false;
        for (size_t page = 0; page < PAGES; page++) {
            gob_page_ref *ref = ref_of(&p, &m, page * GOB_PAGE_IDS);
            widths[ref->page->width]++;
            if (round % 3 == 0) {
                size_t live = a.live;
                gob_alloc_fail_at(&a, random_below(&rng, 3));
                CHECK(gob_page_optimize(&p, &a, ref) == GOB_OK || a.live == live);
                gob_alloc_fail_at(&a, 0);
            }
        }
        CHECK(matches(&p, &a, &m));
        check_copy(&p, &m, score_bytes, &rng);
        if (round == 11) {
            drop_page(&p, &a, &m, 1);
            check_copy(&p, &m, score_bytes, &rng);
            add_page(&p, &a, &m, 1);
        }
    }
    CHECK(widths[1] != 0 && widths[2] != 0 && widths[score_bytes] != 0);
    for (size_t page = 0; page < PAGES; page++) {
        drop_page(&p, &a, &m, page);
    }
    CHECK(p.count == 0 && p.bits == 0 && a.live == 0);
}

/* As the scores of a page grow, its codes widen; as they shrink again, optimize narrows them. */
static void test_widths(unsigned score_bytes)
{
    static model m;
    const double large[] = {100.0, 1000.0, 0.5};
    const unsigned expected[] = {1, 2, score_bytes};
    gob_alloc a;
    gob_pages p;
    gob_alloc_init(&a);
    gob_pages_init(&p, score_bytes, 1);
    model_init(&m, 0);
    add_page(&p, &a, &m, 0);
    for (unsigned step = 0; step < 3; step++) {
        for (size_t id = 0; id < GOB_PAGE_IDS; id++) {
            put(&p, &a, &m, id, large[step]);
        }
        gob_page_ref *ref = ref_of(&p, &m, 0);
        CHECK(ref->page->width == expected[step] && ref->page->live == GOB_PAGE_IDS);
        CHECK(matches(&p, &a, &m));
    }
    for (unsigned step = 3; step-- > 0;) {
        for (size_t id = 0; id < GOB_PAGE_IDS; id++) {
            put(&p, &a, &m, id, large[step]);
        }
        gob_page_ref *ref = ref_of(&p, &m, 0);
        CHECK(gob_page_optimize(&p, &a, ref) == GOB_OK && ref->page->width == expected[step]);
        CHECK(ref->page->patch.capacity == 0 && matches(&p, &a, &m));
    }
    gob_pages_free(&p, &a);
    CHECK(a.live == 0);
}

/* A page made for a census takes its members without allocating. */
static void test_census(unsigned score_bytes)
{
    static model m;
    uint64_t rng = 3;
    for (unsigned kind = 0; kind < 4; kind++) {
        for (size_t n = 1; n <= GOB_PAGE_IDS; n *= 8) {
            gob_page_census c = {0};
            gob_alloc a;
            gob_pages p;
            gob_alloc_init(&a);
            gob_pages_init(&p, score_bytes, 1);
            model_init(&m, 0);
            double *scores = gob_malloc(&a, n * sizeof *scores);
            CHECK(scores != NULL);
            for (size_t id = 0; id < n; id++) {
                scores[id] = random_score(&rng, kind, score_bytes);
                gob_page_census_add(&c, scores[id]);
            }
            size_t bytes;
            unsigned width = gob_pages_best(&p, &c, &bytes);
            gob_page_ref *ref = gob_pages_add(&p, &a, 0, &c);
            CHECK(ref != NULL && ref->page->width == width);
            CHECK(ref != NULL && gob_page_bytes(&p, ref->page) <= bytes);
            size_t live = a.live;
            gob_alloc_fail_at(&a, 1);
            for (size_t id = 0; id < n; id++) {
                put(&p, &a, &m, id, scores[id]);
                CHECK(same_score(m.score[id], scores[id]));
            }
            CHECK(a.live == live && a.fail_at == 1);
            gob_free(&a, scores, n * sizeof *scores);
            CHECK(matches(&p, &a, &m));
            gob_pages_free(&p, &a);
            CHECK(a.live == 0);
        }
    }
}

/* Thousands of small pages come and go, anywhere in the member space. */
static void test_directory(void)
{
    enum { NUMBERS = 400 };
    const int64_t ends[] = {INT64_MIN, INT64_MAX, -1, 0, INT32_MIN, INT32_MAX};
    uint64_t rng = 5;
    gob_alloc a;
    gob_pages p;
    gob_page_census none = {0};
    int64_t numbers[NUMBERS];
    bool there[NUMBERS] = {false};
    unsigned most_bits = 0;
    gob_alloc_init(&a);
    gob_pages_init(&p, 4, random_next(&rng));
    for (size_t i = 0; i < NUMBERS; i++) {
        int64_t member = i < 6 ? ends[i] : (int64_t)random_next(&rng);
        numbers[i] = i % 2 == 0 || i < 6 ? gob_page_number(member) : numbers[i - 1] + 1;
        CHECK(gob_page_member(gob_page_number(member), gob_page_position(member)) == member);
    }
    for (int step = 0; step < 1500; step++) {
        bool grow = step < 500 || step % 500 < 100;
        size_t i = random_below(&rng, NUMBERS);
        gob_page_ref *ref = gob_pages_find(&p, numbers[i]);
        CHECK((ref != NULL) == there[i]);
        gob_alloc_fail_at(&a, random_below(&rng, 10));
        size_t live = a.live;
        if (ref == NULL && grow) {
            there[i] = gob_pages_add(&p, &a, numbers[i], &none) != NULL;
            CHECK(there[i] || a.live == live);
        } else if (ref != NULL && !grow) {
            gob_pages_drop(&p, &a, ref);
            there[i] = false;
        }
        gob_alloc_fail_at(&a, 0);
        most_bits = p.bits > most_bits ? p.bits : most_bits;
        if (step % 100 == 99) {
            CHECK(valid(&p) && a.live == gob_pages_bytes(&p));
            for (size_t k = 0; k < NUMBERS; k++) {
                CHECK((gob_pages_find(&p, numbers[k]) != NULL) == there[k]);
            }
        }
    }
    CHECK(most_bits >= 8);
    for (size_t i = 0; i < NUMBERS; i++) {
        if (there[i]) {
            gob_pages_drop(&p, &a, gob_pages_find(&p, numbers[i]));
        }
    }
    CHECK(p.bits == 0 && a.live == 0);
}

/* Inside a bulk call exceptions keep their room, so that undoing never allocates. */
static void test_hold(void)
{
    static model m;
    gob_alloc a;
    gob_pages p;
    gob_alloc_init(&a);
    gob_pages_init(&p, 8, 1);
    model_init(&m, 0);
    add_page(&p, &a, &m, 0);
    for (size_t id = 0; id < 200; id++) {
        put(&p, &a, &m, id, 0.5);
    }
    p.hold = true;
    size_t live = a.live;
    for (size_t id = 0; id < 200; id++) {
        erase(&p, &a, &m, id);
    }
    CHECK(a.live == live);
    gob_alloc_fail_at(&a, 1);
    for (size_t id = 0; id < 200; id++) {
        put(&p, &a, &m, id, 0.5);
    }
    CHECK(a.fail_at == 1);
    CHECK(matches(&p, &a, &m));
    gob_alloc_fail_at(&a, 0);
    p.hold = false;
    for (size_t id = 0; id < 200; id++) {
        erase(&p, &a, &m, id);
    }
    CHECK(a.live < live && matches(&p, &a, &m));
    gob_pages_free(&p, &a);
    CHECK(a.live == 0);
}

static void test_validator(void)
{
    static model m;
    const char *why;
    gob_alloc a;
    gob_pages p;
    gob_alloc_init(&a);
    gob_pages_init(&p, 8, 1);
    model_init(&m, 0);
    add_page(&p, &a, &m, 0);
    for (size_t id = 0; id < 30; id++) {
        put(&p, &a, &m, id, id < 10 ? 0.5 : 3.0);
    }
    gob_page_ref *ref = ref_of(&p, &m, 0);
    gob_page *page = ref->page;
    CHECK(valid(&p) && page->width == 1);

    page->width = 3;
    ref->tag += 2;
    CHECK_FAULT(gob_pages_validate(&p, NULL, &why), why, "pages: code width");
    ref->tag -= 2;
    CHECK_FAULT(gob_pages_validate(&p, NULL, &why), why, "pages: width of a ref");
    page->width = 1;
    page->codes[3] = 7;
    CHECK_FAULT(gob_pages_validate(&p, NULL, &why), why, "pages: exception count");
    page->codes[20] = 0xFE;
    CHECK_FAULT(gob_pages_validate(&p, NULL, &why), why, "pages: exception that no code refers to");
    page->codes[20] = 3;
    page->codes[3] = 0xFE;
    page->patch.count--;
    CHECK_FAULT(gob_pages_validate(&p, NULL, &why), why, "pages: patch");
    page->patch.count++;
    gob_score_store(gob_patch_find(&page->patch, p.kind, 3), 8, 7.0);
    CHECK_FAULT(gob_pages_validate(&p, NULL, &why), why, "pages: exception that a code holds");
    gob_score_store(gob_patch_find(&page->patch, p.kind, 3), 8, 0.5);
    page->live++;
    CHECK_FAULT(gob_pages_validate(&p, NULL, &why), why, "pages: live count");
    page->live--;
    page->young = true;
    CHECK_FAULT(gob_pages_validate(&p, NULL, &why), why, "pages: young page outside a bulk call");
    page->young = false;
    p.count++;
    CHECK_FAULT(gob_pages_validate(&p, NULL, &why), why, "pages: page count");
    p.count--;
    gob_page_ref away = *ref;
    size_t home = (size_t)(ref - p.dir);
    size_t other = (home + 2) & 3; /* beyond a free place */
    ref->page = NULL;
    p.dir[other] = away;
    CHECK_FAULT(gob_pages_validate(&p, NULL, &why), why, "pages: page not found at its place");
    p.dir[other].page = NULL;
    *ref = away;
    CHECK(valid(&p));
    gob_pages_free(&p, &a);
    CHECK(a.live == 0);
}

/* Runs of page numbers stay spread over the directory, whatever the seed: no long probes. */
static void test_runs_are_spread(void)
{
    enum { BITS = 13, RUN = 5000, SEEDS = 500 };
    static uint8_t taken[1 << BITS];
    uint64_t rng = 11;
    size_t longest = 0;
    for (int round = 0; round < SEEDS; round++) {
        gob_pages p;
        gob_pages_init(&p, 4, random_next(&rng));
        p.bits = BITS;
        memset(taken, 0, sizeof taken);
        int64_t first = (int64_t)(random_next(&rng) >> 20) - (INT64_C(1) << 43);
        for (int64_t number = first; number < first + RUN; number++) {
            size_t at = gob_pages_home(&p, number);
            size_t probes = 1;
            for (; taken[at] != 0; at = (at + 1) % (1 << BITS)) {
                probes++;
            }
            taken[at] = 1;
            longest = probes > longest ? probes : longest;
        }
    }
    CHECK(longest <= 8);
}

int main(void)
{
    test_runs_are_spread();
    for (int simd = GOB_SCALAR; simd <= (int)gob_cpu_best(); simd++) {
        for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
            test_random(simd == 0 ? 0 : -(int64_t)GOB_PAGE_IDS, bytes, (gob_simd)simd);
        }
    }
    for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
        test_widths(bytes);
        test_census(bytes);
    }
    test_directory();
    test_hold();
    test_validator();
    return test_report();
}
