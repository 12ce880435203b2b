/* The full form of a hash: records in an arena, and a table of their offsets.
 *
 * An arena holds [length][record] one after the other. The space of a record that went is taken by
 * another of its length; what is left of it is given back once it is much. */
#ifndef GOB_FIELDS_H
#define GOB_FIELDS_H

#include "gob_arena.h"
#include "gob_datum.h"
#include "gob_record.h"
#include "gob_table.h"

/* Of a file that is mapped and has not been looked through: what its records have to be. Those that
 * are not, are looked at each time, are passed over, or read as an empty field with an empty value.
 */
typedef struct gob_doubt {
    bool on;
    uint8_t key; /* gob_datum_kind */
    uint8_t value;
    bool encodes_keys;
    bool encodes_values;
} gob_doubt;

typedef struct gob_fields {
    gob_table table; /* offsets in the arena, by the hash of the field */
    gob_arena arena;
    uint8_t narrow_bits; /* offsets of 4 bytes reach 2**this; less in tests */
    bool mapped;         /* table and arena lie in a file: it is read only */
    gob_doubt doubt;
} gob_fields;

void gob_fields_init(gob_fields *s, uint64_t seed);
void gob_fields_free(gob_fields *s, gob_alloc *a);

/* An empty s takes all records of a source, with room for no more. */
gob_status gob_fields_build(gob_fields *s, gob_alloc *a, gob_next_record *next, const void *source);

/* The slot of a field, or GOB_NO_SLOT. */
size_t gob_fields_find(const gob_fields *s, const gob_field *f);

/* Before finds of n <= GOB_BATCH fields: starts the loads that they need, where those take long. */
void gob_fields_warm(const gob_fields *s, const gob_field *f, size_t n);

/* The record of a slot. */
const uint8_t *gob_fields_record(const gob_fields *s, size_t slot, size_t *bytes);

/* The slot of any one entry, by a salt that should be another each time: who takes all entries one
 * by one would else pass the gaps of those that are gone again and again. O(1) while at least a
 * third of the slots are taken; GOB_NO_SLOT where there is none. */
size_t gob_fields_any(const gob_fields *s, uint64_t salt);

/* Room for so many more entries, and bytes of records as gob_fields_bytes_for gives them; all of it
 * or none. */
gob_status gob_fields_reserve(gob_fields *s, gob_alloc *a, size_t entries, size_t bytes);
size_t gob_fields_bytes_for(size_t record_bytes);

/* Adds an entry, or gives it another value; `slot` is what find gave. In place within the same
 * length. GOB_NOMEM; GOB_TOO_LARGE for a record of 2 GiB. */
gob_status gob_fields_put(gob_fields *s, gob_alloc *a, const gob_field *f, const gob_coded *value,
                          size_t slot);

/* Removes the entry of a slot that find gave. Never fails. */
void gob_fields_remove(gob_fields *s, gob_alloc *a, size_t slot);

/* Whether building again would give much memory back; and that, with room for no more. */
bool gob_fields_wasteful(const gob_fields *s);
gob_status gob_fields_optimize(gob_fields *s, gob_alloc *a);

/* A gob_next_record whose source is a gob_fields; *at is an offset. */
const uint8_t *gob_fields_next(const void *fields, size_t *at, size_t *bytes);

bool gob_fields_validate(const gob_fields *s, const char **why);

GOB_INLINE size_t gob_fields_count(const gob_fields *s)
{
    return s->table.live;
}

#endif
