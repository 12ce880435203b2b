#include "gob_scan.h"

#include "gob_sum.h"

gob_status gob_scan_count(const gob_zset *z, gob_interval within, uint64_t *count)
{
    return gob_index_count(&z->index, within, z->alloc.pace, count);
}

gob_status gob_scan_sum(const gob_zset *z, gob_interval within, double *total)
{
    int64_t members[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    gob_walk w = {.codes_from = within.lo};
    gob_sum sum;
    gob_sum_init(&sum);
    for (size_t n; (n = gob_index_walk(&z->index, &w, members, scores)) != 0;) {
        GOB_TRY(gob_spend(z->alloc.pace, GOB_WALK_MAX));
        for (size_t i = 0; i < n; i++) {
            if (gob_within(within, scores[i])) {
                gob_sum_add(&sum, scores[i]);
            }
        }
    }
    *total = gob_sum_value(&sum);
    return GOB_OK;
}

/* The heap's root is its worst entry. */
static void sift_down(const gob_members *names, gob_entry *heap, size_t count, size_t at,
                      bool highest)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && gob_order_less(names, heap[child + 1], heap[child]) == highest) {
            child++;
        }
        if (gob_order_less(names, heap[child], heap[at]) != highest) {
            return;
        }
        gob_entry swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

gob_status gob_scan_extremes(const gob_zset *z, size_t k, bool highest, gob_entry *heap,
                             size_t *found)
{
    int64_t members[GOB_WALK_MAX];
    double scores[GOB_WALK_MAX];
    const gob_members *names = gob_zset_names(z);
    gob_walk w = {0};
    size_t count = 0;
    for (size_t n; k != 0 && (n = gob_index_walk(&z->index, &w, members, scores)) != 0;) {
        GOB_TRY(gob_spend(z->alloc.pace, GOB_WALK_MAX));
        for (size_t i = 0; i < n; i++) {
            gob_entry e = gob_zset_entry(members[i], scores[i]);
            if (count < k) {
                heap[count++] = e;
                for (size_t at = count / 2; count == k && at-- > 0;) {
                    sift_down(names, heap, count, at, highest);
                }
            } else if (gob_order_less(names, heap[0], e) == highest) {
                heap[0] = e;
                sift_down(names, heap, count, 0, highest);
            }
        }
        if (highest && count == k) {
            w.codes_from = gob_key_score(heap[0].key);
        }
    }
    for (size_t at = count / 2; count < k && at-- > 0;) {
        sift_down(names, heap, count, at, highest);
    }
    for (size_t end = count; end-- > 1;) {
        gob_entry swap = heap[0];
        heap[0] = heap[end];
        heap[end] = swap;
        sift_down(names, heap, end, 0, highest);
    }
    *found = count;
    return GOB_OK;
}
