"""A SortedSet as a sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from . import _convert
from ._rows import Rows

if TYPE_CHECKING:
    from ._sortedset import SortedSet

M = TypeVar("M")


class ByRank(Generic[M]):
    """A live view of a SortedSet by rank, lowest score first.

    An int gives one (member, score), a slice (any step) or an array of ranks gives Rows; negative
    ranks count from the end. IndexError outside, as in a list. O(log n) a row, O(1) in runs.

    >>> import goblin
    >>> z = goblin.SortedSet({7: 1.0, 8: 5.0, 9: 3.0})
    >>> z.by_rank[-1], z.by_rank[:2].to_list(), len(z.by_rank)
    ((8, 5.0), [(7, 1.0), (9, 3.0)], 3)
    """

    __slots__ = ("_set",)

    def __init__(self, sorted_set: SortedSet[M]) -> None:
        self._set = sorted_set

    def __len__(self) -> int:
        return len(self._set)

    def __iter__(self) -> Iterator[tuple[M, float]]:
        return self._set._iterate("items", False)

    def __reversed__(self) -> Iterator[tuple[M, float]]:
        return self._set._iterate("items", True)

    @overload
    def __getitem__(self, index: int) -> tuple[M, float]: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | NDArray[Any]) -> Rows[M]: ...
    def __getitem__(self, index: Any) -> tuple[M, float] | Rows[M]:
        if isinstance(index, slice):
            return self._set._atomically(self._slice, index)
        if isinstance(index, np.ndarray | Sequence) and not isinstance(index, str | bytes):
            return self._set._atomically(self._pick, _convert.integers(index))
        return self._set._item(index)

    def _slice(self, index: slice) -> Rows[M]:
        return self._set._read(range(len(self._set))[index])

    def _pick(self, index: NDArray[np.int64]) -> Rows[M]:
        ranks = np.where(index < 0, index + len(self._set), index)
        return Rows(*self._set._pick(ranks), ranks)
