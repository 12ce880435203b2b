/* Long work that its host stops at every point where it asks: the object is as before. */
#include <stdlib.h>

#include "gob_bulk.h"
#include "gob_hashmap.h"
#include "gob_random.h"
#include "gob_records.h"
#include "gob_scan.h"
#include "gob_test.h"

enum { ROWS = 6000, OFTEN = 97 };

typedef struct host {
    gob_pace pace;
    size_t asked;
    size_t stop_at; /* and from then on; 0 for never */
} host;

static bool goes_on(gob_pace *pace)
{
    host *h = (host *)(void *)pace;
    pace->left = OFTEN;
    h->asked++;
    return h->stop_at == 0 || h->asked < h->stop_at;
}

static char texts[ROWS][12];
static int64_t ids[ROWS];
static gob_name names[ROWS];
static double scores[ROWS];
static gob_names column = {.form = GOB_NAMES_LIST, .data = (const uint8_t *)names};

static void make_rows(void)
{
    uint64_t rng = 7;
    for (size_t i = 0; i < ROWS; i++) {
        ids[i] = (int64_t)(i * 2654435761U % 1000003);
        int length = snprintf(texts[i], sizeof texts[i], "user:%zu", i * 7919 % ROWS);
        names[i] = (gob_name){(const uint8_t *)texts[i], (size_t)length};
        scores[i] = (double)random_below(&rng, 50);
    }
}

static gob_inputs inputs(const gob_zset *z, const double *by)
{
    return (gob_inputs){z->index.named ? NULL : ids, &column, {by, 1}};
}

static void make(gob_zset *z, bool named)
{
    gob_layout layout = {.member_bytes = 4, .score_bytes = 8, .compress = true, .named = named};
    gob_journal j;
    gob_changes changes = {0};
    gob_zset_init(z, layout, 1.0F, 5);
    gob_inputs in = inputs(z, scores);
    CHECK(gob_bulk_begin(z, &j, ROWS) == GOB_OK);
    CHECK(gob_bulk_update(z, &j, in, 0, ROWS, GOB_SET, &changes) == GOB_OK);
    gob_bulk_commit(z, &j);
}

static gob_member member(size_t i)
{
    return (gob_member){ids[i], names[i]};
}

/* Every row has the score it was made with, and nothing is broken. */
static bool is_as_made(const gob_zset *z)
{
    const char *why = NULL;
    bool same = gob_zset_validate(z, &why) && gob_zset_count(z) == ROWS;
    for (size_t i = 0; same && i < ROWS; i++) {
        gob_member m = member(i);
        same = gob_zset_score(z, gob_zset_find(z, &m)) == scores[i];
    }
    return same;
}

/* Works: each returns what its first failing call did. */
typedef gob_status work(gob_zset *z);

static gob_status work_sync(gob_zset *z)
{
    return gob_zset_sync(z);
}

static gob_status work_optimize(gob_zset *z)
{
    return gob_zset_optimize(z);
}

static gob_status work_copy(gob_zset *z)
{
    gob_zset copy;
    gob_zset_init(&copy, gob_zset_layout(z), 1.0F, 9);
    copy.alloc.pace = z->alloc.pace;
    gob_status status = gob_zset_copy(&copy, z);
    CHECK(status != GOB_OK || is_as_made(&copy));
    gob_zset_clear(&copy);
    CHECK(copy.alloc.live == 0);
    return status;
}

static gob_status work_scans(gob_zset *z)
{
    gob_interval all = {-HUGE_VAL, HUGE_VAL, false, false};
    gob_entry heap[10];
    size_t found;
    uint64_t count;
    double sum;
    GOB_TRY(gob_scan_extremes(z, 10, true, heap, &found));
    GOB_TRY(gob_scan_count(z, all, &count));
    return gob_scan_sum(z, all, &sum);
}

/* A bulk call that its host stops is rolled back; one that runs through is, too, by the caller. */
static gob_status bulk(gob_zset *z, gob_verb verb)
{
    static double by[ROWS];
    gob_journal j;
    gob_changes changes = {0};
    uint64_t removed = 0;
    for (size_t i = 0; i < ROWS; i++) {
        by[i] = (double)i + 40000.5; /* names need another form */
    }
    gob_inputs in = inputs(z, by);
    GOB_TRY(gob_bulk_begin(z, &j, ROWS));
    gob_status status = verb == GOB_UPDATE ? gob_bulk_update(z, &j, in, 0, ROWS, GOB_SET, &changes)
                        : verb == GOB_INCREMENT ? gob_bulk_increment(z, &j, in, 0, ROWS, NULL)
                                                : gob_bulk_remove(z, &j, in, 0, ROWS, &removed);
    gob_bulk_rollback(z, &j, in, verb);
    return status;
}

static gob_status work_update(gob_zset *z)
{
    return bulk(z, GOB_UPDATE);
}

static gob_status work_increment(gob_zset *z)
{
    return bulk(z, GOB_INCREMENT);
}

static gob_status work_remove(gob_zset *z)
{
    return bulk(z, GOB_REMOVE);
}

static void test_stopped(work *does, bool named, bool ordered)
{
    bool stopped = true;
    size_t stops = 0;
    for (size_t stop_at = 1; stopped; stop_at += 1 + stop_at / 8) {
        gob_zset z;
        make(&z, named);
        if (ordered) {
            CHECK(gob_zset_sync(&z) == GOB_OK);
        }
        host h = {.pace = {goes_on, OFTEN}, .stop_at = stop_at};
        z.alloc.pace = &h.pace;
        gob_status status = does(&z);
        stopped = h.asked >= stop_at;
        stops += stopped;
        CHECK(stopped ? status == GOB_STOPPED || status == GOB_OK : status == GOB_OK);
        CHECK(is_as_made(&z));
        h.stop_at = 0;
        CHECK(does(&z) == GOB_OK && is_as_made(&z));
        gob_zset_clear(&z);
        CHECK(z.alloc.live == 0);
    }
    CHECK(stops != 0);
}

/* What began empty is undone by clearing it, over at once: the inputs are not walked, so that it
 * does not matter what became of them. */
static void test_stopped_filling(bool named)
{
    gob_layout layout = {.member_bytes = 4, .score_bytes = 8, .compress = true, .named = named};
    gob_names others = {.form = GOB_NAMES_LIST, .data = (const uint8_t *)(names + ROWS / 2)};
    gob_zset z;
    gob_journal j;
    gob_changes changes = {0};
    gob_zset_init(&z, layout, 1.0F, 5);
    uint64_t stamp = z.stamp;
    host h = {.pace = {goes_on, OFTEN}, .stop_at = 20};
    z.alloc.pace = &h.pace;
    gob_inputs in = inputs(&z, scores);
    CHECK(gob_bulk_begin(&z, &j, ROWS) == GOB_OK);
    CHECK(gob_bulk_update(&z, &j, in, 0, ROWS, GOB_SET, &changes) == GOB_STOPPED);
    CHECK(changes.added > OFTEN && changes.added < ROWS / 2);
    in.members = ids + ROWS / 2;
    in.names = &others;
    gob_bulk_rollback(&z, &j, in, GOB_UPDATE);
    CHECK(z.alloc.live == 0 && gob_zset_count(&z) == 0 && z.stamp == stamp);
    gob_zset_clear(&z);
}

/* Three quarters of the names go; giving memory back is stopped wherever it can be, and done by the
 * next write. */
static void test_stopped_tidying(void)
{
    enum { GONE = ROWS * 3 / 4 };
    bool stopped = true;
    for (size_t stop_at = 1; stopped; stop_at += 1 + stop_at / 8) {
        gob_zset z;
        gob_journal j;
        uint64_t removed = 0;
        const char *why = NULL;
        make(&z, true);
        CHECK(gob_zset_sync(&z) == GOB_OK);
        gob_inputs in = inputs(&z, scores);
        CHECK(gob_bulk_begin(&z, &j, GONE) == GOB_OK);
        CHECK(gob_bulk_remove(&z, &j, in, 0, GONE, &removed) == GOB_OK && removed == GONE);
        host h = {.pace = {goes_on, OFTEN}, .stop_at = stop_at};
        z.alloc.pace = &h.pace;
        gob_bulk_commit(&z, &j);
        stopped = h.asked >= stop_at;
        CHECK(gob_zset_validate(&z, &why) && gob_zset_count(&z) == ROWS - GONE);
        h.stop_at = 0;
        for (size_t i = 0; i < 20; i++) { /* some come back, under an id that may be condemned */
            gob_member m = member(i);
            gob_changes changes = {0};
            CHECK(gob_zset_add(&z, &m, 1e6, GOB_SET, &changes) == GOB_OK && changes.added == 1);
            CHECK(gob_zset_validate(&z, &why));
        }
        CHECK(gob_zset_count(&z) == ROWS - GONE + 20);
        CHECK(z.index.members.condemned == NULL && z.index.members.records == ROWS - GONE + 20);
        gob_zset_clear(&z);
        CHECK(z.alloc.live == 0);
    }
}

/* Hashes and records of each step-th row, with its name as the value. */

static void fill_hash(gob_hashmap *h, size_t step)
{
    static gob_name fields[ROWS];
    static gob_value values[ROWS];
    gob_names rows = {.form = GOB_NAMES_LIST, .data = (const uint8_t *)fields};
    size_t created;
    for (size_t i = 0; i < ROWS / step; i++) {
        fields[i] = names[i * step];
        values[i] = gob_value_text(fields[i]);
    }
    gob_hashmap_init(h, true, 0, 5);
    CHECK(gob_hashmap_set_many(h, &rows, values, 0, ROWS / step, &created) == GOB_OK);
    CHECK(created == ROWS / step);
}

static bool hash_has(const gob_hashmap *h, size_t step)
{
    const char *why = NULL;
    gob_value value;
    bool same = gob_hashmap_validate(h, &why) && gob_hashmap_count(h) == ROWS / step;
    for (size_t i = 0; same && i < ROWS; i += step) {
        same = gob_hashmap_get(h, names[i], &value) && value.text.len == names[i].len &&
               memcmp(value.text.at, names[i].at, names[i].len) == 0;
    }
    return same;
}

/* Each says by what step the rows are there afterwards. */
typedef gob_status hash_work(gob_hashmap *h, size_t *step);

static gob_status hash_copy(gob_hashmap *h, size_t *step)
{
    gob_hashmap copy;
    gob_hashmap_init(&copy, true, 0, 9);
    copy.alloc.pace = h->alloc.pace;
    *step = 2;
    gob_status status = gob_hashmap_copy(&copy, h);
    CHECK(status != GOB_OK || hash_has(&copy, 2));
    gob_hashmap_clear(&copy);
    CHECK(copy.alloc.live == 0);
    return status;
}

static gob_status hash_optimize(gob_hashmap *h, size_t *step)
{
    *step = 2;
    return gob_hashmap_optimize(h);
}

static gob_status hash_update(gob_hashmap *h, size_t *step)
{
    gob_hashmap all;
    size_t created = 0;
    fill_hash(&all, 1);
    *step = 1;
    gob_status status = gob_hashmap_update(h, &all, &created);
    CHECK(created == (status == GOB_OK ? ROWS / 2 : 0));
    gob_hashmap_clear(&all);
    return status;
}

/* What a bulk call erases is given back once, at its end: giving back is not tried, and stopped,
 * for each field. */
static void test_stopped_erasing(void)
{
    gob_hashmap h;
    fill_hash(&h, 1);
    host asks = {.pace = {goes_on, OFTEN}, .stop_at = 1};
    h.alloc.pace = &asks.pace;
    for (size_t i = 0; i < ROWS; i += 8) {
        bool there[7];
        gob_hashmap_erase_many(&h, &column, i + 1, 7, there);
        CHECK(there[0] && there[6]);
    }
    CHECK(asks.asked == 0);
    uint64_t live = h.alloc.live;
    gob_hashmap_settle(&h);
    CHECK(asks.asked == 1 && h.alloc.live == live && hash_has(&h, 8));
    h.alloc.pace = NULL;
    gob_hashmap_settle(&h);
    CHECK(h.alloc.live < live / 2 && hash_has(&h, 8));
    gob_hashmap_clear(&h);
}

/* Many rows can be stopped up to the last one: they go into a copy, and the host is asked while
 * that is made, while they are counted and while they are put. */
static void test_stopped_last_row(void)
{
    gob_hashmap h, all;
    size_t created = 0;
    host asks = {.pace = {goes_on, OFTEN}};
    fill_hash(&h, 2);
    fill_hash(&all, 1);
    h.alloc.pace = &asks.pace;
    CHECK(gob_hashmap_update(&h, &all, &created) == GOB_OK && created == ROWS / 2);
    gob_hashmap_clear(&h);
    size_t last = asks.asked;
    fill_hash(&h, 2);
    asks = (host){.pace = {goes_on, OFTEN}, .stop_at = last};
    h.alloc.pace = &asks.pace;
    created = 0;
    CHECK(gob_hashmap_update(&h, &all, &created) == GOB_STOPPED && created == 0);
    CHECK(last > 3 * ROWS / OFTEN && hash_has(&h, 2));
    gob_hashmap_clear(&h);
    gob_hashmap_clear(&all);
}

static void test_stopped_hash(hash_work *does)
{
    bool stopped = true;
    size_t stops = 0;
    for (size_t stop_at = 1; stopped; stop_at += 1 + stop_at / 8) {
        gob_hashmap h;
        size_t step;
        fill_hash(&h, 2);
        uint64_t live = h.alloc.live;
        uint64_t stamp = h.stamp;
        host asks = {.pace = {goes_on, OFTEN}, .stop_at = stop_at};
        h.alloc.pace = &asks.pace;
        gob_status status = does(&h, &step);
        stopped = asks.asked >= stop_at;
        stops += stopped;
        CHECK(status == (stopped ? GOB_STOPPED : GOB_OK));
        CHECK(hash_has(&h, stopped ? 2 : step));
        CHECK(!stopped || (h.alloc.live == live && h.stamp == stamp));
        gob_hashmap_clear(&h);
        CHECK(h.alloc.live == 0);
    }
    CHECK(stops != 0);
}

static gob_status put_records(gob_records *r, gob_fields *stage, size_t step)
{
    gob_records_stage(r, stage);
    for (size_t i = 0; i < ROWS; i += step) {
        gob_cell cell = {names[i % 3], gob_value_text(names[i])};
        GOB_TRY(gob_records_put(r, stage, names[i], &cell, 1));
    }
    return GOB_OK;
}

static bool records_have(const gob_records *r, size_t step)
{
    const char *why = NULL;
    gob_row row;
    bool same = gob_records_validate(r, &why) && gob_records_count(r) == ROWS / step;
    for (size_t i = 0; same && i < ROWS; i += step) {
        same = gob_records_find(r, names[i], &row) &&
               gob_records_value(r, &row, names[i % 3]).kind == GOB_VALUE_TEXT;
    }
    return same;
}

typedef gob_status records_work(gob_records *r, size_t *step);

static gob_status records_copy(gob_records *r, size_t *step)
{
    gob_records copy;
    gob_records_init(&copy, 9);
    copy.alloc.pace = r->alloc.pace;
    *step = 2;
    gob_status status = gob_records_copy(&copy, r);
    CHECK(status != GOB_OK || records_have(&copy, 2));
    gob_records_clear(&copy);
    CHECK(copy.alloc.live == 0);
    return status;
}

static gob_status records_optimize(gob_records *r, size_t *step)
{
    *step = 2;
    return gob_records_optimize(r);
}

static gob_status records_write(gob_records *r, size_t *step)
{
    gob_fields stage;
    *step = 1;
    gob_status status = put_records(r, &stage, 1);
    status = status == GOB_OK ? gob_records_commit(r, &stage) : status;
    gob_records_abandon(r, &stage); /* of a stage that was taken over: nothing */
    return status;
}

static void test_stopped_records(records_work *does)
{
    bool stopped = true;
    size_t stops = 0;
    for (size_t stop_at = 1; stopped; stop_at += 1 + stop_at / 8) {
        gob_records r;
        gob_fields stage;
        size_t step;
        gob_records_init(&r, 5);
        CHECK(put_records(&r, &stage, 2) == GOB_OK && gob_records_commit(&r, &stage) == GOB_OK);
        uint64_t stamp = r.stamp;
        host asks = {.pace = {goes_on, OFTEN}, .stop_at = stop_at};
        r.alloc.pace = &asks.pace;
        gob_status status = does(&r, &step);
        stopped = asks.asked >= stop_at;
        bool undone =
            status == GOB_STOPPED; /* else all that was stopped was the packing after it */
        stops += undone;
        CHECK(status == GOB_OK || (stopped && undone));
        CHECK(records_have(&r, undone ? 2 : step) && (!undone || r.stamp == stamp));
        gob_records_clear(&r);
        CHECK(r.alloc.live == 0);
    }
    CHECK(stops != 0);
}

int main(void)
{
    hash_work *const of_hashes[] = {hash_copy, hash_optimize, hash_update};
    records_work *const of_records[] = {records_copy, records_optimize, records_write};
    work *const works[] = {work_sync,   work_optimize,  work_copy,  work_scans,
                           work_update, work_increment, work_remove};
    make_rows();
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        for (unsigned form = 0; form < 4; form++) {
            bool ordered = (form & 2) != 0;
            if (works[i] != work_sync || !ordered) {
                test_stopped(works[i], (form & 1) != 0, ordered);
            }
        }
    }
    test_stopped_filling(false);
    test_stopped_filling(true);
    test_stopped_tidying();
    test_stopped_erasing();
    test_stopped_last_row();
    for (size_t i = 0; i < 3; i++) {
        test_stopped_hash(of_hashes[i]);
        test_stopped_records(of_records[i]);
    }
    return test_report();
}
