#include "gob_digest.h"

enum { ENTRY_BYTES = 16 };

void gob_digester_init(gob_digester *d)
{
    XXH3_INITSTATE(&d->state);
    XXH3_128bits_reset(&d->state);
    gob_sum_init(&d->sum);
    d->mapping = 0;
    d->rank = 0;
}

static void write64(uint8_t *out, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++) {
        out[i] = (uint8_t)(value >> 8 * i);
    }
}

/* Takes the parts of one entry in. */
static void add_entry(gob_digester *d, const uint8_t *head, gob_name name, const uint8_t *score)
{
    XXH3_state_t entry;
    XXH3_INITSTATE(&entry);
    XXH3_128bits_reset(&entry);
    XXH3_128bits_update(&entry, head, 8);
    XXH3_128bits_update(&entry, name.at, name.len);
    XXH3_128bits_update(&entry, score, 8);
    XXH128_hash_t hash = XXH3_128bits_digest(&entry);
    d->mapping += (unsigned __int128)hash.high64 << 64 | hash.low64;
    XXH3_128bits_update(&d->state, head, 8);
    XXH3_128bits_update(&d->state, name.at, name.len);
    XXH3_128bits_update(&d->state, score, 8);
}

static void add_names(gob_digester *d, const gob_members *names)
{
    enum { SHORT_MAX = 240 };
    uint8_t entry[SHORT_MAX + ENTRY_BYTES];
    for (size_t i = 0; i < d->window.count; i++) {
        gob_name name = gob_members_name(names, gob_unbias(d->window.members[i]));
        uint8_t score[8];
        write64(entry, name.len);
        write64(score, gob_double_bits(gob_key_score(d->window.keys[i])));
        if (name.len > SHORT_MAX) {
            add_entry(d, entry, name, score);
            continue;
        }
        memcpy(entry + 8, name.at, name.len);
        memcpy(entry + 8 + name.len, score, 8);
        XXH128_hash_t hash = XXH3_128bits(entry, ENTRY_BYTES + name.len);
        d->mapping += (unsigned __int128)hash.high64 << 64 | hash.low64;
        XXH3_128bits_update(&d->state, entry, ENTRY_BYTES + name.len);
    }
}

static void add_integers(gob_digester *d)
{
    uint8_t entries[GOB_BLOCK_MAX * ENTRY_BYTES];
    for (size_t i = 0; i < d->window.count; i++) {
        uint8_t *entry = entries + i * ENTRY_BYTES;
        write64(entry, (uint64_t)gob_unbias(d->window.members[i]));
        write64(entry + 8, gob_double_bits(gob_key_score(d->window.keys[i])));
        XXH128_hash_t hash = XXH3_128bits(entry, ENTRY_BYTES);
        d->mapping += (unsigned __int128)hash.high64 << 64 | hash.low64;
    }
    XXH3_128bits_update(&d->state, entries, d->window.count * ENTRY_BYTES);
}

bool gob_digester_step(gob_digester *d, const gob_zset *z, size_t n)
{
    uint64_t count = gob_zset_count(z);
    for (uint64_t end = d->rank + n; d->rank < end && d->rank < count;) {
        gob_zset_read(z, d->rank, &d->window);
        for (size_t i = 0; i < d->window.count; i++) {
            gob_sum_add(&d->sum, gob_key_score(d->window.keys[i]));
        }
        if (z->index.named) {
            add_names(d, &z->index.members);
        } else {
            add_integers(d);
        }
        d->rank += d->window.count;
    }
    return d->rank < count;
}

gob_digest gob_digester_result(gob_digester *d)
{
    XXH128_hash_t ordered = XXH3_128bits_digest(&d->state);
    return (gob_digest){
        .ordered = {ordered.low64, ordered.high64},
        .mapping = {(uint64_t)d->mapping, (uint64_t)(d->mapping >> 64)},
        .total = gob_sum_value(&d->sum),
    };
}
