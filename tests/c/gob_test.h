/* The harness of the C tests. A test_*.c file is one program: functions full of CHECK, and a main()
 * that calls them and returns test_report(). */
#ifndef GOB_TEST_H
#define GOB_TEST_H

#include <stdio.h>
#include <string.h>

#include "gob_alloc.h"

static int test_passed;
static int test_failed;
static int test_allocations_failed;

/* The linker puts these in the place of the allocator's functions. */
#define COUNTED(name, parameters, arguments)                                                       \
    void *__real_##name parameters;                                                                \
    void *__wrap_##name parameters;                                                                \
    void *__wrap_##name parameters                                                                 \
    {                                                                                              \
        void *p = __real_##name arguments;                                                         \
        if (p == NULL) {                                                                           \
            test_allocations_failed++; /* written only then, as threads may be here */             \
        }                                                                                          \
        return p;                                                                                  \
    }

COUNTED(gob_malloc, (gob_alloc * a, size_t size), (a, size))
COUNTED(gob_calloc, (gob_alloc * a, size_t size), (a, size))
COUNTED(gob_realloc, (gob_alloc * a, void *block, size_t old_size, size_t size),
        (a, block, old_size, size))

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (condition) {                                                                           \
            test_passed++;                                                                         \
        } else {                                                                                   \
            test_failed++;                                                                         \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                \
        }                                                                                          \
    } while (0)

/* A validator says what is wrong: `call` stores its reason in `why`. */
#define CHECK_FAULT(call, why, reason)                                                             \
    do {                                                                                           \
        (why) = NULL;                                                                              \
        CHECK(!(call));                                                                            \
        CHECK((why) != NULL && strcmp((why), (reason)) == 0);                                      \
    } while (0)

/* Prints the tally; the exit status of the program. A test that checked nothing has failed. */
static inline int test_report(void)
{
    printf("%d passed, %d failed", test_passed, test_failed);
    if (test_allocations_failed > 0) {
        printf("; %d allocations failed", test_allocations_failed);
    }
    printf("\n");
    return test_failed == 0 && test_passed > 0 ? 0 : 1;
}

#endif
