"""Hash: what the C half leaves to numpy and to composition."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrow, _convert, _core, _views
from ._display import SHOWN, counted, html_table, shown_of, text_cell
from ._frames import Frames, Table
from ._held import Merging, atomic, deep_twin, same, twin
from ._results import HashMemory, footer
from ._snapshot import Snapshots
from ._sortedset import known

K = TypeVar("K")
V = TypeVar("V")

KeyKind = Literal["str", "bytes"]
ValueKind = Literal["str", "bytes", "int64", "float64"]
Only = Literal["any", "new", "existing"]

_KEYS = ("str", "bytes")
_VALUES = ("str", "bytes", "int64", "float64")
ONLY = ("any", "new", "existing")
REFUSALS = (TypeError, ValueError, OverflowError)  # of what is no key or value


class Hash(Frames, Merging, Snapshots, _core.Hash[K, V]):
    """Key -> value in one compact block while it is small, and in a table when it is large.

    `data` is a mapping, an iterable of (key, value), a frame with these columns, or another Hash.
    `key` is "str" or "bytes", `value` also "int64" or "float64". It is compact up to 64 KiB,
    entries of 32,767 bytes and `max_compact_fields` (None: no such limit, 0: never). With
    `encoding` keys and texts that are canonical decimal integers or UUIDs are kept in binary; they
    come back as they were.

    It is a MutableMapping in no particular order. TypeError, OverflowError or UnicodeEncodeError
    for what is no key or value, ValueError for NaN or an unknown option. Reads are O(1), writes
    too, but those that move entries of the compact form, which are O(n). Each method is atomic,
    bulk calls let other threads run, and one that raises has changed nothing.

    >>> import goblin
    >>> h = goblin.Hash({"name": "Ann", "elo": "1500"})
    >>> h.increment("elo", 12), h["name"]
    (1512, 'Ann')
    >>> h
    Hash(2 fields, str-str)
    """

    __slots__ = ()

    def __init__(
        self,
        data: Mapping[K, V] | Iterable[tuple[K, V]] | None = None,
        /,
        *,
        key: KeyKind = "str",
        value: ValueKind = "str",
        max_compact_fields: int | None = None,
        encoding: bool = True,
    ) -> None:
        known(key, _KEYS, "key")
        known(value, _VALUES, "value")
        most = _core._COMPACT_ALWAYS
        if max_compact_fields is not None:
            most = min(_convert.count(max_compact_fields, "max_compact_fields"), most)
        fresh: Hash[K, V] = Hash.__new__(Hash)
        fresh._configure(key, value, most, encoding)
        if data is not None:
            fresh.update(data)
        self._swap(fresh)

    # ---- as a mapping

    def keys(self) -> _views.Fields[K]:
        """View the keys. O(1); set operations as of dict keys.

        >>> goblin.Hash({"name": "Ann"}).keys() & {"name", "elo"}
        {'name'}
        """
        return _views.Fields(self)

    def values(self) -> _views.Values[V]:
        """View the values, in the order of the keys. O(1).

        >>> list(goblin.Hash({"name": "Ann"}).values())
        ['Ann']
        """
        return _views.Values(self)

    def items(self) -> _views.Entries[K, V]:
        """View the (key, value) pairs. O(1).

        >>> list(goblin.Hash({"name": "Ann"}).items())
        [('name', 'Ann')]
        """
        return _views.Entries(self)

    def update(  # type: ignore[override]
        self, data: Mapping[K, V] | Iterable[tuple[K, V]] = (), /, **fields: V
    ) -> None:
        """Set the values of a mapping or of (key, value) pairs, and of keywords, in this order.

        A frame of Arrow, pandas, polars or DuckDB gives its columns "key" and "value", or the two
        that it has. All or nothing. TypeError, OverflowError, ValueError or UnicodeEncodeError as
        for one value. O(n).

        >>> h = goblin.Hash({"name": "Ann"})
        >>> h.update({"name": "Bea"}, elo="1500")
        >>> h["name"], h["elo"]
        ('Bea', '1500')
        """
        if isinstance(data, _core.Record):
            data = data.to_dict()
        columns = _arrow.pair(data, "key", "value")
        if columns is not None and not fields:
            self._set_many(*self._rows(*columns), "any")
            return
        if columns is not None:
            keys, values = map(tuple, self._rows(*columns))
        elif isinstance(data, Hash):
            keys, values = data._atomically(data._split)
        else:
            keys, values = _convert.split(data, "key, value")
        keys, values = (*keys, *fields), (*values, *fields.values())
        try:
            self._set_many(*self._rows(keys, values), "any")
        except REFUSALS:
            blame(zip(keys, values, strict=True), self.value_dtype)
            raise

    def _split(self) -> tuple[tuple[K, ...], tuple[V, ...]]:
        # Both begin before either is read: what changes the hash in between ends them.
        keys, values = self._iterate("keys"), self._iterate("values")
        return tuple(keys), tuple(values)

    def _rows(self, keys: Any, values: Any) -> tuple[_core.Names, Any]:
        return rows(keys, values, self.key_dtype, self.value_dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping) or isinstance(other, _core.Record):
            return NotImplemented  # a record can be gone, and knows
        items = other.to_dict() if isinstance(other, Hash) else dict(other.items())
        return same(self.to_dict(), items)

    def __repr__(self) -> str:
        kinds = f"{self.key_dtype}-{self.value_dtype}"
        return f"{type(self).__name__}({counted(len(self), 'field')}, {kinds})"

    def _repr_html_(self) -> str:
        """Some entries as a table for a notebook."""
        return self._atomically(self._table)

    def _table(self) -> str:
        entries = itertools.islice(self._iterate("items"), SHOWN)
        rows = [(text_cell(key), text_cell(value)) for key, value in entries]
        caption = f"{type(self).__name__}: {shown_of(len(self), 'field')}"
        kinds = f"{self.key_dtype}-{self.value_dtype}, {'compact' if self.is_compact else 'full'}"
        return html_table(caption, ("key", "value"), rows, footer(kinds, self.memory()))

    def copy(self) -> Self:
        """Copy the hash, with its options and, of a subclass, its attributes. O(n).

        >>> h = goblin.Hash({"name": "Ann"})
        >>> h.copy() == h, h.copy() is h
        (True, False)
        """
        return twin(self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return deep_twin(self, memo)

    # ---- many keys

    def set_many(
        self, keys: ArrayLike | Iterable[K], values: ArrayLike | Iterable[V], *, only: Only = "any"
    ) -> int:
        """Set values of shape (n,) of keys of shape (n,), in order; returns how many keys are new.

        One number stands for all. `only` "new" leaves those that are there, "existing" those that
        are not. All or nothing; ValueError for different lengths, others as for one value. O(n).

        >>> h = goblin.Hash({"name": "Ann"})
        >>> h.set_many(["name", "elo"], ["Bea", "1500"], only="new"), h["name"]
        (1, 'Ann')
        """
        known(only, ONLY, "only")
        return self._set_many(*self._rows(keys, values), only)

    def pop_many(self, keys: ArrayLike | Iterable[K]) -> list[V | None]:
        """Remove keys of shape (n,); returns a list of their values, None where absent. O(n).

        >>> goblin.Hash({"name": "Ann", "elo": "1500"}).pop_many(["elo", "elo"])
        ['1500', None]
        """
        return self._pop_many(_convert.names(keys, self.key_dtype))

    def increment_many(
        self, keys: ArrayLike | Iterable[K], by: ArrayLike | Iterable[float] = 1
    ) -> None:
        """Add `by` (one number, or one each) to the values of keys of shape (n,).

        Repeats add up in order. All or nothing; errors as of `increment`, and ValueError for
        different lengths. O(n).

        >>> h = goblin.Hash({"games": 9}, value="int64")
        >>> h.increment_many(["games", "wins", "games"])
        >>> h["games"], h["wins"]
        (11, 1)
        """
        names = _convert.names(keys, self.key_dtype)
        self._increment_many(names, _convert.steps(by, self.value_dtype))

    # ---- the whole

    @atomic
    def sample(self, n: int) -> list[tuple[K, V]]:
        """Draw n distinct (key, value) pairs. ValueError for more than there are. O(size).

        >>> goblin.Hash({"name": "Ann"}).sample(1)
        [('name', 'Ann')]
        """
        import random

        wanted = _convert.count(n, "n")
        if wanted > len(self):
            raise ValueError(f"{wanted} of {len(self)} fields are wanted")
        chosen = set(random.sample(range(len(self)), wanted))
        return [pair for at, pair in enumerate(self.items()) if at in chosen]

    @atomic
    def memory(self) -> HashMemory:
        """Report the bytes of each part, as the allocator counts them. O(1).

        >>> import sys
        >>> h = goblin.Hash({"name": "Ann"})
        >>> h.memory().total == sys.getsizeof(h)
        True
        """
        parts = self._memory()
        total = sys.getsizeof(self)
        per_field = total / len(self) if len(self) else math.nan
        return HashMemory(*parts, total - sum(parts), total, per_field)

    @atomic
    def to_numpy(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give all keys and values in one order, arrays of shape (n,); of objects for text. O(n).

        >>> goblin.Hash({"elo": 1500}, value="int64").to_numpy()
        (array(['elo'], dtype=object), array([1500]))
        """
        keys, values = self._split()
        dtype = "O" if self.value_dtype in _KEYS else self.value_dtype
        return np.array(keys, "O"), np.array(values, dtype)

    @atomic
    def _arrow_table(self) -> Table:
        kinds = {"key": self.key_dtype, "value": self.value_dtype}
        fields = tuple(_arrow.field(name, kind) for name, kind in kinds.items())
        return fields, self._batches(self._stamp, len(self))

    def _batches(self, stamp: int, left: int) -> Iterator[_arrow.Batch]:
        at = 0
        while left > 0:
            keys, values, at = self._atomically(self._next_part, at, stamp)
            left -= len(keys)
            yield len(keys), ((keys, None, 0), (values, None, 0))

    def _next_part(self, at: int, stamp: int) -> tuple[_core.Names, Any, int]:
        if self._stamp != stamp:
            raise RuntimeError("Hash changed during iteration")
        return self._part(at, _arrow.BATCH)

    @atomic
    def to_dict(self) -> dict[K, V]:
        """Give a dict. O(n).

        >>> goblin.Hash({"name": "Ann"}).to_dict()
        {'name': 'Ann'}
        """
        return dict(self.items())


def rows(keys: Any, values: Any, key: str, value: str) -> tuple[_core.Names, Any]:
    """Keys and values of these kinds, as the C half takes them; one number stands for all."""
    names = _convert.names(keys, key)
    if value in _KEYS:
        return names, _convert.names(values, value, "value")
    values = _convert.arrow_numbers(values)
    if not isinstance(values, Iterable):
        values = (values,) * len(names)
    return names, _convert.numbers(values, value)


def blame(pairs: Iterable[tuple[Any, Any]], kind: Any) -> None:
    """Raises the error of the first value that is refused, with its key."""
    one: Hash[str, Any] = Hash(value=kind)
    for key, value in pairs:
        try:
            one[""] = value
        except REFUSALS as error:
            if type(error) not in REFUSALS:
                raise
            raise type(error)(f"the value of {key!r}: {error}") from error


Hash.__module__ = "goblin"
MutableMapping.register(Hash)
