#include "gob_blob.h"

#include "gob_check.h"
#include "gob_group.h"

enum { CHUNK = 2 * GOB_GROUP, WIDE_FROM = 256 };

/* Where things lie */

static size_t directory_bytes(const gob_blob *b)
{
    return ((size_t)b->buckets + 1) * 4;
}

static uint8_t *fingerprints(const gob_blob *b)
{
    return b->at + directory_bytes(b);
}

static uint8_t *lengths(const gob_blob *b)
{
    return fingerprints(b) + b->count;
}

static uint8_t *high_lengths(const gob_blob *b)
{
    return lengths(b) + b->count;
}

GOB_INLINE uint8_t *records(const gob_blob *b)
{
    return high_lengths(b) + (b->wide ? b->count : 0);
}

static size_t first_of(const gob_blob *b, size_t bucket)
{
    return gob_load16(b->at + bucket * 4);
}

static size_t offset_of(const gob_blob *b, size_t bucket)
{
    return gob_load16(b->at + bucket * 4 + 2);
}

static void set_bucket(const gob_blob *b, size_t bucket, size_t first, size_t offset)
{
    gob_store16(b->at + bucket * 4, (uint16_t)first);
    gob_store16(b->at + bucket * 4 + 2, (uint16_t)offset);
}

static size_t bucket_of(const gob_blob *b, uint64_t hash)
{
    return (size_t)gob_mulhi64(hash, b->buckets);
}

static size_t length_at(const gob_blob *b, size_t i)
{
    return lengths(b)[i] | (b->wide ? (size_t)high_lengths(b)[i] << 8 : 0);
}

static void set_entry(const gob_blob *b, size_t i, uint64_t hash, size_t bytes)
{
    fingerprints(b)[i] = (uint8_t)hash;
    lengths(b)[i] = (uint8_t)bytes;
    if (b->wide) {
        high_lengths(b)[i] = (uint8_t)(bytes >> 8);
    }
}

/* Bytes to allocate for so many bytes of records: groups are read a little behind fingerprints and
 * lengths. Records longer than that make it no larger. */
static size_t size_for(const gob_blob *b, size_t record_bytes)
{
    size_t planes = directory_bytes(b) + (size_t)b->count * (b->wide ? 3 : 2);
    return planes + (record_bytes > GOB_OVERREAD ? record_bytes : GOB_OVERREAD);
}

const uint8_t *gob_blob_record(const gob_blob *b, const gob_place *p)
{
    return records(b) + p->offset;
}

/* Finding */

/* Which of n <= CHUNK fingerprints are that of a hash. Two groups at once: a branch on whether a
 * bucket has a second one would go either way as often. */
GOB_INLINE uint64_t match(const uint8_t *prints, size_t n, uint64_t hash, gob_simd simd)
{
    uint64_t mask = gob_group_match(prints, (uint8_t)hash, simd);
    mask |= (uint64_t)gob_group_match(prints + GOB_GROUP, (uint8_t)hash, simd) << GOB_GROUP;
    return mask & ((UINT64_C(1) << n) - 1);
}

/* The sum of n <= CHUNK bytes. */
GOB_INLINE size_t sum(const uint8_t *at, size_t n, gob_simd simd)
{
    size_t first = n < GOB_GROUP ? n : GOB_GROUP;
    return gob_group_sum(at, first, simd) + gob_group_sum(at + GOB_GROUP, n - first, simd);
}

/* Bytes of n <= CHUNK records from i on. */
GOB_INLINE size_t sum_lengths(const gob_blob *b, size_t i, size_t n, gob_simd simd)
{
    size_t low = sum(lengths(b) + i, n, simd);
    return GOB_UNLIKELY(b->wide) ? low + (sum(high_lengths(b) + i, n, simd) << 8) : low;
}

/* With a level that the compiler knows. */
GOB_INLINE bool find(const gob_blob *b, const gob_field *f, gob_place *p, gob_simd simd)
{
    size_t bucket = bucket_of(b, f->hash);
    size_t end = first_of(b, bucket + 1);
    size_t offset = offset_of(b, bucket);
    for (size_t from = first_of(b, bucket); from < end; from += CHUNK) {
        size_t n = end - from < CHUNK ? end - from : CHUNK;
        for (uint64_t m = match(fingerprints(b) + from, n, f->hash, simd); m != 0; m &= m - 1) {
            size_t i = from + gob_ctz64(m);
            size_t at = offset + sum_lengths(b, from, i - from, simd);
            if (GOB_LIKELY(gob_record_is(records(b) + at, f))) {
                *p = (gob_place){true, bucket, i, at, length_at(b, i)};
                return true;
            }
        }
        if (GOB_UNLIKELY(from + n < end)) {
            offset += sum_lengths(b, from, n, simd);
        }
    }
    *p = (gob_place){false, bucket, end, offset_of(b, bucket + 1), 0};
    return false;
}

/* Apart, as the compiler would else keep registers for it. */
static __attribute__((noinline)) bool find_scalar(const gob_blob *b, const gob_field *f,
                                                  gob_place *p)
{
    return find(b, f, p, GOB_SCALAR);
}

bool gob_blob_find(const gob_blob *b, const gob_field *f, gob_place *p)
{
    if (b->count == 0) {
        *p = (gob_place){.found = false};
        return false;
    }
    return b->simd >= GOB_BASELINE ? find(b, f, p, GOB_BASELINE) : find_scalar(b, f, p);
}

/* Building */

void gob_blob_init(gob_blob *b)
{
    *b = (gob_blob){.simd = (uint8_t)gob_cpu_simd()};
}

void gob_blob_free(gob_blob *b, gob_alloc *a)
{
    gob_free(a, b->at, b->size);
    *b = (gob_blob){.simd = b->simd};
}

static gob_status allocate(gob_blob *b, gob_alloc *a, size_t record_bytes)
{
    size_t size = size_for(b, record_bytes);
    if (size > GOB_BLOB_MAX) {
        return GOB_TOO_LARGE;
    }
    b->at = gob_malloc(a, size);
    b->size = (uint32_t)size;
    return b->at == NULL ? GOB_NOMEM : GOB_OK;
}

gob_status gob_blob_copy(gob_blob *dst, gob_alloc *a, const gob_blob *src)
{
    if (src->count == 0) {
        return GOB_OK;
    }
    gob_blob fresh = *src;
    size_t bytes = offset_of(src, src->buckets);
    GOB_TRY(allocate(&fresh, a, bytes));
    memcpy(fresh.at, src->at, (size_t)(records(src) + bytes - src->at));
    *dst = fresh;
    return GOB_OK;
}

/* Counts the entries of each bucket and their bytes, and makes that firsts and offsets. */
static void fill_directory(const gob_blob *b, uint64_t seed, gob_next_record *next,
                           const void *source)
{
    size_t bytes;
    const uint8_t *record;
    memset(b->at, 0, directory_bytes(b));
    for (size_t at = 0; (record = next(source, &at, &bytes)) != NULL;) {
        gob_field f;
        gob_record_field(&f, record, bytes, seed);
        size_t bucket = bucket_of(b, f.hash);
        set_bucket(b, bucket, first_of(b, bucket) + 1, offset_of(b, bucket) + bytes);
    }
    size_t first = 0;
    size_t offset = 0;
    for (size_t bucket = 0; bucket <= b->buckets; bucket++) {
        size_t entries = first_of(b, bucket);
        bytes = offset_of(b, bucket);
        set_bucket(b, bucket, first, offset);
        first += entries;
        offset += bytes;
    }
}

/* Copies each record to the end of its bucket, which moves the bucket's place in the directory on
 * to that of the next one. */
static void fill_records(const gob_blob *b, uint64_t seed, gob_next_record *next,
                         const void *source)
{
    size_t bytes;
    const uint8_t *record;
    for (size_t at = 0; (record = next(source, &at, &bytes)) != NULL;) {
        gob_field f;
        gob_record_field(&f, record, bytes, seed);
        size_t bucket = bucket_of(b, f.hash);
        size_t i = first_of(b, bucket);
        size_t offset = offset_of(b, bucket);
        set_entry(b, i, f.hash, bytes);
        memcpy(records(b) + offset, record, bytes);
        set_bucket(b, bucket, i + 1, offset + bytes);
    }
    memmove(b->at + 4, b->at, (size_t)b->buckets * 4);
    set_bucket(b, 0, 0, 0);
}

/* As many buckets as a look-up likes best, as far as they fit; fewer than the least are never made.
 */
static size_t buckets_for(const gob_blob *b, size_t record_bytes, size_t most)
{
    size_t best = b->count / GOB_BUCKET + 1U;
    size_t least = (b->count + GOB_BUCKET_FULL - 1U) / GOB_BUCKET_FULL;
    size_t rest = size_for(b, record_bytes); /* without a bucket */
    size_t fit = rest < GOB_BLOB_MAX ? (GOB_BLOB_MAX - rest) / 4 : 0;
    most = most < fit ? most : fit;
    best = best < most ? best : most;
    return best > least ? best : least;
}

static gob_status build(gob_blob *b, gob_alloc *a, uint64_t seed, gob_next_record *next,
                        const void *source, size_t most_buckets)
{
    gob_blob fresh = {.simd = b->simd};
    size_t total = 0;
    size_t bytes;
    for (size_t at = 0; next(source, &at, &bytes) != NULL; fresh.count++) {
        total += bytes;
        fresh.wide = fresh.wide || bytes >= WIDE_FROM;
        if (bytes > GOB_BLOB_RECORD_MAX || total > GOB_BLOB_MAX) {
            return GOB_TOO_LARGE;
        }
    }
    if (fresh.count != 0) {
        fresh.buckets = (uint16_t)buckets_for(&fresh, total, most_buckets);
        GOB_TRY(allocate(&fresh, a, total));
        fill_directory(&fresh, seed, next, source);
        fill_records(&fresh, seed, next, source);
    }
    *b = fresh;
    return GOB_OK;
}

gob_status gob_blob_build(gob_blob *b, gob_alloc *a, uint64_t seed, gob_next_record *next,
                          const void *source)
{
    return build(b, a, seed, next, source, UINT16_MAX);
}

/* Never in more buckets than it has, so that it gets no larger. */
gob_status gob_blob_optimize(gob_blob *b, gob_alloc *a, uint64_t seed)
{
    gob_blob fresh = {.simd = b->simd};
    GOB_TRY(build(&fresh, a, seed, gob_blob_next, b, b->buckets));
    gob_blob_free(b, a);
    *b = fresh;
    return GOB_OK;
}

/* Changing */

static void move(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n != 0) {
        memmove(to, from, n);
    }
}

/* One row of bytes, `was` of which at `i` become `is`. */
static void carry_row(uint8_t *to, const uint8_t *from, size_t n, size_t i, size_t was, size_t is)
{
    move(to, from, i);
    move(to + i + is, from + i + was, n - i - was);
}

/* Everything of `from`, with room for a record of `bytes` (or none) instead of the one at p. Both
 * may have the same memory, where everything moves down. */
static void carry(const gob_blob *to, const gob_blob *from, const gob_place *p, size_t bytes)
{
    size_t was = p->found ? 1 : 0;
    size_t is = bytes != 0 ? 1 : 0;
    size_t total = offset_of(from, from->buckets);
    for (size_t k = 0; k <= from->buckets; k++) {
        bool behind = k > p->bucket;
        set_bucket(to, k, first_of(from, k) + (behind ? is - was : 0),
                   offset_of(from, k) + (behind ? bytes - p->bytes : 0));
    }
    carry_row(fingerprints(to), fingerprints(from), from->count, p->index, was, is);
    carry_row(lengths(to), lengths(from), from->count, p->index, was, is);
    if (from->wide) {
        carry_row(high_lengths(to), high_lengths(from), from->count, p->index, was, is);
    } else if (to->wide) {
        memset(high_lengths(to), 0, to->count);
    }
    carry_row(records(to), records(from), total, p->offset, p->bytes, bytes);
}

/* Makes room for a record of so many bytes at p. */
static gob_status renew(gob_blob *b, gob_alloc *a, const gob_place *p, size_t bytes)
{
    gob_blob fresh = *b;
    fresh.count = (uint16_t)(b->count + (p->found ? 0 : 1));
    fresh.wide = b->wide || bytes >= WIDE_FROM;
    GOB_TRY(allocate(&fresh, a, offset_of(b, b->buckets) - p->bytes + bytes));
    carry(&fresh, b, p, bytes);
    gob_free(a, b->at, b->size);
    *b = fresh;
    return GOB_OK;
}

static gob_status put_first(gob_blob *b, gob_alloc *a, size_t bytes)
{
    gob_blob fresh = {.count = 1, .buckets = 1, .wide = bytes >= WIDE_FROM, .simd = b->simd};
    GOB_TRY(allocate(&fresh, a, bytes));
    set_bucket(&fresh, 0, 0, 0);
    set_bucket(&fresh, 1, 1, bytes);
    *b = fresh;
    return GOB_OK;
}

static bool is_full(const gob_blob *b)
{
    return b->count >= (size_t)b->buckets * GOB_BUCKET_FULL;
}

/* The same where the buckets are full: in a blob with more of them, which moves the place. */
static gob_status renew_buckets(gob_blob *b, gob_alloc *a, uint64_t seed, const gob_field *f,
                                gob_place *p, size_t bytes)
{
    gob_blob fresh = {.simd = b->simd};
    GOB_TRY(gob_blob_build(&fresh, a, seed, gob_blob_next, b));
    (void)gob_blob_find(&fresh, f, p);
    gob_status status = is_full(&fresh) ? GOB_TOO_LARGE : renew(&fresh, a, p, bytes);
    if (status != GOB_OK) {
        gob_blob_free(&fresh, a);
        return status;
    }
    gob_blob_free(b, a);
    *b = fresh;
    return GOB_OK;
}

gob_status gob_blob_put(gob_blob *b, gob_alloc *a, uint64_t seed, const gob_field *f,
                        const gob_coded *value, const gob_place *p)
{
    size_t bytes = gob_record_bytes(f, value);
    gob_place place = *p;
    if (bytes > GOB_BLOB_RECORD_MAX) {
        return GOB_TOO_LARGE;
    }
    if (b->count == 0) {
        GOB_TRY(put_first(b, a, bytes));
    } else if (bytes != p->bytes) {
        bool full = !p->found && is_full(b);
        GOB_TRY(full ? renew_buckets(b, a, seed, f, &place, bytes) : renew(b, a, &place, bytes));
    }
    set_entry(b, place.index, f->hash, bytes);
    gob_record_write(records(b) + place.offset, f, value);
    return GOB_OK;
}

void gob_blob_remove(gob_blob *b, gob_alloc *a, uint64_t seed, const gob_place *p)
{
    if (b->count == 1) {
        gob_blob_free(b, a);
        return;
    }
    gob_blob less = *b;
    less.count--;
    carry(&less, b, p, 0);
    size_t size = size_for(&less, offset_of(&less, less.buckets));
    uint8_t *at = size < b->size ? gob_realloc(a, b->at, b->size, size) : NULL;
    if (at != NULL) {
        less.at = at;
        less.size = (uint32_t)size;
    }
    *b = less;
    if (b->buckets > 1 && b->count < (size_t)b->buckets * GOB_BUCKET_SPARSE) {
        (void)gob_blob_optimize(b, a, seed); /* without memory it stays as it is */
    }
}

/* Looking at everything */

/* *at: the entry, and from bit 16 on its offset. */
const uint8_t *gob_blob_next(const void *blob, size_t *at, size_t *bytes)
{
    const gob_blob *b = blob;
    size_t i = *at & UINT16_MAX;
    size_t offset = *at >> 16;
    if (i >= b->count) {
        return NULL;
    }
    *bytes = length_at(b, i);
    *at = (offset + *bytes) << 16 | (i + 1);
    return records(b) + offset;
}

static bool validate_directory(const gob_blob *b, const char **why)
{
    GOB_DEMAND(first_of(b, 0) == 0 && offset_of(b, 0) == 0, "blob: first bucket");
    GOB_DEMAND(first_of(b, b->buckets) == b->count, "blob: last bucket");
    GOB_DEMAND(size_for(b, offset_of(b, b->buckets)) <= b->size && b->size <= GOB_BLOB_MAX,
               "blob: size");
    for (size_t k = 0; k < b->buckets; k++) {
        size_t from = first_of(b, k);
        size_t end = first_of(b, k + 1);
        size_t offset = offset_of(b, k);
        GOB_DEMAND(from <= end && end <= b->count, "blob: entries of a bucket");
        for (size_t i = from; i < end; i++) {
            offset += length_at(b, i);
        }
        GOB_DEMAND(offset == offset_of(b, k + 1), "blob: offset of a bucket");
    }
    return true;
}

bool gob_blob_validate(const gob_blob *b, uint64_t seed, const char **why)
{
    GOB_DEMAND((b->at == NULL) == (b->count == 0), "blob: memory without entries");
    if (b->count == 0) {
        GOB_DEMAND(b->buckets == 0 && b->size == 0 && !b->wide, "blob: parts of an empty one");
        return true;
    }
    if (!validate_directory(b, why)) {
        return false;
    }
    size_t bytes;
    const uint8_t *record;
    for (size_t at = 0, i = 0; (record = gob_blob_next(b, &at, &bytes)) != NULL; i++) {
        gob_field f;
        gob_place p;
        if (!gob_record_validate(record, bytes, why)) {
            return false;
        }
        gob_record_field(&f, record, bytes, seed);
        GOB_DEMAND(gob_blob_find(b, &f, &p) && p.index == i, "blob: an entry is not found");
        GOB_DEMAND(gob_blob_record(b, &p) == record, "blob: place of a record");
    }
    return true;
}
