#include "gob_multiset.h"

#include "gob_config.h"

/* The tables are as large as pays, 16 KiB each, and for small sets less. 10, 11 and 12 bits are
 * alike for 80.8 M members; fewer have more ties that reach beyond both tables. */
enum { BITS_MAX = 11 };

_Static_assert((int)BITS_MAX <= (int)GOB_PAGE_BITS, "a page has whole rounds of the lowest bits");

static uint64_t odd_number(uint64_t i, uint64_t seed)
{
    return gob_hash_int((int64_t)i, seed) | 1;
}

gob_status gob_multiset_init(gob_multiset *s, gob_alloc *a, uint64_t seed, uint64_t count)
{
    uint64_t of_tables = gob_reseed(seed);
    s->of_rest = gob_reseed(of_tables);
    s->of_key = gob_reseed(s->of_rest);
    s->bits = gob_bit_width(count) < BITS_MAX ? gob_bit_width(count) : BITS_MAX;
    size_t size = (size_t)1 << s->bits;
    s->low = gob_malloc(a, 2 * size * sizeof *s->low);
    if (s->low == NULL) {
        return GOB_NOMEM;
    }
    s->next = s->low + size;
    for (size_t i = 0; i < 2 * size; i++) {
        s->low[i] = odd_number(i, of_tables);
    }
    return GOB_OK;
}

void gob_multiset_free(gob_multiset *s, gob_alloc *a)
{
    gob_free(a, s->low, ((size_t)2 << s->bits) * sizeof *s->low);
}

uint64_t gob_multiset_of_key(const gob_multiset *s, uint64_t key)
{
    return odd_number(key, s->of_key);
}

static uint64_t of_rest(const gob_multiset *s, uint64_t member)
{
    return odd_number(member >> 2 * s->bits, s->of_rest);
}

/* What the low bits of a member multiply with. */
GOB_INLINE uint64_t of_low_bits(const gob_multiset *s, unsigned bits, uint64_t member)
{
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    return s->low[member & mask] * s->next[member >> bits & mask];
}

uint64_t gob_multiset_of(const gob_multiset *s, const uint64_t *keys, const uint64_t *members,
                         size_t n)
{
    uint64_t sum = 0;
    uint64_t differ = 0;
    unsigned bits = s->bits;
    for (size_t i = 1; i < n; i++) {
        differ |= members[i] ^ members[0];
    }
    if (keys[0] == keys[n - 1] && differ >> 2 * bits == 0) {
        for (size_t i = 0; i < n; i++) {
            sum += of_low_bits(s, bits, members[i]);
        }
        return sum * of_rest(s, members[0]) * gob_multiset_of_key(s, keys[0]);
    }
    for (size_t i = 0; i < n; i++) {
        sum += of_low_bits(s, bits, members[i]) * of_rest(s, members[i]) *
               gob_multiset_of_key(s, keys[i]);
    }
    return sum;
}

uint64_t gob_multiset_of_codes(const gob_multiset *s, uint64_t first, const uint8_t *codes,
                               const uint64_t *by_code)
{
    uint64_t hash = 0;
    size_t size = (size_t)1 << s->bits;
    for (size_t at = 0; at < GOB_PAGE_IDS; at += size) {
        uint64_t member = first + at;
        uint64_t sum = 0;
        for (size_t i = 0; i < size; i++) {
            sum += s->low[i] * by_code[codes[at + i]];
        }
        hash += sum * s->next[member >> s->bits & (size - 1)] * of_rest(s, member);
    }
    return hash;
}
