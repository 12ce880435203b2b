/* An index beside its model, an array of scores, for the tests of what works on an index. */
#ifndef GOB_INDEX_MODEL_H
#define GOB_INDEX_MODEL_H

#include "gob_index.h"
#include "gob_test.h"

enum { IDS = 3 * GOB_PAGE_IDS };

/* The model: the score of id i belongs to member base + i * stride. */
typedef struct model {
    double score[IDS];
    uint64_t count;
    int64_t base;
    int64_t stride;
} model;

static model m;
static gob_alloc a;
static gob_index ix;

static int64_t member_of(size_t id)
{
    return (int64_t)((uint64_t)m.base + id * (uint64_t)m.stride);
}

static void begin_test(unsigned member_bytes, unsigned score_bytes, int64_t base, int64_t stride)
{
    gob_alloc_init(&a);
    gob_layout layout = {.member_bytes = (uint8_t)member_bytes,
                         .score_bytes = (uint8_t)score_bytes};
    gob_index_init(&ix, layout, (uint64_t)base + 17);
    m = (model){.base = base, .stride = stride};
    for (size_t id = 0; id < IDS; id++) {
        m.score[id] = GOB_ABSENT;
    }
}

static void end_test(void)
{
    gob_index_free(&ix, &a);
    CHECK(a.live == 0);
}

static bool same_score(double l, double r)
{
    return l == r || (gob_is_absent(l) && gob_is_absent(r));
}

static bool valid(const gob_index *index)
{
    const char *why = NULL;
    bool ok = gob_index_validate(index, NULL, &why);
    if (!ok) {
        fprintf(stderr, "%s\n", why);
    }
    return ok;
}

static bool matches(const gob_index *index, const gob_alloc *alloc)
{
    bool same = valid(index) && index->live == m.count &&
                alloc->live == gob_pages_bytes(&index->pages) + gob_table_bytes(&index->table);
    for (size_t id = 0; id < IDS && same; id++) {
        same = same_score(gob_index_get(index, member_of(id)), m.score[id]);
    }
    return same;
}

static gob_status put(size_t id, double score)
{
    double old = -7.0;
    gob_status status = gob_index_put(&ix, &a, member_of(id), score, &old);
    if (status == GOB_OK) {
        CHECK(same_score(old, m.score[id]));
        m.count += gob_is_absent(m.score[id]);
        m.score[id] = score;
    }
    return status;
}

#endif
