#include "gob_sum.h"

#include <math.h>

#include "gob_score.h"

enum { BIAS = 1088, CARRY_EVERY = 1 << 29 };

void gob_sum_init(gob_sum *s)
{
    memset(s, 0, sizeof *s);
}

/* Brings every digit but the last into 0 .. 2**32 - 1; the last keeps the sign. */
static void settle(gob_sum *s)
{
    for (int i = 0; i + 1 < GOB_SUM_DIGITS; i++) {
        int64_t low = s->digit[i] & INT64_C(0xFFFFFFFF);
        s->digit[i + 1] += (s->digit[i] - low) / (INT64_C(1) << 32);
        s->digit[i] = low;
    }
    s->unsettled = 0;
}

void gob_sum_add(gob_sum *s, double v)
{
    uint64_t bits = gob_double_bits(v);
    unsigned exponent = (unsigned)(bits >> 52) & 0x7FF;
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    bool negative = (bits >> 63) != 0;
    if (exponent == 0x7FF) {
        *(negative ? &s->minus_inf : &s->plus_inf) = true;
        return;
    }
    if (exponent == 0) {
        exponent = 1;
    } else {
        mantissa |= UINT64_C(1) << 52;
    }
    /* v = mantissa * 2**(exponent - 1075); the mantissa spans at most three digits. */
    unsigned shift = exponent - 1075 + BIAS;
    unsigned first = shift / 32;
    unsigned __int128 wide = (unsigned __int128)mantissa << (shift % 32);
    int64_t sign = negative ? -1 : 1;
    s->digit[first] += sign * (int64_t)(uint32_t)wide;
    s->digit[first + 1] += sign * (int64_t)(uint32_t)(wide >> 32);
    s->digit[first + 2] += sign * (int64_t)(uint32_t)(wide >> 64);
    if (++s->unsettled == CARRY_EVERY) {
        settle(s);
    }
}

/* Rounds the magnitude in 32-bit digits, lowest first, to the nearest double, ties to even. */
static double round_digits(const uint32_t *digit)
{
    int top = GOB_SUM_DIGITS - 1;
    while (top >= 0 && digit[top] == 0) {
        top--;
    }
    if (top < 0) {
        return 0.0;
    }
    /* Bits above position `low` fill a double's 53; below 2**-1074 there is nothing to round. */
    int high = top * 32 + (int)gob_bit_width(digit[top]) - 1;
    int low = high - 52 < BIAS - 1074 ? BIAS - 1074 : high - 52;
    uint64_t mantissa = 0;
    for (int bit = high; bit >= low; bit--) {
        mantissa = mantissa << 1 | ((digit[bit / 32] >> (bit % 32)) & 1);
    }
    bool half = ((digit[(low - 1) / 32] >> ((low - 1) % 32)) & 1) != 0;
    bool more = false;
    for (int bit = 0; bit < low - 1 && !more; bit++) {
        more = ((digit[bit / 32] >> (bit % 32)) & 1) != 0;
    }
    if (half && (more || (mantissa & 1) != 0)) {
        mantissa++;
    }
    return ldexp((double)mantissa, low - BIAS);
}

double gob_sum_value(gob_sum *s)
{
    if (s->plus_inf || s->minus_inf) {
        return s->plus_inf && s->minus_inf ? (double)NAN : s->plus_inf ? HUGE_VAL : -HUGE_VAL;
    }
    settle(s);
    bool negative = s->digit[GOB_SUM_DIGITS - 1] < 0;
    uint32_t digit[GOB_SUM_DIGITS];
    int64_t carry = 0;
    for (int i = 0; i < GOB_SUM_DIGITS; i++) {
        int64_t d = (negative ? -s->digit[i] : s->digit[i]) + carry;
        digit[i] = (uint32_t)(uint64_t)d;
        carry = (d - (int64_t)digit[i]) / (INT64_C(1) << 32);
    }
    double magnitude = round_digits(digit);
    return negative ? -magnitude : magnitude;
}
