/* Loops over many bytes, one version per instruction set. All give identical results; the
 * scalar ones are the reference. */
#ifndef GOB_KERNELS_H
#define GOB_KERNELS_H

#include "gob_compiler.h"
#include "gob_cpu.h"

enum { GOB_OVERREAD = 31 };

typedef struct gob_kernels {
    /* How many of n codes lie in lo..hi, lo <= hi. */
    size_t (*count_codes)(const uint8_t *codes, size_t n, uint8_t lo, uint8_t hi);

    /* Which of n <= 64 bytes have a value: bit i for byte i. These two may read, but not use, up to
     * GOB_OVERREAD bytes behind the last. */
    uint64_t (*match_bytes)(const uint8_t *bytes, size_t n, uint8_t value);

    /* The sum of n <= 64 bytes. */
    size_t (*sum_bytes)(const uint8_t *bytes, size_t n);
} gob_kernels;

const gob_kernels *gob_kernels_for(gob_simd level);

#endif
