/* What tests of snapshots share: a sink into memory, and files that lie. */
#ifndef GOB_SNAPSHOT_TEST_H
#define GOB_SNAPSHOT_TEST_H

#include <stdlib.h>

#include "gob_alloc.h"
#include "gob_snapshot.h"
#include "gob_test.h"

typedef struct buffer {
    uint8_t *at;
    size_t size;
    size_t room;
    size_t stop_at; /* refuses to grow beyond this */
} buffer;

static inline bool sink(void *to, const void *bytes, size_t n)
{
    buffer *b = to;
    if (b->size + n > b->stop_at) {
        return false;
    }
    if (b->size + n > b->room) {
        b->room = (b->size + n) * 2;
        b->at = realloc(b->at, b->room);
    }
    memcpy(b->at + b->size, bytes, n);
    b->size += n;
    return true;
}

static inline bool same_files(const buffer *a, const buffer *b)
{
    return a->size == b->size && memcmp(a->at, b->at, a->size) == 0;
}

/* Checks that a count that lies, at its place in the options, is refused even where the file is
 * mapped without a look at anything else; one of them overflows what it is multiplied by. */
typedef gob_status load_mapped(const buffer *b);

static inline void test_counts_of(buffer good, size_t at, load_mapped *load_it)
{
    const uint64_t count = gob_load64(good.at + at);
    const uint64_t lies[] = {count - 40, count + 1000, count + (UINT64_C(58) << 58)};
    CHECK(load_it(&good) == GOB_OK);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        gob_store64(good.at + at, lies[i]);
        gob_snapshot_reseal(good.at, good.size);
        CHECK(load_it(&good) == GOB_MALFORMED);
    }
    gob_store64(good.at + at, count);
    gob_snapshot_reseal(good.at, good.size);
}

/* A host that is asked as often as can be, and makes the n-th allocation from then on fail. */
typedef struct failing {
    gob_pace pace;
    gob_alloc *alloc;
    uint64_t nth;
} failing;

static inline bool fail_later(gob_pace *pace)
{
    failing *f = (failing *)(void *)pace;
    pace->left = 0;
    gob_alloc_fail_at(f->alloc, f->nth != 0 ? f->nth : f->alloc->fail_at);
    f->nth = 0;
    return true;
}

/* A host that is asked as often as can be, and stops the last of so many times. */
typedef struct stopping {
    gob_pace pace;
    int left;
} stopping;

static inline bool stop_at(gob_pace *pace)
{
    pace->left = 0;
    return --((stopping *)(void *)pace)->left > 0;
}

static inline uint64_t hash_of(const buffer *b)
{
    return XXH3_64bits(b->at, b->size);
}

/* The same sections, whatever fills them up. */
static inline bool same_sections(const buffer *a, const buffer *b)
{
    const char *why;
    gob_reader l;
    gob_reader r;
    bool same = gob_reader_open(&l, (gob_span){a->at, a->size}, &why) == GOB_OK &&
                gob_reader_open(&r, (gob_span){b->at, b->size}, &why) == GOB_OK &&
                l.sections == r.sections;
    for (uint32_t i = 0; same && i < l.sections; i++) {
        gob_section section = (gob_section)l.list[i].section;
        gob_span left = gob_reader_section(&l, section);
        gob_span right = gob_reader_section(&r, section);
        same = left.size == right.size && memcmp(left.at, right.at, left.size) == 0;
    }
    return same;
}

/* Checks that damaged bytes are read as nothing, or, once their checksums have been made good, as
 * something sound. */
typedef void expect_harmless(const buffer *b, bool resealed);

/* A copy in memory of its own that ends where the file does. */
static inline buffer damaged(const buffer *b, bool resealed)
{
    buffer copy = {malloc(b->size == 0 ? 1 : b->size), b->size, b->size, 0};
    if (b->size != 0) {
        memcpy(copy.at, b->at, b->size);
    }
    if (resealed) {
        gob_snapshot_reseal(copy.at, copy.size);
    }
    return copy;
}

/* Cuts a file off and turns bits around, everywhere in a small one. */
static inline void test_damage_of(buffer good, expect_harmless *expect)
{
    size_t step = good.size / 300 + 1;
    buffer cut = good;
    for (cut.size = 0; cut.size < good.size; cut.size += cut.size < 50 ? 1 : step) {
        expect(&cut, false);
    }
    for (size_t bit = 0; bit < good.size * 8; bit += bit < 300 ? 1 : step * 8 - 1) {
        good.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
        expect(&good, false);
        expect(&good, true);
        good.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

/* Puts numbers that lie where any may be. */
static inline void test_lies_of(buffer good, expect_harmless *expect)
{
    static const uint64_t lies[] = {
        0, 1, 64, UINT32_MAX, UINT64_C(1) << 31, UINT64_C(1) << 61, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t at = 0; at + 8 <= good.size; at += at < 200 ? 4 : good.size / 2000 * 4 + 4) {
        uint64_t kept = gob_load64(good.at + at);
        for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
            gob_store64(good.at + at, lies[i]);
            if (lies[i] != kept) {
                expect(&good, true);
            }
        }
        gob_store64(good.at + at, kept);
    }
}

/* Makes sections some others, which is known or is not, where they stay in order. */
static inline void test_sections_of(buffer good, expect_harmless *expect)
{
    gob_reader r;
    const char *why;
    CHECK(gob_reader_open(&r, (gob_span){good.at, good.size}, &why) == GOB_OK);
    size_t list = good.size - 32 - r.sections * sizeof r.list[0];
    for (uint32_t i = 0; i < r.sections; i++) {
        uint8_t *at = good.at + list + i * sizeof r.list[0];
        for (uint32_t other = 0; other < 70; other++) {
            gob_store32(at, other);
            if (other != r.list[i].section) {
                expect(&good, true);
            }
        }
        gob_store32(at, r.list[i].section);
    }
}

/* Makes sections end a few bytes earlier or later, where they are filled up. */
static inline void test_ends_of(buffer good, expect_harmless *expect)
{
    gob_reader r;
    const char *why;
    CHECK(gob_reader_open(&r, (gob_span){good.at, good.size}, &why) == GOB_OK);
    size_t list = good.size - 32 - r.sections * sizeof r.list[0];
    for (uint32_t i = 0; i < r.sections; i++) {
        uint8_t *at = good.at + list + i * sizeof r.list[0] + offsetof(gob_section_entry, size);
        uint64_t size = r.list[i].size;
        for (uint64_t other = (size - 1) / 8 * 8 + 1; other <= (size + 7) / 8 * 8; other++) {
            gob_store64(at, other);
            if (other != size) {
                expect(&good, true);
            }
        }
        gob_store64(at, size);
    }
}

#endif
