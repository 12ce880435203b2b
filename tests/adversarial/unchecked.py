"""Damages snapshots at random, maps each as a large file is mapped, and reads it in every way.

For a process of its own: `unchecked.py SUBJECTS FIRST LAST` does it with each of these seeds, to
those of the subjects whose names have that text in them; with a folder at the end, to a large
object that is written there and mapped. What is read may be wrong, or an exception that says so.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any

import test_snapshots_large
from snapshots import (
    ENTRY,
    TAIL,
    Subject,
    hash_subjects,
    paged_subjects,
    subjects,
    table_subjects,
)
from test_snapshots import READS as SET_READS
from test_snapshots_hash import HASH_READS, TABLE_READS

import goblin
from goblin import Hash, HashTable, SnapshotError, SortedSet
from goblin._testing import map_unchecked, reseal

READS = {SortedSet: SET_READS, Hash: HASH_READS, HashTable: TABLE_READS}
LIES = (0, 1, 0x7F, 0x80, 0xFF, 2**15, 2**31 - 1, 2**32 - 1, 2**63, 2**64 - 1)

Change = Callable[[random.Random, bytearray], None]


def sections(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Number, offset and size of each."""
    at, count = struct.unpack_from("<QI", data, len(data) - TAIL)
    for entry in range(count):
        section, _, offset, size, _ = struct.unpack_from("<IIQQQ", data, at + entry * ENTRY)
        yield section, offset, size


def a_stretch(rng: random.Random, part: bytearray, most: int) -> slice:
    at = rng.randrange(len(part))
    return slice(at, min(len(part), at + rng.randint(1, most)))


def bits(rng: random.Random, part: bytearray) -> None:
    for _ in range(rng.choice((1, 3, 40))):
        part[rng.randrange(len(part))] ^= 1 << rng.randrange(8)


def noise(rng: random.Random, part: bytearray) -> None:
    where = a_stretch(rng, part, rng.choice((8, 100, len(part))))
    part[where] = rng.randbytes(len(part[where]))


def one_byte(rng: random.Random, part: bytearray) -> None:
    where = a_stretch(rng, part, rng.choice((16, len(part))))
    part[where] = bytes([rng.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF))]) * len(part[where])


def lies(rng: random.Random, part: bytearray) -> None:
    for _ in range(rng.choice((1, 10, 100))):
        width = rng.choice((1, 2, 4, 8))
        at = rng.randrange(max(len(part) - width, 0) // width + 1) * width
        lie = (rng.choice(LIES) + rng.choice((-1, 0, 0, 1))) % 2 ** (8 * width)
        part[at : at + width] = lie.to_bytes(width, "little")[: len(part) - at]


def moved(rng: random.Random, part: bytearray) -> None:
    source = bytes(part[a_stretch(rng, part, 200)])
    at = rng.randrange(len(part) - len(source) + 1)
    part[at : at + len(source)] = source


CHANGES: tuple[Change, ...] = (bits, noise, one_byte, lies, moved)


def ruined(rng: random.Random, part: bytearray) -> None:
    """Hardly a byte stays in a quarter of it or more; the first part of it may be as it was."""
    start = rng.choice((0, len(part) // 2, len(part) * 3 // 4))
    part[start:] = rng.choice((rng.randbytes(len(part) - start), b"\xff" * (len(part) - start)))


UNCHECKED = {2, 3, 5, 7}  # tables, names, pages and blocks: no checksum of them is looked at


def damaged(data: bytes, rng: random.Random, changes: tuple[Change, ...] = CHANGES) -> bytes:
    """One or two sections with other content behind good checksums."""
    changed = bytearray(data)
    found = [(offset, size) for section, offset, size in sections(data) if section != 1]
    if changes != CHANGES:
        found = [(offset, size) for section, offset, size in sections(data) if section in UNCHECKED]
    for offset, size in rng.sample(found, rng.randint(1, min(2, len(found)))):
        part = changed[offset : offset + size]
        rng.choice(changes)(rng, part)
        changed[offset : offset + size] = part
    return reseal(bytes(changed))


MORE: dict[str, Callable[[Any, Any], Any]] = {
    "_validate": lambda z, _: z._validate(),
    "digest": lambda z, _: z.digest(),
    "make": lambda z, _: SortedSet(z, member=z.member_dtype),
    "rank dense": lambda z, m: z.rank(m, method="dense", descending=True),
    "ranks": lambda z, _: z.ranks(z.to_numpy()[0], method="average"),
    "union": lambda z, _: goblin.union([z, z], weights=[1, 2]),
    "intersection": lambda z, _: goblin.intersection([z, z]),
    "difference": lambda z, _: goblin.difference(z, z),
}
OTHER: dict[str, Callable[[Any, Any], Any]] = {
    "_validate": lambda h, _: h._validate(),
    "update": lambda h, _: type(h)(key=h.key_dtype, value=h.value_dtype).update(h),
}


def read_all(one: Any, key: Any) -> None:
    more = MORE if isinstance(one, SortedSet) else OTHER
    for read in [*READS[type(one)].values(), *more.values()]:
        try:
            read(one, key)
        except SystemError:  # that of a core which knows no better
            raise
        except Exception:
            continue


def small() -> Iterator[Subject]:
    """Each large enough for what a smaller one does without: a table, an order, the full form."""
    yield from subjects((500,))
    yield from paged_subjects()
    yield from hash_subjects((700,))
    yield from table_subjects((700,))


def main(name: str, first: int, last: int) -> None:
    chosen = [s for s in small() if name in f"{s.container.__name__} {s}"]
    known = [(s, next(iter(s.build())), s.data()) for s in chosen]
    for seed in range(first, last):
        subject, key, data = (rng := random.Random(seed)).choice(known)
        print(seed, subject, flush=True)
        with contextlib.suppress(SnapshotError):
            read_all(map_unchecked(subject.container, damaged(data, rng)), key)


def read_some(one: Any, keys: list[Any]) -> None:
    """What takes no longer for a large object: members here and there, and the beginning."""
    reads: list[Callable[[], Any]] = [lambda key=key: one.get(key) for key in keys]
    reads += [lambda: list(itertools.islice(one.items(), 2000)), lambda: repr(one)]
    if isinstance(one, SortedSet):
        reads += [lambda key=key: one.around(key) for key in keys]
        reads += [lambda: one.ranks(keys), lambda: one.top(300), lambda: one.count(1, 90)]
        reads += [lambda: one.by_rank[::997].to_list()]
    for read in reads:
        with contextlib.suppress(ValueError, LookupError):
            read()


def main_large(name: str, first: int, last: int, folder: str) -> None:
    made, _ = getattr(test_snapshots_large, name)()
    keys = list(itertools.islice(made, 0, None, len(made) // 300))
    if isinstance(made, SortedSet):
        made.rank(keys[0])
    data, path = made.to_bytes(), os.path.join(folder, "large")
    for seed in range(first, last):
        print(seed, name, flush=True)
        with open(path, "wb") as file:
            file.write(damaged(data, random.Random(seed), (*CHANGES, ruined, ruined)))
        with contextlib.suppress(SnapshotError):
            read_some(type(made).load(path, mmap=True), keys)


if __name__ == "__main__":
    call = main_large if len(sys.argv) > 4 else main
    call(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
