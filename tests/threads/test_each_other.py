"""Objects that use each other, in both directions and in circles (B51), or themselves (B53)."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from crowd import promptly, together
from model.layouts import ALL_LAYOUTS, Layout

import goblin
from goblin import Boards, Hash, HashTable, SortedSet, _sortedset

N = 2500
FEW = [ALL_LAYOUTS[i] for i in (0, 3, 4, 7, 8)]  # every kind of members, both widths of scores
layouts = pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=str)
few_layouts = pytest.mark.parametrize("layout", FEW, ids=str)
# The second has other sets come in several chunks.
chunks = pytest.mark.parametrize("chunk", [1 << 20, 700], ids=["whole", "in chunks"])

pytestmark = pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")


def circle(pairs: list[tuple[Any, Any]], calls: list[Any], rounds: int) -> list[Any]:
    """A work for each pair: every call with it, the other way round, too."""

    def work(a: Any, b: Any) -> None:
        for _ in range(rounds):
            for call in calls:
                call(a, b)
                call(b, a)

    return [lambda pair=pair: work(*pair) for pair in pairs]


class TestSortedSets:
    @few_layouts
    @chunks
    def test_circles_of_three(
        self, layout: Layout, chunk: int, effort: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """All scores of a set are the same at any moment: those of a set that it took."""
        monkeypatch.setattr(_sortedset, "_CHUNK", chunk)
        members = layout.array(layout.series(N))
        a, b, c = (SortedSet(members, score, **layout.options) for score in (1.0, 2.0, 3.0))
        calls = [
            lambda x, y: x.update(y),
            lambda x, y: x == y,
            lambda x, y: x.merge(y, aggregate="max"),
            lambda x, y: x.update(x),
        ]

        def read() -> None:
            for z in (a, b, c):
                assert z.distinct_scores()[1].tolist() == [N]
            for joined in (goblin.union([a, b, c], aggregate="min"), goblin.intersection([c, a])):
                assert joined.distinct_scores()[1].tolist() == [N]
            assert len(goblin.difference(b, a, c)) == 0
            assert goblin.intersection_card([b, c, a], limit=9) == 9
            assert a.copy().distinct_scores()[1].tolist() == [N]
            assert SortedSet(b).distinct_scores()[1].tolist() == [N]

        together(circle([(a, b), (b, c), (c, a), (a, b)], calls, 2 * effort), [read])
        for z in (a, b, c):
            z._validate()

    @layouts
    def test_what_moves_is_in_one_set_at_any_moment(self, layout: Layout, effort: int) -> None:
        members = layout.series(N)
        sets = [SortedSet(members[i::3], 1.0, **layout.options) for i in range(3)]

        def move(turn: int) -> None:
            rng = random.Random(turn)
            for _ in range(30 * effort):
                source, target = rng.sample(sets, 2)
                source.move(target, members[:: rng.choice([1, 7])])

        def read() -> None:
            everywhere = goblin.union(sets, aggregate="count")
            assert len(everywhere) == everywhere.total() == N

        together([lambda turn=turn: move(turn) for turn in range(4)], [read])
        read()
        for z in sets:
            z._validate()

    @few_layouts
    @chunks
    @pytest.mark.parametrize(
        ("call", "right"),
        [
            (lambda z: z.update(z), "same"),
            (lambda z: z.update(z.items()), "same"),
            (lambda z: z.update(z.by_rank[:]), "same"),
            (lambda z: z.update(*z.to_numpy()), "same"),
            (lambda z: z.merge(z, aggregate="max"), "same"),
            (lambda z: z.merge(z, weight=0.0), "same"),
            (lambda z: z.__init__(z, member=z.member_dtype), "same"),
            (lambda z: z.merge(z), "double"),
            (lambda z: z.increment_many(*z.to_numpy()), "double"),
            (lambda z: z.merge(z, aggregate="count"), "two"),
            (lambda z: z.subtract(z), "zero"),
            (lambda z: z.remove(z), "none"),
            (lambda z: z.remove(z.keys()), "none"),
        ],
    )
    def test_a_set_as_its_own_argument(
        self,
        layout: Layout,
        chunk: int,
        call: Callable[[Any], Any],
        right: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(_sortedset, "_CHUNK", chunk)
        before = {layout.nth(n): float(n % 5) for n in range(1000)}
        z = SortedSet(before, **layout.options)
        promptly(lambda: call(z))
        z._validate()
        factors = {"same": (1, 0), "double": (2, 0), "two": (0, 2), "zero": (0, 0), "none": None}
        factor = factors[right]
        assert z == ({m: s * factor[0] + factor[1] for m, s in before.items()} if factor else {})

    @few_layouts
    def test_new_sets_from_one_twice(self, layout: Layout) -> None:
        z = SortedSet({layout.nth(n): float(n % 5) for n in range(1000)}, **layout.options)
        double = {member: 2 * score for member, score in z.items()}
        assert promptly(lambda: goblin.union([z, z])) == double
        assert promptly(lambda: goblin.union([z, z, z], weights=[1, -1, 1])) == z
        assert promptly(lambda: goblin.intersection([z, z])) == double
        assert promptly(lambda: goblin.difference(z, z)) == {}
        assert promptly(lambda: goblin.intersection_card([z, z])) == 1000
        assert promptly(lambda: z == z)
        assert promptly(lambda: SortedSet(z, **layout.options)) == z
        with pytest.raises(ValueError):
            promptly(lambda: z.move(z, [layout.nth(1)]))
        z._validate()


class TestHashes:
    @pytest.mark.parametrize("size", [50, N], ids=["compact", "table"])
    def test_circles_of_three(self, size: int, effort: int) -> None:
        keys = [f"f{n}" for n in range(size)]
        options = {"max_compact_fields": None if size < N else 0}
        a, b, c = (Hash(dict.fromkeys(keys, value), **options) for value in ("1", "22", "w" * 9))
        calls = [
            lambda x, y: x.update(y),
            lambda x, y: x == y,
            lambda x, y: x.update(y.copy()),
        ]

        def read() -> None:
            for h in (a, b, c):
                assert len(set(h.to_dict().values())) == 1
                assert len(set(h.copy().get_many(keys))) == 1

        together(circle([(a, b), (b, c), (c, a), (a, b)], calls, 4 * effort), [read])
        for h in (a, b, c):
            h._validate()

    @pytest.mark.parametrize(
        ("call", "left"),
        [
            (lambda h: h.update(h), 300),
            (lambda h: h.update(h.items()), 300),
            (lambda h: h.set_many(h.keys(), h.values()), 300),
            (lambda h: h.set_many(h, h.values(), only="existing"), 300),
            (lambda h: h.increment_many(h, 0), 300),
            (lambda h: h.__init__(h, value="int64"), 300),
            (lambda h: h.get_many(h), 300),
            (lambda h: h == h, 300),
            (lambda h: h.pop_many(h), 0),
        ],
    )
    @pytest.mark.parametrize("most", [None, 0], ids=["compact", "table"])
    def test_a_hash_as_its_own_argument(self, call: Any, left: int, most: int | None) -> None:
        before = {f"f{n}": n for n in range(300)}
        h = Hash(before, value="int64", max_compact_fields=most)
        promptly(lambda: call(h))
        h._validate()
        assert h == (before if left else {})


class TestTables:
    def test_circles_of_three(self, effort: int) -> None:
        keys, fields = [f"r{n}" for n in range(30)], [f"f{n}" for n in range(50)]
        a, b, c = (
            HashTable({key: dict.fromkeys(fields, n) for key in keys}, value="int64")
            for n in (1, 2, 3)
        )
        calls = [
            lambda x, y: x.update(y),
            lambda x, y: x == y,
            lambda x, y: x["r1"] == y["r2"],
            lambda x, y: x.setdefault("r1", y["r1"]),
        ]

        def read() -> None:
            for table in (a, b, c):
                records = table.to_dict().values()
                assert len({n for record in records for n in record.values()}) == 1

        def mix() -> None:
            """Records of one table go into another, which is uneven only for itself."""
            mixed: HashTable[str, str, int] = HashTable(a, value="int64")
            for key, table in zip(keys, itertools.cycle([a, b, c]), strict=False):
                mixed[key] = table[key]
                mixed[key].update(table[key])
                assert len(set(mixed[key].values())) == 1

        together(circle([(a, b), (b, c), (c, a)], calls, 3 * effort), [read, mix])
        for table in (a, b, c):
            table._validate()

    @pytest.mark.parametrize(
        "call",
        [
            lambda t: t.update(t),
            lambda t: t.update(t.items()),
            lambda t: t["a"].update(t["a"]),
            lambda t: t["a"].update(t["a"].items()),
            lambda t: t["a"].set_many(t["a"], t["a"].values()),
            lambda t: t["a"].increment_many(t["a"], 0),
            lambda t: t.__setitem__("a", t["a"]),
            lambda t: t.setdefault("a", t["a"]),
            lambda t: t.__init__(t, value="int64"),
            lambda t: (t == t, t["a"] == t["a"]),
            lambda t: (t.__setitem__("c", t["a"]), t.pop("c")),
        ],
    )
    def test_a_table_as_its_own_argument(self, call: Callable[[Any], Any]) -> None:
        before = {key: {f"f{n}": n for n in range(60)} for key in "ab"}
        table = HashTable(before, value="int64")
        promptly(lambda: call(table))
        table._validate()
        assert table.to_dict() == before


def test_boards_that_merge_into_each_other(effort: int) -> None:
    """Calls for many boards and for two of them take their locks in one order."""
    groups, members = [n % 6 for n in range(3000)], list(range(3000))
    boards = Boards.from_arrays(groups, members, 0.0)

    def merge(turn: int) -> None:
        rng = random.Random(turn)
        for _ in range(20 * effort):
            a, b = rng.choices(range(6), k=2)
            boards[a].merge(boards[b], weight=0.0)
            assert goblin.union([boards[b], boards[a]]).total() >= 0.0

    def count() -> None:
        for _ in range(5 * effort):
            boards.increment_many(groups, members)

    together([lambda: merge(1), lambda: merge(2), count, count], [lambda: boards.top(3)])
    assert sum(board.total() for board in boards.values()) == 10 * effort * 3000
    for board in boards.values():
        board._validate()
