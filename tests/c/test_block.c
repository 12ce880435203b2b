/* Packed blocks of every form, width and layout, against the columns they were made of. */
#include "gob_block.h"
#include "gob_random.h"
#include "gob_test.h"

typedef struct columns {
    uint64_t keys[GOB_BLOCK_MAX];
    uint64_t members[GOB_BLOCK_MAX];
    size_t n;
} columns;

static gob_entry entry(const columns *c, size_t i)
{
    return (gob_entry){c->keys[i], c->members[i]};
}

static size_t lower_bound(const columns *c, gob_entry e)
{
    size_t below = 0;
    for (size_t i = 0; i < c->n; i++) {
        below += gob_entry_less(entry(c, i), e);
    }
    return below;
}

/* Lower bounds of an entry and of all its neighbours. */
static bool bounds_agree(const gob_block *b, gob_layout layout, const columns *c, gob_entry e)
{
    bool same = true;
    for (int k = -1; k <= 1; k++) {
        for (int m = -1; m <= 1; m++) {
            gob_entry near = {e.key + (uint64_t)(int64_t)k, e.member + (uint64_t)(int64_t)m};
            same =
                same && gob_block_lower_bound(b, layout, entry(c, 0), near) == lower_bound(c, near);
        }
    }
    return same;
}

/* Packs, and reads everything back. */
static gob_block *check_encode(gob_alloc *a, gob_layout layout, const columns *c,
                               gob_block_form form)
{
    columns read;
    gob_block *b = gob_block_encode(a, layout, c->keys, c->members, c->n);
    CHECK(b != NULL && b->form == form && b->count == c->n);
    CHECK(gob_block_bytes(b, layout) == a->live);
    gob_block_decode(b, layout, entry(c, 0), read.keys, read.members);
    bool same = true;
    for (size_t i = 0; i < c->n; i++) {
        gob_entry got = gob_block_get(b, layout, entry(c, 0), i);
        same = same && read.keys[i] == c->keys[i] && read.members[i] == c->members[i];
        size_t found = gob_block_find(b, layout, entry(c, 0), c->members[i]);
        same = same && got.key == c->keys[i] && got.member == c->members[i];
        same = same && found < c->n && c->members[found] == c->members[i];
    }
    CHECK(same);
    return b;
}

static void check_block(gob_alloc *a, gob_layout layout, const columns *c, gob_block_form form)
{
    gob_block *b = check_encode(a, layout, c, form);
    for (size_t i = 0; i < c->n; i += 1 + c->n / 16) {
        CHECK(bounds_agree(b, layout, c, entry(c, i)));
    }
    CHECK(bounds_agree(b, layout, c, entry(c, c->n - 1)));
    CHECK(gob_block_lower_bound(b, layout, entry(c, 0), (gob_entry){0, 0}) == 0);
    gob_entry highest = {UINT64_MAX, UINT64_MAX};
    CHECK(gob_block_lower_bound(b, layout, entry(c, 0), highest) == lower_bound(c, highest));
    gob_block_free(a, layout, b);
    CHECK(a->live == 0);
    gob_alloc_fail_at(a, 1);
    CHECK(gob_block_encode(a, layout, c->keys, c->members, c->n) == NULL && a->live == 0);
}

/* How many values of `bits` bits add up to no more than 64 bits. */
static size_t most_of(unsigned bits)
{
    return bits >= 64 ? 2 : bits >= 56 ? (size_t)1 << (64 - bits) : GOB_BLOCK_MAX;
}

static uint64_t of_width(uint64_t *rng, unsigned bits)
{
    return random_next(rng) & gob_pack_mask(bits);
}

static const size_t sizes[] = {1, 2, 3, 17, 100, GOB_BLOCK_MAX - 1, GOB_BLOCK_MAX};

enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* Ties whose gaps, less one, need exactly so many bits. */
static void test_ties(unsigned bits, uint64_t *rng)
{
    gob_alloc a;
    gob_layout layout = {.member_bytes = 8, .score_bytes = 8, .compress = true};
    gob_alloc_init(&a);
    for (size_t k = 0; k < SIZES; k++) {
        columns c = {.n = sizes[k] < most_of(bits + 1) ? sizes[k] : most_of(bits + 1)};
        uint64_t member = bits >= 60 ? 0 : of_width(rng, 50);
        for (size_t i = 0; i < c.n; i++) {
            uint64_t gap = i == 1 && bits != 0 ? UINT64_C(1) << (bits - 1) : of_width(rng, bits);
            member += i == 0 ? 0 : (bits == 64 ? gap - 1 : gap) + 1;
            c.keys[i] = UINT64_C(0x8123456789ABCDEF);
            c.members[i] = member;
        }
        check_block(&a, layout, &c, GOB_TIES);
    }
}

/* Rising keys, many of them equal, whose differences need so many bits above so many zeros, and
 * members that need so many bits. */
static void test_mixed(unsigned key_bits, unsigned shift, unsigned member_bits, uint64_t *rng)
{
    gob_alloc a;
    gob_layout layout = {.member_bytes = 8, .score_bytes = 8, .compress = true};
    gob_alloc_init(&a);
    for (size_t k = 1; k < SIZES; k++) {
        size_t most = most_of(key_bits + shift);
        columns c = {.n = sizes[k] < most ? sizes[k] : most};
        uint64_t low = member_bits >= 60 ? 0 : of_width(rng, 60);
        uint64_t key = key_bits + shift >= 56 ? 0 : of_width(rng, 55);
        uint64_t first = UINT64_C(1) << (key_bits - 1) | 1; /* both ends of the width */
        for (size_t i = 0; i < c.n; i++) {
            bool tie = i > 1 && random_below(rng, 2) != 0;
            key += i == 0 || tie ? 0 : (i == 1 ? first : of_width(rng, key_bits)) << shift;
            c.keys[i] = key;
            c.members[i] = low + of_width(rng, member_bits);
            if (i > 0 && c.keys[i] == c.keys[i - 1] && c.members[i] <= c.members[i - 1]) {
                c.n = i; /* a tie has to ascend, and this one cannot */
            }
        }
        if (c.n > 1) {
            check_block(&a, layout, &c, GOB_MIXED);
        }
    }
}

/* Entries as a set of this layout has them. */
static void test_layout(gob_layout layout, uint64_t *rng)
{
    gob_alloc a;
    gob_alloc_init(&a);
    for (size_t k = 0; k < SIZES; k++) {
        for (unsigned shape = 0; shape < 4; shape++) {
            columns c = {.n = sizes[k]};
            int64_t member = layout.member_bytes == 4 ? INT32_MIN : INT64_MIN;
            double score = shape == 0 ? -HUGE_VAL : -1000.25;
            for (size_t i = 0; i < c.n; i++) {
                member += (int64_t)(1 + random_below(rng, UINT64_C(1) << 6 * shape));
                score += shape != 0 && shape != 3 ? (double)random_below(rng, 3) * 0.25 : 0.0;
                c.keys[i] = gob_key(score);
                c.members[i] = gob_bias(member);
            }
            if (shape == 1 && c.n > 2) { /* the ends of the range */
                bool narrow = layout.member_bytes == 4;
                c.keys[c.n - 1] = gob_key(HUGE_VAL);
                c.members[c.n - 1] = gob_bias(narrow ? INT32_MIN : INT64_MIN);
                c.keys[c.n - 2] = gob_key(layout.score_bytes == 4 ? (double)FLT_MAX : DBL_MAX);
                c.members[c.n - 2] = gob_bias(narrow ? INT32_MAX : INT64_MAX);
            }
            bool ties = c.keys[0] == c.keys[c.n - 1];
            check_block(&a, layout, &c, !layout.compress ? GOB_PLAIN : ties ? GOB_TIES : GOB_MIXED);
        }
    }
}

/* Ids of names, which ascend in no way; only the names of equal keys do. */
static void test_ids(gob_layout layout, uint64_t *rng)
{
    gob_alloc a;
    gob_alloc_init(&a);
    for (size_t k = 1; k < SIZES; k++) {
        for (int distinct = 0; distinct < 2; distinct++) {
            columns c = {.n = sizes[k]};
            uint64_t start = random_next(rng);
            for (size_t i = 0; i < c.n; i++) {
                size_t place = (c.n - 1 - i) * 7919 % 1009;
                int64_t id = (int64_t)(int32_t)(start + place * (1U << 22));
                c.keys[i] = gob_key(distinct != 0 ? (double)i : 3.0);
                c.members[i] = gob_bias(id);
            }
            bool ascend = true;
            for (size_t i = 1; i < c.n; i++) {
                ascend = ascend && c.members[i] > c.members[i - 1];
            }
            bool ties = distinct == 0 && ascend;
            gob_block *b = check_encode(&a, layout, &c,
                                        !layout.compress ? GOB_PLAIN
                                        : ties           ? GOB_TIES
                                                         : GOB_MIXED);
            CHECK(distinct != 0 || b->key_bits == 0 || !layout.compress);
            gob_block_free(&a, layout, b);
        }
    }
}

/* What makes large sets small: consecutive members with one score need no bits at all. */
static void test_smallest(void)
{
    gob_alloc a;
    gob_layout layout = {.member_bytes = 8, .score_bytes = 8, .compress = true};
    columns c = {.n = GOB_BLOCK_MAX};
    gob_alloc_init(&a);
    for (size_t i = 0; i < c.n; i++) {
        c.keys[i] = gob_key(1.0);
        c.members[i] = gob_bias((int64_t)i - 7);
    }
    gob_block *b = gob_block_encode(&a, layout, c.keys, c.members, c.n);
    CHECK(b != NULL && b->member_bits == 0 && a.live == sizeof(gob_block) + GOB_PACK_SLACK);
    gob_block_free(&a, layout, b);
}

int main(void)
{
    uint64_t rng = 1;
    for (unsigned bits = 0; bits <= 64; bits++) {
        test_ties(bits, &rng);
        test_mixed(1, 0, bits, &rng);
        test_mixed(20, 7, bits, &rng);
    }
    for (unsigned key_bits = 1; key_bits <= 64; key_bits++) {
        for (unsigned shift = 0; key_bits + shift <= 64; shift += 1 + shift / 3) {
            test_mixed(key_bits, shift, 40, &rng);
        }
    }
    for (unsigned kind = 0; kind < 8; kind++) {
        gob_layout layout = {.member_bytes = (kind & 1) != 0 ? 8 : 4,
                             .score_bytes = (kind & 2) != 0 ? 8 : 4,
                             .compress = (kind & 4) != 0};
        test_layout(layout, &rng);
        test_ids(layout, &rng);
    }
    test_smallest();
    return test_report();
}
