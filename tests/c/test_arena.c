/* Records in a block: what is free is found again by its length, and room grows by a little. */
#include "gob_arena.h"

#include "gob_test.h"

enum { LINK = 1 };

static gob_alloc a;
static gob_arena r;

static void begin_test(void)
{
    gob_alloc_init(&a);
    r = (gob_arena){0};
}

static void end_test(void)
{
    gob_arena_free(&r, &a);
    CHECK(a.live == 0 && r.used == 0 && r.free == NULL);
}

/* A record of one byte before its length's worth of others. */
static size_t append(size_t length)
{
    CHECK(gob_arena_reserve(&r, &a, length + 1) == GOB_OK);
    size_t offset = r.used;
    memset(r.at + offset, (int)(length & 0x7F), length + 1);
    r.used += length + 1;
    return offset;
}

static void give(size_t offset, size_t length)
{
    r.at[offset] = 0xFF;
    gob_arena_give(&r, &a, offset, length, length + 1, LINK);
}

/* What is behind the link still tells the length. */
static bool is_free(const void *owner, size_t offset, size_t length)
{
    const gob_arena *arena = owner;
    return arena->at[offset] == 0xFF && (length == 8 || arena->at[offset + 9] == length);
}

static void test_room(void)
{
    begin_test();
    CHECK(gob_arena_reserve(&r, &a, 0) == GOB_OK && a.live == 0);
    CHECK(gob_arena_reserve(&r, &a, 17) == GOB_OK && r.capacity == 32 && a.live == 32);
    gob_alloc_fail_at(&a, 1);
    CHECK(gob_arena_reserve(&r, &a, 32) == GOB_OK);
    CHECK(gob_arena_reserve(&r, &a, 33) == GOB_NOMEM && r.capacity == 32);
    CHECK(gob_arena_reserve(&r, &a, SIZE_MAX) == GOB_NOMEM && r.capacity == 32);
    CHECK(gob_arena_reserve(&r, &a, 1600) == GOB_OK && r.capacity == 1650);
    CHECK(gob_arena_bytes(&r) == a.live);
    end_test();
}

static void test_free_lists(void)
{
    const size_t lengths[] = {7, 8, 20, GOB_FREE_LENGTHS - 1, GOB_FREE_LENGTHS};
    size_t offset;
    const char *why;
    begin_test();
    give(append(20), 20);
    CHECK(r.dead == 21 && r.free == NULL); /* a small arena has no lists */
    (void)append(GOB_FREE_FROM);
    for (size_t i = 0; i < 5; i++) {
        size_t n = lengths[i];
        bool listed = n >= 8 && n < GOB_FREE_LENGTHS;
        size_t first = append(n);
        size_t second = append(n);
        size_t dead = r.dead;
        give(first, n);
        give(second, n);
        CHECK(r.dead == dead + 2 * (n + 1) && (i == 0) == (r.free == NULL));
        CHECK(gob_arena_validate(&r, LINK, is_free, &r, &why));
        CHECK(gob_arena_take(&r, n, n + 1, LINK, &offset) == listed);
        CHECK(!listed || offset == second);
        CHECK(gob_arena_take(&r, n, n + 1, LINK, &offset) == listed);
        CHECK(!listed || (offset == first && r.dead == dead));
        CHECK(!gob_arena_take(&r, n, n + 1, LINK, &offset));
    }
    CHECK(gob_arena_bytes(&r) == a.live);
    end_test();
}

/* Without memory for the lists, free records wait. */
static void test_no_lists(void)
{
    size_t offset;
    begin_test();
    (void)append(GOB_FREE_FROM);
    size_t first = append(20);
    gob_alloc_fail_at(&a, 1);
    give(first, 20);
    CHECK(r.free == NULL && r.dead == 21 && !gob_arena_take(&r, 20, 21, LINK, &offset));
    end_test();
}

static void test_wasteful(void)
{
    begin_test();
    size_t offset = append(1000);
    CHECK(!gob_arena_wasteful(&r));
    give(append(500), 500);
    CHECK(!gob_arena_wasteful(&r));
    give(append(400), 400);
    CHECK(gob_arena_wasteful(&r)); /* more than half of what is kept is free */
    give(offset, 1000);
    CHECK(gob_arena_wasteful(&r));
    gob_arena_free(&r, &a);
    CHECK(gob_arena_reserve(&r, &a, 1000) == GOB_OK && gob_arena_wasteful(&r));
    end_test();
}

static void test_faults(void)
{
    const char *why;
    begin_test();
    (void)append(GOB_FREE_FROM);
    size_t first = append(20);
    size_t second = append(20);
    give(first, 20);
    r.free[20] = second + 1;
    CHECK_FAULT(gob_arena_validate(&r, LINK, is_free, &r, &why), why,
                "arena: a record in the wrong free list");
    r.free[20] = r.used + 1;
    CHECK_FAULT(gob_arena_validate(&r, LINK, is_free, &r, &why), why,
                "arena: link of a free record");
    r.free[20] = first + 1;
    gob_store64(r.at + first + LINK, first + 1); /* a circle */
    CHECK_FAULT(gob_arena_validate(&r, LINK, is_free, &r, &why), why,
                "arena: link of a free record");
    end_test();
}

int main(void)
{
    test_room();
    test_free_lists();
    test_no_lists();
    test_wasteful();
    test_faults();
    return test_report();
}
