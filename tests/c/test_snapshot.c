/* Snapshots of sorted sets: what is read is what was written, and nothing else is read. */
#include "gob_name_pool.h"
#include "gob_snapshot_test.h"
#include "gob_zset_snapshot.h"

static const gob_layout layouts[] = {
    {.member_bytes = 4, .score_bytes = 4, .compress = true},
    {.member_bytes = 8, .score_bytes = 8, .compress = true},
    {.member_bytes = 8, .score_bytes = 8, .compress = false},
    {.member_bytes = 4, .score_bytes = 8, .compress = true, .named = true},
    {.member_bytes = 4, .score_bytes = 4, .compress = false, .named = true},
    {.member_bytes = 4, .score_bytes = 8, .compress = true, .named = true, .fixed = 16},
};

enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static gob_member_kind kind_of(gob_layout l)
{
    if (l.named) {
        return l.fixed != 0 ? GOB_MEMBER_UUID : GOB_MEMBER_BYTES;
    }
    return l.member_bytes == 4 ? GOB_MEMBER_INT32 : GOB_MEMBER_INT64;
}

static gob_member member_at(gob_layout l, size_t i)
{
    gob_member m = {.id = (int64_t)i - 700};
    if (l.named) {
        m.name = pool[i % POOL];
    } else if (i % 3 == 0) {
        m.id = (int64_t)(i * 16777259U % INT32_MAX) * (l.member_bytes == 4 ? 1 : -70001);
    }
    return m;
}

static double score_of(uint64_t *rng, bool whole)
{
    switch (random_below(rng, whole ? 3 : 6)) {
    case 0:
        return 1.0;
    case 1:
        return (double)random_below(rng, 70000);
    case 2:
        return (double)random_below(rng, 250);
    case 3:
        return -0.25 * (double)random_below(rng, 9);
    case 4:
        return HUGE_VAL;
    default:
        return (double)(float)(1e9 / (double)(1 + random_below(rng, 1000)));
    }
}

/* Adds n members and removes some. */
static void fill(gob_zset *z, gob_layout l, size_t n, uint64_t seed, bool whole)
{
    uint64_t rng = seed;
    gob_changes changes = {0};
    gob_zset_init(z, l, 1.0F, seed * 77);
    for (size_t i = 0; i < n; i++) {
        gob_member m = member_at(l, i);
        CHECK(gob_zset_add(z, &m, score_of(&rng, whole), GOB_SET, &changes) == GOB_OK);
    }
    for (size_t i = 0; i < n; i += 5) {
        gob_member m = member_at(l, i);
        gob_zset_remove(z, gob_zset_find(z, &m));
    }
}

static gob_status save(gob_zset *z, gob_layout l, buffer *b)
{
    b->size = 0;
    return gob_zset_save(z, kind_of(l), sink, b);
}

static gob_status load(gob_zset *z, const buffer *b, bool mapped)
{
    const char *why = NULL;
    gob_reader r;
    gob_member_kind kind;
    gob_status status = gob_reader_open(&r, (gob_span){b->at, b->size}, &why);
    gob_zset_init(z, layouts[0], 1.0F, 1);
    status = status == GOB_OK ? gob_zset_load(z, &kind, &r, 99, mapped, &why) : status;
    CHECK(status != GOB_MALFORMED || why != NULL);
    return status;
}

/* Both have the same members, scores and ranks. */
static bool same(gob_zset *a, gob_zset *b)
{
    const char *why = NULL;
    bool good = gob_zset_count(a) == gob_zset_count(b) && gob_zset_sync(a) == GOB_OK &&
                gob_zset_sync(b) == GOB_OK && gob_zset_validate(b, &why);
    for (uint64_t rank = 0; good && rank < gob_zset_count(a); rank++) {
        gob_entry ea = gob_zset_select(a, rank);
        gob_entry eb = gob_zset_select(b, rank);
        int64_t ia = gob_unbias(ea.member);
        int64_t ib = gob_unbias(eb.member);
        good = ea.key == eb.key && gob_key(gob_zset_score(b, ib)) == eb.key;
        if (a->index.named) {
            good = good && gob_name_compare(gob_members_name(gob_zset_names(a), ia),
                                            gob_members_name(gob_zset_names(b), ib)) == 0;
            gob_member m = {.name = gob_members_name(gob_zset_names(a), ia)};
            good = good && gob_zset_find(b, &m) == ib;
        } else {
            good = good && ia == ib;
        }
    }
    return good;
}

static void test_round_trip(gob_layout l, size_t n, bool ordered, bool whole)
{
    buffer first = {.stop_at = SIZE_MAX};
    buffer second = {.stop_at = SIZE_MAX};
    gob_zset z;
    gob_zset back;
    fill(&z, l, n, n + 3, whole);
    if (ordered) {
        CHECK(gob_zset_sync(&z) == GOB_OK);
    }
    size_t live = z.alloc.live;
    CHECK(save(&z, l, &first) == GOB_OK);
    CHECK(z.alloc.live == live);
    CHECK(load(&back, &first, false) == GOB_OK);
    CHECK((back.order != NULL) == (z.order != NULL && gob_zset_count(&z) != 0));
    CHECK(save(&back, l, &second) == GOB_OK);
    CHECK(same_files(&first, &second));
    CHECK(same(&z, &back));
    gob_changes changes = {0};
    gob_member m = member_at(l, 1);
    CHECK(gob_zset_add(&back, &m, 12345.0, GOB_SET, &changes) == GOB_OK);
    gob_zset_clear(&back);
    CHECK(back.alloc.live == 0);
    CHECK(load(&back, &first, true) == GOB_OK && back.mapped != 0);
    CHECK(same(&z, &back));
    gob_zset_clear(&back);
    CHECK(back.alloc.live == 0);
    gob_zset_clear(&z);
    free(first.at);
    free(second.at);
}

/* Sets of one content that came about in other ways give the same bytes once they are optimized. */
static void test_deterministic(gob_layout l, size_t n)
{
    buffer first = {.stop_at = SIZE_MAX};
    buffer second = {.stop_at = SIZE_MAX};
    gob_zset a;
    gob_zset b;
    gob_changes changes = {0};
    fill(&a, l, n, 5, false);
    gob_zset_init(&b, l, 1.0F, 1234567);
    for (size_t i = n; i-- > 0;) { /* the other way round, with others in between */
        gob_member m = member_at(l, i);
        gob_member other = member_at(l, (i + 1) % n);
        double score = gob_zset_score(&a, gob_zset_find(&a, &m));
        CHECK(gob_zset_add(&b, &other, 0.5, GOB_NX, &changes) == GOB_OK);
        if (gob_is_absent(score)) {
            gob_zset_remove(&b, gob_zset_find(&b, &m));
        } else {
            CHECK(gob_zset_add(&b, &m, score, GOB_SET, &changes) == GOB_OK);
        }
    }
    for (size_t i = 0; i < n; i++) {
        gob_member m = member_at(l, i);
        double score = gob_zset_score(&a, gob_zset_find(&a, &m));
        if (gob_is_absent(score)) {
            gob_zset_remove(&b, gob_zset_find(&b, &m));
        } else {
            CHECK(gob_zset_add(&b, &m, score, GOB_SET, &changes) == GOB_OK);
        }
    }
    for (int ordered = 0; ordered < 2; ordered++) {
        CHECK(gob_zset_optimize(&a) == GOB_OK && gob_zset_optimize(&b) == GOB_OK);
        CHECK(save(&a, l, &first) == GOB_OK && save(&b, l, &second) == GOB_OK);
        CHECK(same_files(&first, &second));
        CHECK(same(&a, &b)); /* which builds the orders */
    }
    gob_zset_clear(&a);
    gob_zset_clear(&b);
    free(first.at);
    free(second.at);
}

/* Whether entries that are selected one by one have the scores of their members. */
static bool reads_well(gob_zset *z)
{
    bool good = gob_zset_sync(z) == GOB_OK;
    for (uint64_t rank = 0; good && rank < gob_zset_count(z); rank++) {
        gob_entry e = gob_zset_select(z, rank);
        good = gob_key(gob_zset_score(z, gob_unbias(e.member))) == e.key;
    }
    return good;
}

/* What bytes that differ are read as: nothing, or with checksums made good, something sound, and so
 * whether they are copied or mapped. */
static void check_harmless(const buffer *b, bool resealed)
{
    gob_zset z;
    buffer copy = damaged(b, resealed);
    gob_status copied = GOB_OK;
    for (int mapped = 0; mapped < 2; mapped++) {
        gob_status status = load(&z, &copy, mapped != 0);
        const char *why = NULL;
        CHECK(status == GOB_MALFORMED ||
              (resealed && status == GOB_OK && gob_zset_validate(&z, &why) && reads_well(&z)));
        CHECK(mapped == 0 || status == copied);
        copied = status;
        gob_zset_clear(&z);
        CHECK(z.alloc.live == 0);
    }
    free(copy.at);
}

static void test_damage(gob_layout l, size_t n)
{
    buffer good = {.stop_at = SIZE_MAX};
    gob_zset z;
    fill(&z, l, n, 8, false);
    CHECK(gob_zset_sync(&z) == GOB_OK && save(&z, l, &good) == GOB_OK);
    gob_zset_clear(&z);
    test_damage_of(good, check_harmless);
    free(good.at);
}

/* Turns every bit of a section around, or of its first bytes. */
static void test_bits(gob_layout l, size_t n, gob_section section, size_t most)
{
    buffer good = {.stop_at = SIZE_MAX};
    gob_zset z;
    gob_reader r;
    const char *why;
    fill(&z, l, n, 8, false);
    CHECK(gob_zset_sync(&z) == GOB_OK && save(&z, l, &good) == GOB_OK);
    gob_zset_clear(&z);
    CHECK(gob_reader_open(&r, (gob_span){good.at, good.size}, &why) == GOB_OK);
    gob_span span = gob_reader_section(&r, section);
    CHECK(span.size != 0);
    uint8_t *at = good.at + (span.at - good.at);
    size_t bytes = span.size < most ? span.size : most;
    for (size_t bit = 0; bit < bytes * 8; bit++) {
        at[bit / 8] ^= (uint8_t)(1 << bit % 8);
        check_harmless(&good, true);
        at[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(good.at);
}

/* Numbers that lie, everywhere in a small file. */
static void test_lies(gob_layout l, size_t n)
{
    buffer good = {.stop_at = SIZE_MAX};
    gob_zset z;
    fill(&z, l, n, 8, false);
    CHECK(gob_zset_sync(&z) == GOB_OK && save(&z, l, &good) == GOB_OK);
    gob_zset_clear(&z);
    test_lies_of(good, check_harmless);
    free(good.at);
}

static void test_failures(gob_layout l, size_t n)
{
    buffer good = {.stop_at = SIZE_MAX};
    gob_zset z;
    fill(&z, l, n, 11, true);
    CHECK(gob_zset_sync(&z) == GOB_OK);
    size_t live = z.alloc.live;
    for (uint64_t nth = 1;; nth++) {
        gob_alloc_fail_at(&z.alloc, nth);
        gob_status status = save(&z, l, &good);
        gob_alloc_fail_at(&z.alloc, 0);
        CHECK(z.alloc.live == live);
        if (status == GOB_OK) {
            break;
        }
        CHECK(status == GOB_NOMEM);
    }
    buffer stopped = {.stop_at = 0};
    for (; stopped.stop_at < good.size; stopped.stop_at += good.size / 50 + 1) {
        CHECK(save(&z, l, &stopped) == GOB_STOPPED && z.alloc.live == live);
    }
    gob_zset_clear(&z);
    free(good.at);
    free(stopped.at);
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 300, 2900};
    for (size_t k = 0; k < LAYOUTS; k++) {
        fill_pool(layouts[k].fixed);
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            for (int form = 0; form < 4; form++) {
                test_round_trip(layouts[k], sizes[i], form % 2 != 0, form / 2 != 0);
            }
            if (sizes[i] > 1) {
                test_deterministic(layouts[k], sizes[i]);
            }
        }
        test_damage(layouts[k], 0);
        test_damage(layouts[k], 2);
        test_damage(layouts[k], 90);
        test_damage(layouts[k], 2500);
        test_bits(layouts[k], 90, GOB_SECTION_TABLE, SIZE_MAX);
        test_bits(layouts[k], 90, GOB_SECTION_BLOCKS, SIZE_MAX);
        test_lies(layouts[k], 90);
        test_failures(layouts[k], 1500);
    }
    test_bits(layouts[0], 20000, GOB_SECTION_PAGES, 24);
    test_round_trip(layouts[0], 40000, true, true);
    test_round_trip(layouts[1], 40000, true, false);
    return test_report();
}
