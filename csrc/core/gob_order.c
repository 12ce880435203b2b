#include "gob_order.h"

#include "gob_check.h"

struct gob_node {
    uint16_t count;
    uint16_t capacity; /* grown as needed up to GOB_NODE_MAX: small sets must stay small */
    uint16_t level;    /* 0: children are blocks */
    gob_child child[];
};

/* The way down to a block: at[l] is the child taken in node[l]; level 0 is the lowest. */
typedef struct path {
    gob_node *node[GOB_LEVELS_MAX];
    unsigned at[GOB_LEVELS_MAX];
    unsigned top; /* level of the root */
} path;

static size_t node_bytes(unsigned capacity)
{
    return offsetof(gob_node, child) + capacity * sizeof(gob_child);
}

static gob_node *node_new(gob_alloc *a, unsigned capacity, unsigned level)
{
    gob_node *n = gob_malloc(a, node_bytes(capacity));
    if (n != NULL) {
        n->count = 0;
        n->capacity = (uint16_t)capacity;
        n->level = (uint16_t)level;
    }
    return n;
}

static void node_free(gob_alloc *a, gob_node *n)
{
    gob_free(a, n, node_bytes(n->capacity));
}

static void child_free(gob_order *o, gob_alloc *a, gob_child c, unsigned level)
{
    if (level == 0) {
        if (o->end == NULL) {
            gob_block_free(a, o->layout, c.node);
        }
        return;
    }
    gob_node *n = c.node;
    for (unsigned i = 0; i < n->count; i++) {
        child_free(o, a, n->child[i], level - 1);
    }
    node_free(a, n);
}

static uint64_t node_total(const gob_node *n)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < n->count; i++) {
        total += n->child[i].count;
    }
    return total;
}

static gob_child node_as_child(gob_node *n)
{
    return (gob_child){n->child[0].first, node_total(n), n};
}

void gob_order_init(gob_order *o, gob_layout layout, const gob_members *names)
{
    *o = (gob_order){.names = names, .layout = layout};
}

void gob_order_free(gob_order *o, gob_alloc *a)
{
    if (o->root != NULL) {
        gob_child root = {.node = o->root};
        child_free(o, a, root, o->root->level + 1U);
    }
    o->root = NULL;
    o->count = 0;
}

gob_bound gob_bound_of(const gob_members *names, gob_entry e)
{
    gob_bound b = {.key = e.key, .member = e.member};
    if (names != NULL) {
        b.name = gob_members_name(names, gob_unbias(e.member));
    }
    return b;
}

bool gob_order_less(const gob_members *names, gob_entry a, gob_entry b)
{
    if (names == NULL || a.key != b.key) {
        return gob_entry_less(a, b);
    }
    gob_bound bound = gob_bound_of(names, b);
    return gob_bound_compare(names, a, &bound) < 0;
}

/* Whether the bound is before an entry. `named` is constant where this is inlined: integers, whose
 * look-ups are short, must not pay for names. */
GOB_INLINE bool is_before(const gob_order *o, bool named, const gob_bound *b, gob_entry e)
{
    return named ? gob_bound_compare(o->names, e, b) > 0
                 : gob_entry_less((gob_entry){b->key, b->member}, e);
}

GOB_INLINE unsigned bisect(const gob_order *o, bool named, const gob_node *n, const gob_bound *b)
{
    unsigned low = 0;
    unsigned high = n->count;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (is_before(o, named, b, n->child[middle].first)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return low;
}

/* The child of n that b belongs to: the last one whose first entry is not above b, else the first.
 */
static unsigned route(const gob_order *o, const gob_node *n, const gob_bound *b)
{
    return o->names == NULL ? bisect(o, false, n, b) : bisect(o, true, n, b);
}

/* Reading */

/* What a block of a mapped file is read as that is not what its head there says: ties without gaps,
 * and behind them what gob_pack_get may load. */
static const uint16_t stand_in[(sizeof(gob_block) + GOB_PACK_SLACK) / 2] = {GOB_BLOCK_MAX};

static __attribute__((noinline)) bool fits(const gob_order *o, const gob_child *c)
{
    const gob_block *b = c->node;
    return b->count == c->count && gob_block_is_sound(b, o->layout) &&
           gob_block_bytes(b, o->layout) <= (size_t)(o->end - (const uint8_t *)b);
}

GOB_INLINE const gob_block *block_of(const gob_order *o, const gob_child *c)
{
    return GOB_LIKELY(o->end == NULL) || fits(o, c) ? c->node : (const void *)stand_in;
}

/* The block that b belongs to, and in *rank the entries before that block. */
static const gob_child *locate(const gob_order *o, const gob_bound *b, uint64_t *rank)
{
    *rank = 0;
    for (const gob_node *n = o->root;;) {
        unsigned at = route(o, n, b);
        for (unsigned i = 0; i < at; i++) {
            *rank += n->child[i].count;
        }
        if (n->level == 0) {
            return &n->child[at];
        }
        n = n->child[at].node;
    }
}

/* The first entry of a decoded block, from i on, that is not before b. */
static size_t window_lower_bound(const gob_order *o, const gob_window *w, size_t i,
                                 const gob_bound *b)
{
    size_t end = w->count;
    while (i < end) {
        size_t middle = (i + end) / 2;
        gob_entry e = {w->keys[middle], w->members[middle]};
        if (gob_bound_compare(o->names, e, b) < 0) {
            i = middle + 1;
        } else {
            end = middle;
        }
    }
    return i;
}

/* A block that stands in has more entries than the one that it stands for. */
GOB_INLINE size_t at_most(const gob_child *c, size_t i)
{
    return i < c->count ? i : c->count;
}

static size_t block_lower_bound(const gob_order *o, const gob_child *c, const gob_bound *b)
{
    if (o->names == NULL) {
        gob_entry e = {b->key, b->member};
        return at_most(c, gob_block_lower_bound(block_of(o, c), o->layout, c->first, e));
    }
    gob_window w;
    w.count = c->count;
    gob_block_decode(block_of(o, c), o->layout, c->first, w.keys, w.members);
    return window_lower_bound(o, &w, 0, b);
}

uint64_t gob_order_lower_bound(const gob_order *o, const gob_bound *b)
{
    if (o->root == NULL) {
        return 0;
    }
    uint64_t before;
    const gob_child *c = locate(o, b, &before);
    return before + block_lower_bound(o, c, b);
}

/* The place in its block of an entry that is there. */
static size_t block_rank(const gob_order *o, const gob_child *c, gob_entry e)
{
    const gob_block *b = block_of(o, c);
    size_t at = o->names == NULL ? gob_block_lower_bound(b, o->layout, c->first, e)
                                 : gob_block_find(b, o->layout, c->first, e.member);
    return at_most(c, at);
}

uint64_t gob_order_rank(const gob_order *o, gob_entry e)
{
    uint64_t before;
    gob_bound b = gob_bound_of(o->names, e);
    const gob_child *c = locate(o, &b, &before);
    return before + block_rank(o, c, e);
}

/* The block that holds the rank, and in *rank the place inside it. */
static const gob_child *descend(const gob_order *o, uint64_t *rank)
{
    GOB_ASSERT(*rank < o->count);
    const gob_node *n = o->root;
    for (;;) {
        const gob_child *c = n->child;
        while (*rank >= c->count) {
            *rank -= c->count;
            c++;
        }
        if (n->level == 0) {
            return c;
        }
        n = c->node;
    }
}

gob_entry gob_order_select(const gob_order *o, uint64_t rank)
{
    const gob_child *c = descend(o, &rank);
    return gob_block_get(block_of(o, c), o->layout, c->first, rank);
}

void gob_order_rank_many(const gob_order *o, const gob_entry *entries, size_t n, uint64_t *ranks)
{
    const gob_child *blocks[GOB_BATCH];
    for (size_t start = 0; start < n; start += GOB_BATCH) {
        size_t end = n - start < GOB_BATCH ? n : start + GOB_BATCH;
        for (size_t i = start; i < end; i++) {
            gob_bound b = gob_bound_of(o->names, entries[i]);
            blocks[i - start] = locate(o, &b, &ranks[i]);
            gob_block_prefetch(blocks[i - start]->node);
        }
        for (size_t i = start; i < end; i++) {
            ranks[i] += block_rank(o, blocks[i - start], entries[i]);
        }
    }
}

void gob_order_select_many(const gob_order *o, const uint64_t *ranks, size_t n, gob_entry *entries)
{
    const gob_child *blocks[GOB_BATCH];
    uint64_t inside[GOB_BATCH];
    for (size_t start = 0; start < n; start += GOB_BATCH) {
        size_t end = n - start < GOB_BATCH ? n : start + GOB_BATCH;
        for (size_t i = start; i < end; i++) {
            inside[i - start] = ranks[i];
            blocks[i - start] = descend(o, &inside[i - start]);
            gob_block_prefetch(blocks[i - start]->node);
        }
        for (size_t i = start; i < end; i++) {
            const gob_child *c = blocks[i - start];
            entries[i] = gob_block_get(block_of(o, c), o->layout, c->first, inside[i - start]);
        }
    }
}

void gob_order_read(const gob_order *o, uint64_t rank, gob_window *w)
{
    uint64_t inside = rank;
    const gob_child *c = descend(o, &inside);
    w->first_rank = rank - inside;
    w->count = c->count;
    gob_block_decode(block_of(o, c), o->layout, c->first, w->keys, w->members);
}

/* Writing */

/* Up to this many changes reach a block at once, so that the scratch arrays have a bound. */
enum { RUN_MAX = 3 * GOB_BLOCK_MAX, MERGED_MAX = RUN_MAX + GOB_BLOCK_MAX };

/* Blocks that one run can make, each at least half full. */
enum { PIECES_MAX = 2 * MERGED_MAX / GOB_BLOCK_MAX + 1 };

typedef struct scratch {
    uint64_t keys[MERGED_MAX];
    uint64_t members[MERGED_MAX];
    gob_window old;
} scratch;

static void find_path(const gob_order *o, const gob_bound *b, path *p)
{
    gob_node *n = o->root;
    p->top = n->level;
    for (;; n = n->child[p->at[n->level]].node) {
        p->node[n->level] = n;
        p->at[n->level] = route(o, n, b);
        if (n->level == 0) {
            return;
        }
    }
}

/* The first entry of the block after the one that p leads to; false where there is none. */
static bool next_first(const path *p, gob_entry *first)
{
    for (unsigned level = 0; level <= p->top; level++) {
        const gob_node *n = p->node[level];
        unsigned next = p->at[level] + 1;
        if (next < n->count) {
            *first = n->child[next].first;
            return true;
        }
    }
    return false;
}

/* Brings counts and first entries above `level` up to date along the path. */
static void refresh(const path *p, unsigned level)
{
    for (; level < p->top; level++) {
        p->node[level + 1]->child[p->at[level + 1]] = node_as_child(p->node[level]);
    }
}

static gob_child nth_after_splice(const gob_node *n, unsigned at, unsigned span,
                                  const gob_child *with, unsigned k, unsigned i)
{
    if (i < at) {
        return n->child[i];
    }
    return i < at + k ? with[i - at] : n->child[i - k + span];
}

static gob_status splice(gob_order *o, gob_alloc *a, path *p, unsigned level, unsigned span,
                         const gob_child *with, unsigned k);

/* Splits the spliced children of the node at `level` over two or more new nodes. */
static gob_status splice_split(gob_order *o, gob_alloc *a, path *p, unsigned level, unsigned span,
                               const gob_child *with, unsigned k)
{
    gob_node *n = p->node[level];
    unsigned total = n->count - span + k;
    unsigned parts = (total + GOB_NODE_MAX - 1) / GOB_NODE_MAX;
    gob_child made[PIECES_MAX];
    unsigned done = 0;
    gob_status status = parts <= PIECES_MAX ? GOB_OK : GOB_TOO_LARGE;
    for (unsigned i = 0; status == GOB_OK && i < parts; i++) {
        unsigned end = total * (i + 1) / parts;
        gob_node *part = node_new(a, end - done, level);
        if (part == NULL) {
            status = GOB_NOMEM;
            parts = i;
            break;
        }
        for (; done < end; done++) {
            part->child[part->count++] = nth_after_splice(n, p->at[level], span, with, k, done);
        }
        made[i] = node_as_child(part);
    }
    if (status == GOB_OK && level < p->top) {
        status = splice(o, a, p, level + 1, 1, made, parts);
    } else if (status == GOB_OK) {
        gob_node *root = level + 1 < GOB_LEVELS_MAX ? node_new(a, parts, level + 1) : NULL;
        status = root == NULL ? GOB_NOMEM : GOB_OK;
        if (root != NULL) {
            memcpy(root->child, made, parts * sizeof made[0]);
            root->count = (uint16_t)parts;
            o->root = root;
        }
    }
    if (status != GOB_OK) {
        for (unsigned i = 0; i < parts; i++) {
            node_free(a, made[i].node);
        }
        return status;
    }
    node_free(a, n);
    return GOB_OK;
}

/* A node that has become small joins a neighbour; where memory is short it stays small. */
static void join_node(gob_order *o, gob_alloc *a, path *p, unsigned level)
{
    gob_node *n = p->node[level];
    gob_node *parent = p->node[level + 1];
    unsigned at = p->at[level + 1];
    if (n->count >= GOB_NODE_MAX / 4 || parent->count == 1) {
        return;
    }
    unsigned left = at + 1 < parent->count ? at : at - 1;
    gob_node *first = parent->child[left].node;
    gob_node *second = parent->child[left + 1].node;
    unsigned total = (unsigned)first->count + second->count;
    gob_node *joined = total > GOB_NODE_MAX * 3 / 4 ? NULL : node_new(a, total, level);
    if (joined == NULL) {
        return;
    }
    memcpy(joined->child, first->child, first->count * sizeof(gob_child));
    memcpy(joined->child + first->count, second->child, second->count * sizeof(gob_child));
    joined->count = (uint16_t)total;
    gob_child made = node_as_child(joined);
    p->at[level + 1] = left;
    /* Two children become one: that never allocates, so it never fails. */
    gob_status status = splice(o, a, p, level + 1, 2, &made, 1);
    GOB_ASSERT(status == GOB_OK);
    (void)status;
    node_free(a, first);
    node_free(a, second);
}

/* Puts k children in the place of `span` ones, from the path's place in the node at `level` on, and
 * mends everything above. The replaced children are the caller's to free, once this succeeded. */
static gob_status splice(gob_order *o, gob_alloc *a, path *p, unsigned level, unsigned span,
                         const gob_child *with, unsigned k)
{
    gob_node *n = p->node[level];
    unsigned at = p->at[level];
    unsigned total = n->count - span + k;
    if (total > GOB_NODE_MAX) {
        return splice_split(o, a, p, level, span, with, k);
    }
    if (total == 0) {
        if (level == p->top) {
            o->root = NULL;
        } else {
            GOB_TRY(splice(o, a, p, level + 1, 1, NULL, 0));
        }
        node_free(a, n);
        return GOB_OK;
    }
    if (total > n->capacity) {
        unsigned capacity = total + total / 4 < GOB_NODE_MAX ? total + total / 4 : GOB_NODE_MAX;
        gob_node *moved = gob_realloc(a, n, node_bytes(n->capacity), node_bytes(capacity));
        if (moved == NULL) {
            return GOB_NOMEM;
        }
        moved->capacity = (uint16_t)capacity;
        p->node[level] = n = moved;
        if (level == p->top) {
            o->root = n;
        }
    }
    memmove(&n->child[at + k], &n->child[at + span], (n->count - at - span) * sizeof(gob_child));
    if (k != 0) {
        memcpy(&n->child[at], with, k * sizeof(gob_child));
    }
    n->count = (uint16_t)total;
    refresh(p, level);
    if (level < p->top) {
        join_node(o, a, p, level);
    }
    return GOB_OK;
}

/* Appends the old entries [from, to) to the merged ones. */
static size_t keep_old(scratch *s, size_t made, size_t from, size_t to)
{
    memcpy(s->keys + made, s->old.keys + from, (to - from) * sizeof s->keys[0]);
    memcpy(s->members + made, s->old.members + from, (to - from) * sizeof s->members[0]);
    return made + (to - from);
}

/* Where a change takes place, at i or later. An id that is there is found without a look at names.
 */
static size_t place_of(const gob_order *o, const gob_window *old, size_t i, const gob_change *c)
{
    if (o->names != NULL && c->remove) {
        while (i < old->count && old->members[i] != c->entry.member) {
            i++;
        }
        return i;
    }
    gob_bound bound = gob_bound_of(o->names, c->entry);
    return window_lower_bound(o, old, i, &bound);
}

/* Merges the old block with the run of changes into the scratch arrays; returns the new length.
 * Most runs are short, so what lies between two changes is copied as a whole. */
static size_t merge_run(const gob_order *o, scratch *s, const gob_change *changes, size_t n)
{
    size_t made = 0;
    size_t i = 0;
    for (size_t j = 0; j < n; j++) {
        gob_entry e = changes[j].entry;
        size_t at = place_of(o, &s->old, i, &changes[j]);
        made = keep_old(s, made, i, at);
        i = at;
        if (changes[j].remove) {
            GOB_ASSERT(i < s->old.count && s->old.keys[i] == e.key &&
                       s->old.members[i] == e.member);
            i++;
        } else {
            s->keys[made] = e.key;
            s->members[made++] = e.member;
        }
    }
    return keep_old(s, made, i, s->old.count);
}

/* A small result takes a neighbouring block in, so that removals leave no crumbs. Returns how many
 * old children the result replaces, from the path's place on. */
static unsigned absorb(const gob_order *o, path *p, scratch *s, size_t *made)
{
    gob_node *n = p->node[0];
    unsigned at = p->at[0];
    if (*made == 0 || *made >= GOB_BLOCK_MAX / 4 || n->count == 1) {
        return 1;
    }
    bool right = at + 1 < n->count;
    const gob_child *c = &n->child[right ? at + 1 : at - 1];
    if (*made + c->count > GOB_BLOCK_MAX * 3 / 4) {
        return 1;
    }
    size_t shift = right ? 0 : c->count;
    memmove(s->keys + shift, s->keys, *made * sizeof s->keys[0]);
    memmove(s->members + shift, s->members, *made * sizeof s->members[0]);
    size_t place = right ? *made : 0;
    gob_block_decode(c->node, o->layout, c->first, s->keys + place, s->members + place);
    *made += c->count;
    p->at[0] = right ? at : at - 1;
    return 2;
}

/* Packs the merged entries into as few blocks as hold them, evenly filled. */
static gob_status repack(const gob_order *o, gob_alloc *a, const scratch *s, size_t made,
                         gob_child *blocks, unsigned *k)
{
    size_t parts = (made + GOB_BLOCK_MAX - 1) / GOB_BLOCK_MAX;
    size_t from = 0;
    *k = 0;
    for (size_t i = 0; i < parts; i++) {
        size_t to = made * (i + 1) / parts;
        gob_block *b = gob_block_encode(a, o->layout, s->keys + from, s->members + from, to - from);
        if (b == NULL) {
            return GOB_NOMEM;
        }
        blocks[(*k)++] = (gob_child){{s->keys[from], s->members[from]}, to - from, b};
        from = to;
    }
    return GOB_OK;
}

/* Applies the changes that fall into one block; *used says how many those were. */
static gob_status apply_run(gob_order *o, gob_alloc *a, scratch *s, const gob_change *changes,
                            size_t n, size_t *used)
{
    path p;
    gob_entry next;
    gob_bound bound = gob_bound_of(o->names, changes[0].entry);
    find_path(o, &bound, &p);
    bool last = !next_first(&p, &next);
    bound = last ? bound : gob_bound_of(o->names, next);
    size_t run = 1;
    while (run < n && run < RUN_MAX &&
           (last || gob_bound_compare(o->names, changes[run].entry, &bound) < 0)) {
        run++;
    }
    *used = run;
    const gob_child *c = &p.node[0]->child[p.at[0]];
    s->old.count = c->count;
    gob_block_decode(c->node, o->layout, c->first, s->old.keys, s->old.members);
    size_t made = merge_run(o, s, changes, run);
    o->count = o->count + made - s->old.count;
    unsigned span = absorb(o, &p, s, &made);
    gob_child replaced[2];
    memcpy(replaced, &p.node[0]->child[p.at[0]], span * sizeof replaced[0]);

    gob_child blocks[PIECES_MAX];
    unsigned k = 0;
    gob_status status = repack(o, a, s, made, blocks, &k);
    if (status == GOB_OK) {
        status = splice(o, a, &p, 0, span, blocks, k);
    }
    if (status != GOB_OK) {
        for (unsigned i = 0; i < k; i++) {
            gob_block_free(a, o->layout, blocks[i].node);
        }
        return status;
    }
    for (unsigned i = 0; i < span; i++) {
        gob_block_free(a, o->layout, replaced[i].node);
    }
    return GOB_OK;
}

/* A root with one child gives way to it. */
static void lower_root(gob_order *o, gob_alloc *a)
{
    while (o->root != NULL && o->root->level > 0 && o->root->count == 1) {
        gob_node *n = o->root;
        o->root = n->child[0].node;
        node_free(a, n);
    }
}

/* The first changes of an empty tree are insertions: they are its first block. */
static gob_status plant(gob_order *o, gob_alloc *a, const gob_change *changes, size_t n,
                        size_t *used)
{
    gob_builder b;
    gob_builder_init(&b, o, a);
    *used = n;
    for (size_t i = 0; i < n; i++) {
        GOB_ASSERT(!changes[i].remove);
        gob_status status = gob_builder_add(&b, changes[i].entry);
        if (status != GOB_OK) {
            gob_builder_abandon(&b);
            return status;
        }
    }
    return gob_builder_finish(&b);
}

gob_status gob_order_apply(gob_order *o, gob_alloc *a, const gob_change *changes, size_t n)
{
    scratch s;
    for (size_t used = 0; n != 0; changes += used, n -= used) {
        GOB_TRY(gob_spend(a->pace, GOB_BLOCK_MAX));
        if (o->root == NULL) {
            GOB_TRY(plant(o, a, changes, n, &used));
        } else {
            GOB_TRY(apply_run(o, a, &s, changes, n, &used));
            lower_root(o, a);
        }
    }
    return GOB_OK;
}

/* Building */

void gob_builder_init(gob_builder *b, gob_order *o, gob_alloc *a)
{
    b->order = o;
    b->alloc = a;
    memset(b->open, 0, sizeof b->open);
    b->count = 0;
}

static gob_status push(gob_builder *b, unsigned level, gob_child c)
{
    if (level == GOB_LEVELS_MAX) {
        return GOB_TOO_LARGE;
    }
    gob_node *n = b->open[level];
    if (n != NULL && n->count == GOB_NODE_MAX) {
        GOB_TRY(push(b, level + 1, node_as_child(n)));
        b->open[level] = n = NULL;
    }
    if (n == NULL) {
        b->open[level] = n = node_new(b->alloc, GOB_NODE_MAX, level);
        if (n == NULL) {
            return GOB_NOMEM;
        }
    }
    n->child[n->count++] = c;
    return GOB_OK;
}

static gob_status flush(gob_builder *b)
{
    if (b->count == 0) {
        return GOB_OK;
    }
    gob_block *block = gob_block_encode(b->alloc, b->order->layout, b->keys, b->members, b->count);
    if (block == NULL) {
        return GOB_NOMEM;
    }
    gob_status status = push(b, 0, (gob_child){{b->keys[0], b->members[0]}, b->count, block});
    if (status != GOB_OK) {
        gob_block_free(b->alloc, b->order->layout, block);
        return status;
    }
    b->order->count += b->count;
    b->count = 0;
    return GOB_OK;
}

gob_status gob_builder_add(gob_builder *b, gob_entry e)
{
    if (b->count == GOB_BLOCK_MAX) {
        GOB_TRY(flush(b));
    }
    b->keys[b->count] = e.key;
    b->members[b->count++] = e.member;
    return GOB_OK;
}

gob_status gob_builder_add_block(gob_builder *b, gob_child block)
{
    GOB_TRY(flush(b));
    GOB_TRY(push(b, 0, block));
    b->order->count += block.count;
    return GOB_OK;
}

/* The last node of a level, cut to what it holds. A failed cut leaves it whole. */
static gob_node *trim(gob_builder *b, gob_node *n)
{
    if (n->count == n->capacity) {
        return n;
    }
    gob_node *cut = gob_realloc(b->alloc, n, node_bytes(n->capacity), node_bytes(n->count));
    if (cut == NULL) {
        return n;
    }
    cut->capacity = cut->count;
    return cut;
}

gob_status gob_builder_finish(gob_builder *b)
{
    gob_status status = flush(b);
    for (unsigned level = 0; status == GOB_OK && level < GOB_LEVELS_MAX; level++) {
        gob_node *n = b->open[level];
        if (n == NULL) {
            continue;
        }
        b->open[level] = n = trim(b, n);
        bool top = true;
        for (unsigned up = level + 1; up < GOB_LEVELS_MAX; up++) {
            top = top && b->open[up] == NULL;
        }
        if (!top) {
            status = push(b, level + 1, node_as_child(n));
        } else {
            b->order->root = n;
        }
        if (status == GOB_OK) {
            b->open[level] = NULL;
        }
    }
    if (status != GOB_OK) {
        gob_builder_abandon(b);
        return status;
    }
    lower_root(b->order, b->alloc);
    return GOB_OK;
}

void gob_builder_abandon(gob_builder *b)
{
    for (unsigned level = 0; level < GOB_LEVELS_MAX; level++) {
        if (b->open[level] != NULL) {
            child_free(b->order, b->alloc, (gob_child){.node = b->open[level]}, level + 1);
            b->open[level] = NULL;
        }
    }
    b->order->count = 0;
}

static uint64_t blocks_below(const gob_node *n)
{
    if (n->level == 0) {
        return n->count;
    }
    uint64_t blocks = 0;
    for (unsigned i = 0; i < n->count; i++) {
        blocks += blocks_below(n->child[i].node);
    }
    return blocks;
}

uint64_t gob_order_blocks(const gob_order *o)
{
    return o->root == NULL ? 0 : blocks_below(o->root);
}

gob_child gob_order_block(const gob_order *o, uint64_t rank)
{
    gob_child c = *descend(o, &rank);
    c.node = o->end == NULL || fits(o, &c) ? c.node : NULL;
    return c;
}

gob_status gob_order_optimize(gob_order *o, gob_alloc *a)
{
    gob_order packed;
    gob_builder b;
    gob_window w;
    gob_order_init(&packed, o->layout, o->names);
    gob_builder_init(&b, &packed, a);
    gob_status status = GOB_OK;
    for (uint64_t rank = 0; status == GOB_OK && rank < o->count; rank += w.count) {
        gob_order_read(o, rank, &w);
        status = gob_spend(a->pace, w.count);
        for (size_t i = 0; status == GOB_OK && i < w.count; i++) {
            status = gob_builder_add(&b, (gob_entry){w.keys[i], w.members[i]});
        }
    }
    if (status != GOB_OK) {
        gob_builder_abandon(&b);
        return status;
    }
    GOB_TRY(gob_builder_finish(&b));
    gob_order_free(o, a);
    *o = packed;
    return GOB_OK;
}

/* Validation */

typedef struct walk {
    const gob_order *order;
    gob_window window;
    gob_entry last;
    bool any;
} walk;

static bool validate_block(walk *w, const gob_child *c, const char **why)
{
    const gob_block *b = c->node;
    GOB_DEMAND(b->count >= 1 && b->count <= GOB_BLOCK_MAX, "order: block size");
    GOB_DEMAND(b->count == c->count, "order: block count differs from its parent's");
    GOB_DEMAND(block_of(w->order, c) == b, "order: a block beyond the file");
    gob_block_decode(b, w->order->layout, c->first, w->window.keys, w->window.members);
    for (size_t i = 0; i < b->count; i++) {
        gob_entry e = {w->window.keys[i], w->window.members[i]};
        GOB_DEMAND(i != 0 || (e.key == c->first.key && e.member == c->first.member),
                   "order: block base differs from its parent's");
        GOB_DEMAND(!w->any || gob_order_less(w->order->names, w->last, e),
                   "order: entries not ascending");
        w->last = e;
        w->any = true;
    }
    return true;
}

static bool validate_child(walk *w, const gob_child *c, unsigned level, const char **why)
{
    if (level == 0) {
        return validate_block(w, c, why);
    }
    const gob_node *n = c->node;
    GOB_DEMAND(n->level == level - 1, "order: level of a node");
    GOB_DEMAND(n->count >= 1 && n->count <= n->capacity && n->capacity <= GOB_NODE_MAX,
               "order: node size");
    GOB_DEMAND(node_total(n) == c->count, "order: node count differs from its parent's");
    GOB_DEMAND(n->child[0].first.key == c->first.key && n->child[0].first.member == c->first.member,
               "order: node base differs from its parent's");
    for (unsigned i = 0; i < n->count; i++) {
        if (!validate_child(w, &n->child[i], level - 1, why)) {
            return false;
        }
    }
    return true;
}

bool gob_order_validate(const gob_order *o, const char **why)
{
    if (o->root == NULL) {
        GOB_DEMAND(o->count == 0, "order: empty tree with a count");
        return true;
    }
    GOB_DEMAND(o->root->level == 0 || o->root->count > 1, "order: root with one child");
    walk w = {.order = o};
    gob_child root = node_as_child(o->root);
    GOB_DEMAND(root.count == o->count, "order: count");
    return validate_child(&w, &root, o->root->level + 1U, why);
}
