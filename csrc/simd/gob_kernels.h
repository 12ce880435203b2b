/* Loops over many bytes, one version per instruction set. All give identical results; the
 * scalar ones are the reference. */
#ifndef GOB_KERNELS_H
#define GOB_KERNELS_H

#include "gob_compiler.h"
#include "gob_cpu.h"

typedef struct gob_kernels {
    /* How many of n codes lie in lo..hi, lo <= hi. */
    size_t (*count_codes)(const uint8_t *codes, size_t n, uint8_t lo, uint8_t hi);
} gob_kernels;

const gob_kernels *gob_kernels_for(gob_simd level);

#endif
