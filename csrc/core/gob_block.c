#include "gob_block.h"

/* Where the columns of a packed block lie, worked out from its header. */
typedef struct columns {
    const uint8_t *keys;    /* count - 1 differences */
    const uint8_t *members; /* ties: count - 1 gaps less one; mixed: count offsets */
    size_t bytes;           /* of the whole block */
} columns;

static columns locate(const gob_block *b)
{
    size_t n = b->count;
    columns c;
    c.keys = b->data + (b->form == GOB_MIXED ? sizeof(uint64_t) : 0);
    c.members = c.keys + gob_pack_bytes(n - 1, b->key_bits);
    const uint8_t *end =
        c.members + gob_pack_bytes(b->form == GOB_MIXED ? n : n - 1, b->member_bits);
    c.bytes = (size_t)(end - (const uint8_t *)b) + GOB_PACK_SLACK;
    return c;
}

static size_t plain_bytes(size_t n, gob_layout layout)
{
    return offsetof(gob_block, data) + n * ((size_t)layout.member_bytes + layout.score_bytes);
}

size_t gob_block_bytes(const gob_block *b, gob_layout layout)
{
    return b->form == GOB_PLAIN ? plain_bytes(b->count, layout) : locate(b).bytes;
}

static bool is_width(unsigned bits)
{
    return bits <= 64 && bits == gob_pack_bits(bits);
}

bool gob_block_is_sound(const gob_block *head, gob_layout layout)
{
    bool sound = head->count >= 1 && head->count <= GOB_BLOCK_MAX && head->key_shift < 64;
    switch (head->form) {
    case GOB_TIES:
        return sound && layout.compress && is_width(head->member_bits) && head->key_bits == 0 &&
               head->key_shift == 0;
    case GOB_MIXED:
        return sound && layout.compress && is_width(head->member_bits) && is_width(head->key_bits);
    case GOB_PLAIN:
        return sound && !layout.compress && head->member_bits == 0 && head->key_bits == 0 &&
               head->key_shift == 0;
    default:
        return false;
    }
}

void gob_block_free(gob_alloc *a, gob_layout layout, gob_block *b)
{
    gob_free(a, b, gob_block_bytes(b, layout));
}

/* Plain columns: scores, then members; what is read back is bit for bit what was written. */

static uint64_t plain_key(const gob_block *b, gob_layout layout, size_t i)
{
    return gob_key(gob_score_load(b->data + i * layout.score_bytes, layout.score_bytes));
}

static uint64_t plain_member(const gob_block *b, gob_layout layout, size_t i)
{
    const uint8_t *column = b->data + (size_t)b->count * layout.score_bytes;
    return layout.member_bytes == 4 ? gob_bias((int32_t)gob_load32(column + i * 4))
                                    : gob_load64(column + i * 8);
}

static gob_block *encode_plain(gob_alloc *a, gob_layout layout, const uint64_t *keys,
                               const uint64_t *members, size_t n)
{
    gob_block *b = gob_malloc(a, plain_bytes(n, layout));
    if (b == NULL) {
        return NULL;
    }
    *b = (gob_block){.count = (uint16_t)n, .form = GOB_PLAIN};
    uint8_t *column = b->data;
    for (size_t i = 0; i < n; i++, column += layout.score_bytes) {
        gob_score_store(column, layout.score_bytes, gob_key_score(keys[i]));
    }
    if (layout.member_bytes == 8) {
        memcpy(column, members, n * 8);
    } else {
        for (size_t i = 0; i < n; i++, column += 4) {
            gob_store32(column, (uint32_t)(uint64_t)gob_unbias(members[i]));
        }
    }
    return b;
}

/* Packed columns. */

/* Fills the header that packs these entries, and *low with the smallest member of a mixed block. */
static void plan(gob_block *header, const uint64_t *keys, const uint64_t *members, size_t n,
                 uint64_t *low)
{
    uint64_t all = 0;
    bool ascend = true; /* ids of names need not */
    for (size_t i = 1; i < n; i++) {
        all |= keys[i] - keys[i - 1];
        ascend &= members[i] > members[i - 1];
    }
    if (all == 0 && ascend) {
        for (size_t i = 1; i < n; i++) {
            all |= members[i] - members[i - 1] - 1;
        }
        header->form = GOB_TIES;
        header->member_bits = (uint8_t)gob_pack_bits(gob_bit_width(all));
        return;
    }
    uint64_t high = members[0];
    *low = members[0];
    for (size_t i = 1; i < n; i++) {
        *low = members[i] < *low ? members[i] : *low;
        high = members[i] > high ? members[i] : high;
    }
    header->form = GOB_MIXED;
    header->key_shift = (uint8_t)(all == 0 ? 0 : gob_ctz64(all));
    header->key_bits = (uint8_t)gob_pack_bits(gob_bit_width(all >> header->key_shift));
    header->member_bits = (uint8_t)gob_pack_bits(gob_bit_width(high - *low));
}

gob_block *gob_block_encode(gob_alloc *a, gob_layout layout, const uint64_t *keys,
                            const uint64_t *members, size_t n)
{
    if (!layout.compress) {
        return encode_plain(a, layout, keys, members, n);
    }
    uint64_t low = 0;
    gob_block header = {.count = (uint16_t)n};
    plan(&header, keys, members, n, &low);
    gob_block *b = gob_malloc(a, locate(&header).bytes);
    if (b == NULL) {
        return NULL;
    }
    *b = header;
    columns c = locate(b);
    uint8_t *key_column = b->data + (c.keys - b->data);
    uint8_t *member_column = b->data + (c.members - b->data);
    uint64_t scratch[GOB_BLOCK_MAX];
    if (b->form == GOB_TIES) {
        for (size_t i = 1; i < n; i++) {
            scratch[i - 1] = members[i] - members[i - 1] - 1;
        }
        gob_pack(member_column, scratch, n - 1, b->member_bits);
        return b;
    }
    gob_store64(b->data, low);
    for (size_t i = 1; i < n; i++) {
        scratch[i - 1] = (keys[i] - keys[i - 1]) >> b->key_shift;
    }
    gob_pack(key_column, scratch, n - 1, b->key_bits);
    for (size_t i = 0; i < n; i++) {
        scratch[i] = members[i] - low;
    }
    gob_pack(member_column, scratch, n, b->member_bits);
    return b;
}

void gob_block_decode(const gob_block *b, gob_layout layout, gob_entry base, uint64_t *keys,
                      uint64_t *members)
{
    size_t n = b->count;
    if (b->form == GOB_PLAIN) {
        for (size_t i = 0; i < n; i++) {
            keys[i] = plain_key(b, layout, i);
            members[i] = plain_member(b, layout, i);
        }
        return;
    }
    columns c = locate(b);
    keys[0] = base.key;
    members[0] = base.member;
    if (b->form == GOB_TIES) {
        for (size_t i = 1; i < n; i++) {
            keys[i] = base.key;
            members[i] = members[i - 1] + 1 + gob_pack_get(c.members, i - 1, b->member_bits);
        }
        return;
    }
    uint64_t low = gob_load64(b->data);
    members[0] = low + gob_pack_get(c.members, 0, b->member_bits); /* as get: files may lie */
    for (size_t i = 1; i < n; i++) {
        keys[i] = keys[i - 1] + (gob_pack_get(c.keys, i - 1, b->key_bits) << b->key_shift);
        members[i] = low + gob_pack_get(c.members, i, b->member_bits);
    }
}

bool gob_block_ascends(const gob_block *b, const uint64_t *keys, const uint64_t *members)
{
    size_t n = b->count;
    if (b->form == GOB_TIES && b->member_bits <= 48) { /* 256 such gaps wrap around once at most */
        return members[n - 1] >= members[0];
    }
    bool good = true;
    for (size_t i = 1; i < n; i++) { /* without a branch for each */
        good &= keys[i - 1] < keys[i] || (keys[i - 1] == keys[i] && members[i - 1] < members[i]);
    }
    return good;
}

gob_entry gob_block_get(const gob_block *b, gob_layout layout, gob_entry base, size_t i)
{
    if (b->form == GOB_PLAIN) {
        return (gob_entry){plain_key(b, layout, i), plain_member(b, layout, i)};
    }
    columns c = locate(b);
    gob_entry e = base;
    if (b->form == GOB_TIES) {
        e.member += i;
        for (size_t j = 0; j < i; j++) {
            e.member += gob_pack_get(c.members, j, b->member_bits);
        }
        return e;
    }
    uint64_t sum = 0;
    for (size_t j = 0; j < i; j++) {
        sum += gob_pack_get(c.keys, j, b->key_bits);
    }
    e.key += sum << b->key_shift;
    e.member = gob_load64(b->data) + gob_pack_get(c.members, i, b->member_bits);
    return e;
}

size_t gob_block_find(const gob_block *b, gob_layout layout, gob_entry base, uint64_t member)
{
    size_t last = (size_t)b->count - 1U;
    size_t i = 0;
    if (b->form == GOB_PLAIN) {
        while (i < last && plain_member(b, layout, i) != member) {
            i++;
        }
        return i;
    }
    columns c = locate(b);
    if (b->form == GOB_TIES) {
        for (uint64_t at = base.member; i < last && at != member; i++) {
            at += 1 + gob_pack_get(c.members, i, b->member_bits);
        }
        return i;
    }
    uint64_t offset = member - gob_load64(b->data);
    while (i < last && gob_pack_get(c.members, i, b->member_bits) != offset) {
        i++;
    }
    return i;
}

static size_t plain_lower_bound(const gob_block *b, gob_layout layout, gob_entry e)
{
    size_t low = 0;
    size_t high = b->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        gob_entry at = {plain_key(b, layout, middle), plain_member(b, layout, middle)};
        if (gob_entry_less(at, e)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static size_t ties_lower_bound(const gob_block *b, gob_entry base, gob_entry e)
{
    if (e.key != base.key) {
        return e.key < base.key ? 0 : b->count;
    }
    columns c = locate(b);
    uint64_t member = base.member;
    size_t i = 0;
    while (member < e.member && ++i < b->count) {
        member += 1 + gob_pack_get(c.members, i - 1, b->member_bits);
    }
    return i;
}

static size_t mixed_lower_bound(const gob_block *b, gob_entry base, gob_entry e)
{
    columns c = locate(b);
    uint64_t key = base.key;
    size_t i = 0;
    while (key < e.key && ++i < b->count) {
        key += gob_pack_get(c.keys, i - 1, b->key_bits) << b->key_shift;
    }
    uint64_t low = gob_load64(b->data);
    while (i < b->count && key == e.key &&
           low + gob_pack_get(c.members, i, b->member_bits) < e.member) {
        if (++i < b->count) {
            key += gob_pack_get(c.keys, i - 1, b->key_bits) << b->key_shift;
        }
    }
    return i;
}

size_t gob_block_lower_bound(const gob_block *b, gob_layout layout, gob_entry base, gob_entry e)
{
    switch ((gob_block_form)b->form) {
    case GOB_TIES:
        return ties_lower_bound(b, base, e);
    case GOB_MIXED:
        return mixed_lower_bound(b, base, e);
    case GOB_PLAIN:
    default:
        return plain_lower_bound(b, layout, e);
    }
}
