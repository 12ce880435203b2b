/* Snapshots: what docs/format.md describes, as sections of bytes with checksums.
 *
 * A file is [head][section]...[list of sections][tail], little-endian. Sections begin at multiples
 * of eight bytes, filled up with zeros, which their checksums (XXH3, 64 bits) cover. The tail has
 * the checksum of head, list and tail, so that every bit is covered by one checksum.
 *
 * A writer gives its bytes to a sink as they come; a reader looks at bytes that are all there, and
 * trusts none. */
#ifndef GOB_SNAPSHOT_H
#define GOB_SNAPSHOT_H

#include "gob_hash.h"
#include "gob_pace.h"

typedef enum gob_snapshot_kind {
    GOB_SNAPSHOT_SORTED_SET = 1,
    GOB_SNAPSHOT_HASH = 2,
    GOB_SNAPSHOT_HASH_TABLE = 3,
} gob_snapshot_kind;

/* What sections hold; numbers are never used again for something else. */
typedef enum gob_section {
    GOB_SECTION_OPTIONS = 1,
    GOB_SECTION_TABLE = 2,
    GOB_SECTION_ARENA = 3,
    GOB_SECTION_PAGE_HEADS = 4,
    GOB_SECTION_PAGES = 5,
    GOB_SECTION_BLOCK_HEADS = 6,
    GOB_SECTION_BLOCKS = 7,
    GOB_SECTION_NAMES = 8,
    GOB_SECTION_SHAPES = 9,
} gob_section;

enum { GOB_SECTIONS_MAX = 8 };

/* Files up to this size are checked as a whole before they are mapped, which takes a few
 * milliseconds. Of larger ones only what is read at once is; so whatever else they hold, each read
 * of an object that is mapped has to stay in its file, and to end. */
enum { GOB_CHECKED_MAX = 4 << 20 };

/* Tables in files are laid out for this seed, so that the same content gives the same bytes. It is
 * no secret, so those who copy a table give it a seed of their own. */
#define GOB_SNAPSHOT_SEED UINT64_C(0x9E6F0B1D5A4C3E27)

/* Bytes in memory, in a file. */
typedef struct gob_span {
    const uint8_t *at;
    size_t size;
} gob_span;

/* Where written bytes go; false stops the writing. */
typedef bool gob_sink(void *to, const void *bytes, size_t n);

/* A section as the list has it, and in the same bytes. */
typedef struct gob_section_entry {
    uint32_t section;
    uint32_t unused;
    uint64_t offset;
    uint64_t size;
    uint64_t checksum;
} gob_section_entry;

typedef struct gob_writer {
    gob_sink *sink;
    void *to;
    uint64_t at; /* bytes written */
    gob_section_entry list[GOB_SECTIONS_MAX];
    uint32_t sections;
    uint32_t kind;
    XXH3_state_t hash; /* of the section that is being written */
} gob_writer;

/* Each returns GOB_STOPPED where the sink did. */
gob_status gob_writer_begin(gob_writer *w, gob_snapshot_kind kind, gob_sink *sink, void *to);
gob_status gob_writer_section(gob_writer *w, gob_section section);
gob_status gob_write(gob_writer *w, const void *bytes, size_t n);
gob_status gob_writer_end(gob_writer *w);

typedef struct gob_reader {
    gob_span file;  /* from a multiple of eight bytes on, as its parts are read where they lie */
    gob_pace *pace; /* of those who load it; or NULL */
    size_t checked_max; /* GOB_CHECKED_MAX; less in tests */
    gob_section_entry list[GOB_SECTIONS_MAX];
    uint32_t sections;
    gob_snapshot_kind kind;
} gob_reader;

/* Looks at everything but the sections' own bytes. GOB_MALFORMED with *why. It has no pace. */
gob_status gob_reader_open(gob_reader *r, gob_span file, const char **why);

/* What a file is, to those who expect another container in it. */
const char *gob_reader_what(const gob_reader *r);

/* The bytes of a section, which may be absent: then none. */
gob_span gob_reader_section(const gob_reader *r, gob_section section);

/* Whether a file has these sections, 1 << each, and no others. */
bool gob_reader_has_only(const gob_reader *r, uint32_t sections);

/* Whether a section's bytes are those that were written. */
bool gob_reader_is_sound(const gob_reader *r, gob_section section);

/* Those of all: GOB_MALFORMED with *why, GOB_STOPPED. */
gob_status gob_reader_check_all(const gob_reader *r, const char **why);

/* Whether those who load it look at all it holds. */
GOB_INLINE bool gob_reader_checks(const gob_reader *r, bool mapped)
{
    return !mapped || r->file.size <= r->checked_max;
}

/* Computes all checksums of bytes that may be a snapshot, for tests of what they do not find. */
void gob_snapshot_reseal(uint8_t *file, size_t size);

/* GOB_MALFORMED where a condition on what a file holds fails. */
#define GOB_EXPECT(cond, reason)                                                                   \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            *why = (reason);                                                                       \
            return GOB_MALFORMED;                                                                  \
        }                                                                                          \
    } while (0)

/* What a validator with a pace found. */
GOB_INLINE gob_status gob_verdict(bool good, const char *why)
{
    return good ? GOB_OK : why == NULL ? GOB_STOPPED : GOB_MALFORMED;
}

#endif
