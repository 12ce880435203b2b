#include "gob_record.h"

#include "gob_check.h"

static uint8_t code_of(const gob_coded *field)
{
    size_t len = field->bytes.len;
    if (GOB_LIKELY(field->kind == GOB_VALUE_TEXT)) {
        return (uint8_t)(len < GOB_FIELD_LONG - GOB_FIELD_TEXT ? GOB_FIELD_TEXT + len
                                                               : GOB_FIELD_LONG);
    }
    return field->kind == GOB_VALUE_INT ? (uint8_t)(len - 1) : GOB_FIELD_UUID;
}

static __attribute__((noinline)) uint64_t hash_long(gob_name bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes.at, bytes.len, seed);
}

/* Of the same function: what it does with up to 16 bytes is short enough to stand here. */
GOB_INLINE uint64_t hash_of(gob_name bytes, uint64_t seed)
{
    return bytes.len <= 16 ? XXH3_64bits_withSeed(bytes.at, bytes.len, seed)
                           : hash_long(bytes, seed);
}

GOB_INLINE void prepare(gob_field *f, uint64_t seed)
{
    /* Equal bytes of two kinds are two fields. */
    f->hash = hash_of(f->coded.bytes, seed + (uint64_t)f->coded.kind);
    f->code = code_of(&f->coded);
}

void gob_field_prepare(gob_field *f, uint64_t seed)
{
    prepare(f, seed);
}

__attribute__((flatten)) void gob_field_of(gob_field *f, gob_name name, bool encoding,
                                           uint64_t seed)
{
    gob_encode_text(&f->coded, name, encoding);
    prepare(f, seed);
}

static size_t length_bytes(const gob_field *f)
{
    return f->code == GOB_FIELD_LONG ? gob_length_bytes(f->coded.bytes.len) : 0;
}

size_t gob_record_bytes(const gob_field *f, const gob_coded *value)
{
    return 1 + length_bytes(f) + f->coded.bytes.len + value->bytes.len;
}

void gob_record_write(uint8_t *at, const gob_field *f, const gob_coded *value)
{
    gob_name field = f->coded.bytes;
    *at++ = (uint8_t)((unsigned)value->kind << GOB_FIELD_BITS | f->code);
    if (f->code == GOB_FIELD_LONG) {
        at = gob_length_write(at, field.len);
    }
    if (field.len != 0) {
        memcpy(at, field.at, field.len);
    }
    if (value->bytes.len != 0) {
        memcpy(at + field.len, value->bytes.at, value->bytes.len);
    }
}

void gob_record_field(gob_field *f, const uint8_t *at, size_t bytes, uint64_t seed)
{
    gob_record r = gob_record_read(at, bytes);
    f->coded.kind = r.field_kind;
    f->coded.bytes = r.field;
    gob_field_prepare(f, seed);
}

void gob_record_value(gob_coded *value, const uint8_t *at, size_t bytes)
{
    gob_record r = gob_record_read(at, bytes);
    value->kind = r.value_kind;
    value->bytes = r.value;
}

const uint8_t *gob_length_parse(const uint8_t *at, const uint8_t *end, size_t *length)
{
    uint64_t sum = 0;
    for (unsigned shift = 0; at < end && shift < 35; shift += 7) {
        uint8_t byte = *at++;
        sum |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *length = (size_t)sum;
            return sum <= INT32_MAX && (byte != 0 || shift == 0) ? at : NULL;
        }
    }
    return NULL;
}

/* Whether a field ends within the record, the length of a long one included. */
static bool has_field(const uint8_t *at, size_t bytes)
{
    size_t len = 0;
    if ((*at & GOB_FIELD_CODES) == GOB_FIELD_LONG &&
        (gob_length_parse(at + 1, at + bytes, &len) == NULL ||
         len < GOB_FIELD_LONG - GOB_FIELD_TEXT)) {
        return false;
    }
    gob_record r = gob_record_read(at, bytes);
    return (size_t)(r.field.at - at) + r.field.len <= bytes;
}

bool gob_record_validate(const uint8_t *at, size_t bytes, const char **why)
{
    GOB_DEMAND(bytes != 0 && (*at & GOB_FIELD_CODES) != GOB_FIELD_FREE, "record: no head");
    GOB_DEMAND(has_field(at, bytes), "record: field overrun");
    gob_record r = gob_record_read(at, bytes);
    GOB_DEMAND(gob_is_encoded(r.field_kind, r.field, false), "record: field");
    GOB_DEMAND(gob_is_encoded(r.value_kind, r.value, false), "record: value");
    return true;
}
