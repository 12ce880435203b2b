#include "gob_row.h"

#include "gob_check.h"

enum { UUID_BYTES = 16, FLOAT_BYTES = 8 };

static uint8_t code_of(const gob_part *part)
{
    size_t len = part->bytes.len;
    switch (part->kind) {
    case GOB_VALUE_INT:
        return (uint8_t)(len - 1);
    case GOB_VALUE_UUID:
        return GOB_CELL_UUID;
    case GOB_VALUE_FLOAT:
        return GOB_CELL_FLOAT;
    default:
        return (uint8_t)(len < GOB_CELL_LONG - GOB_CELL_TEXT ? GOB_CELL_TEXT + len : GOB_CELL_LONG);
    }
}

/* Of all codes but LONG. */
static size_t length_of(unsigned code)
{
    static const uint8_t fixed[GOB_CELL_TEXT] = {1, 2, 3, 4, 5, 6, 7, 8, UUID_BYTES, FLOAT_BYTES};
    return code < GOB_CELL_TEXT ? fixed[code] : code - GOB_CELL_TEXT;
}

static gob_value_kind kind_of(unsigned code)
{
    return code < GOB_CELL_UUID     ? GOB_VALUE_INT
           : code == GOB_CELL_UUID  ? GOB_VALUE_UUID
           : code == GOB_CELL_FLOAT ? GOB_VALUE_FLOAT
                                    : GOB_VALUE_TEXT;
}

/* The bytes of the value that begins at `at`. */
static gob_name value_at(unsigned code, const uint8_t *at)
{
    size_t len;
    if (GOB_UNLIKELY(code == GOB_CELL_LONG)) {
        at = gob_length_read(at, &len);
        return (gob_name){at, len};
    }
    return (gob_name){at, length_of(code)};
}

gob_row gob_row_read(const gob_shapes *s, gob_name bytes)
{
    size_t number;
    const uint8_t *codes = gob_length_read(bytes.at, &number);
    return (gob_row){(uint32_t)number, gob_shapes_at(s, (uint32_t)number), codes};
}

size_t gob_row_bytes(uint32_t shape, const gob_part *parts, size_t n)
{
    size_t bytes = gob_length_bytes(shape) + n;
    for (size_t i = 0; i < n; i++) {
        bytes += parts[i].bytes.len;
        if (code_of(&parts[i]) == GOB_CELL_LONG) {
            bytes += gob_length_bytes(parts[i].bytes.len);
        }
    }
    return bytes;
}

void gob_row_write(uint8_t *out, uint32_t shape, const gob_part *parts, size_t n)
{
    uint8_t *codes = gob_length_write(out, shape);
    uint8_t *at = codes + n;
    for (size_t i = 0; i < n; i++) {
        gob_name bytes = parts[i].bytes;
        codes[i] = code_of(&parts[i]);
        if (codes[i] == GOB_CELL_LONG) {
            at = gob_length_write(at, bytes.len);
        }
        if (bytes.len != 0) {
            memcpy(at, bytes.at, bytes.len);
        }
        at += bytes.len;
    }
}

/* What is at a place, where the value before it ends. */
static gob_part part_at(const gob_row *row, size_t place, const uint8_t *at)
{
    unsigned code = row->codes[place];
    return (gob_part){row->shape.fields[place], kind_of(code), value_at(code, at)};
}

void gob_row_parts(const gob_row *row, gob_part *parts)
{
    const uint8_t *at = row->codes + row->shape.count;
    for (size_t i = 0; i < row->shape.count; i++) {
        parts[i] = part_at(row, i, at);
        at = parts[i].bytes.at + parts[i].bytes.len;
    }
}

bool gob_row_holds(const gob_row *row, gob_datum_kind kind)
{
    const uint8_t *at = row->codes + row->shape.count;
    for (size_t i = 0; i < row->shape.count; i++) {
        gob_part part = part_at(row, i, at);
        if (!gob_datum_is_sound(kind, part.kind, part.bytes, true)) {
            return false;
        }
        at = part.bytes.at + part.bytes.len;
    }
    return true;
}

gob_part gob_row_part(const gob_row *row, size_t place)
{
    const uint8_t *at = row->codes + row->shape.count;
    for (size_t i = 0; i < place; i++) {
        gob_name bytes = value_at(row->codes[i], at);
        at = bytes.at + bytes.len;
    }
    return part_at(row, place, at);
}

gob_value gob_row_value(const gob_row *row, size_t place)
{
    gob_part part = gob_row_part(row, place);
    return gob_decode(part.kind, part.bytes);
}

/* Whether a long text's length is there, and no shorter one's. */
static bool has_length(const uint8_t *at, const uint8_t *end)
{
    size_t len;
    return gob_length_parse(at, end, &len) != NULL && len >= GOB_CELL_LONG - GOB_CELL_TEXT;
}

/* Whether the values fill the bytes, read from damaged ones with care. */
bool gob_row_validate(const gob_shapes *s, gob_name bytes, const char **why)
{
    GOB_DEMAND(bytes.len != 0, "row: no shape");
    size_t number;
    const uint8_t *end = bytes.at + bytes.len;
    const uint8_t *at = gob_length_parse(bytes.at, end, &number);
    GOB_DEMAND(at != NULL && number < s->shapes.count && s->shapes.items[number].uses != 0,
               "row: a shape that is not there");
    gob_row row = gob_row_read(s, bytes);
    GOB_DEMAND(row.shape.count <= (size_t)(end - at), "row: codes overrun");
    at += row.shape.count;
    for (size_t i = 0; i < row.shape.count; i++) {
        GOB_DEMAND(row.codes[i] != GOB_CELL_LONG || has_length(at, end), "row: values overrun");
        gob_name value = value_at(row.codes[i], at);
        GOB_DEMAND(value.len <= (size_t)(end - value.at), "row: values overrun");
        at = value.at + value.len;
    }
    GOB_DEMAND(at == end, "row: values do not fill it");
    return true;
}
