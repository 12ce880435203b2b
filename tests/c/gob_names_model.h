/* The model of a sorted set of names: the score of each name of the pool. */
#ifndef GOB_NAMES_MODEL_H
#define GOB_NAMES_MODEL_H

#include <stdlib.h>

#include "gob_name_pool.h"
#include "gob_test.h"
#include "gob_zset.h"

typedef struct model {
    double score[POOL];
    size_t n; /* names of the pool that take part */
    unsigned score_bytes;
} model;

static inline const gob_layout *names_layout(unsigned fixed, unsigned score_bytes, bool compress)
{
    static gob_layout layout;
    layout = (gob_layout){4, (uint8_t)score_bytes, compress, true, (uint8_t)fixed};
    return &layout;
}

/* A name of the pool as a member; good until the next call. */
static inline const gob_member *named(size_t i)
{
    static gob_member m;
    m = (gob_member){.name = pool[i]};
    return &m;
}

static inline void model_clear(model *m)
{
    for (size_t i = 0; i < POOL; i++) {
        m->score[i] = GOB_ABSENT;
    }
}

static inline bool same_score(double l, double r)
{
    return l == r || (gob_is_absent(l) && gob_is_absent(r));
}

/* As a set of this model's width keeps it. */
static inline double narrowed(const model *m, double v)
{
    return m->score_bytes == 4 ? (double)(float)v : v;
}

static inline bool names_match(const gob_zset *z, const model *m)
{
    const char *why = NULL;
    uint64_t count = 0;
    bool same = gob_zset_validate(z, &why);
    if (!same) {
        fprintf(stderr, "%s\n", why);
    }
    for (size_t i = 0; i < m->n && same; i++) {
        double score = gob_zset_score(z, gob_zset_find(z, named(i)));
        same = same_score(score, m->score[i]);
        count += !gob_is_absent(score);
    }
    return same && count == gob_zset_count(z);
}

typedef struct ranked {
    double score;
    gob_name name;
} ranked;

static inline int compare_ranked(const void *left, const void *right)
{
    const ranked *l = left;
    const ranked *r = right;
    return l->score != r->score ? (l->score > r->score) - (l->score < r->score)
                                : gob_name_compare(l->name, r->name);
}

/* What is there, in order; returns how many. */
static inline size_t model_rank(const model *m, ranked *out)
{
    size_t count = 0;
    for (size_t i = 0; i < m->n; i++) {
        if (!gob_is_absent(m->score[i])) {
            out[count++] = (ranked){m->score[i], pool[i]};
        }
    }
    qsort(out, count, sizeof *out, compare_ranked);
    return count;
}

static inline bool is_entry(const gob_zset *z, gob_entry e, const ranked *r)
{
    gob_name name = gob_members_name(gob_zset_names(z), gob_unbias(e.member));
    return gob_key_score(e.key) == r->score && gob_name_compare(name, r->name) == 0;
}

/* Each ordered read of a synced set. */
static inline bool names_in_order(const gob_zset *z, const model *m)
{
    static ranked rank[POOL];
    static uint64_t ranks[POOL];
    static gob_entry entries[POOL];
    gob_window w = {.count = 0};
    size_t count = model_rank(m, rank);
    bool same = gob_zset_is_synced(z) && count == gob_zset_count(z);
    for (size_t i = 0; same && i < count; i++) {
        if (i == w.first_rank + w.count) {
            gob_zset_read(z, i, &w);
        }
        entries[i] = (gob_entry){w.keys[i - w.first_rank], w.members[i - w.first_rank]};
        gob_bound b = {.key = gob_key(rank[i].score), .name = rank[i].name};
        same = is_entry(z, entries[i], &rank[i]) && gob_zset_lower_bound(z, &b) == i &&
               is_entry(z, gob_zset_select(z, i), &rank[i]);
    }
    if (same) {
        gob_zset_rank_many(z, entries, count, ranks);
        for (size_t i = 0; same && i < count; i++) {
            same = ranks[i] == i;
            ranks[i] = count - 1 - i;
        }
        gob_zset_select_many(z, ranks, count, entries);
        for (size_t i = 0; same && i < count; i++) {
            same = is_entry(z, entries[i], &rank[count - 1 - i]);
        }
    }
    return same;
}

#endif
