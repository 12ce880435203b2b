"""Live views of a SortedSet, in rank order, and of a Hash."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from . import _core

M = TypeVar("M")
K = TypeVar("K")
V = TypeVar("V")


class Members(KeysView[M]):
    """The members of a SortedSet."""

    __slots__ = ()
    _mapping: _core.SortedSet[M]

    def __iter__(self) -> Iterator[M]:
        return iter(self._mapping)

    def __reversed__(self) -> Iterator[M]:
        return reversed(self._mapping)


class Scores(ValuesView[float]):
    """The scores of a SortedSet."""

    __slots__ = ()
    _mapping: _core.SortedSet[int]

    def __iter__(self) -> Iterator[float]:
        return self._mapping._iterate("scores", False)

    def __reversed__(self) -> Iterator[float]:
        return self._mapping._iterate("scores", True)

    def __contains__(self, value: object) -> bool:
        return any(score == value for score in self)


class Items(ItemsView[M, float]):
    """The (member, score) pairs of a SortedSet."""

    __slots__ = ()
    _mapping: _core.SortedSet[M]

    def __iter__(self) -> Iterator[tuple[M, float]]:
        return self._mapping._iterate("items", False)

    def __reversed__(self) -> Iterator[tuple[M, float]]:
        return self._mapping._iterate("items", True)


class Fields(KeysView[K]):
    """The keys of a Hash."""

    __slots__ = ()
    _mapping: _core.Hash[K, Any]

    def __iter__(self) -> Iterator[K]:
        return iter(self._mapping)


class Values(ValuesView[V]):
    """The values of a Hash."""

    __slots__ = ()
    _mapping: _core.Hash[Any, V]

    def __iter__(self) -> Iterator[V]:
        return self._mapping._iterate("values")

    def __contains__(self, value: object) -> bool:
        return any(one == value for one in self)


class Entries(ItemsView[K, V]):
    """The (key, value) pairs of a Hash."""

    __slots__ = ()
    _mapping: _core.Hash[K, V]

    def __iter__(self) -> Iterator[tuple[K, V]]:
        return self._mapping._iterate("items")
