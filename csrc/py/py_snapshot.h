/* Snapshots of any container: bytes to a Python function, and bytes back from a buffer. */
#ifndef PY_SNAPSHOT_H
#define PY_SNAPSHOT_H

#include "py_lock.h"
#include "py_names.h"

#include "gob_alloc.h"
#include "gob_snapshot.h"

/* What containers differ in. The object is the container; it runs without the GIL. */
typedef gob_status gob_saver(void *object, gob_sink *sink, void *to);
typedef gob_status gob_loader(void *object, const gob_reader *r, uint64_t seed, bool mapped,
                              const char **why);

/* _save(write): hands the bytes of the object's snapshot to write(chunk), piece by piece. */
PyObject *gob_snapshot_save(void *object, PyObject *write, gob_saver *saver);

/* _load(buffer, mapped, checked_max): an object with its allocator, new but for what its __new__
 * did, becomes what the buffer holds; where it is mapped, the buffer stays until
 * gob_snapshot_unmap. The last argument is for tests and as of gob_reader. SnapshotError says what
 * is wrong. */
PyObject *gob_snapshot_load(void *object, gob_alloc *a, PyObject *args, gob_loader *loader);

/* Lets go of the buffer of a mapped object, which is about to go itself. */
void gob_snapshot_unmap(void *object);

/* A gob_kind as files of hashes and tables have it, and back. */
uint8_t gob_datum_of(gob_kind kind);
gob_kind gob_kind_of_datum(unsigned datum);

/* ValueError: the object is mapped and read only. -1. */
int gob_snapshot_refuse_write(void *object);

#endif
