"""Live views of a SortedSet, in rank order."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from . import _core

M = TypeVar("M")


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
