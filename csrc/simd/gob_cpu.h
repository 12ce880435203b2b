/* Which vector instructions to use: detected once, forced by GOBLIN_SIMD. */
#ifndef GOB_CPU_H
#define GOB_CPU_H

/* The levels of the family of processors compiled for, narrowest first; another family's names are
 * no levels here. */
typedef enum gob_simd {
    GOB_SCALAR = 0, /* the reference; always there */
#if defined(__x86_64__)
    GOB_SSE2, /* baseline of x86-64 */
    GOB_AVX2,
#elif defined(__AARCH64EL__)
    GOB_NEON, /* baseline of AArch64; written for little-endian lanes */
#endif
} gob_simd;

/* The baseline, which groups of sixteen bytes are made for. */
#if defined(__x86_64__)
#define GOB_BASELINE GOB_SSE2
#elif defined(__AARCH64EL__)
#define GOB_BASELINE GOB_NEON
#else
#define GOB_BASELINE GOB_SCALAR
#endif

/* The level in use. The first call decides; every later one agrees. */
gob_simd gob_cpu_simd(void);

/* The best level this machine has, whatever is forced. */
gob_simd gob_cpu_best(void);

const char *gob_simd_name(gob_simd level);

/* The level of that name, or -1. */
int gob_simd_from_name(const char *name);

#endif
