#include "gob_increment.h"

#include <math.h>

#include "gob_check.h"

/* One increment, whatever it meets. *old gets the score before, or GOB_ABSENT. */
static gob_status increment(gob_index *ix, gob_alloc *a, int64_t member, double by, gob_journal *j,
                            size_t at, double *old, double *sum)
{
    const gob_page_ref *ref = gob_pages_find(&ix->pages, gob_page_number(member));
    size_t slot = ref == NULL ? gob_table_find(&ix->table, member) : GOB_NO_SLOT;
    *old = slot != GOB_NO_SLOT ? gob_table_score(&ix->table, slot)
           : ref != NULL       ? gob_page_get(&ix->pages, ref->page, gob_page_position(member))
                               : GOB_ABSENT;
    GOB_TRY(gob_index_sum(ix, *old, by, sum));
    bool created = gob_is_absent(*old);
    bool logged = gob_is_lossy(*old, by, *sum, ix->score_bytes);
    if (logged) {
        GOB_TRY(gob_journal_reserve(j, a));
    }
    if (slot != GOB_NO_SLOT) {
        gob_table_set_score(&ix->table, slot, *sum);
    } else {
        GOB_TRY(gob_index_put(ix, a, member, *sum, old));
    }
    if (created) {
        gob_journal_created(j, at);
    } else if (logged) {
        gob_journal_log(j, at, *old);
    }
    return GOB_OK;
}

/* Adds a small integer to a code, where both are plain codes of a page: the path of nearly every
 * increment of a large count. Returns false where another path has to do it. */
GOB_INLINE bool bump_code(gob_page *page, unsigned position, unsigned small, double *sum)
{
    if (GOB_LIKELY(page->width == 1)) {
        unsigned code = page->codes[position];
        if (GOB_LIKELY(code + small <= GOB_CODE1_MAX)) {
            page->codes[position] = (uint8_t)(code + small);
            *sum = code + small;
            return true;
        }
    } else if (page->width == 2) {
        unsigned code = gob_load16(page->codes + 2 * position);
        if (GOB_LIKELY(code + small <= GOB_CODE2_MAX)) {
            gob_store16(page->codes + 2 * position, (uint16_t)(code + small));
            *sum = code + small;
            return true;
        }
    }
    return false;
}

/* Adds to an exception that remains one, where undoing needs no log. A large count has many of its
 * increments on the few members whose scores have outgrown their codes. */
GOB_INLINE bool bump_exception(const gob_index *ix, gob_page *page, unsigned position, double by,
                               double *sum)
{
    if (!gob_page_is_exception(page, position)) {
        return false;
    }
    unsigned score_bytes = ix->pages.kind.score_bytes;
    uint8_t *at = gob_patch_find(&page->patch, ix->pages.kind, position);
    double old = gob_score_load(at, score_bytes);
    double max = gob_page_code_max(page);
    if (gob_narrow(old + by, score_bytes, sum) != GOB_OK || !(*sum > max) || *sum == old ||
        gob_is_lossy(old, by, *sum, score_bytes)) {
        return false;
    }
    gob_score_store(at, score_bytes, *sum);
    return true;
}

/* Gives an absent member of a 1-byte page its first, small score. */
GOB_INLINE bool create_code(gob_index *ix, gob_page *page, unsigned position, unsigned small,
                            gob_journal *j, size_t at, double *sum)
{
    if (page->width != 1 || page->codes[position] != GOB_CODE1_MAX + 2 || small > GOB_CODE1_MAX) {
        return false;
    }
    page->codes[position] = (uint8_t)small;
    page->live++;
    ix->live++;
    gob_journal_created(j, at);
    *sum = small;
    return true;
}

static void look_ahead_all(const gob_index *ix, const int64_t *members, size_t n,
                           gob_page_ref **refs)
{
    for (size_t i = 0; i < n; i++) {
        refs[i] = gob_index_look_ahead(&ix->pages, &ix->table, members[i]);
    }
}

/* by as a small unsigned integer, or one that no code can take. */
static unsigned small_addend(double by)
{
    return by >= 0.0 && by <= GOB_CODE1_MAX && (double)(unsigned)by == by ? (unsigned)by : 0x10000;
}

/* A bulk increment under way. */
typedef struct bulk {
    gob_index *ix;
    gob_alloc *alloc;
    const int64_t *members;
    gob_column by;
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
    uint8_t bits;            /* of the directory that refs point into: it only ever grows here, and
                              * an address could come again */
    uint8_t left[GOB_BATCH]; /* inputs that bulk_codes left over */
    size_t count;            /* of left */
} batch;

static void batch_begin(const bulk *b, batch *t, size_t start, size_t n)
{
    t->start = start;
    t->n = n - start < GOB_BATCH ? n - start : GOB_BATCH;
    t->bits = b->ix->pages.bits;
}

/* Input i by whichever path takes it; ref may be NULL. */
static gob_status bulk_one(const bulk *b, gob_page_ref *ref, size_t i, double by, unsigned small)
{
    gob_index *ix = b->ix;
    int64_t member = b->members[i];
    unsigned position = gob_page_position(member);
    double sum;
    uint64_t live = ix->live;
    bool done =
        ref != NULL && (bump_exception(ix, ref->page, position, by, &sum) ||
                        bump_code(ref->page, position, small, &sum) ||
                        create_code(ix, ref->page, position, small, b->journal, b->at + i, &sum));
    if (!done) {
        double old;
        b->journal->done = b->at + i;
        GOB_TRY(increment(ix, b->alloc, member, by, b->journal, b->at + i, &old, &sum));
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
    unsigned small[GOB_BATCH];
    for (size_t start = 0; start < n; start += t.n) {
        batch_begin(b, &t, start, n);
        look_ahead_all(b->ix, b->members + start, t.n, t.refs);
        for (size_t i = 0; i < t.n; i++) {
            /* Fractions make exceptions: the first 10 M of them took 2.0 s without these loads, 0.9
             * with. */
            small[i] = small_addend(b->by.at[(start + i) * b->by.step]);
            int64_t member = b->members[start + i];
            if (t.refs[i] == NULL) {
                gob_index_warm_slot(&b->ix->table, member);
            } else if (small[i] > GOB_CODE1_MAX) {
                gob_page_warm_exception(&b->ix->pages, t.refs[i]->page, gob_page_position(member));
            }
        }
        for (size_t i = 0; i < t.n; i++) {
            gob_page_ref *ref = t.bits == b->ix->pages.bits ? t.refs[i] : NULL;
            double by = b->by.at[(start + i) * b->by.step];
            GOB_TRY(bulk_one(b, ref, start + i, by, small[i]));
        }
    }
    return GOB_OK;
}

/* One small integer added to every input: counting, the work this container is for.
 *
 * Batches pass through a pipeline of three: codes are loaded for the next, plain codes written in
 * this one, and what those left over done in the one before, whose exceptions are loaded by now.
 * Once an input is left over, so are its member's later ones until it is done, unless the member
 * has moved to a page meanwhile; then it existed before, and equal addends to a plain code may
 * swap. */

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
            next->refs[i] = gob_index_look_ahead(&pages, &b->ix->table, members[t->n + i]);
        }
        bool over = true;
        if (GOB_LIKELY(t->refs[i] != NULL && gob_ref_width(t->refs[i]) == 1)) {
            gob_page *page = t->refs[i]->page;
            uint8_t *at = &page->codes[gob_page_position(members[i])];
            unsigned code = *at;
            over = code + small > GOB_CODE1_MAX;
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

/* Starts the loads of the exceptions or table slots that the inputs left over may be. */
static void look_ahead_left(const bulk *b, const batch *t)
{
    for (size_t k = 0; k < t->count; k++) {
        const gob_page_ref *ref = t->refs[t->left[k]];
        int64_t member = b->members[t->start + t->left[k]];
        if (ref == NULL) {
            gob_index_warm_slot(&b->ix->table, member);
        } else {
            gob_page_warm_exception(&b->ix->pages, ref->page, gob_page_position(member));
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
            double old = gob_index_get(b->ix, member);
            if (gob_is_absent(old)) {
                continue; /* only where the caller's input has changed under the call */
            }
            gob_status status = gob_index_put(b->ix, b->alloc, member, old - by, &old);
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
        gob_page_ref *ref = t->bits == b->ix->pages.bits ? t->refs[i] : NULL;
        gob_status status = bulk_one(b, ref, t->start + i, small, small);
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
        if (now->bits != b->ix->pages.bits) {
            batch_begin(b, now, now->start, n);
            look_ahead_all(b->ix, b->members + now->start, now->n, now->refs);
        }
        batch_begin(b, next, now->start + now->n, n);
        bulk_codes(b, now, next, small);
        look_ahead_left(b, now);
        GOB_TRY(bulk_left(b, before, now, small));
        batch *done = before;
        before = now;
        now = next;
        next = done;
    }
    now->count = 0;
    return bulk_left(b, before, now, small);
}

gob_status gob_increment_many(gob_index *ix, gob_alloc *a, const int64_t *members, gob_column by,
                              size_t n, gob_journal *j, size_t at, double *out,
                              gob_effects *effects)
{
    bulk b = {ix, a, members, by, j, at, out, effects};
    unsigned small = small_addend(by.at[0]);
    if (by.step == 0 && out == NULL && small <= GOB_CODE1_MAX) {
        GOB_TRY(bulk_alike(&b, n, small));
    } else {
        GOB_TRY(bulk_mixed(&b, n));
    }
    j->done = at + n;
    return GOB_OK;
}
