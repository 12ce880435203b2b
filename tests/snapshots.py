"""The containers that tests of snapshots run over, each in all its layouts.

A `Subject` is a container in one layout: what makes it, with how many entries, in which state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from model.hash_checks import ALL_KINDS, Kind
from model.layouts import ALL_LAYOUTS, LAYOUTS, Layout
from operations.tables import TABLE_KINDS, TableKind

from goblin import Hash, HashTable, SortedSet

HEAD, ENTRY, TAIL = 16, 32, 32  # bytes of a file's head, of an entry of its list, and of its tail
KIND_AT = 12  # in the head


class Subject(NamedTuple):
    name: str
    container: type
    build: Callable[[], Any]

    def __str__(self) -> str:
        return self.name

    def data(self) -> bytes:
        return self.build().to_bytes()


def scores_of(layout: Layout, n: int) -> np.ndarray:
    """Scores with ties, fractions, both infinities and extremes."""
    scores = (np.arange(n) * 7 % 40 - 5).astype(np.float64)
    scores[n // 2 :: 9] += 0.5
    extremes = np.array([np.inf, -np.inf, np.finfo(layout.score).max, -0.25])
    scores[1 : 1 + 4 * 11 : 11] = extremes[: len(scores[1 : 1 + 4 * 11 : 11])]
    return scores


def fill(layout: Layout, n: int, *, ordered: bool, **options: Any) -> SortedSet:
    """A set with n members, some of which came and went before."""
    members = layout.series(n + n // 5)
    if layout.kind is int:
        members = [m * 99_991 % 2**31 - 2**30 for m in members]
    z: SortedSet = SortedSet(members, 1.0, **layout.options, **options)
    z.remove(members[n:])
    z.update(members[:n], scores_of(layout, n))
    if ordered:
        z.rank(members[0], default=None)
    return z


def paged(layout: Layout, **options: Any) -> SortedSet:
    """Two pages, one of them with exceptions, and members in no page."""
    members = np.r_[-16_384:-13_000, 0:2000, 10**6 : 10**6 + 50]
    scores = members % 200 * 1.0
    scores[::90] = -1.5
    return SortedSet(members, scores, **layout.options, **options)


def subjects(sizes: tuple[int, ...] = (0, 2, 500)) -> Iterator[Subject]:
    """Every kind of members and scores, packed or not, with and without an order."""

    def one(layout: Layout, n: int, ordered: bool, compress: bool) -> Subject:
        name = f"{layout}-{n}{'-ordered' * ordered}{'' if compress else '-plain'}"
        return Subject(name, SortedSet, lambda: fill(layout, n, ordered=ordered, compress=compress))

    for layout in ALL_LAYOUTS:
        for n in sizes:
            yield one(layout, n, False, True)
            if n != 0:
                yield one(layout, n, True, True)
                yield one(layout, n, True, False)


def paged_subjects() -> Iterator[Subject]:
    for layout in LAYOUTS:
        yield Subject(f"{layout}-pages", SortedSet, lambda layout=layout: paged(layout))


def fill_hash(kind: Kind, n: int, **form: Any) -> Hash:
    """A hash with n fields, some of which came and went before, and one of which is long."""
    h: Hash = Hash(kind.pairs(n + n // 5), **kind.options, **form)
    h.pop_many([key for key, _ in kind.pairs(n, n + n // 5)])
    if n > 3:
        del h[kind.key_of("field:1")]
        h[kind.key_of("long " * 30)] = kind.value_of(1)
    return h


def hash_subjects(sizes: tuple[int, ...] = (0, 3, 40, 700)) -> Iterator[Subject]:
    """Every kind of keys and values, with encoding or without, in the block or the table."""

    def one(kind: Kind, n: int, encoding: bool, most: int | None) -> Subject:
        name = f"Hash-{kind}-{n}{'' if encoding else '-plain'}{'-full' * (most == 0)}"
        form = {"encoding": encoding, "max_compact_fields": most}
        return Subject(name, Hash, lambda: fill_hash(kind, n, **form))

    for kind in ALL_KINDS:
        for n in sizes:
            for encoding in (True, False):
                yield one(kind, n, encoding, None)
                yield one(kind, n, encoding, 0)


def fill_table(kind: TableKind, n: int) -> HashTable:
    """A table with n records of several shapes, some of them empty, and a name only one has."""
    t: HashTable = HashTable(kind.rows(n + n // 5), **kind.options)
    for key in kind.rows(n, n + n // 5):
        del t[key]
    if n > 3:
        t[kind.key_of("record:1")] = {kind.record.key_of("long " * 60): kind.record.value_of(3)}
    return t


def table_subjects(sizes: tuple[int, ...] = (0, 3, 40, 700)) -> Iterator[Subject]:
    for kind in TABLE_KINDS:
        for n in sizes:
            name = f"HashTable-{kind}-{n}"
            yield Subject(name, HashTable, lambda kind=kind, n=n: fill_table(kind, n))


def options_of(one: Any) -> Any:
    if isinstance(one, SortedSet):
        return one.layout, one._compress, one._merge_exponent
    if isinstance(one, Hash):
        return one.key_dtype, one.value_dtype, one._encoding, one._max_compact
    return one.key_dtype, one.field_dtype, one.value_dtype


def content_of(one: Any) -> Any:
    """What it holds to the bit, in an order that does not depend on the object."""
    if isinstance(one, SortedSet):
        return one.digest(), list(one.items())
    if isinstance(one, Hash):
        return sorted(one.items())
    return sorted((key, sorted(record.items())) for key, record in one.items())


def assert_alike(one: Any, other: Any) -> None:
    """The same content to the bit, with the same options."""
    assert type(one) is type(other)
    one._validate()
    other._validate()
    assert options_of(one) == options_of(other)
    assert repr(content_of(one)) == repr(content_of(other))
