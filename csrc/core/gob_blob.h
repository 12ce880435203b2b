/* The compact form of a hash: all entries in one allocation of up to 64 KiB.
 *
 * Entries lie in buckets by the high bits of their field's hash. The blob is
 *   [directory][fingerprints][lengths][high bytes of lengths][records]
 * The directory has the first entry and its offset for each bucket, and the end of all, in 16 bits
 * each. A fingerprint is the lowest byte of the hash: a look-up compares those of its bucket at
 * once, sums lengths up to a match, and compares the field. High bytes are there only while some
 * record is longer than 255 bytes. An entry costs three bytes and a quarter more than its field
 * and value. */
#ifndef GOB_BLOB_H
#define GOB_BLOB_H

#include "gob_alloc.h"
#include "gob_config.h"
#include "gob_cpu.h"
#include "gob_record.h"
#include "gob_status.h"

typedef struct gob_blob {
    uint8_t *at;   /* NULL: empty */
    uint32_t size; /* allocated */
    uint16_t count;
    uint16_t buckets;
    bool wide; /* there are high bytes */
    uint8_t simd;
} gob_blob;

/* Where an entry is, or where it would be put. */
typedef struct gob_place {
    bool found;
    size_t bucket;
    size_t index;
    size_t offset;
    size_t bytes; /* of the record; 0 where there is none */
} gob_place;

void gob_blob_init(gob_blob *b);
void gob_blob_free(gob_blob *b, gob_alloc *a);

/* An empty dst becomes a copy of src. */
gob_status gob_blob_copy(gob_blob *dst, gob_alloc *a, const gob_blob *src);

/* An empty blob takes all records of a source. GOB_NOMEM; GOB_TOO_LARGE for what no blob holds. */
gob_status gob_blob_build(gob_blob *b, gob_alloc *a, uint64_t seed, gob_next_record *next,
                          const void *source);

bool gob_blob_find(const gob_blob *b, const gob_field *f, gob_place *p);

/* Adds an entry, or gives it another value; p is what find gave for it. Within the same length in
 * place, else with a new allocation. GOB_NOMEM, GOB_TOO_LARGE: nothing changed. */
gob_status gob_blob_put(gob_blob *b, gob_alloc *a, uint64_t seed, const gob_field *f,
                        const gob_coded *value, const gob_place *p);

/* Removes the entry that find gave. Never fails; memory is given back where that can be. */
void gob_blob_remove(gob_blob *b, gob_alloc *a, uint64_t seed, const gob_place *p);

/* Builds the blob again, as small as it goes. */
gob_status gob_blob_optimize(gob_blob *b, gob_alloc *a, uint64_t seed);

/* A gob_next_record whose source is a gob_blob. */
const uint8_t *gob_blob_next(const void *blob, size_t *at, size_t *bytes);

const uint8_t *gob_blob_record(const gob_blob *b, const gob_place *p);

bool gob_blob_validate(const gob_blob *b, uint64_t seed, const char **why);

#endif
