"""Every public operation on the model and on the product, in any order Hypothesis thinks of."""

from __future__ import annotations

import math
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from model import set_operations
from model.compare import assert_content, assert_memory, assert_same, assert_same_outcome, outcome
from model.forms import forms, in_form
from model.kinds import KINDS, array_of
from model.layouts import Layout, configurations
from model.sorted_set import AGGREGATES, CLOSED, METHODS, MODES, ModelSortedSet
from strategies import FINITE, bounds, members, runs, scores

import goblin
from goblin import SortedSet

pytestmark = pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")

MOST_MEMBERS = 15_000
COUNTS = st.integers(0, 20)
WEIGHTS = st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.5, math.inf])
LIMITS = st.sampled_from([None, None, 0, 1, 10, 300])
SCORE_FORMS = st.sampled_from(["lists", "arrays", "strided", "swapped"])
STRANGERS = st.sampled_from(
    [None, 1.5, True, (), [], 2**31, 2**70, "\ud800", "a\udc80", "x", "", b"x", b"x" * 16,
     bytearray(b"x"), memoryview(b"ab"), np.str_("ab"), np.bytes_(b"ab"), np.int16(5),
     UUID(int=5), str(UUID(int=6)), UUID(int=7).hex.upper(), UUID(int=8).urn]
)  # fmt: skip


def given(
    layout: Layout, form: str, score_form: str, pairs: list[tuple[Any, float]]
) -> tuple[Any, ...]:
    """The same data in one of the shapes that `update` and its kin take."""
    if form == "pairs":
        return (pairs,)
    if form == "mapping":
        return (dict(pairs),)
    ids, values = in_form(layout, form, [m for m, _ in pairs]), [s for _, s in pairs]
    if score_form == "lists":
        return ids, values
    array = np.array(values, dtype=">f8" if score_form == "swapped" else np.float64)
    return ids, np.repeat(array[::-1], 2)[::-2] if score_form == "strided" else array


def other_options(layout: Layout) -> list[dict[str, Any]]:
    """Options of a second set: mostly of the same kind, and one of each other kind."""
    same = [o for o in configurations() if KINDS[o["member"]] is layout.kind]
    others = {KINDS[o["member"]]: o for o in configurations() if o not in same}
    return same + list(others.values())


def make_machine(options: dict[str, Any]) -> type[RuleBasedStateMachine]:
    layout = Layout(options["member"], options["score"])
    member, score, bound, run = members(layout), scores(layout), bounds(layout), runs(layout)
    some_members = st.lists(member, max_size=12)
    pairs = st.lists(st.tuples(member, score), max_size=12)
    modes, closed, methods = map(st.sampled_from, (MODES, CLOSED, METHODS))
    member_forms = st.sampled_from(forms(layout))
    pair_forms = st.one_of(st.sampled_from(["pairs", "mapping"]), member_forms)
    lex_bound = st.one_of(st.none(), member)

    class SortedSetMachine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.model, self.real = ModelSortedSet(**options), SortedSet(**options)
            self.fail_at = 0

        @initialize(other=st.sampled_from(other_options(layout)))
        def make_the_other(self, other: dict[str, Any]) -> None:
            self.other_model, self.other = ModelSortedSet(**other), SortedSet(**other)

        def both(self, call: Callable[[Any, Any], Any]) -> None:
            """The same call on both; where an allocation was made to fail, nothing happened."""
            before = self.model.copy() if self.fail_at else None
            self.arm(self.fail_at)
            actual, error = outcome(lambda: call(self.real, self.other))
            self.arm(0)
            if before is not None and isinstance(error, MemoryError):
                assert_content(before, self.real)
                return

            def again() -> Any:
                if error is not None:
                    raise error
                return actual

            assert_same_outcome(lambda: call(self.model, self.other_model), again)

        def same_kind(self) -> bool:
            return KINDS[self.other_model.member_dtype] is layout.kind

        def arm(self, n: int) -> None:
            self.real._fail_at(n)
            self.other._fail_at(n)

        @rule(n=st.integers(0, 6))
        def fail_an_allocation_of_each_call(self, n: int) -> None:
            self.fail_at = n if n < 4 else 0

        # ---- writes of one member

        @rule(m=member, s=score, mode=modes)
        def add(self, m: Any, s: float, mode: str) -> None:
            self.both(lambda z, _: z.add(m, s, mode=mode))

        @rule(m=member, s=score)
        def set_item(self, m: Any, s: float) -> None:
            self.both(lambda z, _: z.__setitem__(m, s))

        @rule(m=member)
        def del_item(self, m: Any) -> None:
            self.both(lambda z, _: z.__delitem__(m))

        @rule(m=member, by=st.one_of(st.just(1.0), score))
        def increment(self, m: Any, by: float) -> None:
            self.both(lambda z, _: z.increment(m, by))

        @rule(m=member)
        def discard(self, m: Any) -> None:
            self.both(lambda z, _: z.discard(m))

        @rule(m=member, default=st.sampled_from([(), (None,), (0.5,)]))
        def pop(self, m: Any, default: tuple[Any, ...]) -> None:
            self.both(lambda z, _: z.pop(m, *default))

        @rule(m=member, s=score)
        def setdefault(self, m: Any, s: float) -> None:
            self.both(lambda z, _: z.setdefault(m, s))

        @rule()
        def popitem(self) -> None:
            self.both(lambda z, _: z.popitem())

        # ---- writes of many

        @rule(data=pairs, form=pair_forms, values=SCORE_FORMS, mode=modes)
        def update(self, data: Any, form: str, values: str, mode: str) -> None:
            arguments = given(layout, form, values, data)
            self.both(lambda z, _: z.update(*arguments, mode=mode))

        @precondition(lambda self: len(self.model) < MOST_MEMBERS)
        @rule(many=run, mode=modes)
        def update_a_run(self, many: Any, mode: str) -> None:
            ids, values = many.members(layout), many.scores(layout)
            self.both(lambda z, _: z.update(ids, values, mode=mode))

        @rule(data=pairs, form=member_forms, values=SCORE_FORMS)
        def increment_many(self, data: Any, form: str, values: str) -> None:
            arguments = given(layout, form, values, data)
            self.both(lambda z, _: z.increment_many(*arguments, return_scores=True))

        @precondition(lambda self: len(self.model) < MOST_MEMBERS)
        @rule(many=run, by=st.one_of(st.none(), st.just(1.0), FINITE), twice=st.booleans())
        def increment_a_run(self, many: Any, by: float | None, twice: bool) -> None:
            ids = many.members(layout)
            steps = many.scores(layout) if by is None else by
            if twice:
                ids = np.concatenate([ids, ids[::-1]])
                steps = np.concatenate([steps, steps]) if by is None else by
            self.both(lambda z, _: z.increment_many(ids, steps))

        @rule(data=pairs, form=pair_forms, values=SCORE_FORMS)
        def subtract(self, data: Any, form: str, values: str) -> None:
            arguments = given(layout, form, values, data)
            self.both(lambda z, _: z.subtract(*arguments))

        @rule(ids=some_members, form=member_forms)
        def remove(self, ids: list[Any], form: str) -> None:
            gone = in_form(layout, form, ids)
            self.both(lambda z, _: z.remove(gone))

        @rule(many=run)
        def remove_a_run(self, many: Any) -> None:
            self.both(lambda z, _: z.remove(many.members(layout)))

        @rule(n=COUNTS)
        def pop_min(self, n: int) -> None:
            self.both(lambda z, _: z.pop_min(n))

        @rule(n=COUNTS)
        def pop_max(self, n: int) -> None:
            self.both(lambda z, _: z.pop_max(n))

        @rule(start=st.integers(-600, 600), stop=st.integers(-600, 600))
        def remove_by_rank(self, start: int, stop: int) -> None:
            self.both(lambda z, _: z.remove_by_rank(start, stop))

        @rule(lo=bound, hi=bound, ends=closed)
        def remove_by_score(self, lo: float, hi: float, ends: str) -> None:
            self.both(lambda z, _: z.remove_by_score(lo, hi, closed=ends))

        @rule(cut=st.integers(-2, 700), keep=st.sampled_from(["top", "bottom"]))
        def trim(self, cut: int, keep: str) -> None:
            n = max(len(self.model) - cut, 0)
            self.both(lambda z, _: z.trim(n, keep=keep))

        @rule(lo=lex_bound, hi=lex_bound, ends=closed)
        def remove_by_lex(self, lo: Any, hi: Any, ends: str) -> None:
            self.both(lambda z, _: z.remove_by_lex(lo, hi, closed=ends))

        @rule(
            n=st.sampled_from([0, 1, 2, 62, 63, 64, 65, 66]),
            keep=st.sampled_from(["top", "bottom"]),
        )
        def become_small(self, n: int, keep: str) -> None:
            self.both(lambda z, _: z.trim(n, keep=keep))

        @rule(first=st.integers(0, 90), count=st.integers(1, 8))
        def grow_across_64(self, first: int, count: int) -> None:
            news = layout.series(first, first + count)
            self.both(lambda z, _: z.increment_many(news, 2.0))

        @rule(factor=st.sampled_from([0.0, 0.1, 0.5, 1.0, -1.0, 2.0, 3.0, -0.25, 1e300, math.inf]))
        def scale(self, factor: float) -> None:
            self.both(lambda z, _: z.scale(factor))

        @rule(delta=st.one_of(FINITE, score))
        def shift(self, delta: float) -> None:
            self.both(lambda z, _: z.shift(delta))

        @rule(half_life=st.sampled_from([1.0, 7.0, 0.0, -1.0]), elapsed=st.integers(-3, 40))
        def decay(self, half_life: float, elapsed: int) -> None:
            self.both(lambda z, _: z.decay(half_life, elapsed))

        @rule()
        def clear(self) -> None:
            self.both(lambda z, _: z.clear())

        @rule()
        def optimize(self) -> None:
            self.both(lambda z, _: z.optimize())

        # ---- two sets

        @precondition(same_kind)
        @rule(data=pairs)
        def update_the_other(self, data: list[tuple[Any, float]]) -> None:
            self.both(lambda _, other: other.update(data))

        @precondition(lambda self: self.same_kind() and len(self.other_model) < MOST_MEMBERS)
        @rule(many=run)
        def update_the_other_with_a_run(self, many: Any) -> None:
            ids, values = many.members(layout), many.scores(layout)
            self.both(lambda _, other: other.update(ids, values))

        @precondition(lambda self: len(self.model) < MOST_MEMBERS)
        @rule(
            weight=WEIGHTS,
            aggregate=st.sampled_from(AGGREGATES),
            itself=st.booleans(),
        )
        def merge(self, weight: float, aggregate: str, itself: bool) -> None:
            def call(z: Any, other: Any) -> Any:
                return z.merge(z if itself else other, weight=weight, aggregate=aggregate)

            self.both(call)

        @rule(ids=some_members, mode=modes)
        def move(self, ids: list[Any], mode: str) -> None:
            self.both(lambda z, other: z.move(other, ids, mode=mode))

        @precondition(same_kind)
        @rule(many=run, mode=modes)
        def move_a_run_back(self, many: Any, mode: str) -> None:
            ids = many.members(layout)
            self.both(lambda z, other: other.move(z, ids, mode=mode))

        @rule()
        def update_from_the_other(self) -> None:
            self.both(lambda z, other: z.update(other))

        @rule(m=member, s=score)
        def go_on_with_a_copy(self, m: Any, s: float) -> None:
            old, self.real = self.real, self.real.copy()
            assert self.real == old
            old.increment(layout.nth(0), 1.0)
            old.remove([m])
            old._validate()

        @rule(
            which=st.sampled_from(["z", "zo", "oz", "zz", "zoz", ""]),
            weights=st.one_of(st.none(), st.lists(WEIGHTS, min_size=1, max_size=3)),
            aggregate=st.sampled_from(AGGREGATES),
            name=st.sampled_from(["union", "intersection"]),
        )
        def combine(self, which: str, weights: Any, aggregate: str, name: str) -> None:
            weights = weights if weights is None else (weights * 3)[: len(which)]

            def call(z: Any, other: Any) -> Any:
                sets = [{"z": z, "o": other}[letter] for letter in which]
                function = getattr(self.module_of(z), name)
                return function(sets, weights=weights, aggregate=aggregate)

            self.both(call)

        @rule(backward=st.booleans(), limit=st.sampled_from([0, 1, 5, 300]))
        def subtract_sets(self, backward: bool, limit: int) -> None:
            def call(z: Any, other: Any) -> Any:
                sets = (other, z) if backward else (z, other)
                module = self.module_of(z)
                return module.intersection_card(sets, limit), module.difference(*sets)

            self.both(call)

        def module_of(self, z: Any) -> Any:
            return set_operations if isinstance(z, ModelSortedSet) else goblin

        # ---- snapshots

        def snapshot(self) -> bytes | None:
            """None where an allocation was made to fail, which changed nothing."""
            self.arm(self.fail_at)
            data, error = outcome(self.real.to_bytes)
            self.arm(0)
            assert error is None or isinstance(error, MemoryError)
            self.real._validate()
            return data

        def go_on_with(self, made: SortedSet) -> None:
            self.real = made
            assert_content(self.model, made)

        @rule()
        def go_on_with_a_snapshot(self) -> None:
            data = self.snapshot()
            if data is not None:
                made = SortedSet.from_bytes(data)
                assert made.to_bytes() == data
                self.go_on_with(made)

        @rule(compression=st.sampled_from([None, "zstd"]))
        def go_on_with_a_saved_file(self, compression: Any) -> None:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "saved")
                self.real.save(path, compression=compression)
                self.go_on_with(SortedSet.load(path))

        @rule(protocol=st.integers(2, 5))
        def go_on_with_a_pickle(self, protocol: int) -> None:
            self.go_on_with(pickle.loads(pickle.dumps(self.real, protocol)))

        @rule(go_on=st.booleans())
        def map_a_snapshot(self, go_on: bool) -> None:
            data = self.snapshot()
            if data is None:
                return
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "mapped")
                path.write_bytes(data)
                mapped = SortedSet.load(path, mmap=True)
            assert_content(self.model, mapped)
            assert_memory(mapped)
            assert_memory(mapped.copy())
            if go_on:
                self.go_on_with(mapped.copy())

        @rule(seed=st.integers(0, 9))
        def the_same_content_gives_the_same_bytes(self, seed: int) -> None:
            pairs = list(self.model.items())
            np.random.default_rng(seed).shuffle(pairs)
            made = SortedSet(pairs, **options)
            for z in (self.real, made):
                next(iter(z), None)  # both have an order, or are too small for one
                z.optimize()
            assert self.real.to_bytes() == made.to_bytes()

        # ---- reads

        @rule(x=STRANGERS)
        def look_up_what_may_be_no_member(self, x: Any) -> None:
            self.both(lambda z, _: x in z)
            self.both(lambda z, _: z.get(x))
            self.both(lambda z, _: z[x])
            self.both(lambda z, _: z.rank(x))
            self.both(lambda z, _: z.pop(x, None))

        @rule(x=STRANGERS, s=score)
        def write_what_may_be_no_member(self, x: Any, s: float) -> None:
            self.both(lambda z, _: z.add(x, s))
            self.both(lambda z, _: z.increment_many([layout.nth(0), x], 1.0))
            self.both(lambda z, _: z.discard(x))

        @rule(m=member)
        def look_up(self, m: Any) -> None:
            self.both(lambda z, _: m in z)
            self.both(lambda z, _: z.get(m))
            self.both(lambda z, _: z[m])

        @rule(ids=some_members, missing=st.sampled_from([math.nan, -1.0]))
        def scores(self, ids: list[Any], missing: float) -> None:
            self.both(lambda z, _: z.scores(ids, missing=missing))

        @rule(m=member, method=methods, descending=st.booleans())
        def rank(self, m: Any, method: str, descending: bool) -> None:
            self.both(lambda z, _: z.rank(m, method=method, descending=descending))

        @rule(
            ids=some_members,
            position=COUNTS,
            method=methods,
            descending=st.booleans(),
            pct=st.booleans(),
        )
        def ranks(
            self, ids: list[Any], position: int, method: str, descending: bool, pct: bool
        ) -> None:
            ids = ids + list(self.model)[position : position + 3]
            self.both(lambda z, _: z.ranks(ids, method=method, descending=descending, pct=pct))

        @rule(i=st.one_of(st.integers(-20, 20), st.integers(-600, 600)))
        def by_rank(self, i: int) -> None:
            self.both(lambda z, _: z.by_rank[i])

        @rule(
            start=st.one_of(st.none(), st.integers(-600, 600)),
            stop=st.one_of(st.none(), st.integers(-600, 600)),
            step=st.sampled_from([None, 1, 2, 7, 300, -1, -2, -259, 0]),
        )
        def slice_by_rank(self, start: int | None, stop: int | None, step: int | None) -> None:
            self.both(lambda z, _: z.by_rank[start:stop:step])

        @precondition(lambda self: self.model)
        @rule(seed=st.integers(0, 99))
        def many_by_rank(self, seed: int) -> None:
            chosen = np.random.default_rng(seed).integers(0, len(self.model), 9)
            self.both(lambda z, _: z.by_rank[chosen])

        @rule(n=st.one_of(COUNTS, st.integers(200, 600)), ties=st.sampled_from(["cut", "all"]))
        def ends(self, n: int, ties: str) -> None:
            self.both(lambda z, _: z.top(n, ties=ties))
            self.both(lambda z, _: z.bottom(n, ties=ties))

        @rule(n=st.one_of(st.none(), COUNTS))
        def most_common(self, n: int | None) -> None:
            self.both(lambda z, _: z.most_common(n))

        @rule(
            lo=bound,
            hi=bound,
            ends=closed,
            descending=st.booleans(),
            offset=st.sampled_from([0, 0, 1, 5, 300]),
            limit=LIMITS,
        )
        def range_by_score(
            self, lo: float, hi: float, ends: str, descending: bool, offset: int, limit: int | None
        ) -> None:
            options = {"descending": descending, "offset": offset, "limit": limit}
            self.both(lambda z, _: z.range_by_score(lo, hi, closed=ends, **options))

        @rule(
            lo=lex_bound,
            hi=lex_bound,
            ends=closed,
            within=st.one_of(st.none(), COUNTS),
            descending=st.booleans(),
            offset=st.sampled_from([0, 0, 1, 5]),
            limit=LIMITS,
        )
        def range_by_lex(
            self, lo: Any, hi: Any, ends: str, within: int | None,
            descending: bool, offset: int, limit: int | None,
        ) -> None:  # fmt: skip
            score = None
            if within is not None and self.model:
                score = self.model.by_rank[within % len(self.model)][1]
            options = {"descending": descending, "offset": offset, "limit": limit}
            self.both(lambda z, _: z.count_lex(lo, hi, closed=ends))
            self.both(
                lambda z, _: z.range_by_lex(lo, hi, closed=ends, within_score=score, **options)
            )

        @rule(lo=bound, hi=bound, ends=closed)
        def count_and_sum(self, lo: float, hi: float, ends: str) -> None:
            self.both(lambda z, _: z.count(lo, hi, closed=ends))
            self.both(lambda z, _: z.sum(lo, hi))

        @rule(size=st.sampled_from([1, 3, 100, 257]), descending=st.booleans(), m=member, s=score)
        def pages(self, size: int, descending: bool, m: Any, s: float) -> None:
            """Three pages; a member that comes in between changes neither side's walk alone."""
            theirs = ours = None
            for _ in range(3):
                ours_page = self.model.page(size, after=ours, descending=descending)
                theirs_page = self.real.page(size, after=theirs, descending=descending)
                assert_same(ours_page, theirs_page)
                ours, theirs = ours_page.cursor, theirs_page.cursor
                if ours is None:
                    break
                if m not in self.model:
                    self.both(lambda z, _: z.add(m, s))

        @rule(m=member, n=COUNTS)
        def around(self, m: Any, n: int) -> None:
            self.both(lambda z, _: z.around(m, n))

        @rule(n=COUNTS, replace=st.booleans(), seed=st.integers(0, 9))
        def sample(self, n: int, replace: bool, seed: int) -> None:
            rng = np.random.default_rng(seed)
            rows, error = outcome(lambda: self.real.sample(n, replace=replace, rng=rng))
            if error is not None:
                assert isinstance(error, ValueError)
                assert n > len(self.model) if not replace else n and not self.model
                return
            assert len(rows) == n
            assert replace or len({m for m, _ in rows}) == n
            listed = self.model.items()
            assert [listed[rank] for rank in rows.ranks.tolist()] == rows.to_list()

        @rule()
        def statistics(self) -> None:
            self.both(lambda z, _: z.total())
            self.both(lambda z, _: z.mean())
            self.both(lambda z, _: z.distinct_scores())

        @precondition(lambda self: all(abs(s) < 1e30 for s in self.model.values()))
        @rule(
            q=st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0])),
            method=st.sampled_from(["linear", "lower", "higher", "nearest", "midpoint", "weibull"]),
            bins=st.integers(1, 30),
            score=FINITE,
            kind=st.sampled_from(["rank", "weak", "strict", "mean"]),
        )
        def distribution(self, q: float, method: str, bins: int, score: float, kind: str) -> None:
            self.both(lambda z, _: z.percentile_of(score, kind=kind))
            self.both(lambda z, _: tuple(map(np.asarray, z.histogram(bins))))
            if self.model:
                expected = self.model.quantile(q, method=method)
                assert self.real.quantile(q, method=method) == pytest.approx(expected, rel=1e-12)
                expected = self.model.describe()
                assert self.real.describe() == pytest.approx(expected, rel=1e-12)

        @precondition(lambda self: self.model)
        @rule(backward=st.booleans(), m=member, s=score, mode=modes)
        def iterators_notice_changes(self, backward: bool, m: Any, s: float, mode: str) -> None:
            step = -1 if backward else 1
            listed = list(self.model)[::step]
            iterator = reversed(self.real) if backward else iter(self.real)
            assert next(iterator) == listed[0]
            if self.real.add(m, s, mode=mode):
                with pytest.raises(RuntimeError):
                    next(iterator)
            else:
                assert list(iterator) == listed[1:]
            self.model.add(m, s, mode=mode)

        @rule()
        def views(self) -> None:
            self.both(lambda z, _: list(z))
            self.both(lambda z, _: list(reversed(z)))
            self.both(lambda z, _: list(z.values()))
            self.both(lambda z, _: z.to_dict())
            assert self.real == self.model.to_dict()
            assert (self.real == self.other) == (self.model == self.other_model)

        @rule()
        def compare_everything(self) -> None:
            self.both(lambda z, _: z)

        # ---- what always holds

        @invariant()
        def is_sound(self) -> None:
            pairs = [(self.model, self.real)]
            if hasattr(self, "other"):
                pairs.append((self.other_model, self.other))
            for model, real in pairs:
                real._validate()
                assert len(real) == len(model)
                assert_memory(real)
                ids = array_of(list(model._map)[:500], model.member_dtype)
                expected = np.array(list(model._map.values())[:500], dtype=model.score_dtype)
                assert_same(expected, real.scores(ids))

        def teardown(self) -> None:
            if hasattr(self, "other"):
                assert_content(self.model, self.real)
                assert_content(self.other_model, self.other)

    return SortedSetMachine


for options in configurations():
    title = "_".join(map(str, options.values())).replace(".", "")
    case = make_machine(options).TestCase
    case.__name__ = case.__qualname__ = f"TestMachine_{title}"
    globals()[case.__name__] = case
del case
