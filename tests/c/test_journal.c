/* The undo journal. */
#include "gob_journal.h"
#include "gob_test.h"

static void test_created(void)
{
    gob_alloc a;
    gob_journal j;
    gob_alloc_init(&a);
    for (size_t inputs = 0; inputs < 40; inputs++) {
        CHECK(gob_journal_init(&j, &a, inputs) == GOB_OK);
        for (size_t i = 0; i < inputs; i += 3) {
            gob_journal_created(&j, i);
        }
        for (size_t i = 0; i < inputs; i++) {
            CHECK(gob_journal_was_created(&j, i) == (i % 3 == 0));
        }
        gob_journal_free(&j, &a);
        CHECK(a.live == 0);
    }
}

static void test_log(void)
{
    enum { ENTRIES = 1000 };
    gob_alloc a;
    gob_journal j;
    gob_alloc_init(&a);
    CHECK(gob_journal_init(&j, &a, ENTRIES) == GOB_OK);
    for (size_t i = 0; i < ENTRIES; i++) {
        if (j.logged == j.capacity) {
            size_t live = a.live;
            gob_alloc_fail_at(&a, 1);
            CHECK(gob_journal_reserve(&j, &a) == GOB_NOMEM);
            CHECK(a.live == live && j.logged == i);
        }
        CHECK(gob_journal_reserve(&j, &a) == GOB_OK);
        size_t live = a.live;
        CHECK(gob_journal_reserve(&j, &a) == GOB_OK && a.live == live);
        gob_journal_log(&j, i, (double)i + 0.5);
    }
    for (size_t i = 0; i < ENTRIES; i++) {
        CHECK(j.log[i].at == i && j.log[i].old == (double)i + 0.5);
    }
    gob_journal_free(&j, &a);
    CHECK(a.live == 0);
}

static void test_failed_init(void)
{
    gob_alloc a;
    gob_journal j;
    gob_alloc_init(&a);
    gob_alloc_fail_at(&a, 1);
    CHECK(gob_journal_init(&j, &a, 100) == GOB_NOMEM);
    gob_journal_free(&j, &a);
    CHECK(a.live == 0);
}

int main(void)
{
    test_created();
    test_log();
    test_failed_init();
    return test_report();
}
