"""Helpers for tests of goblin, and of what is built on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from . import _core

if TYPE_CHECKING:
    from . import Hash, HashTable, SortedSet

__all__ = ["map_unchecked", "reseal"]

T = TypeVar("T", "SortedSet[Any]", "Hash[Any, Any]", "HashTable[Any, Any, Any]")


def reseal(data: Any) -> bytes:
    """Give a snapshot with all its checksums computed again, for tests of impossible content.

    Bytes whose list of sections can't be found come back as they are.

    >>> import goblin
    >>> data = goblin.SortedSet({7: 1.0}).to_bytes()
    >>> reseal(data) == data
    True
    """
    return _core._reseal(data)


def map_unchecked(container: type[T], data: Any) -> T:
    """Read a snapshot as `load` reads a large file that it maps, whose content is not looked at.

    >>> import goblin
    >>> map_unchecked(goblin.SortedSet, goblin.SortedSet({7: 1.0}).to_bytes())
    SortedSet(1 member, int64-float64, highest (7, 1.0))
    """
    made = container.__new__(container)
    made._load(data, True, 0)
    return made
