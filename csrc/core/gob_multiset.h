/* A hash of a set of entries (key, member), whatever their order: the sum of their weights.
 *
 * It tells whether an order and an index have the same entries without a look-up for each. The
 * weight of an entry is a product modulo 2**64 of secret random odd numbers: one for each part of
 * the member's bits, and one for the key. So the difference of two sums is a polynomial of them
 * that has a monomial for each entry of one set alone, and other sets give the same sum with a
 * probability of about 2**-48, whoever chose them without knowing the seed. */
#ifndef GOB_MULTISET_H
#define GOB_MULTISET_H

#include "gob_alloc.h"
#include "gob_hash.h"
#include "gob_status.h"

typedef struct gob_multiset {
    uint64_t *low;    /* numbers for the lowest `bits` of a member */
    uint64_t *next;   /* and for as many above them */
    uint64_t of_rest; /* seed of those for the bits above these */
    uint64_t of_key;  /* and for keys */
    unsigned bits;
} gob_multiset;

/* For sets of about `count` entries. */
gob_status gob_multiset_init(gob_multiset *s, gob_alloc *a, uint64_t seed, uint64_t count);
void gob_multiset_free(gob_multiset *s, gob_alloc *a);

/* What a key, or all bits of a member above the tables', multiply with. */
uint64_t gob_multiset_of_key(const gob_multiset *s, uint64_t key);

/* The hash of n >= 1 entries whose keys do not descend; that of more is the sum. */
uint64_t gob_multiset_of(const gob_multiset *s, const uint64_t *keys, const uint64_t *members,
                         size_t n);

/* The hash of the members from a multiple of 2**14 on, as many, whose keys are those of their
 * codes; by_code[code] is what the key multiplies with, and 0 where there is no entry. */
uint64_t gob_multiset_of_codes(const gob_multiset *s, uint64_t first, const uint8_t *codes,
                               const uint64_t *by_code);

#endif
