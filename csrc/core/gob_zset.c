#include "gob_zset.h"

#include "gob_build.h"
#include "gob_check.h"
#include "gob_increment.h"
#include "gob_sort.h"
#include "gob_sum.h"

/* Debug builds check everything after each mutation; large sets after some, so that loops over them
 * stay linear. */
static void check(const gob_zset *z)
{
#ifdef GOB_DEBUG
    const char *why = NULL;
    if (z->stamp % (gob_zset_count(z) / 1024 + 1) == 0) {
        GOB_ASSERT(gob_zset_validate(z, &why));
    }
#endif
    (void)z;
}

gob_layout gob_zset_layout(const gob_zset *z)
{
    return (gob_layout){z->index.table.member_bytes, z->index.table.score_bytes, z->compress};
}

void gob_zset_init(gob_zset *z, gob_layout layout, float merge_exponent, uint64_t seed)
{
    *z = (gob_zset){.merge_exponent = merge_exponent, .compress = layout.compress};
    gob_alloc_init(&z->alloc);
    gob_index_init(&z->index, layout.member_bytes, layout.score_bytes, seed);
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

static gob_status reserve_pending(gob_zset *z)
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
    if (!gob_table_has_room(z->pending, 1)) {
        return gob_table_rehash(z->pending, &z->alloc, z->pending->live + 1, false);
    }
    return GOB_OK;
}

/* Before a member's score changes: notes what the order has for it. */
static void touch(gob_zset *z, int64_t member)
{
    z->scans = 0;
    if (z->order == NULL ||
        (z->pending != NULL && gob_table_find(z->pending, member) != GOB_NO_SLOT)) {
        return;
    }
    if (reserve_pending(z) != GOB_OK) {
        drop_order(z);
        return;
    }
    gob_table_insert(z->pending, member, gob_index_get(&z->index, member));
    uint64_t share = z->order->count / GOB_PENDING_SHARE;
    if (z->pending->live > (share < GOB_BLOCK_MAX ? GOB_BLOCK_MAX : share)) {
        drop_order(z);
    }
}

static gob_status build_order(gob_zset *z)
{
    gob_order *order = gob_malloc(&z->alloc, sizeof *order);
    if (order == NULL) {
        return GOB_NOMEM;
    }
    gob_order_init(order, gob_zset_layout(z));
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

/* The pending changes as one ascending list; returns its length. */
static size_t batch_fill(batch *b, const gob_zset *z)
{
    const gob_table *t = z->pending;
    size_t removed = 0;
    size_t inserted = 0;
    for (size_t slot = 0; (slot = gob_table_next(t, slot)) != GOB_NO_SLOT; slot++) {
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
    gob_sort_entries(b->removed, b->scratch, removed);
    gob_sort_entries(b->inserted, b->scratch, inserted);
    size_t i = 0;
    size_t j = 0;
    while (i < removed || j < inserted) {
        bool remove =
            j == inserted || (i < removed && gob_entry_less(b->removed[i], b->inserted[j]));
        b->changes[i + j] = (gob_change){remove ? b->removed[i] : b->inserted[j], remove};
        i += remove;
        j += !remove;
    }
    return removed + inserted;
}

static gob_status apply_pending(gob_zset *z)
{
    batch b;
    gob_status status = batch_new(&b, &z->alloc, z->pending->live);
    if (status == GOB_OK) {
        size_t n = batch_fill(&b, z);
        status = gob_order_apply(z->order, &z->alloc, b.changes, n);
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
    /* Also after a batch that failed and dropped the order. */
    return z->order == NULL ? build_order(z) : GOB_OK;
}

/* The debt that merge_exponent allows: max(1, ceil(count ** K)). */
static uint64_t pending_limit(const gob_zset *z)
{
    double limit = ceil(pow((double)gob_zset_count(z), (double)z->merge_exponent));
    return limit < 1.0 ? 1 : (uint64_t)limit;
}

/* After a call that wrote: settles the debt where it has grown past its limit. */
static void settle(gob_zset *z)
{
    if (z->pending != NULL && (z->merge_exponent <= 0.0F || z->pending->live > pending_limit(z))) {
        (void)apply_pending(z); /* on failure the order is gone, and rebuilt when it is needed */
    }
    check(z);
}

/* Single members */

double gob_zset_score(const gob_zset *z, int64_t member)
{
    return gob_index_get(&z->index, member);
}

/* Whether a write in this mode goes through, old being GOB_ABSENT where there is no member. */
static bool admits(gob_mode mode, double old, double score)
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

/* Sets a score that the layout holds, where old is the one before. */
static gob_status put(gob_zset *z, int64_t member, double score, double old, gob_changes *changes)
{
    touch(z, member);
    GOB_TRY(gob_index_put(&z->index, &z->alloc, member, score, &old));
    changes->added += gob_is_absent(old);
    changes->changed += !gob_is_absent(old);
    z->stamp++;
    return GOB_OK;
}

gob_status gob_zset_add(gob_zset *z, int64_t member, double score, gob_mode mode,
                        gob_changes *changes)
{
    GOB_TRY(gob_narrow(score, z->index.table.score_bytes, &score));
    double old = gob_index_get(&z->index, member);
    if (old == score || !admits(mode, old, score)) {
        return GOB_OK;
    }
    GOB_TRY(put(z, member, score, old, changes));
    settle(z);
    return GOB_OK;
}

gob_status gob_zset_increment(gob_zset *z, int64_t member, double by, double *sum)
{
    double old = gob_index_get(&z->index, member);
    GOB_TRY(gob_index_sum(&z->index, old, by, sum));
    if (*sum == old) {
        z->stuck = z->stuck || (by != 0.0 && isfinite(old));
        return GOB_OK;
    }
    gob_changes changes = {0};
    GOB_TRY(put(z, member, *sum, old, &changes));
    settle(z);
    return GOB_OK;
}

double gob_zset_remove(gob_zset *z, int64_t member)
{
    double old = gob_index_get(&z->index, member);
    if (!gob_is_absent(old)) {
        touch(z, member);
        gob_index_erase(&z->index, &z->alloc, member);
        z->stamp++;
        settle(z);
    }
    return old;
}

/* Bulk calls */

gob_status gob_zset_begin(gob_zset *z, gob_journal *j, size_t inputs)
{
    GOB_TRY(gob_journal_init(j, &z->alloc, inputs));
    j->stamp = z->stamp;
    gob_index_begin(&z->index);
    return GOB_OK;
}

/* Before input i of a step that ends at `end`: warms the batch that begins there. */
static void warm(const gob_zset *z, gob_inputs in, size_t i, size_t from, size_t end)
{
    if ((i - from) % GOB_BATCH == 0) {
        gob_index_warm(&z->index, in.members + i, end - i < GOB_BATCH ? end - i : GOB_BATCH);
    }
}

gob_status gob_zset_update_step(gob_zset *z, gob_journal *j, gob_inputs in, size_t from, size_t n,
                                gob_mode mode, gob_changes *changes)
{
    for (size_t i = from; i < from + n; i++, j->done = i) {
        warm(z, in, i, from, from + n);
        double score;
        GOB_TRY(gob_narrow(in.scores.at[i * in.scores.step], z->index.table.score_bytes, &score));
        double old = gob_index_get(&z->index, in.members[i]);
        if (old == score || !admits(mode, old, score)) {
            continue;
        }
        if (!gob_is_absent(old)) {
            GOB_TRY(gob_journal_reserve(j, &z->alloc));
        }
        GOB_TRY(put(z, in.members[i], score, old, changes));
        if (gob_is_absent(old)) {
            gob_journal_created(j, i);
        } else {
            gob_journal_log(j, i, old);
        }
    }
    return GOB_OK;
}

gob_status gob_zset_increment_step(gob_zset *z, gob_journal *j, gob_inputs in, size_t from,
                                   size_t n, double *out)
{
    for (size_t i = from; z->order != NULL && i < from + n; i++) {
        touch(z, in.members[i]);
    }
    gob_column by = {in.scores.at + from * in.scores.step, in.scores.step};
    gob_effects effects = {.stuck = z->stuck};
    gob_status status = gob_increment_many(&z->index, &z->alloc, in.members + from, by, n, j, from,
                                           out == NULL ? NULL : out + from, &effects);
    z->stuck = effects.stuck;
    z->stamp += effects.changed;
    z->scans = effects.changed ? 0 : z->scans;
    return status;
}

gob_status gob_zset_remove_step(gob_zset *z, gob_journal *j, gob_inputs in, size_t from, size_t n,
                                uint64_t *removed)
{
    for (size_t i = from; i < from + n; i++, j->done = i) {
        warm(z, in, i, from, from + n);
        double old = gob_index_get(&z->index, in.members[i]);
        if (gob_is_absent(old)) {
            continue;
        }
        GOB_TRY(gob_journal_reserve(j, &z->alloc));
        touch(z, in.members[i]);
        gob_index_erase(&z->index, &z->alloc, in.members[i]);
        gob_journal_log(j, i, old);
        z->stamp++;
        ++*removed;
    }
    return GOB_OK;
}

void gob_zset_commit(gob_zset *z, gob_journal *j)
{
    gob_journal_free(j, &z->alloc);
    gob_index_end(&z->index, &z->alloc);
    settle(z);
}

static void uncreate(gob_zset *z, const gob_journal *j, gob_inputs in)
{
    for (size_t i = j->done; i-- > 0;) {
        if (gob_journal_was_created(j, i)) {
            touch(z, in.members[i]);
            gob_index_erase(&z->index, &z->alloc, in.members[i]);
        }
    }
}

/* Puts a score back. There is room for it: it was there when the call began, nothing has shrunk. */
static void restore(gob_zset *z, int64_t member, double score)
{
    touch(z, member);
    double old;
    gob_status status = gob_index_put(&z->index, &z->alloc, member, score, &old);
    GOB_ASSERT(status == GOB_OK);
    (void)status;
}

static void restore_scores(gob_zset *z, gob_journal *j, gob_inputs in, gob_verb verb)
{
    for (size_t i = j->done; i-- > 0;) {
        bool logged = j->logged != 0 && j->log[j->logged - 1].at == i;
        double score = gob_index_get(&z->index, in.members[i]);
        double back;
        j->logged -= logged;
        if (gob_is_absent(score) && verb != GOB_REMOVE) {
            continue; /* created by this call, and already gone */
        }
        if (logged) {
            restore(z, in.members[i], j->log[j->logged].old);
        } else if (verb == GOB_INCREMENT &&
                   gob_narrow(score - in.scores.at[i * in.scores.step], z->index.table.score_bytes,
                              &back) == GOB_OK) {
            restore(z, in.members[i], back);
        }
    }
}

void gob_zset_rollback(gob_zset *z, gob_journal *j, gob_inputs in, gob_verb verb)
{
    z->stamp = j->stamp; /* iterators go on: everything will be as it was */
    uncreate(z, j, in);
    gob_index_dissolve_young(&z->index, &z->alloc);
    restore_scores(z, j, in, verb);
    gob_journal_free(j, &z->alloc);
    gob_index_end(&z->index, &z->alloc);
    settle(z);
}

/* Whole sets */

void gob_zset_clear(gob_zset *z)
{
    z->stamp += z->index.live != 0;
    z->scans = 0;
    drop_order(z);
    gob_index_free(&z->index, &z->alloc);
}

gob_status gob_zset_copy(gob_zset *dst, const gob_zset *src)
{
    return gob_index_copy(&dst->index, &dst->alloc, &src->index);
}

void gob_zset_swap(gob_zset *a, gob_zset *b)
{
    gob_zset old = *a;
    *a = *b;
    *b = old;
    uint64_t stamp = (a->stamp > b->stamp ? a->stamp : b->stamp) + 1;
    a->stamp = b->stamp = stamp;
}

gob_status gob_zset_optimize(gob_zset *z)
{
    if (z->pending != NULL) {
        GOB_TRY(apply_pending(z));
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
    gob_memory m = {
        .pages = gob_pages_bytes(&z->index.pages),
        .table = gob_table_bytes(&z->index.table),
        .pending = z->pending == NULL ? 0 : sizeof *z->pending + gob_table_bytes(z->pending),
    };
    m.order = z->alloc.live - m.pages - m.table - m.pending;
    return m;
}

/* Reads */

bool gob_zset_prefers_scan(gob_zset *z)
{
    if (z->order != NULL || z->scans >= GOB_SCANS_MAX) {
        return false;
    }
    z->scans++;
    return true;
}

uint64_t gob_zset_below(const gob_zset *z, double score, bool or_equal)
{
    return gob_order_lower_bound(z->order, (gob_entry){gob_key(score) + or_equal, 0});
}

uint64_t gob_zset_scan_count(const gob_zset *z, gob_interval within)
{
    return gob_index_count(&z->index, within);
}

double gob_zset_scan_sum(const gob_zset *z, gob_interval within)
{
    int64_t members[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    gob_walk w = {.codes_from = within.lo};
    gob_sum sum;
    gob_sum_init(&sum);
    for (size_t n; (n = gob_index_walk(&z->index, &w, members, scores)) != 0;) {
        for (size_t i = 0; i < n; i++) {
            if (gob_within(within, scores[i])) {
                gob_sum_add(&sum, scores[i]);
            }
        }
    }
    return gob_sum_value(&sum);
}

/* The heap's root is its worst entry. */
static void sift_down(gob_entry *heap, size_t count, size_t at, bool highest)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && gob_entry_less(heap[child + 1], heap[child]) == highest) {
            child++;
        }
        if (gob_entry_less(heap[child], heap[at]) != highest) {
            return;
        }
        gob_entry swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

size_t gob_zset_scan_extremes(const gob_zset *z, size_t k, bool highest, gob_entry *heap)
{
    int64_t members[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    gob_walk w = {0};
    size_t count = 0;
    for (size_t n; k != 0 && (n = gob_index_walk(&z->index, &w, members, scores)) != 0;) {
        for (size_t i = 0; i < n; i++) {
            gob_entry e = gob_zset_entry(members[i], scores[i]);
            if (count < k) {
                heap[count++] = e;
                for (size_t at = count / 2; count == k && at-- > 0;) {
                    sift_down(heap, count, at, highest);
                }
            } else if (gob_entry_less(heap[0], e) == highest) {
                heap[0] = e;
                sift_down(heap, count, 0, highest);
            }
        }
        if (highest && count == k) {
            w.codes_from = gob_key_score(heap[0].key);
        }
    }
    for (size_t at = count / 2; count < k && at-- > 0;) {
        sift_down(heap, count, at, highest);
    }
    for (size_t end = count; end-- > 1;) {
        gob_entry swap = heap[0];
        heap[0] = heap[end];
        heap[end] = swap;
        sift_down(heap, end, 0, highest);
    }
    return count;
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
    if (!gob_index_validate(&z->index, why)) {
        return false;
    }
    GOB_DEMAND(z->pending == NULL || z->order != NULL, "zset: pending without an order");
    if (z->pending != NULL && !gob_table_validate(z->pending, why)) {
        return false;
    }
    return z->order == NULL || (gob_order_validate(z->order, why) && validate_order(z, why));
}
