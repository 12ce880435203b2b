/* The allocator: its count of live bytes, and failures on demand. */
#include "gob_alloc.h"
#include "gob_test.h"

static void test_live_bytes(void)
{
    gob_alloc a;
    gob_alloc_init(&a);
    uint8_t *p = gob_malloc(&a, 100);
    uint8_t *q = gob_calloc(&a, 1000);
    CHECK(p != NULL && q != NULL && a.live == 1100);
    for (size_t i = 0; i < 1000; i++) {
        CHECK(q[i] == 0);
    }
    memset(p, 7, 100);
    p = gob_realloc(&a, p, 100, 5000);
    CHECK(p != NULL && p[0] == 7 && p[99] == 7 && a.live == 6000);
    p = gob_realloc(&a, p, 5000, 10);
    CHECK(p != NULL && p[9] == 7 && a.live == 1010);
    gob_free(&a, p, 10);
    gob_free(&a, q, 1000);
    gob_free(&a, NULL, 0);
    CHECK(a.live == 0);
    p = gob_realloc(&a, NULL, 0, 3);
    CHECK(p != NULL && a.live == 3);
    gob_free(&a, p, 3);
    CHECK(a.live == 0);
}

static void test_failures(void)
{
    gob_alloc a;
    gob_alloc_init(&a);
    gob_alloc_fail_at(&a, 3);
    void *p = gob_malloc(&a, 8);
    void *q = gob_calloc(&a, 8);
    CHECK(p != NULL && q != NULL);
    CHECK(gob_malloc(&a, 8) == NULL && a.live == 16);
    void *r = gob_malloc(&a, 8); /* once only */
    CHECK(r != NULL && a.fail_at == 0);
    gob_alloc_fail_at(&a, 1);
    CHECK(gob_calloc(&a, 8) == NULL && a.live == 24);
    memset(p, 5, 8);
    gob_alloc_fail_at(&a, 1);
    CHECK(gob_realloc(&a, p, 8, 1 << 20) == NULL && a.live == 24);
    CHECK(((uint8_t *)p)[7] == 5);
    gob_free(&a, p, 8);
    gob_free(&a, q, 8);
    gob_free(&a, r, 8);
    CHECK(a.live == 0);
}

static void test_size_mul(void)
{
    size_t out = 0;
    CHECK(gob_size_mul(1000, 24, &out) && out == 24000);
    CHECK(gob_size_mul(0, SIZE_MAX, &out) && out == 0);
    CHECK(gob_size_mul(SIZE_MAX, 1, &out) && out == SIZE_MAX);
    CHECK(!gob_size_mul(SIZE_MAX / 2 + 1, 2, &out));
    CHECK(!gob_size_mul(SIZE_MAX, SIZE_MAX, &out));
}

int main(void)
{
    test_live_bytes();
    test_failures();
    test_size_mul();
    return test_report();
}
