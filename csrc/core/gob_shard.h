/* Which of n shards a member belongs to, alike in every process and whatever the layout.
 *
 * Integers go by the run of neighbours that they are in, so that each shard packs its pages and
 * ties as tightly as one set of all members would; scattered one by one, n shards would have every
 * page n times. Names go by their bytes, so that text agrees with its UTF-8. */
#ifndef GOB_SHARD_H
#define GOB_SHARD_H

#include "gob_hash.h"
#include "gob_names.h"
#include "gob_pages.h"

/* Of an integer, the lowest bits that do not tell its shard. Shards that are kept depend on it: it
 * stays, whatever becomes of pages. */
enum { GOB_SHARD_BITS = 14 };

_Static_assert((int)GOB_SHARD_BITS >= (int)GOB_PAGE_BITS, "a page is all in one shard");

GOB_INLINE uint16_t gob_shard_of_int(int64_t member, uint16_t n)
{
    uint64_t hash = gob_hash_int(member >> GOB_SHARD_BITS, UINT64_C(0xA0761D6478BD642F));
    return (uint16_t)gob_mulhi64(hash, n);
}

GOB_INLINE uint16_t gob_shard_of_name(gob_name name, uint16_t n)
{
    return (uint16_t)gob_mulhi64(XXH3_64bits(name.at, name.len), n);
}

#endif
