/* Two streams are merged into the builder.
 *
 * Ties: members of pages whose score is a small integer, the bulk of any large count. One pass over
 * the pages in member order drops each member into the bucket of its score; a bucket that fills a
 * block is packed at once. So the largest groups are never sorted and never held unpacked.
 *
 * The rest: exceptions, large and fractional scores, table members. These are taken in ascending
 * ranges, cut by histograms of the keys' leading digits so that a range fits the buffer, and radix
 * sorted. A tie too large for the buffer is cut by member digits in the same way, or by the first
 * seven bytes in which names differ. */
#include "gob_build.h"

#include <stdlib.h>

#include "gob_check.h"
#include "gob_sort.h"

enum {
    BUCKETS = GOB_CODE1_MAX + 1, /* the scores that a 1-byte code holds */
    DIGIT_BITS = 16,
    DIGITS = 128 / DIGIT_BITS, /* of key and member together */
#ifdef GOB_DEBUG
    RANGE_MIN = 1 << 12, /* so that tests need no large sets to cut ranges */
#else
    RANGE_MIN = 1 << 19,
#endif
    RANGE_SHARE = 8, /* a range holds at most this share of the members */
};

/* The members with one small score: packed blocks, and the start of the next. */
typedef struct bucket {
    gob_child *blocks;
    size_t count;
    size_t capacity;
    size_t pending;
    uint64_t members[GOB_BLOCK_MAX];
} bucket;

typedef struct build {
    const gob_index *ix;
    const gob_members *names; /* or NULL */
    size_t skip;              /* bytes in which all names agree */
    gob_alloc *alloc;
    gob_layout layout;
    gob_builder builder;
    bucket *buckets; /* NULL where there are no pages */
    gob_entry *range;
    gob_entry *scratch;
    size_t range_max;
    uint64_t rest;
    /* The next entry of the ties. */
    unsigned code;
    size_t block;
    size_t inside;
    gob_window window; /* of the current block, once it is read entry by entry */
} build;

static bool is_bucketed(double score)
{
    return score >= 0.0 && score < BUCKETS && (double)(unsigned)score == score;
}

/* Filling the buckets */

static gob_status bucket_pack(build *b, unsigned code)
{
    bucket *k = &b->buckets[code];
    if (k->count == k->capacity) {
        size_t capacity = k->capacity + k->capacity / 2 + 8;
        gob_child *blocks = gob_realloc(b->alloc, k->blocks, k->capacity * sizeof *blocks,
                                        capacity * sizeof *blocks);
        if (blocks == NULL) {
            return GOB_NOMEM;
        }
        k->blocks = blocks;
        k->capacity = capacity;
    }
    uint64_t keys[GOB_BLOCK_MAX];
    for (size_t i = 0; i < GOB_BLOCK_MAX; i++) {
        keys[i] = gob_key(code);
    }
    gob_block *block = gob_block_encode(b->alloc, b->layout, keys, k->members, GOB_BLOCK_MAX);
    if (block == NULL) {
        return GOB_NOMEM;
    }
    k->blocks[k->count++] = (gob_child){{keys[0], k->members[0]}, GOB_BLOCK_MAX, block};
    k->pending = 0;
    return GOB_OK;
}

static gob_status bucket_page(build *b, const gob_page_ref *ref)
{
    uint64_t base = gob_bias(gob_page_member(gob_ref_number(ref), 0));
    const gob_page *page = ref->page;
    for (unsigned position = 0; position < GOB_PAGE_IDS; position++) {
        unsigned code;
        if (page->width == 1) {
            code = page->codes[position];
            if (code >= BUCKETS) {
                b->rest += code == BUCKETS; /* an exception; above it is "absent" */
                continue;
            }
        } else {
            double score = gob_page_get(&b->ix->pages, page, position);
            if (!is_bucketed(score)) {
                b->rest += !gob_is_absent(score);
                continue;
            }
            code = (unsigned)score;
        }
        bucket *k = &b->buckets[code];
        k->members[k->pending++] = base + position;
        if (GOB_UNLIKELY(k->pending == GOB_BLOCK_MAX)) {
            GOB_TRY(bucket_pack(b, code));
        }
    }
    return GOB_OK;
}

static int compare_refs(const void *left, const void *right)
{
    int64_t l = gob_ref_number(left);
    int64_t r = gob_ref_number(right);
    return (l > r) - (l < r);
}

static gob_status fill_buckets(build *b)
{
    const gob_pages *p = &b->ix->pages;
    b->rest = b->names != NULL ? b->ix->live : b->ix->table.live;
    if (b->names != NULL || p->count == 0) {
        return GOB_OK;
    }
    size_t bytes = p->count * sizeof(gob_page_ref);
    b->buckets = gob_calloc(b->alloc, BUCKETS * sizeof *b->buckets);
    gob_page_ref *refs = b->buckets == NULL ? NULL : gob_malloc(b->alloc, bytes);
    if (refs == NULL) {
        return GOB_NOMEM;
    }
    size_t count = 0;
    for (size_t at = 0; at < (size_t)1 << p->bits; at++) {
        if (p->dir[at].page != NULL) {
            refs[count++] = p->dir[at];
        }
    }
    qsort(refs, count, sizeof *refs, compare_refs);
    gob_status status = GOB_OK;
    for (size_t i = 0; i < count && status == GOB_OK; i++) {
        status = bucket_page(b, &refs[i]);
    }
    gob_free(b->alloc, refs, bytes);
    return status;
}

/* Merging the ties in */

/* The next entry of the ties; false when there is none left. */
static bool ties_peek(build *b, gob_entry *e)
{
    for (; b->buckets != NULL && b->code < BUCKETS; b->code++, b->block = 0, b->inside = 0) {
        const bucket *k = &b->buckets[b->code];
        if (b->block < k->count) {
            const gob_child *c = &k->blocks[b->block];
            *e =
                b->inside == 0 ? c->first : (gob_entry){c->first.key, b->window.members[b->inside]};
            return true;
        }
        if (b->inside < k->pending) {
            *e = (gob_entry){gob_key(b->code), k->members[b->inside]};
            return true;
        }
    }
    return false;
}

/* Moves the next entry of the ties to the builder, or its whole block where all of it is due. */
static gob_status ties_take(build *b, gob_entry e, bool whole)
{
    bucket *k = &b->buckets[b->code];
    if (b->block >= k->count) {
        b->inside++;
        return gob_builder_add(&b->builder, e);
    }
    gob_child *c = &k->blocks[b->block];
    if (whole && b->inside == 0) {
        GOB_TRY(gob_builder_add_block(&b->builder, *c));
        c->node = NULL;
        b->block++;
        return GOB_OK;
    }
    if (b->inside == 0) {
        gob_block_decode(c->node, b->layout, c->first, b->window.keys, b->window.members);
    }
    GOB_TRY(gob_builder_add(&b->builder, e));
    if (++b->inside == c->count) {
        gob_block_free(b->alloc, b->layout, c->node);
        c->node = NULL;
        b->inside = 0;
        b->block++;
    }
    return GOB_OK;
}

/* Everything of the ties before `end`, or all of it. */
static gob_status ties_until(build *b, const gob_entry *end)
{
    gob_entry e;
    while (ties_peek(b, &e) && (end == NULL || gob_entry_less(e, *end))) {
        GOB_TRY(ties_take(b, e, end == NULL || e.key < end->key));
    }
    return GOB_OK;
}

/* The rest, range by range */

/* A walk over the rest: every entry that no bucket holds. Starts as {.codes_from = BUCKETS}. */
static size_t rest_walk(const gob_index *ix, gob_walk *w, int64_t *members, double *scores)
{
    for (;;) {
        size_t slot = w->slot;
        size_t n = gob_index_walk(ix, w, members, scores);
        if (n == 0 || w->slot != slot) {
            return n; /* over, or table members */
        }
        size_t kept = 0;
        for (size_t i = 0; i < n; i++) {
            members[kept] = members[i];
            scores[kept] = scores[i];
            kept += !is_bucketed(scores[i]);
        }
        if (kept != 0) {
            return kept;
        }
    }
}

/* Digit d of an entry, the key's four before the member's. */
static unsigned digit_of(gob_entry e, unsigned d)
{
    uint64_t half = d < DIGITS / 2 ? e.key : e.member;
    return (unsigned)(half >> (64 - DIGIT_BITS * (d % (DIGITS / 2) + 1)) & 0xFFFF);
}

/* e with digit d replaced and every later one `fill`. */
static gob_entry with_digit(gob_entry e, unsigned d, unsigned digit, uint64_t fill)
{
    unsigned shift = 64 - DIGIT_BITS * (d % (DIGITS / 2) + 1);
    uint64_t mask = (UINT64_C(1) << shift) - 1;
    uint64_t *half = d < DIGITS / 2 ? &e.key : &e.member;
    *half =
        (*half & ~(mask | UINT64_C(0xFFFF) << shift)) | (uint64_t)digit << shift | (fill & mask);
    if (d < DIGITS / 2) {
        e.member = fill;
    }
    return e;
}

/* What stands for an entry where ranges are cut: itself, or a few bytes of its name. */
static gob_entry cut_of(const build *b, gob_entry e)
{
    if (b->names != NULL) {
        e.member = gob_name_digits(gob_members_name(b->names, gob_unbias(e.member)), b->skip);
    }
    return e;
}

static bool is_within(const build *b, gob_entry e, gob_entry low, gob_entry high)
{
    if (e.key < low.key || e.key > high.key) {
        return false;
    }
    gob_entry cut = cut_of(b, e);
    return !gob_entry_less(cut, low) && !gob_entry_less(high, cut);
}

/* Bytes in which all names agree. */
static size_t common_bytes(const build *b)
{
    int64_t ids[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    gob_walk w = {0};
    gob_name first = {NULL, 0};
    size_t common = SIZE_MAX;
    for (size_t n; common != 0 && (n = gob_index_walk(b->ix, &w, ids, scores)) != 0;) {
        for (size_t i = 0; i < n; i++) {
            gob_name name = gob_members_name(b->names, ids[i]);
            first = common == SIZE_MAX ? name : first;
            size_t most = name.len < common ? name.len : common;
            for (common = 0; common < most && name.at[common] == first.at[common]; common++) {
            }
        }
    }
    return common;
}

/* Collects, sorts and merges the entries of [low, high], of which there are at most range_max. */
static gob_status emit_range(build *b, gob_entry low, gob_entry high)
{
    int64_t members[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    gob_walk w = {.codes_from = BUCKETS};
    size_t count = 0;
    for (size_t n; (n = rest_walk(b->ix, &w, members, scores)) != 0;) {
        for (size_t i = 0; i < n; i++) {
            gob_entry e = {gob_key(scores[i]), gob_bias(members[i])};
            if (is_within(b, e, low, high)) {
                GOB_ASSERT(count < b->range_max);
                b->range[count++] = e;
            }
        }
    }
    if (b->names != NULL) {
        gob_sort_names(b->names, b->skip, b->range, b->scratch, count);
    } else {
        gob_sort_entries(b->range, b->scratch, count);
    }
    for (size_t i = 0; i < count; i++) {
        GOB_TRY(ties_until(b, &b->range[i]));
        GOB_TRY(gob_builder_add(&b->builder, b->range[i]));
    }
    return GOB_OK;
}

static void free_range(build *b)
{
    gob_free(b->alloc, b->range, b->range == NULL ? 0 : b->range_max * sizeof *b->range);
    gob_free(b->alloc, b->scratch, b->scratch == NULL ? 0 : b->range_max * sizeof *b->scratch);
    b->range = b->scratch = NULL;
}

static gob_status make_range(build *b, size_t count)
{
    free_range(b);
    b->range_max = count;
    b->range = gob_malloc(b->alloc, count * sizeof *b->range);
    b->scratch = gob_malloc(b->alloc, count * sizeof *b->scratch);
    return b->range == NULL || b->scratch == NULL ? GOB_NOMEM : GOB_OK;
}

/* Many names of one key that agree for longer than the digits reach: they take all the room they
 * need. */
static gob_status emit_long_tie(build *b, gob_entry low, gob_entry high, size_t count)
{
    GOB_TRY(make_range(b, count));
    return emit_range(b, low, high);
}

static void count_digits(const build *b, gob_entry low, gob_entry high, unsigned d,
                         uint64_t *counts)
{
    int64_t members[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    gob_walk w = {.codes_from = BUCKETS};
    for (size_t n; (n = rest_walk(b->ix, &w, members, scores)) != 0;) {
        for (size_t i = 0; i < n; i++) {
            gob_entry e = {gob_key(scores[i]), gob_bias(members[i])};
            if (is_within(b, e, low, high)) {
                counts[digit_of(cut_of(b, e), d)]++;
            }
        }
    }
}

/* The entries of [low, high], which agree in all digits before d, cut into ranges that fit. */
static gob_status emit_cut(build *b, gob_entry low, gob_entry high, unsigned d)
{
    size_t bytes = ((size_t)1 << DIGIT_BITS) * sizeof(uint64_t);
    uint64_t *counts = gob_calloc(b->alloc, bytes);
    if (counts == NULL) {
        return GOB_NOMEM;
    }
    count_digits(b, low, high, d, counts);
    gob_status status = GOB_OK;
    for (unsigned from = 0, to; from < 1U << DIGIT_BITS && status == GOB_OK; from = to) {
        uint64_t count = counts[from];
        for (to = from + 1; to < 1U << DIGIT_BITS && count + counts[to] <= b->range_max; to++) {
            count += counts[to];
        }
        gob_entry first = with_digit(low, d, from, 0);
        gob_entry last = with_digit(low, d, to - 1, UINT64_MAX);
        if (count > b->range_max && d + 1 < DIGITS) {
            status = emit_cut(b, first, last, d + 1);
        } else if (count > b->range_max) {
            status = emit_long_tie(b, first, last, count);
        } else if (count != 0) {
            status = emit_range(b, first, last);
        }
    }
    gob_free(b->alloc, counts, bytes);
    return status;
}

static gob_status emit_rest(build *b)
{
    gob_entry low = {0, 0};
    gob_entry high = {UINT64_MAX, UINT64_MAX};
    size_t most = b->ix->live / RANGE_SHARE < RANGE_MIN ? RANGE_MIN : b->ix->live / RANGE_SHARE;
    if (b->rest == 0) {
        return GOB_OK;
    }
    GOB_TRY(make_range(b, b->rest < most ? b->rest : most));
    if (b->rest <= b->range_max) {
        return emit_range(b, low, high);
    }
    b->skip = b->names == NULL ? 0 : common_bytes(b);
    return emit_cut(b, low, high, 0);
}

static void free_buffers(build *b)
{
    for (unsigned code = 0; b->buckets != NULL && code < BUCKETS; code++) {
        bucket *k = &b->buckets[code];
        for (size_t i = 0; i < k->count; i++) {
            if (k->blocks[i].node != NULL) {
                gob_block_free(b->alloc, b->layout, k->blocks[i].node);
            }
        }
        gob_free(b->alloc, k->blocks, k->capacity * sizeof *k->blocks);
    }
    gob_free(b->alloc, b->buckets, b->buckets == NULL ? 0 : BUCKETS * sizeof *b->buckets);
    free_range(b);
}

gob_status gob_build(gob_order *o, gob_alloc *a, const gob_index *ix)
{
    build *b = gob_calloc(a, sizeof *b);
    if (b == NULL) {
        return GOB_NOMEM;
    }
    b->ix = ix;
    b->names = gob_index_names(ix);
    b->alloc = a;
    b->layout = o->layout;
    gob_builder_init(&b->builder, o, a);
    gob_status status = fill_buckets(b);
    if (status == GOB_OK) {
        status = emit_rest(b);
    }
    if (status == GOB_OK) {
        status = ties_until(b, NULL);
    }
    if (status == GOB_OK) {
        status = gob_builder_finish(&b->builder);
    } else {
        gob_builder_abandon(&b->builder);
    }
    free_buffers(b);
    gob_free(a, b, sizeof *b);
    return status;
}
