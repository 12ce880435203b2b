/* Which vector instructions to use: detected once, forced by GOBLIN_SIMD. */
#ifndef GOB_CPU_H
#define GOB_CPU_H

typedef enum gob_simd {
    GOB_SCALAR = 0, /* the reference; always there */
    GOB_SSE2,       /* baseline of x86-64 */
    GOB_AVX2,
} gob_simd;

/* The level in use. The first call decides; every later one agrees. */
gob_simd gob_cpu_simd(void);

/* The best level this machine has, whatever is forced. */
gob_simd gob_cpu_best(void);

const char *gob_simd_name(gob_simd level);

/* The level of that name, or -1. */
int gob_simd_from_name(const char *name);

#endif
