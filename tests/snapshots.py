"""The containers that tests of snapshots run over, each in all its layouts.

A `Subject` is a container in one layout: what makes it, with how many entries, in which state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from model.layouts import ALL_LAYOUTS, LAYOUTS, Layout

from goblin import SortedSet

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


def assert_alike(one: Any, other: Any) -> None:
    """The same content to the bit, in the same layout."""
    assert type(one) is type(other)
    one._validate()
    other._validate()
    assert one.layout == other.layout
    assert one.digest() == other.digest()
    assert list(map(repr, one.items())) == list(map(repr, other.items()))
