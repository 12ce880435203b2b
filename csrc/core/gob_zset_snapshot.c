#include "gob_zset_snapshot.h"

#include "gob_order_snapshot.h"
#include "gob_pages_snapshot.h"
#include "gob_zset_check.h"

typedef struct options {
    uint8_t member; /* gob_member_kind */
    uint8_t score_bytes;
    uint8_t compress;
    uint8_t zero;
    float merge_exponent;
    uint64_t count;
    uint64_t kept;    /* members of the table, or names */
    uint64_t dead;    /* bytes of free records of names */
    uint8_t form;     /* of the scores of names */
    uint8_t id_bytes; /* of names, or 0 */
    uint8_t unused[6];
} options;

_Static_assert(sizeof(options) == 40, "options are the same everywhere");

/* Writing */

static gob_status write_options(const gob_zset *z, gob_member_kind kind, gob_writer *w)
{
    const gob_index *ix = &z->index;
    options o;
    memset(&o, 0, sizeof o);
    o.member = (uint8_t)kind;
    o.score_bytes = ix->score_bytes;
    o.compress = z->compress;
    o.merge_exponent = z->merge_exponent;
    o.count = ix->live;
    o.kept = ix->named ? ix->members.records : ix->table.live;
    o.dead = ix->named ? ix->members.arena.dead : 0;
    o.form = ix->named ? ix->members.form : 0;
    o.id_bytes = ix->named ? ix->table.member_bytes : 0;
    GOB_TRY(gob_writer_section(w, GOB_SECTION_OPTIONS));
    return gob_write(w, &o, sizeof o);
}

static gob_status write_table(const gob_table *t, gob_alloc *a, gob_writer *w)
{
    gob_table laid;
    if (t->live == 0) {
        return GOB_OK;
    }
    GOB_TRY(gob_table_relaid(t, a, GOB_SNAPSHOT_SEED, &laid));
    gob_status status = gob_writer_section(w, GOB_SECTION_TABLE);
    status = status == GOB_OK ? gob_write(w, laid.ctrl, gob_table_bytes(&laid)) : status;
    gob_table_free(&laid, a);
    return status;
}

static gob_status write_index(gob_zset *z, gob_writer *w)
{
    if (z->index.named) {
        return gob_members_save(&z->index.members, &z->alloc, w);
    }
    GOB_TRY(write_table(&z->index.table, &z->alloc, w));
    return gob_pages_save(&z->index.pages, &z->alloc, w);
}

gob_status gob_zset_save(gob_zset *z, gob_member_kind kind, gob_sink *sink, void *to)
{
    gob_writer w;
    const char *why;
    GOB_TRY(gob_zset_trust(z, &why));
    if (z->order != NULL) {
        GOB_TRY(gob_zset_sync(z));
    }
    GOB_TRY(gob_writer_begin(&w, GOB_SNAPSHOT_SORTED_SET, sink, to));
    GOB_TRY(write_options(z, kind, &w));
    GOB_TRY(write_index(z, &w));
    if (z->order != NULL && z->order->count != 0) {
        GOB_TRY(gob_order_save(z->order, &w));
    }
    return gob_writer_end(&w);
}

/* Reading */

/* The sections that such a file has, each as a bit. */
static uint32_t sections_of(const gob_reader *r, const options *o)
{
    bool named = o->member >= GOB_MEMBER_STR;
    bool table = o->kept > (named ? GOB_SMALL_MAX : 0);
    bool pages = !named && gob_reader_section(r, GOB_SECTION_PAGE_HEADS).size != 0;
    bool order = gob_reader_section(r, GOB_SECTION_BLOCK_HEADS).size != 0;
    return 1U << GOB_SECTION_OPTIONS | (uint32_t)table << GOB_SECTION_TABLE |
           (uint32_t)named << GOB_SECTION_ARENA | (uint32_t)pages << GOB_SECTION_PAGE_HEADS |
           (uint32_t)pages << GOB_SECTION_PAGES | (uint32_t)order << GOB_SECTION_BLOCK_HEADS |
           (uint32_t)order << GOB_SECTION_BLOCKS;
}

static gob_status read_options(const gob_reader *r, options *o, const char **why)
{
    static const uint8_t zeros[sizeof o->unused];
    gob_span file = gob_reader_section(r, GOB_SECTION_OPTIONS);
    GOB_EXPECT(r->kind == GOB_SNAPSHOT_SORTED_SET, gob_reader_what(r));
    GOB_EXPECT(file.size == sizeof *o && gob_reader_is_sound(r, GOB_SECTION_OPTIONS), "options");
    memcpy(o, file.at, sizeof *o);
    bool named = o->member >= GOB_MEMBER_STR;
    GOB_EXPECT(o->member >= GOB_MEMBER_INT32 && o->member <= GOB_MEMBER_UUID, "kind of members");
    GOB_EXPECT(o->score_bytes == 4 || o->score_bytes == 8, "width of scores");
    GOB_EXPECT(o->compress <= 1 && o->zero == 0 && o->form <= (named ? GOB_FORM_FLOAT : 0) &&
                   memcmp(o->unused, zeros, sizeof zeros) == 0,
               "options");
    GOB_EXPECT(named || o->dead == 0, "bytes of free records");
    GOB_EXPECT(named ? o->id_bytes == 4 || o->id_bytes == 8 : o->id_bytes == 0, "width of ids");
    GOB_EXPECT(o->merge_exponent >= 0 && o->merge_exponent <= 1, "merge_exponent");
    GOB_EXPECT(o->count < UINT64_C(1) << 48 && o->kept <= o->count && o->kept <= r->file.size,
               "count of members");
    GOB_EXPECT(gob_reader_has_only(r, sections_of(r, o)), "sections");
    return GOB_OK;
}

static gob_layout layout_of(const options *o)
{
    bool named = o->member >= GOB_MEMBER_STR;
    return (gob_layout){
        .member_bytes = named                           ? o->id_bytes
                        : o->member == GOB_MEMBER_INT32 ? 4
                                                        : 8,
        .score_bytes = o->score_bytes,
        .compress = o->compress != 0,
        .named = named,
        .fixed = o->member == GOB_MEMBER_UUID ? 16 : 0,
    };
}

/* The table of a file. */
static gob_status view_table(const gob_zset *z, const gob_reader *r, const options *o,
                             gob_table *view, const char **why)
{
    gob_span file = gob_reader_section(r, GOB_SECTION_TABLE);
    gob_table_init(view, z->index.table.member_bytes, o->score_bytes, GOB_SNAPSHOT_SEED);
    view->capacity = gob_table_capacity_for((size_t)o->kept, true);
    view->live = (size_t)o->kept;
    GOB_EXPECT(gob_table_bytes(view) == file.size, "bytes of the table");
    view->ctrl = (uint8_t *)(uintptr_t)file.at;
    GOB_EXPECT(gob_table_ends(view), "slots of the table");
    return GOB_OK;
}

static gob_status load_ints(gob_zset *z, const gob_reader *r, const options *o, bool mapped,
                            const char **why)
{
    gob_table view;
    gob_table *t = &z->index.table;
    GOB_TRY(view_table(z, r, o, &view, why));
    if (mapped) {
        *t = view;
    } else if (view.live != 0) {
        bool good = gob_table_validate(&view, z->alloc.pace, why);
        GOB_TRY(gob_verdict(good, *why));
        GOB_TRY(gob_table_resized(t, &z->alloc, view.live, true, t));
        GOB_TRY(gob_table_insert_all(t, &view, z->alloc.pace));
    }
    GOB_TRY(gob_pages_load(&z->index.pages, &z->alloc, r, view.member_bytes, mapped, why));
    GOB_EXPECT(gob_index_counted(&z->index) == o->count, "count of members");
    return GOB_OK;
}

static gob_status load_order(gob_zset *z, const gob_reader *r, bool mapped, const char **why)
{
    if (gob_reader_section(r, GOB_SECTION_BLOCK_HEADS).size == 0) {
        return GOB_OK;
    }
    z->order = gob_malloc(&z->alloc, sizeof *z->order);
    if (z->order == NULL) {
        return GOB_NOMEM;
    }
    gob_order_init(z->order, gob_zset_layout(z), gob_zset_names(z));
    return gob_order_load(z->order, &z->alloc, r, mapped, why);
}

static gob_status load_names(gob_zset *z, uint64_t seed, const gob_reader *r, const options *o,
                             const char **why)
{
    gob_members *m = &z->index.members;
    GOB_TRY(gob_members_load_arena(m, &z->alloc, gob_reader_section(r, GOB_SECTION_ARENA)));
    size_t bytes = gob_members_starts_bytes(m);
    uint64_t *starts = gob_calloc(&z->alloc, bytes);
    if (starts == NULL) {
        return GOB_NOMEM;
    }
    gob_status status = gob_members_load(m, &z->alloc, r, starts, (size_t)o->kept, why);
    status = status == GOB_OK ? load_order(z, r, false, why) : status;
    status = status == GOB_OK ? gob_zset_check(z, starts, seed, why) : status;
    gob_free(&z->alloc, starts, bytes);
    return status;
}

static void note_mapped(gob_zset *z, const gob_reader *r)
{
    static const gob_section parts[] = {GOB_SECTION_TABLE, GOB_SECTION_ARENA, GOB_SECTION_PAGES,
                                        GOB_SECTION_BLOCKS};
    z->mapped = 1;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        z->mapped += gob_reader_section(r, parts[i]).size;
    }
    gob_alloc_count(&z->alloc, z->mapped - 1);
}

static gob_status load_parts(gob_zset *z, uint64_t seed, const gob_reader *r, const options *o,
                             bool mapped, const char **why)
{
    gob_index *ix = &z->index;
    ix->live = o->count & ((UINT64_C(1) << 48) - 1);
    if (!ix->named) {
        GOB_TRY(load_ints(z, r, o, mapped, why));
        GOB_TRY(load_order(z, r, mapped, why));
    } else {
        ix->members.form = o->form;
        ix->members.table.member_bytes = o->id_bytes;
        GOB_EXPECT(o->kept == o->count, "count of names");
        if (mapped) {
            GOB_TRY(gob_members_map(&ix->members, r, (size_t)o->kept, why));
            ix->members.arena.dead = (size_t)o->dead;
            GOB_TRY(load_order(z, r, mapped, why));
        } else {
            GOB_TRY(load_names(z, seed, r, o, why));
        }
    }
    GOB_EXPECT(!ix->named || o->dead == ix->members.arena.dead, "bytes of free records");
    GOB_EXPECT(z->order == NULL || z->order->count == ix->live, "members in the order");
    return GOB_OK;
}

static gob_status load(gob_zset *z, gob_member_kind *kind, const gob_reader *r, uint64_t seed,
                       bool mapped, const char **why)
{
    options o;
    GOB_TRY(read_options(r, &o, why));
    gob_zset_init(z, layout_of(&o), o.merge_exponent, seed);
    z->alloc.pace = r->pace;
    *kind = (gob_member_kind)o.member;
    if (mapped) {
        note_mapped(z, r);
    }
    gob_status status = load_parts(z, seed, r, &o, mapped, why);
    z->doubted = status == GOB_OK && !gob_reader_checks(r, mapped);
    if (z->doubted && gob_zset_is_synced(z) && z->order == NULL) {
        status = gob_zset_trust(z, why); /* ordered reads of few members go over all of them */
    }
    bool checked = z->index.named && !mapped; /* as its ids are known only then */
    if (status == GOB_OK && !checked && gob_reader_checks(r, mapped)) {
        status = gob_zset_check(z, NULL, seed, why);
    }
    if (status != GOB_OK) {
        gob_zset_clear(z);
    }
    return status;
}

gob_status gob_zset_load(gob_zset *z, gob_member_kind *kind, const gob_reader *r, uint64_t seed,
                         bool mapped, const char **why)
{
    gob_zset_init(z, (gob_layout){.member_bytes = 8, .score_bytes = 8}, 1.0F, seed);
    z->alloc.pace = r->pace;
    if (gob_reader_checks(r, mapped)) {
        GOB_TRY(gob_reader_check_all(r, why));
        GOB_TRY(load(z, kind, r, seed, false, why));
        if (!mapped) {
            return GOB_OK;
        }
        gob_zset_clear(z);
    } else {
        GOB_EXPECT(gob_reader_is_sound(r, GOB_SECTION_PAGE_HEADS) &&
                       gob_reader_is_sound(r, GOB_SECTION_BLOCK_HEADS),
                   "checksum of its heads");
    }
    return load(z, kind, r, GOB_SNAPSHOT_SEED, true, why);
}
