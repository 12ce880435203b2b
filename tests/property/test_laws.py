"""Laws that tie the operations to one another, without the model."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.forms import forms, in_form
from model.layouts import ALL_LAYOUTS, Layout
from model.sorted_set import CLOSED, METHODS, MODES
from strategies import FINITE, bounds, members, runs, scores

import goblin
from goblin import SortedSet

pytestmark = [
    pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning"),
    pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str),
]

MODE = st.sampled_from(MODES)
METHOD = st.sampled_from(METHODS)


def draw_pairs(data: Any, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Members with repeats, and finite scores: a short list, or a run and a short list."""
    pairs = data.draw(st.lists(st.tuples(members(layout), FINITE), max_size=40))
    ids = layout.array(m for m, _ in pairs)
    values = np.array([s for _, s in pairs], dtype=layout.score)
    if data.draw(st.booleans()):
        run = data.draw(runs(layout))
        ids = np.concatenate([run.members(layout), ids])
        values = np.concatenate([run.scores(layout), values])
    return ids, values


def draw_set(data: Any, layout: Layout) -> SortedSet:
    return SortedSet(*draw_pairs(data, layout), **layout.options)


@given(data=st.data())
def test_increment_many_is_a_loop(layout: Layout, data: Any) -> None:
    bulk = draw_set(data, layout)
    single = bulk.copy()
    ids, steps = draw_pairs(data, layout)
    after = bulk.increment_many(ids, steps, return_scores=True)
    pairs = zip(layout.values(ids), steps.tolist(), strict=True)
    expected = [single.increment(m, s) for m, s in pairs]
    assert after.tolist() == expected
    assert bulk == single
    assert bulk.digest() == single.digest()


@given(data=st.data(), mode=MODE)
def test_update_is_a_loop(layout: Layout, data: Any, mode: str) -> None:
    bulk = draw_set(data, layout)
    single = bulk.copy()
    ids, values = draw_pairs(data, layout)
    before = len(bulk)
    changes = bulk.update(ids, values, mode=mode)
    pairs = zip(layout.values(ids), values.tolist(), strict=True)
    written = [single.add(m, s, mode=mode) for m, s in pairs]
    assert bulk.digest() == single.digest()
    assert changes.total == len(single)
    assert changes.added == len(single) - before
    assert changes.added + changes.changed == sum(written)


@given(data=st.data())
def test_remove_is_a_loop(layout: Layout, data: Any) -> None:
    bulk = draw_set(data, layout)
    single = bulk.copy()
    ids, _ = draw_pairs(data, layout)
    assert bulk.remove(ids) == sum([single.discard(m) for m in layout.values(ids)])
    assert bulk.digest() == single.digest()


@given(data=st.data(), method=METHOD, descending=st.booleans())
def test_bulk_reads_are_loops(layout: Layout, data: Any, method: str, descending: bool) -> None:
    z = draw_set(data, layout)
    ids = np.concatenate([draw_pairs(data, layout)[0][:200], layout.array(list(z)[:200])])
    found = [z.get(m, math.nan) for m in layout.values(ids)]
    np.testing.assert_array_equal(z.scores(ids), found)
    absent = math.nan if method == "average" else -1
    options = {"method": method, "descending": descending}
    ranks = [z.rank(m, default=absent, **options) for m in layout.values(ids)]
    np.testing.assert_array_equal(z.ranks(ids, **options), ranks)


@given(data=st.data(), chunk=st.sampled_from([1, 2, 3, 64, 255, 257, 1000]))
def test_chunks_do_not_matter(layout: Layout, data: Any, chunk: int) -> None:
    ids, steps = draw_pairs(data, layout)
    whole, parts = SortedSet(**layout.options), SortedSet(**layout.options)
    whole.increment_many(ids, steps)
    for start in range(0, len(ids), chunk):
        parts.increment_many(ids[start : start + chunk], steps[start : start + chunk])
    assert parts.digest() == whole.digest()


@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_insertion_order_does_not_matter(layout: Layout, data: Any, seed: int) -> None:
    z = draw_set(data, layout)
    ids, values = z.to_numpy()
    shuffled = np.random.default_rng(seed).permutation(len(ids))
    again = SortedSet(ids[shuffled], values[shuffled], **layout.options, compress=False)
    assert again.digest() == z.digest()
    assert list(again) == list(z)


@given(data=st.data())
def test_digest_does_not_depend_on_width(layout: Layout, data: Any) -> None:
    z = draw_set(data, layout)
    assert SortedSet(z, **layout.widest).digest() == z.digest()


@given(data=st.data())
def test_round_trips(layout: Layout, data: Any) -> None:
    z = draw_set(data, layout)
    for again in (
        SortedSet(*z.to_numpy(), **layout.options),
        SortedSet(z),
        SortedSet(z.to_dict(), **layout.options),
        SortedSet(z.items(), **layout.options),
        SortedSet(z.top(len(z)), **layout.options),
    ):
        assert again == z
        assert again.layout == z.layout
        assert again.digest() == z.digest()
        again._validate()


@given(data=st.data())
def test_rank_undoes_by_rank(layout: Layout, data: Any) -> None:
    z = draw_set(data, layout)
    rows = z.by_rank[:]
    np.testing.assert_array_equal(z.ranks(rows.members), np.arange(len(z)))
    np.testing.assert_array_equal(rows.ranks, np.arange(len(z)))
    np.testing.assert_array_equal(z.scores(rows.members), rows.scores)
    for i in range(0, len(z), max(len(z) // 7, 1)):
        assert z.by_rank[i] == z.by_rank[i - len(z)] == rows[i]


@given(data=st.data())
def test_iteration_is_sorted(layout: Layout, data: Any) -> None:
    z = draw_set(data, layout)
    pairs = [(score, member) for member, score in z.items()]
    assert pairs == sorted(pairs)
    assert len(pairs) == len(z)
    assert list(reversed(z)) == [member for _, member in reversed(pairs)]


@given(data=st.data())
def test_counts_are_sizes_of_ranges(layout: Layout, data: Any) -> None:
    z = draw_set(data, layout)
    lo, hi = data.draw(bounds(layout)), data.draw(bounds(layout))
    for closed in ("both", "left", "right", "none"):
        rows = z.range_by_score(lo, hi, closed=closed)
        assert z.count(lo, hi, closed=closed) == len(rows)
        backward = z.range_by_score(lo, hi, closed=closed, descending=True)
        assert backward == rows[::-1]
        assert backward.ranks.tolist() == rows.ranks.tolist()[::-1]
    if lo <= hi:
        below = z.count(hi=lo, closed="left")
        above = z.count(lo=hi, closed="right")
        assert below + z.count(lo, hi) + above == len(z)


@given(data=st.data(), factor=st.sampled_from([0.25, 0.5, 2.0, 4.0]))
def test_scaling_keeps_the_order(layout: Layout, data: Any, factor: float) -> None:
    z = draw_set(data, layout)
    before, values = list(z), z.to_numpy()[1]
    z.scale(factor)
    assert list(z) == before
    np.testing.assert_array_equal(z.to_numpy()[1], values * factor)
    z.decay(1.0, 1.0)
    assert list(z) == before
    np.testing.assert_array_equal(z.to_numpy()[1], values * factor * 0.5)


@given(data=st.data())
def test_a_negative_factor_reverses_the_scores(layout: Layout, data: Any) -> None:
    z = draw_set(data, layout)
    values = z.to_numpy()[1]
    z.scale(-2)
    np.testing.assert_array_equal(z.to_numpy()[1], values[::-1] * -2 + 0.0)
    assert not np.signbit(z.to_numpy()[1][z.to_numpy()[1] == 0]).any()


@given(data=st.data(), delta=FINITE)
def test_a_shift_back_restores(layout: Layout, data: Any, delta: float) -> None:
    ids, _ = draw_pairs(data, layout)
    z = SortedSet(ids, np.arange(len(ids)) % 50, **layout.options)
    before = z.digest()
    z.shift(delta)
    z._validate()
    z.shift(-delta)
    assert z.digest() == before


@given(data=st.data())
def test_subtract_undoes_increment_many(layout: Layout, data: Any) -> None:
    ids, values = draw_pairs(data, layout)
    whole = np.round(values)  # these add without rounding
    z = SortedSet(ids, whole, **layout.options)
    before = z.digest()
    z.increment_many(ids, whole)
    z.subtract(ids, whole)
    assert z.digest() == before


@given(data=st.data())
def test_merge_is_update_of_the_sums(layout: Layout, data: Any) -> None:
    a, b = draw_set(data, layout), draw_set(data, layout)
    merged, summed = a.copy(), a.copy()
    merged.merge(b)
    summed.increment_many(*b.to_numpy())
    assert merged.digest() == summed.digest()


@given(data=st.data())
def test_move_loses_nothing(layout: Layout, data: Any) -> None:
    a, b = draw_set(data, layout), draw_set(data, layout)
    everyone = {**b.to_dict(), **{m: s for m, s in a.items() if m not in b}}
    size = len(a)
    moved = a.move(b, list(a), mode="nx")
    assert b == everyone
    assert len(a) == size - moved


@given(data=st.data(), size=st.integers(1, 300), descending=st.booleans())
def test_pages_make_up_the_whole(layout: Layout, data: Any, size: int, descending: bool) -> None:
    z = draw_set(data, layout)
    walked, cursor = [], None
    while True:
        page = z.page(size, after=cursor, descending=descending)
        walked += page.rows.to_list()
        cursor = page.cursor
        if cursor is None:
            break
        assert len(page.rows) == size
    assert walked == (z.top(len(z)) if descending else z.bottom(len(z))).to_list()


@given(data=st.data())
def test_pages_are_stable_while_others_come_and_go(layout: Layout, data: Any) -> None:
    """Who is there all the time is shown exactly once."""
    z = draw_set(data, layout)
    newcomers = data.draw(st.lists(st.tuples(members(layout), FINITE), max_size=30))
    leaving = data.draw(st.lists(st.sampled_from(list(z)), unique=True)) if len(z) else []
    visitors = [(m, s) for m, s in newcomers if m not in z]
    staying = set(z) - set(leaving)
    shown, cursor = [], None
    while True:
        page = z.page(5 + len(z) // 20, after=cursor)
        shown += [member for member, _ in page.rows]
        cursor = page.cursor
        if cursor is None:
            break
        if visitors:
            z.add(*visitors.pop(), mode="nx")
        if leaving:
            z.discard(leaving.pop())
    assert sorted(m for m in shown if m in staying) == sorted(staying)


@given(data=st.data())
def test_extreme_scores_keep_bits_and_order(layout: Layout, data: Any) -> None:
    values = np.array(data.draw(st.lists(scores(layout), max_size=300)), dtype=layout.score)
    ids = layout.series(len(values))
    z = SortedSet(ids, values, **layout.options)
    np.testing.assert_array_equal(z.to_numpy()[1], np.sort(values))
    assert z.scores(ids).tobytes() == (values + 0.0).tobytes()  # -0.0 becomes 0.0


@given(data=st.data())
def test_forms_do_not_matter(layout: Layout, data: Any) -> None:
    ids = data.draw(st.lists(members(layout), max_size=40))
    form = data.draw(st.sampled_from(forms(layout)))
    z = SortedSet(**layout.options)
    z.increment_many(ids, 1.0)
    again = SortedSet(**layout.options)
    again.increment_many(in_form(layout, form, ids), 1.0)
    assert again.digest() == z.digest()
    assert list(again) == sorted(set(ids), key=lambda m: (z[m], m))


@given(data=st.data(), size=st.integers(60, 68), steps=st.lists(st.integers(-6, 6), max_size=20))
def test_sizes_move_across_64(layout: Layout, data: Any, size: int, steps: list[int]) -> None:
    z = SortedSet(layout.series(size), np.arange(size) % 7, **layout.options)
    content = z.to_dict()
    for step in steps:
        if step < 0:
            z.pop_min(-step)
            content = dict(list(content.items())[-step:])
        else:
            news = dict.fromkeys(data.draw(st.lists(members(layout), max_size=step)), 9.0)
            z.update(news)
            content = dict(sorted({**content, **news}.items(), key=lambda pair: pair[::-1]))
        z._validate()
        assert list(z.items()) == list(content.items())


@given(data=st.data(), closed=st.sampled_from(CLOSED))
def test_lex_ranges_are_those_of_a_sorted_list(layout: Layout, data: Any, closed: str) -> None:
    z = draw_set(data, layout)
    z.update(list(z), 5.0)
    lo, hi = data.draw(members(layout)), data.draw(members(layout))
    inside = [
        m
        for m in sorted(z)
        if (lo <= m if closed in ("both", "left") else lo < m)
        and (m <= hi if closed in ("both", "right") else m < hi)
    ]
    rows = z.range_by_lex(lo, hi, closed=closed)
    assert [m for m, _ in rows] == inside
    assert z.count_lex(lo, hi, closed=closed) == len(inside)
    assert z.range_by_lex(lo, hi, closed=closed, descending=True) == rows[::-1]
    assert z.range_by_lex(lo, hi, closed=closed, within_score=5) == rows
    left = [m for m in z if m not in set(inside)]
    assert z.remove_by_lex(lo, hi, closed=closed) == len(inside)
    assert list(z) == left
    z._validate()


@given(data=st.data())
def test_within_score_cuts_the_range_by_score(layout: Layout, data: Any) -> None:
    z = draw_set(data, layout)
    for score in {*z.values(), 0.25}:
        rows = z.range_by_lex(within_score=score)
        assert rows == z.range_by_score(score, score)
        assert rows.ranks.tolist() == z.range_by_score(score, score).ranks.tolist()


@given(data=st.data())
def test_set_operations_are_those_of_python_sets(layout: Layout, data: Any) -> None:
    a, b = draw_set(data, layout), draw_set(data, layout)
    both = set(a) & set(b)
    assert set(goblin.union([a, b])) == set(a) | set(b)
    assert set(goblin.intersection([a, b])) == both
    assert goblin.difference(a, b) == {m: s for m, s in a.items() if m not in both}
    assert goblin.intersection_card([a, b]) == len(both)
    assert goblin.intersection_card([a, b], 3) == min(len(both), 3)
    merged = a.copy()
    merged.merge(b, aggregate="max")
    assert goblin.union([a, b], aggregate="max").digest() == merged.digest()
    assert goblin.union([a, a], weights=[1, -1]) == dict.fromkeys(a, 0.0)
    parts = goblin.difference(a, b), goblin.intersection([a, b], weights=[1, 0])
    assert goblin.union(parts).digest() == a.digest()


@given(data=st.data(), seed=st.integers(0, 99))
def test_the_same_content_gives_the_same_bytes(layout: Layout, data: Any, seed: int) -> None:
    """After optimize, whatever came before: other members, other scores, another order."""
    ids, values = draw_pairs(data, layout)
    one = SortedSet(ids, values, **layout.options)
    content = list(one.to_dict().items())
    np.random.default_rng(seed).shuffle(content)
    others, steps = draw_pairs(data, layout)
    other = SortedSet(others, steps, **layout.options)
    next(iter(other), None)
    other.increment_many(others[::2], steps[::2])
    other.update(content)
    other.remove([m for m in other if m not in one])
    for ordered in (False, True):
        bare = [z.copy() for z in (one, other)]
        for z in bare:
            if ordered:
                next(iter(z), None)
            z.optimize()
        assert bare[0].to_bytes() == bare[1].to_bytes()


@given(data=st.data(), protocol=st.integers(0, 5))
def test_there_and_back_changes_nothing(layout: Layout, data: Any, protocol: int) -> None:
    z = draw_set(data, layout)
    if data.draw(st.booleans()):
        next(iter(z), None)
        z.increment_many(*draw_pairs(data, layout))
    for made in (SortedSet.from_bytes(z.to_bytes()), pickle.loads(pickle.dumps(z, protocol))):
        made._validate()
        assert made.digest() == z.digest()
        assert made.to_bytes() == z.to_bytes()
