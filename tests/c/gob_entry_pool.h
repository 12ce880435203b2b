/* Fields and values for tests: at every edge of length, numbers and UUIDs, what merely looks like
 * them, and many ordinary ones. */
#ifndef GOB_ENTRY_POOL_H
#define GOB_ENTRY_POOL_H

#include <stdio.h>

#include "gob_encoding.h"

enum { FIELDS = 500, VALUES = 90, ENTRY_BYTES = 1 << 19 };

static gob_name field_pool[FIELDS];
static gob_value value_pool[VALUES];
static uint8_t entry_bytes[ENTRY_BYTES];
static size_t entry_used;

static const char *const odd_texts[] = {
    "0",
    "-1",
    "7",
    "007",
    "+1",
    "-0",
    " 1",
    "1e5",
    "127",
    "128",
    "-128",
    "-129",
    "32767",
    "32768",
    "-32769",
    "8388608",
    "2147483648",
    "549755813888",
    "140737488355328",
    "36028797018963968",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "-9223372036854775809",
    "-",
    "00112233-4455-6677-8899-aabbccddeeff",
    "00112233-4455-6677-8899-AABBCCDDEEFF",
    "00112233-4455-6677-8899-aabbccddeefg",
    "00112233x4455-6677-8899-aabbccddeeff",
    "{0011223-4455-6677-8899-aabbccddeeff",
    "00112233445566778899aabbccddeeff",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
};

static const size_t edges[] = {0,   1,   51,  52,  53,  63,    64,    127,   128,  223,
                               224, 254, 255, 256, 300, 16383, 32764, 32767, 32768};

enum {
    ODD = sizeof odd_texts / sizeof odd_texts[0],
    EDGES = sizeof edges / sizeof edges[0],
};

static inline gob_name keep(const void *bytes, size_t len)
{
    gob_name name = {entry_bytes + entry_used, len};
    memcpy(entry_bytes + entry_used, bytes, len);
    entry_used += len;
    return name;
}

static inline gob_name keep_filled(char c, size_t len)
{
    gob_name name = {entry_bytes + entry_used, len};
    memset(entry_bytes + entry_used, c, len);
    entry_used += len;
    return name;
}

static inline void fill_entry_pool(void)
{
    static const int64_t integers[] = {0, -1, 127, 128, 65536, INT64_MIN, INT64_MAX};
    static const double reals[] = {0.0, 1.5, -1e300};
    char text[32];
    entry_used = 0;
    for (size_t i = 0; i < FIELDS; i++) {
        int len = snprintf(text, sizeof text, "field:%08zu", i);
        field_pool[i] = i < ODD           ? keep(odd_texts[i], strlen(odd_texts[i]))
                        : i < ODD + EDGES ? keep_filled('f', edges[i - ODD])
                                          : keep(text, (size_t)len);
    }
    size_t n = 0;
    for (size_t i = 0; i < ODD; i++) {
        value_pool[n++] = gob_value_text(keep(odd_texts[i], strlen(odd_texts[i])));
    }
    for (size_t i = 0; i < EDGES; i++) {
        value_pool[n++] = gob_value_text(keep_filled('v', edges[i]));
    }
    for (size_t i = 0; i < 7; i++) {
        value_pool[n++] = gob_value_int(integers[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        value_pool[n++] = gob_value_float(reals[i]);
    }
    for (; n < VALUES; n++) {
        int len = snprintf(text, sizeof text, "value:%010zu", n);
        value_pool[n] = gob_value_text(keep(text, (size_t)len));
    }
}

static inline bool same_bytes(gob_name a, gob_name b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* Whether what a hash gives is what was put in: a text may come back as what it spells. */
static inline bool same_value(const gob_value *got, const gob_value *put)
{
    gob_scratch scratch;
    if (put->kind == GOB_VALUE_TEXT) {
        return got->kind <= GOB_VALUE_UUID && same_bytes(gob_value_bytes(got, &scratch), put->text);
    }
    if (put->kind == GOB_VALUE_INT) {
        return got->kind == GOB_VALUE_INT && got->integer == put->integer;
    }
    return got->kind == GOB_VALUE_FLOAT && got->real == put->real;
}

#endif
