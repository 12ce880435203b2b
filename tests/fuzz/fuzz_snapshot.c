/* Files that claim to be snapshots: what is loaded is sound, the same whether copied or mapped, and
 * saved as bytes that are loaded and saved as the same again; of what is refused, nothing is left.
 *
 * The first byte says how to load, the rest is the file. */
#include "gob_hashmap_snapshot.h"
#include "gob_records_snapshot.h"
#include "gob_zset_snapshot.h"

#include "gob_digest.h"
#include "gob_scan.h"

#include "gob_fuzz_entries.h"

/* Bits of the first byte. Above them is which allocation fails, counted from the first question on.
 */
enum { RESEALED = 1, MAPPED = 2, FAILING = 4, NTH_BITS = 3 };

typedef struct object {
    gob_snapshot_kind kind;
    union {
        gob_alloc alloc; /* which each begins with */
        gob_zset set;
        gob_hashmap hash;
        gob_records records;
    };
    union {
        gob_member_kind member;
        gob_hashmap_kinds hash_kinds;
        gob_records_kinds records_kinds;
    };
} object;

/* Allocations in proportion to the file */

static size_t largest_allowed = SIZE_MAX;

/* The sanitizers call it after each allocation. */
void __sanitizer_malloc_hook(const volatile void *at, size_t size);
void __sanitizer_malloc_hook(const volatile void *at, size_t size)
{
    (void)at;
    REQUIRE(size <= largest_allowed);
}

static size_t allowed_for(size_t file)
{
    return 64 * file + (1 << 20);
}

/* Loading and saving */

typedef struct failing {
    gob_pace pace;
    gob_alloc *alloc;
    unsigned nth; /* 0: none */
} failing;

static bool fail_later(gob_pace *pace)
{
    failing *f = (failing *)(void *)pace;
    if (f->nth != 0) {
        gob_alloc_fail_at(f->alloc, f->nth);
        f->nth = 0;
    }
    return true;
}

static gob_status load_kind(object *o, const gob_reader *r, bool mapped, const char **why)
{
    switch (o->kind) {
    case GOB_SNAPSHOT_SORTED_SET:
        return gob_zset_load(&o->set, &o->member, r, 99, mapped, why);
    case GOB_SNAPSHOT_HASH:
        return gob_hashmap_load(&o->hash, &o->hash_kinds, r, 99, mapped, why);
    default:
        return gob_records_load(&o->records, &o->records_kinds, r, 99, mapped, why);
    }
}

/* How a file is loaded. */
typedef struct way {
    bool mapped;
    bool unchecked; /* as a large file that is mapped */
    unsigned nth;   /* allocation that fails, or 0 */
} way;

static gob_status load(object *o, gob_span file, way how)
{
    const char *why = NULL;
    gob_reader r;
    failing f = {{.goes_on = fail_later}, &o->alloc, how.nth};
    gob_status status = gob_reader_open(&r, file, &why);
    if (status == GOB_OK) {
        o->kind = r.kind;
        r.pace = &f.pace;
        r.checked_max = how.unchecked ? 0 : r.checked_max;
        largest_allowed = allowed_for(file.size);
        status = load_kind(o, &r, how.mapped, &why);
        largest_allowed = SIZE_MAX;
        gob_alloc_fail_at(&o->alloc, 0);
        o->alloc.pace = NULL;
        REQUIRE(status == GOB_OK || o->alloc.live == 0);
        REQUIRE(o->alloc.live <= allowed_for(file.size));
    }
    REQUIRE(status == GOB_OK || (status == GOB_NOMEM && how.nth != 0) ||
            (status == GOB_MALFORMED && why != NULL && *why != 0));
    return status;
}

static bool sink(void *to, const void *bytes, size_t n)
{
    append(to, bytes, n);
    return true;
}

static gob_status save_to(object *o, output *out)
{
    switch (o->kind) {
    case GOB_SNAPSHOT_SORTED_SET:
        return gob_zset_save(&o->set, o->member, sink, out);
    case GOB_SNAPSHOT_HASH:
        return gob_hashmap_save(&o->hash, o->hash_kinds, sink, out);
    default:
        return gob_records_save(&o->records, o->records_kinds, sink, out);
    }
}

static output save(object *o)
{
    output out = {0};
    REQUIRE(save_to(o, &out) == GOB_OK);
    return out;
}

static void clear(object *o)
{
    switch (o->kind) {
    case GOB_SNAPSHOT_SORTED_SET:
        gob_zset_clear(&o->set);
        break;
    case GOB_SNAPSHOT_HASH:
        gob_hashmap_clear(&o->hash);
        break;
    default:
        gob_records_clear(&o->records);
    }
    REQUIRE(o->alloc.live == 0);
}

/* Reading */

static void read_set(gob_zset *z)
{
    REQUIRE_VALID(gob_zset_validate(z, &why), why);
    REQUIRE(gob_zset_sync(z) == GOB_OK);
    for (uint64_t rank = 0; rank < gob_zset_count(z); rank += 1 + rank / 4) {
        gob_entry e = gob_zset_select(z, rank);
        gob_member m = {.id = gob_unbias(e.member)};
        if (z->index.named) {
            m.name = gob_members_name(gob_zset_names(z), m.id);
        }
        REQUIRE(gob_zset_find(z, &m) == gob_unbias(e.member));
        REQUIRE(gob_key(gob_zset_score(z, gob_unbias(e.member))) == e.key);
        REQUIRE(gob_zset_rank(z, e) == rank);
    }
    REQUIRE_VALID(gob_zset_validate(z, &why), why);
}

/* As they are stored. */
static bool same_stored(const gob_value *a, const gob_value *b)
{
    return a->kind == b->kind &&
           (a->kind == GOB_VALUE_UUID ? memcmp(a->text.at, b->text.at, GOB_UUID_BYTES) == 0
                                      : same_value(a, b));
}

static void read_hash(const gob_hashmap *h)
{
    gob_scratch scratch;
    gob_value field;
    gob_value value;
    gob_value found;
    size_t count = 0;
    REQUIRE_VALID(gob_hashmap_validate(h, &why), why);
    for (size_t at = 0; gob_hashmap_next(h, &at, &field, &value); count++) {
        REQUIRE(gob_hashmap_get(h, gob_value_bytes(&field, &scratch), &found));
        REQUIRE(same_stored(&found, &value));
    }
    REQUIRE(count == gob_hashmap_count(h));
}

static void read_records(const gob_records *r)
{
    gob_scratch scratch;
    gob_value key;
    gob_row row;
    gob_row found;
    size_t count = 0;
    REQUIRE_VALID(gob_records_validate(r, &why), why);
    for (size_t at = 0; gob_records_next(r, &at, &key, &row); count++) {
        REQUIRE(gob_records_find(r, gob_value_bytes(&key, &scratch), &found));
        REQUIRE(found.shape.count == row.shape.count);
        for (size_t i = 0; i < row.shape.count; i++) {
            gob_value left = gob_row_value(&row, i);
            gob_value right = gob_records_value(r, &found, gob_records_field(r, &row, i));
            REQUIRE(same_stored(&left, &right));
        }
    }
    REQUIRE(count == gob_records_count(r));
}

static void read_all(object *o)
{
    switch (o->kind) {
    case GOB_SNAPSHOT_SORTED_SET:
        read_set(&o->set);
        break;
    case GOB_SNAPSHOT_HASH:
        read_hash(&o->hash);
        break;
    default:
        read_records(&o->records);
    }
}

/* Loads, which has to work, and gives what that saves. */
static output reload(gob_span file, bool mapped)
{
    object o;
    REQUIRE(load(&o, file, (way){.mapped = mapped}) == GOB_OK);
    output saved = save(&o);
    read_all(&o);
    clear(&o);
    return saved;
}

static void require_lasting(gob_span file)
{
    output copied = reload(file, false);
    output mapped = reload(file, true);
    REQUIRE(same_output(&copied, &mapped));
    uint8_t *exact = allocate_copy(copied.at, copied.length);
    output again = reload((gob_span){exact, copied.length}, true);
    REQUIRE(same_output(&copied, &again));
    free(exact);
    free(copied.at);
    free(mapped.at);
    free(again.at);
}

/* Reading what was not checked: anything may come, but from the file, and at some time. */

static volatile uint8_t seen; /* so that each byte is read */

static void look_at(gob_name name)
{
    for (size_t i = 0; i < name.len; i++) {
        seen = name.at[i];
    }
}

/* Text and UUIDs; numbers are what they are. */
static void look_at_value(const gob_value *value)
{
    gob_scratch scratch;
    if (value->kind != GOB_VALUE_FLOAT && value->kind != GOB_VALUE_NONE) {
        look_at(gob_value_bytes(value, &scratch));
    }
}

static void wander_by_rank(gob_zset *z)
{
    uint64_t count = gob_zset_count(z);
    for (uint64_t rank = 0; rank < count; rank += 1 + rank / 4) {
        gob_entry e = gob_zset_select(z, rank);
        gob_bound b = gob_bound_of(gob_zset_names(z), e);
        gob_member m = {.id = gob_unbias(e.member), .name = b.name};
        look_at(b.name);
        (void)gob_zset_score(z, gob_zset_find(z, &m));
        REQUIRE(gob_zset_rank(z, e) <= count);
        REQUIRE(gob_zset_lower_bound(z, &b) <= count);
    }
    gob_digester d;
    gob_digester_init(&d);
    while (gob_digester_step(&d, z, 1000)) {
    }
}

static void wander_set(gob_zset *z)
{
    gob_interval within = {.lo = -1e300, .hi = 1e300};
    uint64_t count;
    double total;
    (void)gob_scan_count(z, within, &count);
    (void)gob_scan_sum(z, within, &total);
    if (gob_zset_sync(z) == GOB_OK) {
        wander_by_rank(z);
    }
    gob_zset copy;
    gob_zset_init(&copy, gob_zset_layout(z), 1.0F, 7);
    if (gob_zset_copy(&copy, z) == GOB_OK) {
        REQUIRE_VALID(gob_zset_validate(&copy, &why), why);
    }
    gob_zset_clear(&copy);
}

static void wander_hash(gob_hashmap *h)
{
    gob_scratch scratch;
    gob_value field;
    gob_value value;
    for (size_t at = 0; gob_hashmap_next(h, &at, &field, &value);) {
        look_at_value(&field);
        look_at_value(&value);
        if (gob_hashmap_get(h, gob_value_bytes(&field, &scratch), &value)) {
            look_at_value(&value);
        }
    }
    gob_hashmap copy;
    gob_hashmap_init(&copy, h->encoding, h->max_compact, 7);
    if (gob_hashmap_copy(&copy, h) == GOB_OK) {
        REQUIRE_VALID(gob_hashmap_validate(&copy, &why), why);
    }
    gob_hashmap_clear(&copy);
}

static void wander_records(gob_records *r)
{
    gob_scratch scratch;
    gob_value key;
    gob_row row;
    for (size_t at = 0; gob_records_next(r, &at, &key, &row);) {
        (void)gob_records_find(r, gob_value_bytes(&key, &scratch), &row);
        for (size_t i = 0; i < row.shape.count; i++) {
            gob_value value = gob_row_value(&row, i);
            look_at(gob_records_field(r, &row, i));
            look_at_value(&value);
        }
    }
    gob_records copy;
    gob_records_init(&copy, 7);
    if (gob_records_copy(&copy, r) == GOB_OK) {
        REQUIRE_VALID(gob_records_validate(&copy, &why), why);
    }
    gob_records_clear(&copy);
}

static void wander(object *o)
{
    output out = {0};
    switch (o->kind) {
    case GOB_SNAPSHOT_SORTED_SET:
        wander_set(&o->set);
        break;
    case GOB_SNAPSHOT_HASH:
        wander_hash(&o->hash);
        break;
    default:
        wander_records(&o->records);
    }
    (void)save_to(o, &out);
    free(out.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    script s = open_script(data, size);
    object o;
    uint8_t how = next_byte(&s);
    uint8_t *file = allocate_copy(s.at, s.left);
    if ((how & RESEALED) != 0) {
        gob_snapshot_reseal(file, s.left);
    }
    gob_span span = {file, s.left};
    way chosen = {
        .mapped = (how & MAPPED) != 0,
        .nth = (how & FAILING) != 0 ? 1U + (how >> NTH_BITS) : 0,
    };
    if (load(&o, span, chosen) == GOB_OK) {
        clear(&o);
        require_lasting(span);
    }
    chosen.mapped = chosen.unchecked = true;
    if (load(&o, span, chosen) == GOB_OK) {
        wander(&o);
        clear(&o);
    }
    free(file);
    return 0;
}

/* Mutating: mostly a section, so that the frame around it holds. */

/* libFuzzer's; a replay has none. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

/* Writes the file again, with section i of it changed. */
static output mutate_section(const gob_reader *r, uint32_t i, size_t growth)
{
    gob_writer w;
    output out = {0};
    gob_writer_begin(&w, r->kind, sink, &out);
    for (uint32_t n = 0; n < r->sections; n++) {
        gob_span section = gob_reader_section(r, (gob_section)r->list[n].section);
        gob_writer_section(&w, (gob_section)r->list[n].section);
        if (n != i) {
            gob_write(&w, section.at, section.size);
            continue;
        }
        uint8_t *changed = allocate(section.size + growth);
        memcpy(changed, section.at, section.size);
        gob_write(&w, changed, LLVMFuzzerMutate(changed, section.size, section.size + growth));
        free(changed);
    }
    gob_writer_end(&w);
    return out;
}

static size_t mutate_bytes(uint8_t *data, size_t size, size_t room)
{
    size = LLVMFuzzerMutate(data, size, room);
    if (size != 0) {
        gob_snapshot_reseal(data + 1, size - 1);
    }
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    gob_reader r;
    const char *why;
    size_t left = room - size;
    if (size == 0 || seed % 8 == 0 || left < 8 ||
        gob_reader_open(&r, (gob_span){data + 1, size - 1}, &why) != GOB_OK) {
        return mutate_bytes(data, size, room);
    }
    uint32_t i = seed / 8 % (r.sections + 1);
    if (i == r.sections) {
        data[0] = (uint8_t)(seed >> 16);
        return size;
    }
    output out = mutate_section(&r, i, left - 7);
    memcpy(data + 1, out.at, out.length);
    size = 1 + out.length;
    free(out.at);
    return size;
}
