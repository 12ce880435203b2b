/* Fields and values that a script names: bytes of its own, numbers, or one of the odd ones that the
 * C tests have. */
#ifndef GOB_FUZZ_ENTRIES_H
#define GOB_FUZZ_ENTRIES_H

#include "gob_entry_pool.h"
#include "gob_fuzz.h"

/* Before any use; fills the pool once. */
static inline void prepare_entries(void)
{
    static bool ready;
    if (!ready) {
        fill_entry_pool();
        ready = true;
    }
}

static inline gob_name next_name(script *s)
{
    size_t kind = next_byte(s);
    if (kind < 128) {
        return field_pool[kind];
    }
    size_t length = kind < 192 ? kind % 4 : kind - 192;
    const uint8_t *bytes = next_bytes(s, &length);
    return (gob_name){bytes, length};
}

static inline gob_value next_value(script *s)
{
    uint8_t bytes[8];
    uint8_t kind = next_byte(s);
    if (kind < 2 * VALUES) {
        return kind < VALUES ? value_pool[kind] : gob_value_text(next_name(s));
    }
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = next_byte(s);
    }
    if (kind % 2 == 0) {
        return gob_value_int((int64_t)gob_load64(bytes) >> kind / 2 % 4 * 16);
    }
    double real;
    memcpy(&real, bytes, sizeof real);
    return gob_value_float(real == real ? real : 0.5);
}

#endif
