#include "gob_zset_check.h"

#include <stdatomic.h>

#include "gob_multiset.h"
#include "gob_parallel.h"

/* Entries from which on a thread pays; where tests look, small sets have to do. */
enum {
#ifdef GOB_DEBUG
    PARALLEL_MIN = 100,
#else
    PARALLEL_MIN = 1 << 18,
#endif
};

/* The order */

/* Whether the entries of a block ascend, from the last one of the block before. */
static bool ascends(const gob_zset *z, const gob_block *b, const gob_window *w,
                    const gob_entry *before)
{
    const gob_members *names = gob_zset_names(z);
    gob_entry last = {w->keys[0], w->members[0]};
    bool good = before == NULL || gob_order_less(names, *before, last);
    if (names == NULL) {
        return good && gob_block_ascends(b, w->keys, w->members);
    }
    for (size_t i = 1; good && i < w->count; i++) {
        gob_entry e = {w->keys[i], w->members[i]};
        good = gob_order_less(names, last, e);
        last = e;
    }
    return good;
}

static gob_status hash_order(const gob_zset *z, const uint64_t *starts, const gob_multiset *s,
                             uint64_t *hash, const char **why)
{
    gob_window w;
    gob_entry last;
    for (uint64_t rank = 0; rank < z->order->count; rank += w.count) {
        gob_child c = gob_order_block(z->order, rank);
        w.count = c.count;
        gob_block_decode(c.node, z->order->layout, c.first, w.keys, w.members);
        GOB_EXPECT(w.keys[0] == c.first.key && w.members[0] == c.first.member,
                   "first entry of a block");
        for (size_t i = 0; starts != NULL && i < w.count; i++) {
            GOB_EXPECT(gob_members_is_id(&z->index.members, starts, gob_unbias(w.members[i])),
                       "an entry of the order that is no name");
        }
        GOB_EXPECT(ascends(z, c.node, &w, rank == 0 ? NULL : &last),
                   "entries of the order do not ascend");
        *hash += gob_multiset_of(s, w.keys, w.members, w.count);
        last = (gob_entry){w.keys[w.count - 1], w.members[w.count - 1]};
        GOB_TRY(gob_spend(z->alloc.pace, w.count));
    }
    return GOB_OK;
}

/* The index */

/* Members whose codes of one byte are their scores. */
static gob_status hash_codes(const gob_pages *p, const gob_multiset *s, gob_pace *pace,
                             uint64_t *hash)
{
    uint64_t by_code[UINT8_MAX + 1] = {0};
    for (unsigned code = 0; code <= GOB_CODE1_MAX; code++) {
        by_code[code] = gob_multiset_of_key(s, gob_key(code));
    }
    for (size_t at = 0; p->count != 0 && at < (size_t)1 << p->bits; at++) {
        const gob_page_ref *ref = &p->dir[at];
        if (ref->page != NULL && ref->page->width == 1) {
            GOB_TRY(gob_spend(pace, GOB_PAGE_IDS));
            uint64_t first = gob_bias(gob_page_member(gob_ref_number(ref), 0));
            *hash += gob_multiset_of_codes(s, first, ref->page->codes, by_code);
        }
    }
    return GOB_OK;
}

/* All others. */
static gob_status hash_rest(const gob_index *ix, const gob_multiset *s, gob_pace *pace,
                            uint64_t *hash)
{
    int64_t members[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    gob_walk w = {.codes_from = GOB_CODE1_MAX + 1};
    for (size_t n; (n = gob_index_walk(ix, &w, members, scores)) != 0;) {
        GOB_TRY(gob_spend(pace, n));
        for (size_t i = 0; i < n; i++) {
            uint64_t key = gob_key(scores[i]);
            uint64_t member = gob_bias(members[i]);
            *hash += gob_multiset_of(s, &key, &member, 1);
        }
    }
    return GOB_OK;
}

static gob_status hash_index(const gob_index *ix, const gob_multiset *s, gob_pace *pace,
                             uint64_t *hash)
{
    if (!ix->named) {
        GOB_TRY(hash_codes(&ix->pages, s, pace, hash));
    }
    return hash_rest(ix, s, pace, hash);
}

/* Both */

typedef struct half {
    const gob_zset *z;
    const uint64_t *starts;
    const gob_multiset *set; /* NULL where there is no order to compare with */
    gob_pace *pace;
    gob_status status;
    const char *why;
    uint64_t hash;
} half;

/* The pace of a thread of its own, which nobody asks but the thread that waits for it. */
typedef struct follower {
    gob_pace pace;
    atomic_bool stopped;
} follower;

typedef struct halves {
    half order;
    half index;
    follower aside;
} halves;

static void check_order(void *context)
{
    halves *both = context;
    half *h = &both->order;
    h->status = hash_order(h->z, h->starts, h->set, &h->hash, &h->why);
    atomic_store(&both->aside.stopped, h->status != GOB_OK);
}

static void ask(void *context)
{
    halves *both = context;
    half *h = &both->order;
    if (h->status == GOB_OK && gob_spend(h->z->alloc.pace, GOB_PACE) != GOB_OK) {
        h->status = GOB_STOPPED;
        atomic_store(&both->aside.stopped, true);
    }
}

static void check_index(void *context)
{
    half *h = context;
    const gob_index *ix = &h->z->index;
    h->hash = 0; /* it may run anew */
    bool good = gob_index_validate(ix, h->pace, &h->why);
    h->status = gob_verdict(good, h->why);
    if (h->status == GOB_OK && h->set != NULL) {
        h->status = hash_index(ix, h->set, h->pace, &h->hash);
    }
}

static bool goes_on(gob_pace *pace)
{
    follower *f = (follower *)pace;
    return !atomic_load_explicit(&f->stopped, memory_order_relaxed);
}

static gob_status compare(halves *both, const char **why)
{
    const half *bad = both->order.status != GOB_OK ? &both->order : &both->index;
    if (bad->status != GOB_OK) {
        *why = bad->why;
        return bad->status;
    }
    GOB_EXPECT(both->order.hash == both->index.hash,
               "entries of the order that are not those of the index");
    return GOB_OK;
}

gob_status gob_zset_check(gob_zset *z, const uint64_t *starts, uint64_t seed, const char **why)
{
    gob_multiset set;
    halves both = {.order = {.z = z, .starts = starts}, .index = {.z = z}};
    both.index.pace = z->alloc.pace;
    if (z->order == NULL || z->order->count == 0 || (z->index.named && starts == NULL)) {
        check_index(&both.index);
        return compare(&both, why);
    }
    GOB_EXPECT(z->order->count == z->index.live, "members in the order");
    GOB_TRY(gob_multiset_init(&set, &z->alloc, seed, z->order->count));
    both.order.set = both.index.set = &set;
    if (z->order->count >= PARALLEL_MIN) {
        both.aside.pace.goes_on = goes_on;
        both.index.pace = &both.aside.pace;
        gob_parallel((gob_task){check_order, &both}, (gob_task){check_index, &both.index},
                     (gob_task){ask, &both});
    } else {
        check_index(&both.index);
        check_order(&both);
    }
    gob_multiset_free(&set, &z->alloc);
    return compare(&both, why);
}
