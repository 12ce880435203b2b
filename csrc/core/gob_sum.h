/* The exact sum of any doubles, rounded once: the same total whatever the order of the terms.
 *
 * A fixed-point accumulator over the whole range of binary64, in 32-bit digits kept in 64-bit words
 * so that carries are settled only now and then. As math.fsum, but without its temporary list, and
 * an intermediate overflow is no error. */
#ifndef GOB_SUM_H
#define GOB_SUM_H

#include "gob_compiler.h"

enum { GOB_SUM_DIGITS = 70 };

typedef struct gob_sum {
    int64_t digit[GOB_SUM_DIGITS]; /* digit i weighs 2**(32 i - 1088) */
    uint32_t unsettled;            /* additions since carries were settled */
    bool plus_inf, minus_inf;
} gob_sum;

void gob_sum_init(gob_sum *s);
void gob_sum_add(gob_sum *s, double v);

/* The correctly rounded sum; NaN for inf + -inf. Further additions may follow. */
double gob_sum_value(gob_sum *s);

#endif
