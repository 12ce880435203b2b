/* The order against a sorted array: batches, single changes, failing allocations. */
#include <stdlib.h>

#include "gob_name_pool.h"
#include "gob_order.h"
#include "gob_random.h"
#include "gob_sort.h"
#include "gob_test.h"

enum { MOST = 400000, BATCH_MOST = 60000 };

/* The model: entries in ascending order. */
static gob_entry entries[MOST];
static size_t count;

static bool equal(gob_entry a, gob_entry b)
{
    return a.key == b.key && a.member == b.member;
}

static uint64_t lower_bound(const gob_order *o, gob_entry e)
{
    gob_bound b = gob_bound_of(o->names, e);
    return gob_order_lower_bound(o, &b);
}

static size_t model_lower_bound(gob_entry e)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (gob_entry_less(entries[middle], e)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* An entry as the layout has it: few scores, so many ties, or many. */
static gob_entry random_entry(uint64_t *rng, gob_layout layout, bool ties)
{
    uint64_t any = random_next(rng);
    int64_t member = layout.member_bytes == 4 ? (int32_t)any : (int64_t)any >> 4;
    double score = ties ? (double)random_below(rng, 5) : (double)random_below(rng, 100000) * 0.25;
    return (gob_entry){gob_key(score), gob_bias(member)};
}

static void model_fill(uint64_t *rng, gob_layout layout, bool ties, size_t n)
{
    static gob_entry scratch[MOST];
    for (size_t i = 0; i < n; i++) {
        entries[i] = random_entry(rng, layout, ties);
    }
    gob_sort_entries(entries, scratch, n);
    count = 0;
    for (size_t i = 0; i < n; i++) {
        if (count == 0 || !equal(entries[count - 1], entries[i])) {
            entries[count++] = entries[i];
        }
    }
}

static gob_status build(gob_order *o, gob_alloc *a, gob_layout layout)
{
    gob_builder b;
    gob_order_init(o, layout, NULL);
    gob_builder_init(&b, o, a);
    for (size_t i = 0; i < count; i++) {
        gob_status status = gob_builder_add(&b, entries[i]);
        if (status != GOB_OK) {
            gob_builder_abandon(&b);
            return status;
        }
    }
    return gob_builder_finish(&b);
}

static bool valid(const gob_order *o)
{
    const char *why = NULL;
    bool ok = gob_order_validate(o, &why);
    if (!ok) {
        fprintf(stderr, "%s\n", why);
    }
    return ok;
}

static bool reads_forward(const gob_order *o)
{
    gob_window w;
    uint64_t rank = 0;
    bool same = o->count == count;
    for (; same && rank < count; rank += w.count) {
        gob_order_read(o, rank, &w);
        same = w.first_rank == rank && w.count > 0;
        for (size_t i = 0; i < w.count; i++) {
            same = same && equal(entries[rank + i], (gob_entry){w.keys[i], w.members[i]});
        }
    }
    return same && rank == count;
}

static bool reads_backward(const gob_order *o)
{
    gob_window w;
    uint64_t end = count;
    bool same = true;
    while (same && end > 0) {
        gob_order_read(o, end - 1, &w);
        same = w.first_rank + w.count == end;
        for (size_t i = 0; same && i < w.count; i++) {
            gob_entry e = entries[w.first_rank + i];
            same = equal(e, (gob_entry){w.keys[i], w.members[i]});
        }
        end = w.first_rank;
    }
    return same;
}

static bool searches(const gob_order *o, gob_layout layout, uint64_t *rng, int n)
{
    bool same = lower_bound(o, (gob_entry){0, 0}) == 0 &&
                lower_bound(o, (gob_entry){UINT64_MAX, UINT64_MAX}) == count;
    for (int i = 0; i < n && count != 0; i++) {
        size_t rank = i == 0 ? 0 : i == 1 ? count - 1 : random_below(rng, count);
        gob_entry e = random_entry(rng, layout, random_below(rng, 2) != 0);
        same = same && equal(gob_order_select(o, rank), entries[rank]) &&
               lower_bound(o, entries[rank]) == rank && lower_bound(o, e) == model_lower_bound(e);
    }
    return same;
}

static bool matches(const gob_order *o, gob_layout layout, uint64_t *rng)
{
    return reads_forward(o) && reads_backward(o) && searches(o, layout, rng, 200);
}

static int compare_changes(const void *left, const void *right)
{
    const gob_change *l = left;
    const gob_change *r = right;
    return (int)gob_entry_less(r->entry, l->entry) - (int)gob_entry_less(l->entry, r->entry);
}

/* Brings the model up to date with an ascending batch. */
static void model_apply(const gob_change *changes, size_t n)
{
    static gob_entry after[MOST];
    size_t made = 0;
    size_t i = 0;
    for (size_t j = 0; j < n; j++) {
        while (i < count && gob_entry_less(entries[i], changes[j].entry)) {
            after[made++] = entries[i++];
        }
        if (changes[j].remove) {
            i++;
        } else {
            after[made++] = changes[j].entry;
        }
    }
    while (i < count) {
        after[made++] = entries[i++];
    }
    memcpy(entries, after, made * sizeof after[0]);
    count = made;
}

/* An ascending batch of distinct changes, `removals` tenths of them removals. Some crowd into one
 * stretch of the order. Returns how many there are. */
static size_t random_batch(gob_change *changes, size_t n, unsigned removals, gob_layout layout,
                           bool ties, uint64_t *rng)
{
    size_t crowd = count == 0 ? 0 : random_below(rng, count);
    size_t width = random_below(rng, 2) != 0 ? count : 1 + count / 20;
    for (size_t i = 0; i < n; i++) {
        bool remove = count != 0 && random_below(rng, 10) < removals;
        gob_entry e = random_entry(rng, layout, ties);
        if (remove) {
            e = entries[(crowd + random_below(rng, width)) % count];
        } else if (count != 0 && width < count) {
            e.key = entries[crowd].key;
        }
        changes[i] = (gob_change){e, remove};
    }
    qsort(changes, n, sizeof *changes, compare_changes);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        gob_entry e = changes[i].entry;
        size_t rank = model_lower_bound(e);
        bool present = rank < count && equal(entries[rank], e);
        bool again = kept != 0 && equal(changes[kept - 1].entry, e);
        if (!again && present == changes[i].remove) {
            changes[kept++] = changes[i];
        }
    }
    return kept;
}

static gob_change batch[BATCH_MOST];

/* A large tree under batches of every size, then emptied by ever further batches. */
static void test_large(gob_layout layout, bool ties)
{
    const size_t sizes[] = {1, 7, 60, 900, 9000, BATCH_MOST};
    uint64_t rng = 1;
    gob_alloc a;
    gob_order o;
    gob_alloc_init(&a);
    model_fill(&rng, layout, ties, 320000);
    CHECK(count > 300000);
    CHECK(build(&o, &a, layout) == GOB_OK && matches(&o, layout, &rng));
    for (unsigned round = 0; round < 18; round++) {
        unsigned removals = round < 6 ? 3 : round < 12 ? 5 : 9;
        size_t n = random_batch(batch, sizes[round % 6], removals, layout, ties, &rng);
        CHECK(gob_order_apply(&o, &a, batch, n) == GOB_OK);
        model_apply(batch, n);
        CHECK(matches(&o, layout, &rng));
    }
    CHECK(valid(&o));
    uint64_t blocks = gob_order_blocks(&o);
    CHECK(gob_order_optimize(&o, &a) == GOB_OK);
    CHECK(gob_order_blocks(&o) == (count + GOB_BLOCK_MAX - 1) / GOB_BLOCK_MAX);
    CHECK(gob_order_blocks(&o) < blocks && matches(&o, layout, &rng));
    while (count != 0) {
        size_t n = 0;
        for (; n < count && n < BATCH_MOST; n++) {
            batch[n] = (gob_change){entries[n], true};
        }
        CHECK(gob_order_apply(&o, &a, batch, n) == GOB_OK);
        model_apply(batch, n);
        CHECK(matches(&o, layout, &rng));
    }
    CHECK(o.root == NULL && o.count == 0 && a.live == 0 && valid(&o));
}

/* Removing nearly everything leaves few, well filled blocks and nodes, not crumbs. */
static void test_thinning(gob_layout layout)
{
    uint64_t rng = 2;
    gob_alloc a;
    gob_order o;
    gob_alloc_init(&a);
    model_fill(&rng, layout, false, 120000);
    CHECK(build(&o, &a, layout) == GOB_OK);
    while (count > 3000) {
        size_t n = 0;
        for (size_t i = random_below(&rng, 3); i < count && n < BATCH_MOST;
             i += 1 + random_below(&rng, 12)) {
            batch[n++] = (gob_change){entries[i], true};
        }
        CHECK(gob_order_apply(&o, &a, batch, n) == GOB_OK);
        model_apply(batch, n);
        CHECK(valid(&o) && reads_forward(&o));
    }
    CHECK(gob_order_blocks(&o) < 4 * (count / GOB_BLOCK_MAX + 1));
    gob_order_free(&o, &a);
    CHECK(a.live == 0);
}

/* One change at a time: growth from empty in some order, and back to empty in another. */
static void test_singles(gob_layout layout, unsigned order, size_t n)
{
    uint64_t rng = 3 + order;
    gob_alloc a;
    gob_order o;
    gob_alloc_init(&a);
    gob_order_init(&o, layout, NULL);
    count = 0;
    CHECK(matches(&o, layout, &rng) && valid(&o));
    for (size_t i = 0; i < n; i++) {
        gob_entry e = {gob_key((double)(i / 300)), gob_bias((int64_t)i)}; /* ascending */
        if (order == 1) {
            e = (gob_entry){gob_key(-(double)(i / 300)), gob_bias(-(int64_t)i)};
        } else if (order == 2) {
            e = random_entry(&rng, layout, i % 2 != 0);
        }
        size_t rank = model_lower_bound(e);
        gob_change change = {e, rank < count && equal(entries[rank], e)};
        CHECK(gob_order_apply(&o, &a, &change, 1) == GOB_OK);
        model_apply(&change, 1);
        CHECK(lower_bound(&o, e) == rank);
        if (i < 600 ? i % 16 == 0 : i % 2000 == 0) {
            CHECK(matches(&o, layout, &rng) && valid(&o));
        }
    }
    CHECK(matches(&o, layout, &rng) && valid(&o));
    while (count != 0) {
        size_t rank = order == 0 ? 0 : order == 1 ? count - 1 : random_below(&rng, count);
        gob_change change = {entries[rank], true};
        CHECK(gob_order_apply(&o, &a, &change, 1) == GOB_OK);
        model_apply(&change, 1);
        if (count < 600 ? count % 16 == 0 : count % 2000 == 0) {
            CHECK(matches(&o, layout, &rng) && valid(&o));
        }
    }
    CHECK(o.root == NULL && a.live == 0);
}

/* What gob_order.c keeps to itself: to see the depth of a tree, and to damage it. */
struct gob_node {
    uint16_t count;
    uint16_t capacity;
    uint16_t level;
    gob_child child[];
};

/* Growth at one end leaves blocks and nodes half full, so that the root splits twice; removals
 * then take the levels away again. */
static void test_levels(gob_layout layout)
{
    enum { STEP = 3, GROWN = 97000 * STEP };
    uint64_t rng = 10;
    gob_alloc a;
    gob_order o;
    gob_alloc_init(&a);
    gob_order_init(&o, layout, NULL);
    for (count = 0; count < GROWN; count += STEP) {
        for (size_t i = 0; i < STEP; i++) {
            int64_t member = (int64_t)(count + i) * 5;
            gob_entry e = {gob_key((double)(member / 10000)), gob_bias(member)};
            entries[count + i] = e;
            batch[i] = (gob_change){e, false};
        }
        CHECK(gob_order_apply(&o, &a, batch, STEP) == GOB_OK);
    }
    CHECK(o.root->level == 2 && valid(&o) && matches(&o, layout, &rng));
    for (int round = 0; count > 20000; round++) {
        size_t n = random_batch(batch, round < 20 ? 500 : 20000, 9, layout, false, &rng);
        CHECK(gob_order_apply(&o, &a, batch, n) == GOB_OK);
        model_apply(batch, n);
        CHECK(reads_forward(&o) && searches(&o, layout, &rng, 100));
    }
    CHECK(o.root->level < 2 && valid(&o) && matches(&o, layout, &rng));
    gob_order_free(&o, &a);
    CHECK(a.live == 0);
}

/* Ready blocks between single entries. */
static void test_ready_blocks(gob_layout layout)
{
    uint64_t rng = 9;
    gob_alloc a;
    gob_order o;
    gob_builder b;
    gob_alloc_init(&a);
    model_fill(&rng, layout, true, 50000);
    gob_order_init(&o, layout, NULL);
    gob_builder_init(&b, &o, &a);
    for (size_t i = 0; i < count;) {
        size_t n = 1 + random_below(&rng, GOB_BLOCK_MAX);
        n = n < count - i ? n : count - i;
        if (random_below(&rng, 2) == 0) {
            for (size_t end = i + n; i < end; i++) {
                CHECK(gob_builder_add(&b, entries[i]) == GOB_OK);
            }
            continue;
        }
        uint64_t keys[GOB_BLOCK_MAX];
        uint64_t members[GOB_BLOCK_MAX];
        for (size_t k = 0; k < n; k++) {
            keys[k] = entries[i + k].key;
            members[k] = entries[i + k].member;
        }
        gob_block *block = gob_block_encode(&a, layout, keys, members, n);
        CHECK(block != NULL);
        CHECK(gob_builder_add_block(&b, (gob_child){entries[i], n, block}) == GOB_OK);
        i += n;
    }
    CHECK(gob_builder_finish(&b) == GOB_OK);
    CHECK(matches(&o, layout, &rng) && valid(&o));
    gob_order_free(&o, &a);
    CHECK(a.live == 0);
}

/* Every allocation of a build fails once; then nothing of it is left. */
static void test_failing_build(gob_layout layout)
{
    uint64_t rng = 4;
    gob_alloc a;
    gob_order o;
    gob_status status = GOB_NOMEM;
    gob_alloc_init(&a);
    model_fill(&rng, layout, false, 30000);
    for (uint64_t nth = 1; status != GOB_OK; nth++) {
        a.fail_at = nth;
        status = build(&o, &a, layout);
        CHECK(status == GOB_OK || (status == GOB_NOMEM && o.root == NULL && o.count == 0));
        CHECK(status == GOB_OK || a.live == 0);
    }
    a.fail_at = 0;
    CHECK(reads_forward(&o) && valid(&o));
    gob_order_free(&o, &a);
    CHECK(a.live == 0);
}

/* Every allocation of a batch fails once; a tree after that can at least be freed. */
static void test_failing_apply(gob_layout layout, unsigned removals)
{
    uint64_t rng = 5;
    gob_alloc a;
    gob_alloc_init(&a);
    model_fill(&rng, layout, false, 24000);
    size_t n = random_batch(batch, 2000, removals, layout, false, &rng);
    bool failed = true;
    size_t failures = 0;
    for (uint64_t nth = 1; failed; nth += 1 + nth / 50) {
        gob_order o;
        CHECK(build(&o, &a, layout) == GOB_OK);
        a.fail_at = nth;
        gob_status status = gob_order_apply(&o, &a, batch, n);
        failed = a.fail_at == 0;
        failures += status != GOB_OK;
        CHECK(status == GOB_OK || (status == GOB_NOMEM && failed));
        a.fail_at = 0;
        if (status == GOB_OK && failed) {
            CHECK(valid(&o)); /* only a join was given up */
        }
        gob_order_free(&o, &a);
        CHECK(a.live == 0);
    }
    CHECK(failures > 10);
}

/* The same for a batch that starts from nothing, and so leaves nothing. */
static void test_failing_first_apply(gob_layout layout)
{
    uint64_t rng = 8;
    gob_alloc a;
    gob_order o;
    gob_status status = GOB_NOMEM;
    gob_alloc_init(&a);
    count = 0;
    size_t n = random_batch(batch, 20000, 0, layout, false, &rng);
    for (uint64_t nth = 1; status != GOB_OK; nth++) {
        gob_order_init(&o, layout, NULL);
        a.fail_at = nth;
        status = gob_order_apply(&o, &a, batch, n);
        CHECK(status == GOB_OK || (status == GOB_NOMEM && a.live == 0 && o.root == NULL));
    }
    a.fail_at = 0;
    model_apply(batch, n);
    CHECK(valid(&o) && matches(&o, layout, &rng));
    gob_order_free(&o, &a);
    CHECK(a.live == 0);
}

/* A failed optimize changes nothing. */
static void test_failing_optimize(gob_layout layout)
{
    uint64_t rng = 6;
    gob_alloc a;
    gob_order o;
    gob_alloc_init(&a);
    model_fill(&rng, layout, false, 20000);
    CHECK(build(&o, &a, layout) == GOB_OK);
    size_t n = random_batch(batch, 3000, 5, layout, false, &rng);
    CHECK(gob_order_apply(&o, &a, batch, n) == GOB_OK);
    model_apply(batch, n);
    gob_node *root = o.root;
    size_t live = a.live;
    gob_status status = GOB_NOMEM;
    for (uint64_t nth = 1; status != GOB_OK; nth++) {
        a.fail_at = nth;
        status = gob_order_optimize(&o, &a);
        CHECK(status == GOB_OK || (o.root == root && a.live == live && reads_forward(&o)));
    }
    a.fail_at = 0; /* the last failure only left a node with slack */
    CHECK(reads_forward(&o) && valid(&o));
    CHECK(gob_order_optimize(&o, &a) == GOB_OK);
    CHECK(a.live < live && reads_forward(&o) && valid(&o));
    gob_order_free(&o, &a);
    CHECK(a.live == 0);
}

/* Names: their store, and the model: the score of each. */

static gob_alloc names_alloc;
static gob_members names;
static int64_t ids[POOL];
static double score_of[POOL];

static void begin_names(unsigned fixed)
{
    gob_alloc_init(&names_alloc);
    gob_members_init(&names, fixed, 8, 3);
    fill_pool(fixed);
    for (size_t i = 0; i < POOL; i++) {
        CHECK(gob_members_add(&names, &names_alloc, pool[i], &ids[i]) == GOB_OK);
        score_of[i] = GOB_ABSENT;
    }
}

static gob_entry named_entry(size_t i)
{
    return (gob_entry){gob_key(score_of[i]), gob_bias(ids[i])};
}

/* Brings `entries` up to date. */
static void rank_names(void)
{
    static gob_entry scratch[POOL];
    count = 0;
    for (size_t i = 0; i < POOL; i++) {
        if (!gob_is_absent(score_of[i])) {
            entries[count++] = named_entry(i);
        }
    }
    gob_sort_names(&names, 0, entries, scratch, count);
}

static int compare_named(const void *left, const void *right)
{
    const gob_change *l = left;
    const gob_change *r = right;
    return (int)gob_order_less(&names, r->entry, l->entry) -
           (int)gob_order_less(&names, l->entry, r->entry);
}

/* Gives up to n of the names another score, or, in so many tenths, none. */
static size_t named_batch(size_t n, unsigned removals, uint64_t *rng)
{
    size_t made = 0;
    for (size_t k = 0; k < n; k++) {
        size_t i = (random_below(rng, POOL) / n * n + k) % POOL; /* none twice, as n divides POOL */
        double old = score_of[i];
        double score = random_below(rng, 10) < removals ? GOB_ABSENT : (double)random_below(rng, 3);
        if (score == old) {
            continue;
        }
        if (!gob_is_absent(old)) {
            batch[made++] = (gob_change){named_entry(i), true};
        }
        score_of[i] = score;
        if (!gob_is_absent(score)) {
            batch[made++] = (gob_change){named_entry(i), false};
        }
    }
    qsort(batch, made, sizeof batch[0], compare_named);
    return made;
}

/* Places of names, whether they are there or not. */
static bool finds_names(const gob_order *o)
{
    static uint64_t ranks[POOL];
    bool same = true;
    gob_order_rank_many(o, entries, count, ranks);
    for (size_t rank = 0; rank < count && same; rank++) {
        same = ranks[rank] == rank && lower_bound(o, entries[rank]) == rank &&
               gob_order_rank(o, entries[rank]) == rank;
    }
    for (size_t i = 0; i < POOL && same; i += 17) {
        gob_bound b = {.key = gob_key((double)(i % 3)), .name = pool[i]};
        size_t rank = 0;
        while (rank < count && gob_bound_compare(&names, entries[rank], &b) < 0) {
            rank++;
        }
        same = gob_order_lower_bound(o, &b) == rank;
    }
    return same;
}

static void test_names(gob_layout layout, uint64_t seed)
{
    uint64_t rng = seed;
    gob_alloc a;
    gob_order o;
    gob_alloc_init(&a);
    begin_names(layout.fixed);
    gob_order_init(&o, layout, &names);
    for (unsigned round = 0; round < 60; round++) {
        size_t n = round % 3 == 0 ? 1 : round % 3 == 1 ? 40 : POOL;
        size_t made = named_batch(n, round < 30 ? 3 : 7, &rng);
        CHECK(gob_order_apply(&o, &a, batch, made) == GOB_OK);
        rank_names();
        CHECK(valid(&o) && reads_forward(&o) && reads_backward(&o) && finds_names(&o));
    }
    CHECK(count > 100 && gob_order_optimize(&o, &a) == GOB_OK);
    CHECK(valid(&o) && reads_forward(&o) && finds_names(&o));
    size_t left = named_batch(POOL, 10, &rng);
    CHECK(left == count && gob_order_apply(&o, &a, batch, left) == GOB_OK);
    CHECK(o.root == NULL && o.count == 0 && a.live == 0 && valid(&o));
    gob_members_free(&names, &names_alloc);
}

/* As test_failing_apply. */
static void test_failing_names(gob_layout layout)
{
    gob_alloc a;
    bool failed = true;
    size_t failures = 0;
    gob_alloc_init(&a);
    begin_names(layout.fixed);
    for (uint64_t nth = 1; failed; nth += 1 + nth / 10) {
        uint64_t rng = 12;
        gob_order o;
        gob_order_init(&o, layout, &names);
        for (size_t i = 0; i < POOL; i++) {
            score_of[i] = GOB_ABSENT;
        }
        CHECK(gob_order_apply(&o, &a, batch, named_batch(POOL, 2, &rng)) == GOB_OK);
        size_t n = named_batch(750, 4, &rng);
        a.fail_at = nth;
        gob_status status = gob_order_apply(&o, &a, batch, n);
        failed = a.fail_at == 0;
        failures += status != GOB_OK;
        CHECK(status == GOB_OK || (status == GOB_NOMEM && failed));
        a.fail_at = 0;
        rank_names();
        CHECK(status != GOB_OK || (valid(&o) && reads_forward(&o)));
        gob_order_free(&o, &a);
        CHECK(a.live == 0);
    }
    CHECK(failures > 5);
    gob_members_free(&names, &names_alloc);
}

static void test_validator(void)
{
    uint64_t rng = 7;
    const char *why;
    gob_layout layout = {.member_bytes = 8, .score_bytes = 8, .compress = true};
    gob_alloc a;
    gob_order o;
    gob_alloc_init(&a);
    model_fill(&rng, layout, false, 40000);
    CHECK(build(&o, &a, layout) == GOB_OK && valid(&o) && o.root->level == 1);
    gob_node *node = o.root->child[0].node;
    gob_block *block = node->child[2].node;

    o.count++;
    CHECK_FAULT(gob_order_validate(&o, &why), why, "order: count");
    o.count--;
    gob_order empty = {.count = 1, .layout = layout};
    CHECK_FAULT(gob_order_validate(&empty, &why), why, "order: empty tree with a count");
    uint16_t children = o.root->count;
    o.root->count = 1;
    CHECK_FAULT(gob_order_validate(&o, &why), why, "order: root with one child");
    o.root->count = children;
    node->level = 1;
    CHECK_FAULT(gob_order_validate(&o, &why), why, "order: level of a node");
    node->level = 0;
    node->capacity = (uint16_t)(node->count - 1);
    CHECK_FAULT(gob_order_validate(&o, &why), why, "order: node size");
    node->capacity = node->count;
    node->child[0].count++;
    CHECK_FAULT(gob_order_validate(&o, &why), why, "order: node count differs from its parent's");
    node->child[1].count--;
    CHECK_FAULT(gob_order_validate(&o, &why), why, "order: block count differs from its parent's");
    node->child[0].count--;
    node->child[1].count++;
    o.root->child[0].first.member++;
    CHECK_FAULT(gob_order_validate(&o, &why), why, "order: node base differs from its parent's");
    o.root->child[0].first.member--;
    block->count = GOB_BLOCK_MAX + 1;
    CHECK_FAULT(gob_order_validate(&o, &why), why, "order: block size");
    block->count = GOB_BLOCK_MAX;
    node->child[2].first.key = 0;
    CHECK_FAULT(gob_order_validate(&o, &why), why, "order: entries not ascending");
    node->child[2].first = entries[2 * (size_t)GOB_BLOCK_MAX];
    CHECK(valid(&o));
    gob_order_free(&o, &a);

    /* A plain block has its own first entry, which its parent's has to be. */
    layout.compress = false;
    CHECK(build(&o, &a, layout) == GOB_OK && valid(&o));
    node = o.root->child[0].node;
    node->child[2].first.member++;
    CHECK_FAULT(gob_order_validate(&o, &why), why, "order: block base differs from its parent's");
    node->child[2].first.member--;
    CHECK(valid(&o));
    gob_order_free(&o, &a);
    CHECK(a.live == 0);
}

int main(void)
{
    const gob_layout narrow = {.member_bytes = 4, .score_bytes = 4, .compress = true};
    const gob_layout wide = {.member_bytes = 8, .score_bytes = 8, .compress = true};
    const gob_layout plain = {.member_bytes = 8, .score_bytes = 4, .compress = false};
    test_large(wide, false);
    test_large(wide, true);
    test_large(plain, false);
    test_thinning(narrow);
    test_levels(wide);
    for (unsigned order = 0; order < 3; order++) {
        test_singles(order == 1 ? plain : wide, order, 10000);
    }
    test_singles(narrow, 2, 10000);
    test_ready_blocks(wide);
    test_ready_blocks(plain);
    test_failing_build(wide);
    test_failing_build(plain);
    test_failing_apply(wide, 3);
    test_failing_apply(narrow, 9);
    test_failing_first_apply(wide);
    test_failing_optimize(wide);
    test_failing_optimize(plain);
    gob_layout strings = {.member_bytes = 4, .score_bytes = 8, .compress = true, .named = true};
    test_names(strings, 1);
    test_failing_names(strings);
    strings.compress = false;
    test_names(strings, 2);
    strings.fixed = 16;
    test_names(strings, 3);
    strings.compress = true;
    test_names(strings, 4);
    test_validator();
    return test_report();
}
