#include "gob_bulk.h"

#include "gob_check.h"
#include "gob_increment.h"

gob_status gob_bulk_begin(gob_zset *z, gob_journal *j, size_t inputs)
{
    GOB_TRY(gob_journal_init(j, &z->alloc, inputs));
    j->stamp = z->stamp;
    z->bulk = gob_zset_count(z) == 0 ? GOB_UNDO_ADDED : GOB_UNDO_ALL;
    gob_index_begin(&z->index);
    gob_zset_expect(z, inputs);
    return GOB_OK;
}

const int64_t *gob_bulk_ids(const gob_zset *z, const gob_inputs *in, size_t from, size_t n,
                            int64_t *room)
{
    if (z->index.named) {
        gob_members_find_many(&z->index.members, in->names, from, n, room);
        return room;
    }
    gob_index_warm(&z->index, in->members + from, n);
    return in->members + from;
}

/* The id of one input now. */
static int64_t id_of(const gob_zset *z, const gob_inputs *in, size_t i)
{
    return z->index.named ? gob_members_find(&z->index.members, gob_names_at(in->names, i))
                          : in->members[i];
}

/* A batch of inputs, whose ids were found together. */
typedef struct batch {
    const int64_t *ids;
    size_t start;
    size_t n;
    uint32_t epoch;
    int64_t room[GOB_BATCH];
} batch;

static void batch_begin(batch *b, const gob_zset *z, const gob_inputs *in, size_t start, size_t n)
{
    b->start = start;
    b->n = n < GOB_BATCH ? n : GOB_BATCH;
    b->ids = gob_bulk_ids(z, in, start, b->n, b->room);
    for (size_t i = 0; z->pending != NULL && i < b->n; i++) {
        gob_table_prefetch(z->pending, b->ids[i]);
    }
    for (size_t i = 0; z->pending != NULL && i < b->n; i++) {
        gob_index_warm_slot(z->pending, b->ids[i]);
    }
    b->epoch = z->index.named ? z->index.members.epoch : 0;
}

/* The id of input i of a batch, unless it may have got one, or another one, since. */
static int64_t batch_id(const batch *b, const gob_zset *z, const gob_inputs *in, size_t i)
{
    int64_t id = b->ids[i - b->start];
    bool stale = z->index.named && (id == GOB_NO_ID || b->epoch != z->index.members.epoch);
    return GOB_UNLIKELY(stale) ? id_of(z, in, i) : id;
}

/* Going forward to `end`: the id of input i, which begins the next batch where the last one is
 * through. */
static int64_t next_id(batch *b, const gob_zset *z, const gob_inputs *in, size_t i, size_t end)
{
    if (i == b->start + b->n) {
        batch_begin(b, z, in, i, end - i);
    }
    return batch_id(b, z, in, i);
}

/* Going back, from inputs that are not all looked at. */
static int64_t last_id(batch *b, const gob_zset *z, const gob_inputs *in, size_t i)
{
    if (b->n == 0 || i < b->start) {
        size_t start = i < GOB_BATCH ? 0 : i - GOB_BATCH + 1;
        batch_begin(b, z, in, start, i - start + 1);
    }
    return batch_id(b, z, in, i);
}

/* One write, journalled. */
static gob_status put(gob_zset *z, gob_journal *j, const gob_inputs *in, size_t i, int64_t id,
                      double score, double old, bool logged)
{
    if (logged) {
        GOB_TRY(gob_journal_reserve(j, &z->alloc));
    }
    gob_name name = {NULL, 0};
    if (z->index.named && id == GOB_NO_ID) {
        name = gob_names_at(in->names, i);
    }
    GOB_TRY(gob_zset_put(z, id, &name, score, old));
    if (gob_is_absent(old)) {
        gob_journal_created(j, i);
    } else if (logged) {
        gob_journal_log(j, i, old);
    }
    return GOB_OK;
}

gob_status gob_bulk_update(gob_zset *z, gob_journal *j, gob_inputs in, size_t from, size_t n,
                           gob_mode mode, gob_changes *changes)
{
    batch b = {.n = 0, .start = from};
    for (size_t i = from; i < from + n; i++, j->done = i) {
        GOB_TRY(gob_spend(z->alloc.pace, 1));
        int64_t id = next_id(&b, z, &in, i, from + n);
        double old = gob_index_get(&z->index, id);
        double score;
        GOB_TRY(gob_mode_score(mode, old, in.scores.at[i * in.scores.step], z->index.score_bytes,
                               &score));
        if (old == score || !gob_mode_admits(mode, old, score)) {
            continue;
        }
        GOB_TRY(put(z, j, &in, i, id, score, old, !gob_is_absent(old)));
        changes->added += gob_is_absent(old);
        changes->changed += !gob_is_absent(old);
    }
    return GOB_OK;
}

static gob_status increment_names(gob_zset *z, gob_journal *j, const gob_inputs *in, size_t from,
                                  size_t n, double *out)
{
    batch b = {.n = 0, .start = from};
    for (size_t i = from; i < from + n; i++, j->done = i) {
        GOB_TRY(gob_spend(z->alloc.pace, 1));
        int64_t id = next_id(&b, z, in, i, from + n);
        double by = in->scores.at[i * in->scores.step];
        double old = gob_index_get(&z->index, id);
        double sum;
        GOB_TRY(gob_index_sum(&z->index, old, by, &sum));
        bool logged = gob_is_lossy(old, by, sum, z->index.score_bytes);
        if (sum != old) {
            GOB_TRY(put(z, j, in, i, id, sum, old, logged));
        } else if (logged) { /* undoing would subtract what was never added */
            GOB_TRY(gob_journal_reserve(j, &z->alloc));
            gob_journal_log(j, i, old);
        }
        z->stuck = z->stuck || (sum == old && by != 0.0 && isfinite(old));
        if (out != NULL) {
            out[i] = sum;
        }
    }
    return GOB_OK;
}

static gob_status increment_ints(gob_zset *z, gob_journal *j, const int64_t *members, gob_column by,
                                 size_t at, size_t n, double *out)
{
    gob_effects effects = {.stuck = z->stuck};
    gob_status status =
        gob_increment_many(&z->index, &z->alloc, members, by, n, j, at, out, &effects);
    z->stuck = effects.stuck;
    z->stamp += effects.changed;
    z->scans = effects.changed ? 0 : z->scans;
    return status;
}

/* Members to note for the order at a time. */
enum { NOTED = 1024 };

/* Of a copy: what is noted is what is then incremented, though another thread may write to the
 * caller's array meanwhile. */
static gob_status increment_noted(gob_zset *z, gob_journal *j, const int64_t *members,
                                  gob_column by, size_t at, size_t n, double *out)
{
    int64_t copy[NOTED];
    memcpy(copy, members, n * sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        gob_zset_touch(z, copy[i]);
    }
    return increment_ints(z, j, copy, by, at, n, out);
}

gob_status gob_bulk_increment(gob_zset *z, gob_journal *j, gob_inputs in, size_t from, size_t n,
                              double *out)
{
    if (z->index.named) {
        return increment_names(z, j, &in, from, n, out);
    }
    for (size_t at = from, part; at < from + n; at += part) {
        bool noted = z->order != NULL;
        size_t most = noted ? NOTED : GOB_PACE;
        part = from + n - at < most ? from + n - at : most;
        GOB_TRY(gob_spend(z->alloc.pace, part));
        gob_column by = {in.scores.at + at * in.scores.step, in.scores.step};
        GOB_TRY((noted ? increment_noted : increment_ints)(z, j, in.members + at, by, at, part,
                                                           out == NULL ? NULL : out + at));
    }
    return GOB_OK;
}

gob_status gob_bulk_remove(gob_zset *z, gob_journal *j, gob_inputs in, size_t from, size_t n,
                           uint64_t *removed)
{
    batch b = {.n = 0, .start = from};
    for (size_t i = from; i < from + n; i++, j->done = i) {
        GOB_TRY(gob_spend(z->alloc.pace, 1));
        int64_t id = next_id(&b, z, &in, i, from + n);
        double old = gob_index_get(&z->index, id);
        if (gob_is_absent(old)) {
            continue;
        }
        GOB_TRY(gob_journal_reserve(j, &z->alloc));
        if (z->index.named) {
            GOB_TRY(gob_members_reserve_condemned(&z->index.members, &z->alloc));
        }
        gob_zset_erase(z, id);
        gob_journal_log(j, i, old);
        ++*removed;
    }
    return GOB_OK;
}

static void end(gob_zset *z, gob_journal *j)
{
    z->bulk = GOB_NO_BULK;
    gob_journal_free(j, &z->alloc);
    gob_index_end(&z->index, &z->alloc);
    gob_zset_settle(z);
}

void gob_bulk_commit(gob_zset *z, gob_journal *j)
{
    end(z, j);
}

/* Removes what the call created. */
static void uncreate(gob_zset *z, const gob_journal *j, const gob_inputs *in)
{
    batch b = {.n = 0};
    for (size_t i = j->done; i-- > 0;) {
        if (j->created[i / 8] == 0) {
            i -= i % 8;
        } else if (gob_journal_was_created(j, i)) {
            int64_t id = last_id(&b, z, in, i);
            if (!gob_is_absent(gob_zset_score(z, id))) {
                gob_zset_erase(z, id);
            }
        }
    }
}

/* Puts a score back. There is room for it: it was there when the call began, nothing has shrunk. */
static void restore(gob_zset *z, int64_t id, double score)
{
    if (z->index.named && !gob_members_fits(&z->index.members, score)) {
        return; /* only where the caller's input has changed under the call */
    }
    gob_zset_touch(z, id);
    double old;
    gob_status status = gob_index_put(&z->index, &z->alloc, id, score, &old);
    GOB_ASSERT(status == GOB_OK);
    (void)status;
}

static void restore_scores(gob_zset *z, gob_journal *j, const gob_inputs *in, gob_verb verb)
{
    batch b = {.n = 0};
    for (size_t i = j->done; i-- > 0;) {
        bool logged = j->logged != 0 && j->log[j->logged - 1].at == i;
        if (!logged && verb != GOB_INCREMENT) {
            continue;
        }
        int64_t id = last_id(&b, z, in, i);
        double score = gob_zset_score(z, id);
        double back;
        j->logged -= logged;
        if (gob_is_absent(score) && (verb != GOB_REMOVE || (z->index.named && id == GOB_NO_ID))) {
            continue; /* created by this call, and already gone */
        }
        if (logged) {
            restore(z, id, j->log[j->logged].old);
        } else if (gob_narrow(score - in->scores.at[i * in->scores.step], z->index.score_bytes,
                              &back) == GOB_OK) {
            restore(z, id, back);
        }
    }
}

static void undo(gob_zset *z, gob_journal *j, const gob_inputs *in, gob_verb verb)
{
    if (z->bulk == GOB_UNDO_ADDED) {
        gob_zset_clear(z);
        return;
    }
    uncreate(z, j, in);
    gob_index_dissolve_young(&z->index, &z->alloc);
    restore_scores(z, j, in, verb);
}

void gob_bulk_rollback(gob_zset *z, gob_journal *j, gob_inputs in, gob_verb verb)
{
    gob_pace *pace = z->alloc.pace;
    z->alloc.pace = NULL; /* there is no way back from here */
    undo(z, j, &in, verb);
    z->stamp = j->stamp; /* iterators go on: everything is as it was */
    end(z, j);
    z->alloc.pace = pace;
}
