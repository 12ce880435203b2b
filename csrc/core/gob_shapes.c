#include "gob_shapes.h"

#include "gob_check.h"

void gob_shapes_init(gob_shapes *s, uint64_t seed)
{
    gob_intern_init(&s->names, seed);
    gob_intern_init(&s->shapes, gob_reseed(seed));
}

void gob_shapes_free(gob_shapes *s, gob_alloc *a)
{
    gob_intern_free(&s->names, a);
    gob_intern_free(&s->shapes, a);
}

gob_status gob_shapes_copy(gob_shapes *dst, gob_alloc *a, const gob_shapes *src)
{
    GOB_TRY(gob_intern_copy(&dst->names, a, &src->names));
    gob_status status = gob_intern_copy(&dst->shapes, a, &src->shapes);
    if (status != GOB_OK) {
        gob_intern_free(&dst->names, a);
    }
    return status;
}

gob_status gob_shapes_hold(gob_shapes *s, gob_alloc *a, const uint32_t *fields, size_t n,
                           uint32_t *number)
{
    gob_name bytes = {(const uint8_t *)fields, n * sizeof *fields};
    GOB_TRY(gob_intern_hold(&s->shapes, a, bytes, number));
    bool is_new = s->shapes.items[*number].uses == 1;
    for (size_t i = 0; is_new && i < n; i++) {
        s->names.items[fields[i]].uses++;
    }
    return GOB_OK;
}

void gob_shapes_drop(gob_shapes *s, gob_alloc *a, uint32_t number)
{
    bool is_last = s->shapes.items[number].uses == 1;
    gob_shape shape = gob_shapes_at(s, number);
    for (size_t i = 0; is_last && i < shape.count; i++) {
        (void)gob_intern_drop(&s->names, a, shape.fields[i]);
    }
    (void)gob_intern_drop(&s->shapes, a, number);
}

gob_shape gob_shapes_at(const gob_shapes *s, uint32_t number)
{
    gob_name bytes = gob_intern_at(&s->shapes, number);
    /* The allocator aligns them for any type. */
    const void *fields = bytes.at;
    return (gob_shape){fields, bytes.len / sizeof(uint32_t)};
}

size_t gob_shape_place(gob_shape shape, uint32_t field)
{
    size_t from = 0;
    size_t to = shape.count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (shape.fields[middle] < field) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from < shape.count && shape.fields[from] == field ? from : GOB_NO_PLACE;
}

gob_status gob_shapes_pack(const gob_shapes *s, gob_alloc *a, gob_shapes_packing *p)
{
    GOB_TRY(gob_intern_pack(&s->names, a, &p->names));
    gob_status status = gob_intern_pack(&s->shapes, a, &p->shapes);
    if (status != GOB_OK) {
        gob_intern_leave(&s->names, a, &p->names);
    }
    return status;
}

void gob_shapes_take(gob_shapes *s, gob_alloc *a, gob_shapes_packing *p)
{
    for (size_t i = 0; i < gob_intern_count(&s->shapes); i++) {
        const gob_interned *shape = &p->shapes.items[i];
        uint32_t *fields = (uint32_t *)(void *)shape->bytes;
        for (size_t k = 0; k < shape->len / sizeof *fields; k++) {
            fields[k] = p->names.numbers[fields[k]];
        }
    }
    gob_intern_take(&s->names, a, &p->names);
    gob_intern_take(&s->shapes, a, &p->shapes);
}

void gob_shapes_leave(const gob_shapes *s, gob_alloc *a, gob_shapes_packing *p)
{
    gob_intern_leave(&s->names, a, &p->names);
    gob_intern_leave(&s->shapes, a, &p->shapes);
}

size_t gob_shapes_waste(const gob_shapes *s)
{
    return gob_intern_waste(&s->names) + gob_intern_waste(&s->shapes);
}

size_t gob_shapes_bytes(const gob_shapes *s)
{
    return gob_intern_bytes(&s->names) + gob_intern_bytes(&s->shapes);
}

static bool validate_shape(const gob_shapes *s, gob_shape shape, const char **why)
{
    for (size_t i = 0; i < shape.count; i++) {
        GOB_DEMAND(i == 0 || shape.fields[i - 1] < shape.fields[i], "shapes: order of fields");
        GOB_DEMAND(shape.fields[i] < s->names.count && s->names.items[shape.fields[i]].uses != 0,
                   "shapes: a field that is not there");
    }
    return true;
}

bool gob_shapes_validate(const gob_shapes *s, const char **why)
{
    if (!gob_intern_validate(&s->names, why) || !gob_intern_validate(&s->shapes, why)) {
        return false;
    }
    uint64_t places = 0;
    uint64_t uses = 0;
    for (uint32_t i = 0; i < s->shapes.count; i++) {
        if (s->shapes.items[i].uses != 0) {
            gob_shape shape = gob_shapes_at(s, i);
            if (!validate_shape(s, shape, why)) {
                return false;
            }
            places += shape.count;
        }
    }
    for (uint32_t i = 0; i < s->names.count; i++) {
        uses += s->names.items[i].uses;
    }
    GOB_DEMAND(places == uses, "shapes: uses of the fields");
    return true;
}
