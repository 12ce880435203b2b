/* Groups compared by every instruction set, and how one is chosen. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gob_group.h"
#include "gob_random.h"
#include "gob_test.h"

static void check_bytes(const uint8_t *group, uint8_t value)
{
    unsigned expected = 0;
    for (unsigned i = 0; i < 16; i++) {
        expected |= group[i] == value ? 1U << i : 0U;
    }
    for (int level = GOB_SCALAR; level <= (int)gob_cpu_best(); level++) {
        CHECK(gob_group_match(group, value, (gob_simd)level) == expected);
    }
}

static void check_words(const uint8_t *group, uint16_t value)
{
    unsigned expected = 0;
    for (unsigned i = 0; i < 8; i++) {
        expected |= gob_load16(group + 2 * i) == value ? 1U << i : 0U;
    }
    for (int level = GOB_SCALAR; level <= (int)gob_cpu_best(); level++) {
        CHECK(gob_group_match8(group, value, (gob_simd)level) == expected);
    }
}

static void check_sums(const uint8_t *group)
{
    size_t expected = 0;
    for (size_t n = 0; n <= 16; n++) {
        for (int level = GOB_SCALAR; level <= (int)gob_cpu_best(); level++) {
            CHECK(gob_group_sum(group, n, (gob_simd)level) == expected);
        }
        expected += n < 16 ? group[n] : 0;
    }
}

static void test_matches(void)
{
    const uint8_t edges[] = {0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF};
    uint8_t room[17];
    uint8_t *group = room + 1; /* unaligned */
    uint64_t rng = 1;
    for (int round = 0; round < 20000; round++) {
        for (size_t i = 0; i < 16; i++) {
            bool edge = random_below(&rng, 2) != 0;
            group[i] = edge ? edges[random_below(&rng, 6)] : (uint8_t)random_next(&rng);
        }
        check_bytes(group, edges[random_below(&rng, 6)]);
        check_bytes(group, group[random_below(&rng, 16)]);
        check_words(group, gob_load16(group + 2 * random_below(&rng, 8)));
        check_words(group, (uint16_t)random_next(&rng));
        check_sums(group);
    }
    for (unsigned value = 0; value < 256; value++) {
        memset(group, (int)value, 16);
        check_sums(group);
        check_bytes(group, (uint8_t)value);
        check_bytes(group, (uint8_t)(value + 1));
        check_words(group, (uint16_t)(value * 257));
        check_words(group, (uint16_t)(value * 257 + 256)); /* one byte of two differs */
    }
}

/* The level that a fresh process chooses. */
static int chosen(const char *forced)
{
    pid_t child = fork();
    if (child == 0) {
        if (forced == NULL) {
            unsetenv("GOBLIN_SIMD");
        } else {
            setenv("GOBLIN_SIMD", forced, 1);
        }
        gob_simd first = gob_cpu_simd();
        setenv("GOBLIN_SIMD", "scalar", 1); /* too late */
        _exit(gob_cpu_simd() == first ? (int)first : 100);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The names of this family's levels, and then those of others. */
#if defined(__x86_64__)
enum { LEVELS = 3, NAMES = 4 };
static const char *const names[NAMES] = {"scalar", "sse2", "avx2", "neon"};
#elif defined(__AARCH64EL__)
enum { LEVELS = 2, NAMES = 4 };
static const char *const names[NAMES] = {"scalar", "neon", "sse2", "avx2"};
#else
enum { LEVELS = 1, NAMES = 4 };
static const char *const names[NAMES] = {"scalar", "neon", "sse2", "avx2"};
#endif

static void test_choice(void)
{
    int best = (int)gob_cpu_best();
    CHECK((best > GOB_SCALAR) == (LEVELS > 1)); /* each family here has one as its baseline */
    CHECK(chosen(NULL) == best);
    CHECK(chosen("nonsense") == best);
    for (int i = 0; i < NAMES; i++) {
        int level = gob_simd_from_name(names[i]);
        CHECK(level == (i < LEVELS ? i : -1));
        CHECK(level < 0 || strcmp(gob_simd_name((gob_simd)level), names[i]) == 0);
        CHECK(chosen(names[i]) == (level < 0 || level > best ? best : level));
    }
    CHECK(gob_simd_from_name("") == -1 && gob_simd_from_name("SSE2") == -1);
}

int main(void)
{
    test_choice();
    test_matches();
    return test_report();
}
