/* A script of operations on a sorted set, beside an array of scores: every layout, ranges of
 * members large enough for pages and blocks, and allocations that fail where the script says. */
#include <math.h>

#include "gob_bulk.h"
#include "gob_digest.h"
#include "gob_fuzz.h"
#include "gob_name_pool.h"
#include "gob_scan.h"

/* A large set has pages, and a tree of two levels; it gets fewer operations. */
enum { MEMBERS = 2200, INPUTS = 2000, CYCLE = 8, OPERATIONS = 48, LARGE_OPERATIONS = 10 };

/* The model: the score of each member, and which members there can be. */
typedef struct model {
    double score[MEMBERS];
    size_t n; /* members that take part */
    gob_layout layout;
    int64_t base; /* of integers */
    int64_t stride;
    const gob_name *names;
    const size_t *place; /* of each member among equal scores */
} model;

static model m;
static model before; /* a call that may fail */
static gob_zset z;

/* Members */

/* One pool of names of any length, and one of UUIDs. */
static gob_name names_of[2][MEMBERS];
static size_t places_of[3][MEMBERS]; /* the third of integers */

static int compare_names(const void *left, const void *right)
{
    return gob_name_compare(m.names[*(const size_t *)left], m.names[*(const size_t *)right]);
}

/* fill_pool keeps the bytes of one pool only. */
static void make_pool(size_t which)
{
    static size_t sorted[MEMBERS];
    fill_pool(which == 0 ? 0 : GOB_UUID_BYTES);
    m.names = names_of[which];
    for (size_t i = 0; i < MEMBERS; i++) {
        uint8_t *kept = allocate_copy(pool[i].at, pool[i].len);
        names_of[which][i] = (gob_name){kept, pool[i].len};
        places_of[2][i] = sorted[i] = i;
    }
    qsort(sorted, MEMBERS, sizeof *sorted, compare_names);
    for (size_t i = 0; i < MEMBERS; i++) {
        places_of[which][sorted[i]] = i;
    }
}

static gob_member member(size_t i)
{
    return m.layout.named ? (gob_member){.name = m.names[i]}
                          : (gob_member){.id = m.base + (int64_t)i * m.stride};
}

static int64_t id_of(const gob_zset *set, size_t i)
{
    gob_member one = member(i);
    return gob_zset_find(set, &one);
}

/* Scores */

static double next_score(script *s)
{
    static const double odd[] = {-0.0,         HUGE_VAL,     -HUGE_VAL,    0.5,        -1.0,
                                 1e30,         1e39,         32767.0,      32768.0,    -32769.0,
                                 2147483648.0, 4294967295.0, 4294967296.0, 16777216.0, 1e-310};
    uint8_t kind = next_byte(s);
    if (kind < 128) {
        return (double)kind;
    }
    if (kind < 192) {
        return 65472.0 + (double)kind - 128.0; /* the last codes of two bytes, and past them */
    }
    if (kind < 252) {
        return odd[kind % (sizeof odd / sizeof odd[0])];
    }
    uint8_t bytes[8];
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = next_byte(s);
    }
    return gob_bits_double(gob_load64(bytes));
}

static gob_status kept(double score, double *out)
{
    if (gob_is_absent(score)) {
        return GOB_NAN;
    }
    bool narrow = m.layout.score_bytes == 4;
    if (narrow && isfinite(score) && isinf((float)score)) {
        return GOB_RANGE;
    }
    *out = (narrow ? (double)(float)score : score) + 0.0;
    return GOB_OK;
}

static bool goes_through(gob_mode mode, double old, double score)
{
    bool there = !gob_is_absent(old);
    switch (mode) {
    case GOB_NX:
        return !there;
    case GOB_XX:
        return there;
    case GOB_GT:
        return !there || score > old;
    case GOB_LT:
        return !there || score < old;
    case GOB_XX_GT:
        return there && score > old;
    case GOB_XX_LT:
        return there && score < old;
    default:
        return true;
    }
}

static bool same_score(double a, double b)
{
    return a == b || (gob_is_absent(a) && gob_is_absent(b));
}

/* Writes on the model */

static gob_status model_set(size_t i, double score, gob_mode mode, gob_changes *changes)
{
    double old = m.score[i];
    if (mode == GOB_SUM && !gob_is_absent(old)) {
        double sum = old + score;
        score = gob_is_absent(sum) && !gob_is_absent(score) ? 0.0 : sum;
    }
    GOB_TRY(kept(score, &score));
    if (goes_through(mode, old, score)) {
        changes->added += gob_is_absent(old);
        changes->changed += !gob_is_absent(old) && old != score;
        m.score[i] = score;
    }
    return GOB_OK;
}

static gob_status model_increment(size_t i, double by)
{
    return kept(gob_is_absent(m.score[i]) ? by : m.score[i] + by, &m.score[i]);
}

/* Comparing */

static uint64_t model_count(void)
{
    uint64_t count = 0;
    for (size_t i = 0; i < m.n; i++) {
        count += !gob_is_absent(m.score[i]);
    }
    return count;
}

static void require_score(const gob_zset *set, size_t i)
{
    REQUIRE(same_score(gob_zset_score(set, id_of(set, i)), m.score[i]));
}

static void require_scores(const gob_zset *set)
{
    for (size_t i = 0; i < m.n; i++) {
        require_score(set, i);
    }
}

static void require_sound(const gob_zset *set)
{
    REQUIRE_VALID(gob_zset_validate(set, &why), why);
    REQUIRE(gob_zset_count(set) == model_count());
    gob_memory parts = gob_zset_memory(set);
    REQUIRE(parts.pages + parts.table + parts.members + parts.pending <= set->alloc.live);
    REQUIRE(set->order != NULL || parts.order == 0);
    /* A name without a score is one that is condemned. */
    const gob_members *names = gob_zset_names(set);
    REQUIRE(names == NULL || names->condemned != NULL || names->records == gob_zset_count(set));
}

static int compare_ranked(const void *left, const void *right)
{
    size_t l = *(const size_t *)left;
    size_t r = *(const size_t *)right;
    return m.score[l] != m.score[r] ? (m.score[l] > m.score[r]) - (m.score[l] < m.score[r])
                                    : (m.place[l] > m.place[r]) - (m.place[l] < m.place[r]);
}

/* The members that are there, in order; returns how many. */
static size_t model_rank(size_t *ranked)
{
    size_t count = 0;
    for (size_t i = 0; i < m.n; i++) {
        if (!gob_is_absent(m.score[i])) {
            ranked[count++] = i;
        }
    }
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    return count;
}

static bool is_entry(const gob_zset *set, gob_entry e, size_t i)
{
    return e.member == gob_bias(id_of(set, i)) && gob_key_score(e.key) == m.score[i];
}

/* Every step-th rank in one call. */
static void require_ranks(const gob_zset *set, const size_t *ranked, size_t count, size_t step)
{
    static uint64_t ranks[MEMBERS];
    static gob_entry entries[MEMBERS];
    size_t n = 0;
    for (size_t rank = 0; rank < count; rank += step) {
        entries[n++] = gob_zset_entry(id_of(set, ranked[rank]), m.score[ranked[rank]]);
    }
    gob_zset_rank_many(set, entries, n, ranks);
    for (size_t i = 0; i < n; i++) {
        REQUIRE(ranks[i] == i * step);
        ranks[i] = count - 1 - i * step;
    }
    gob_zset_select_many(set, ranks, n, entries);
    for (size_t i = 0; i < n; i++) {
        REQUIRE(is_entry(set, entries[i], ranked[count - 1 - i * step]));
    }
}

/* Each ordered read of a synced set; those of one place for some places only. */
static void require_order(const gob_zset *set)
{
    static size_t ranked[MEMBERS];
    gob_window w = {.count = 0};
    size_t count = model_rank(ranked);
    size_t step = 1 + count / 16;
    REQUIRE(gob_zset_is_synced(set));
    for (size_t rank = 0; rank < count; rank++) {
        if (rank == w.first_rank + w.count) {
            gob_zset_read(set, rank, &w);
            REQUIRE(w.first_rank <= rank && rank < w.first_rank + w.count);
        }
        size_t at = rank - w.first_rank;
        gob_entry e = {w.keys[at], w.members[at]};
        REQUIRE(is_entry(set, e, ranked[rank]));
        if (rank % step == 0) {
            gob_bound b = gob_bound_of(gob_zset_names(set), e);
            gob_entry selected = gob_zset_select(set, rank);
            REQUIRE(gob_zset_lower_bound(set, &b) == rank && gob_zset_rank(set, e) == rank);
            REQUIRE(selected.key == e.key && selected.member == e.member);
        }
    }
    require_ranks(set, ranked, count, 1 + count / 150);
}

/* Operations; each gives what the model expects, or GOB_NOMEM with nothing changed */

static void require_outcome(gob_status status, gob_status expected, uint64_t stamp)
{
    REQUIRE(status == expected || status == GOB_NOMEM);
    if (status != GOB_OK) {
        m = before;
        REQUIRE(z.stamp == stamp);
    }
}

static void write_one(script *s, bool increments)
{
    size_t i = next_below(s, m.n);
    gob_mode mode = increments ? GOB_SET : (gob_mode)next_below(s, GOB_SUM);
    double score = next_score(s);
    double sum = 0.0;
    gob_member one = member(i);
    gob_changes changes = {0};
    gob_changes expected = {0};
    uint64_t stamp = z.stamp;
    gob_status status = increments ? gob_zset_increment(&z, &one, score, &sum)
                                   : gob_zset_add(&z, &one, score, mode, &changes);
    require_outcome(status,
                    increments ? model_increment(i, score) : model_set(i, score, mode, &expected),
                    stamp);
    if (status == GOB_OK) {
        REQUIRE(changes.added == expected.added && changes.changed == expected.changed);
        REQUIRE(!increments || sum == m.score[i]);
    }
    require_score(&z, i);
}

static void remove_one(script *s)
{
    size_t i = next_below(s, m.n);
    REQUIRE(same_score(gob_zset_remove(&z, id_of(&z, i)), m.score[i]));
    m.score[i] = GOB_ABSENT;
    require_score(&z, i);
}

/* What a bulk call is given, and what it is to give. */
typedef struct bulk {
    gob_verb verb;
    gob_mode mode;
    size_t n;
    size_t ids[INPUTS];
    int64_t integers[INPUTS];
    gob_name names[INPUTS];
    double scores[INPUTS];
    double sums[INPUTS];
    gob_inputs in;
    gob_names column;
    gob_status status; /* of the first input that cannot be */
    gob_changes changes;
    uint64_t removed;
} bulk;

static bulk call;

static gob_status model_input(size_t i)
{
    size_t id = call.ids[i];
    double score = call.scores[i * call.in.scores.step];
    if (call.verb == GOB_REMOVE) {
        call.removed += !gob_is_absent(m.score[id]);
        m.score[id] = GOB_ABSENT;
        return GOB_OK;
    }
    gob_status status = call.verb == GOB_UPDATE ? model_set(id, score, call.mode, &call.changes)
                                                : model_increment(id, score);
    call.sums[i] = m.score[id];
    return status;
}

static void draw_call(script *s)
{
    double cycle[CYCLE];
    size_t given = next_below(s, CYCLE + 1);
    call.verb = (gob_verb)next_below(s, 3);
    call.mode = (gob_mode)next_below(s, GOB_SUM + 1);
    call.n = 1 + next_below(s, m.n <= 256 ? m.n : INPUTS);
    size_t start = next_below(s, m.n);
    size_t step = next_below(s, 4);
    cycle[0] = 1.0;
    for (size_t i = 0; i < given; i++) {
        cycle[i] = next_score(s);
    }
    for (size_t i = 0; i < call.n; i++) {
        call.ids[i] = (start + i * step) % m.n;
        call.integers[i] = member(call.ids[i]).id;
        call.names[i] = member(call.ids[i]).name;
        call.scores[i] = cycle[given == 0 ? 0 : i % given];
    }
    call.column = (gob_names){.form = GOB_NAMES_LIST, .data = (const uint8_t *)call.names};
    call.in = (gob_inputs){.scores = {call.scores, given > 1}};
    if (m.layout.named) {
        call.in.names = &call.column;
    } else {
        call.in.members = call.integers;
    }
    call.changes = (gob_changes){0};
    call.removed = 0;
    call.status = GOB_OK;
    for (size_t i = 0; i < call.n && call.status == GOB_OK; i++) {
        call.status = model_input(i);
    }
}

static void bulk_call(script *s)
{
    static double out[INPUTS];
    gob_journal j;
    gob_changes changes = {0};
    uint64_t removed = 0;
    uint64_t stamp = z.stamp;
    draw_call(s);
    uint8_t how = next_byte(s);
    bool undo = how % 4 == 1;
    double *sums = how >= 128 ? NULL : out; /* without them, equal small increments are pipelined */
    size_t cuts[] = {0, next_below(s, call.n + 1), call.n};
    gob_status status = gob_bulk_begin(&z, &j, call.n);
    if (status != GOB_OK) {
        require_outcome(status, call.status, stamp);
        return;
    }
    for (size_t k = 0; k < 2 && status == GOB_OK; k++) {
        size_t n = cuts[k + 1] - cuts[k];
        status = call.verb == GOB_UPDATE
                     ? gob_bulk_update(&z, &j, call.in, cuts[k], n, call.mode, &changes)
                 : call.verb == GOB_INCREMENT
                     ? gob_bulk_increment(&z, &j, call.in, cuts[k], n, sums)
                     : gob_bulk_remove(&z, &j, call.in, cuts[k], n, &removed);
    }
    if (status != GOB_OK || undo) {
        gob_bulk_rollback(&z, &j, call.in, call.verb);
        require_outcome(status, call.status, stamp);
        REQUIRE(z.stamp == stamp);
        m = before;
        return;
    }
    gob_bulk_commit(&z, &j);
    require_outcome(status, call.status, stamp);
    REQUIRE(removed == call.removed && changes.added == call.changes.added);
    REQUIRE(changes.changed == call.changes.changed);
    REQUIRE(call.verb != GOB_INCREMENT || sums == NULL ||
            memcmp(out, call.sums, call.n * sizeof *out) == 0);
}

static void read_order(void)
{
    uint64_t stamp = z.stamp;
    gob_status status = gob_zset_sync(&z);
    require_outcome(status, GOB_OK, stamp);
    if (status == GOB_OK) {
        require_order(&z);
    }
}

/* Reads that a scan answers. */
static void scan(script *s)
{
    static size_t ranked[MEMBERS];
    static gob_entry heap[MEMBERS];
    size_t count = model_rank(ranked);
    size_t k = next_below(s, m.n);
    bool highest = next_byte(s) % 2 != 0;
    REQUIRE(!gob_zset_prefers_scan(&z) || z.order == NULL);
    size_t got = 0;
    REQUIRE(gob_scan_extremes(&z, k, highest, heap, &got) == GOB_OK);
    REQUIRE(got == (count < k ? count : k));
    for (size_t i = 0; i < got; i++) {
        REQUIRE(is_entry(&z, heap[i], ranked[highest ? count - 1 - i : i]));
    }
    gob_interval within = {next_score(s), next_score(s), highest, next_byte(s) % 2 != 0};
    if (gob_is_absent(within.lo) || gob_is_absent(within.hi)) {
        return;
    }
    gob_sum sum;
    uint64_t inside = 0;
    gob_sum_init(&sum);
    for (size_t i = 0; i < count; i++) {
        double score = m.score[ranked[i]];
        bool above = within.open_lo ? score > within.lo : score >= within.lo;
        if (above && (within.open_hi ? score < within.hi : score <= within.hi)) {
            gob_sum_add(&sum, score);
            inside++;
        }
    }
    uint64_t counted;
    double total;
    REQUIRE(gob_scan_count(&z, within, &counted) == GOB_OK && counted == inside);
    REQUIRE(gob_scan_sum(&z, within, &total) == GOB_OK);
    REQUIRE(same_score(total, gob_sum_value(&sum)));
}

static gob_digest digest(gob_zset *set)
{
    gob_digester d;
    REQUIRE(gob_zset_sync(set) == GOB_OK);
    gob_digester_init(&d);
    while (gob_digester_step(&d, set, 100)) {
    }
    return gob_digester_result(&d);
}

static void begin_set(gob_zset *set, float merge_exponent, uint64_t seed, unsigned narrow_bits)
{
    gob_zset_init(set, m.layout, merge_exponent, seed);
    if (m.layout.named) {
        set->index.members.narrow_bits = (uint8_t)narrow_bits;
    }
}

/* A copy takes the set's place, or goes. */
static void copy(script *s)
{
    gob_zset other;
    bool swap = next_byte(s) % 2 != 0;
    begin_set(&other, z.merge_exponent, next_byte(s),
              m.layout.named ? z.index.members.narrow_bits : 0);
    gob_alloc_fail_at(&other.alloc, z.alloc.fail_at);
    gob_alloc_fail_at(&z.alloc, 0);
    gob_status status = gob_zset_copy(&other, &z);
    REQUIRE(status == GOB_OK || (status == GOB_NOMEM && other.alloc.live == 0));
    gob_alloc_fail_at(&other.alloc, 0);
    if (status == GOB_OK) {
        require_sound(&other);
        require_scores(&other);
        gob_digest a = digest(&z);
        gob_digest b = digest(&other);
        REQUIRE(memcmp(a.ordered, b.ordered, sizeof a.ordered) == 0);
        REQUIRE(memcmp(a.mapping, b.mapping, sizeof a.mapping) == 0);
        REQUIRE(same_score(a.total, b.total));
        if (swap) {
            gob_zset_swap(&z, &other);
        }
    }
    gob_zset_clear(&other);
    REQUIRE(other.alloc.live == 0);
}

static void clear(void)
{
    gob_zset_clear(&z);
    REQUIRE(z.alloc.live == 0);
    for (size_t i = 0; i < m.n; i++) {
        m.score[i] = GOB_ABSENT;
    }
}

static void operate(script *s)
{
    uint8_t code = next_byte(s);
    uint64_t stamp = z.stamp;
    gob_alloc_fail_at(&z.alloc, code >= 128 ? 1 + next_below(s, 40) : 0);
    before = m;
    switch (code % 16) {
    case 0:
    case 1:
    case 2:
        write_one(s, false);
        break;
    case 3:
    case 4:
        write_one(s, true);
        break;
    case 5:
    case 6:
        remove_one(s);
        break;
    case 7:
        require_outcome(gob_zset_optimize(&z), GOB_OK, stamp);
        break;
    case 8:
        scan(s);
        break;
    case 9:
        copy(s);
        break;
    case 10:
    case 11:
    case 12:
        bulk_call(s);
        break;
    case 13:
        clear();
        break;
    default:
        read_order();
    }
    gob_alloc_fail_at(&z.alloc, 0);
    require_sound(&z);
    if (code >= 128) {
        require_scores(&z);
    }
}

/* Which members there are: sparse and dense ranges, at the ends of the integers too; names. */
static void draw_members(script *s)
{
    static const size_t sizes[] = {20, 70, 100, 100, 200, 300, 300, MEMBERS};
    static const struct {
        int64_t base;
        int64_t stride;
    } ranges[] = {{0, 1},         {-1500, 1},
                  {INT32_MIN, 1}, {INT32_MAX - MEMBERS + 1, 1},
                  {-700000, 500}, {INT64_MIN, INT64_C(1) << 48},
                  {INT64_MIN, 1}, {INT64_MAX - MEMBERS + 1, 1}};
    size_t kind = next_below(s, 4);
    size_t range = next_below(s, kind == 0 ? 5 : 8);
    m.n = sizes[next_below(s, 8)];
    m.layout = (gob_layout){.member_bytes = kind == 1 ? 8 : 4,
                            .score_bytes = next_byte(s) % 2 != 0 ? 4 : 8,
                            .compress = next_byte(s) % 2 == 0,
                            .named = kind >= 2,
                            .fixed = kind == 3 ? GOB_UUID_BYTES : 0};
    m.base = ranges[range].base;
    m.stride = ranges[range].stride;
    m.names = kind >= 2 ? names_of[kind - 2] : NULL;
    m.place = places_of[kind >= 2 ? kind - 2 : 2];
    for (size_t i = 0; i < m.n; i++) {
        m.score[i] = GOB_ABSENT;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ready;
    script s = open_script(data, size);
    if (!ready) {
        make_pool(0);
        make_pool(1);
        ready = true;
    }
    draw_members(&s);
    float merge_exponent = (float)next_below(&s, 3) / 2.0F;
    unsigned narrow_bits = next_byte(&s) % 2 == 0 ? GOB_NARROW_BITS : 8 + next_byte(&s) % 8;
    begin_set(&z, merge_exponent, next_byte(&s), narrow_bits);
    size_t most = m.n == MEMBERS ? LARGE_OPERATIONS : OPERATIONS;
    for (size_t i = 0; i < most && s.left != 0; i++) {
        operate(&s);
    }
    require_scores(&z);
    read_order();
    clear();
    return 0;
}
