"""Readers against writers of one object, and counts that have to come out exact (B50)."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from crowd import together
from model.layouts import ALL_LAYOUTS, Layout

from goblin import Boards, Hash, HashTable, SortedSet

N = 2500  # enough for bulk calls to let the GIL go
layouts = pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
compressed = pytest.mark.parametrize("compress", [True, False], ids=["packed", "plain"])


def times(n: int, *calls: Callable[[], Any]) -> Callable[[], None]:
    def work() -> None:
        for _ in range(n):
            for call in calls:
                call()

    return work


class TestSortedSet:
    @layouts
    @compressed
    @pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "unordered"])
    def test_every_answer_was_true_at_some_moment(
        self, layout: Layout, compress: bool, ordered: bool, effort: int
    ) -> None:
        """The set is full or empty; no answer may be of anything between."""
        members, scores = layout.array(layout.series(N)), np.arange(N) % 5
        z = SortedSet(members, scores, **layout.options, compress=compress)
        full, middle = z.to_dict(), layout.nth(7)
        # What each read gives for the full set and for the empty one.
        reads: list[Callable[[], Any]] = [
            lambda: len(z),
            lambda: z.get(middle),
            lambda: middle in z,
            lambda: z.scores(members[:2100]).tolist(),
            lambda: z.total(),
            lambda: z.digest(),
            lambda: z.copy().digest(),
            lambda: z == full,
            lambda: repr(z),
        ]
        if ordered:
            reads += [
                lambda: z.rank(middle, default=None),
                lambda: z.ranks(members[:2100], method="max").tolist(),
                lambda: z.by_rank[3:2200:9].to_list(),
                lambda: z.top(5, ties="all").to_list(),
                lambda: z.count(1, 3),
                lambda: z.range_by_score(2, 3, limit=40).to_list(),
                lambda: z.page(9, descending=False).rows.to_list(),
                lambda: z.to_dict(),
                lambda: z.distinct_scores()[1].tolist(),
            ]
        truths = [[str(read())] for read in reads]
        z.clear()
        for read, truth in zip(reads, truths, strict=True):
            truth.append(str(read()))
        rounds = itertools.cycle(zip(reads, truths, strict=True))

        def read_one() -> None:
            read, truth = next(rounds)
            assert str(read()) in truth

        def iterate() -> None:
            with contextlib.suppress(RuntimeError):
                assert len(list(z.items() if ordered else z)) in (0, N)

        def replace() -> None:
            z.clear()
            z.update(members, scores)
            z.optimize()

        together([times(4 * effort, replace)] * 2, [read_one, read_one, iterate])
        z._validate()
        assert z == full

    @layouts
    @compressed
    def test_no_increment_is_lost(self, layout: Layout, compress: bool, effort: int) -> None:
        z = SortedSet(**layout.options, compress=compress)
        many = layout.array(layout.series(N))
        few, one = many[::250], layout.nth(3)
        works = [
            times(200 * effort, lambda: z.increment(one)),
            times(20 * effort, lambda: z.increment_many(few, 2.0)),
            times(3 * effort, lambda: z.increment_many(many)),
            times(3 * effort, lambda: z.increment_many(many, np.ones(N), return_scores=True)),
        ]
        orders = [lambda: z.top(1, ties="all"), lambda: z.rank(one, default=0), z.optimize]
        together(works * 2, orders)
        z._validate()
        expected = dict.fromkeys(layout.series(N), 12.0 * effort)
        for place in range(0, N, 250):
            expected[layout.nth(place)] += 80.0 * effort
        expected[one] += 400.0 * effort
        assert z == expected
        assert z.total() == sum(expected.values())

    @layouts
    def test_each_member_is_popped_once(self, layout: Layout, effort: int) -> None:
        for _ in range(effort):
            z = SortedSet(layout.array(layout.series(N)), np.arange(N) % 9, **layout.options)
            popped: list[Any] = []

            def pop(take: Callable[[], Any], popped: list[Any] = popped) -> None:
                with contextlib.suppress(KeyError):
                    while rows := take():
                        popped.extend(rows)

            takes = [
                lambda z=z: [z.pop_min()],
                lambda z=z: [z.pop_max()],
                lambda z=z: z.pop_min(7).to_list(),
                lambda z=z: z.pop_max(300).to_list(),
            ]
            together([lambda take=take, pop=pop: pop(take) for take in takes])
            assert len(z) == 0
            assert sorted(popped) == sorted((layout.nth(i), float(i % 9)) for i in range(N))

    @layouts
    def test_threads_share_an_iterator(self, layout: Layout, effort: int) -> None:
        z = SortedSet(layout.array(layout.series(N)), np.arange(N) % 9, **layout.options)
        for _ in range(effort):
            iterator, got = iter(z), [[] for _ in range(4)]
            together([lambda part=part, it=iterator: part.extend(it) for part in got])
            assert sorted(itertools.chain(*got)) == layout.series(N)

    @layouts
    def test_pages_show_what_stays_once(self, layout: Layout, effort: int) -> None:
        """Rows that come and go between the pages of a listing hide and repeat no other."""
        lasting = {layout.nth(i): float(i % 3) for i in range(0, 400, 2)}
        passing = layout.array(layout.series(1, 400)[::2])
        z = SortedSet(lasting, **layout.options)
        right = list(z.items())

        def come_and_go() -> None:
            z.update(passing, 1.0)
            z.remove(passing)

        def list_all(descending: bool) -> None:
            rows: list[Any] = []
            page = z.page(7, descending=descending)
            while rows.extend(page.rows) or page.cursor is not None:
                page = z.page(7, after=page.cursor, descending=descending)
            assert len(set(rows)) == len(rows)
            seen = [row for row in rows if row[0] in lasting]
            assert seen == (right[::-1] if descending else right)

        lists = [lambda: list_all(True), lambda: list_all(False)]
        together([times(effort, work) for work in lists], [come_and_go])


HASH_FORMS = {"compact": {}, "table": {"max_compact_fields": 0}}
VALUES: dict[str, tuple[Any, Any]] = {
    "str": ("v", "w" * 30),
    "bytes": (b"v", b"w" * 30),
    "int64": (1, 2**40),
    "float64": (0.5, 1e300),
}


@pytest.mark.parametrize("form", HASH_FORMS.values(), ids=HASH_FORMS)
class TestHash:
    @pytest.mark.parametrize("value", VALUES)
    def test_every_answer_was_true_at_some_moment(
        self, form: dict[str, Any], value: Any, effort: int
    ) -> None:
        keys = [f"f{n}" for n in range(400 if "max_compact_fields" not in form else N)]
        h: Hash[str, Any] = Hash(value=value, **form)
        short, long = VALUES[value]
        states: list[dict[str, Any]] = [{}, dict.fromkeys(keys, short), dict.fromkeys(keys, long)]

        def write() -> None:
            h.clear()
            h.set_many(keys, [short] * len(keys))
            h.update(states[2])
            h.optimize()

        def read() -> None:
            assert len(set(map(str, h.get_many(keys)))) == 1  # one call, one moment: all alike
            assert h.get("f7") in (None, short, long)
            assert h.to_dict() in states
            assert h.copy().to_dict() in states
            assert Hash.from_bytes(h.to_bytes()).to_dict() in states
            assert len(h) in (0, len(keys))

        def iterate() -> None:
            with contextlib.suppress(RuntimeError):
                assert len(list(h.items())) in (0, len(keys))

        together([times(8 * effort, write)] * 2, [read, read, iterate])
        h._validate()
        assert h.is_compact == (form == {})

    @pytest.mark.parametrize("value", ["str", "int64", "float64"])
    def test_no_increment_is_lost(self, form: dict[str, Any], value: Any, effort: int) -> None:
        h: Hash[str, Any] = Hash(value=value, **form)
        keys = [f"f{n}" for n in range(N)]
        works = [
            times(300 * effort, lambda: h.increment("f0")),
            times(4 * effort, lambda: h.increment_many(keys)),
            times(20 * effort, lambda: h.increment_many(["f1"] * 50, 2)),
        ]
        together(works * 2, [h.optimize, lambda: h.get_many(keys)])
        expected = dict.fromkeys(keys, 8 * effort)
        expected["f0"] += 600 * effort
        expected["f1"] += 4000 * effort
        assert {key: int(float(n)) for key, n in h.items()} == expected
        h._validate()

    def test_each_field_is_popped_once(self, form: dict[str, Any], effort: int) -> None:
        for _ in range(effort):
            h: Hash[str, Any] = Hash({f"f{n}": n for n in range(N)}, value="int64", **form)
            popped: list[int] = []

            def one_by_one(h: Hash[str, Any] = h, popped: list[int] = popped) -> None:
                with contextlib.suppress(KeyError):
                    while True:
                        popped.append(h.popitem()[1])

            def many(h: Hash[str, Any] = h, popped: list[int] = popped) -> None:
                for start in range(0, N, 50):
                    got = h.pop_many([f"f{n}" for n in range(start, start + 50)])
                    popped.extend(n for n in got if n is not None)

            together([one_by_one, one_by_one, many, many])
            assert sorted(popped) == list(range(N))


class TestHashTable:
    def test_every_answer_was_true_at_some_moment(self, effort: int) -> None:
        """All fields of all records are alike in any moment; a record may be gone."""
        keys = [f"r{n}" for n in range(60)]
        fields = [f"f{n}" for n in range(40)]
        table: HashTable[str, str, int] = HashTable(value="int64")
        numbers = itertools.count()

        def write() -> None:
            n = next(numbers)
            table.update({key: dict.fromkeys(fields, n) for key in keys})
            table.optimize()
            if n % 3 == 0:
                table.clear()

        def read() -> None:
            assert len(set(table.column("f3").tolist())) <= 1
            whole = table.to_dict()
            assert len({n for record in whole.values() for n in record.values()}) <= 1
            assert len(whole) in (0, 60)
            assert table.copy() == table.copy() or len(whole) >= 0
            with contextlib.suppress(KeyError):
                assert len(set(table["r5"].get_many(fields).tolist())) == 1
                assert len(set(table["r5"].to_dict().values())) == 1
            with contextlib.suppress(RuntimeError, KeyError):
                assert len(set(table["r7"].values())) == 1
            with contextlib.suppress(RuntimeError):
                assert len(list(table)) in (0, 60)

        together([times(12 * effort, write)] * 2, [read, read])
        table._validate()

    def test_no_increment_is_lost(self, effort: int) -> None:
        fields = [f"f{n}" for n in range(30)]
        table: HashTable[str, str, int] = HashTable({"a": {}, "b": {}}, value="int64")
        record = table["a"]
        works = [
            times(50 * effort, lambda: record.increment("f0")),
            times(20 * effort, lambda: record.increment_many(fields, 2)),
            times(20 * effort, lambda: table["b"].increment("f0", 3)),
            times(20 * effort, lambda: table.update({"c": dict.fromkeys(fields, 1)})),
        ]
        together(works * 2, [table.optimize, lambda: table.pop("c", None)])
        table.pop("c", None)
        expected = dict.fromkeys(fields, 80 * effort)
        expected["f0"] += 100 * effort
        assert table.to_dict() == {"a": expected, "b": {"f0": 120 * effort}}
        table._validate()


class TestBoards:
    def test_no_increment_is_lost(self, effort: int) -> None:
        boards: Boards[int, int] = Boards(member="int64")
        groups, members = np.arange(6000) % 30, np.arange(6000) % 7
        fresh = itertools.count(1000)
        works = [
            times(3 * effort, lambda: boards.increment_many(groups, members)),
            times(50 * effort, lambda: boards.increment(next(fresh), 1)),
            times(50 * effort, lambda: boards.increment(5, 1, 2.0)),
            times(20 * effort, lambda: boards.increment_many([next(fresh)] * 3, [1, 2, 3])),
        ]

        def read() -> None:
            boards.top(2)
            boards.memory()
            repr(boards)
            with contextlib.suppress(RuntimeError):
                assert list(boards) == sorted(boards)

        # Merging what changes nothing takes two boards, in the order that all calls have.
        together(works * 2, [read, lambda: 0 in boards and boards[0].merge(boards[0], weight=0)])
        assert list(boards) == sorted([*range(30), *range(1000, 1000 + 140 * effort)])
        sums = {group: board.total() for group, board in boards.items()}
        assert sums[5] == 6 * effort * 200 + 200.0 * effort
        assert math.fsum(sums.values()) == effort * (6 * 6000 + 100 + 200 + 120)
        for board in boards.values():
            board._validate()

    def test_a_call_that_fails_leaves_no_trace(self, effort: int) -> None:
        """All or nothing, also for boards that other threads increment meanwhile."""
        boards: Boards[int, int] = Boards(member="int64")
        groups, members = np.arange(3000) % 30, np.arange(3000) % 7
        bad = np.append(np.ones(2999), -np.inf)
        boards.increment(29, 2999 % 7, math.inf)

        def fail() -> None:
            with pytest.raises(ValueError):
                boards.increment_many(groups, members, bad)

        works = [times(5 * effort, lambda: boards.increment_many(groups, members)), fail]
        together([*works, times(5 * effort, fail)])
        finite = [score for z in boards.values() for score in z.values() if score < math.inf]
        assert len(boards) == 30
        ones = Boards.from_arrays(groups, members, member="int64")
        assert sum(finite) == 5 * effort * (3000 - ones[29][2999 % 7])
