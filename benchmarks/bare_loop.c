/* The limit that counting is measured against: an increment is one load, one add, one store. */
#include <stddef.h>
#include <stdint.h>

void bare_loop(float *counts, const int64_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        counts[ids[i]] += 1.0f;
    }
}
