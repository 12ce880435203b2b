/* A script of operations on a hash, beside a list of entries: both forms, every option, and
 * allocations that fail where the script says. */
#include "gob_hashmap.h"

#include "gob_fuzz_entries.h"

enum { ENTRIES = 400, ROWS = 120, OPERATIONS = 40 };

/* The model: each field that there has been, with its value now. */
typedef struct entry {
    gob_name field;
    gob_value value; /* kind GOB_VALUE_NONE: it is gone */
} entry;

typedef struct model {
    size_t known;
    entry at[ENTRIES];
} model;

static model m;
static model before; /* a call that may fail */
static gob_hashmap h;

/* The entry of a field, which is added where it is not known; NULL where there are too many. */
static entry *entry_of(gob_name field)
{
    size_t i = 0;
    while (i < m.known && !same_bytes(m.at[i].field, field)) {
        i++;
    }
    if (i == m.known) {
        if (i == ENTRIES) {
            return NULL;
        }
        m.at[m.known++] = (entry){field, {.kind = GOB_VALUE_NONE}};
    }
    return &m.at[i];
}

static bool is_there(const entry *e)
{
    return e->value.kind != GOB_VALUE_NONE;
}

static size_t model_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < m.known; i++) {
        count += is_there(&m.at[i]);
    }
    return count;
}

/* Comparing */

static void require_value(const gob_value *got, const entry *e)
{
    REQUIRE(is_there(e) ? same_value(got, &e->value) : got->kind == GOB_VALUE_NONE);
}

static void require_entry(const gob_hashmap *hash, const entry *e)
{
    gob_value value;
    REQUIRE(gob_hashmap_get(hash, e->field, &value) == is_there(e));
    require_value(&value, e);
}

static void require_gets(const gob_hashmap *hash)
{
    gob_name fields[GOB_BATCH];
    gob_value values[GOB_BATCH];
    gob_names column = {.form = GOB_NAMES_LIST, .data = (const uint8_t *)fields};
    for (size_t from = 0; from < m.known; from += GOB_BATCH) {
        size_t n = m.known - from < GOB_BATCH ? m.known - from : GOB_BATCH;
        for (size_t i = 0; i < n; i++) {
            fields[i] = m.at[from + i].field;
            require_entry(hash, &m.at[from + i]);
        }
        gob_hashmap_get_many(hash, &column, 0, n, values);
        for (size_t i = 0; i < n; i++) {
            require_value(&values[i], &m.at[from + i]);
        }
    }
}

/* As many steps as entries, and each of them in the model: so each of them once. */
static void require_walk(const gob_hashmap *hash)
{
    gob_scratch scratch;
    gob_value field;
    gob_value value;
    size_t steps = 0;
    bool seen[ENTRIES] = {false};
    for (size_t at = 0; gob_hashmap_next(hash, &at, &field, &value); steps++) {
        entry *e = entry_of(gob_value_bytes(&field, &scratch));
        REQUIRE(e != NULL && is_there(e) && !seen[e - m.at]);
        seen[e - m.at] = true;
        require_value(&value, e);
    }
    REQUIRE(steps == model_count());
    REQUIRE(gob_hashmap_any(hash, &field, &value) == (steps != 0));
    if (steps != 0) {
        require_value(&value, entry_of(gob_value_bytes(&field, &scratch)));
    }
}

static void require_sound(const gob_hashmap *hash)
{
    REQUIRE_VALID(gob_hashmap_validate(hash, &why), why);
    REQUIRE(gob_hashmap_count(hash) == model_count());
    REQUIRE(!gob_hashmap_is_compact(hash) || gob_hashmap_count(hash) <= hash->max_compact);
}

static void require_all(const gob_hashmap *hash)
{
    require_gets(hash);
    require_walk(hash);
}

/* Operations */

/* A call that is done, or has changed nothing. */
static void settle(gob_status status, uint64_t stamp, bool compact)
{
    REQUIRE(status == GOB_OK || status == GOB_NOMEM);
    if (status != GOB_OK) {
        m = before;
        REQUIRE(h.stamp == stamp && gob_hashmap_is_compact(&h) == compact);
    }
}

static void set_one(script *s)
{
    gob_name field = next_name(s);
    gob_value value = next_value(s);
    uint64_t stamp = h.stamp;
    bool compact = gob_hashmap_is_compact(&h);
    bool created;
    entry *e = entry_of(field);
    if (e == NULL) {
        return;
    }
    bool there = is_there(e);
    e->value = value;
    gob_status status = gob_hashmap_set(&h, field, &value, &created);
    REQUIRE(status != GOB_OK || created == !there);
    settle(status, stamp, compact);
    if (status == GOB_OK) {
        require_entry(&h, e);
        stamp = h.stamp;
        REQUIRE(gob_hashmap_set(&h, field, &value, &created) == GOB_OK);
        REQUIRE(!created && h.stamp == stamp);
    }
}

static void remove_one(script *s)
{
    size_t i = next_below(s, ENTRIES);
    uint64_t stamp = h.stamp;
    if (i < m.known) {
        entry *e = &m.at[i];
        bool there = is_there(e);
        REQUIRE(gob_hashmap_remove(&h, e->field) == there && (h.stamp != stamp) == there);
        e->value.kind = GOB_VALUE_NONE;
        require_entry(&h, e);
    }
}

/* Rows of a call: those that the script spells out, or many alike. */
typedef struct rows {
    size_t n;
    gob_name fields[ROWS];
    gob_value values[ROWS];
    size_t created;
} rows;

static void draw_rows(rows *r, script *s)
{
    size_t n = next_byte(s);
    bool many = n >= 128;
    size_t first = many ? next_below(s, FIELDS) : 0;
    gob_value value = many ? next_value(s) : value_pool[0];
    n = many ? n - 128 : n % 8;
    r->n = r->created = 0;
    for (; r->n < n && r->n < ROWS; r->n++) {
        gob_name field = many ? field_pool[(first + r->n) % FIELDS] : next_name(s);
        entry *e = entry_of(field);
        if (e == NULL) {
            break;
        }
        r->created += !is_there(e);
        r->fields[r->n] = field;
        r->values[r->n] = e->value = many ? value : next_value(s);
    }
}

static gob_status update(const gob_names *column, const rows *r, size_t *created)
{
    gob_hashmap from;
    gob_hashmap_init(&from, h.encoding, r->n % 2 == 0 ? 0 : GOB_COMPACT_ALWAYS, 77);
    REQUIRE(gob_hashmap_set_many(&from, column, r->values, 0, r->n, created) == GOB_OK);
    gob_status status = gob_hashmap_update(&h, &from, created);
    gob_hashmap_clear(&from);
    REQUIRE(from.alloc.live == 0);
    return status;
}

static void set_many(script *s, bool from_hash)
{
    static rows r;
    uint64_t stamp = h.stamp;
    bool compact = gob_hashmap_is_compact(&h);
    size_t created = 0;
    draw_rows(&r, s);
    gob_names column = {.form = GOB_NAMES_LIST, .data = (const uint8_t *)r.fields};
    gob_status status = from_hash ? update(&column, &r, &created)
                                  : gob_hashmap_set_many(&h, &column, r.values, 0, r.n, &created);
    settle(status, stamp, compact);
    REQUIRE(status != GOB_OK || created == r.created);
}

static void optimize(void)
{
    uint64_t stamp = h.stamp;
    size_t live = h.alloc.live;
    bool compact = gob_hashmap_is_compact(&h);
    gob_status status = gob_hashmap_optimize(&h);
    settle(status, stamp, compact);
    REQUIRE(h.alloc.live <= live);
}

/* A copy takes the hash's place. */
static void copy(void)
{
    gob_hashmap other;
    gob_hashmap_init(&other, h.encoding, h.max_compact, 5);
    gob_alloc_fail_at(&other.alloc, h.alloc.fail_at);
    gob_status status = gob_hashmap_copy(&other, &h);
    gob_alloc_fail_at(&other.alloc, 0);
    if (status != GOB_OK) {
        REQUIRE(status == GOB_NOMEM && other.alloc.live == 0);
        return;
    }
    require_sound(&other);
    gob_hashmap_clear(&h);
    REQUIRE(h.alloc.live == 0);
    h = other;
}

static void clear(void)
{
    gob_hashmap_clear(&h);
    REQUIRE(h.alloc.live == 0);
    m.known = 0;
}

static void operate(script *s)
{
    uint8_t code = next_byte(s);
    gob_alloc_fail_at(&h.alloc, code >= 128 ? 1 + next_below(s, 16) : 0);
    before = m;
    switch (code % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        set_one(s);
        break;
    case 5:
    case 6:
    case 7:
        remove_one(s);
        break;
    case 8:
    case 9:
        set_many(s, false);
        break;
    case 10:
    case 11:
        set_many(s, true);
        break;
    case 12:
        optimize();
        break;
    case 13:
        copy();
        break;
    case 14:
        require_all(&h);
        break;
    default:
        clear();
    }
    gob_alloc_fail_at(&h.alloc, 0);
    require_sound(&h);
    if (code >= 128) {
        require_all(&h);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t most_compact[] = {GOB_COMPACT_ALWAYS, 0, 5, 100};
    script s = open_script(data, size);
    prepare_entries();
    bool encoding = next_byte(&s) % 2 == 0;
    gob_hashmap_init(&h, encoding, most_compact[next_below(&s, 4)], next_byte(&s));
    m.known = 0;
    for (size_t i = 0; i < OPERATIONS && s.left != 0; i++) {
        operate(&s);
    }
    require_all(&h);
    clear();
    return 0;
}
