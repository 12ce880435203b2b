#include "gob_index.h"

#include <math.h>

#include "gob_check.h"

void gob_index_init(gob_index *ix, unsigned member_bytes, unsigned score_bytes, uint64_t seed)
{
    gob_table_init(&ix->table, member_bytes, score_bytes, seed);
    gob_pages_init(&ix->pages, score_bytes, gob_reseed(seed));
    ix->live = 0;
}

void gob_index_free(gob_index *ix, gob_alloc *a)
{
    gob_table_free(&ix->table, a);
    gob_pages_free(&ix->pages, a);
    ix->live = 0;
}

gob_status gob_index_copy(gob_index *dst, gob_alloc *a, const gob_index *src)
{
    gob_status status = gob_pages_copy(&dst->pages, a, &src->pages);
    if (status == GOB_OK && src->table.live != 0) {
        status = gob_table_rehash(&dst->table, a, src->table.live, false);
    }
    if (status != GOB_OK) {
        gob_index_free(dst, a);
        return status;
    }
    for (size_t slot = 0; (slot = gob_table_next(&src->table, slot)) != GOB_NO_SLOT; slot++) {
        gob_table_insert(&dst->table, gob_table_member(&src->table, slot),
                         gob_table_score(&src->table, slot));
    }
    dst->live = src->live;
    return GOB_OK;
}

double gob_index_get(const gob_index *ix, int64_t member)
{
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
    for (size_t slot = 0; (slot = gob_table_next(t, slot)) != GOB_NO_SLOT; slot++) {
        uint16_t *bucket =
            &sketch[sketch_bucket(gob_page_number(gob_table_member(t, slot)), size - 1)];
        full += *bucket + 1U == least;
        *bucket = (uint16_t)(*bucket + (*bucket < UINT16_MAX));
    }
    size_t room = full == 0 ? 0 : power_of_two(full * 16);
    c->at = full == 0 ? NULL : gob_calloc(a, room * sizeof *c->at);
    c->mask = room - 1;
    for (size_t slot = 0; c->at != NULL && (slot = gob_table_next(t, slot)) != GOB_NO_SLOT;
         slot++) {
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
        size_t bytes;
        gob_pages_best(&ix->pages, census, &bytes);
        if (census->total != 0 && census->total * slot_cost(&ix->table) > bytes * 64) {
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
    gob_free(a, c.at, (c.mask + 1) * sizeof *c.at);
}

/* Room in the table for one more member. */
static gob_status make_room(gob_index *ix, gob_alloc *a)
{
    gob_table *t = &ix->table;
    if (gob_table_has_room(t)) {
        return GOB_OK;
    }
    move_out(ix, a);
    size_t count = t->live + 1;
    if (ix->pages.hold) {
        /* What has left for young pages may have to come back. */
        size_t least = t->capacity * GOB_TABLE_GROWN / 64;
        count = count < least ? least : count;
    }
    if (gob_table_has_room(t) && t->dead * 4 < t->capacity) {
        return GOB_OK;
    }
    return gob_table_rehash(t, a, count, false);
}

/* Gives memory back after removals, where that is allowed. Failing to is harmless. */
static void settle_table(gob_index *ix, gob_alloc *a)
{
    gob_table *t = &ix->table;
    if (!ix->pages.hold && t->capacity > GOB_GROUP && t->live * 3 < t->capacity) {
        (void)gob_table_rehash(t, a, t->live, false);
    } else if (!ix->pages.hold && t->live == 0 && t->capacity != 0) {
        gob_table_free(t, a);
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
    size_t count = t->live + ref->page->live;
    if (count > t->live && gob_table_rehash(t, a, count, false) != GOB_OK) {
        return false;
    }
    empty_page(ix, a, ref);
    return true;
}

gob_status gob_index_put(gob_index *ix, gob_alloc *a, int64_t member, double score, double *old)
{
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
    ix->pages.hold = true;
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
    ix->pages.hold = false;
    for (size_t at = 0; at < dir_places(&ix->pages);) {
        gob_page_ref *ref = &ix->pages.dir[at];
        if (ref->page != NULL) {
            ref->page->young = false;
        }
        unsigned bits = ix->pages.bits;
        bool left = ref->page != NULL && settle_page(ix, a, ref);
        at = next_place(&ix->pages, at, left, bits);
    }
    settle_table(ix, a);
}

void gob_index_dissolve_young(gob_index *ix, gob_alloc *a)
{
    for (size_t at = 0; at < dir_places(&ix->pages);) {
        gob_page_ref *ref = &ix->pages.dir[at];
        unsigned bits = ix->pages.bits;
        bool left = ref->page != NULL && ref->page->young;
        if (left) {
            empty_page(ix, a, ref);
        }
        at = next_place(&ix->pages, at, left, bits);
    }
}

gob_status gob_index_sum(const gob_index *ix, double old, double by, double *sum)
{
    return gob_narrow(gob_is_absent(old) ? by : old + by, ix->table.score_bytes, sum);
}

/* One increment, whatever it meets. */
static gob_status increment(gob_index *ix, gob_alloc *a, int64_t member, double by, gob_journal *j,
                            size_t at, double *sum)
{
    double old = gob_index_get(ix, member);
    double back;
    GOB_TRY(gob_index_sum(ix, old, by, sum));
    bool created = gob_is_absent(old);
    bool logged =
        !created && (gob_narrow(*sum - by, ix->table.score_bytes, &back) != GOB_OK || back != old);
    if (logged) {
        GOB_TRY(gob_journal_reserve(j, a));
    }
    GOB_TRY(gob_index_put(ix, a, member, *sum, &old));
    if (created) {
        gob_journal_created(j, at);
    } else if (logged) {
        gob_journal_log(j, at, old);
    }
    return GOB_OK;
}

/* Adds a small integer to a code, where both are plain codes of a page: the path of nearly every
 * increment of a large count. Returns false where another path has to do it. */
GOB_INLINE bool bump_code(gob_page *page, unsigned position, unsigned small, double *sum)
{
    if (GOB_LIKELY(page->width == 1)) {
        unsigned code = page->codes[position];
        if (GOB_LIKELY(code + small <= 0xFD)) {
            page->codes[position] = (uint8_t)(code + small);
            *sum = code + small;
            return true;
        }
    } else if (page->width == 2) {
        unsigned code = gob_load16(page->codes + 2 * position);
        if (GOB_LIKELY(code + small <= 0xFFFD)) {
            gob_store16(page->codes + 2 * position, (uint16_t)(code + small));
            *sum = code + small;
            return true;
        }
    }
    return false;
}

/* True where a narrow page's code at this position means "exception". */
GOB_INLINE bool is_exception(const gob_page *page, unsigned position)
{
    return (page->width == 1 && page->codes[position] == 0xFE) ||
           (page->width == 2 && gob_load16(page->codes + 2 * position) == 0xFFFE);
}

/* Adds to an exception that remains one, where undoing needs no log. A large count has many of its
 * increments on the few members whose scores have outgrown their codes. */
GOB_INLINE bool bump_exception(const gob_index *ix, gob_page *page, unsigned position, double by,
                               double *sum)
{
    if (!is_exception(page, position)) {
        return false;
    }
    unsigned score_bytes = ix->pages.kind.score_bytes;
    uint8_t *at = gob_patch_find(&page->patch, ix->pages.kind, position);
    double old = gob_score_load(at, score_bytes);
    double max = page->width == 1 ? 0xFD : 0xFFFD;
    double back;
    if (gob_narrow(old + by, score_bytes, sum) != GOB_OK || !(*sum > max) || *sum == old ||
        gob_narrow(*sum - by, score_bytes, &back) != GOB_OK || back != old) {
        return false;
    }
    gob_score_store(at, score_bytes, *sum);
    return true;
}

/* Gives an absent member of a 1-byte page its first, small score. */
GOB_INLINE bool create_code(gob_index *ix, gob_page *page, unsigned position, unsigned small,
                            gob_journal *j, size_t at, double *sum)
{
    if (page->width != 1 || page->codes[position] != 0xFF || small > 0xFD) {
        return false;
    }
    page->codes[position] = (uint8_t)small;
    page->live++;
    ix->live++;
    gob_journal_created(j, at);
    *sum = small;
    return true;
}

/* Finds the page of a member and starts the load of its code, or of its slot in the table. */
GOB_INLINE gob_page_ref *look_ahead(const gob_pages *pages, const gob_table *table, int64_t member)
{
    gob_page_ref *ref = gob_pages_find(pages, gob_page_number(member));
    if (GOB_LIKELY(ref != NULL)) {
        GOB_PREFETCH(&ref->page->codes[gob_page_position(member)]);
    } else {
        gob_table_prefetch(table, member);
    }
    return ref;
}

static void look_ahead_all(const gob_index *ix, const int64_t *members, size_t n,
                           gob_page_ref **refs)
{
    for (size_t i = 0; i < n; i++) {
        refs[i] = look_ahead(&ix->pages, &ix->table, members[i]);
    }
}

/* by as a small unsigned integer, or one that no code can take. */
static unsigned small_addend(double by)
{
    return by >= 0.0 && by <= 0xFD && (double)(unsigned)by == by ? (unsigned)by : 0x10000;
}

/* A bulk increment under way. */
typedef struct bulk {
    gob_index *ix;
    gob_alloc *alloc;
    const int64_t *members;
    gob_addends add;
    gob_journal *journal;
    size_t at;
    double *out;
    gob_effects *effects;
} bulk;

/* A stretch of its inputs, between their look ahead and their writes. */
typedef struct batch {
    size_t start;
    size_t n;
    gob_page_ref *refs[GOB_BATCH];
    const gob_page_ref *dir; /* the directory that refs point into */
    uint8_t left[GOB_BATCH]; /* inputs that bulk_codes left over */
    size_t count;            /* of left */
} batch;

static void batch_begin(const bulk *b, batch *t, size_t start, size_t n)
{
    t->start = start;
    t->n = n - start < GOB_BATCH ? n - start : GOB_BATCH;
    t->dir = b->ix->pages.dir;
}

/* Input i by whichever path takes it; ref may be NULL. */
static gob_status bulk_one(const bulk *b, gob_page_ref *ref, size_t i, unsigned small)
{
    gob_index *ix = b->ix;
    unsigned position = gob_page_position(b->members[i]);
    double by = b->add.by[i * b->add.step];
    double sum;
    uint64_t live = ix->live;
    bool done =
        ref != NULL && (bump_exception(ix, ref->page, position, by, &sum) ||
                        bump_code(ref->page, position, small, &sum) ||
                        create_code(ix, ref->page, position, small, b->journal, b->at + i, &sum));
    if (!done) {
        double old = gob_index_get(ix, b->members[i]);
        b->journal->done = b->at + i;
        GOB_TRY(increment(ix, b->alloc, b->members[i], by, b->journal, b->at + i, &sum));
        b->effects->changed = b->effects->changed || sum != old;
        b->effects->stuck = b->effects->stuck || (sum == old && by != 0.0 && isfinite(old));
    } else {
        b->effects->changed = b->effects->changed || by != 0.0 || ix->live != live;
    }
    if (b->out != NULL) {
        b->out[i] = sum;
    }
    return GOB_OK;
}

/* Any increments, in input order. */
static gob_status bulk_mixed(const bulk *b, size_t n)
{
    batch t;
    for (size_t start = 0; start < n; start += t.n) {
        batch_begin(b, &t, start, n);
        look_ahead_all(b->ix, b->members + start, t.n, t.refs);
        for (size_t i = 0; i < t.n; i++) {
            gob_page_ref *ref = t.dir == b->ix->pages.dir ? t.refs[i] : NULL;
            unsigned small = small_addend(b->add.by[(start + i) * b->add.step]);
            GOB_TRY(bulk_one(b, ref, start + i, small));
        }
    }
    return GOB_OK;
}

/* One small integer added to every input: counting, the work this container is for.
 *
 * Batches pass through a pipeline of three: codes are loaded for the next, plain codes written in
 * this one, and what those left over done in the one before, whose exceptions are loaded by now.
 * This keeps the order of any one member's inputs, which matters for the journal: once one of them
 * is left over, so is every later one until it is done. */

/* Adds to all inputs of a batch that are plain codes, without a branch that depends on scores (it
 * would be mispredicted about as often as it is taken), and lists the others. The look ahead for
 * the next batch is woven in, so that loads and arithmetic overlap. */
static void bulk_codes(const bulk *b, batch *t, batch *next, unsigned small)
{
    const gob_pages pages = b->ix->pages; /* in registers: stores to codes may alias anything */
    const int64_t *members = b->members + t->start;
    size_t count = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (GOB_LIKELY(i < next->n)) {
            next->refs[i] = look_ahead(&pages, &b->ix->table, members[t->n + i]);
        }
        bool over = true;
        if (GOB_LIKELY(t->refs[i] != NULL && gob_ref_width(t->refs[i]) == 1)) {
            gob_page *page = t->refs[i]->page;
            uint8_t *at = &page->codes[gob_page_position(members[i])];
            unsigned code = *at;
            over = code + small > 0xFD;
            *at = (uint8_t)(code + (small & ((unsigned)over - 1)));
            /* The page's head, where the patch is; the code once more where that is not needed. */
            uintptr_t code_or_head =
                (uintptr_t)at ^ (((uintptr_t)at ^ (uintptr_t)page) & (0 - (uintptr_t)over));
            GOB_PREFETCH((const void *)code_or_head);
        }
        t->left[count] = (uint8_t)i;
        count += over;
    }
    t->count = count;
    b->effects->changed = b->effects->changed || (small != 0 && count < t->n);
}

/* Starts the loads of the exceptions that the inputs left over may be. */
static void look_ahead_patches(const bulk *b, const batch *t)
{
    gob_patch_kind kind = b->ix->pages.kind;
    for (size_t k = 0; k < t->count; k++) {
        const gob_page_ref *ref = t->refs[t->left[k]];
        if (ref != NULL) {
            unsigned position = gob_page_position(b->members[t->start + t->left[k]]);
            const uint8_t *group = gob_patch_home(&ref->page->patch, kind, position);
            GOB_PREFETCH(group);
            GOB_PREFETCH(group + GOB_PATCH_GROUP * (2U + kind.score_bytes) - 1);
        }
    }
}

/* Takes back what bulk_codes did to a batch from input `from` on. */
static void bulk_uncodes(const bulk *b, const batch *t, size_t from, double by)
{
    size_t k = 0;
    for (size_t i = 0; i < t->n; i++) {
        bool over = k < t->count && t->left[k] == i;
        k += over;
        if (!over && i >= from) {
            int64_t member = b->members[t->start + i];
            double old;
            gob_status status =
                gob_index_put(b->ix, b->alloc, member, gob_index_get(b->ix, member) - by, &old);
            GOB_ASSERT(status == GOB_OK); /* a plain code stays one */
            (void)status;
        }
    }
}

/* Does what is left of a batch. On failure, its later codes and those of `ahead` are taken back. */
static gob_status bulk_left(const bulk *b, const batch *t, const batch *ahead, unsigned small)
{
    for (size_t k = 0; k < t->count; k++) {
        size_t i = t->left[k];
        gob_page_ref *ref = t->dir == b->ix->pages.dir ? t->refs[i] : NULL;
        gob_status status = bulk_one(b, ref, t->start + i, small);
        if (GOB_UNLIKELY(status != GOB_OK)) {
            bulk_uncodes(b, t, i + 1, small);
            bulk_uncodes(b, ahead, 0, small);
            return status;
        }
    }
    return GOB_OK;
}

static gob_status bulk_alike(const bulk *b, size_t n, unsigned small)
{
    batch batches[3];
    batch *before = &batches[0];
    batch *now = &batches[1];
    batch *next = &batches[2];
    before->count = 0;
    batch_begin(b, now, 0, n);
    look_ahead_all(b->ix, b->members, now->n, now->refs);
    while (now->n != 0) {
        if (now->dir != b->ix->pages.dir) {
            batch_begin(b, now, now->start, n);
            look_ahead_all(b->ix, b->members + now->start, now->n, now->refs);
        }
        batch_begin(b, next, now->start + now->n, n);
        bulk_codes(b, now, next, small);
        look_ahead_patches(b, now);
        GOB_TRY(bulk_left(b, before, now, small));
        batch *done = before;
        before = now;
        now = next;
        next = done;
    }
    now->count = 0;
    return bulk_left(b, before, now, small);
}

gob_status gob_index_increment_many(gob_index *ix, gob_alloc *a, const int64_t *members,
                                    gob_addends add, size_t n, gob_journal *j, size_t at,
                                    double *out, gob_effects *effects)
{
    bulk b = {ix, a, members, add, j, at, out, effects};
    unsigned small = small_addend(add.by[0]);
    if (add.step == 0 && out == NULL && small <= 0xFD) {
        GOB_TRY(bulk_alike(&b, n, small));
    } else {
        GOB_TRY(bulk_mixed(&b, n));
    }
    j->done = at + n;
    return GOB_OK;
}

void gob_index_get_many(const gob_index *ix, const int64_t *members, size_t n, double missing,
                        double *out)
{
    gob_page_ref *refs[GOB_BATCH];
    for (size_t start = 0; start < n; start += GOB_BATCH) {
        size_t some = n - start < GOB_BATCH ? n - start : GOB_BATCH;
        look_ahead_all(ix, members + start, some, refs);
        for (size_t i = start; i < start + some; i++) {
            double score = gob_index_get(ix, members[i]);
            out[i] = gob_is_absent(score) ? missing : score;
        }
    }
}

gob_status gob_index_optimize(gob_index *ix, gob_alloc *a)
{
    move_out(ix, a);
    for (size_t at = 0; at < dir_places(&ix->pages); at++) {
        if (ix->pages.dir[at].page != NULL) {
            GOB_TRY(gob_page_optimize(&ix->pages, a, &ix->pages.dir[at]));
        }
    }
    size_t capacity = gob_table_capacity_for(ix->table.live, true);
    if (capacity != ix->table.capacity || ix->table.dead != 0) {
        return gob_table_rehash(&ix->table, a, ix->table.live, true);
    }
    return GOB_OK;
}

/* The next members of a page, and where it is done, on to the next place of the directory. */
static size_t walk_page(const gob_index *ix, gob_walk *w, int64_t *members, double *scores)
{
    const gob_page_ref *ref = &ix->pages.dir[w->page];
    size_t n = 0;
    unsigned end = ref->page == NULL ? 0 : GOB_PAGE_IDS;
    for (; w->position < end && n < GOB_WALK_MAX; w->position++) {
        scores[n] = gob_page_get(&ix->pages, ref->page, w->position);
        members[n] = gob_page_member(gob_ref_number(ref), w->position);
        n += !gob_is_absent(scores[n]);
    }
    if (w->position >= end) {
        w->position = 0;
        w->page++;
    }
    return n;
}

size_t gob_index_walk(const gob_index *ix, gob_walk *w, int64_t *members, double *scores)
{
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

bool gob_index_validate(const gob_index *ix, const char **why)
{
    if (!gob_table_validate(&ix->table, why) || !gob_pages_validate(&ix->pages, why)) {
        return false;
    }
    uint64_t live = ix->table.live;
    for (size_t at = 0; at < dir_places(&ix->pages); at++) {
        const gob_page_ref *ref = &ix->pages.dir[at];
        live += ref->page == NULL ? 0 : ref->page->live;
    }
    for (size_t slot = 0; (slot = gob_table_next(&ix->table, slot)) != GOB_NO_SLOT; slot++) {
        int64_t number = gob_page_number(gob_table_member(&ix->table, slot));
        GOB_DEMAND(gob_pages_find(&ix->pages, number) == NULL,
                   "index: a member of a page is in the table");
    }
    GOB_DEMAND(live == ix->live, "index: live count");
    return true;
}
