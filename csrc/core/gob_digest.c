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

/* Member and score as little-endian 64-bit values, whatever the layout and the machine. */
static void write_entry(uint8_t *out, uint64_t member, uint64_t score)
{
    for (unsigned i = 0; i < 8; i++) {
        out[i] = (uint8_t)(member >> 8 * i);
        out[8 + i] = (uint8_t)(score >> 8 * i);
    }
}

bool gob_digester_step(gob_digester *d, const gob_zset *z, size_t n)
{
    uint8_t entries[GOB_BLOCK_MAX * ENTRY_BYTES];
    for (uint64_t end = d->rank + n; d->rank < end && d->rank < z->order->count;) {
        gob_order_read(z->order, d->rank, &d->window);
        for (size_t i = 0; i < d->window.count; i++) {
            double score = gob_key_score(d->window.keys[i]);
            uint8_t *entry = entries + i * ENTRY_BYTES;
            write_entry(entry, (uint64_t)gob_unbias(d->window.members[i]), gob_double_bits(score));
            XXH128_hash_t hash = XXH3_128bits(entry, ENTRY_BYTES);
            d->mapping += (unsigned __int128)hash.high64 << 64 | hash.low64;
            gob_sum_add(&d->sum, score);
        }
        XXH3_128bits_update(&d->state, entries, d->window.count * ENTRY_BYTES);
        d->rank += d->window.count;
    }
    return d->rank < z->order->count;
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
