#include "gob_pages.h"

#include "gob_check.h"

/* Codes */

/* The largest score that a code of this width holds; above it are "exception" and "absent". */
static unsigned code_max(unsigned width)
{
    return width == 1 ? 0xFD : 0xFFFD;
}

static bool is_narrow(const gob_page *page)
{
    return page->width <= 2;
}

/* The score as a code, or more than `max` where it is none. */
static unsigned code_of(double score, unsigned max)
{
    if (score >= 0.0 && score <= max) {
        unsigned code = (unsigned)score;
        if ((double)code == score) {
            return code;
        }
    }
    return max + 1;
}

static unsigned load_code(const gob_page *page, unsigned position)
{
    return page->width == 1 ? page->codes[position] : gob_load16(page->codes + 2 * position);
}

static void store_code(gob_page *page, unsigned position, unsigned code)
{
    if (page->width == 1) {
        page->codes[position] = (uint8_t)code;
    } else {
        gob_store16(page->codes + 2 * position, (uint16_t)code);
    }
}

/* Exceptions */

static size_t patch_bytes(const gob_pages *p, unsigned capacity)
{
    return (size_t)capacity * (2U + p->score_bytes);
}

static uint8_t *place_at(const gob_pages *p, const gob_page *page, unsigned place)
{
    return gob_patch_place(page, p->score_bytes, place);
}

static unsigned next_place(const gob_page *page, unsigned place)
{
    return place + 1U == page->capacity ? 0 : place + 1;
}

static void patch_insert(const gob_pages *p, gob_page *page, unsigned position, double score)
{
    unsigned place = gob_patch_home(position, page->capacity);
    while (gob_load16(place_at(p, page, place)) != GOB_NO_POSITION) {
        place = next_place(page, place);
    }
    uint8_t *at = place_at(p, page, place);
    gob_store16(at, (uint16_t)position);
    gob_score_store(at + 2, p->score_bytes, score);
    page->exceptions++;
}

/* Takes a position out and moves later exceptions back over it, so that no marks are left behind. */
static void patch_remove(const gob_pages *p, gob_page *page, unsigned position)
{
    unsigned capacity = page->capacity;
    uint8_t *score = gob_patch_score(page, p->score_bytes, position);
    unsigned hole = (unsigned)((size_t)(score - 2 - page->patch) / (2U + p->score_bytes));
    for (unsigned at = next_place(page, hole);; at = next_place(page, at)) {
        unsigned found = gob_load16(place_at(p, page, at));
        if (found == GOB_NO_POSITION) {
            break;
        }
        unsigned home = gob_patch_home(found, capacity);
        unsigned from_home = at >= home ? at - home : at + capacity - home;
        unsigned from_hole = at >= hole ? at - hole : at + capacity - hole;
        if (from_home >= from_hole) {
            memcpy(place_at(p, page, hole), place_at(p, page, at), 2U + p->score_bytes);
            hole = at;
        }
    }
    gob_store16(place_at(p, page, hole), GOB_NO_POSITION);
    page->exceptions--;
}

/* Room for n exceptions: at least one place stays free, since it ends the probes. */
static unsigned patch_capacity(unsigned n, bool tight)
{
    return n == 0 ? 0 : n * 64 / (tight ? GOB_EXCEPTIONS_FULL : GOB_EXCEPTIONS_GROWN) + 2;
}

static bool patch_has_room(const gob_page *page)
{
    return page->capacity != 0 &&
           (page->exceptions + 1U) * 64 <= page->capacity * (unsigned)GOB_EXCEPTIONS_FULL;
}

/* Moves the exceptions to a patch of another capacity, >= 1. */
static gob_status patch_resize(const gob_pages *p, gob_alloc *a, gob_page *page, unsigned capacity)
{
    gob_page moved = {.capacity = (uint16_t)capacity};
    moved.patch = gob_malloc(a, patch_bytes(p, capacity));
    if (moved.patch == NULL) {
        return GOB_NOMEM;
    }
    memset(moved.patch, 0xFF, patch_bytes(p, capacity));
    for (unsigned place = 0; place < page->capacity; place++) {
        const uint8_t *at = place_at(p, page, place);
        if (gob_load16(at) != GOB_NO_POSITION) {
            patch_insert(p, &moved, gob_load16(at), gob_score_load(at + 2, p->score_bytes));
        }
    }
    gob_free(a, page->patch, patch_bytes(p, page->capacity));
    page->patch = moved.patch;
    page->capacity = moved.capacity;
    return GOB_OK;
}

/* Pages */

static size_t codes_bytes(unsigned width)
{
    return (size_t)GOB_PAGE_IDS * width;
}

size_t gob_page_bytes(const gob_pages *p, const gob_page *page)
{
    return offsetof(gob_page, codes) + codes_bytes(page->width) + patch_bytes(p, page->capacity);
}

static void page_free(const gob_pages *p, gob_alloc *a, gob_page *page)
{
    gob_free(a, page->patch, patch_bytes(p, page->capacity));
    gob_free(a, page, offsetof(gob_page, codes) + codes_bytes(page->width));
}

/* An empty page with room for as many exceptions. */
static gob_page *page_new(const gob_pages *p, gob_alloc *a, unsigned width, unsigned capacity)
{
    gob_page *page = gob_malloc(a, offsetof(gob_page, codes) + codes_bytes(width));
    if (page == NULL) {
        return NULL;
    }
    *page = (gob_page){.width = (uint8_t)width, .young = p->hold};
    memset(page->codes, 0xFF, codes_bytes(width));
    if (capacity != 0 && patch_resize(p, a, page, capacity) != GOB_OK) {
        page_free(p, a, page);
        return NULL;
    }
    return page;
}

void gob_page_census_add(gob_page_census *c, double score)
{
    c->total++;
    c->narrow1 += code_of(score, code_max(1)) <= code_max(1);
    c->narrow2 += code_of(score, code_max(2)) <= code_max(2);
}

unsigned gob_pages_best(const gob_pages *p, const gob_page_census *c, size_t *bytes)
{
    size_t one = codes_bytes(1) + patch_bytes(p, patch_capacity(c->total - c->narrow1, false));
    size_t two = codes_bytes(2) + patch_bytes(p, patch_capacity(c->total - c->narrow2, false));
    size_t full = codes_bytes(p->score_bytes);
    unsigned width = one <= two ? 1 : 2;
    size_t least = one <= two ? one : two;
    if (full < least) {
        width = p->score_bytes;
        least = full;
    }
    *bytes = least + offsetof(gob_page, codes) + 2 * sizeof(gob_page_ref);
    return width;
}

static unsigned exceptions_at(const gob_page_census *c, unsigned width)
{
    return width == 1 ? c->total - c->narrow1 : width == 2 ? c->total - c->narrow2 : 0;
}

double gob_page_get(const gob_pages *p, const gob_page *page, unsigned position)
{
    if (!is_narrow(page)) {
        return gob_score_load(page->codes + (size_t)position * page->width, page->width);
    }
    unsigned code = load_code(page, position);
    unsigned max = code_max(page->width);
    if (GOB_LIKELY(code <= max)) {
        return code;
    }
    if (code > max + 1) {
        return GOB_ABSENT;
    }
    return gob_score_load(gob_patch_score(page, p->score_bytes, position), p->score_bytes);
}

static gob_page_census census_of(const gob_pages *p, const gob_page *page)
{
    gob_page_census c = {0};
    for (unsigned position = 0; position < GOB_PAGE_IDS; position++) {
        double score = gob_page_get(p, page, position);
        if (!gob_is_absent(score)) {
            gob_page_census_add(&c, score);
        }
    }
    return c;
}

/* Sets or inserts where no room has to be made. */
static void page_set(const gob_pages *p, gob_page *page, unsigned position, double score)
{
    if (!is_narrow(page)) {
        uint8_t *at = page->codes + (size_t)position * page->width;
        page->live = (uint16_t)(page->live + gob_is_absent(gob_score_load(at, page->width)));
        gob_score_store(at, page->width, score);
        return;
    }
    unsigned max = code_max(page->width);
    unsigned old = load_code(page, position);
    unsigned code = code_of(score, max);
    bool patched = old == max + 1;
    page->live = (uint16_t)(page->live + (old > max + 1));
    store_code(page, position, code);
    if (code > max && patched) {
        gob_score_store(gob_patch_score(page, p->score_bytes, position), p->score_bytes, score);
    } else if (code > max) {
        patch_insert(p, page, position, score);
    } else if (patched) {
        patch_remove(p, page, position);
    }
}

/* Replaces the page by one of another width, or of the same with another patch. */
static gob_status recode(const gob_pages *p, gob_alloc *a, gob_page_ref *ref, unsigned width,
                         unsigned capacity)
{
    gob_page *old = ref->page;
    gob_page *page = page_new(p, a, width, width <= 2 ? capacity : 0);
    if (page == NULL) {
        return GOB_NOMEM;
    }
    page->young = old->young;
    for (unsigned position = 0; position < GOB_PAGE_IDS; position++) {
        double score = gob_page_get(p, old, position);
        if (!gob_is_absent(score)) {
            page_set(p, page, position, score);
        }
    }
    ref->page = page;
    page_free(p, a, old);
    return GOB_OK;
}

/* Makes room for one more exception: by a larger patch, or by wider codes where those are cheaper. */
static gob_status make_room(const gob_pages *p, gob_alloc *a, gob_page_ref *ref, double score)
{
    gob_page_census c = census_of(p, ref->page);
    gob_page_census_add(&c, score);
    size_t bytes;
    unsigned width = gob_pages_best(p, &c, &bytes);
    if (width > ref->page->width) {
        unsigned capacity = patch_capacity(exceptions_at(&c, width), false);
        if (p->hold && capacity < ref->page->capacity) {
            capacity = ref->page->capacity;
        }
        return recode(p, a, ref, width, capacity);
    }
    return patch_resize(p, a, ref->page, patch_capacity(ref->page->exceptions + 1U, false));
}

gob_status gob_page_put(gob_pages *p, gob_alloc *a, gob_page_ref *ref, unsigned position,
                        double score)
{
    const gob_page *page = ref->page;
    if (is_narrow(page) && code_of(score, code_max(page->width)) > code_max(page->width) &&
        load_code(page, position) != code_max(page->width) + 1 && !patch_has_room(page)) {
        GOB_TRY(make_room(p, a, ref, score));
    }
    page_set(p, ref->page, position, score);
    return GOB_OK;
}

void gob_page_erase(gob_pages *p, gob_alloc *a, gob_page_ref *ref, unsigned position)
{
    gob_page *page = ref->page;
    page->live--;
    if (!is_narrow(page)) {
        memset(page->codes + (size_t)position * page->width, 0xFF, page->width);
        return;
    }
    if (load_code(page, position) == code_max(page->width) + 1) {
        patch_remove(p, page, position);
        unsigned fit = patch_capacity(page->exceptions, false);
        if (!p->hold && fit != 0 && fit * 3 < page->capacity) {
            (void)patch_resize(p, a, page, fit); /* only gives memory back */
        }
    }
    store_code(page, position, code_max(page->width) + 2);
}

gob_status gob_page_optimize(gob_pages *p, gob_alloc *a, gob_page_ref *ref)
{
    gob_page_census c = census_of(p, ref->page);
    size_t bytes;
    unsigned width = gob_pages_best(p, &c, &bytes);
    unsigned capacity = patch_capacity(exceptions_at(&c, width), true);
    if (width == ref->page->width && capacity == ref->page->capacity) {
        return GOB_OK;
    }
    return recode(p, a, ref, width, capacity);
}

/* The directory */

void gob_pages_init(gob_pages *p, unsigned score_bytes, uint64_t seed)
{
    *p = (gob_pages){.multiplier = seed | 1, .score_bytes = (uint8_t)score_bytes};
}

static size_t dir_bytes(unsigned bits)
{
    return bits == 0 ? 0 : sizeof(gob_page_ref) << bits;
}

void gob_pages_free(gob_pages *p, gob_alloc *a)
{
    for (size_t at = 0; p->count != 0 && at < (size_t)1 << p->bits; at++) {
        if (p->dir[at].page != NULL) {
            page_free(p, a, p->dir[at].page);
        }
    }
    gob_free(a, p->dir, dir_bytes(p->bits));
    p->dir = NULL;
    p->count = 0;
    p->bits = 0;
}

static gob_page_ref *dir_place(gob_pages *p, int64_t number)
{
    size_t mask = ((size_t)1 << p->bits) - 1;
    size_t at = gob_pages_home(p, number);
    while (p->dir[at].page != NULL) {
        at = (at + 1) & mask;
    }
    return &p->dir[at];
}

static gob_status dir_resize(gob_pages *p, gob_alloc *a, unsigned bits)
{
    gob_pages grown = *p;
    grown.bits = (uint8_t)bits;
    grown.dir = gob_calloc(a, dir_bytes(bits));
    if (grown.dir == NULL) {
        return GOB_NOMEM;
    }
    for (size_t at = 0; p->count != 0 && at < (size_t)1 << p->bits; at++) {
        if (p->dir[at].page != NULL) {
            *dir_place(&grown, p->dir[at].number) = p->dir[at];
        }
    }
    gob_free(a, p->dir, dir_bytes(p->bits));
    *p = grown;
    return GOB_OK;
}

gob_page_ref *gob_pages_add(gob_pages *p, gob_alloc *a, int64_t number, const gob_page_census *c)
{
    size_t bytes;
    unsigned width = gob_pages_best(p, c, &bytes);
    gob_page *page = page_new(p, a, width, patch_capacity(exceptions_at(c, width), false));
    if (page == NULL) {
        return NULL;
    }
    if (p->bits == 0 || (p->count + 1) * UINT64_C(3) > UINT64_C(2) << p->bits) {
        if (dir_resize(p, a, p->bits == 0 ? 2 : p->bits + 1U) != GOB_OK) {
            page_free(p, a, page);
            return NULL;
        }
    }
    gob_page_ref *ref = dir_place(p, number);
    *ref = (gob_page_ref){number, page};
    p->count++;
    return ref;
}

void gob_pages_drop(gob_pages *p, gob_alloc *a, gob_page_ref *ref)
{
    page_free(p, a, ref->page);
    ref->page = NULL;
    p->count--;
    /* Later places of the run move back over the hole. */
    size_t mask = ((size_t)1 << p->bits) - 1;
    size_t hole = (size_t)(ref - p->dir);
    for (size_t at = (hole + 1) & mask; p->dir[at].page != NULL; at = (at + 1) & mask) {
        size_t home = gob_pages_home(p, p->dir[at].number);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            p->dir[hole] = p->dir[at];
            p->dir[at].page = NULL;
            hole = at;
        }
    }
    if (p->count == 0) {
        gob_free(a, p->dir, dir_bytes(p->bits));
        p->dir = NULL;
        p->bits = 0;
    } else if (p->bits > 2 && p->count < (UINT64_C(1) << p->bits) / 8) {
        (void)dir_resize(p, a, p->bits - 1U); /* only gives memory back */
    }
}

static gob_page *page_copy(const gob_pages *p, gob_alloc *a, const gob_page *page)
{
    size_t bytes = offsetof(gob_page, codes) + codes_bytes(page->width);
    gob_page *copy = gob_malloc(a, bytes);
    uint8_t *patch = page->capacity == 0 ? NULL : gob_malloc(a, patch_bytes(p, page->capacity));
    if (copy == NULL || (patch == NULL && page->capacity != 0)) {
        gob_free(a, copy, copy == NULL ? 0 : bytes);
        gob_free(a, patch, patch == NULL ? 0 : patch_bytes(p, page->capacity));
        return NULL;
    }
    memcpy(copy, page, bytes);
    copy->patch = patch;
    if (patch != NULL) {
        memcpy(patch, page->patch, patch_bytes(p, page->capacity));
    }
    return copy;
}

gob_status gob_pages_copy(gob_pages *dst, gob_alloc *a, const gob_pages *src)
{
    if (src->count == 0) {
        return GOB_OK;
    }
    GOB_TRY(dir_resize(dst, a, src->bits));
    for (size_t at = 0; at < (size_t)1 << src->bits; at++) {
        if (src->dir[at].page != NULL) {
            gob_page *copy = page_copy(src, a, src->dir[at].page);
            if (copy == NULL) {
                return GOB_NOMEM;
            }
            *dir_place(dst, src->dir[at].number) = (gob_page_ref){src->dir[at].number, copy};
            dst->count++;
        }
    }
    return GOB_OK;
}

size_t gob_pages_bytes(const gob_pages *p)
{
    size_t bytes = dir_bytes(p->bits);
    for (size_t at = 0; p->count != 0 && at < (size_t)1 << p->bits; at++) {
        if (p->dir[at].page != NULL) {
            bytes += gob_page_bytes(p, p->dir[at].page);
        }
    }
    return bytes;
}

/* Validation */

static bool validate_page(const gob_pages *p, const gob_page *page, const char **why)
{
    GOB_DEMAND(page->width == 1 || page->width == 2 || page->width == p->score_bytes,
               "pages: code width");
    unsigned live = 0;
    unsigned exceptions = 0;
    unsigned places = 0;
    for (unsigned place = 0; place < page->capacity; place++) {
        unsigned position = gob_load16(place_at(p, page, place));
        places += position != GOB_NO_POSITION;
        GOB_DEMAND(position == GOB_NO_POSITION ||
                       (is_narrow(page) && position < GOB_PAGE_IDS &&
                        load_code(page, position) == code_max(page->width) + 1),
                   "pages: exception that no code refers to");
    }
    GOB_DEMAND(places == page->exceptions, "pages: exceptions in the patch");
    for (unsigned position = 0; position < GOB_PAGE_IDS; position++) {
        bool patched = is_narrow(page) && load_code(page, position) == code_max(page->width) + 1;
        if (patched) {
            double score = gob_page_get(p, page, position);
            GOB_DEMAND(code_of(score, code_max(page->width)) > code_max(page->width),
                       "pages: exception that a code holds");
        }
        exceptions += patched;
        live += !gob_is_absent(gob_page_get(p, page, position));
    }
    GOB_DEMAND(live == page->live, "pages: live count");
    GOB_DEMAND(exceptions == page->exceptions, "pages: exception count");
    GOB_DEMAND(exceptions == 0 || exceptions < page->capacity, "pages: exceptions without an end");
    GOB_DEMAND(!page->young || p->hold, "pages: young page outside a bulk call");
    return true;
}

bool gob_pages_validate(const gob_pages *p, const char **why)
{
    uint64_t count = 0;
    for (size_t at = 0; p->bits != 0 && at < (size_t)1 << p->bits; at++) {
        if (p->dir[at].page != NULL) {
            GOB_DEMAND(gob_pages_find(p, p->dir[at].number) == &p->dir[at],
                       "pages: page not found at its place");
            if (!validate_page(p, p->dir[at].page, why)) {
                return false;
            }
            count++;
        }
    }
    GOB_DEMAND(count == p->count, "pages: page count");
    return true;
}
