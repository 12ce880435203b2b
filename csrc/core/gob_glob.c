#include "gob_glob.h"

/* What is left of a pattern or a text. */
typedef struct rest {
    const uint8_t *at;
    const uint8_t *end;
    bool utf8;
} rest;

static bool starts_with(const rest *r, uint8_t c)
{
    return r->at != r->end && *r->at == c;
}

/* Takes one character, of a rest that has some. */
static uint32_t take(rest *r)
{
    uint32_t c = *r->at++;
    if (!r->utf8 || c < 0xC0) {
        return c;
    }
    c &= c < 0xE0 ? 0x1F : c < 0xF0 ? 0x0F : 0x07;
    while (r->at != r->end && (*r->at & 0xC0) == 0x80) {
        c = c << 6 | (*r->at++ & 0x3F);
    }
    return c;
}

/* The same, but for a backslash what it stands before, if there is something. */
static uint32_t take_literal(rest *pattern)
{
    if (starts_with(pattern, '\\') && pattern->at + 1 != pattern->end) {
        pattern->at++;
    }
    return take(pattern);
}

/* Takes one part of a class, a character or a range; whether c is of it. */
static bool take_part(rest *pattern, uint32_t c)
{
    bool escaped = *pattern->at == '\\' && pattern->at + 1 != pattern->end;
    uint32_t first = take_literal(pattern);
    if (escaped || !starts_with(pattern, '-') || pattern->at + 1 == pattern->end) {
        return c == first;
    }
    pattern->at++;
    uint32_t last = take(pattern);
    return first <= last ? first <= c && c <= last : last <= c && c <= first;
}

static bool take_class(rest *pattern, uint32_t c)
{
    bool inverted = starts_with(pattern, '^');
    bool found = false;
    pattern->at += inverted;
    while (pattern->at != pattern->end && *pattern->at != ']') {
        found |= take_part(pattern, c);
    }
    pattern->at += pattern->at != pattern->end;
    return found != inverted;
}

/* Takes what stands for one character; whether c is that. */
static bool take_one(rest *pattern, uint32_t c)
{
    if (*pattern->at == '?' || *pattern->at == '[') {
        return *pattern->at++ == '?' || take_class(pattern, c);
    }
    return take_literal(pattern) == c;
}

/* Where a character does not fit, the last star takes one more; what those before it took can stay,
 * as they took as little as they could. */
bool gob_glob_matches(gob_name pattern, gob_name text, bool utf8)
{
    rest p = {pattern.at, pattern.at + pattern.len, utf8};
    rest t = {text.at, text.at + text.len, utf8};
    rest star = {.at = NULL}; /* the pattern behind the last star, and the text there */
    rest from = t;
    for (;;) {
        if (starts_with(&p, '*')) {
            p.at++;
            star = p;
            from = t;
        } else if (t.at == t.end) {
            return p.at == p.end;
        } else if (p.at == p.end || !take_one(&p, take(&t))) {
            if (star.at == NULL) {
                return false;
            }
            p = star;
            (void)take(&from);
            t = from;
        }
    }
}
