/* uuid.UUID as its 16 bytes, first byte first, and back. */
#ifndef PY_UUID_H
#define PY_UUID_H

#include "goblin_module.h"

#include "gob_names.h"

/* A uuid.UUID, or text in any spelling that uuid.UUID takes. 0, or -1 with TypeError or ValueError.
 */
int gob_uuid_read(const gob_module_state *state, PyObject *object, uint8_t *out);

/* UTF-8 text of a UUID. 0, or -1 with ValueError. */
int gob_uuid_parse(const gob_module_state *state, const uint8_t *text, size_t len, uint8_t *out);

/* A new uuid.UUID, made without its constructor, which takes seven times as long. */
PyObject *gob_uuid_new(const gob_module_state *state, const uint8_t *bytes);

#endif
