#include "gob_index.h"

#include <math.h>

#include "gob_check.h"
#include "gob_kernels.h"

void gob_index_init(gob_index *ix, gob_layout layout, uint64_t seed)
{
    if (layout.named) {
        gob_members_init(&ix->members, layout.fixed, layout.score_bytes, seed);
    } else {
        gob_table_init(&ix->table, layout.member_bytes, layout.score_bytes, seed);
        gob_pages_init(&ix->pages, layout.score_bytes, gob_reseed(seed));
    }
    ix->live = 0;
    ix->score_bytes = layout.score_bytes;
    ix->named = layout.named;
}

void gob_index_free(gob_index *ix, gob_alloc *a)
{
    if (ix->named) {
        gob_members_free(&ix->members, a);
    } else {
        gob_table_free(&ix->table, a);
        gob_pages_free(&ix->pages, a);
    }
    ix->live = 0;
}

gob_status gob_index_copy(gob_index *dst, gob_alloc *a, const gob_index *src)
{
    if (src->named) {
        GOB_TRY(gob_members_copy(&dst->members, a, &src->members));
        dst->live = src->live;
        return GOB_OK;
    }
    gob_status status = gob_pages_copy(&dst->pages, a, &src->pages);
    if (status == GOB_OK && src->table.live != 0) {
        status = gob_table_rehash(&dst->table, a, src->table.live, false);
        status = status == GOB_OK ? gob_table_pour(&src->table, a, &dst->table) : status;
    }
    if (status != GOB_OK) {
        gob_index_free(dst, a);
        return status;
    }
    dst->live = src->live;
    return GOB_OK;
}

double gob_index_get(const gob_index *ix, int64_t member)
{
    if (ix->named) {
        return member == GOB_NO_ID ? GOB_ABSENT : gob_members_score(&ix->members, member);
    }
    const gob_page_ref *ref = gob_pages_find(&ix->pages, gob_page_number(member));
    if (ref != NULL) {
        return gob_page_get(&ix->pages, ref->page, gob_page_position(member));
    }
    size_t slot = gob_table_find(&ix->table, member);
    return slot == GOB_NO_SLOT ? GOB_ABSENT : gob_table_score(&ix->table, slot);
}

/* Moving dense pages out of the table
 *
 * A sketch counts table members by hashed page number; only pages in full buckets get an exact
 * census, and those that are cheaper as pages move. */

typedef struct candidate {
    int64_t number;
    gob_page_census census; /* total 0: free */
} candidate;

typedef struct candidates {
    candidate *at;
    size_t mask;
    size_t count;
} candidates;

/* What a member costs in the table, in 64ths of a byte. */
static size_t slot_cost(const gob_table *t)
{
    size_t slot = 1U + t->member_bytes + t->score_bytes;
    return slot * 64 * 64 / ((GOB_TABLE_FULL + GOB_TABLE_GROWN) / 2);
}

/* Members from which on even the cheapest page pays. */
static size_t least_page(const gob_index *ix)
{
    gob_page_census none = {0};
    size_t bytes;
    gob_pages_best(&ix->pages, &none, &bytes);
    return bytes * 64 / slot_cost(&ix->table) + 1;
}

/* Whether members are cheaper as a page. */
static bool pays(const gob_index *ix, const gob_page_census *census)
{
    size_t bytes;
    gob_pages_best(&ix->pages, census, &bytes);
    return census->total * slot_cost(&ix->table) > bytes * 64;
}

static size_t sketch_bucket(int64_t number, size_t mask)
{
    return (size_t)(((uint64_t)number * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
}

static candidate *candidate_of(candidates *c, int64_t number)
{
    size_t at = sketch_bucket(number, c->mask);
    while (c->at[at].census.total != 0 && c->at[at].number != number) {
        at = (at + 1) & c->mask;
    }
    return &c->at[at];
}

static size_t power_of_two(size_t least)
{
    size_t size = 64;
    while (size < least) {
        size *= 2;
    }
    return size;
}

static void free_candidates(candidates *c, gob_alloc *a)
{
    gob_free(a, c->at, c->at == NULL ? 0 : (c->mask + 1) * sizeof *c->at);
    c->at = NULL;
}

/* Takes a census of the pages whose sketch bucket is full. *c is allocated where there are any. */
static void find_candidates(const gob_index *ix, gob_alloc *a, candidates *c)
{
    const gob_table *t = &ix->table;
    size_t least = least_page(ix);
    *c = (candidates){0};
    if (t->live < least) {
        return;
    }
    size_t size = power_of_two(t->live / 8);
    uint16_t *sketch = gob_calloc(a, size * sizeof *sketch);
    if (sketch == NULL) {
        return;
    }
    size_t full = 0;
    gob_status status = GOB_OK;
    for (size_t slot = 0; (slot = gob_table_next(t, slot)) != GOB_NO_SLOT; slot++) {
        status = gob_spend(a->pace, 1);
        if (status != GOB_OK) {
            break;
        }
        uint16_t *bucket =
            &sketch[sketch_bucket(gob_page_number(gob_table_member(t, slot)), size - 1)];
        full += *bucket + 1U == least;
        *bucket = (uint16_t)(*bucket + (*bucket < UINT16_MAX));
    }
    bool any = full != 0 && status == GOB_OK;
    size_t room = any ? power_of_two(full * 16) : 0;
    c->at = !any ? NULL : gob_calloc(a, room * sizeof *c->at);
    c->mask = room - 1;
    for (size_t slot = 0; c->at != NULL && (slot = gob_table_next(t, slot)) != GOB_NO_SLOT;
         slot++) {
        if (gob_spend(a->pace, 1) != GOB_OK) {
            free_candidates(c, a);
            break;
        }
        int64_t number = gob_page_number(gob_table_member(t, slot));
        if (sketch[sketch_bucket(number, size - 1)] < least) {
            continue;
        }
        candidate *found = candidate_of(c, number);
        if (found->census.total == 0) {
            if (c->count >= room / 4 * 3) {
                continue; /* crowded out for now; the next growth tries again */
            }
            found->number = number;
            c->count++;
        }
        gob_page_census_add(&found->census, gob_table_score(t, slot));
    }
    gob_free(a, sketch, size * sizeof *sketch);
}

/* Makes the pages that pay. Their members are still in the table. */
static size_t add_pages(gob_index *ix, gob_alloc *a, const candidates *c)
{
    size_t added = 0;
    for (size_t i = 0; i <= c->mask; i++) {
        const gob_page_census *census = &c->at[i].census;
        if (census->total != 0 && pays(ix, census)) {
            if (gob_pages_add(&ix->pages, a, c->at[i].number, census) == NULL) {
                break;
            }
            added++;
        }
    }
    return added;
}

static void move_out(gob_index *ix, gob_alloc *a)
{
    candidates c;
    find_candidates(ix, a, &c);
    if (c.at == NULL) {
        return;
    }
    gob_table *t = &ix->table;
    bool moving = add_pages(ix, a, &c) != 0;
    for (size_t slot = 0; moving && (slot = gob_table_next(t, slot)) != GOB_NO_SLOT; slot++) {
        int64_t member = gob_table_member(t, slot);
        gob_page_ref *ref = gob_pages_find(&ix->pages, gob_page_number(member));
        if (ref != NULL) {
            /* The census gave the page room for its exceptions, so this does not allocate. */
            gob_status status = gob_page_put(&ix->pages, a, ref, gob_page_position(member),
                                             gob_table_score(t, slot));
            GOB_ASSERT(status == GOB_OK);
            (void)status;
            gob_table_erase(t, slot);
        }
    }
    free_candidates(&c, a);
}

/* Room in the table for one more member. */
static gob_status make_room(gob_index *ix, gob_alloc *a)
{
    gob_table *t = &ix->table;
    if (gob_table_has_room(t, 1)) {
        return GOB_OK;
    }
    move_out(ix, a);
    size_t count = t->live + 1;
    if (ix->pages.hold) {
        /* What has left for young pages may have to come back. */
        size_t least = t->capacity * GOB_TABLE_GROWN / 64;
        count = count < least ? least : count;
    }
    if (gob_table_has_room(t, 1) && t->dead * 4 < t->capacity) {
        return GOB_OK;
    }
    return gob_table_rehash(t, a, count, false);
}

/* Gives memory back after removals, where that is allowed. Failing to is harmless. */
static void settle_table(gob_index *ix, gob_alloc *a)
{
    gob_table *t = &ix->table;
    bool large = t->capacity > GOB_GROUP || t->live == 0;
    if (!ix->pages.hold && large && t->live * 3 < t->capacity) {
        (void)gob_table_rehash(t, a, t->live, false);
    }
}

/* The members of a page, into a table that has room for them. */
static void empty_page(gob_index *ix, gob_alloc *a, gob_page_ref *ref)
{
    for (unsigned position = 0; position < GOB_PAGE_IDS; position++) {
        double score = gob_page_get(&ix->pages, ref->page, position);
        if (!gob_is_absent(score)) {
            gob_table_insert(&ix->table, gob_page_member(gob_ref_number(ref), position), score);
        }
    }
    gob_pages_drop(&ix->pages, a, ref);
}

/* A page that has become sparse moves back. Where memory is short it stays. */
static bool settle_page(gob_index *ix, gob_alloc *a, gob_page_ref *ref)
{
    if (ix->pages.hold || ref->page->live * UINT64_C(4) >= least_page(ix)) {
        return false;
    }
    gob_table *t = &ix->table;
    size_t coming = ref->page->live;
    if (!gob_table_has_room(t, coming) &&
        gob_table_rehash(t, a, t->live + coming, false) != GOB_OK) {
        return false;
    }
    empty_page(ix, a, ref);
    return true;
}

gob_status gob_index_put(gob_index *ix, gob_alloc *a, int64_t member, double score, double *old)
{
    if (ix->named) {
        *old = gob_members_score(&ix->members, member);
        gob_members_set_score(&ix->members, member, score);
        ix->live += gob_is_absent(*old);
        return GOB_OK;
    }
    gob_page_ref *ref = gob_pages_find(&ix->pages, gob_page_number(member));
    size_t slot = ref == NULL ? gob_table_find(&ix->table, member) : GOB_NO_SLOT;
    if (slot != GOB_NO_SLOT) {
        *old = gob_table_score(&ix->table, slot);
        gob_table_set_score(&ix->table, slot, score);
        return GOB_OK;
    }
    if (ref == NULL) {
        GOB_TRY(make_room(ix, a));
        ref = gob_pages_find(&ix->pages, gob_page_number(member));
    }
    if (ref == NULL) {
        gob_table_insert(&ix->table, member, score);
        *old = GOB_ABSENT;
    } else {
        unsigned position = gob_page_position(member);
        *old = gob_page_get(&ix->pages, ref->page, position);
        GOB_TRY(gob_page_put(&ix->pages, a, ref, position, score));
    }
    ix->live += gob_is_absent(*old);
    return GOB_OK;
}

double gob_index_erase(gob_index *ix, gob_alloc *a, int64_t member)
{
    double old = GOB_ABSENT;
    if (ix->named) {
        old = gob_members_score(&ix->members, member);
        gob_members_set_score(&ix->members, member, GOB_ABSENT);
        ix->live -= !gob_is_absent(old);
        return old;
    }
    gob_page_ref *ref = gob_pages_find(&ix->pages, gob_page_number(member));
    if (ref != NULL) {
        unsigned position = gob_page_position(member);
        old = gob_page_get(&ix->pages, ref->page, position);
        if (!gob_is_absent(old)) {
            gob_page_erase(&ix->pages, a, ref, position);
            settle_page(ix, a, ref);
        }
    } else {
        size_t slot = gob_table_find(&ix->table, member);
        if (slot != GOB_NO_SLOT) {
            old = gob_table_score(&ix->table, slot);
            gob_table_erase(&ix->table, slot);
            settle_table(ix, a);
        }
    }
    ix->live -= !gob_is_absent(old);
    return old;
}

/* Bulk calls */

void gob_index_begin(gob_index *ix)
{
    if (!ix->named) {
        ix->pages.hold = true;
    }
}

static size_t dir_places(const gob_pages *p)
{
    return p->bits == 0 ? 0 : (size_t)1 << p->bits;
}

/* Where a pass over the directory goes on: where a page has left, another may have moved in, and a
 * directory that has shrunk since it had 2**bits places is passed over again. */
static size_t next_place(const gob_pages *p, size_t at, bool left, unsigned bits)
{
    return bits != p->bits ? 0 : left ? at : at + 1;
}

void gob_index_end(gob_index *ix, gob_alloc *a)
{
    if (ix->named) {
        return;
    }
    bool unsettled = ix->pages.unsettled;
    ix->pages.hold = ix->pages.unsettled = false;
    for (size_t at = 0; unsettled && at < dir_places(&ix->pages);) {
        gob_page_ref *ref = &ix->pages.dir[at];
        if (ref->page != NULL) {
            ref->page->young = false;
            gob_page_settle(&ix->pages, a, ref->page);
        }
        unsigned bits = ix->pages.bits;
        bool left = ref->page != NULL && settle_page(ix, a, ref);
        at = next_place(&ix->pages, at, left, bits);
    }
    settle_table(ix, a);
}

void gob_index_dissolve_young(gob_index *ix, gob_alloc *a)
{
    for (size_t at = 0; !ix->named && at < dir_places(&ix->pages);) {
        gob_page_ref *ref = &ix->pages.dir[at];
        unsigned bits = ix->pages.bits;
        /* There is room for all of it, unless the caller's input has changed under the call. */
        bool left = ref->page != NULL && ref->page->young &&
                    ref->page->live <= ix->table.capacity - ix->table.live;
        if (left) {
            empty_page(ix, a, ref);
        }
        at = next_place(&ix->pages, at, left, bits);
    }
}

gob_status gob_index_sum(const gob_index *ix, double old, double by, double *sum)
{
    return gob_narrow(gob_is_absent(old) ? by : old + by, ix->score_bytes, sum);
}

void gob_index_warm(const gob_index *ix, const int64_t *members, size_t n)
{
    const gob_page_ref *refs[GOB_BATCH];
    for (size_t i = 0; i < n; i++) {
        refs[i] = gob_index_look_ahead(&ix->pages, &ix->table, members[i]);
    }
    for (size_t i = 0; i < n; i++) {
        unsigned position = gob_page_position(members[i]);
        if (refs[i] == NULL) {
            gob_index_warm_slot(&ix->table, members[i]);
        } else if (gob_page_is_exception(refs[i]->page, position)) {
            gob_page_warm_exception(&ix->pages, refs[i]->page, position);
        }
    }
}

void gob_index_get_many(const gob_index *ix, const int64_t *members, size_t n, double missing,
                        double *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i % GOB_BATCH == 0 && !ix->named) {
            gob_index_warm(ix, members + i, n - i < GOB_BATCH ? n - i : GOB_BATCH);
        }
        double score = gob_index_get(ix, members[i]);
        out[i] = gob_is_absent(score) ? missing : score;
    }
}

static bool page_pays(const gob_index *ix, const gob_page_ref *ref)
{
    gob_page_census census = gob_page_census_of(&ix->pages, ref->page);
    return pays(ix, &census);
}

/* Pages stay for a while after they have stopped to pay: what is packed does not tell how it came
 * about. */
static gob_status dissolve_dear(gob_index *ix, gob_alloc *a)
{
    size_t coming = 0;
    for (size_t at = 0; at < dir_places(&ix->pages); at++) {
        const gob_page_ref *ref = &ix->pages.dir[at];
        coming += ref->page == NULL || page_pays(ix, ref) ? 0 : ref->page->live;
    }
    if (coming == 0) {
        return GOB_OK;
    }
    if (!gob_table_has_room(&ix->table, coming)) {
        GOB_TRY(gob_table_rehash(&ix->table, a, ix->table.live + coming, false));
    }
    for (size_t at = 0; at < dir_places(&ix->pages);) {
        gob_page_ref *ref = &ix->pages.dir[at];
        unsigned bits = ix->pages.bits;
        bool left = ref->page != NULL && !page_pays(ix, ref);
        if (left) {
            empty_page(ix, a, ref);
        }
        at = next_place(&ix->pages, at, left, bits);
    }
    return GOB_OK;
}

gob_status gob_index_optimize(gob_index *ix, gob_alloc *a)
{
    GOB_TRY(dissolve_dear(ix, a));
    move_out(ix, a);
    for (size_t at = 0; at < dir_places(&ix->pages); at++) {
        if (ix->pages.dir[at].page != NULL) {
            GOB_TRY(gob_spend(a->pace, GOB_PAGE_IDS));
            GOB_TRY(gob_page_optimize(&ix->pages, a, &ix->pages.dir[at]));
        }
    }
    size_t capacity = gob_table_capacity_for(ix->table.live, true);
    if (capacity != ix->table.capacity || ix->table.dead != 0) {
        return gob_table_rehash(&ix->table, a, ix->table.live, true);
    }
    return GOB_OK;
}

/* How many plain codes of a 1-byte page lie in the interval. */
static uint64_t count_codes(const gob_index *ix, const gob_page *page, gob_interval within)
{
    double first = ceil(within.lo);
    double last = floor(within.hi);
    first += within.open_lo && first == within.lo;
    last -= within.open_hi && last == within.hi;
    first = first > 0 ? first : 0;
    last = last < GOB_CODE1_MAX ? last : GOB_CODE1_MAX;
    const gob_kernels *kernels = gob_kernels_for((gob_simd)ix->pages.kind.simd);
    return first > last
               ? 0
               : kernels->count_codes(page->codes, GOB_PAGE_IDS, (uint8_t)first, (uint8_t)last);
}

gob_status gob_index_count(const gob_index *ix, gob_interval within, gob_pace *pace, uint64_t *out)
{
    int64_t members[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    uint64_t count = 0;
    for (size_t at = 0; !ix->named && at < dir_places(&ix->pages); at++) {
        const gob_page *page = ix->pages.dir[at].page;
        GOB_TRY(gob_spend(pace, GOB_WALK_MAX));
        if (page != NULL && page->width == 1) {
            count += count_codes(ix, page, within);
        }
    }
    gob_walk w = {.codes_from = GOB_CODE1_MAX + 1}; /* everything but those codes */
    for (size_t n; (n = gob_index_walk(ix, &w, members, scores)) != 0;) {
        GOB_TRY(gob_spend(pace, GOB_WALK_MAX));
        for (size_t i = 0; i < n; i++) {
            count += gob_within(within, scores[i]);
        }
    }
    *out = count;
    return GOB_OK;
}

/* The next members of a page, or of its exceptions only, where its codes are too low; and where it
 * is done, on to the next place of the directory. */
static size_t walk_page(const gob_index *ix, gob_walk *w, int64_t *members, double *scores)
{
    const gob_page_ref *ref = &ix->pages.dir[w->page];
    const gob_page *page = ref->page;
    if (w->position == 0) {
        w->patch_only = page != NULL && gob_page_code_max(page) < w->codes_from;
    }
    unsigned end = page == NULL ? 0 : w->patch_only ? page->patch.capacity : GOB_PAGE_IDS;
    size_t n = 0;
    for (; w->position < end && n < GOB_WALK_MAX; w->position++) {
        int position = w->patch_only ? gob_patch_position(&page->patch, ix->pages.kind, w->position)
                                     : (int)w->position;
        if (position >= 0) {
            scores[n] = w->patch_only ? gob_patch_score(&page->patch, ix->pages.kind, w->position)
                                      : gob_page_get(&ix->pages, page, (unsigned)position);
            members[n] = gob_page_member(gob_ref_number(ref), (unsigned)position);
            n += !gob_is_absent(scores[n]);
        }
    }
    if (w->position >= end) {
        w->position = 0;
        w->page++;
    }
    return n;
}

size_t gob_index_walk(const gob_index *ix, gob_walk *w, int64_t *members, double *scores)
{
    if (ix->named) {
        return gob_members_walk(&ix->members, &w->slot, GOB_WALK_MAX, members, scores);
    }
    size_t n = 0;
    while (n == 0 && w->page < dir_places(&ix->pages)) {
        n = walk_page(ix, w, members, scores);
    }
    while (n == 0 && w->slot < ix->table.capacity) {
        size_t end = w->slot + GOB_WALK_MAX;
        end = end < ix->table.capacity ? end : ix->table.capacity;
        for (; (w->slot = gob_table_next(&ix->table, w->slot)) < end; w->slot++) {
            members[n] = gob_table_member(&ix->table, w->slot);
            scores[n++] = gob_table_score(&ix->table, w->slot);
        }
    }
    return n;
}

static bool validate_names(const gob_index *ix, gob_pace *pace, const char **why)
{
    int64_t ids[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    uint64_t live = 0;
    size_t at = 0;
    if (!gob_members_validate(&ix->members, pace, why)) {
        return false;
    }
    for (size_t n; (n = gob_members_walk(&ix->members, &at, GOB_WALK_MAX, ids, scores)) != 0;) {
        live += n;
        GOB_DEMAND_TIME(pace, n);
        for (size_t i = 0; i < n; i++) {
            GOB_DEMAND(gob_is_score(scores[i]), "index: score");
        }
    }
    GOB_DEMAND(live == ix->live, "index: live names");
    return true;
}

uint64_t gob_index_counted(const gob_index *ix)
{
    uint64_t live = ix->table.live;
    for (size_t at = 0; at < dir_places(&ix->pages); at++) {
        const gob_page_ref *ref = &ix->pages.dir[at];
        live += ref->page == NULL ? 0 : ref->page->live;
    }
    return live;
}

bool gob_index_validate(const gob_index *ix, gob_pace *pace, const char **why)
{
    if (ix->named) {
        return validate_names(ix, pace, why);
    }
    if (!gob_table_validate(&ix->table, pace, why) || !gob_pages_validate(&ix->pages, pace, why)) {
        return false;
    }
    for (size_t slot = 0; (slot = gob_table_next(&ix->table, slot)) != GOB_NO_SLOT; slot++) {
        int64_t number = gob_page_number(gob_table_member(&ix->table, slot));
        GOB_DEMAND_TIME(pace, 1);
        GOB_DEMAND(gob_pages_find(&ix->pages, number) == NULL,
                   "index: a member of a page is in the table");
        GOB_DEMAND(gob_is_score(gob_table_score(&ix->table, slot)), "index: score");
    }
    GOB_DEMAND(gob_index_counted(ix) == ix->live, "index: live count");
    return true;
}
