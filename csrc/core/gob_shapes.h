/* The fields of records: each name once, and each set of fields that records have once.
 *
 * A shape is such a set, as the numbers of its fields in ascending order; a field's place among
 * them is that of its value in a record. Fields live as long as shapes (and callers) use them. */
#ifndef GOB_SHAPES_H
#define GOB_SHAPES_H

#include "gob_intern.h"

typedef struct gob_shapes {
    gob_intern names;  /* of fields */
    gob_intern shapes; /* each a string of uint32_t */
} gob_shapes;

typedef struct gob_shape {
    const uint32_t *fields;
    size_t count;
} gob_shape;

#define GOB_NO_PLACE SIZE_MAX

void gob_shapes_init(gob_shapes *s, uint64_t seed);
void gob_shapes_free(gob_shapes *s, gob_alloc *a);

/* An initialised, empty dst gets all of src, numbers and uses too. On failure it stays empty. */
gob_status gob_shapes_copy(gob_shapes *dst, gob_alloc *a, const gob_shapes *src);

/* One more use of the shape of these fields, which the caller uses. O(fields). */
gob_status gob_shapes_hold(gob_shapes *s, gob_alloc *a, const uint32_t *fields, size_t n,
                           uint32_t *number);

/* One use less; the last one gives up its fields. */
void gob_shapes_drop(gob_shapes *s, gob_alloc *a, uint32_t number);

gob_shape gob_shapes_at(const gob_shapes *s, uint32_t number);

/* Where a field is, or GOB_NO_PLACE. O(log fields). */
size_t gob_shape_place(gob_shape shape, uint32_t field);

/* As of gob_intern. The order of the fields stays, and so that of the places. */
typedef struct gob_shapes_packing {
    gob_packing names;
    gob_packing shapes;
} gob_shapes_packing;

gob_status gob_shapes_pack(const gob_shapes *s, gob_alloc *a, gob_shapes_packing *p);
void gob_shapes_take(gob_shapes *s, gob_alloc *a, gob_shapes_packing *p);
void gob_shapes_leave(const gob_shapes *s, gob_alloc *a, gob_shapes_packing *p);
size_t gob_shapes_waste(const gob_shapes *s);

size_t gob_shapes_bytes(const gob_shapes *s);

bool gob_shapes_validate(const gob_shapes *s, const char **why);

#endif
