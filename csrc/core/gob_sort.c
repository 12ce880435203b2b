#include "gob_sort.h"

/* Below this many entries, insertion beats counting passes. */
enum { INSERTION_MAX = 48 };

static void insertion_sort(gob_entry *entries, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        gob_entry e = entries[i];
        size_t j = i;
        for (; j > 0 && gob_entry_less(e, entries[j - 1]); j--) {
            entries[j] = entries[j - 1];
        }
        entries[j] = e;
    }
}

static uint64_t field(gob_entry e, bool by_member)
{
    return by_member ? e.member : e.key;
}

/* Stable, least significant byte first, over one field; bytes that are all equal cost nothing. */
static void radix_sort(gob_entry *entries, gob_entry *scratch, size_t n, bool by_member)
{
    uint64_t differ = 0;
    for (size_t i = 1; i < n; i++) {
        differ |= field(entries[i], by_member) ^ field(entries[0], by_member);
    }
    gob_entry *from = entries;
    gob_entry *to = scratch;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if ((differ >> shift & 0xFF) == 0) {
            continue;
        }
        size_t start[256] = {0};
        for (size_t i = 0; i < n; i++) {
            start[field(from[i], by_member) >> shift & 0xFF]++;
        }
        for (size_t digit = 0, sum = 0; digit < 256; digit++) {
            size_t count = start[digit];
            start[digit] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++) {
            to[start[field(from[i], by_member) >> shift & 0xFF]++] = from[i];
        }
        gob_entry *swap = from;
        from = to;
        to = swap;
    }
    if (from != entries) {
        memcpy(entries, from, n * sizeof *entries);
    }
}

void gob_sort_entries(gob_entry *entries, gob_entry *scratch, size_t n)
{
    if (n <= INSERTION_MAX) {
        insertion_sort(entries, n);
        return;
    }
    radix_sort(entries, scratch, n, false);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && entries[to].key == entries[from].key; to++) {
        }
        if (to - from <= INSERTION_MAX) {
            insertion_sort(entries + from, to - from);
        } else {
            radix_sort(entries + from, scratch, to - from, true);
        }
    }
}
