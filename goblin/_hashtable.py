"""HashTable: many records without a Python object for each, and Record, the view of one."""

from __future__ import annotations

import functools
import itertools
import math
import sys
from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    MutableMapping,
    ValuesView,
)
from typing import Any, Self, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrow, _convert, _core, _views
from ._display import SHOWN, Cell, clipped, counted, html_table, shown_of, text_cell
from ._frames import Frames, Table
from ._hash import ONLY, REFUSALS, Hash, KeyKind, Only, ValueKind, blame, rows
from ._held import Merging, atomic, deep_twin, same, twin
from ._results import HashTableMemory, footer
from ._snapshot import Snapshots
from ._sortedset import known

K = TypeVar("K")
F = TypeVar("F")
V = TypeVar("V")
D = TypeVar("D")
R = TypeVar("R")

Row: TypeAlias = Mapping[F, V] | Iterable[tuple[F, V]]

_TEXTS = ("str", "bytes")
_VALUES = ("str", "bytes", "int64", "float64")
_NOTHING: Any = object()  # no default was given


def _snapshot(data: Any) -> Any:
    """What is live as it is in one moment."""
    if isinstance(data, Hash):
        return data._atomically(data.to_dict)
    return data.to_dict() if isinstance(data, Record | HashTable) else data


def _fields(key: Any, record: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The fields and the values of a record, which an error names."""
    try:
        return _convert.split(_snapshot(record), "field, value")
    except TypeError as error:
        raise TypeError(f"record {key!r}: {error}") from error


def _compared(data: Any) -> Any:
    """A mapping as a dict; a record that is gone equals nothing."""
    if isinstance(data, Record):
        return data._now()
    data = _snapshot(data)
    return dict(data.items()) if isinstance(data, Mapping) else data


def _in_line(record: dict[Any, Any] | None) -> str:
    """A record as a dict shows itself, of a long one the first fields."""
    if record is None:
        return "gone"
    pairs = [f"{clipped(f)}: {clipped(v)}" for f, v in itertools.islice(record.items(), SHOWN)]
    more = ["..."] * (len(record) > SHOWN)
    return f"{{{', '.join([*pairs, *more])}}}"


def _column(values: Any, kind: str) -> Any:
    """Values of one kind as Names, or an array of int64 or float64."""
    if kind in _TEXTS:
        return _convert.names(values, kind, "value")
    numbers = _convert.numbers(values, kind)
    if not isinstance(numbers, tuple):
        return numbers
    array = np.empty(len(numbers), kind)
    fill = _core.fill_members if kind == "int64" else _core.fill_scores
    fill(numbers, array.itemsize, array)
    return array


def _values(name: Any, values: Any, kind: str) -> Any:
    """The column of a name, which errors tell."""
    try:
        return _column(values, kind)
    except REFUSALS as error:
        if type(error) not in REFUSALS:
            raise
        raise type(error)(f"column {name!r}: {error}") from error


def _column_name(field: Any) -> str:
    """The name of the column of a field; UnicodeDecodeError where it has none."""
    return field.decode() if isinstance(field, bytes) else str(field)


class Record(Merging, _core.Record[F, V], MutableMapping[F, V]):
    """Field -> value: a live view of one record of a HashTable, as `table[key]` gives it.

    It is a MutableMapping with the methods of a Hash. Whatever is done with it happens in the
    table; once the record is gone there, KeyError, until one of its key is put there again: only
    `get`, bool, `==` and repr take that for an answer. Copies and pickles of it are Hashes.
    A field is found in O(fields), and a call that sets or removes some is O(fields), in one piece.

    >>> import goblin
    >>> table = goblin.HashTable({"ann": {"elo": "1500", "won": "7"}})
    >>> ann = table["ann"]
    >>> ann["elo"] = "1516"
    >>> table["ann"].to_dict()
    {'elo': '1516', 'won': '7'}
    """

    __slots__ = ()

    def _entries(self) -> Iterator[tuple[F, V]]:
        """The pairs, as long as they stay; changes of other records don't matter."""
        stamp, record = self._table._atomically(self._stamped)
        if record is None:
            raise KeyError(self._key)
        for entry in record.items():
            yield entry
            if self._table._stamp != stamp:
                stamp, now = self._table._atomically(self._stamped)
                if now != record:
                    raise RuntimeError("Record changed during iteration")

    def _stamped(self) -> tuple[int, dict[F, V] | None]:
        gone = self._key not in self._table
        return self._table._stamp, None if gone else self.to_dict()

    def _now(self) -> dict[F, V] | None:
        """What it has, None where it is gone."""
        return self._table._atomically(self._stamped)[1]  # type: ignore[no-any-return]

    def _iterate(self, kind: str) -> Iterator[Any]:
        if kind == "items":
            return self._entries()
        return (entry[kind == "values"] for entry in self._entries())

    def __iter__(self) -> Iterator[F]:
        return self._iterate("keys")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        record = self._now()
        return record is not None and record == _compared(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        record = self._now()
        return f"{type(self).__name__}({clipped(self._key)}, {_in_line(record)})"

    def _repr_html_(self) -> str:
        """The first fields as a table for a notebook."""
        record = self._now()
        size = "gone" if record is None else shown_of(len(record), "field")
        caption = f"{type(self).__name__} {clipped(self._key)}: {size}"
        first = itertools.islice((record or {}).items(), SHOWN)
        rows = [(text_cell(field), text_cell(value)) for field, value in first]
        kinds = f"{self._table.field_dtype}-{self._table.value_dtype}"
        return html_table(caption, ("field", "value"), rows, kinds)

    def keys(self) -> _views.Fields[F]:
        """A live view of the fields. O(1), iteration O(fields).

        >>> import goblin
        >>> list(goblin.HashTable({"ann": {"elo": "1500"}})["ann"].keys())
        ['elo']
        """
        return _views.Fields(self)

    def values(self) -> _views.Values[V]:
        """A live view of the values. O(1), iteration O(fields).

        >>> import goblin
        >>> list(goblin.HashTable({"ann": {"elo": "1500"}})["ann"].values())
        ['1500']
        """
        return _views.Values(self)

    def items(self) -> _views.Entries[F, V]:
        """A live view of the (field, value) pairs. O(1), iteration O(fields).

        >>> import goblin
        >>> list(goblin.HashTable({"ann": {"elo": "1500"}})["ann"].items())
        [('elo', '1500')]
        """
        return _views.Entries(self)

    def copy(self) -> Hash[F, V]:
        """Copy the record into a Hash of its own. O(fields).

        >>> import goblin
        >>> goblin.HashTable({"ann": {"elo": "1500"}})["ann"].copy()["elo"]
        '1500'
        """
        return self._hash(self.to_dict())

    __copy__ = copy

    def __reduce__(self) -> tuple[Any, ...]:
        return self._maker(), (self.to_dict(),)

    def _maker(self) -> functools.partial[Hash[F, V]]:
        """Makes a Hash of the kinds that a record has."""
        return functools.partial(Hash, key=self._table.field_dtype, value=self._table.value_dtype)

    def _hash(self, data: Row[F, V] | None = None) -> Hash[F, V]:
        return self._maker()(data)

    def _rows(self, keys: Any, values: Any) -> tuple[_core.Names, Any]:
        return rows(keys, values, self._table.field_dtype, self._table.value_dtype)

    # What else a Hash knows, it does, with all of the fields.

    def _names(self, keys: Any) -> Any:
        """Fields, read before the table is held: that runs code which may wait or change it."""
        return _convert.names(keys, self._table.field_dtype)

    def _step(self, by: Any) -> float:
        """The same of what is added: it is what an absent value becomes."""
        if type(by) is int or type(by) is float:
            return by
        none: Hash[str, Any] = Hash(value=self._table.value_dtype)
        step: float = none.increment("", by)
        return step

    def _change(self, change: Callable[[Hash[F, V]], R]) -> R:
        """The record is replaced with a changed copy: all or nothing."""
        result: R = self._table._atomically(self._replace, change)
        return result

    def _replace(self, change: Callable[[Hash[F, V]], R]) -> R:
        record = self.copy()
        result = change(record)
        self._table.update({self._key: record})
        return result

    def update(  # type: ignore[override]
        self, data: Mapping[F, V] | Iterable[tuple[F, V]] = (), /, **fields: V
    ) -> None:
        """Set the fields of a mapping or of pairs, and keywords, all or nothing. O(fields).

        >>> import goblin
        >>> ann = goblin.HashTable({"ann": {"elo": "1500"}})["ann"]
        >>> ann.update({"elo": "1516", "won": "1"})
        >>> ann.to_dict()
        {'elo': '1516', 'won': '1'}
        """
        keys, values = _convert.split(_snapshot(data), "field, value")
        keys, values = (*keys, *fields), (*values, *fields.values())
        try:
            self._set_many(*self._rows(keys, values), "any")
        except REFUSALS:
            blame(zip(keys, values, strict=True), self._table.value_dtype)
            raise

    def clear(self) -> None:
        """Remove all fields; the record stays. O(fields).

        >>> import goblin
        >>> table = goblin.HashTable({"ann": {"elo": "1500"}})
        >>> table["ann"].clear()
        >>> table.to_dict()
        {'ann': {}}
        """
        self._change(lambda record: record.clear())

    def get_many(self, keys: Any, *, missing: Any = None) -> Any:
        """Give the values of many fields, as Hash.get_many does. O(fields + keys).

        >>> import goblin
        >>> goblin.HashTable({"ann": {"elo": "1500"}})["ann"].get_many(["elo", "won"])
        ['1500', None]
        """
        return self.copy().get_many(keys, missing=missing)

    def set_many(self, keys: Any, values: Any, *, only: Only = "any") -> int:
        """Set many fields, as Hash.set_many does; how many are new. O(fields + keys).

        >>> import goblin
        >>> ann = goblin.HashTable({"ann": {"elo": "1500"}})["ann"]
        >>> ann.set_many(["elo", "won"], ["1516", "1"])
        1
        """
        known(only, ONLY, "only")
        return self._set_many(*self._rows(keys, values), only)

    def pop_many(self, keys: Any) -> list[V | None]:
        """Remove many fields, as Hash.pop_many does; their values. O(fields + keys).

        >>> import goblin
        >>> goblin.HashTable({"ann": {"elo": "1500"}})["ann"].pop_many(["elo", "won"])
        ['1500', None]
        """
        names = self._names(keys)
        return self._change(lambda record: record.pop_many(names))

    def increment_many(self, keys: Any, by: Any = 1) -> None:
        """Add to the values of many fields, as Hash.increment_many does. O(fields + keys).

        >>> import goblin
        >>> ann = goblin.HashTable({"ann": {"elo": 1500}}, value="int64")["ann"]
        >>> ann.increment_many(["elo", "won", "won"], [16, 1, 1])
        >>> ann.to_dict()
        {'elo': 1516, 'won': 2}
        """
        names = self._names(keys)
        steps = _convert.steps(by, self._table.value_dtype)
        if isinstance(steps, tuple):
            steps = [self._step(step) for step in steps]
        elif not isinstance(steps, np.ndarray):
            steps = self._step(steps)
        self._change(lambda record: record.increment_many(names, steps))

    def sample(self, n: int) -> list[tuple[F, V]]:
        """Draw n distinct fields with their values. ValueError for more than there are. O(fields).

        >>> import goblin
        >>> goblin.HashTable({"ann": {"elo": "1500"}})["ann"].sample(1)
        [('elo', '1500')]
        """
        return self.copy().sample(n)

    def scan(self, match: F | None = None) -> Iterator[tuple[F, V]]:
        """Iterate over the (field, value) pairs, of now, whose fields match a glob. O(fields).

        >>> import goblin
        >>> list(goblin.HashTable({"ann": {"elo": "1500", "won": "1"}})["ann"].scan("e*"))
        [('elo', '1500')]
        """
        return self.copy().scan(match)


class HashTable(
    Frames, Merging, Snapshots, _core.HashTable[K, F, V], MutableMapping[K, Record[F, V]]
):
    """Record key -> record, a mapping of fields to values; all in a fraction of a dict of dicts.

    `data` is a mapping of mappings, pairs of a key and a record, another HashTable, or a frame with
    a column "key" and one for each field; a record may be pairs, too. `key` and `field` are "str"
    or "bytes", `value` these, "int64" or "float64". `table[key]` is a Record, a live view. The
    names of fields are kept once, and once for all records with the same fields which ones these
    are; texts that are decimal integers or UUIDs are stored in binary and come back as they were. A
    record of 32 texts of 16 bytes takes about 570 bytes.

    It is a MutableMapping; the order of iteration is unspecified, and any change of a record ends
    it with RuntimeError. TypeError, OverflowError or UnicodeEncodeError for what is no key, field
    or value, ValueError for NaN or an unknown option. Records are found, set and removed in O(1)
    and O(fields); each method is atomic, and a bulk call that raises has changed nothing.

    >>> import goblin
    >>> table = goblin.HashTable({"ann": {"elo": 1500}, "bob": {"elo": 1400, "won": 3}},
    ...                          value="int64")
    >>> table["ann"].increment("elo", 16)
    1516
    >>> dict(zip(table, table.column("elo").tolist()))
    {'ann': 1516, 'bob': 1400}
    """

    __slots__ = ()
    _has_nulls = True

    def __init__(
        self,
        data: Mapping[K, Row[F, V]] | Iterable[tuple[K, Row[F, V]]] | None = None,
        /,
        *,
        key: KeyKind = "str",
        field: KeyKind = "str",
        value: ValueKind = "str",
    ) -> None:
        fresh: HashTable[K, F, V] = HashTable.__new__(HashTable)._of_kinds(key, field, value)
        if data is not None:
            fresh.update(data)
        self._swap(fresh)

    def _of_kinds(self, key: str, field: str, value: str) -> Self:
        """The table itself, emptied."""
        known(key, _TEXTS, "key")
        known(field, _TEXTS, "field")
        known(value, _VALUES, "value")
        self._configure(key, field, value)
        return self

    @classmethod
    def from_arrays(
        cls,
        keys: ArrayLike | Iterable[K],
        columns: Mapping[F, ArrayLike | Iterable[V]],
        /,
        *,
        key: KeyKind = "str",
        field: KeyKind = "str",
        value: ValueKind = "str",
    ) -> Self:
        """Make records of one key and one value of each column, all of shape (n,).

        Columns are arrays, of numpy or Arrow, or iterables; of rows with the same key the last one
        stays. ValueError where lengths differ. O(n * columns).

        >>> import goblin
        >>> import numpy as np
        >>> table = goblin.HashTable.from_arrays(
        ...     ["ann", "bob"], {"elo": np.array([1500, 1400]), "won": [7, 3]}, value="int64")
        >>> table["bob"].to_dict()
        {'elo': 1400, 'won': 3}
        """
        table = cls.__new__(cls)._of_kinds(key, field, value)
        ids = _convert.names(keys, key)
        if not hasattr(columns, "keys"):
            raise TypeError(
                f"a mapping of columns is wanted, not {type(columns).__name__}; "
                "from_arrow takes tables of Arrow and polars"
            )
        fields = list(columns.keys())
        names = _convert.names(fields, field)
        values = ((_values(name, columns[name], value), None) for name in fields)
        table._take_rows(ids, names, tuple(values))
        return table

    @classmethod
    def from_arrow(cls, data: Any, key: str) -> Self:
        """Make records of the rows of an Arrow table or stream, whose column `key` has the keys.

        The other columns, all of text, of bytes, of integers or of integers and floats, are the
        fields; a null is a field that its record lacks. KeyError where there is no such column,
        TypeError for others, ValueError for a null among the keys. O(n * columns).

        >>> import goblin
        >>> import pyarrow
        >>> rows = pyarrow.table({"name": ["ann", "bob"], "elo": [1500, None], "won": [7, 3]})
        >>> goblin.HashTable.from_arrow(rows, "name").to_dict()
        {'ann': {'elo': 1500, 'won': 7}, 'bob': {'won': 3}}
        """
        columns = _table(data)
        if key not in columns:
            raise _arrow.no_column(key, columns)
        ids = columns.pop(key)
        kinds = {"key": _arrow_kind({key: ids}), "value": _arrow_kind(columns)}
        if kinds["key"] not in _TEXTS:
            raise TypeError(f"keys are text or bytes; column {key!r} is of {ids.kind}: cast it")
        table = cls.__new__(cls)._of_kinds(field="str", **kinds)
        table._take_columns(ids, columns)
        return table

    def _take_columns(self, ids: _core.ArrowColumn, columns: dict[str, _core.ArrowColumn]) -> None:
        """Sets a record of each row, whose nulls are no fields."""
        kind = self.field_dtype
        fields: Any = columns if kind == "str" else [name.encode() for name in columns]
        values = [_arrow_values(name, columns[name], self.value_dtype) for name in columns]
        self._take_rows(
            _convert.names(ids, self.key_dtype), _convert.names(list(fields), kind), tuple(values)
        )

    # ---- as a mapping

    def __getitem__(self, key: K) -> Record[F, V]:
        return Record(self, key)

    def __setitem__(self, key: K, record: Row[F, V]) -> None:
        self.update(((key, record),))

    def __delitem__(self, key: K) -> None:
        if not self._remove(key):
            raise KeyError(key)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        records = {key: _compared(record) for key, record in _snapshot(other).items()}
        return same(self.to_dict(), records)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({counted(len(self), 'record')}, {self._kinds()})"

    def _kinds(self) -> str:
        return f"{self.key_dtype}, {self.field_dtype}-{self.value_dtype}"

    def _repr_html_(self) -> str:
        """Some records as a table for a notebook, a column for each of their first fields."""
        return self._atomically(self._html)

    def _html(self) -> str:
        first = {key: self[key].to_dict() for key in itertools.islice(self, SHOWN)}
        fields = list(dict.fromkeys(itertools.chain.from_iterable(first.values())))
        shown = fields[:SHOWN]
        rows = [
            (text_cell(key), *(text_cell(record[f]) if f in record else Cell("") for f in shown))
            for key, record in first.items()
        ]
        more = len(fields) - len(shown)
        head = ("key", *(text_cell(field).text for field in shown))
        kinds = self._kinds() + (f", {more:,} more fields" if more else "")
        caption = f"{type(self).__name__}: {shown_of(len(self), 'record')}"
        return html_table(caption, head, rows, footer(kinds, self.memory()))

    @overload
    def get(self, key: object, default: None = None) -> Record[F, V] | None: ...
    @overload
    def get(self, key: object, default: D) -> Record[F, V] | D: ...
    def get(self, key: Any, default: Any = None) -> Any:
        """Return the record of a key, or default where there is none. O(1).

        >>> import goblin
        >>> goblin.HashTable().get("ann") is None
        True
        """
        try:
            return self[key]
        except KeyError:
            return default

    def keys(self) -> KeysView[K]:
        """A live view of the keys. O(1), iteration O(n).

        >>> import goblin
        >>> list(goblin.HashTable({"ann": {}}).keys())
        ['ann']
        """
        return KeysView(self)

    def values(self) -> ValuesView[Record[F, V]]:
        """A live view of the records. O(1), iteration O(n).

        >>> import goblin
        >>> [len(record) for record in goblin.HashTable({"ann": {"elo": "1500"}}).values()]
        [1]
        """
        return ValuesView(self)

    def items(self) -> ItemsView[K, Record[F, V]]:
        """A live view of the (key, record) pairs. O(1), iteration O(n).

        >>> import goblin
        >>> [(key, len(record)) for key, record in goblin.HashTable({"ann": {}}).items()]
        [('ann', 0)]
        """
        return ItemsView(self)

    @atomic
    def pop(self, key: object, default: Any = _NOTHING) -> Any:
        """Remove a record and return it as a Hash; default, or else KeyError, where it is absent.

        O(fields).

        >>> import goblin
        >>> table = goblin.HashTable({"ann": {"elo": "1500"}})
        >>> table.pop("ann").to_dict(), table.pop("ann", None)
        ({'elo': '1500'}, None)
        """
        record = self.get(key)
        if record is None:
            if default is _NOTHING:
                raise KeyError(key)
            return default
        kept = record.copy()
        self._remove(key)
        return kept

    @atomic
    def popitem(self) -> tuple[K, Hash[F, V]]:  # type: ignore[override]
        """Remove any record and return its key and a Hash; KeyError where there is none. O(fields).

        >>> import goblin
        >>> goblin.HashTable({"ann": {}}).popitem()[0]
        'ann'
        """
        key = self._any()
        return key, self.pop(key)

    def setdefault(self, key: K, default: Row[F, V]) -> Record[F, V]:
        """Return the record of a key, which becomes default first where there is none. O(fields).

        >>> import goblin
        >>> goblin.HashTable().setdefault("ann", {"elo": "1500"}).to_dict()
        {'elo': '1500'}
        """
        record = self.get(key)
        if record is None:
            columns = self._columns(((key, default),))
            record = self._atomically(self._setdefault, key, columns)
        return record

    def _setdefault(self, key: K, columns: tuple[Any, ...]) -> Record[F, V]:
        if key not in self:
            self._update(*columns)
        return self[key]

    def update(  # type: ignore[override]
        self, data: Mapping[K, Row[F, V]] | Iterable[tuple[K, Row[F, V]]] = (), /
    ) -> None:
        """Set records, each in place of the one of its key; all or nothing.

        `data` is a mapping of mappings or pairs of a key and a record, which may be pairs, too, or
        a frame as of `from_arrow` whose keys are in the column "key"; the last record of a key
        stays, and the last value of a field. O(n * fields).

        >>> import goblin
        >>> table = goblin.HashTable({"ann": {"elo": "1500"}})
        >>> table.update({"ann": {"won": "1"}, "bob": {}})
        >>> table.to_dict()
        {'ann': {'won': '1'}, 'bob': {}}
        """
        columns = _arrow.columns(data)
        if columns is None:
            self._update(*self._columns(data))
        elif "key" in columns:
            self._take_columns(columns.pop("key"), columns)
        else:
            raise TypeError("the frame has no column 'key'; from_arrow takes the name of another")

    def _columns(self, data: Any) -> tuple[_core.Names, NDArray[np.int64], _core.Names, Any]:
        """Records as keys, how many fields each has, and all their fields and values."""
        keys, records = _convert.split(_snapshot(data), "key, record")
        fields: list[Any] = []
        values: list[Any] = []
        counts = np.empty(len(keys), np.int64)
        for row, record in enumerate(records):
            of_record = _fields(keys[row], record)
            counts[row] = len(of_record[0])
            fields += of_record[0]
            values += of_record[1]
        ids, names = _convert.names(keys, self.key_dtype), _convert.names(fields, self.field_dtype)
        try:
            column = _column(values, self.value_dtype)
        except REFUSALS:
            places = itertools.chain.from_iterable(map(itertools.repeat, keys, counts.tolist()))
            cells = zip(places, fields, strict=True)
            blame(zip(cells, values, strict=True), self.value_dtype)
            raise
        return ids, counts, names, column

    # ---- copies

    def copy(self) -> Self:
        """Copy the table, with its kinds and, of a subclass, its attributes. O(n).

        >>> import goblin
        >>> table = goblin.HashTable({"ann": {"elo": "1500"}})
        >>> table.copy() == table, table.copy() is table
        (True, False)
        """
        return twin(self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return deep_twin(self, memo)

    # ---- the whole

    @atomic
    def column(self, field: F, *, missing: Any = None) -> NDArray[Any]:
        """Give the values of one field in all records, shape (n,), in the order of iteration.

        int64 and float64 arrays for these kinds, else objects; `missing` stands where a record
        lacks the field (None: -1, NaN, None), so everywhere for a field that none has: `fields()`
        lists those there are. O(n * fields), without a Python object per number.

        >>> import goblin
        >>> table = goblin.HashTable({"ann": {"elo": 1500}, "bob": {}}, value="int64")
        >>> table.column("elo"), table.column("elo", missing=0)
        (array([1500,   -1]), array([1500,    0]))
        """
        kind = self.value_dtype
        column: NDArray[Any] = np.empty(len(self), object if kind in _TEXTS else kind)
        if missing is None and kind not in _TEXTS:
            missing = -1 if kind == "int64" else math.nan
        self._column(field, column, missing)
        return column

    @atomic
    def _arrow_table(self) -> Table:
        names = self.fields()
        kinds = [self.key_dtype, *itertools.repeat(self.value_dtype, len(names))]
        columns = ["key", *(_column_name(name) for name in names)]
        if columns.count("key") > 1:
            raise ValueError("a field is named 'key', as the column of keys is")
        fields = tuple(map(_arrow.field, columns, kinds))
        part = max(_arrow.BATCH // len(columns), 1024), _convert.names(names, self.field_dtype)
        return fields, self._batches(self._version(), len(self), part)

    def _version(self) -> tuple[int, int]:
        """Records are where they were as long as it stays."""
        return self._stamp, self._epoch

    def _batches(
        self, version: tuple[int, int], left: int, part: tuple[int, _core.Names]
    ) -> Iterator[_arrow.Batch]:
        at = 0
        while left > 0:
            keys, columns, at = self._atomically(self._next_part, at, version, part)
            left -= len(keys)
            yield len(keys), ((keys, None, 0), *columns)

    def _next_part(
        self, at: int, version: tuple[int, int], part: tuple[int, _core.Names]
    ) -> tuple[_core.Names, Any, int]:
        if self._version() != version:
            raise RuntimeError("HashTable changed during iteration")
        return self._part(at, *part)

    @atomic
    def to_dict(self) -> dict[K, dict[F, V]]:
        """Copy all records into a dict of dicts. O(n * fields).

        >>> import goblin
        >>> goblin.HashTable({"ann": {"elo": "1500"}}).to_dict()
        {'ann': {'elo': '1500'}}
        """
        return {key: record.to_dict() for key, record in self.items()}

    @atomic
    def memory(self) -> HashTableMemory:
        """Report the bytes of each part, as the allocator counts them. O(shapes).

        >>> import goblin
        >>> goblin.HashTable({"ann": {"elo": "1500"}}).memory().per_record > 0
        True
        """
        parts = self._memory()
        total = sys.getsizeof(self)
        per_record = total / len(self) if len(self) else math.nan
        return HashTableMemory(*parts, total - sum(parts), total, per_record)


def _table(data: Any) -> dict[str, _core.ArrowColumn]:
    columns = _arrow.columns(data)
    if columns is None:
        lazy = "; collect() it first" if hasattr(data, "collect") else ""
        raise TypeError(f"an Arrow table or stream is wanted, not {type(data).__name__}{lazy}")
    return columns


def _arrow_kind(columns: Mapping[str, _core.ArrowColumn]) -> str:
    """The one kind of values that Arrow columns have; floats take integers along."""
    kinds = set()
    for column in columns.values():
        kind = column.kind
        if kind.startswith(("int", "uint", "float")):
            kinds.add("float64" if kind.startswith("float") else "int64")
        elif kind in _TEXTS:
            kinds.add(kind)
        elif kind != "null":
            raise TypeError(f"a column of type {kind} has no place in a HashTable")
    if kinds == {"int64", "float64"}:
        return "float64"
    if len(kinds) > 1:
        each = ", ".join(f"{name!r} of {column.kind}" for name, column in columns.items())
        raise TypeError(
            f"values are of one kind, columns of several: {each}; cast some or drop them"
        )
    return kinds.pop() if kinds else "str"


def _arrow_values(
    name: str, column: _core.ArrowColumn, kind: str
) -> tuple[Any, NDArray[np.bool_] | None]:
    """The values of a column, and which of them there are; errors tell its name."""
    try:
        if kind in _TEXTS:
            return column.texts(kind), column.valid()
        if column.kind == "null":
            return np.zeros(len(column), kind), column.valid()
        return _convert.numbers(column.numbers(True), kind), column.valid()
    except REFUSALS as error:
        if type(error) not in REFUSALS:
            raise
        hint = _convert.option_of_numbers(column, "value")
        raise type(error)(f"column {name!r}: {error}{hint}") from error


Record.__module__ = HashTable.__module__ = "goblin"
