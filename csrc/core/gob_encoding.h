/* Fields and values as a hash stores them: canonical decimal integers and UUIDs in binary, anything
 * else as it is.
 *
 * Each byte string has exactly one encoding, so equal encodings are equal strings. */
#ifndef GOB_ENCODING_H
#define GOB_ENCODING_H

#include "gob_names.h"

typedef enum gob_value_kind {
    GOB_VALUE_TEXT,
    GOB_VALUE_INT,   /* an int64; as text the one spelling of gob_parse_int64 */
    GOB_VALUE_UUID,  /* 16 bytes; as text lower-case with dashes */
    GOB_VALUE_FLOAT, /* a double; no text becomes one */
    GOB_VALUE_NONE,  /* there is none */
} gob_value_kind;

typedef struct gob_value {
    gob_value_kind kind;
    union {
        gob_name text; /* TEXT and UUID */
        int64_t integer;
        double real;
    };
} gob_value;

GOB_INLINE gob_value gob_value_text(gob_name text)
{
    return (gob_value){.kind = GOB_VALUE_TEXT, .text = text};
}

GOB_INLINE gob_value gob_value_int(int64_t integer)
{
    return (gob_value){.kind = GOB_VALUE_INT, .integer = integer};
}

GOB_INLINE gob_value gob_value_float(double real)
{
    return (gob_value){.kind = GOB_VALUE_FLOAT, .real = real};
}

/* A string or a number as it is stored. */
typedef struct gob_coded {
    gob_name bytes; /* in `room`, or where the caller has them: a gob_coded is not to be copied */
    uint8_t room[GOB_UUID_BYTES];
    gob_value_kind kind;
} gob_coded;

enum { GOB_UUID_TEXT = 36, GOB_INT_TEXT = 20 };

/* A text that looks as if it had a binary form, which it is given where it has. */
void gob_encode_binary(gob_coded *coded, gob_name text);

/* Without `encoding` a text stays as it is. O(1). */
GOB_INLINE void gob_encode_text(gob_coded *coded, gob_name text, bool encoding)
{
    bool short_enough = text.len - 1 < GOB_INT_TEXT;
    if (encoding && (short_enough ? text.at[0] <= '9' : text.len == GOB_UUID_TEXT)) {
        gob_encode_binary(coded, text);
    } else {
        coded->kind = GOB_VALUE_TEXT;
        coded->bytes = text;
    }
}

void gob_encode(gob_coded *coded, const gob_value *value, bool encoding);

/* Whether stored bytes are as gob_encode writes what they stand for: numbers in the fewest bytes,
 * and with `encoding` no text that another kind stands for. O(1). */
bool gob_is_encoded(gob_value_kind kind, gob_name bytes, bool encoding);

/* The number that stored bytes are, INT or FLOAT. */
gob_value gob_decode_number(gob_value_kind kind, gob_name bytes);

/* What stored bytes of a kind stand for; texts and UUIDs stay where they are. */
GOB_INLINE gob_value gob_decode(gob_value_kind kind, gob_name bytes)
{
    return kind == GOB_VALUE_TEXT || kind == GOB_VALUE_UUID
               ? (gob_value){.kind = kind, .text = bytes}
               : gob_decode_number(kind, bytes);
}

/* Room for the text of an integer or a UUID. */
typedef struct gob_scratch {
    uint8_t bytes[40];
} gob_scratch;

/* The very bytes that TEXT, INT or UUID stand for. They lie in the scratch, or where the value has
 * them. */
gob_name gob_value_bytes(const gob_value *value, gob_scratch *scratch);

#endif
