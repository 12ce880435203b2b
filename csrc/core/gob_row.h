/* The values of a record as one string: [shape][a code for each value][values].
 *
 * A code says kind and length. Only texts of 245 bytes and more have their length before them. */
#ifndef GOB_ROW_H
#define GOB_ROW_H

#include "gob_datum.h"
#include "gob_record.h"
#include "gob_shapes.h"

enum {
    GOB_CELL_UUID = 8, /* below: an integer of one byte more than the code */
    GOB_CELL_FLOAT = 9,
    GOB_CELL_TEXT = 10,  /* from here on: a text of 0, 1, ... bytes */
    GOB_CELL_LONG = 255, /* a text with a length */
};

/* A value as it is stored, and the field that it belongs to. */
typedef struct gob_part {
    uint32_t field;
    gob_value_kind kind;
    gob_name bytes;
} gob_part;

typedef struct gob_row {
    uint32_t number; /* of the shape */
    gob_shape shape;
    const uint8_t *codes;
} gob_row;

/* Points into the bytes and the shapes. */
gob_row gob_row_read(const gob_shapes *s, gob_name bytes);

/* What a row of a shape, with a value for each field, is made of. */
size_t gob_row_bytes(uint32_t shape, const gob_part *parts, size_t n);
void gob_row_write(uint8_t *out, uint32_t shape, const gob_part *parts, size_t n);

/* All values. */
void gob_row_parts(const gob_row *row, gob_part *parts);

/* Whether all values are of this kind. */
bool gob_row_holds(const gob_row *row, gob_datum_kind kind);

/* What is at a place of the shape, and the value that it stands for. O(place). */
gob_part gob_row_part(const gob_row *row, size_t place);
gob_value gob_row_value(const gob_row *row, size_t place);

/* Whether these bytes are a sound row. */
bool gob_row_validate(const gob_shapes *s, gob_name bytes, const char **why);

#endif
