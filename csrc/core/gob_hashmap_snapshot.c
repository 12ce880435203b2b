#include "gob_hashmap_snapshot.h"

#include "gob_check.h"

typedef struct options {
    uint8_t key; /* gob_datum_kind */
    uint8_t value;
    uint8_t encoding;
    uint8_t compact;
    uint32_t max_compact;
    uint64_t count;
} options;

_Static_assert(sizeof(options) == 16, "options are the same everywhere");

/* Writing */

static gob_status write_options(const gob_hashmap *h, gob_hashmap_kinds kinds, gob_writer *w)
{
    options o = {
        .key = kinds.key,
        .value = kinds.value,
        .encoding = h->encoding,
        .compact = h->compact || gob_hashmap_count(h) == 0,
        .max_compact = h->max_compact,
        .count = gob_hashmap_count(h),
    };
    GOB_TRY(gob_writer_section(w, GOB_SECTION_OPTIONS));
    return gob_write(w, &o, sizeof o);
}

/* Buckets show the seed and what was there before, so records go to the file without them. */
static gob_status write_blob(gob_hashmap *h, gob_writer *w)
{
    gob_fields records;
    gob_fields_init(&records, h->seed);
    GOB_TRY(gob_fields_build(&records, &h->alloc, gob_blob_next, &h->blob));
    gob_status status = gob_fields_save(&records, &h->alloc, NULL, false, w);
    gob_fields_free(&records, &h->alloc);
    return status;
}

gob_status gob_hashmap_save(gob_hashmap *h, gob_hashmap_kinds kinds, gob_sink *sink, void *to)
{
    gob_writer w;
    GOB_TRY(gob_hashmap_trust(h));
    GOB_TRY(gob_writer_begin(&w, GOB_SNAPSHOT_HASH, sink, to));
    GOB_TRY(write_options(h, kinds, &w));
    GOB_TRY(h->compact ? write_blob(h, &w) : gob_fields_save(h->fields, &h->alloc, NULL, true, &w));
    return gob_writer_end(&w);
}

/* Reading */

static gob_status read_options(const gob_reader *r, options *o, const char **why)
{
    gob_span file = gob_reader_section(r, GOB_SECTION_OPTIONS);
    GOB_EXPECT(r->kind == GOB_SNAPSHOT_HASH, gob_reader_what(r));
    GOB_EXPECT(file.size == sizeof *o && gob_reader_is_sound(r, GOB_SECTION_OPTIONS), "options");
    memcpy(o, file.at, sizeof *o);
    GOB_EXPECT(gob_datum_is_text(o->key), "kind of keys");
    GOB_EXPECT(o->value >= GOB_DATUM_STR && o->value <= GOB_DATUM_FLOAT64, "kind of values");
    GOB_EXPECT(o->encoding <= 1 && o->compact <= 1, "options");
    GOB_EXPECT(o->compact ? o->count <= o->max_compact : o->count != 0, "form");
    uint32_t sections = 1 << GOB_SECTION_OPTIONS;
    sections |= o->count != 0 ? 1 << GOB_SECTION_ARENA : 0;
    sections |= o->compact == 0 ? 1 << GOB_SECTION_TABLE : 0;
    GOB_EXPECT(gob_reader_has_only(r, sections), "sections");
    return GOB_OK;
}

/* Each entry is one that a hash of these kinds would have stored so. */
static gob_status check_entries(const gob_fields *view, const options *o, gob_pace *pace,
                                const char **why)
{
    size_t bytes;
    const uint8_t *at_record;
    for (size_t at = 0; (at_record = gob_fields_next(view, &at, &bytes)) != NULL;) {
        gob_record record = gob_record_read(at_record, bytes);
        GOB_EXPECT(gob_datum_is_sound((gob_datum_kind)o->key, record.field_kind, record.field,
                                      o->encoding != 0),
                   "a key that is none of its kind, or no UTF-8");
        GOB_EXPECT(gob_datum_is_sound((gob_datum_kind)o->value, record.value_kind, record.value,
                                      o->encoding != 0),
                   "a value that is none of its kind, or no UTF-8");
        GOB_TRY(gob_spend(pace, 1));
    }
    return GOB_OK;
}

static gob_status take_blob(gob_hashmap *h, const gob_fields *view, const char **why)
{
    gob_status status = gob_blob_build(&h->blob, &h->alloc, h->seed, gob_fields_next, view);
    GOB_EXPECT(status != GOB_TOO_LARGE, "entries beyond the compact form");
    return status;
}

static gob_status take_fields(gob_hashmap *h, const gob_fields *view)
{
    gob_fields *s = gob_malloc(&h->alloc, sizeof *s);
    if (s == NULL) {
        return GOB_NOMEM;
    }
    gob_fields_init(s, h->seed);
    h->fields = s;
    h->compact = false;
    if (!h->mapped) {
        return gob_fields_build(s, &h->alloc, gob_fields_next, view);
    }
    h->seed = GOB_SNAPSHOT_SEED;
    gob_fields_map(s, &h->alloc, view);
    return GOB_OK;
}

static gob_status load(gob_hashmap *h, const options *o, const gob_reader *r, const char **why)
{
    gob_fields view;
    bool compact = o->compact != 0;
    GOB_TRY(gob_fields_view(&view, r, (size_t)o->count, !compact, why));
    bool checks = compact || gob_reader_checks(r, h->mapped);
    if (checks) {
        GOB_TRY(gob_reader_check_all(r, why));
        GOB_TRY(gob_fields_check(&view, &h->alloc, why));
        GOB_TRY(check_entries(&view, o, r->pace, why));
    }
    view.doubt = (gob_doubt){!checks, o->key, o->value, h->encoding, h->encoding};
    GOB_TRY(compact ? take_blob(h, &view, why) : take_fields(h, &view));
    GOB_ASSERT(h->mapped || gob_hashmap_validate(h, why));
    return GOB_OK;
}

gob_status gob_hashmap_load(gob_hashmap *h, gob_hashmap_kinds *kinds, const gob_reader *r,
                            uint64_t seed, bool mapped, const char **why)
{
    options o;
    gob_hashmap_init(h, true, GOB_COMPACT_ALWAYS, seed);
    h->alloc.pace = r->pace;
    GOB_TRY(read_options(r, &o, why));
    *kinds = (gob_hashmap_kinds){o.key, o.value};
    h->encoding = o.encoding != 0;
    h->max_compact = o.max_compact;
    h->mapped = mapped;
    gob_status status = load(h, &o, r, why);
    if (status != GOB_OK) {
        gob_hashmap_clear(h);
    }
    return status;
}
