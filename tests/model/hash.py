"""The specification of Hash and HashTable, in the slowest and plainest form that can be run.

A dict holds the values as they come back: str or bytes, int or float. How they are stored is
nobody's business here: `encoding` and `max_compact_fields` change no answer. Every operation works
on a copy of the dict and commits it at the end, which is what "all or nothing" means. What differs
from a dict: the order is unspecified, so that tests compare without it.
"""

from __future__ import annotations

import math
import operator
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

import numpy as np
from model.kinds import LIMITS, TEXT, array_of, listed, member_of
from model.redis_glob import matches
from model.sorted_set import ABSENT, known, not_negative

KEYS = ("str", "bytes")
VALUES = ("str", "bytes", "int64", "float64")
ONLY = ("any", "new", "existing")
LOWEST, HIGHEST = LIMITS["int64"]
INTEGER_TEXT = re.compile(r"0|-?[1-9][0-9]*")
# What strtod reads in the C locale, but for its infinities and NaNs: hexadecimal, too, as in Redis.
FLOAT_TEXTS = {
    r"[+-]?(?P<digits>[0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?": float,
    r"[+-]?0[xX](?P<digits>[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)([pP][+-]?[0-9]+)?": (
        float.fromhex
    ),
}


def number_of(value: Any) -> float:
    """A real number of any kind but NaN, as float64; never -0.0."""
    if isinstance(value, (*TEXT, memoryview)):
        raise TypeError("a text is no number")
    number = float(value)
    if math.isnan(number):
        raise ValueError("NaN is no value")
    return number + 0.0


def fits_int64(number: int) -> int:
    if not LOWEST <= number <= HIGHEST:
        raise OverflowError(f"{number} does not fit int64")
    return number


def step_of(by: Any, kind: str) -> int | float:
    """What an increment adds to values of a kind: an int of 64 bits, or a float."""
    if isinstance(by, bool | np.bool_):
        raise TypeError("a bool is no increment")
    if kind == "float64":
        return number_of(by)
    return fits_int64(operator.index(by)) if hasattr(type(by), "__index__") else number_of(by)


def float_sum(old: float, by: float) -> float:
    """A finite sum of finite numbers, never -0.0."""
    if not (math.isfinite(old) and math.isfinite(by)):
        raise ValueError("only finite numbers are incremented, and by finite ones")
    if not math.isfinite(old + by):
        raise OverflowError("the sum is out of the range of float64")
    return old + by + 0.0


def integer_in(text: str) -> int:
    """The int64 that a text is, written as %d prints it."""
    if not INTEGER_TEXT.fullmatch(text) or not LOWEST <= int(text) <= HIGHEST:
        raise ValueError(f"{text!r} is no integer of 64 bits")
    return int(text)


def float_in(text: str) -> float:
    """The number that a text is; neither too large nor too small for float64."""
    for pattern, read in FLOAT_TEXTS.items():
        if found := re.fullmatch(pattern, text):
            number = read(text)
            if math.isfinite(number) and (number or not found["digits"].strip("0.")):
                return number
    raise ValueError(f"{text!r} is no finite number")


def float_text(number: float) -> str:
    """The shortest text that reads back, without a trailing .0."""
    return repr(number).removesuffix(".0")


def numbers_in(values: Any) -> Iterable[Any]:
    """Numbers of a bulk call, of either kind; each is looked at by whoever takes it."""
    if isinstance(values, TEXT):
        raise TypeError("numbers are wanted, not one text")
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "iufO":
            raise TypeError(f"numbers can't be {values.dtype}")
        if values.ndim != 1:
            raise ValueError("numbers must be one-dimensional")
        return values.tolist()
    return values


class ModelHash:
    def __init__(
        self,
        data: Any = None,
        /,
        *,
        key: str = "str",
        value: str = "str",
        max_compact_fields: int | None = None,
        encoding: bool = True,
    ) -> None:
        known(key, KEYS, "key")
        known(value, VALUES, "value")
        if max_compact_fields is not None:
            not_negative(max_compact_fields, "max_compact_fields")
        self.key_dtype, self.value_dtype = key, value
        self._map: dict[Any, Any] = {}
        if data is not None:
            self.update(data)

    # ---- arguments

    def _key(self, value: Any) -> Any:
        return member_of(value, self.key_dtype)

    def _keys(self, values: Any) -> list[Any]:
        return [self._key(value) for value in listed(values, self.key_dtype)]

    def _find(self, value: Any) -> Any:
        """The key, or None for what can't be one: look-ups call it absent."""
        try:
            return self._key(value)
        except (TypeError, ValueError):
            return None

    def _value(self, value: Any) -> Any:
        if self.value_dtype == "float64":
            return number_of(value)
        return member_of(value, self.value_dtype)

    def _values(self, values: Any) -> list[Any]:
        if self.value_dtype == "float64":
            return [number_of(value) for value in numbers_in(values)]
        return [self._value(value) for value in listed(values, self.value_dtype)]

    def _pairs(self, data: Any) -> list[tuple[Any, Any]]:
        if isinstance(data, TEXT):
            raise TypeError("pairs are wanted, not one text")
        pairs = data.items() if isinstance(data, Mapping | ModelHash) else data
        return [(self._key(key), self._value(value)) for key, value in pairs]

    def _steps(self, by: Any, count: int) -> list[int | float]:
        """`count` increments; one stands for all."""
        many = isinstance(by, Iterable)
        steps = [step_of(step, self.value_dtype) for step in (numbers_in(by) if many else [by])]
        steps = steps if many else steps * count
        if len(steps) != count:
            raise ValueError("keys and increments differ in length")
        return steps

    # ---- mapping

    def __len__(self) -> int:
        return len(self._map)

    def __contains__(self, key: Any) -> bool:
        return self._find(key) in self._map

    def __iter__(self) -> Iterator[Any]:
        return iter(self._map)

    def __getitem__(self, key: Any) -> Any:
        found = self._find(key)
        if found not in self._map:
            raise KeyError(key)
        return self._map[found]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._map = {**self._map, self._key(key): self._value(value)}

    def __delitem__(self, key: Any) -> None:
        self.pop(key)

    def __eq__(self, other: object) -> bool:
        return self._map == (other._map if isinstance(other, ModelHash) else other)

    __hash__ = None  # type: ignore[assignment]

    def get(self, key: Any, default: Any = None) -> Any:
        return self._map.get(self._find(key), default)

    def keys(self) -> Any:
        return self._map.keys()

    def values(self) -> Any:
        return self._map.values()

    def items(self) -> Any:
        return self._map.items()

    def pop(self, key: Any, default: Any = ABSENT) -> Any:
        if key not in self:
            if default is ABSENT:
                raise KeyError(key)
            return default
        return self.pop_many([key])[0]

    def popitem(self) -> tuple[Any, Any]:
        """Any one of them."""
        if not self._map:
            raise KeyError("the hash is empty")
        key = next(iter(self._map))
        return key, self.pop(key)

    def setdefault(self, key: Any, default: Any) -> Any:
        self.set_many([key], [default], only="new")
        return self[key]

    def update(self, data: Any = (), /) -> None:
        self._map = {**self._map, **dict(self._pairs(data))}

    def clear(self) -> None:
        self._map = {}

    def copy(self) -> ModelHash:
        return ModelHash(self, key=self.key_dtype, value=self.value_dtype)

    # ---- many keys

    def get_many(self, keys: Any, *, missing: Any = None) -> Any:
        """Texts as a list; numbers as an array, where nothing else is said NaN or -1 if absent."""
        keys = self._keys(keys)
        if self.value_dtype in KEYS:
            return [self._map.get(key, missing) for key in keys]
        absent = self._absent(missing)
        return np.array([self._map.get(key, absent) for key in keys], dtype=self.value_dtype)

    def _absent(self, missing: Any) -> Any:
        if self.value_dtype == "int64":
            return -1 if missing is None else self._value(missing)
        if isinstance(missing, TEXT):
            raise TypeError("a text is no number")
        return math.nan if missing is None else float(missing)

    def set_many(self, keys: Any, values: Any, *, only: str = "any") -> int:
        """How many keys are new."""
        known(only, ONLY, "only")
        keys, new = self._keys(keys), dict(self._map)
        if self.value_dtype not in KEYS and not isinstance(values, Iterable):
            values = [values] * len(keys)
        values = self._values(values)
        if len(keys) != len(values):
            raise ValueError("keys and values differ in length")
        for key, value in zip(keys, values, strict=True):
            if only == "any" or (key in new) == (only == "existing"):
                new[key] = value
        added = len(new) - len(self._map)
        self._map = new
        return added

    def pop_many(self, keys: Any) -> list[Any]:
        keys, new = self._keys(keys), dict(self._map)
        values = [new.pop(key, None) for key in keys]
        self._map = new
        return values

    def increment(self, key: Any, by: Any = 1) -> int | float:
        new = dict(self._map)
        after = self._add(new, self._key(key), step_of(by, self.value_dtype))
        self._map = new
        return after

    def increment_many(self, keys: Any, by: Any = 1) -> None:
        keys, new = self._keys(keys), dict(self._map)
        for key, step in zip(keys, self._steps(by, len(keys)), strict=True):
            self._add(new, key, step)
        self._map = new

    def _add(self, new: dict[Any, Any], key: Any, by: int | float) -> int | float:
        """Adds to one value, by the rules of its kind; absent ones count as 0."""
        if self.value_dtype == "int64":
            if isinstance(by, float):
                raise TypeError("integers are incremented by integers")
            new[key] = fits_int64(new.get(key, 0) + by)
            return new[key]
        if self.value_dtype == "float64":
            new[key] = float_sum(new.get(key, 0.0), by)
            return new[key]
        old = new.get(key, "0")
        text = old.decode("latin-1") if isinstance(old, bytes) else old
        if isinstance(by, int):
            after: int | float = fits_int64(integer_in(text) + by)
            changed = str(after)
        else:
            after = float_sum(float_in(text), by)
            changed = float_text(after)
        new[key] = changed if self.value_dtype == "str" else changed.encode()
        return after

    # ---- the whole

    def sample(self, n: int) -> list[tuple[Any, Any]]:
        """Any n of them, each once."""
        if not_negative(n, "n") > len(self._map):
            raise ValueError(f"{n} of {len(self._map)} fields are wanted")
        return random.sample(list(self._map.items()), n)

    def scan(self, match: Any = None) -> Iterator[tuple[Any, Any]]:
        if match is None:
            return iter(self._map.items())
        pattern = self._key(match)
        return iter([(key, value) for key, value in self._map.items() if matches(pattern, key)])

    def optimize(self) -> None:
        pass

    def to_dict(self) -> dict[Any, Any]:
        return dict(self._map)

    def to_numpy(self) -> tuple[np.ndarray, np.ndarray]:
        kind = "bytes" if self.value_dtype in KEYS else self.value_dtype
        keys, values = list(self._map), list(self._map.values())
        if kind == "float64":
            return array_of(keys, "bytes"), np.array(values, dtype=np.float64)
        return array_of(keys, "bytes"), array_of(values, kind)


class ModelRecord(ModelHash):
    """A record of a table, looked up anew at each call: live while its key is there."""

    def __init__(self, table: ModelHashTable, key: Any) -> None:
        self._table, self._place = table, key
        self.key_dtype, self.value_dtype = table.field_dtype, table.value_dtype

    @property
    def _map(self) -> dict[Any, Any]:
        return self._table._records[self._place]

    @_map.setter
    def _map(self, new: dict[Any, Any]) -> None:
        if self._place not in self._table._records:
            raise KeyError(self._place)
        self._table._records[self._place] = new

    def __bool__(self) -> bool:
        return bool(self._table._records.get(self._place))

    def __eq__(self, other: object) -> bool:
        return self._place in self._table._records and super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key, default) if self._place in self._table._records else default


class ModelHashTable:
    def __init__(
        self, data: Any = None, /, *, key: str = "str", field: str = "str", value: str = "str"
    ) -> None:
        known(key, KEYS, "key")
        known(field, KEYS, "field")
        known(value, VALUES, "value")
        self.key_dtype, self.field_dtype, self.value_dtype = key, field, value
        self._records: dict[Any, dict[Any, Any]] = {}
        if data is not None:
            self.update(data)

    @classmethod
    def from_arrays(cls, keys: Any, columns: Mapping[Any, Any], /, **kinds: str) -> Self:
        """One row per key; of rows with the same key the last one stays."""
        table = cls(**kinds)
        record = table._new()
        keys = [table._key(key) for key in listed(keys, table.key_dtype)]
        table._records = {key: {} for key in keys}
        for field, values in columns.items():
            field, values = record._key(field), record._values(values)
            if len(values) != len(keys):
                raise ValueError("the columns and the keys differ in length")
            for key, value in zip(keys, values, strict=True):
                table._records[key][field] = value
        return table

    # ---- arguments

    def _new(self) -> ModelHash:
        return ModelHash(key=self.field_dtype, value=self.value_dtype)

    def _key(self, value: Any) -> Any:
        return member_of(value, self.key_dtype)

    def _find(self, value: Any) -> Any:
        try:
            return self._key(value)
        except (TypeError, ValueError):
            return None

    def _record(self, data: Any) -> dict[Any, Any]:
        record = self._new()
        record.update(data)
        return record._map

    # ---- mapping

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, key: Any) -> bool:
        return self._find(key) in self._records

    def __iter__(self) -> Iterator[Any]:
        return iter(self._records)

    def __getitem__(self, key: Any) -> ModelRecord:
        if key not in self:
            raise KeyError(key)
        return ModelRecord(self, self._key(key))

    def __setitem__(self, key: Any, data: Any) -> None:
        self.update({key: data})

    def __delitem__(self, key: Any) -> None:
        if key not in self:
            raise KeyError(key)
        del self._records[self._key(key)]

    def __eq__(self, other: object) -> bool:
        return self._records == (other._records if isinstance(other, ModelHashTable) else other)

    __hash__ = None  # type: ignore[assignment]

    def get(self, key: Any, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def keys(self) -> Any:
        return self._records.keys()

    def values(self) -> list[ModelRecord]:
        return [self[key] for key in self]

    def items(self) -> list[tuple[Any, ModelRecord]]:
        return [(key, self[key]) for key in self]

    def pop(self, key: Any, default: Any = ABSENT) -> Any:
        """The record itself, no view: it lives on."""
        if key not in self:
            if default is ABSENT:
                raise KeyError(key)
            return default
        record = self[key].copy()
        del self[key]
        return record

    def popitem(self) -> tuple[Any, ModelHash]:
        if not self._records:
            raise KeyError("the table is empty")
        key = next(iter(self))
        return key, self.pop(key)

    def setdefault(self, key: Any, default: Any) -> ModelRecord:
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, data: Any = (), /) -> None:
        """Each record replaces the one of its key."""
        if isinstance(data, TEXT):
            raise TypeError("records are wanted, not one text")
        pairs = data.items() if isinstance(data, Mapping | ModelHashTable) else data
        new = {self._key(key): self._record(record) for key, record in pairs}
        self._records = {**self._records, **new}

    def clear(self) -> None:
        self._records = {}

    def copy(self) -> ModelHashTable:
        kinds = {"key": self.key_dtype, "field": self.field_dtype, "value": self.value_dtype}
        return ModelHashTable(self, **kinds)

    # ---- the whole

    def column(self, field: Any, *, missing: Any = None) -> np.ndarray:
        """The values of one field, in the order of iteration: objects, or numbers."""
        field = self._new()._key(field)
        values = [record.get_many([field], missing=missing)[0] for record in self.values()]
        if self.value_dtype in KEYS:
            return array_of(values, "bytes")
        return np.array(values, dtype=self.value_dtype)

    def optimize(self) -> None:
        pass
