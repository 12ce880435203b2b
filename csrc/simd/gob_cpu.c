#include "gob_cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [GOB_SCALAR] = "scalar",
#if defined(__x86_64__)
    [GOB_SSE2] = "sse2",
    [GOB_AVX2] = "avx2",
#elif defined(__AARCH64EL__)
    [GOB_NEON] = "neon",
#endif
};

const char *gob_simd_name(gob_simd level)
{
    return names[level];
}

int gob_simd_from_name(const char *name)
{
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

gob_simd gob_cpu_best(void)
{
#if defined(__x86_64__)
    /* The builtin asks CPUID and XGETBV: the processor has it and the system saves the registers.
     */
    return __builtin_cpu_supports("avx2") ? GOB_AVX2 : GOB_SSE2;
#elif defined(__AARCH64EL__)
    return GOB_NEON;
#else
    return GOB_SCALAR;
#endif
}

gob_simd gob_cpu_simd(void)
{
    /* A cache of a constant: racing threads store the same value. */
    static _Atomic int cached = -1;
    int level = atomic_load_explicit(&cached, memory_order_relaxed);
    if (level < 0) {
        const char *forced = getenv("GOBLIN_SIMD");
        gob_simd best = gob_cpu_best();
        level = forced == NULL ? -1 : gob_simd_from_name(forced);
        if (level < 0 || level > (int)best) {
            level = (int)best;
        }
        atomic_store_explicit(&cached, level, memory_order_relaxed);
    }
    return (gob_simd)level;
}
