"""Boards: one sorted set for each group."""

from __future__ import annotations

import datetime
import functools
import math
import signal
import sys
import time
import uuid
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from model import fixtures
from model.compare import assert_same
from model.layouts import ALL_LAYOUTS, Layout

from goblin import Boards, PrecisionWarning, SortedSet, _core

GROUPS = ["blitz", "rapid", "blitz", "blitz", "bullet", "rapid"]
NUMBERS = [1, 1, 2, 1, 3, 1]
STEPS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
layout = fixtures.over([each for each in ALL_LAYOUTS if not each.is_float32])


@pytest.fixture
def boards(layout: Layout) -> Any:
    members = layout.array(map(layout.nth, NUMBERS))
    return Boards.from_arrays(np.array(GROUPS), members, np.array(STEPS))


def expected(layout: Layout) -> dict[str, dict[Any, float]]:
    one, two, three = layout.series(1, 4)
    return {"blitz": {one: 9.0, two: 4.0}, "bullet": {three: 16.0}, "rapid": {one: 34.0}}


def test_a_mapping_of_sets(boards: Any, layout: Layout) -> None:
    assert isinstance(boards, Mapping)
    assert len(boards) == 3
    assert list(boards) == ["blitz", "bullet", "rapid"]
    assert all(type(group) is str for group in boards)
    assert dict(boards) == expected(layout)
    for group, z in boards.items():
        assert isinstance(z, SortedSet)
        assert z.layout == str(layout)
        assert boards[group] is z
        z._validate()
    assert "rapid" in boards
    assert boards.get("classical") is None
    for absent in ("classical", "", 5, None):
        assert absent not in boards
        with pytest.raises(KeyError):
            boards[absent]


@pytest.mark.parametrize("n", [0, 1, 2, 10, 10**30])
def test_top(boards: Any, layout: Layout, n: int) -> None:
    rows = boards.top(n)
    listed = [(group, *row) for group in boards for row in boards[group].top(n)]
    assert len(rows) == len(listed)
    assert list(rows.groups) == [group for group, _, _ in listed]
    assert_same(layout.array([m for _, m, _ in listed]), rows.members)
    assert list(rows.scores) == [score for _, _, score in listed]
    ranks = [rank for z in boards.values() for rank in z.top(n).ranks.tolist()]
    assert list(rows.ranks) == ranks


def test_top_takes_ten_and_no_negative_number(boards: Any) -> None:
    assert len(boards.top()) == 4
    with pytest.raises(ValueError):
        boards.top(-1)
    with pytest.raises(TypeError):
        boards.top(1.0)


@pytest.mark.parametrize(
    "groups",
    [
        [3, -1, 3, 3, 2, -1],
        np.array([3, -1, 3, 3, 2, -1], dtype=np.int8),
        ["b", "", "b", "b", "a\0b", ""],
        np.array(["b", "", "b", "b", "aé", ""]),
        np.array(["b", "", "b", "b", "aé", ""], dtype=np.dtypes.StringDType()),
        np.array(["b", "", "b", "b", "aé", ""], dtype=object),
        [b"b", b"", b"b", b"b", b"\xff", b""],
        np.array([b"b", b"", b"b", b"b", b"\xff", b""]),
    ],
    ids=lambda groups: f"{type(groups).__name__}-{getattr(groups, 'dtype', type(groups[0]))}",
)
def test_kinds_of_groups(layout: Layout, groups: Any) -> None:
    listed = groups.tolist() if isinstance(groups, np.ndarray) else groups
    counts: dict[Any, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for group, number, step in zip(listed, NUMBERS, STEPS, strict=True):
        counts[group][layout.nth(number)] += step
    boards = Boards.from_arrays(groups, list(map(layout.nth, NUMBERS)), STEPS)
    assert list(boards) == sorted(counts)
    assert [type(group) for group in boards] == [type(listed[0])] * 3
    assert dict(boards) == counts


def test_one_step_for_all(layout: Layout) -> None:
    boards = Boards.from_arrays([7, 7, 8], layout.array([layout.nth(1)] * 3), 2.5)
    assert dict(boards) == {7: {layout.nth(1): 5.0}, 8: {layout.nth(1): 2.5}}


def test_nothing() -> None:
    boards = Boards.from_arrays([], [], [])
    assert len(boards) == len(boards.top()) == 0
    assert list(boards) == []


@pytest.mark.parametrize(
    ("groups", "members", "by", "error"),
    [
        ([1, 2], [1], 1.0, ValueError),
        ([1], [1, 2], 1.0, ValueError),
        ([1, 2], [1, 2], [1.0], ValueError),
        ([1, 2], [1, 2], [1.0, math.nan], ValueError),
        ([1, 1], [1, 1], [math.inf, -math.inf], ValueError),
        ([1, 2], [1, 2.5], 1.0, TypeError),
        ([1, 2], "ab", 1.0, TypeError),
        ("ab", [1, 2], 1.0, TypeError),
        ([1, 2], [1, 2], "ab", TypeError),
        (np.ones((2, 2), int), [1, 2], 1.0, ValueError),
    ],
)
def test_bad_input(groups: Any, members: Any, by: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Boards.from_arrays(groups, members, by)


@pytest.mark.parametrize("count", [5, 70, 300])
def test_many_groups(layout: Layout, count: int) -> None:
    rng = np.random.default_rng(count)
    groups, numbers = rng.integers(0, count, 3000), rng.integers(0, 200, 3000)
    steps = rng.integers(1, 9, 3000) / 2
    members = layout.array(map(layout.nth, numbers.tolist()))
    boards = Boards.from_arrays(groups, members, steps)
    assert list(boards) == np.unique(groups).tolist()
    for group, z in boards.items():
        mine = SortedSet(member=layout.member)
        mine.increment_many(members[groups == group], steps[groups == group])
        assert z.digest() == mine.digest()
        z._validate()


def content(boards: Any) -> dict[Any, dict[Any, float]]:
    for z in boards.values():
        z._validate()
    return {group: z.to_dict() for group, z in boards.items()}


@pytest.mark.parametrize("size", [1, 7, 999, 1000])
def test_batches_of_a_stream(layout: Layout, size: int) -> None:
    rng = np.random.default_rng(size)
    groups, numbers = rng.integers(-9, 9, 1000), rng.integers(0, 30, 1000)
    members, steps = layout.array(map(layout.nth, numbers.tolist())), rng.random(1000)
    boards = Boards(member=layout.member)
    for start in range(0, 1000, size):
        rows = slice(start, start + size)
        boards.increment_many(groups[rows], members[rows], steps[rows])
        boards.top(3)  # so that orders and their pending changes take part
    assert content(boards) == content(Boards.from_arrays(groups, members, steps))
    assert list(boards) == sorted(boards)


def test_increment(layout: Layout) -> None:
    boards = Boards()
    assert boards.increment("fr", layout.nth(1)) == 1.0
    assert boards.increment("fr", layout.nth(1), 2) == 3.0
    assert boards.increment("de", layout.nth(2), by=-1.5) == -1.5
    assert list(boards) == ["de", "fr"]
    assert content(boards) == {"de": {layout.nth(2): -1.5}, "fr": {layout.nth(1): 3.0}}
    assert boards["de"].member_dtype == layout.widest["member"]


def test_boards_are_live() -> None:
    boards = Boards.from_arrays(["a", "b"], [1, 1])
    boards["a"].update({1: 5.0, 2: 7.0})
    boards.increment_many(["a", "c"], [2, 2])
    assert content(boards) == {"a": {1: 5.0, 2: 8.0}, "b": {1: 1.0}, "c": {2: 1.0}}


def test_options() -> None:
    boards = Boards(member="int32", score="float32")
    boards.increment_many(["a"], [2**31 - 1])
    assert boards["a"].layout == "int32-float32"
    assert Boards.from_arrays(["a"], ["x"], member="str").get("a") == {"x": 1.0}
    assert Boards.from_arrays(["a"], np.array([1], np.int32))["a"].layout == "int32-float64"
    assert Boards.from_arrays(iter("ab"), iter([1, 2]), iter([1, 2])) == {"a": {1: 1}, "b": {2: 2}}
    for options in ({"member": "int8"}, {"score": "float16"}):
        with pytest.raises(ValueError, match="unknown"):
            Boards(**options)


MOMENT = datetime.datetime(2024, 2, 29, 12, 30, 0, 250)
DAY = datetime.date(2024, 2, 29)
ID = uuid.UUID(int=7)


@pytest.mark.parametrize(
    ("groups", "group"),
    [
        (np.array(["2024-02"], "M8[M]"), datetime.date(2024, 2, 1)),
        (np.array(["2024-02-29"], "M8[D]"), DAY),
        (np.array([MOMENT], "M8[us]"), MOMENT),
        (np.array([MOMENT], "M8[ns]"), MOMENT),
        (np.array([MOMENT], ">M8[ns]"), MOMENT),
        (np.array([90], "m8[s]"), datetime.timedelta(seconds=90)),
        (np.array([90_000], "m8[ns]"), datetime.timedelta(microseconds=90)),
        (np.array([ID.bytes], "V16"), ID),
        (np.array([2.5], np.float32), 2.5),
        (np.array([2**63], np.uint64), 2**63),
        ([np.int16(3)], 3),
        ([np.datetime64(MOMENT, "ns")], MOMENT),
        (np.array([np.str_("x")], object), "x"),
        ([ID], ID),
        ([(2024, "de")], (2024, "de")),
        ({"de": 5}, "de"),
        (pd.Series(["de"]), "de"),
        (pd.Series(["de"], dtype="category"), "de"),
        (pd.Series([MOMENT]), MOMENT),
        (pd.Series([MOMENT]).dt.to_period("M"), pd.Period("2024-02")),
        (pd.Series([3], dtype="Int64"), 3),
        (pl.Series(["de"]), "de"),
        (pl.Series(["de"], dtype=pl.Categorical), "de"),
        (pl.Series([DAY]), DAY),
        (pa.array(["de"]), "de"),
        (pa.chunked_array([["de"]]), "de"),
        (pa.array(["de"]).dictionary_encode(), "de"),
        (pa.array([DAY]), DAY),
        (pa.array([MOMENT], pa.timestamp("us")), MOMENT),
        (pa.array([3], pa.int16()), 3),
        (pa.array([ID.bytes], pa.uuid()), ID),
    ],
    ids=lambda value: f"{type(value).__module__}-{getattr(value, 'dtype', value)}",
)
def test_groups_are_python_objects(groups: Any, group: Any) -> None:
    boards = Boards.from_arrays(groups, [1])
    assert list(boards) == boards.top().groups.tolist() == [group]
    assert type(next(iter(boards))) is type(group)
    boards.increment_many(groups, [1])
    assert boards[group] == {1: 2.0}


@pytest.mark.parametrize(
    "scalar", [np.int8(3), np.datetime64("2024-02"), np.str_("x"), np.datetime64(MOMENT, "ns")]
)
def test_scalars_of_numpy_are_the_same_groups(scalar: Any) -> None:
    boards = Boards.from_arrays(np.array([scalar]), [1])
    assert boards.increment(scalar, 1) == boards[scalar][1] == 2.0
    assert scalar in boards
    assert len(boards) == 1
    boards = Boards()
    boards.increment(scalar, 1)
    assert not isinstance(next(iter(boards)), np.generic)


@pytest.mark.parametrize(
    "groups",
    [
        [None],
        [math.nan],
        np.array([np.nan]),
        np.array(["NaT"], "M8[D]"),
        np.array(["NaT"], "M8[ns]"),
        pd.Series([None, "de"]),
        pa.array([3, None]),
        pl.Series(["de", None]),
        np.array(["10000-01-01"], "M8[D]"),
        np.array(["-0001"], "M8[Y]"),
        np.array([1], "M8[ns]"),
        np.array([1], "m8[Y]"),
        np.ma.masked_array([1, 2], [False, True]),
    ],
    ids=lambda groups: f"{type(groups).__name__}-{groups[0]!r}",
)
def test_groups_that_are_none(groups: Any) -> None:
    with pytest.raises(ValueError, match=r"missing|beyond|microseconds|masked"):
        Boards.from_arrays(groups, range(len(groups)))
    if isinstance(groups, list):
        with pytest.raises(ValueError, match="missing"):
            Boards().increment(groups[0], 1)


@pytest.mark.parametrize("groups", [["a", 5], [5, "a"], [(1, 2), (1, "a")], [1j, 2j]])
def test_groups_without_an_order(groups: list[Any]) -> None:
    boards = Boards()
    with pytest.raises(TypeError):
        boards.increment_many(groups, [1, 2])
    assert len(boards) == len(list(boards)) == 0
    boards.increment(groups[0], 1)
    for add in (boards.increment, lambda group, member: boards.increment_many([group], [member])):
        with pytest.raises(TypeError):
            add(groups[1], 1)
    assert content(boards) == {groups[0]: {1: 1.0}}


def test_unhashable_groups() -> None:
    boards = Boards.from_arrays(["a"], [1])
    for use in (boards.get, boards.__contains__, lambda group: boards.increment(group, 1)):
        with pytest.raises(TypeError, match="unhashable"):
            use([])


def test_iteration_ends_when_a_board_comes() -> None:
    boards = Boards.from_arrays(["a", "b"], [1, 1])
    for add in (
        lambda: boards.increment("c", 1),
        lambda: boards.increment_many(["d"], [1]),
    ):
        iterator = iter(boards)
        next(iterator)
        boards.increment("a", 5)
        next(iterator)
        add()
        with pytest.raises(RuntimeError, match="added"):
            next(iterator)


def mixed(**options: Any) -> Any:
    """Boards small and large, with an order and without, and changes pending."""
    groups, members = np.repeat(["a", "b", "c"], [5, 700, 700]), np.r_[:5, :700, :700]
    boards = Boards.from_arrays(groups, members, members % 90 + 0.1, member="int64", **options)
    boards["c"].optimize()
    boards["c"].rank(5)
    boards.increment_many(["c", "c"], [5, 1000], 1.0)
    return boards


def refused(boards: Any, error: type[BaseException], call: Callable[[], object]) -> None:
    before, groups = content(boards), list(boards)
    digests = [z.digest() for z in boards.values()]
    iterators = [iter(z) for z in boards.values()]
    with pytest.raises(error):
        call()
    assert list(boards) == groups
    assert [z.digest() for z in boards.values()] == digests
    assert content(boards) == before
    assert [len(list(iterator)) for iterator in iterators] == [len(z) for z in before.values()]


@pytest.mark.parametrize(
    ("groups", "members", "by", "error"),
    [
        (["a", "b", "z", "c"], [1, 2000, 3, 4], [1.0, 2.0, 3.0, math.nan], ValueError),
        (["a", "b", "z", "c"], [1, 2000, 3, 4], math.nan, ValueError),
        (["a", "b", "z", "c", "c"], [1, 2000, 3, 4, 4], [1, 2, 3, math.inf, -math.inf], ValueError),
        (["a", "b", "c", "z", "z"], [1, 2000, 3, 4, 4], [1, 2, 3, -math.inf, math.inf], ValueError),
        (["a", "b", "z"], [1, 2, "x"], 1.0, TypeError),
        (["a", "b", "z"], [1, 2], 1.0, ValueError),
        (["a", "b", 5], [1, 2, 3], 1.0, TypeError),
        (["a", "b", None], [1, 2, 3], 1.0, ValueError),
        (["a", "b", "z"], [1, 2, 2**63], 1.0, OverflowError),
    ],
)
def test_what_is_refused_changes_nothing(
    groups: Any, members: Any, by: Any, error: type[Exception]
) -> None:
    boards = mixed()
    refused(boards, error, lambda: boards.increment_many(groups, members, by))


def test_float32_overflow_changes_nothing() -> None:
    boards = mixed(score="float32")
    rows = ["a", "b", "z", "c"], [1, 2000, 3, 4], [1.0, 2.0, 3.0, 1e39]
    refused(boards, OverflowError, lambda: boards.increment_many(*rows))
    refused(boards, TypeError, lambda: boards.increment("z", "x"))


def test_warnings_that_raise_change_nothing() -> None:
    boards = mixed(score="float32")
    boards.increment_many(["b"], [3], 2.0**24)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused(boards, PrecisionWarning, lambda: boards.increment_many(["a", "b", "z"], [1, 3, 3]))


@pytest.mark.parametrize("group", ["a", "b", "c"])
def test_failed_allocations_change_nothing(group: str) -> None:
    groups, members = np.repeat(["a", "b", "c", "z"], 400), np.tile(np.arange(800, 1600, 2), 4)
    expected = mixed()
    expected.increment_many(groups, members, 0.1)
    failures = 0
    while True:
        boards = mixed()
        boards[group]._fail_at(failures + 1)
        try:
            boards.increment_many(groups, members, 0.1)
        except MemoryError:
            boards[group]._fail_at(0)
            assert content(boards) == content(mixed())
            boards.increment_many(groups, members, 0.1)
        else:
            break
        finally:
            boards[group]._fail_at(0)
        assert content(boards) == content(expected)
        failures += 1
    assert failures > 0
    assert content(boards) == content(expected)


def test_a_board_of_another_kind_is_noticed() -> None:
    boards = mixed()
    SortedSet.__init__(boards["b"], {1: 1.0}, member="int32")
    refused(boards, RuntimeError, lambda: boards.increment_many(["a", "b"], [1, 2**40]))


ROWS = (["de", "de", "fr", "fr"], [3, 1, 2, 1], [9.0, 1.0, 5.0, 4.0])


def test_rows() -> None:
    rows = Boards.from_arrays(*ROWS).top()
    assert rows.to_list() == list(rows) == list(zip(*ROWS, strict=True))
    assert rows.ranks.tolist() == [1, 0, 1, 0]
    assert rows[1] == rows[-3] == ("de", 1, 1.0)
    assert [type(value) for value in rows[1]] == [str, int, float]
    assert rows[::-2].to_list() == [("fr", 1, 4.0), ("de", 1, 1.0)]
    for index in (4, -5):
        with pytest.raises(IndexError):
            rows[index]
    frame = pd.DataFrame(np.asarray(rows))
    assert frame.columns.tolist() == ["group", "member", "score"]
    assert frame.values.tolist() == [list(row) for row in rows]
    with pytest.raises(ValueError, match="copy"):
        np.array(rows, copy=False)


def test_rows_are_shown() -> None:
    rows = Boards.from_arrays(["<b>"] * 12, range(12)).top(12)
    assert repr(rows[:1]) == "BoardRows(1: ('<b>', 11, 1.0))"
    assert str(rows[:1]).splitlines()[2].split() == ["<b>", "11", "11", "1.0"]
    assert str(rows).splitlines()[-1].split() == ["...", "...", "2", "more", "..."]
    assert repr(Boards.from_arrays(*ROWS)) == "Boards(2 boards, 4 members)"


@pytest.mark.parametrize(
    ("groups", "kind"),
    [([5, 7], "i"), (["a", "b"], "T"), ([5, 2**63], "O"), ([-(2**63) - 1, 5], "O"), ([], "O")],
)
def test_the_column_of_groups(groups: list[Any], kind: str) -> None:
    column = Boards.from_arrays(groups, [1] * len(groups)).top().groups
    assert column.dtype.kind == kind
    assert column.tolist() == groups


def test_memory() -> None:
    groups = np.repeat(np.arange(2000), 10)
    names = [f"player_{i % 7000:05d}" for i in range(20_000)]
    boards = Boards.from_arrays(groups, names)
    report = boards.memory()
    sets = [z.memory() for z in boards.values()]
    assert report[:5] == tuple(sum(column) for column in zip(*(z[:5] for z in sets), strict=True))
    assert report.total == sum(report[:6])
    assert report.object > sum(z.object for z in sets) + sum(map(sys.getsizeof, boards))
    assert report.per_member == report.total / 20_000
    assert sum(z.total for z in sets) <= 450 * 2000
    assert math.isnan(Boards().memory().per_member)


def test_arguments_of_the_core() -> None:
    a, b = SortedSet({1: 1.0}), SortedSet({1: 1.0})
    ids, one = np.array([1, 1]), np.array([0, 1])
    for sets, places, members, by, error in (
        ((a, b), np.array([0, 2]), ids, 1.0, IndexError),
        ((a, b), np.array([-1, 0]), ids, 1.0, IndexError),
        ((a, b), one[:1], ids, 1.0, ValueError),
        ((a, b), one, ids, np.ones(3), ValueError),
        ((a, 5), one, ids, 1.0, TypeError),
        ([a, b], one, ids, 1.0, TypeError),
        ((a, a), one, ids, 1.0, RuntimeError),
        ((a, SortedSet(["x"], 1.0)), one, ids, 1.0, RuntimeError),
    ):
        with pytest.raises(error):
            _core.increment_sets(sets, places, members, by, None)
        assert a.to_dict() == b.to_dict() == {1: 1.0}
        a.discard(5)  # and nobody holds it


def interrupted(call: Callable[[], object]) -> None:
    """Ctrl-C during a call, by way of SIGALRM."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    completed = False
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            call()
            completed = True
            time.sleep(5)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not completed, "the call was over before the interrupt: make it longer"


def test_an_interrupted_call_has_changed_nothing() -> None:
    a, b = (SortedSet(range(0, 100_000, 2), 5.0) for _ in range(2))
    before = a.digest()
    ids, places = np.arange(6_000_000) % 100_000, np.arange(6_000_000) % 2
    interrupted(lambda: _core.increment_sets((a, b), places, ids, 1.5, None))
    assert a.digest() == b.digest() == before
    for z in (a, b):
        z._validate()
        assert z.increment(1) == 1.0


def test_the_seal_is_called_last_and_may_refuse() -> None:
    a, b = SortedSet({1: 1.0}), SortedSet({1: 1.0})
    rows = (a, b), np.array([0, 1, 1]), np.array([1, 1, 2]), 2.0
    done: list[int] = []
    with pytest.raises(ValueError, match="enough"):
        _core.increment_sets(*rows, functools.partial(int, "enough"))
    assert a.to_dict() == b.to_dict() == {1: 1.0}
    _core.increment_sets(*rows, functools.partial(done.append, 5))
    assert (a, b, done) == ({1: 3.0}, {1: 3.0, 2: 2.0}, [5])


def test_what_an_interrupted_call_left_out_is_made_up_for() -> None:
    boards = Boards.from_arrays(["b", "c"], [1, 1])
    boards._order = []
    assert list(boards) == ["b", "c"]
    boards._order = []
    boards.increment("a", 1)
    assert list(boards) == ["a", "b", "c"]
