#include "gob_snapshot.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "snapshots lie in memory as in their files, which are little-endian"
#endif

enum { VERSION = 1, ALIGNMENT = 8 };

/* Bytes that are hashed between two looks at the host. */
enum { PIECE = 1 << 20 };

/* As in PNG: a byte that is no text, then line ends that a transfer as text would change. */
static const uint8_t magic[8] = {0x89, 'G', 'O', 'B', '\r', '\n', 0x1A, '\n'};

typedef struct head {
    uint8_t magic[8];
    uint32_t version;
    uint32_t kind;
} head;

typedef struct tail {
    uint64_t list; /* its offset */
    uint32_t sections;
    uint32_t unused;
    uint64_t checksum; /* of head, list and what is before it here */
    uint8_t magic[8];
} tail;

_Static_assert(sizeof(head) == 16 && sizeof(tail) == 32 && sizeof(gob_section_entry) == 32,
               "a file's structs have no padding");

static size_t filled_up(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t frame_checksum(const head *h, const gob_section_entry *list, const tail *t)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, h, sizeof *h);
    XXH3_64bits_update(&state, list, t->sections * sizeof *list);
    XXH3_64bits_update(&state, t, offsetof(tail, checksum));
    return XXH3_64bits_digest(&state);
}

/* Writing */

static gob_status put(gob_writer *w, const void *bytes, size_t n)
{
    w->at += n;
    return n == 0 || w->sink(w->to, bytes, n) ? GOB_OK : GOB_STOPPED;
}

static head head_of(uint32_t kind)
{
    head h = {.version = VERSION, .kind = kind};
    memcpy(h.magic, magic, sizeof magic);
    return h;
}

gob_status gob_writer_begin(gob_writer *w, gob_snapshot_kind kind, gob_sink *sink, void *to)
{
    head h = head_of((uint32_t)kind);
    w->sink = sink;
    w->to = to;
    w->at = 0;
    w->sections = 0;
    w->kind = (uint32_t)kind;
    return put(w, &h, sizeof h);
}

/* Fills the last section up and notes its checksum. */
static gob_status close_section(gob_writer *w)
{
    static const uint8_t zeros[ALIGNMENT];
    if (w->sections == 0) {
        return GOB_OK;
    }
    gob_section_entry *entry = &w->list[w->sections - 1];
    entry->size = w->at - entry->offset;
    GOB_TRY(gob_write(w, zeros, filled_up(entry->size) - entry->size));
    entry->checksum = XXH3_64bits_digest(&w->hash);
    return GOB_OK;
}

gob_status gob_writer_section(gob_writer *w, gob_section section)
{
    GOB_TRY(close_section(w));
    w->list[w->sections++] = (gob_section_entry){.section = (uint32_t)section, .offset = w->at};
    XXH3_64bits_reset(&w->hash);
    return GOB_OK;
}

gob_status gob_write(gob_writer *w, const void *bytes, size_t n)
{
    XXH3_64bits_update(&w->hash, bytes, n);
    return put(w, bytes, n);
}

gob_status gob_writer_end(gob_writer *w)
{
    GOB_TRY(close_section(w));
    head h = head_of(w->kind);
    tail t = {.list = w->at, .sections = w->sections};
    memcpy(t.magic, magic, sizeof magic);
    t.checksum = frame_checksum(&h, w->list, &t);
    GOB_TRY(put(w, w->list, w->sections * sizeof w->list[0]));
    return put(w, &t, sizeof t);
}

/* Reading */

/* Sections follow each other without a gap, up to the list, in ascending order of their numbers. */
static gob_status check_list(const gob_reader *r, const tail *t, const char **why)
{
    uint64_t end = sizeof(head);
    uint32_t last = 0;
    for (uint32_t i = 0; i < r->sections; i++) {
        const gob_section_entry *entry = &r->list[i];
        GOB_EXPECT(entry->section > last && entry->unused == 0, "list of sections");
        GOB_EXPECT(entry->offset == end && entry->size <= t->list - end &&
                       filled_up((size_t)entry->size) <= t->list - end,
                   "place of a section");
        last = entry->section;
        end += filled_up((size_t)entry->size);
    }
    GOB_EXPECT(end == t->list, "bytes between the sections and their list");
    return GOB_OK;
}

gob_status gob_reader_open(gob_reader *r, gob_span file, const char **why)
{
    head h;
    tail t;
    *r = (gob_reader){.file = file, .checked_max = GOB_CHECKED_MAX};
    GOB_EXPECT(file.size >= sizeof h && memcmp(file.at, magic, sizeof magic) == 0,
               "it does not begin as a snapshot");
    memcpy(&h, file.at, sizeof h);
    GOB_EXPECT(h.version == VERSION, "its version is not known here; a newer goblin may read it");
    GOB_EXPECT(file.size >= sizeof h + sizeof t, "it is cut off");
    memcpy(&t, file.at + file.size - sizeof t, sizeof t);
    GOB_EXPECT(memcmp(t.magic, magic, sizeof magic) == 0,
               "it does not end as a snapshot: it is cut off, or followed by something else");
    GOB_EXPECT(t.sections <= GOB_SECTIONS_MAX && t.list >= sizeof h &&
                   t.list <= file.size - sizeof t &&
                   file.size - sizeof t - t.list == t.sections * sizeof r->list[0],
               "place of the list of sections");
    memcpy(r->list, file.at + t.list, t.sections * sizeof r->list[0]);
    r->sections = t.sections;
    GOB_EXPECT(t.checksum == frame_checksum(&h, r->list, &t), "checksum of the list of sections");
    GOB_EXPECT(t.unused == 0 && h.kind >= GOB_SNAPSHOT_SORTED_SET &&
                   h.kind <= GOB_SNAPSHOT_HASH_TABLE,
               "kind of snapshot");
    r->kind = (gob_snapshot_kind)h.kind;
    return check_list(r, &t, why);
}

const char *gob_reader_what(const gob_reader *r)
{
    static const char *const names[] = {
        [GOB_SNAPSHOT_SORTED_SET] = "it is of a SortedSet",
        [GOB_SNAPSHOT_HASH] = "it is of a Hash",
        [GOB_SNAPSHOT_HASH_TABLE] = "it is of a HashTable",
    };
    return names[r->kind];
}

static const gob_section_entry *entry_of(const gob_reader *r, gob_section section)
{
    for (uint32_t i = 0; i < r->sections; i++) {
        if (r->list[i].section == (uint32_t)section) {
            return &r->list[i];
        }
    }
    return NULL;
}

gob_span gob_reader_section(const gob_reader *r, gob_section section)
{
    const gob_section_entry *entry = entry_of(r, section);
    return entry == NULL ? (gob_span){r->file.at, 0}
                         : (gob_span){r->file.at + entry->offset, (size_t)entry->size};
}

bool gob_reader_has_only(const gob_reader *r, uint32_t sections)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < r->sections; i++) {
        if (r->list[i].section > GOB_SECTION_SHAPES) {
            return false;
        }
        found |= UINT32_C(1) << r->list[i].section;
    }
    return found == sections;
}

static uint64_t checksum_of(const uint8_t *file, const gob_section_entry *entry)
{
    return XXH3_64bits(file + entry->offset, filled_up((size_t)entry->size));
}

bool gob_reader_is_sound(const gob_reader *r, gob_section section)
{
    const gob_section_entry *entry = entry_of(r, section);
    return entry == NULL || checksum_of(r->file.at, entry) == entry->checksum;
}

gob_status gob_reader_check_all(const gob_reader *r, const char **why)
{
    XXH3_state_t state;
    for (uint32_t i = 0; i < r->sections; i++) {
        const uint8_t *at = r->file.at + r->list[i].offset;
        size_t left = filled_up((size_t)r->list[i].size);
        XXH3_64bits_reset(&state);
        for (size_t n; left != 0; at += n, left -= n) {
            n = left < PIECE ? left : PIECE;
            GOB_TRY(gob_spend(r->pace, n / 64)); /* as long as with a member */
            XXH3_64bits_update(&state, at, n);
        }
        GOB_EXPECT(XXH3_64bits_digest(&state) == r->list[i].checksum, "checksum of its content");
    }
    return GOB_OK;
}

void gob_snapshot_reseal(uint8_t *file, size_t size)
{
    gob_section_entry list[GOB_SECTIONS_MAX];
    head h;
    tail t;
    if (size < sizeof h + sizeof t) {
        return;
    }
    size_t end = size - sizeof t;
    memcpy(&h, file, sizeof h);
    memcpy(&t, file + end, sizeof t);
    if (t.sections > GOB_SECTIONS_MAX || t.list > end ||
        end - t.list < t.sections * sizeof list[0]) {
        return;
    }
    memcpy(list, file + t.list, t.sections * sizeof list[0]);
    for (uint32_t i = 0; i < t.sections; i++) {
        if (list[i].offset <= end && list[i].size <= end - list[i].offset &&
            filled_up((size_t)list[i].size) <= end - list[i].offset) {
            list[i].checksum = checksum_of(file, &list[i]);
        }
    }
    t.checksum = frame_checksum(&h, list, &t);
    memcpy(file + t.list, list, t.sections * sizeof list[0]);
    memcpy(file + end, &t, sizeof t);
}
