/* Byte strings as callers have them: one, or a column in any layout that numpy and Arrow use. */
#ifndef GOB_NAMES_H
#define GOB_NAMES_H

#include "gob_compiler.h"

typedef struct gob_name {
    const uint8_t *at;
    size_t len;
} gob_name;

/* Negative, 0 or positive. */
GOB_INLINE int gob_name_compare(gob_name a, gob_name b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter == 0 ? 0 : memcmp(a.at, b.at, shorter);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

enum { GOB_UUID_BYTES = 16 };

typedef enum gob_names_form {
    GOB_NAMES_LIST,      /* data: an array of gob_name */
    GOB_NAMES_FIXED,     /* data: rows of `width` bytes (UUIDs) */
    GOB_NAMES_PADDED,    /* the same without their trailing NULs (numpy S) */
    GOB_NAMES_OFFSETS32, /* bytes of data between int32 offsets (Arrow string, binary) */
    GOB_NAMES_OFFSETS64, /* between int64 offsets (Arrow large_string, large_binary) */
    GOB_NAMES_VIEWS, /* data: views of 16 bytes into `buffers` (Arrow string_view, binary_view) */
} gob_names_form;

typedef struct gob_names {
    gob_names_form form;
    size_t width;
    const uint8_t *data;
    const uint8_t *offsets;
    const uint8_t *const *buffers;
} gob_names;

/* A view: int32 length; up to 12 bytes in place, else int32 buffer and offset in the last eight. */
enum { GOB_VIEW_BYTES = 16, GOB_VIEW_IN_PLACE = 12 };

GOB_INLINE gob_name gob_name_of_view(const gob_names *c, const uint8_t *view)
{
    size_t len = gob_load32(view);
    return len <= GOB_VIEW_IN_PLACE
               ? (gob_name){view + 4, len}
               : (gob_name){c->buffers[gob_load32(view + 8)] + gob_load32(view + 12), len};
}

GOB_INLINE gob_name gob_name_unpadded(const uint8_t *at, size_t width)
{
    while (width != 0 && at[width - 1] == 0) {
        width--;
    }
    return (gob_name){at, width};
}

/* Row i. */
GOB_INLINE gob_name gob_names_at(const gob_names *c, size_t i)
{
    uint64_t from;
    switch (c->form) {
    case GOB_NAMES_FIXED:
        return (gob_name){c->data + i * c->width, c->width};
    case GOB_NAMES_PADDED:
        return gob_name_unpadded(c->data + i * c->width, c->width);
    case GOB_NAMES_OFFSETS32:
        from = gob_load32(c->offsets + 4 * i);
        return (gob_name){c->data + from, gob_load32(c->offsets + 4 * i + 4) - (size_t)from};
    case GOB_NAMES_OFFSETS64:
        from = gob_load64(c->offsets + 8 * i);
        return (gob_name){c->data + from, (size_t)(gob_load64(c->offsets + 8 * i + 8) - from)};
    case GOB_NAMES_VIEWS:
        return gob_name_of_view(c, c->data + GOB_VIEW_BYTES * i);
    case GOB_NAMES_LIST:
    default: {
        gob_name name;
        memcpy(&name, c->data + i * sizeof name, sizeof name);
        return name;
    }
    }
}

#endif
