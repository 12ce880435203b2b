"""Every public operation on the model and on a Hash, in any order Hypothesis thinks of."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hash_machine import HashMachine
from hash_strategies import NUMBER_TEXTS, PATTERNS, keys, runs, steps, values
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from model.compare import assert_same, outcome
from model.forms import FORMS, in_form
from model.hash import ONLY, ModelHash
from model.hash_checks import ALL_FORMS, ALL_KINDS, Kind, assert_content, assert_memory, objects
from model.layouts import Layout

from goblin import Hash

pytestmark = pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")

MOST_FIELDS = 6000
TYPES = {"str": str, "bytes": bytes, "int64": int}
NUMBER_FORMS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "object": objects,
    "array": lambda numbers: np.array(numbers, dtype=np.float64),
    "strided": lambda numbers: np.repeat(np.array(numbers, dtype=">f8")[::-1], 2)[::-2],
}
STRANGERS = st.sampled_from(
    [None, 1, 1.5, True, (), [], 2**70, np.int16(5), np.float32(0.1), float("nan"), UUID(int=0),
     "\ud800", "a\udc80", "", b"", "field:1", b"field:1", b"\xff", bytearray(b"field:2"),
     memoryview(b"field:3"), np.str_("field:4"), np.bytes_(b"field:5"), np.array(["a", "b"])]
)  # fmt: skip


def forms_of(kind: str) -> list[str]:
    return list(NUMBER_FORMS if kind == "float64" else FORMS[TYPES[kind]])


def in_form_of(kind: str, form: str, items: list[Any]) -> Any:
    """Keys or values in one of the shapes that bulk calls take."""
    if kind == "float64":
        return NUMBER_FORMS[form](items)
    return in_form(Layout(kind, "float64"), form, items)


def make_machine(kind: Kind) -> type[RuleBasedStateMachine]:
    key, value, run = keys(kind), values(kind), runs()
    some_keys = st.lists(key, max_size=12)
    pairs = st.lists(st.tuples(key, value), max_size=12)
    key_forms, value_forms = (st.sampled_from(forms_of(name)) for name in kind)
    numbers = [text if kind.value == "str" else text.encode() for text in NUMBER_TEXTS]

    class Machine(HashMachine):
        assert_content = staticmethod(assert_content)

        @initialize(form=st.sampled_from(ALL_FORMS))
        def start(self, form: dict[str, Any]) -> None:
            self.model, self.real = ModelHash(**kind.options), Hash(**kind.options, **form)
            self.form, self.fail_at = form, 0

        # ---- writes of one field

        @rule(k=key, v=value)
        def set_item(self, k: Any, v: Any) -> None:
            self.both(lambda h: h.__setitem__(k, v))

        @precondition(lambda self: len(self.model))
        @rule(place=st.integers(0, 99), v=value)
        def set_one_that_is_there(self, place: int, v: Any) -> None:
            listed = list(self.model)
            k = listed[place % len(listed)]
            self.both(lambda h: h.__setitem__(k, v))

        @rule(k=key)
        def del_item(self, k: Any) -> None:
            self.both(lambda h: h.__delitem__(k))

        @rule(k=key, default=st.sampled_from([(), (None,), ("none",)]))
        def pop(self, k: Any, default: tuple[Any, ...]) -> None:
            self.both(lambda h: h.pop(k, *default))

        @rule(k=key, v=value)
        def setdefault(self, k: Any, v: Any) -> None:
            self.both(lambda h: h.setdefault(k, v))

        @rule()
        def popitem(self) -> None:
            if not len(self.model):
                self.both(lambda h: h.popitem())
                return
            k, v = self.real.popitem()
            assert_same(self.model.pop(k), v)

        @rule(k=key, by=steps())
        def increment(self, k: Any, by: Any) -> None:
            self.both(lambda h: h.increment(k, by))

        @precondition(lambda _: kind.value in ("str", "bytes"))
        @rule(k=key, old=st.sampled_from(numbers), by=steps())
        def increment_a_number(self, k: Any, old: Any, by: Any) -> None:
            self.both(lambda h: h.__setitem__(k, old))
            self.both(lambda h: h.increment(k, by))

        # ---- writes of many

        @rule(data=pairs, form=st.sampled_from(["pairs", "mapping", "generator", "hash"]))
        def update(self, data: list[Any], form: str) -> None:
            def given(h: Any) -> Any:
                if form == "hash":
                    return type(h)(data, **kind.options)
                return {"pairs": data, "mapping": dict(data), "generator": iter(data)}[form]

            self.both(lambda h: h.update(given(h)))

        @rule(
            data=pairs,
            key_form=key_forms,
            value_form=value_forms,
            only=st.sampled_from([*ONLY, "any"]),
        )
        def set_many(self, data: list[Any], key_form: str, value_form: str, only: str) -> None:
            self.both(
                lambda h: h.set_many(
                    in_form_of(kind.key, key_form, [k for k, _ in data]),
                    in_form_of(kind.value, value_form, [v for _, v in data]),
                    only=only,
                )
            )

        @precondition(lambda self: len(self.model) < MOST_FIELDS)
        @rule(many=run, only=st.sampled_from([*ONLY, "any", "any"]))
        def set_a_run(self, many: Any, only: str) -> None:
            ks, vs = zip(*many.pairs(kind), strict=True)
            self.both(lambda h: h.set_many(list(ks), list(vs), only=only))

        @rule(data=pairs, bad=STRANGERS, place=st.integers(0, 12), as_key=st.booleans())
        def set_many_with_a_stranger(self, data: Any, bad: Any, place: int, as_key: bool) -> None:
            ks, vs = [k for k, _ in data], [v for _, v in data]
            ks.insert(place, bad if as_key else kind.key_of("field:1"))
            vs.insert(place, kind.value_of(1) if as_key else bad)
            self.both(lambda h: h.set_many(ks, vs))

        @rule(ks=some_keys, form=key_forms)
        def pop_many(self, ks: list[Any], form: str) -> None:
            self.both(lambda h: h.pop_many(in_form_of(kind.key, form, ks)))

        @rule(many=run)
        def pop_a_run(self, many: Any) -> None:
            self.both(lambda h: h.pop_many([k for k, _ in many.pairs(kind)]))

        @rule(left=st.sampled_from([0, 1, 4, 5, 6, 16, 64]))
        def become_small(self, left: int) -> None:
            gone = list(self.model)[left:]
            self.both(lambda h: h.pop_many(gone))

        @rule(ks=some_keys, form=key_forms, data=st.data())
        def increment_many(self, ks: list[Any], form: str, data: Any) -> None:
            by = data.draw(
                st.one_of(steps(), st.lists(steps(), min_size=len(ks), max_size=len(ks)))
            )
            self.both(lambda h: h.increment_many(in_form_of(kind.key, form, ks), by))

        @precondition(lambda self: len(self.model) < MOST_FIELDS and kind.value[-2:] == "64")
        @rule(many=run, twice=st.booleans(), ints=st.booleans())
        def increment_a_run(self, many: Any, twice: bool, ints: bool) -> None:
            ks = [k for k, _ in many.pairs(kind)] * (1 + twice)
            by = np.arange(len(ks), dtype=np.int32 if ints else np.float64)
            self.both(lambda h: h.increment_many(ks, by))

        @rule()
        def clear(self) -> None:
            self.both(lambda h: h.clear())
            assert self.real.is_compact == (self.form["max_compact_fields"] != 0)

        @rule()
        def optimize(self) -> None:
            self.both(lambda h: h.optimize())

        # ---- copies

        @rule(
            how=st.sampled_from(["method", "copy", "deepcopy", "pickle", "constructor"]),
            k=key,
            v=value,
        )
        def go_on_with_a_copy(self, how: str, k: Any, v: Any) -> None:
            old = self.real
            self.real = {
                "method": lambda: old.copy(),
                "copy": lambda: copy.copy(old),
                "deepcopy": lambda: copy.deepcopy(old),
                "pickle": lambda: pickle.loads(pickle.dumps(old)),
                "constructor": lambda: Hash(old, **kind.options, **self.form),
            }[how]()
            assert self.real == old
            old[k] = v
            old.pop_many(list(self.model)[::2])
            old._validate()

        # ---- snapshots

        @rule(go_on=st.booleans(), k=key, v=value)
        def map_a_snapshot(self, go_on: bool, k: Any, v: Any) -> None:
            mapped = self.mapped()
            with pytest.raises(ValueError, match="mapped"):
                mapped[k] = v
            assert_content(self.model, mapped)
            assert_memory(mapped)
            if go_on:
                self.real = mapped.copy()

        @rule()
        def the_same_content_gives_the_same_bytes(self) -> None:
            made = Hash(sorted(self.model.items()), **kind.options, **self.form)
            for h in (self.real, made):
                h.optimize()
            assert self.real.to_bytes() == made.to_bytes()

        # ---- reads

        @rule(x=STRANGERS)
        def look_up_what_may_be_no_key(self, x: Any) -> None:
            self.both(lambda h: x in h)
            self.both(lambda h: h.get(x))
            self.both(lambda h: h[x])
            self.both(lambda h: h.pop(x, None))

        @rule(x=STRANGERS, k=key, v=value)
        def write_what_may_be_neither(self, x: Any, k: Any, v: Any) -> None:
            self.both(lambda h: h.__setitem__(x, v))
            self.both(lambda h: h.__setitem__(k, x))
            self.both(lambda h: h.increment(x))
            self.both(lambda h: h.pop_many([k, x]))

        @rule(k=key)
        def look_up(self, k: Any) -> None:
            self.both(lambda h: k in h)
            self.both(lambda h: h.get(k))
            self.both(lambda h: h[k])

        @rule(
            ks=some_keys,
            form=key_forms,
            place=st.integers(0, 5000),
            missing=st.sampled_from([None, 7, -0.5, "none"]),
        )
        def get_many(self, ks: list[Any], form: str, place: int, missing: Any) -> None:
            ks = ks + list(self.model)[place : place + 3]
            self.both(lambda h: h.get_many(in_form_of(kind.key, form, ks), missing=missing))

        @rule(many=run)
        def get_a_run(self, many: Any) -> None:
            self.both(lambda h: h.get_many([k for k, _ in many.pairs(kind)]))

        @rule(pattern=st.one_of(st.none(), st.sampled_from(PATTERNS).map(kind.key_of), key))
        def scan(self, pattern: Any) -> None:
            self.both(lambda h: sorted(h.scan(pattern)))

        @rule(n=st.integers(-1, 20))
        def sample(self, n: int) -> None:
            chosen, error = outcome(lambda: self.real.sample(n))
            if error is not None:
                assert isinstance(error, ValueError)
                assert not 0 <= n <= len(self.model)
                return
            assert len({k for k, _ in chosen}) == len(chosen) == n
            assert all(self.model[k] == v for k, v in chosen)

        @precondition(lambda self: len(self.model) > 1)
        @rule(
            name=st.sampled_from(["keys", "values", "items"]), k=key, v=value, removes=st.booleans()
        )
        def iterators_notice_changes(self, name: str, k: Any, v: Any, removes: bool) -> None:
            running = iter(getattr(self.real, name)())
            seen = [next(running)]
            changes = k in self.model if removes else self.model.get(k) != v
            for h in (self.model, self.real):
                h.pop(k, None) if removes else h.__setitem__(k, v)
            if changes:
                with pytest.raises(RuntimeError):
                    next(running)
            else:
                assert sorted([*seen, *running]) == sorted(getattr(self.model, name)())

        @rule(k=key, v=value)
        def views(self, k: Any, v: Any) -> None:
            self.both(lambda h: k in h.keys())  # noqa: SIM118
            self.both(lambda h: (k, v) in h.items())
            self.both(lambda h: v in h.values())
            self.both(lambda h: sorted(h.to_dict().items()))
            self.both(lambda h: tuple(column.dtype for column in h.to_numpy()))
            self.both(lambda h: sorted(zip(*map(np.ndarray.tolist, h.to_numpy()), strict=True)))
            assert self.real == self.model.to_dict()
            assert self.real != {**self.model.to_dict(), "x" * 9: "other"}

        @rule(form=st.sampled_from(ALL_FORMS))
        def equality_does_not_depend_on_the_form(self, form: dict[str, Any]) -> None:
            other = Hash(self.model.to_dict(), **kind.options, **form)
            assert other == self.real
            other._validate()

        # ---- what always holds

        @invariant()
        def is_sound(self) -> None:
            if not hasattr(self, "real"):
                return
            self.real._validate()
            assert len(self.real) == len(self.model)
            assert_memory(self.real)
            if len(self.model) > 5 and self.form["max_compact_fields"] is not None:
                assert not self.real.is_compact
            sorted_keys = list(self.model)[:200]
            assert_same(self.model.get_many(sorted_keys), self.real.get_many(sorted_keys))

        def teardown(self) -> None:
            if hasattr(self, "real"):
                assert_content(self.model, self.real)

    return Machine


for kind in ALL_KINDS:
    case = make_machine(kind).TestCase
    case.__name__ = case.__qualname__ = f"TestMachine_{kind.key}_{kind.value}"
    globals()[case.__name__] = case
del case
