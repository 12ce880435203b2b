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
static gob_status radix_sort(gob_entry *entries, gob_entry *scratch, size_t n, bool by_member,
                             gob_pace *pace)
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
        GOB_TRY(gob_spend(pace, n));
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
    return GOB_OK;
}

gob_status gob_sort_entries(gob_entry *entries, gob_entry *scratch, size_t n, gob_pace *pace)
{
    if (n <= INSERTION_MAX) {
        insertion_sort(entries, n);
        return GOB_OK;
    }
    GOB_TRY(radix_sort(entries, scratch, n, false, pace));
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && entries[to].key == entries[from].key; to++) {
        }
        if (to - from <= INSERTION_MAX) {
            insertion_sort(entries + from, to - from);
        } else {
            GOB_TRY(radix_sort(entries + from, scratch, to - from, true, pace));
        }
    }
    return GOB_OK;
}

/* Names
 *
 * Ties are sorted by seven bytes of their names at a time, which take the key's place meanwhile;
 * few of them, or those that agree for long, by comparing whole names. */

enum { LEVELS_MAX = 16, AHEAD = 16 };

/* Starts the load of the name that a pass comes to after AHEAD others. */
static void look_ahead(const gob_members *names, const gob_entry *entries, size_t i, size_t n)
{
    if (i + AHEAD < n) {
        gob_members_prefetch(names, gob_unbias(entries[i + AHEAD].member));
    }
}

static int compare_names(const gob_members *names, gob_entry a, gob_entry b)
{
    return gob_name_compare(gob_members_name(names, gob_unbias(a.member)),
                            gob_members_name(names, gob_unbias(b.member)));
}

static void insertion_sort_names(const gob_members *names, gob_entry *entries, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        gob_entry e = entries[i];
        size_t j = i;
        for (; j > 0 && compare_names(names, e, entries[j - 1]) < 0; j--) {
            entries[j] = entries[j - 1];
        }
        entries[j] = e;
    }
}

/* Runs of INSERTION_MAX, merged in pairs. */
static gob_status merge_sort_names(const gob_members *names, gob_entry *entries, gob_entry *scratch,
                                   size_t n, gob_pace *pace)
{
    for (size_t from = 0; from < n; from += INSERTION_MAX) {
        size_t left = n - from;
        GOB_TRY(gob_spend(pace, INSERTION_MAX));
        insertion_sort_names(names, entries + from, left < INSERTION_MAX ? left : INSERTION_MAX);
    }
    for (size_t run = INSERTION_MAX; run < n; run *= 2) {
        for (size_t from = 0; from < n; from += 2 * run) {
            size_t middle = n - from < run ? n : from + run;
            size_t end = n - from < 2 * run ? n : from + 2 * run;
            size_t i = from;
            size_t j = middle;
            for (size_t k = from; k < end; k++) {
                GOB_TRY(gob_spend(pace, 1));
                bool left =
                    j == end || (i < middle && compare_names(names, entries[i], entries[j]) <= 0);
                scratch[k] = left ? entries[i++] : entries[j++];
            }
        }
        memcpy(entries, scratch, n * sizeof *entries);
    }
    return GOB_OK;
}

static gob_status sort_ties(const gob_members *names, size_t depth, unsigned level,
                            gob_entry *entries, gob_entry *scratch, size_t n, gob_pace *pace);

/* Sorts by key, and every tie by name from `depth` on. */
static gob_status sort_level(const gob_members *names, size_t depth, unsigned level,
                             gob_entry *entries, gob_entry *scratch, size_t n, gob_pace *pace)
{
    if (n <= INSERTION_MAX) {
        insertion_sort(entries, n);
    } else {
        GOB_TRY(radix_sort(entries, scratch, n, false, pace));
    }
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && entries[to].key == entries[from].key; to++) {
            look_ahead(names, entries, to, n);
        }
        if (to - from > 1) {
            GOB_TRY(sort_ties(names, depth, level, entries + from, scratch, to - from, pace));
        }
    }
    return GOB_OK;
}

static gob_status sort_ties(const gob_members *names, size_t depth, unsigned level,
                            gob_entry *entries, gob_entry *scratch, size_t n, gob_pace *pace)
{
    if (n <= INSERTION_MAX) {
        GOB_TRY(gob_spend(pace, n));
        insertion_sort_names(names, entries, n);
    } else if (level == LEVELS_MAX) {
        GOB_TRY(merge_sort_names(names, entries, scratch, n, pace));
    } else {
        uint64_t key = entries[0].key;
        for (size_t i = 0; i < n; i++) {
            GOB_TRY(gob_spend(pace, 1));
            look_ahead(names, entries, i, n);
            entries[i].key =
                gob_name_digits(gob_members_name(names, gob_unbias(entries[i].member)), depth);
        }
        GOB_TRY(sort_level(names, depth + 7, level + 1, entries, scratch, n, pace));
        for (size_t i = 0; i < n; i++) {
            entries[i].key = key;
        }
    }
    return GOB_OK;
}

gob_status gob_sort_names(const gob_members *names, size_t depth, gob_entry *entries,
                          gob_entry *scratch, size_t n, gob_pace *pace)
{
    return sort_level(names, depth, 0, entries, scratch, n, pace);
}
