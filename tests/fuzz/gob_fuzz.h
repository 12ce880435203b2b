/* What fuzz targets share: decisions read from the input, and checks that stop at the first fault.
 */
#ifndef GOB_FUZZ_H
#define GOB_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The same for a validator, which says what is wrong. */
#define REQUIRE_VALID(call, why)                                                                   \
    do {                                                                                           \
        const char *why = "";                                                                      \
        if (!(call)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, why);                               \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* What is left of an input. */
typedef struct script {
    const uint8_t *at;
    size_t left;
} script;

static inline script open_script(const uint8_t *data, size_t size)
{
    return (script){size == 0 ? (const uint8_t *)"" : data, size};
}

/* The next byte; 0 at the end. */
static inline uint8_t next_byte(script *s)
{
    if (s->left == 0) {
        return 0;
    }
    s->left--;
    return *s->at++;
}

/* 0 .. n - 1, from as many bytes as n needs. */
static inline size_t next_below(script *s, size_t n)
{
    size_t number = next_byte(s);
    for (size_t reach = 256; reach < n; reach *= 256) {
        number = number * 256 + next_byte(s);
    }
    return number % n;
}

/* Up to n bytes that stay where they are. */
static inline const uint8_t *next_bytes(script *s, size_t *n)
{
    const uint8_t *at = s->at;
    *n = *n < s->left ? *n : s->left;
    s->at += *n;
    s->left -= *n;
    return at;
}

/* Memory of exactly this size, so that ASan sees a step outside. */
static inline void *allocate(size_t bytes)
{
    void *memory = malloc(bytes + (bytes == 0));
    REQUIRE(memory != NULL);
    return memory;
}

static inline void *allocate_copy(const void *from, size_t bytes)
{
    void *memory = allocate(bytes);
    if (bytes != 0) {
        memcpy(memory, from, bytes);
    }
    return memory;
}

static inline size_t count_lines(const char *text, size_t length)
{
    size_t lines = 0;
    for (size_t i = 0; i < length; i++) {
        lines += text[i] == '\n';
    }
    return lines;
}

/* Bytes that grow, for the results of reading. */
typedef struct output {
    char *at;
    size_t length;
    size_t room;
} output;

static inline void append(output *o, const void *bytes, size_t length)
{
    if (o->length + length > o->room) {
        o->room = 2 * o->room + length;
        o->at = realloc(o->at, o->room);
        REQUIRE(o->at != NULL);
    }
    if (length != 0) {
        memcpy(o->at + o->length, bytes, length);
    }
    o->length += length;
}

static inline bool same_output(const output *a, const output *b)
{
    return a->length == b->length && (a->length == 0 || memcmp(a->at, b->at, a->length) == 0);
}

/* How a text is fed: as a reader does, each block what is left of the one before and as much again
 * as the plan, or the text's end, says. */
typedef struct feed {
    const char *text;
    size_t length;
    size_t at;    /* everything before has been consumed */
    size_t given; /* bytes of the text that the reader has seen */
    script plan;  /* a byte for each block; without any: one block */
} feed;

/* Gives the reader more; false where there is no more. */
static inline bool feed_more(feed *f)
{
    if (f->given == f->length) {
        return false;
    }
    size_t step = f->plan.left == 0 ? f->length : 1 + (size_t)next_byte(&f->plan);
    f->given = f->length - f->given < step ? f->length : f->given + step;
    return true;
}

#endif
