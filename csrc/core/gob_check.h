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

/* Inside a validator: report why and return false. */
#define GOB_DEMAND(cond, reason)                                                                   \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            *why = (reason);                                                                       \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

#endif
