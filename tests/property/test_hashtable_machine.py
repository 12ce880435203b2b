"""Every public operation on the model and on a HashTable, whether records share fields or not."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hash_machine import HashMachine
from hash_strategies import keys, steps, values
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from model.compare import assert_same
from model.hash import ONLY, ModelHashTable
from model.hash_checks import Kind, assert_memory, assert_records

from goblin import HashTable

pytestmark = pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")

KINDS = [
    {"key": "str", "field": "str", "value": "str"},
    {"key": "bytes", "field": "bytes", "value": "bytes"},
    {"key": "str", "field": "bytes", "value": "int64"},
    {"key": "bytes", "field": "str", "value": "float64"},
]
MOST_RECORDS = 3000
TEXT = Kind("str", "str")


@given(st.data(), st.integers(0, 6), st.integers(0, 30))
def test_a_table_is_a_dict_of_hashes(data: Any, fields: int, rows: int) -> None:
    names = [f"f{i}" for i in range(fields)]
    columns = {
        name: data.draw(st.lists(values(TEXT), min_size=rows, max_size=rows)) for name in names
    }
    ids = [f"r{i}" for i in range(rows)]
    table = HashTable.from_arrays(
        ids, {name: np.array(column, "T") for name, column in columns.items()}
    )
    assert table == {key: {name: columns[name][i] for name in names} for i, key in enumerate(ids)}
    for name, column in columns.items():
        assert dict(zip(table, table.column(name), strict=True)) == dict(
            zip(ids, column, strict=True)
        )
    assert HashTable(table) == table
    assert table.column("other").tolist() == [None] * rows


def make_machine(kinds: dict[str, str]) -> type[RuleBasedStateMachine]:
    kind = Kind(kinds["field"], kinds["value"])
    records = Kind(kinds["key"], "str")
    few_keys = st.one_of(st.integers(0, 9).map(lambda i: records.key_of(f"r{i}")), keys(records))
    few_fields = st.one_of(st.integers(0, 5).map(lambda i: kind.key_of(f"f{i}")), keys(kind))
    value = values(kind)
    # Three shapes that come again and again, and any others.
    shaped = st.integers(0, 2).flatmap(
        lambda n: st.fixed_dictionaries({kind.key_of(f"f{i}"): value for i in range(n * 2)})
    )
    record = st.one_of(shaped, shaped, st.dictionaries(few_fields, value, max_size=9))

    class HashTableMachine(HashMachine):
        assert_content = staticmethod(assert_records)

        def __init__(self) -> None:
            super().__init__()
            self.model, self.real = ModelHashTable(**kinds), HashTable(**kinds)

        # ---- records

        @rule(k=few_keys, data=record)
        def set_record(self, k: Any, data: dict[Any, Any]) -> None:
            self.both(lambda t: t.__setitem__(k, data))

        @rule(data=st.dictionaries(few_keys, record, max_size=6), as_pairs=st.booleans())
        def update(self, data: dict[Any, Any], as_pairs: bool) -> None:
            self.both(lambda t: t.update(list(data.items()) if as_pairs else data))

        @rule(k=few_keys, data=record, bad=st.sampled_from([None, "\ud800", [], 1j]))
        def update_with_a_stranger(self, k: Any, data: dict[Any, Any], bad: Any) -> None:
            f = kind.key_of("f0")
            self.both(lambda t: t.update([(k, data), (k, {f: bad})]))
            self.both(lambda t: t.update([(k, data), (bad, {})]) if bad != [] else None)

        @precondition(lambda self: len(self.model) < MOST_RECORDS)
        @rule(
            start=st.integers(0, 40),
            count=st.sampled_from([1, 20, 257, 1000]),
            fields=st.integers(0, 8),
        )
        def update_a_run(self, start: int, count: int, fields: int) -> None:
            data = {
                records.key_of(f"r{i}"): {
                    kind.key_of(f"f{n}"): kind.value_of(i + n) for n in range(fields)
                }
                for i in range(start, start + count)
            }
            self.both(lambda t: t.update(data))

        @rule(k=few_keys)
        def del_record(self, k: Any) -> None:
            self.both(lambda t: t.__delitem__(k))

        @rule(k=few_keys)
        def pop(self, k: Any) -> None:
            self.both(lambda t: sorted(t.pop(k).items()))
            self.both(lambda t: t.pop(k, None))

        @rule()
        def popitem(self) -> None:
            if not len(self.model):
                self.both(lambda t: t.popitem())
                return
            k, popped = self.real.popitem()
            assert_same(sorted(self.model.pop(k).items()), sorted(popped.items()))

        @rule(k=few_keys)
        def popitem_of_a_record(self, k: Any) -> None:
            if k not in self.model or not len(self.model[k]):
                self.both(lambda t: t[k].popitem())
                return
            f, v = self.real[k].popitem()
            assert_same(self.model[k].pop(f), v)

        @rule(k=few_keys, data=record)
        def setdefault(self, k: Any, data: dict[Any, Any]) -> None:
            self.both(lambda t: sorted(t.setdefault(k, data).items()))

        @rule()
        def clear(self) -> None:
            self.both(lambda t: t.clear())

        @rule()
        def optimize(self) -> None:
            self.both(lambda t: t.optimize())

        # ---- fields of a record: an absent record is a KeyError

        @rule(k=few_keys, f=few_fields, v=value)
        def set_field(self, k: Any, f: Any, v: Any) -> None:
            self.both(lambda t: t[k].__setitem__(f, v))

        @rule(k=few_keys, f=few_fields)
        def del_field(self, k: Any, f: Any) -> None:
            self.both(lambda t: t[k].__delitem__(f))

        @rule(k=few_keys, f=few_fields, by=steps())
        def increment_field(self, k: Any, f: Any, by: Any) -> None:
            self.both(lambda t: t[k].increment(f, by))
            self.both(lambda t: t[k].increment_many([f, f], by))

        @rule(k=few_keys, data=record, only=st.sampled_from(ONLY))
        def set_fields(self, k: Any, data: dict[Any, Any], only: str) -> None:
            self.both(lambda t: t[k].set_many(list(data), list(data.values()), only=only))
            self.both(lambda t: t[k].update(data))

        @rule(k=few_keys, fs=st.lists(few_fields, max_size=6))
        def pop_fields(self, k: Any, fs: list[Any]) -> None:
            self.both(lambda t: t[k].get_many(fs))
            self.both(lambda t: t[k].pop_many(fs))

        @rule(k=few_keys)
        def clear_record(self, k: Any) -> None:
            self.both(lambda t: t[k].clear())

        @rule(k=few_keys, data=record)
        def a_view_follows_its_record(self, k: Any, data: dict[Any, Any]) -> None:
            self.both(lambda t: t.__setitem__(k, {}))
            if k not in self.model:
                return  # for want of memory
            views = self.model[k], self.real[k]
            self.both(lambda t: t.__setitem__(k, data))
            assert dict(views[1].items()) == dict(views[0].items())
            self.both(lambda t: t.__delitem__(k))
            for view in views if k not in self.model else ():
                with pytest.raises(KeyError):
                    view[kind.key_of("f0")]

        # ---- reads

        @rule(f=few_fields, missing=st.sampled_from([None, 7]))
        def column(self, f: Any, missing: Any) -> None:
            def rows(t: Any) -> Any:
                column = t.column(f, missing=missing)
                pairs = zip(t, map(repr, column.tolist()), strict=True)
                return column.dtype, sorted(pairs)

            self.both(rows)

        @rule(x=st.sampled_from([None, 1, "\ud800", b"\xff", "r1", b"r1", (), []]))
        def look_up_what_may_be_no_key(self, x: Any) -> None:
            self.both(lambda t: x in t)
            self.both(lambda t: len(t[x]))
            self.both(lambda t: t.get(x) is None)
            self.both(lambda t: t.__delitem__(x))

        @rule(
            how=st.sampled_from(["method", "copy", "deepcopy", "pickle", "constructor"]), k=few_keys
        )
        def go_on_with_a_copy(self, how: str, k: Any) -> None:
            old = self.real
            self.real = {
                "method": lambda: old.copy(),
                "copy": lambda: copy.copy(old),
                "deepcopy": lambda: copy.deepcopy(old),
                "pickle": lambda: pickle.loads(pickle.dumps(old)),
                "constructor": lambda: HashTable(old, **kinds),
            }[how]()
            assert self.real == old
            old[k] = {kind.key_of("only in the old one"): kind.value_of(1)}
            assert self.real != old
            old._validate()

        # ---- snapshots

        @rule(go_on=st.booleans(), k=few_keys, data=record)
        def map_a_snapshot(self, go_on: bool, k: Any, data: dict[Any, Any]) -> None:
            mapped = self.mapped()
            with pytest.raises(ValueError, match="mapped"):
                mapped[k] = data
            assert_records(self.model, mapped)
            assert_memory(mapped)
            if go_on:
                self.real = mapped.copy()

        @rule()
        def the_same_content_gives_the_same_bytes(self) -> None:
            made = HashTable([(k, dict(r.items())) for k, r in self.model.items()], **kinds)
            for t in (self.real, made):
                t.optimize()
            assert self.real.to_bytes() == made.to_bytes()

        @precondition(lambda self: len(self.model) > 1)
        @rule(k=few_keys, removes=st.booleans())
        def iterators_notice_changes(self, k: Any, removes: bool) -> None:
            running = iter(self.real)
            next(running)
            changes = (k in self.model) == removes
            for t in (self.model, self.real):
                t.pop(k, None) if removes else t.setdefault(k, {})
            if changes:
                with pytest.raises(RuntimeError):
                    next(running)
            else:
                assert len([*running]) == len(self.model) - 1

        @rule()
        def compare_everything(self) -> None:
            assert_records(self.model, self.real)
            assert self.real == {k: dict(record.items()) for k, record in self.model.items()}

        # ---- what always holds

        @invariant()
        def is_sound(self) -> None:
            self.real._validate()
            assert_same(len(self.model), len(self.real))
            assert_memory(self.real)

        def teardown(self) -> None:
            assert_records(self.model, self.real)

    return HashTableMachine


for kinds in KINDS:
    case = make_machine(kinds).TestCase
    case.__name__ = case.__qualname__ = "TestMachine_" + "_".join(kinds.values())
    globals()[case.__name__] = case
del case
