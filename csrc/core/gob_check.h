/* Assertions of debug builds (GOB_DEBUG): cheap ones inside algorithms, and whole validators after
 * each mutation. Release builds contain none of them. */
#ifndef GOB_CHECK_H
#define GOB_CHECK_H

#ifdef GOB_DEBUG
#include <stdlib.h>
#define GOB_ASSERT(cond)                                                                           \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)
#else
#define GOB_ASSERT(cond) ((void)0)
#endif

/* Inside a validator: report why and return false. One that was stopped reports NULL. */
#define GOB_DEMAND(cond, reason)                                                                   \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            *why = (reason);                                                                       \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

/* Inside a validator that may take long: accounts for work, and asks whether to go on. */
#define GOB_DEMAND_TIME(pace, work) GOB_DEMAND(gob_spend(pace, work) == GOB_OK, NULL)

#endif
