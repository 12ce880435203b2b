/* The harness of the C tests. A test_*.c file is one program: functions full of CHECK, and a main()
 * that calls them and returns test_report(). */
#ifndef GOB_TEST_H
#define GOB_TEST_H

#include <stdio.h>
#include <string.h>

static int test_passed;
static int test_failed;

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
    printf("%d passed, %d failed\n", test_passed, test_failed);
    return test_failed == 0 && test_passed > 0 ? 0 : 1;
}

#endif
