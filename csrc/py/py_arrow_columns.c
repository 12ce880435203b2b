/* What an Arrow column holds, checked. */
#include "py_arrow.h"

#include "py_uuid.h"

#include "gob_utf8.h"

static const gob_arrow_type types[] = {
    {"u", GOB_NAMES_OFFSETS32, true, 0, 0, false, false},
    {"U", GOB_NAMES_OFFSETS64, true, 0, 0, false, false},
    {"vu", GOB_NAMES_VIEWS, true, 0, 0, false, false},
    {"z", GOB_NAMES_OFFSETS32, false, 0, 0, false, false},
    {"Z", GOB_NAMES_OFFSETS64, false, 0, 0, false, false},
    {"vz", GOB_NAMES_VIEWS, false, 0, 0, false, false},
    {"n", GOB_NAMES_LIST, false, 0, 0, false, false},
};

static bool find_type(const char *format, gob_arrow_type *out)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(format, types[i].format) == 0) {
            *out = types[i];
            return true;
        }
    }
    if (format[0] != 'w' || format[1] != ':') {
        return false;
    }
    char *end;
    long width = strtol(format + 2, &end, 10);
    *out = (gob_arrow_type){"w", GOB_NAMES_FIXED, false, (size_t)width, 0, false, false};
    return width > 0 && width <= INT32_MAX && *end == 0;
}

static bool suits(const gob_arrow_type *type, gob_kind kind)
{
    if (type->form == GOB_NAMES_LIST) {
        return true;
    }
    return kind == GOB_UUID ? type->width == 0 || type->width == GOB_UUID_BYTES
                            : type->is_text == (kind == GOB_STR);
}

const char *gob_arrow_values(const gob_arrow_schema *schema)
{
    const gob_arrow_schema *values = schema->dictionary;
    return values == NULL               ? schema->format
           : values->dictionary == NULL ? values->format
                                        : "dictionary of dictionaries";
}

bool gob_arrow_find_index(const char *format, gob_arrow_type *out)
{
    static const char formats[] = "cCsSiIlL"; /* int8, uint8, ... uint64 */
    const char *found = format[0] == 0 || format[1] != 0 ? NULL : strchr(formats, format[0]);
    size_t at = found == NULL ? 0 : (size_t)(found - formats);
    out->index_bytes = (size_t)1 << at / 2;
    out->index_signed = at % 2 == 0;
    return found != NULL;
}

/* Types that no column of ours has, by how their formats begin. */
static const char *stranger_of(const char *format)
{
    static const char *const words[][2] = {
        {"d:", "decimal"},
        {"td", "date"},
        {"tt", "time"},
        {"ts", "timestamp"},
        {"tD", "duration"},
        {"ti", "interval"},
        {"+l", "list"},
        {"+L", "large_list"},
        {"+v", "list"},
        {"+w", "fixed_size_list"},
        {"+s", "struct; choose one of its columns"},
        {"+m", "map"},
        {"+u", "union"},
        {"+r", "run_end_encoded"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(format, words[i][0], 2) == 0) {
            return words[i][1];
        }
    }
    return format;
}

static const char *kind_of(const char *format)
{
    static const char formats[] = "bcCsSiIlLefguUzZn";
    static const char *const kinds[] = {
        "bool",    "int8",    "uint8",   "int16", "uint16", "int32", "uint32", "int64", "uint64",
        "float16", "float32", "float64", "str",   "str",    "bytes", "bytes",  "null"};
    const char *found = format[0] == 0 || format[1] != 0 ? NULL : strchr(formats, format[0]);
    gob_arrow_type type;
    if (found != NULL) {
        return kinds[found - formats];
    }
    if (!find_type(format, &type)) {
        return stranger_of(format);
    }
    return type.is_text ? "str" : type.width == GOB_UUID_BYTES ? "uuid" : "bytes";
}

int gob_arrow_find_type(const gob_arrow_schema *schema, gob_kind kind, gob_arrow_type *out)
{
    const char *format = gob_arrow_values(schema);
    if (!find_type(format, out) || !suits(out, kind) ||
        (schema->dictionary != NULL && !gob_arrow_find_index(schema->format, out))) {
        bool number = kind == GOB_STR && gob_arrow_dtype(format) >= 0;
        PyErr_Format(PyExc_TypeError, "%s can't come from an Arrow column of type %s%s",
                     gob_kind_word(kind), kind_of(format),
                     number ? "; a cast to str makes text of it" : "");
        return -1;
    }
    return 0;
}

int gob_arrow_refuse(const char *fault)
{
    PyErr_Format(PyExc_ValueError, "the Arrow column is damaged: %s", fault);
    return -1;
}

int gob_arrow_refuse_nulls(void)
{
    PyErr_SetString(PyExc_ValueError, "nulls have no value; leave them out");
    return -1;
}

bool gob_arrow_holds_nulls(const gob_arrow_array *a)
{
    if (gob_arrow_bitmap(a) == NULL) {
        return a->null_count > 0;
    }
    for (size_t i = 0; i < (size_t)a->length; i++) {
        if (gob_arrow_is_null(a, i)) {
            return true;
        }
    }
    return false;
}

bool gob_arrow_has_nulls(const gob_arrow_type *type, const gob_arrow_array *a)
{
    return type->form == GOB_NAMES_LIST || gob_arrow_holds_nulls(a);
}

static int64_t offset_at(const gob_names *c, size_t i)
{
    return c->form == GOB_NAMES_OFFSETS32 ? (int32_t)gob_load32(c->offsets + 4 * i)
                                          : (int64_t)gob_load64(c->offsets + 8 * i);
}

static int check_offsets(const gob_names *c, size_t count)
{
    int64_t last = offset_at(c, 0);
    if (last < 0) {
        return gob_arrow_refuse("an offset is negative");
    }
    for (size_t i = 1; i <= count; i++) {
        int64_t next = offset_at(c, i);
        if (next < last) {
            return gob_arrow_refuse("offsets descend");
        }
        last = next;
    }
    return last != 0 && c->data == NULL ? gob_arrow_refuse("it has no data") : 0;
}

static int check_view(const gob_names *c, const uint8_t *view, const int64_t *sizes, int64_t count)
{
    int32_t len = (int32_t)gob_load32(view);
    int32_t buffer = (int32_t)gob_load32(view + 8);
    int32_t from = (int32_t)gob_load32(view + 12);
    if (len >= 0 && len <= GOB_VIEW_IN_PLACE) {
        return 0;
    }
    if (len < 0 || buffer < 0 || buffer >= count || c->buffers[buffer] == NULL || from < 0 ||
        from > sizes[buffer] - len) {
        return gob_arrow_refuse("a view leaves its buffer");
    }
    return 0;
}

static int check_views(const gob_names *c, size_t count, const gob_arrow_array *a)
{
    const int64_t *sizes = a->buffers[a->buffer_count - 1];
    int64_t buffers = sizes == NULL ? 0 : a->buffer_count - 3;
    for (size_t i = 0; i < count; i++) {
        if (check_view(c, c->data + i * GOB_VIEW_BYTES, sizes, buffers) < 0) {
            return -1;
        }
    }
    return 0;
}

static int check_text(gob_name text)
{
    if (GOB_UNLIKELY(!gob_utf8_valid(text.at, text.len))) {
        PyObject *raises = PyUnicode_DecodeUTF8((const char *)text.at, (Py_ssize_t)text.len, NULL);
        Py_XDECREF(raises);
        return -1;
    }
    return 0;
}

int gob_names_check_text(const gob_names *c, size_t count)
{
    if (c->form != GOB_NAMES_VIEWS) {
        int64_t first = offset_at(c, 0);
        int64_t end = offset_at(c, count);
        if (first == end || gob_utf8_ascii(c->data + first, (size_t)(end - first))) {
            return 0;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (check_text(gob_names_at(c, i)) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Buffers of an array, and that they are as many as its type has. */
static int find_buffers(const gob_arrow_type *type, const gob_arrow_array *a, gob_names *out)
{
    bool views = type->form == GOB_NAMES_VIEWS;
    int64_t wanted = type->form == GOB_NAMES_FIXED ? 2 : 3;
    if (a->buffers == NULL || (views ? a->buffer_count < wanted : a->buffer_count != wanted)) {
        return gob_arrow_refuse("wrong number of buffers");
    }
    *out = (gob_names){.form = type->form, .width = type->width};
    if (a->length == 0) {
        return 0;
    }
    const uint8_t *rows = a->buffers[1];
    size_t from = (size_t)a->offset;
    if (rows == NULL) {
        return gob_arrow_refuse("it has no rows");
    }
    if (type->form == GOB_NAMES_OFFSETS32 || type->form == GOB_NAMES_OFFSETS64) {
        out->offsets = rows + from * (type->form == GOB_NAMES_OFFSETS32 ? 4 : 8);
        out->data = a->buffers[2];
    } else {
        out->data = rows + from * (views ? GOB_VIEW_BYTES : type->width);
        out->buffers = views ? (const uint8_t *const *)(a->buffers + 2) : NULL;
    }
    return 0;
}

static int check_counts(const gob_arrow_array *a, size_t width)
{
    int64_t limit = PY_SSIZE_T_MAX / (int64_t)(width < GOB_VIEW_BYTES ? GOB_VIEW_BYTES : width);
    return a->length < 0 || a->offset < 0 || a->length > limit || a->offset > limit - a->length
               ? gob_arrow_refuse("impossible length")
               : 0;
}

/* All but nulls and what rows hold. */
static int check_layout(const gob_arrow_type *type, const gob_arrow_array *a, gob_names *out)
{
    if (check_counts(a, type->width) < 0 || find_buffers(type, a, out) < 0) {
        return -1;
    }
    bool offsets = type->width == 0 && type->form != GOB_NAMES_VIEWS;
    return offsets && a->length != 0 ? check_offsets(out, (size_t)a->length) : 0;
}

int gob_arrow_column(const gob_arrow_type *type, const gob_arrow_array *a, gob_names *out)
{
    if (type->form == GOB_NAMES_LIST) {
        *out = (gob_names){.form = GOB_NAMES_LIST};
        return a->length == 0 ? 0 : gob_arrow_refuse_nulls();
    }
    if (check_layout(type, a, out) < 0) {
        return -1;
    }
    size_t count = (size_t)a->length;
    if (count == 0) {
        return 0;
    }
    if (gob_arrow_holds_nulls(a)) {
        return gob_arrow_refuse_nulls();
    }
    if (type->form == GOB_NAMES_VIEWS && check_views(out, count, a) < 0) {
        return -1;
    }
    return type->is_text ? gob_names_check_text(out, count) : 0;
}

/* Of a null no more is known than that its offsets ascend. */
static int check_row(const gob_arrow_type *type, const gob_names *c, size_t i,
                     const gob_arrow_array *a)
{
    if (type->form == GOB_NAMES_VIEWS) {
        const int64_t *sizes = a->buffers[a->buffer_count - 1];
        int64_t buffers = sizes == NULL ? 0 : a->buffer_count - 3;
        if (check_view(c, c->data + i * GOB_VIEW_BYTES, sizes, buffers) < 0) {
            return -1;
        }
    }
    return type->is_text ? check_text(gob_names_at(c, i)) : 0;
}

int gob_arrow_list(const gob_arrow_type *type, const gob_arrow_array *a, gob_name *out)
{
    gob_names column;
    bool none = type->form == GOB_NAMES_LIST;
    if (!none && (check_layout(type, a, &column) < 0)) {
        return -1;
    }
    for (size_t i = 0; i < (size_t)a->length; i++) {
        if (none || gob_arrow_is_null(a, i)) {
            out[i] = (gob_name){NULL, 0};
        } else if (check_row(type, &column, i, a) < 0) {
            return -1;
        } else {
            out[i] = gob_names_at(&column, i);
        }
    }
    return 0;
}

int gob_arrow_fixed(const gob_arrow_array *a, size_t width, const uint8_t **out)
{
    const gob_arrow_type type = {.form = GOB_NAMES_FIXED, .width = width};
    gob_names column;
    if (check_layout(&type, a, &column) < 0) {
        return -1;
    }
    *out = column.data;
    return 0;
}

int gob_arrow_indices(const gob_arrow_type *type, const gob_arrow_array *a, const uint8_t **out)
{
    if (a->dictionary == NULL) {
        return gob_arrow_refuse("it has no dictionary");
    }
    if (gob_arrow_fixed(a, type->index_bytes, out) < 0) {
        return -1;
    }
    bool refused = a->length != 0 && !type->nulls && gob_arrow_holds_nulls(a);
    return refused ? gob_arrow_refuse_nulls() : 0;
}

/* A negative index becomes one that is too large. */
static uint64_t load_index(const gob_arrow_type *type, const uint8_t *at)
{
    switch (type->index_bytes) {
    case 1:
        return type->index_signed ? (uint64_t)(int8_t)*at : *at;
    case 2:
        return type->index_signed ? (uint64_t)(int16_t)gob_load16(at) : gob_load16(at);
    case 4:
        return type->index_signed ? (uint64_t)(int32_t)gob_load32(at) : gob_load32(at);
    default:
        return gob_load64(at);
    }
}

int gob_arrow_index(const gob_arrow_type *type, const gob_arrow_array *a, const uint8_t *indices,
                    size_t i, size_t *place)
{
    uint64_t index = load_index(type, indices + i * type->index_bytes);
    if (index >= (uint64_t)a->dictionary->length) {
        return gob_arrow_refuse("an index leaves the dictionary");
    }
    *place = (size_t)index;
    return 0;
}

const char *gob_arrow_kind(const gob_arrow_schema *schema)
{
    return kind_of(gob_arrow_values(schema));
}
