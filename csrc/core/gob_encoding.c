#include "gob_encoding.h"

#include "gob_text.h"

enum { FLOAT_BYTES = 8, INT_BYTES = 8 };

/* Integers: the fewest bytes of two's complement, lowest first */

static size_t int_bytes(int64_t value)
{
    uint64_t magnitude = (uint64_t)(value < 0 ? ~value : value);
    return gob_bit_width(magnitude) / 8 + 1;
}

static void encode_int(gob_coded *coded, int64_t value)
{
    size_t n = int_bytes(value);
    for (size_t i = 0; i < n; i++) {
        coded->room[i] = (uint8_t)((uint64_t)value >> 8 * i);
    }
    coded->kind = GOB_VALUE_INT;
    coded->bytes = (gob_name){coded->room, n};
}

static int64_t decode_int(gob_name bytes)
{
    uint64_t value = bytes.at[bytes.len - 1] < 0x80 ? 0 : UINT64_MAX;
    for (size_t i = bytes.len; i > 0; i--) {
        value = value << 8 | bytes.at[i - 1];
    }
    return (int64_t)value;
}

/* The digits end where the scratch does. */
static gob_name spell_int(int64_t value, gob_scratch *scratch)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t at = GOB_INT_TEXT;
    do {
        scratch->bytes[--at] = (uint8_t)('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude != 0);
    if (value < 0) {
        scratch->bytes[--at] = '-';
    }
    return (gob_name){scratch->bytes + at, GOB_INT_TEXT - at};
}

/* UUIDs */

static bool is_dash(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

/* 0..15, or 16 for what is no digit of lower case. */
static unsigned hex_digit(uint8_t c)
{
    unsigned digit = c - (unsigned)'0';
    unsigned letter = c - (unsigned)'a';
    return digit <= 9 ? digit : letter <= 5 ? letter + 10 : 16;
}

/* text: GOB_UUID_TEXT bytes */
static bool parse_uuid(const uint8_t *text, uint8_t *out)
{
    for (size_t at = 0; at < GOB_UUID_TEXT; at += is_dash(at) ? 1 : 2) {
        if (is_dash(at)) {
            if (text[at] != '-') {
                return false;
            }
            continue;
        }
        unsigned high = hex_digit(text[at]);
        unsigned low = hex_digit(text[at + 1]);
        if (high > 15 || low > 15) {
            return false;
        }
        *out++ = (uint8_t)(high << 4 | low);
    }
    return true;
}

static gob_name spell_uuid(const uint8_t *bytes, gob_scratch *scratch)
{
    static const uint8_t digits[] = "0123456789abcdef";
    for (size_t at = 0; at < GOB_UUID_TEXT; at += is_dash(at) ? 1 : 2) {
        if (is_dash(at)) {
            scratch->bytes[at] = '-';
            continue;
        }
        scratch->bytes[at] = digits[*bytes >> 4];
        scratch->bytes[at + 1] = digits[*bytes++ & 15];
    }
    return (gob_name){scratch->bytes, GOB_UUID_TEXT};
}

/* All kinds */

void gob_encode_binary(gob_coded *coded, gob_name text)
{
    int64_t integer;
    if (text.len == GOB_UUID_TEXT && parse_uuid(text.at, coded->room)) {
        coded->kind = GOB_VALUE_UUID;
        coded->bytes = (gob_name){coded->room, GOB_UUID_BYTES};
    } else if (text.len <= GOB_INT_TEXT &&
               gob_parse_int64((const char *)text.at, text.len, &integer)) {
        encode_int(coded, integer);
    } else {
        coded->kind = GOB_VALUE_TEXT;
        coded->bytes = text;
    }
}

void gob_encode(gob_coded *coded, const gob_value *value, bool encoding)
{
    if (value->kind == GOB_VALUE_TEXT) {
        gob_encode_text(coded, value->text, encoding);
    } else if (value->kind == GOB_VALUE_INT) {
        encode_int(coded, value->integer);
    } else {
        memcpy(coded->room, &value->real, sizeof value->real);
        coded->kind = GOB_VALUE_FLOAT;
        coded->bytes = (gob_name){coded->room, sizeof value->real};
    }
}

bool gob_is_encoded(gob_value_kind kind, gob_name bytes, bool encoding)
{
    gob_coded again;
    switch (kind) {
    case GOB_VALUE_TEXT:
        gob_encode_text(&again, bytes, encoding);
        return again.kind == GOB_VALUE_TEXT;
    case GOB_VALUE_INT:
        return bytes.len - 1 < INT_BYTES && int_bytes(decode_int(bytes)) == bytes.len;
    case GOB_VALUE_UUID:
        return bytes.len == GOB_UUID_BYTES;
    default:
        return kind == GOB_VALUE_FLOAT && bytes.len == FLOAT_BYTES;
    }
}

gob_value gob_decode_number(gob_value_kind kind, gob_name bytes)
{
    if (kind == GOB_VALUE_INT) {
        return gob_value_int(decode_int(bytes));
    }
    double real;
    memcpy(&real, bytes.at, sizeof real);
    return gob_value_float(real);
}

gob_name gob_value_bytes(const gob_value *value, gob_scratch *scratch)
{
    switch (value->kind) {
    case GOB_VALUE_INT:
        return spell_int(value->integer, scratch);
    case GOB_VALUE_UUID:
        return spell_uuid(value->text.at, scratch);
    default:
        return value->text;
    }
}
