#include "gob_pages.h"

#include "gob_check.h"

/* Codes */

/* The largest score that a code of this width holds; above it are "exception" and "absent". */
static unsigned code_max(unsigned width)
{
    return width == 1 ? GOB_CODE1_MAX : GOB_CODE2_MAX;
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

/* Pages */

static size_t codes_bytes(unsigned width)
{
    return (size_t)GOB_PAGE_IDS * width;
}

size_t gob_page_bytes(const gob_pages *p, const gob_page *page)
{
    return gob_page_bytes_for(p, page->width, page->patch.capacity);
}

void gob_page_free(const gob_pages *p, gob_alloc *a, gob_page *page)
{
    gob_patch_free(&page->patch, a, p->kind);
    gob_free(a, page, offsetof(gob_page, codes) + codes_bytes(page->width));
}

/* An empty page with room for as many exceptions. */
static gob_page *page_new(gob_pages *p, gob_alloc *a, unsigned width, unsigned capacity)
{
    gob_page *page = gob_malloc(a, offsetof(gob_page, codes) + codes_bytes(width));
    if (page == NULL) {
        return NULL;
    }
    *page = (gob_page){.width = (uint8_t)width, .young = p->hold};
    p->unsettled = p->unsettled || p->hold;
    memset(page->codes, 0xFF, codes_bytes(width));
    if (capacity != 0 && gob_patch_resize(&page->patch, a, p->kind, capacity) != GOB_OK) {
        gob_page_free(p, a, page);
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
    size_t one =
        codes_bytes(1) + gob_patch_bytes(p->kind, gob_patch_capacity(c->total - c->narrow1, false));
    size_t two =
        codes_bytes(2) + gob_patch_bytes(p->kind, gob_patch_capacity(c->total - c->narrow2, false));
    size_t full = codes_bytes(p->kind.score_bytes);
    unsigned width = one <= two ? 1 : 2;
    size_t least = one <= two ? one : two;
    if (full < least) {
        width = p->kind.score_bytes;
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
    const uint8_t *at = gob_patch_find(&page->patch, p->kind, position);
    return at == NULL ? GOB_ABSENT : gob_score_load(at, p->kind.score_bytes);
}

gob_page_census gob_page_census_of(const gob_pages *p, const gob_page *page)
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
        gob_score_store(gob_patch_find(&page->patch, p->kind, position), p->kind.score_bytes,
                        score);
    } else if (code > max) {
        gob_patch_insert(&page->patch, p->kind, position, score);
    } else if (patched) {
        gob_patch_remove(&page->patch, p->kind, position);
    }
}

static gob_page_ref ref_to(int64_t number, unsigned width, gob_page *page)
{
    return (gob_page_ref){(uint64_t)number << GOB_PAGE_BITS | width, page};
}

/* Replaces the page by one of another width, or of the same with another patch. */
static gob_status recode(gob_pages *p, gob_alloc *a, gob_page_ref *ref, unsigned width,
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
    *ref = ref_to(gob_ref_number(ref), width, page);
    gob_page_free(p, a, old);
    return GOB_OK;
}

/* A census of a narrow page as far as widening it is concerned: its codes are known to be narrow,
 * so only its exceptions are looked at. */
static gob_page_census growth_census(const gob_pages *p, const gob_page *page)
{
    unsigned plain = (unsigned)page->live - page->patch.count;
    gob_page_census c = {plain, plain, plain};
    for (unsigned place = 0; place < page->patch.capacity; place++) {
        int position = gob_patch_position(&page->patch, p->kind, place);
        if (position >= 0) {
            gob_page_census_add(&c, gob_patch_score(&page->patch, p->kind, place));
        }
    }
    return c;
}

/* Makes room for one more exception: by a larger patch, or by wider codes where those are cheaper.
 */
static gob_status make_room(gob_pages *p, gob_alloc *a, gob_page_ref *ref, double score)
{
    gob_page_census c = growth_census(p, ref->page);
    gob_page_census_add(&c, score);
    size_t bytes;
    unsigned width = gob_pages_best(p, &c, &bytes);
    if (width > ref->page->width) {
        unsigned capacity = gob_patch_capacity(exceptions_at(&c, width), false);
        if (p->hold && capacity < ref->page->patch.capacity) {
            capacity = ref->page->patch.capacity;
        }
        return recode(p, a, ref, width, capacity);
    }
    return gob_patch_resize(&ref->page->patch, a, p->kind,
                            gob_patch_capacity(ref->page->patch.count + 1U, false));
}

gob_status gob_page_put(gob_pages *p, gob_alloc *a, gob_page_ref *ref, unsigned position,
                        double score)
{
    const gob_page *page = ref->page;
    if (is_narrow(page) && code_of(score, code_max(page->width)) > code_max(page->width) &&
        load_code(page, position) != code_max(page->width) + 1 &&
        !gob_patch_has_room(&page->patch)) {
        GOB_TRY(make_room(p, a, ref, score));
    }
    page_set(p, ref->page, position, score);
    return GOB_OK;
}

void gob_page_settle(gob_pages *p, gob_alloc *a, gob_page *page)
{
    unsigned fit = gob_patch_capacity(page->patch.count, false);
    if (!p->hold && fit * 3 < page->patch.capacity) {
        (void)gob_patch_resize(&page->patch, a, p->kind, fit); /* failing to is harmless */
    }
}

void gob_page_erase(gob_pages *p, gob_alloc *a, gob_page_ref *ref, unsigned position)
{
    gob_page *page = ref->page;
    p->unsettled = p->unsettled || p->hold;
    page->live--;
    if (!is_narrow(page)) {
        memset(page->codes + (size_t)position * page->width, 0xFF, page->width);
        return;
    }
    if (load_code(page, position) == code_max(page->width) + 1) {
        gob_patch_remove(&page->patch, p->kind, position);
        gob_page_settle(p, a, page);
    }
    store_code(page, position, code_max(page->width) + 2);
}

gob_status gob_page_optimize(gob_pages *p, gob_alloc *a, gob_page_ref *ref)
{
    gob_page_census c = gob_page_census_of(p, ref->page);
    size_t bytes;
    unsigned width = gob_pages_best(p, &c, &bytes);
    unsigned capacity = gob_patch_capacity(exceptions_at(&c, width), true);
    if (width == ref->page->width && capacity == ref->page->patch.capacity) {
        return GOB_OK;
    }
    return recode(p, a, ref, width, capacity);
}

/* The directory */

void gob_pages_init(gob_pages *p, unsigned score_bytes, uint64_t seed)
{
    *p = (gob_pages){
        .seed = seed,
        .kind = {.score_bytes = (uint8_t)score_bytes, .simd = (uint8_t)gob_cpu_simd()},
    };
}

static size_t dir_bytes(unsigned bits)
{
    return bits == 0 ? 0 : sizeof(gob_page_ref) << bits;
}

void gob_pages_free(gob_pages *p, gob_alloc *a)
{
    for (size_t at = 0; p->count != 0 && !p->borrowed && at < (size_t)1 << p->bits; at++) {
        if (p->dir[at].page != NULL) {
            gob_page_free(p, a, p->dir[at].page);
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
            *dir_place(&grown, gob_ref_number(&p->dir[at])) = p->dir[at];
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
    gob_page *page = page_new(p, a, width, gob_patch_capacity(exceptions_at(c, width), false));
    if (page == NULL) {
        return NULL;
    }
    gob_page_ref *ref = gob_pages_insert(p, a, number, width, page);
    if (ref == NULL) {
        gob_page_free(p, a, page);
    }
    return ref;
}

gob_page_ref *gob_pages_insert(gob_pages *p, gob_alloc *a, int64_t number, unsigned width,
                               gob_page *page)
{
    if (p->bits == 0 || (p->count + 1) * UINT64_C(3) > UINT64_C(2) << p->bits) {
        if (dir_resize(p, a, p->bits == 0 ? 2 : p->bits + 1U) != GOB_OK) {
            return NULL;
        }
    }
    gob_page_ref *ref = dir_place(p, number);
    *ref = ref_to(number, width, page);
    p->count++;
    return ref;
}

void gob_pages_drop(gob_pages *p, gob_alloc *a, gob_page_ref *ref)
{
    gob_page_free(p, a, ref->page);
    ref->page = NULL;
    p->count--;
    /* Later places of the run move back over the hole. */
    size_t mask = ((size_t)1 << p->bits) - 1;
    size_t hole = (size_t)(ref - p->dir);
    for (size_t at = (hole + 1) & mask; p->dir[at].page != NULL; at = (at + 1) & mask) {
        size_t home = gob_pages_home(p, gob_ref_number(&p->dir[at]));
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

gob_page *gob_page_copy(const gob_pages *p, gob_alloc *a, const gob_page *page)
{
    size_t bytes = offsetof(gob_page, codes) + codes_bytes(page->width);
    gob_page *copy = gob_malloc(a, bytes);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, page, bytes);
    copy->patch = (gob_patch){0};
    if (page->patch.capacity != 0) {
        if (gob_patch_resize(&copy->patch, a, p->kind, page->patch.capacity) != GOB_OK) {
            gob_page_free(p, a, copy);
            return NULL;
        }
        memcpy(gob_patch_groups(&copy->patch), gob_patch_groups(&page->patch),
               gob_patch_bytes(p->kind, page->patch.capacity));
        copy->patch.count = page->patch.count;
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
            gob_page *copy = gob_page_copy(src, a, src->dir[at].page);
            if (copy == NULL) {
                return GOB_NOMEM;
            }
            int64_t number = gob_ref_number(&src->dir[at]);
            *dir_place(dst, number) = ref_to(number, copy->width, copy);
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

/* How many codes of a narrow page lie from `first` on. */
static unsigned codes_from(const gob_page *page, unsigned first)
{
    unsigned count = 0;
    for (unsigned position = 0; position < GOB_PAGE_IDS; position++) {
        count += load_code(page, position) >= first;
    }
    return count;
}

static bool validate_narrow(const gob_pages *p, const gob_page *page, const char **why)
{
    unsigned max = code_max(page->width);
    unsigned absent = codes_from(page, max + 2);
    GOB_DEMAND(gob_patch_validate(&page->patch, p->kind, GOB_PAGE_IDS), "pages: patch");
    GOB_DEMAND(GOB_PAGE_IDS - absent == page->live, "pages: live count");
    GOB_DEMAND(codes_from(page, max + 1) - absent == page->patch.count, "pages: exception count");
    for (unsigned place = 0; place < page->patch.capacity; place++) {
        int position = gob_patch_position(&page->patch, p->kind, place);
        if (position >= 0) {
            GOB_DEMAND(load_code(page, (unsigned)position) == max + 1,
                       "pages: exception that no code refers to");
            double score = gob_patch_score(&page->patch, p->kind, place);
            GOB_DEMAND(gob_is_score(score), "pages: score");
            GOB_DEMAND(code_of(score, max) > max, "pages: exception that a code holds");
        }
    }
    return true;
}

static bool validate_full(const gob_pages *p, const gob_page *page, const char **why)
{
    unsigned live = 0;
    GOB_DEMAND(page->width == p->kind.score_bytes, "pages: code width");
    GOB_DEMAND(page->patch.capacity == 0 && page->patch.count == 0, "pages: needless patch");
    for (unsigned position = 0; position < GOB_PAGE_IDS; position++) {
        double score = gob_page_get(p, page, position);
        GOB_DEMAND(gob_is_absent(score) || gob_is_score(score), "pages: score");
        live += !gob_is_absent(score);
    }
    GOB_DEMAND(live == page->live, "pages: live count");
    return true;
}

static bool validate_page(const gob_pages *p, const gob_page *page, const char **why)
{
    GOB_DEMAND(!page->young || p->hold, "pages: young page outside a bulk call");
    return is_narrow(page) ? validate_narrow(p, page, why) : validate_full(p, page, why);
}

bool gob_pages_validate(const gob_pages *p, gob_pace *pace, const char **why)
{
    uint64_t count = 0;
    for (size_t at = 0; p->bits != 0 && at < (size_t)1 << p->bits; at++) {
        if (p->dir[at].page != NULL) {
            GOB_DEMAND_TIME(pace, GOB_PAGE_IDS / 4); /* several codes at once */
            GOB_DEMAND(gob_pages_find(p, gob_ref_number(&p->dir[at])) == &p->dir[at],
                       "pages: page not found at its place");
            GOB_DEMAND(gob_ref_width(&p->dir[at]) == p->dir[at].page->width,
                       "pages: width of a ref");
            if (!validate_page(p, p->dir[at].page, why)) {
                return false;
            }
            count++;
        }
    }
    GOB_DEMAND(count == p->count, "pages: page count");
    return true;
}
