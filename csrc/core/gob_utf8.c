#include "gob_utf8.h"

/* Bytes of the character at the front, or 0 where there is none. */
static size_t character_size(const uint8_t *at, size_t left)
{
    size_t size = at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    if (at[0] < 0x80) {
        return 1;
    }
    if (at[0] < 0xC0 || at[0] >= 0xF8 || size > left) {
        return 0;
    }
    uint32_t c = at[0] & (0x7FU >> size);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xC0U) != 0x80U) {
            return 0;
        }
        c = c << 6 | (at[i] & 0x3FU);
    }
    return gob_utf8_encodes(c) && gob_utf8_size(c) == size ? size : 0;
}

bool gob_utf8_valid(const uint8_t *at, size_t n)
{
    while (n != 0) {
        bool ascii = n >= 8 && (gob_load64(at) & GOB_UTF8_HIGH) == 0;
        size_t size = ascii ? 8 : character_size(at, n);
        if (size == 0) {
            return false;
        }
        at += size;
        n -= size;
    }
    return true;
}
