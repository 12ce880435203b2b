#include "gob_members.h"

#include "gob_check.h"

/* Records
 *
 * A length is one byte, or LONG and four. Two codes of each form are no scores: a name without one,
 * and a free record, which keeps its length so that the arena can be walked. */

enum { LONG = 255, LENGTH_MAX = INT32_MAX };

/* The code of "no score" is NONE_* and that of a free record one beside it. */
#define NONE_I16 INT16_MIN
#define NONE_I32 INT32_MIN
#define NONE_U32 UINT32_MAX
#define NONE_F32 UINT32_C(0x7FC00000)
#define NONE_F64 UINT64_C(0x7FF8000000000000)

static unsigned form_bytes(unsigned form, unsigned score_bytes)
{
    return form == GOB_FORM_I16 ? 2 : form == GOB_FORM_FLOAT ? score_bytes : 4;
}

static unsigned width(const gob_members *m)
{
    return form_bytes(m->form, m->score_bytes);
}

static size_t record_bytes(const gob_members *m, size_t len)
{
    size_t prefix = m->fixed != 0 ? 0 : len < LONG ? 1 : 5;
    return width(m) + prefix + len;
}

/* What ids count in. */
static size_t unit(const gob_members *m)
{
    return m->fixed != 0 ? width(m) + m->fixed : 1;
}

static int64_t id_of(const gob_members *m, size_t offset)
{
    return (int64_t)(offset / unit(m)) + (gob_members_wide(m) ? 0 : INT32_MIN);
}

static size_t offset_of(const gob_members *m, int64_t id)
{
    uint64_t first = gob_members_wide(m) ? 0 : (uint64_t)INT32_MIN;
    return (size_t)((uint64_t)id - first) * unit(m); /* of any id, which a mapped file may hold */
}

/* As a record says. */
static gob_name said_at(const gob_members *m, size_t offset)
{
    const uint8_t *p = m->arena.at + offset + width(m);
    if (m->fixed != 0) {
        return (gob_name){p, m->fixed};
    }
    return *p < LONG ? (gob_name){p + 1, *p} : (gob_name){p + 5, gob_load32(p + 1)};
}

/* In a file that is mapped, offsets and lengths may be any: those that lead out of the arena are of
 * names without content. What is read of a record before that is known may lie behind the arena,
 * but in the file, whose list and tail follow. */
static gob_name name_at(const gob_members *m, size_t offset)
{
    static const uint8_t nothing[GOB_UUID_BYTES];
    if (GOB_UNLIKELY(offset >= m->arena.used)) {
        return (gob_name){nothing, m->fixed};
    }
    gob_name name = said_at(m, offset);
    bool inside = (ptrdiff_t)name.len <= m->arena.at + m->arena.used - name.at;
    return GOB_LIKELY(inside) ? name : (gob_name){name.at, 0};
}

static size_t bytes_at(const gob_members *m, size_t offset)
{
    return record_bytes(m, said_at(m, offset).len);
}

static double score_at(const gob_members *m, size_t offset)
{
    const uint8_t *p = m->arena.at + offset;
    switch ((gob_form)m->form) {
    case GOB_FORM_I16: {
        int16_t v = (int16_t)gob_load16(p);
        return v <= NONE_I16 + 1 ? GOB_ABSENT : v;
    }
    case GOB_FORM_I32: {
        int32_t v = (int32_t)gob_load32(p);
        return v <= NONE_I32 + 1 ? GOB_ABSENT : v;
    }
    case GOB_FORM_U32: {
        uint32_t v = gob_load32(p);
        return v >= NONE_U32 - 1 ? GOB_ABSENT : v;
    }
    case GOB_FORM_FLOAT:
    default:
        return gob_score_load(p, m->score_bytes);
    }
}

static bool is_free(const gob_members *m, size_t offset)
{
    const uint8_t *p = m->arena.at + offset;
    switch ((gob_form)m->form) {
    case GOB_FORM_I16:
        return (int16_t)gob_load16(p) == NONE_I16 + 1;
    case GOB_FORM_I32:
        return (int32_t)gob_load32(p) == NONE_I32 + 1;
    case GOB_FORM_U32:
        return gob_load32(p) == NONE_U32 - 1;
    case GOB_FORM_FLOAT:
    default:
        return m->score_bytes == 4 ? gob_load32(p) == NONE_F32 + 1 : gob_load64(p) == NONE_F64 + 1;
    }
}

/* Marks a record as a name without a score, or as free. */
static void set_none(gob_members *m, size_t offset, unsigned free)
{
    uint8_t *p = m->arena.at + offset;
    switch ((gob_form)m->form) {
    case GOB_FORM_I16:
        gob_store16(p, (uint16_t)(NONE_I16 + (int)free));
        break;
    case GOB_FORM_I32:
        gob_store32(p, (uint32_t)(NONE_I32 + (int)free));
        break;
    case GOB_FORM_U32:
        gob_store32(p, NONE_U32 - free);
        break;
    case GOB_FORM_FLOAT:
    default:
        if (m->score_bytes == 4) {
            gob_store32(p, NONE_F32 + free);
        } else {
            gob_store64(p, NONE_F64 + free);
        }
    }
}

static void write_name(gob_members *m, size_t offset, gob_name name)
{
    uint8_t *p = m->arena.at + offset + width(m);
    if (m->fixed == 0) {
        *p++ = (uint8_t)(name.len < LONG ? name.len : LONG);
        if (name.len >= LONG) {
            gob_store32(p, (uint32_t)name.len);
            p += 4;
        }
    }
    if (name.len != 0) {
        memcpy(p, name.at, name.len);
    }
}

/* Scores */

static bool form_fits(gob_form form, double score)
{
    switch (form) {
    case GOB_FORM_I16:
        return score >= NONE_I16 + 2 && score <= INT16_MAX && (double)(int16_t)score == score;
    case GOB_FORM_I32:
        return score >= NONE_I32 + 2 && score <= INT32_MAX && (double)(int32_t)score == score;
    case GOB_FORM_U32:
        return score >= 0 && score <= NONE_U32 - 2 && (double)(uint32_t)score == score;
    case GOB_FORM_FLOAT:
    default:
        return true;
    }
}

bool gob_form_holds(gob_form form, gob_form other)
{
    return form == other || form == GOB_FORM_FLOAT ||
           (form == GOB_FORM_I32 && other == GOB_FORM_I16);
}

bool gob_members_fits(const gob_members *m, double score)
{
    return gob_is_absent(score) || form_fits((gob_form)m->form, score);
}

double gob_members_score(const gob_members *m, int64_t id)
{
    size_t offset = offset_of(m, id);
    return GOB_LIKELY(offset < m->arena.used) ? score_at(m, offset) : GOB_ABSENT;
}

void gob_members_set_score(gob_members *m, int64_t id, double score)
{
    size_t offset = offset_of(m, id);
    uint8_t *p = m->arena.at + offset;
    if (GOB_UNLIKELY(gob_is_absent(score))) {
        set_none(m, offset, 0);
        return;
    }
    switch ((gob_form)m->form) {
    case GOB_FORM_I16:
        gob_store16(p, (uint16_t)(int16_t)score);
        break;
    case GOB_FORM_I32:
        gob_store32(p, (uint32_t)(int32_t)score);
        break;
    case GOB_FORM_U32:
        gob_store32(p, (uint32_t)score);
        break;
    case GOB_FORM_FLOAT:
    default:
        gob_score_store(p, m->score_bytes, score);
    }
}

gob_form gob_members_form_for(const gob_members *m, double score)
{
    bool fits[GOB_FORM_FLOAT + 1];
    for (unsigned form = 0; form <= GOB_FORM_FLOAT; form++) {
        /* A form as wide as the float spares nothing. */
        fits[form] =
            form == GOB_FORM_FLOAT || (form_bytes(form, m->score_bytes) < m->score_bytes &&
                                       (gob_is_absent(score) || form_fits((gob_form)form, score)));
    }
    for (size_t at = 0; at < m->arena.used; at += bytes_at(m, at)) {
        double s = score_at(m, at);
        for (unsigned form = 0; !gob_is_absent(s) && form < GOB_FORM_FLOAT; form++) {
            fits[form] = fits[form] && form_fits((gob_form)form, s);
        }
    }
    unsigned form = 0;
    while (!fits[form]) {
        form++;
    }
    return (gob_form)form;
}

/* Finding */

static uint64_t hash_name(const gob_table *t, gob_name name)
{
    return XXH3_64bits_withSeed(name.at, name.len, t->seed);
}

static bool same_name(gob_name a, gob_name b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

typedef struct wanted {
    const gob_members *m;
    gob_name name;
} wanted;

static bool is_name(const void *context, int64_t id)
{
    const wanted *w = context;
    return same_name(gob_members_name(w->m, id), w->name);
}

static int64_t find_hashed(const gob_members *m, gob_name name, uint64_t hash)
{
    wanted w = {m, name};
    size_t slot = gob_table_seek(&m->table, hash, is_name, &w);
    return slot == GOB_NO_SLOT ? GOB_NO_ID : gob_table_member(&m->table, slot);
}

/* Without a table: few records, one after the other. */
static int64_t find_by_walk(const gob_members *m, gob_name name)
{
    for (size_t at = 0; at < m->arena.used; at += bytes_at(m, at)) {
        if (same_name(name_at(m, at), name) && !is_free(m, at)) {
            return id_of(m, at);
        }
    }
    return GOB_NO_ID;
}

int64_t gob_members_find(const gob_members *m, gob_name name)
{
    if (m->table.capacity == 0) {
        return find_by_walk(m, name);
    }
    uint64_t hash = hash_name(&m->table, name);
    gob_table_prefetch_group(&m->table, hash); /* 350 to 280 ns a look-up at a million names */
    return find_hashed(m, name, hash);
}

void gob_members_find_many(const gob_members *m, const gob_names *names, size_t from, size_t n,
                           int64_t *ids)
{
    gob_name name[GOB_BATCH];
    uint64_t hash[GOB_BATCH];
    size_t slot[GOB_BATCH];
    const gob_table *t = &m->table;
    for (size_t i = 0; i < n; i++) {
        name[i] = gob_names_at(names, from + i);
        if (t->capacity != 0) {
            hash[i] = hash_name(t, name[i]);
            gob_table_prefetch_hash(t, hash[i]);
        }
    }
    for (size_t i = 0; i < n && t->capacity != 0; i++) {
        slot[i] = gob_table_prefetch_slot(t, hash[i]);
    }
    for (size_t i = 0; i < n && t->capacity != 0; i++) {
        if (slot[i] != GOB_NO_SLOT) {
            gob_members_prefetch(m, gob_table_member(t, slot[i]));
        }
    }
    for (size_t i = 0; i < n; i++) {
        ids[i] = t->capacity == 0 ? find_by_walk(m, name[i]) : find_hashed(m, name[i], hash[i]);
    }
}

gob_name gob_members_name(const gob_members *m, int64_t id)
{
    return name_at(m, offset_of(m, id));
}

void gob_members_prefetch(const gob_members *m, int64_t id)
{
    GOB_PREFETCH(m->arena.at + offset_of(m, id));
}

/* Adding */

/* Every name into an empty table that has room. The arena is read in order, and the table's places
 * are loaded a batch at a time. */
static gob_status fill_table(const gob_members *m, gob_table *t, gob_pace *pace)
{
    uint64_t hash[GOB_BATCH];
    int64_t id[GOB_BATCH];
    for (size_t at = 0; at < m->arena.used;) {
        size_t n = 0;
        for (; n < GOB_BATCH && at < m->arena.used; at += bytes_at(m, at)) {
            if (!is_free(m, at)) {
                hash[n] = hash_name(t, name_at(m, at));
                id[n] = id_of(m, at);
                gob_table_prefetch_hash(t, hash[n++]);
            }
        }
        for (size_t i = 0; i < n; i++) {
            gob_table_prefetch_room(t, hash[i]);
        }
        for (size_t i = 0; i < n; i++) {
            gob_table_insert_hashed(t, hash[i], id[i], 0.0);
        }
        GOB_TRY(gob_spend(pace, n));
    }
    return GOB_OK;
}

static gob_status reserve_slot(gob_members *m, gob_alloc *a)
{
    bool small = m->table.capacity == 0 && m->records < GOB_SMALL_MAX;
    if (small || gob_table_has_room(&m->table, 1)) {
        return GOB_OK;
    }
    gob_table grown;
    GOB_TRY(gob_table_resized(&m->table, a, m->records + 1, false, &grown));
    gob_status status = fill_table(m, &grown, a->pace);
    if (status != GOB_OK) {
        gob_table_free(&grown, a);
        return status;
    }
    gob_table_free(&m->table, a);
    m->table = grown;
    return GOB_OK;
}

/* The link to the next free record of a length lies where its name was. */
static size_t link_of(const gob_members *m)
{
    return width(m) + (m->fixed == 0);
}

bool gob_members_reach(const gob_members *m, size_t len)
{
    size_t units = (m->arena.used + record_bytes(m, len)) / unit(m);
    return gob_members_wide(m) || units <= UINT64_C(1) << m->narrow_bits;
}

gob_status gob_members_add(gob_members *m, gob_alloc *a, gob_name name, int64_t *id)
{
    if (name.len > LENGTH_MAX) {
        return GOB_TOO_LARGE;
    }
    GOB_TRY(reserve_slot(m, a));
    size_t offset;
    size_t bytes = record_bytes(m, name.len);
    if (!gob_arena_take(&m->arena, name.len, bytes, link_of(m), &offset)) {
        GOB_TRY(gob_arena_reserve(&m->arena, a, bytes));
        offset = m->arena.used;
        m->arena.used += bytes;
    }
    set_none(m, offset, 0);
    write_name(m, offset, name);
    *id = id_of(m, offset);
    m->records++;
    if (m->table.capacity != 0) {
        /* The hash of what was written: another thread may change the caller's bytes meanwhile. */
        uint64_t hash = hash_name(&m->table, name_at(m, offset));
        gob_table_insert_hashed(&m->table, hash, *id, 0.0);
    }
    return GOB_OK;
}

/* Dropping */

static bool is_id(const void *context, int64_t id)
{
    return *(const int64_t *)context == id;
}

void gob_members_drop(gob_members *m, gob_alloc *a, int64_t id)
{
    size_t offset = offset_of(m, id);
    if (is_free(m, offset)) {
        return;
    }
    gob_name name = name_at(m, offset);
    if (m->table.capacity != 0) {
        gob_table_erase(&m->table,
                        gob_table_seek(&m->table, hash_name(&m->table, name), is_id, &id));
    }
    m->records--;
    set_none(m, offset, 1);
    gob_arena_give(&m->arena, a, offset, name.len, record_bytes(m, name.len), link_of(m));
}

static size_t condemned_bytes(const gob_condemned *c)
{
    return c == NULL ? 0 : sizeof *c + c->room * sizeof c->ids[0];
}

static void free_condemned(gob_members *m, gob_alloc *a)
{
    gob_free(a, m->condemned, condemned_bytes(m->condemned));
    m->condemned = NULL;
}

gob_status gob_members_reserve_condemned(gob_members *m, gob_alloc *a)
{
    gob_condemned *c = m->condemned;
    if (c != NULL && c->count < c->room) {
        return GOB_OK;
    }
    size_t count = c == NULL ? 0 : c->count;
    size_t room = count + count / 2 + 8;
    size_t bytes;
    if (!gob_size_mul(room, sizeof c->ids[0], &bytes)) {
        return GOB_NOMEM;
    }
    c = gob_realloc(a, c, condemned_bytes(c), sizeof *c + bytes);
    if (c == NULL) {
        return GOB_NOMEM;
    }
    c->count = count;
    c->room = room;
    m->condemned = c;
    return GOB_OK;
}

void gob_members_condemn(gob_members *m, int64_t id)
{
    m->condemned->ids[m->condemned->count++] = id;
}

gob_status gob_members_settle(gob_members *m, gob_alloc *a)
{
    while (m->condemned != NULL && m->condemned->count != 0) {
        GOB_TRY(gob_spend(a->pace, 1));
        int64_t id = m->condemned->ids[--m->condemned->count];
        if (gob_is_absent(gob_members_score(m, id))) {
            gob_members_drop(m, a, id);
        }
    }
    free_condemned(m, a);
    return GOB_OK;
}

/* Renewing */

void gob_members_init(gob_members *m, unsigned fixed, unsigned score_bytes, uint64_t seed)
{
    *m = (gob_members){
        .fixed = (uint8_t)fixed,
        .score_bytes = (uint8_t)score_bytes,
        .narrow_bits = GOB_NARROW_BITS,
    };
    gob_table_init(&m->table, 4, 0, seed);
}

static void free_parts(gob_members *m, gob_alloc *a)
{
    gob_table_free(&m->table, a);
    gob_arena_free(&m->arena, a);
    free_condemned(m, a);
}

void gob_members_free(gob_members *m, gob_alloc *a)
{
    free_parts(m, a);
    uint32_t epoch = m->epoch + 1;
    uint8_t narrow_bits = m->narrow_bits;
    gob_members_init(m, m->fixed, m->score_bytes, m->table.seed);
    m->epoch = epoch;
    m->narrow_bits = narrow_bits;
}

/* Bytes of the names of m with scores of another width. */
static size_t renewed_bytes(const gob_members *m, unsigned score_width)
{
    size_t records = (size_t)m->records;
    return m->arena.used - m->arena.dead - records * width(m) + records * score_width;
}

bool gob_members_need_wide(const gob_members *m, gob_form form)
{
    size_t units =
        m->fixed != 0 ? (size_t)m->records : renewed_bytes(m, form_bytes(form, m->score_bytes));
    return units > UINT64_C(1) << m->narrow_bits;
}

/* Room in `fresh` for the names of m, in the form and the width that it has. */
static gob_status renew_room(gob_members *fresh, gob_alloc *a, const gob_members *m, bool tight)
{
    size_t records = (size_t)m->records;
    size_t bytes = renewed_bytes(m, width(fresh));
    if (records > GOB_SMALL_MAX) {
        GOB_TRY(gob_table_resized(&fresh->table, a, records, tight, &fresh->table));
    }
    fresh->arena.at = bytes == 0 ? NULL : gob_malloc(a, bytes);
    if (bytes != 0 && fresh->arena.at == NULL) {
        gob_table_free(&fresh->table, a);
        return GOB_NOMEM;
    }
    fresh->arena.capacity = bytes;
    return GOB_OK;
}

gob_status gob_members_renew_begin(const gob_members *m, gob_alloc *a, gob_form form, bool wide,
                                   bool tight, gob_members *fresh)
{
    gob_members_init(fresh, m->fixed, m->score_bytes, m->table.seed);
    fresh->table.member_bytes = wide ? 8 : 4;
    fresh->form = (uint8_t)form;
    fresh->epoch = m->epoch + 1;
    fresh->narrow_bits = m->narrow_bits;
    return renew_room(fresh, a, m, tight);
}

int64_t gob_members_carry(gob_members *fresh, const gob_members *m, int64_t id)
{
    gob_name name = gob_members_name(m, id);
    size_t offset = fresh->arena.used;
    write_name(fresh, offset, name);
    fresh->arena.used += record_bytes(fresh, name.len);
    fresh->records++;
    int64_t made = id_of(fresh, offset);
    gob_members_set_score(fresh, made, gob_members_score(m, id));
    if (fresh->table.capacity != 0) {
        gob_table_insert_hashed(&fresh->table, hash_name(&fresh->table, name), made, 0.0);
    }
    return made;
}

/* The condemned by their new ids, without those that a settling which was stopped has freed. */
static void follow_condemned(gob_members *m, const gob_members *fresh)
{
    gob_condemned *c = m->condemned;
    size_t count = c == NULL ? 0 : c->count;
    for (size_t i = 0, kept = 0; i < count; c->count = kept, i++) {
        if (!is_free(m, offset_of(m, c->ids[i]))) {
            c->ids[kept++] = gob_members_find(fresh, gob_members_name(m, c->ids[i]));
        }
    }
}

void gob_members_renew_end(gob_members *m, gob_alloc *a, gob_members *fresh)
{
    follow_condemned(m, fresh);
    fresh->condemned = m->condemned;
    m->condemned = NULL;
    free_parts(m, a);
    *m = *fresh;
}

/* Carries all names over in the order of the arena. */
static gob_status carry_all(gob_members *fresh, const gob_members *m, gob_pace *pace,
                            int64_t follow, int64_t *made)
{
    for (size_t at = 0; at < m->arena.used; at += bytes_at(m, at)) {
        GOB_TRY(gob_spend(pace, 1));
        if (!is_free(m, at)) {
            int64_t id = gob_members_carry(fresh, m, id_of(m, at));
            *made = id_of(m, at) == follow ? id : *made;
        }
    }
    return GOB_OK;
}

gob_status gob_members_renew(gob_members *m, gob_alloc *a, gob_form form, bool wide, bool tight,
                             int64_t *follow)
{
    gob_members fresh;
    GOB_TRY(gob_members_renew_begin(m, a, form, wide, tight, &fresh));
    int64_t made = *follow;
    gob_status status = carry_all(&fresh, m, a->pace, *follow, &made);
    if (status != GOB_OK) {
        gob_members_free(&fresh, a);
        return status;
    }
    gob_members_renew_end(m, a, &fresh);
    *follow = made;
    return GOB_OK;
}

bool gob_members_wasteful(const gob_members *m)
{
    bool table = m->table.capacity > GOB_SMALL_MAX * 4 && m->records * 3 < m->table.capacity;
    return gob_arena_wasteful(&m->arena) || table;
}

gob_status gob_members_copy(gob_members *dst, gob_alloc *a, const gob_members *src)
{
    dst->form = src->form;
    dst->table.member_bytes = src->table.member_bytes;
    GOB_TRY(renew_room(dst, a, src, false));
    for (size_t at = 0; at < src->arena.used; at += bytes_at(src, at)) {
        gob_status status = gob_spend(a->pace, 1);
        if (status != GOB_OK) {
            gob_members_free(dst, a);
            return status;
        }
        if (!gob_is_absent(score_at(src, at))) {
            (void)gob_members_carry(dst, src, id_of(src, at));
        }
    }
    return GOB_OK;
}

/* Looking at everything */

size_t gob_members_walk(const gob_members *m, size_t *at, size_t n, int64_t *ids, double *scores)
{
    size_t filled = 0;
    for (; filled < n && *at < m->arena.used; *at += bytes_at(m, *at)) {
        scores[filled] = score_at(m, *at);
        ids[filled] = id_of(m, *at);
        filled += !gob_is_absent(scores[filled]);
    }
    return filled;
}

size_t gob_members_bytes(const gob_members *m)
{
    return gob_arena_bytes(&m->arena) + condemned_bytes(m->condemned);
}

static bool is_free_name(const void *owner, size_t offset, size_t length)
{
    return is_free(owner, offset) && name_at(owner, offset).len == length;
}

bool gob_members_validate(const gob_members *m, gob_pace *pace, const char **why)
{
    size_t dead = 0;
    size_t at = 0;
    uint64_t records = 0;
    GOB_DEMAND(m->arena.used <= m->arena.capacity, "members: arena overrun");
    GOB_DEMAND(gob_members_wide(m) || m->arena.used / unit(m) <= UINT64_C(1) << m->narrow_bits,
               "members: ids do not reach all records");
    for (; at < m->arena.used; at += bytes_at(m, at)) {
        GOB_DEMAND_TIME(pace, 1);
        GOB_DEMAND(bytes_at(m, at) <= m->arena.used - at, "members: records do not fill the arena");
        if (is_free(m, at)) {
            dead += bytes_at(m, at);
            continue;
        }
        records++;
        GOB_DEMAND(gob_members_find(m, name_at(m, at)) == id_of(m, at),
                   "members: a name is not found at its record");
    }
    GOB_DEMAND(records == m->records, "members: count of names");
    GOB_DEMAND(dead == m->arena.dead, "members: bytes of free records");
    GOB_DEMAND(m->table.capacity != 0 ? m->table.live == records : records <= GOB_SMALL_MAX,
               "members: names in the table");
    for (size_t i = 0; m->condemned != NULL && i < m->condemned->count; i++) {
        GOB_DEMAND(offset_of(m, m->condemned->ids[i]) < m->arena.used,
                   "members: a condemned id is none");
    }
    return gob_arena_validate(&m->arena, link_of(m), is_free_name, m, why);
}

/* Snapshots */

/* The ids in a tight table that depends on the arena alone. */
static gob_status lay_table(const gob_members *m, gob_alloc *a, gob_table *laid)
{
    GOB_TRY(gob_table_resized(&m->table, a, (size_t)m->records, true, laid));
    laid->seed = GOB_SNAPSHOT_SEED;
    memset(gob_table_slot(laid, 0), 0, laid->capacity * laid->member_bytes);
    gob_status status = fill_table(m, laid, a->pace);
    if (status != GOB_OK) {
        gob_table_free(laid, a);
    }
    return status;
}

/* The arena, which may be NULL, but for what free records were once. */
static gob_status write_arena(const gob_members *m, gob_writer *w)
{
    static const uint8_t zeros[64];
    size_t written = 0;
    for (size_t at = 0; m->arena.dead != 0 && at < m->arena.used; at += bytes_at(m, at)) {
        if (!is_free(m, at)) {
            continue;
        }
        gob_name name = name_at(m, at);
        GOB_TRY(gob_write(w, m->arena.at + written, (size_t)(name.at - m->arena.at) - written));
        for (size_t left = name.len, n; left != 0; left -= n) {
            n = left < sizeof zeros ? left : sizeof zeros;
            GOB_TRY(gob_write(w, zeros, n));
        }
        written = at + bytes_at(m, at);
    }
    return written == m->arena.used ? GOB_OK
                                    : gob_write(w, m->arena.at + written, m->arena.used - written);
}

gob_status gob_members_save(const gob_members *m, gob_alloc *a, gob_writer *w)
{
    if (m->records > GOB_SMALL_MAX) {
        gob_table laid;
        GOB_TRY(gob_writer_section(w, GOB_SECTION_TABLE));
        GOB_TRY(lay_table(m, a, &laid));
        gob_status status = gob_write(w, laid.ctrl, gob_table_bytes(&laid));
        gob_table_free(&laid, a);
        GOB_TRY(status);
    }
    GOB_TRY(gob_writer_section(w, GOB_SECTION_ARENA));
    return write_arena(m, w);
}

/* The bytes of the record at an offset, or 0 where it ends beyond the arena. */
static size_t bounded_bytes(const gob_members *m, size_t offset)
{
    size_t room = m->arena.used - offset;
    const uint8_t *p = m->arena.at + offset + width(m);
    size_t prefix = record_bytes(m, m->fixed);
    if (room < prefix || (m->fixed == 0 && *p == LONG && room < record_bytes(m, 0) + 4)) {
        return 0;
    }
    gob_name name = said_at(m, offset);
    bool canonical = m->fixed != 0 || *p < LONG || (name.len >= LONG && name.len <= LENGTH_MAX);
    return canonical && record_bytes(m, name.len) <= room ? record_bytes(m, name.len) : 0;
}

/* Walks over the records of an arena that is not trusted, counts names and notes where records
 * with one are; free ones are listed again. */
static gob_status take_stock(gob_members *m, gob_alloc *a, uint64_t *starts, const char **why)
{
    size_t bytes;
    for (size_t at = 0; at < m->arena.used; at += bytes) {
        bytes = bounded_bytes(m, at);
        GOB_EXPECT(bytes != 0, "length of a name");
        if (is_free(m, at)) {
            gob_arena_give(&m->arena, a, at, name_at(m, at).len, bytes, link_of(m));
            continue;
        }
        GOB_EXPECT(!gob_is_absent(score_at(m, at)), "a name without a score");
        size_t start = at / unit(m);
        starts[start / 64] |= UINT64_C(1) << (start % 64);
        m->records++;
        GOB_TRY(gob_spend(a->pace, 1));
    }
    return GOB_OK;
}

bool gob_members_is_id(const gob_members *m, const uint64_t *starts, int64_t id)
{
    uint64_t start = (uint64_t)id - (uint64_t)(int64_t)(gob_members_wide(m) ? 0 : INT32_MIN);
    return start < m->arena.used / unit(m) + 1 && (starts[start / 64] >> (start % 64) & 1) != 0;
}

size_t gob_members_starts_bytes(const gob_members *m)
{
    return (m->arena.used / unit(m) / 64 + 1) * sizeof(uint64_t);
}

gob_status gob_members_map(gob_members *m, const gob_reader *r, size_t records, const char **why)
{
    gob_span arena = gob_reader_section(r, GOB_SECTION_ARENA);
    gob_span table = gob_reader_section(r, GOB_SECTION_TABLE);
    gob_table view;
    gob_table_init(&view, m->table.member_bytes, 0, GOB_SNAPSHOT_SEED);
    if (records > GOB_SMALL_MAX) {
        GOB_EXPECT(records <= table.size, "count of names");
        view.capacity = gob_table_capacity_for(records, true);
        view.live = records;
    }
    GOB_EXPECT(gob_table_bytes(&view) == table.size, "bytes of the table of names");
    view.ctrl = (uint8_t *)(uintptr_t)table.at;
    GOB_EXPECT(m->fixed == 0 || arena.size % unit(m) == 0, "length of a name");
    m->table = view;
    m->arena = (gob_arena){
        .at = (uint8_t *)(uintptr_t)arena.at,
        .used = arena.size,
        .capacity = arena.size,
    };
    m->records = records;
    return GOB_OK;
}

/* Whether the table of a file is the one that the names give. */
static gob_status check_table(const gob_members *m, gob_alloc *a, gob_span file, const char **why)
{
    gob_table laid;
    GOB_TRY(lay_table(m, a, &laid));
    bool same = gob_table_bytes(&laid) == file.size && memcmp(laid.ctrl, file.at, file.size) == 0;
    gob_table_free(&laid, a);
    GOB_EXPECT(same, "a table of other names");
    return GOB_OK;
}

gob_status gob_members_load(gob_members *m, gob_alloc *a, const gob_reader *r, uint64_t *starts,
                            size_t records, const char **why)
{
    GOB_TRY(take_stock(m, a, starts, why));
    GOB_EXPECT(records == m->records, "count of names");
    GOB_EXPECT(gob_members_wide(m) || m->arena.used / unit(m) <= UINT64_C(1) << m->narrow_bits,
               "width of ids");
    if (records > GOB_SMALL_MAX) {
        GOB_TRY(check_table(m, a, gob_reader_section(r, GOB_SECTION_TABLE), why));
        GOB_TRY(gob_table_resized(&m->table, a, records, true, &m->table));
        return fill_table(m, &m->table, a->pace);
    }
    return GOB_OK;
}

gob_status gob_members_load_arena(gob_members *m, gob_alloc *a, gob_span file)
{
    if (file.size != 0) {
        m->arena.at = gob_malloc(a, file.size);
        if (m->arena.at == NULL) {
            return GOB_NOMEM;
        }
        memcpy(m->arena.at, file.at, file.size);
    }
    m->arena.used = m->arena.capacity = file.size;
    return GOB_OK;
}
