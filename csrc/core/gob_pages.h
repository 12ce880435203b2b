/* Pages: the dense part of an index of integer members.
 *
 * The member space is cut into pages of GOB_PAGE_IDS ids. A page is an array of codes, one per id,
 * 1 or 2 bytes wide while most of its scores are small non-negative integers, else as wide as a
 * score. All ones mean "absent"; in the narrow widths the code below that means "look in the page's
 * exceptions", a small open-addressing table of position -> score (the patched coding of the
 * compression literature). A directory hashes page numbers, so any 64-bit id works. */
#ifndef GOB_PAGES_H
#define GOB_PAGES_H

#include "gob_alloc.h"
#include "gob_config.h"
#include "gob_patch.h"
#include "gob_score.h"
#include "gob_status.h"

/* The largest score that a code of 1 or 2 bytes is. The next code means "exception", the one after
 * it "absent". */
enum { GOB_CODE1_MAX = 0xFD, GOB_CODE2_MAX = 0xFFFD };

typedef struct gob_page {
    gob_patch patch;
    uint16_t live;
    uint8_t width; /* of a code: 1, 2, or the score's */
    bool young;    /* born in the bulk call under way; see gob_index_dissolve_young */
    uint8_t codes[];
} gob_page;

/* A place of the directory; page is NULL where it is free. The tag is the page's number above
 * GOB_PAGE_BITS bits of its code width, so that a plain code is reached without a look at the
 * page's head (a tenth of the time of a bulk increment at 8 M members). */
typedef struct gob_page_ref {
    uint64_t tag;
    gob_page *page;
} gob_page_ref;

typedef struct gob_pages {
    gob_page_ref *dir;
    uint64_t seed;
    uint32_t count;
    uint8_t bits; /* the directory has 2**bits places; 0: none */
    gob_patch_kind kind;
    bool hold : 1;      /* inside a bulk call: exceptions keep their room, so that undoing never
                           allocates */
    bool unsettled : 1; /* since hold began, pages were born or lost members */
    bool borrowed : 1;  /* pages lie in a file that is mapped: they are read only, and not freed */
} gob_pages;

void gob_pages_init(gob_pages *p, unsigned score_bytes, uint64_t seed);
void gob_pages_free(gob_pages *p, gob_alloc *a);

/* dst, initialised and empty, becomes a copy. On GOB_NOMEM it can only be freed. */
gob_status gob_pages_copy(gob_pages *dst, gob_alloc *a, const gob_pages *src);

GOB_INLINE int64_t gob_page_number(int64_t member)
{
    return member >> GOB_PAGE_BITS;
}

GOB_INLINE unsigned gob_page_position(int64_t member)
{
    return (unsigned)((uint64_t)member & (GOB_PAGE_IDS - 1));
}

GOB_INLINE int64_t gob_page_member(int64_t number, unsigned position)
{
    return (int64_t)((uint64_t)number << GOB_PAGE_BITS | position);
}

GOB_INLINE int64_t gob_ref_number(const gob_page_ref *ref)
{
    return (int64_t)ref->tag >> GOB_PAGE_BITS;
}

GOB_INLINE unsigned gob_ref_width(const gob_page_ref *ref)
{
    return (unsigned)ref->tag & (GOB_PAGE_IDS - 1);
}

/* The golden ratio keeps runs of numbers apart, whatever the seed. (A random multiplier does not: a
 * few in a hundred made counting two to ten times slower.) */
GOB_INLINE size_t gob_pages_home(const gob_pages *p, int64_t number)
{
    uint64_t mixed = ((uint64_t)number ^ p->seed) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(mixed >> (64 - p->bits));
}

/* The place of a page, or NULL. */
GOB_INLINE gob_page_ref *gob_pages_find(const gob_pages *p, int64_t number)
{
    if (p->count == 0) {
        return NULL;
    }
    size_t mask = ((size_t)1 << p->bits) - 1;
    for (size_t at = gob_pages_home(p, number);; at = (at + 1) & mask) {
        gob_page_ref *ref = &p->dir[at];
        if (ref->page == NULL) {
            return NULL;
        }
        if (GOB_LIKELY(gob_ref_number(ref) == number)) {
            return ref;
        }
    }
}

/* What decides how a page is best coded. */
typedef struct gob_page_census {
    unsigned total;
    unsigned narrow1; /* scores that a 1-byte code holds */
    unsigned narrow2; /* those that a 2-byte code holds */
} gob_page_census;

void gob_page_census_add(gob_page_census *c, double score);
gob_page_census gob_page_census_of(const gob_pages *p, const gob_page *page);

/* The cheapest width for these members, and its bytes. */
unsigned gob_pages_best(const gob_pages *p, const gob_page_census *c, size_t *bytes);

/* A new, empty page with room for the members of a census. NULL when memory runs out. */
gob_page_ref *gob_pages_add(gob_pages *p, gob_alloc *a, int64_t number, const gob_page_census *c);

/* Takes a page of that width over; NULL when memory runs out. */
gob_page_ref *gob_pages_insert(gob_pages *p, gob_alloc *a, int64_t number, unsigned width,
                               gob_page *page);

/* A page of its own like this one; NULL when memory runs out. */
gob_page *gob_page_copy(const gob_pages *p, gob_alloc *a, const gob_page *page);
void gob_page_free(const gob_pages *p, gob_alloc *a, gob_page *page);

/* Frees a page and takes it from the directory. Other places may move. */
void gob_pages_drop(gob_pages *p, gob_alloc *a, gob_page_ref *ref);

/* The largest score that a code of a page can be. */
GOB_INLINE double gob_page_code_max(const gob_page *page)
{
    return page->width == 1 ? GOB_CODE1_MAX : page->width == 2 ? GOB_CODE2_MAX : HUGE_VAL;
}

/* True where a narrow page's code at this position means "exception". */
GOB_INLINE bool gob_page_is_exception(const gob_page *page, unsigned position)
{
    return (page->width == 1 && page->codes[position] == GOB_CODE1_MAX + 1) ||
           (page->width == 2 && gob_load16(page->codes + 2 * position) == GOB_CODE2_MAX + 1);
}

/* Starts the load of the exception that a position is, or may become. */
GOB_INLINE void gob_page_warm_exception(const gob_pages *p, const gob_page *page, unsigned position)
{
    if (page->patch.capacity != 0) {
        const uint8_t *group = gob_patch_home(&page->patch, p->kind, position);
        GOB_PREFETCH(group);
        GOB_PREFETCH(group + GOB_PATCH_GROUP * (2U + p->kind.score_bytes) - 1);
    }
}

/* The score at a position, or GOB_ABSENT. */
double gob_page_get(const gob_pages *p, const gob_page *page, unsigned position);

/* Sets or inserts. May replace ref->page, never other places. GOB_NOMEM changes nothing. */
gob_status gob_page_put(gob_pages *p, gob_alloc *a, gob_page_ref *ref, unsigned position,
                        double score);

/* Makes a present position absent. */
void gob_page_erase(gob_pages *p, gob_alloc *a, gob_page_ref *ref, unsigned position);

/* Gives back a patch's memory where most of it is unused and nothing is held. */
void gob_page_settle(gob_pages *p, gob_alloc *a, gob_page *page);

/* Recodes a page at its cheapest width, without slack. */
gob_status gob_page_optimize(gob_pages *p, gob_alloc *a, gob_page_ref *ref);

/* Bytes of a page and its patch, of the width and that capacity; and of this one. */
GOB_INLINE size_t gob_page_bytes_for(const gob_pages *p, unsigned width, unsigned capacity)
{
    return offsetof(gob_page, codes) + (size_t)GOB_PAGE_IDS * width +
           gob_patch_bytes(p->kind, capacity);
}

size_t gob_page_bytes(const gob_pages *p, const gob_page *page);
size_t gob_pages_bytes(const gob_pages *p);

bool gob_pages_validate(const gob_pages *p, gob_pace *pace, const char **why);

#endif
