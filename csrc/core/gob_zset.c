#include "gob_zset.h"

#include "gob_build.h"
#include "gob_check.h"
#include "gob_sort.h"

/* Debug builds check everything after each mutation; large sets after some, so that loops over them
 * stay linear. */
static void check(const gob_zset *z)
{
#ifdef GOB_DEBUG
    const char *why = NULL;
    if (z->stamp % (gob_zset_count(z) / 64 + 1) == 0) {
        GOB_ASSERT(gob_zset_validate(z, &why));
    }
#endif
    (void)z;
}

gob_layout gob_zset_layout(const gob_zset *z)
{
    const gob_index *ix = &z->index;
    return (gob_layout){
        .member_bytes = ix->table.member_bytes, /* the members' table comes first, too */
        .score_bytes = ix->score_bytes,
        .compress = z->compress,
        .named = ix->named,
        .fixed = ix->named ? ix->members.fixed : 0,
    };
}

void gob_zset_init(gob_zset *z, gob_layout layout, float merge_exponent, uint64_t seed)
{
    *z = (gob_zset){.merge_exponent = merge_exponent, .compress = layout.compress};
    gob_alloc_init(&z->alloc);
    gob_index_init(&z->index, layout, seed);
}

/* The order and what is pending for it */

static void drop_pending(gob_zset *z)
{
    if (z->pending != NULL) {
        gob_table_free(z->pending, &z->alloc);
        gob_free(&z->alloc, z->pending, sizeof *z->pending);
        z->pending = NULL;
    }
}

static void drop_order(gob_zset *z)
{
    drop_pending(z);
    if (z->order != NULL) {
        gob_order_free(z->order, &z->alloc);
        gob_free(&z->alloc, z->order, sizeof *z->order);
        z->order = NULL;
    }
}

/* Between writes, with nothing pending, names without a score have no more use for their ids. */
static void settle_names(gob_zset *z)
{
    if (z->index.named && !z->bulk && z->pending == NULL) {
        (void)gob_members_settle(&z->index.members, &z->alloc); /* the next time does the rest */
    }
}

static gob_status reserve_pending(gob_zset *z, size_t count)
{
    gob_layout layout = gob_zset_layout(z);
    if (z->pending == NULL) {
        z->pending = gob_malloc(&z->alloc, sizeof *z->pending);
        if (z->pending == NULL) {
            return GOB_NOMEM;
        }
        gob_table_init(z->pending, layout.member_bytes, layout.score_bytes,
                       gob_reseed(z->index.table.seed + 1));
    }
    if (!gob_table_has_room(z->pending, count)) {
        /* By half: it is soon given back. */
        size_t live = z->pending->live;
        return gob_table_rehash(z->pending, &z->alloc, live + live / 2 + count, false);
    }
    return GOB_OK;
}

/* Changes from which on rebuilding is cheaper than applying them. */
static uint64_t pending_most(const gob_zset *z)
{
    uint64_t share = z->order->count / GOB_PENDING_SHARE;
    return share < GOB_BLOCK_MAX ? GOB_BLOCK_MAX : share;
}

void gob_zset_expect(gob_zset *z, size_t changes)
{
    if (z->order != NULL && changes > GOB_BATCH) {
        uint64_t most = pending_most(z) + 1;
        (void)reserve_pending(z, changes < most ? changes : (size_t)most);
    }
}

void gob_zset_touch(gob_zset *z, int64_t member)
{
    z->scans = 0;
    if (z->order == NULL ||
        (z->pending != NULL && gob_table_find(z->pending, member) != GOB_NO_SLOT)) {
        return;
    }
    if (reserve_pending(z, 1) != GOB_OK) {
        drop_order(z);
        return;
    }
    gob_table_insert(z->pending, member, gob_index_get(&z->index, member));
    if (z->pending->live > pending_most(z)) {
        drop_order(z);
    }
}

gob_status gob_zset_trust(gob_zset *z, const char **why)
{
    if (z->doubted) {
        bool good = gob_index_validate(&z->index, z->alloc.pace, why);
        GOB_TRY(gob_verdict(good, *why));
        z->doubted = false;
    }
    return GOB_OK;
}

static gob_status build_order(gob_zset *z)
{
    const char *why;
    GOB_TRY(gob_zset_trust(z, &why));
    gob_order *order = gob_malloc(&z->alloc, sizeof *order);
    if (order == NULL) {
        return GOB_NOMEM;
    }
    gob_order_init(order, gob_zset_layout(z), gob_zset_names(z));
    gob_status status = gob_build(order, &z->alloc, &z->index);
    if (status != GOB_OK) {
        gob_free(&z->alloc, order, sizeof *order);
        return status;
    }
    z->order = order;
    return GOB_OK;
}

/* Scratch of one batch of pending changes. */
typedef struct batch {
    gob_entry *removed;
    gob_entry *inserted;
    gob_entry *scratch;
    gob_change *changes;
    size_t bytes; /* of the one allocation behind the four */
} batch;

static gob_status batch_new(batch *b, gob_alloc *a, size_t n)
{
    if (!gob_size_mul(n, 3 * sizeof(gob_entry) + 2 * sizeof(gob_change), &b->bytes)) {
        return GOB_NOMEM;
    }
    b->removed = gob_malloc(a, b->bytes);
    if (b->removed == NULL) {
        return GOB_NOMEM;
    }
    b->inserted = b->removed + n;
    b->scratch = b->inserted + n;
    b->changes = (gob_change *)(void *)(b->scratch + n);
    return GOB_OK;
}

static gob_status batch_sort(const batch *b, const gob_zset *z, gob_entry *entries, size_t n)
{
    gob_pace *pace = z->alloc.pace;
    return z->index.named ? gob_sort_names(&z->index.members, 0, entries, b->scratch, n, pace)
                          : gob_sort_entries(entries, b->scratch, n, pace);
}

/* The pending changes as one ascending list, *n of them. */
static gob_status batch_fill(batch *b, const gob_zset *z, size_t *n)
{
    const gob_table *t = z->pending;
    size_t removed = 0;
    size_t inserted = 0;
    for (size_t slot = 0; (slot = gob_table_next(t, slot)) != GOB_NO_SLOT; slot++) {
        GOB_TRY(gob_spend(z->alloc.pace, 1));
        int64_t member = gob_table_member(t, slot);
        double before = gob_table_score(t, slot);
        double now = gob_index_get(&z->index, member);
        if (before == now) {
            continue;
        }
        if (!gob_is_absent(before)) {
            b->removed[removed++] = gob_zset_entry(member, before);
        }
        if (!gob_is_absent(now)) {
            b->inserted[inserted++] = gob_zset_entry(member, now);
        }
    }
    GOB_TRY(batch_sort(b, z, b->removed, removed));
    GOB_TRY(batch_sort(b, z, b->inserted, inserted));
    size_t i = 0;
    size_t j = 0;
    while (i < removed || j < inserted) {
        GOB_TRY(gob_spend(z->alloc.pace, 1));
        bool remove =
            j == inserted ||
            (i < removed && gob_order_less(gob_zset_names(z), b->removed[i], b->inserted[j]));
        b->changes[i + j] = (gob_change){remove ? b->removed[i] : b->inserted[j], remove};
        i += remove;
        j += !remove;
    }
    *n = removed + inserted;
    return GOB_OK;
}

static gob_status apply_pending(gob_zset *z)
{
    batch b;
    gob_status status = batch_new(&b, &z->alloc, z->pending->live);
    if (status == GOB_OK) {
        size_t n;
        status = batch_fill(&b, z, &n);
        if (status == GOB_OK) {
            status = gob_order_apply(z->order, &z->alloc, b.changes, n);
        }
        gob_free(&z->alloc, b.removed, b.bytes);
    }
    if (status != GOB_OK) {
        drop_order(z);
        return status;
    }
    drop_pending(z);
    return GOB_OK;
}

gob_status gob_zset_sync(gob_zset *z)
{
    if (z->pending != NULL && apply_pending(z) == GOB_OK) {
        check(z);
    }
    settle_names(z);
    /* Also after a batch that failed and dropped the order. */
    return z->order == NULL && gob_zset_count(z) > GOB_SMALL_MAX ? build_order(z) : GOB_OK;
}

/* The debt that merge_exponent allows: max(1, ceil(count ** K)). */
static uint64_t pending_limit(const gob_zset *z)
{
    double limit = ceil(pow((double)gob_zset_count(z), (double)z->merge_exponent));
    return limit < 1.0 ? 1 : (uint64_t)limit;
}

/* Names in new memory, in the order of their ranks where that is known. */
static gob_status compact(gob_zset *z)
{
    gob_members *m = &z->index.members;
    gob_form form = gob_members_form_for(m, GOB_ABSENT);
    bool wide = gob_members_need_wide(m, form);
    int64_t none = GOB_NO_ID;
    if (z->order == NULL) {
        return gob_members_renew(m, &z->alloc, form, wide, true, &none);
    }
    gob_members fresh;
    GOB_TRY(gob_members_renew_begin(m, &z->alloc, form, wide, true, &fresh));
    gob_order packed;
    gob_builder b;
    gob_window w;
    gob_layout layout = gob_zset_layout(z);
    layout.member_bytes = fresh.table.member_bytes;
    gob_order_init(&packed, layout, m);
    gob_builder_init(&b, &packed, &z->alloc);
    gob_status status = GOB_OK;
    for (uint64_t rank = 0; status == GOB_OK && rank < z->order->count; rank += w.count) {
        gob_order_read(z->order, rank, &w);
        status = gob_spend(z->alloc.pace, w.count);
        for (size_t i = 0; status == GOB_OK && i < w.count; i++) {
            int64_t id = gob_members_carry(&fresh, m, gob_unbias(w.members[i]));
            status = gob_builder_add(&b, (gob_entry){w.keys[i], gob_bias(id)});
        }
    }
    status = status == GOB_OK ? gob_builder_finish(&b) : status;
    if (status != GOB_OK) {
        gob_builder_abandon(&b);
        gob_members_free(&fresh, &z->alloc);
        return status;
    }
    gob_order_free(z->order, &z->alloc);
    *z->order = packed;
    gob_members_renew_end(m, &z->alloc, &fresh);
    return GOB_OK;
}

/* The same, with an order for the time being where there is none: where names lie then depends on
 * the content alone. */
static gob_status compact_by_rank(gob_zset *z)
{
    bool unordered = z->order == NULL;
    if (unordered) {
        GOB_TRY(build_order(z));
    }
    gob_status status = compact(z);
    if (unordered) {
        drop_order(z);
    }
    return status;
}

/* Gives up what a set that has become small does not need, and memory of names that are gone. */
static void shrink(gob_zset *z)
{
    if (z->order != NULL && gob_zset_count(z) <= GOB_SMALL_MAX / 2) {
        drop_order(z);
    }
    settle_names(z);
    if (z->index.named && z->pending == NULL && gob_members_wasteful(&z->index.members)) {
        (void)compact(z); /* failing to is harmless */
    }
}

void gob_zset_settle(gob_zset *z)
{
    if (z->pending != NULL && z->pending->live == 0) {
        drop_pending(z); /* it was made for changes that did not come */
    }
    if (z->pending != NULL && (z->merge_exponent <= 0.0F || z->pending->live > pending_limit(z))) {
        (void)apply_pending(z); /* on failure the order is gone, and rebuilt when it is needed */
    }
    shrink(z);
    check(z);
}

/* Single members */

double gob_zset_score(const gob_zset *z, int64_t id)
{
    return gob_index_get(&z->index, id);
}

bool gob_mode_admits(gob_mode mode, double old, double score)
{
    bool absent = gob_is_absent(old);
    switch (mode) {
    case GOB_NX:
        return absent;
    case GOB_XX:
        return !absent;
    case GOB_GT:
        return absent || score > old;
    case GOB_LT:
        return absent || score < old;
    case GOB_XX_GT:
        return !absent && score > old;
    case GOB_XX_LT:
        return !absent && score < old;
    case GOB_SET:
    default:
        return true;
    }
}

/* Gives the names another form or wider ids, which the order can't follow. */
static gob_status recode(gob_zset *z, gob_form form, bool wide, int64_t *follow)
{
    drop_order(z);
    return gob_members_renew(&z->index.members, &z->alloc, form, wide, false, follow);
}

/* A name that is not there gets an id. It has to get a score, or be forgotten. */
static gob_status intern(gob_zset *z, gob_name name, int64_t *id)
{
    gob_members *m = &z->index.members;
    if (!gob_members_reach(m, name.len)) {
        int64_t none = GOB_NO_ID;
        GOB_TRY(recode(z, (gob_form)m->form, true, &none));
    }
    return gob_members_add(m, &z->alloc, name, id);
}

/* Sets the score of a member that has an id. */
static gob_status put(gob_zset *z, int64_t id, double score, double old)
{
    gob_members *m = &z->index.members;
    if (z->index.named && !gob_members_fits(m, score)) {
        gob_form form = gob_members_form_for(m, score);
        if (z->bulk == GOB_UNDO_ALL && !gob_form_holds(form, (gob_form)m->form)) {
            form = GOB_FORM_FLOAT;
        }
        bool wide = gob_members_wide(m) || gob_members_need_wide(m, form);
        GOB_TRY(recode(z, form, wide, &id));
    }
    gob_zset_touch(z, id);
    GOB_TRY(gob_index_put(&z->index, &z->alloc, id, score, &old));
    z->stamp++;
    return GOB_OK;
}

/* A name that has lost its score, or never got one: its id goes, or waits until nobody has it. */
static void forget(gob_zset *z, int64_t id)
{
    gob_members *m = &z->index.members;
    bool in_use = z->bulk || z->order != NULL;
    if (in_use && gob_members_reserve_condemned(m, &z->alloc) == GOB_OK) {
        gob_members_condemn(m, id);
        return;
    }
    drop_order(z);
    settle_names(z); /* the name may have been condemned before */
    gob_members_drop(m, &z->alloc, id);
}

gob_status gob_zset_put(gob_zset *z, int64_t id, const gob_name *name, double score, double old)
{
    if (z->index.named && id == GOB_NO_ID) {
        GOB_TRY(intern(z, *name, &id));
    }
    gob_status status = put(z, id, score, old);
    if (status != GOB_OK && z->index.named && gob_is_absent(old)) {
        forget(z, id);
    }
    return status;
}

static gob_status put_single(gob_zset *z, const gob_member *m, int64_t id, double score, double old)
{
    GOB_TRY(gob_zset_put(z, id, &m->name, score, old));
    gob_zset_settle(z);
    return GOB_OK;
}

gob_status gob_zset_add(gob_zset *z, const gob_member *m, double score, gob_mode mode,
                        gob_changes *changes)
{
    GOB_TRY(gob_narrow(score, z->index.score_bytes, &score));
    int64_t id = gob_zset_find(z, m);
    double old = gob_zset_score(z, id);
    if (old == score || !gob_mode_admits(mode, old, score)) {
        return GOB_OK;
    }
    GOB_TRY(put_single(z, m, id, score, old));
    changes->added += gob_is_absent(old);
    changes->changed += !gob_is_absent(old);
    return GOB_OK;
}

gob_status gob_zset_increment(gob_zset *z, const gob_member *m, double by, double *sum)
{
    int64_t id = gob_zset_find(z, m);
    double old = gob_zset_score(z, id);
    GOB_TRY(gob_index_sum(&z->index, old, by, sum));
    if (*sum == old) {
        z->stuck = z->stuck || (by != 0.0 && isfinite(old));
        return GOB_OK;
    }
    return put_single(z, m, id, *sum, old);
}

void gob_zset_erase(gob_zset *z, int64_t id)
{
    gob_zset_touch(z, id);
    gob_index_erase(&z->index, &z->alloc, id);
    if (z->index.named) {
        forget(z, id);
    }
    z->stamp++;
}

double gob_zset_remove(gob_zset *z, int64_t id)
{
    double old = gob_zset_score(z, id);
    if (!gob_is_absent(old)) {
        gob_zset_erase(z, id);
        gob_zset_settle(z);
    }
    return old;
}

/* Whole sets */

/* What lies in a mapped file is not freed. */
static void let_go(gob_zset *z)
{
    gob_index *ix = &z->index;
    ix->table.ctrl = NULL;
    ix->table.capacity = ix->table.live = 0;
    if (ix->named) {
        ix->members.arena = (gob_arena){0};
    }
    gob_alloc_count(&z->alloc, 1 - z->mapped);
    z->mapped = 0;
    z->doubted = false;
}

void gob_zset_clear(gob_zset *z)
{
    z->stamp += z->index.live != 0;
    z->scans = 0;
    drop_order(z);
    if (z->mapped != 0) {
        let_go(z);
    }
    gob_index_free(&z->index, &z->alloc);
}

gob_status gob_zset_copy(gob_zset *dst, gob_zset *src)
{
    const char *why;
    GOB_TRY(gob_zset_trust(src, &why));
    return gob_index_copy(&dst->index, &dst->alloc, &src->index);
}

/* The order of a set that has moved finds its names where they are now. */
static void rebind(gob_zset *z)
{
    if (z->order != NULL) {
        z->order->names = gob_zset_names(z);
    }
}

void gob_zset_swap(gob_zset *a, gob_zset *b)
{
    gob_zset old = *a;
    *a = *b;
    *b = old;
    b->alloc.pace = a->alloc.pace;
    a->alloc.pace = old.alloc.pace;
    rebind(a);
    rebind(b);
    uint64_t stamp = (a->stamp > b->stamp ? a->stamp : b->stamp) + 1;
    a->stamp = b->stamp = stamp;
}

gob_status gob_zset_optimize(gob_zset *z)
{
    if (z->order != NULL && gob_zset_count(z) <= GOB_SMALL_MAX) {
        drop_order(z);
    }
    if (z->pending != NULL) {
        GOB_TRY(apply_pending(z));
    }
    if (z->index.named) {
        settle_names(z);
        GOB_TRY(compact_by_rank(z));
        check(z);
        return GOB_OK;
    }
    GOB_TRY(gob_index_optimize(&z->index, &z->alloc));
    if (z->order != NULL) {
        GOB_TRY(gob_order_optimize(z->order, &z->alloc));
    }
    check(z);
    return GOB_OK;
}

gob_memory gob_zset_memory(const gob_zset *z)
{
    bool named = z->index.named;
    gob_memory m = {
        .pages = named ? 0 : gob_pages_bytes(&z->index.pages),
        .table = gob_table_bytes(&z->index.table),
        .members = named ? gob_members_bytes(&z->index.members) : 0,
        .pending = z->pending == NULL ? 0 : sizeof *z->pending + gob_table_bytes(z->pending),
    };
    m.order = z->alloc.live - m.pages - m.table - m.members - m.pending;
    return m;
}

/* Reads */

bool gob_zset_prefers_scan(gob_zset *z)
{
    if (z->order != NULL || (z->scans >= GOB_SCANS_MAX && gob_zset_count(z) > GOB_SMALL_MAX)) {
        return false;
    }
    z->scans = (uint8_t)(z->scans + (z->scans < GOB_SCANS_MAX));
    return true;
}

uint64_t gob_zset_below(const gob_zset *z, double score, bool or_equal)
{
    gob_bound b = {.key = gob_key(score) + or_equal};
    return gob_zset_lower_bound(z, &b);
}

/* Everything in a small set, in order. */
static void read_small(const gob_zset *z, gob_window *w)
{
    const gob_members *names = gob_zset_names(z);
    int64_t ids[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    gob_walk walk = {0};
    w->first_rank = w->count = 0;
    for (size_t n; (n = gob_index_walk(&z->index, &walk, ids, scores)) != 0;) {
        for (size_t i = 0; i < n; i++) {
            gob_entry e = gob_zset_entry(ids[i], scores[i]);
            size_t at = w->count++;
            for (; at > 0 &&
                   gob_order_less(names, e, (gob_entry){w->keys[at - 1], w->members[at - 1]});
                 at--) {
                w->keys[at] = w->keys[at - 1];
                w->members[at] = w->members[at - 1];
            }
            w->keys[at] = e.key;
            w->members[at] = e.member;
        }
    }
}

void gob_zset_read(const gob_zset *z, uint64_t rank, gob_window *w)
{
    if (z->order != NULL) {
        gob_order_read(z->order, rank, w);
    } else {
        read_small(z, w);
    }
}

/* Entries of a small set before the bound. */
static uint64_t count_before(const gob_zset *z, const gob_bound *b)
{
    int64_t ids[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    gob_walk walk = {0};
    uint64_t count = 0;
    for (size_t n; (n = gob_index_walk(&z->index, &walk, ids, scores)) != 0;) {
        for (size_t i = 0; i < n; i++) {
            gob_entry e = gob_zset_entry(ids[i], scores[i]);
            count += gob_bound_compare(gob_zset_names(z), e, b) < 0;
        }
    }
    return count;
}

uint64_t gob_zset_lower_bound(const gob_zset *z, const gob_bound *b)
{
    return z->order != NULL ? gob_order_lower_bound(z->order, b) : count_before(z, b);
}

gob_entry gob_zset_select(const gob_zset *z, uint64_t rank)
{
    if (z->order != NULL) {
        return gob_order_select(z->order, rank);
    }
    gob_window w;
    read_small(z, &w);
    return (gob_entry){w.keys[rank], w.members[rank]};
}

uint64_t gob_zset_rank(const gob_zset *z, gob_entry e)
{
    if (z->order != NULL) {
        return gob_order_rank(z->order, e);
    }
    gob_bound b = gob_bound_of(gob_zset_names(z), e);
    return count_before(z, &b);
}

void gob_zset_rank_many(const gob_zset *z, const gob_entry *entries, size_t n, uint64_t *ranks)
{
    if (z->order != NULL) {
        gob_order_rank_many(z->order, entries, n, ranks);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        ranks[i] = gob_zset_rank(z, entries[i]);
    }
}

void gob_zset_select_many(const gob_zset *z, const uint64_t *ranks, size_t n, gob_entry *entries)
{
    if (z->order != NULL) {
        gob_order_select_many(z->order, ranks, n, entries);
        return;
    }
    gob_window w;
    read_small(z, &w);
    for (size_t i = 0; i < n; i++) {
        entries[i] = (gob_entry){w.keys[ranks[i]], w.members[ranks[i]]};
    }
}

/* Validation */

/* The order has exactly the members that the index has now, but for the pending ones. */
static bool validate_order(const gob_zset *z, const char **why)
{
    gob_window w;
    uint64_t pending_seen = 0;
    for (uint64_t rank = 0; rank < z->order->count; rank += w.count) {
        gob_order_read(z->order, rank, &w);
        for (size_t i = 0; i < w.count; i++) {
            int64_t member = gob_unbias(w.members[i]);
            size_t slot = z->pending == NULL ? GOB_NO_SLOT : gob_table_find(z->pending, member);
            double expected = slot == GOB_NO_SLOT ? gob_index_get(&z->index, member)
                                                  : gob_table_score(z->pending, slot);
            pending_seen += slot != GOB_NO_SLOT;
            GOB_DEMAND(gob_key_score(w.keys[i]) == expected, "zset: score of the order");
        }
    }
    uint64_t pending = 0;
    uint64_t live = z->order->count - pending_seen;
    for (size_t slot = 0; z->pending != NULL; slot++) {
        slot = gob_table_next(z->pending, slot);
        if (slot == GOB_NO_SLOT) {
            break;
        }
        pending += !gob_is_absent(gob_table_score(z->pending, slot));
        live += !gob_is_absent(gob_index_get(&z->index, gob_table_member(z->pending, slot)));
    }
    GOB_DEMAND(pending == pending_seen, "zset: pending members that the order lacks");
    GOB_DEMAND(live == z->index.live, "zset: members that the order lacks");
    return true;
}

bool gob_zset_validate(const gob_zset *z, const char **why)
{
    if (!gob_index_validate(&z->index, NULL, why)) {
        return false;
    }
    GOB_DEMAND(z->pending == NULL || z->order != NULL, "zset: pending without an order");
    if (z->pending != NULL && !gob_table_validate(z->pending, NULL, why)) {
        return false;
    }
    return z->order == NULL || (gob_order_validate(z->order, why) && validate_order(z, why));
}
