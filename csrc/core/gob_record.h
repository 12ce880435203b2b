/* An entry of a hash, in a blob or in an arena: [head][length][field][value].
 *
 * The head has the value's kind in its two high bits and a code for the field in the others: its
 * kind, and its length up to 52 bytes. Only longer fields have a length, of seven bits a byte. The
 * value takes the rest of the record, whose length is kept elsewhere. */
#ifndef GOB_RECORD_H
#define GOB_RECORD_H

#include "gob_encoding.h"
#include "gob_hash.h"

enum {
    GOB_FIELD_UUID = 8,  /* below: an integer of one byte more than the code */
    GOB_FIELD_TEXT = 9,  /* from here on: a text of 0, 1, ... bytes */
    GOB_FIELD_LONG = 62, /* a text with a length */
    GOB_FIELD_FREE = 63, /* no record, but free space in an arena */
    GOB_FIELD_CODES = 63,
    GOB_FIELD_BITS = 6,
};

/* A field that is looked for, or written. */
typedef struct gob_field {
    gob_coded coded;
    uint64_t hash;
    uint8_t code;
} gob_field;

/* Fills in code and hash of a field that has been encoded. */
void gob_field_prepare(gob_field *f, uint64_t seed);

/* Encodes and prepares. O(length). */
void gob_field_of(gob_field *f, gob_name name, bool encoding, uint64_t seed);

/* What a record has. */
typedef struct gob_record {
    gob_value_kind field_kind;
    gob_value_kind value_kind;
    gob_name field;
    gob_name value;
} gob_record;

size_t gob_record_bytes(const gob_field *f, const gob_coded *value);
void gob_record_write(uint8_t *at, const gob_field *f, const gob_coded *value);

/* The field of a record, prepared. */
void gob_record_field(gob_field *f, const uint8_t *at, size_t bytes, uint64_t seed);

/* The value of a record, as it is stored. */
void gob_record_value(gob_coded *value, const uint8_t *at, size_t bytes);

/* A record of `bytes` bytes that is sound in itself and as it would have been written. */
bool gob_record_validate(const uint8_t *at, size_t bytes, const char **why);

/* A walk over the records of a source: the one at *at (0 at first) and its bytes, or NULL. */
typedef const uint8_t *gob_next_record(const void *source, size_t *at, size_t *bytes);

/* Lengths of seven bits a byte, lowest first, of at most 31 bits. */
GOB_INLINE size_t gob_length_bytes(size_t length)
{
    return length == 0 ? 1 : (gob_bit_width(length) + 6) / 7;
}

/* The byte after it. */
GOB_INLINE uint8_t *gob_length_write(uint8_t *at, size_t length)
{
    for (; length >= 0x80; length >>= 7) {
        *at++ = (uint8_t)(length | 0x80);
    }
    *at++ = (uint8_t)length;
    return at;
}

GOB_INLINE const uint8_t *gob_length_read(const uint8_t *at, size_t *length)
{
    size_t sum = *at & 0x7F;
    for (unsigned shift = 7; (*at++ & 0x80) != 0; shift += 7) {
        sum |= (size_t)(*at & 0x7F) << shift;
    }
    *length = sum;
    return at;
}

/* The same of bytes before `end` that are not trusted: NULL for what no gob_length_write wrote. */
const uint8_t *gob_length_parse(const uint8_t *at, const uint8_t *end, size_t *length);

/* The record of `bytes` bytes at `at`. */
GOB_INLINE gob_record gob_record_read(const uint8_t *at, size_t bytes)
{
    const uint8_t *end = at + bytes;
    unsigned code = *at & GOB_FIELD_CODES;
    gob_record r = {.value_kind = (gob_value_kind)(*at >> GOB_FIELD_BITS)};
    size_t len;
    at++;
    if (code < GOB_FIELD_UUID) {
        r.field_kind = GOB_VALUE_INT;
        len = code + 1;
    } else if (code == GOB_FIELD_UUID) {
        r.field_kind = GOB_VALUE_UUID;
        len = GOB_UUID_BYTES;
    } else if (code < GOB_FIELD_LONG) {
        r.field_kind = GOB_VALUE_TEXT;
        len = code - GOB_FIELD_TEXT;
    } else {
        r.field_kind = GOB_VALUE_TEXT;
        at = gob_length_read(at, &len);
    }
    r.field = (gob_name){at, len};
    r.value = (gob_name){at + len, (size_t)(end - at) - len};
    return r;
}

/* The value of a record that has this field. */
GOB_INLINE gob_value gob_record_value_of(const gob_field *f, const uint8_t *at, size_t bytes)
{
    size_t head = 1 + f->coded.bytes.len;
    if (GOB_UNLIKELY(f->code == GOB_FIELD_LONG)) {
        head += gob_length_bytes(f->coded.bytes.len);
    }
    return gob_decode((gob_value_kind)(*at >> GOB_FIELD_BITS), (gob_name){at + head, bytes - head});
}

/* memcmp without a call for the lengths that fields have. */
GOB_INLINE bool gob_same_bytes(const uint8_t *a, const uint8_t *b, size_t n)
{
    if (n >= 8 && n <= 16) {
        return gob_load64(a) == gob_load64(b) && gob_load64(a + n - 8) == gob_load64(b + n - 8);
    }
    return n == 0 || memcmp(a, b, n) == 0;
}

/* Whether a record has this field. */
GOB_INLINE bool gob_record_is(const uint8_t *at, const gob_field *f)
{
    if ((*at & GOB_FIELD_CODES) != f->code) {
        return false;
    }
    at++;
    if (GOB_UNLIKELY(f->code == GOB_FIELD_LONG)) {
        size_t length;
        at = gob_length_read(at, &length);
        if (length != f->coded.bytes.len) {
            return false;
        }
    }
    return gob_same_bytes(at, f->coded.bytes.at, f->coded.bytes.len);
}

#endif
