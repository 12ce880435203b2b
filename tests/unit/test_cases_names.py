"""Faults others met, about names: windows (B03), lexical bounds (B04), ties (B05), flags (B07),
lost bits (B09), encodings (B22), indexes (B24), stored order (B48), aliases (B53), churn (B58),
mass removal (B59), leaks (B61), lengths that change (B65)."""

from __future__ import annotations

import functools
import gc
import math
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from model import fixtures
from model.compare import assert_memory
from model.layouts import NAME_LAYOUTS, Layout

import goblin
from goblin import SortedSet

layout = fixtures.over(NAME_LAYOUTS)


def fresh(z: SortedSet) -> SortedSet:
    """The same members in a set that has no history; its order built if z's is."""
    twin = SortedSet(z.to_dict(), member=z.member_dtype, score=z.score_dtype)
    twin.rank(b"", default=None)
    return twin


def assert_slim(z: SortedSet, factor: int = 4) -> None:
    """The bytes of a set are within a factor of those of a new one."""
    z._validate()
    assert_memory(z)
    assert z._live_bytes() <= factor * fresh(z)._live_bytes() + 8192


class TestB03Windows:
    @pytest.mark.parametrize("others", [0, 300])
    def test_nothing_from_outside_the_window(self, make: Any, layout: Layout, others: int) -> None:
        five = list(zip(layout.series(1, 6), map(float, range(1, 6)), strict=True))
        z = make(five)
        z.update(layout.series(100, 100 + others), 9.0)
        assert z.range_by_score(1, 5, offset=2) == five[2:]
        assert z.range_by_score(1, 5, offset=9, limit=1) == []
        assert z.range_by_score(1, 5, offset=5, limit=1) == []
        assert z.range_by_score(1, 5, limit=0) == []
        assert z.range_by_score(1, 5, descending=True, offset=4, limit=10) == five[:1]
        for window in ({"offset": -2, "limit": 10}, {"limit": -1}, {"offset": 2, "limit": -7}):
            for descending in (False, True):
                with pytest.raises(ValueError):
                    z.range_by_score(1, 5, descending=descending, **window)


@pytest.mark.parametrize("others", [0, 300])
class TestB04LexicalBounds:
    def make(self, others: int) -> SortedSet:
        z = SortedSet([b"", b"a", b"b", b"x"], 0.0)
        z.update([b"zz%d" % i for i in range(others)], 0.0)
        return z

    def test_the_empty_member_is_no_sentinel(self, others: int) -> None:
        z = self.make(others)
        assert [m for m, _ in z.range_by_lex(None, b"a")] == [b"", b"a"]
        assert z.count_lex(None, b"a") == z.count_lex(b"", b"a") == 2
        assert z.count_lex(b"", b"a", closed="right") == 1
        assert z.count_lex(b"b", b"a") == z.count_lex(b"a", b"a", closed="none") == 0
        assert z.count_lex(None, b"") == 1
        assert z.count_lex(None, b"", closed="none") == 0
        before_b = z.range_by_lex(None, b"b", closed="left", descending=True)
        assert [m for m, _ in before_b] == [b"a", b""]
        assert z.remove_by_lex(None, b"a") == 2
        assert list(z)[:2] == [b"b", b"x"]

    def test_words_that_look_like_sentinels(self, others: int) -> None:
        z = self.make(others)
        assert z.count_lex(b"maxstring", b"y", closed="none") == 1
        z.update([b"+", b"-", b"[a", b"(a", b"maxstring", b"minstring"], 0.0)
        assert z.count_lex(b"+", b"+") == z.count_lex(b"maxstring", b"maxstring") == 1
        assert z.count_lex(b"-", None) == len(z) - 3
        assert z.count_lex(None, None) == len(z)

    @pytest.mark.parametrize("length", [0, 1, 7, 8, 14, 15, 32, 33, 64, 254, 255, 256, 300, 70_000])
    def test_any_length(self, others: int, length: int) -> None:
        member = b"m" * length
        z = SortedSet([member], 0.0)
        assert z.count_lex(None, None) == z.count_lex(member, member) == 1
        assert z.count_lex(member, None, closed="none") == 0
        assert z.count_lex(None, member, closed="left") == 0
        z = self.make(others)
        z.update([member, member + b"\0", member + b"\0\0"], 0.0)
        rows = z.range_by_lex(member, member + b"\0\0", closed="right")
        assert [m for m, _ in rows] == [member + b"\0", member + b"\0\0"]
        z._validate()


@pytest.mark.parametrize("others", [0, 60, 400, 5000])
class TestB05Ties:
    TIED = (b"b", b"\xff", b"aa", b"\x80", b"", b"a\x00", b"\xc3\xa9", b"a", b"\x7f")
    ASTRAL = ("\U00010000", "\uffff", "\ue000", "\ud7ff", "z", "é")

    @pytest.mark.parametrize("optimized", [False, True])
    def test_raw_unsigned_bytes_both_ways(self, others: int, optimized: bool) -> None:
        z = SortedSet([b"%d" % i for i in range(others)], 2.0, member="bytes")
        z.update(self.TIED, 1.0)
        if optimized:
            z.optimize()
        assert list(z)[: len(self.TIED)] == sorted(self.TIED)
        assert list(reversed(z))[others:] == sorted(self.TIED)[::-1]
        assert [m for m, _ in z.range_by_score(1, 1, descending=True)] == sorted(self.TIED)[::-1]
        assert z.ranks(sorted(self.TIED)).tolist() == list(range(len(self.TIED)))
        z._validate()

    def test_code_points_not_utf16(self, others: int) -> None:
        z = SortedSet([str(i) for i in range(others)], 2.0, member="str")
        z.update(self.ASTRAL, 1.0)
        assert list(z)[: len(self.ASTRAL)] == sorted(self.ASTRAL)
        assert z.rank("\uffff") + 1 == z.rank("\U00010000")

    def test_after_updates_in_place(self, others: int) -> None:
        z = SortedSet([f"x{i}" for i in range(others)], 9.0, member="str")
        z.update({"b": 1.0, "a": 2.0, "c": 3.0})
        listings = []
        for member, score in (("a", 3.0), ("b", 3.0), ("c", 2.0)):
            z.add(member, score)
            listings.append("".join(list(z)[:3]))
        assert listings == ["bac", "abc", "cab"]
        assert [m for m, _ in z.range_by_score(0, 5, descending=True)] == ["b", "a", "c"]

    @pytest.mark.parametrize("length", [6, 7, 8, 9, 14, 15, 16, 200, 300])
    def test_prefixes_that_all_share(self, others: int, length: int) -> None:
        prefix = b"p" * length
        tied = [prefix[:-1], prefix, *(prefix + bytes([i]) for i in range(256)), prefix + b"\0\0"]
        z = SortedSet([b"q%d" % i for i in range(others)], 1.0, member="bytes")
        z.update(tied[::-1], 1.0)
        assert list(z)[: len(tied)] == sorted(tied)
        z.remove(tied[1::2])
        assert list(z)[: len(tied[::2])] == sorted(tied[::2])
        z._validate()


class TestB07FlagsAndRepeats:
    @pytest.mark.parametrize("others", [0, 60, 6000])
    @pytest.mark.parametrize("bulk", [False, True])
    def test_answers(self, make: Any, layout: Layout, others: int, bulk: bool) -> None:
        z = make(layout.series(100, 100 + others), 50.0)

        def add(pairs: list[tuple[int, float]], mode: str = "set") -> tuple[int, int]:
            members = [layout.nth(i) for i, _ in pairs]
            scores = [score for _, score in pairs]
            if bulk:
                changes = z.update(layout.array(members), np.array(scores), mode=mode)
            else:
                changes = z.update(zip(members, scores, strict=True), mode=mode)
            return changes.added, changes.changed

        assert add([(1, 1)]) == (1, 0)
        assert add([(1, 1)], "gt") == (0, 0)
        assert add([(1, 3)], "lt") == (0, 0)
        assert add([(1, 3)], "nx") == (0, 0)
        assert add([(1, 2)], "gt") == (0, 1)
        assert add([(2, -3)], "gt") == (1, 0)
        assert add([(3, 5)], "xx") == (0, 0)
        assert add([(4, 1), (4, 2)]) == (1, 1)
        assert add([(4, 5), (4, 3), (4, 5)], "gt") == (0, 1)
        assert z[layout.nth(4)] == 5.0
        assert z.remove([layout.nth(4)] * 2) == 1
        assert len(z) == others + 2
        z._validate()


class TestB09ScoresOfNames:
    def test_every_read_gives_the_same_bits(self, make: Any, layout: Layout) -> None:
        values = [0.1, 1 / 3, 1467787000123.25, 33333333.333333332, math.inf, -math.inf, 0.5]
        values += [1e16, 1e17, 1e-10, 5e-324, 1.7976931348623157e308, 2.0**53, 16777217.0]
        kept = np.array([v for v in values if abs(v) < 1e38 or math.isinf(v)], dtype=layout.score)
        if not layout.is_float32:
            kept = np.array(values)
        names = layout.series(len(kept))
        z = make(names, kept)
        expected = dict(zip(names, kept.tolist(), strict=True))
        assert z == expected
        assert z.scores(names).tobytes() == kept.tobytes()
        assert dict(z.items()) == dict(z.top(99)) == z.to_dict() == expected
        assert dict(zip(names, [z.increment(m, 0) for m in names], strict=True)) == expected


class TestB22Encodings:
    LONE = ("\ud800", "\udc80", "x\ud800", "é\udfff" * 100)

    @pytest.mark.parametrize("others", [0, 300])
    def test_lone_surrogates(self, others: int) -> None:
        z = SortedSet([str(i) for i in range(others)], 1.0, member="str")
        before = z.digest()
        for text in self.LONE:
            for write in (
                lambda t: z.add(t, 1),
                lambda t: z.increment(t, 1),
                lambda t: z.setdefault(t, 1.0),
                lambda t: z.update(["ok", t], [1, 2]),
                lambda t: z.update({"ok": 1, t: 2}),
                lambda t: z.increment_many(np.array(["ok", t])),
                lambda t: z.increment_many(["ok", t]),
                lambda t: z.subtract(["ok", t], 1),
            ):
                with pytest.raises(UnicodeEncodeError):
                    write(text)
            assert text not in z
            assert z.get(text) is None
            assert z.pop(text, None) is None
            assert not z.discard(text)
            with pytest.raises(UnicodeEncodeError):
                z.remove([text])
        assert z.digest() == before
        assert "str" in repr(z)
        z._validate()

    @pytest.mark.parametrize("others", [0, 300])
    def test_embedded_nuls_and_the_empty_name(self, others: int) -> None:
        z = SortedSet([f"x{i}" for i in range(others)], 9.0, member="str")
        names = ["a\0b", "a", "", "a\0", "\0", "\0\0", "a\0b\0"]
        for i, name in enumerate(names):
            z.add(name, i)
        assert len(z) == others + len(names)
        assert [z[name] for name in names] == list(range(len(names)))
        assert list(z)[: len(names)] == names
        assert z.remove(["a\0", ""]) == 2
        assert "a" in z
        assert "a\0b" in z
        z._validate()


class TestB24IndexesAndSlices:
    RANGES = ((0, -1), (-100, -50), (-100, -1), (-100, 0), (2, 1), (3, 10), (0, 10**18), (-1, -2),
              (-2, -1), (10**30, None), (None, 10**30))  # fmt: skip

    @pytest.mark.parametrize("size", [3, 64, 300])
    def test_as_in_a_list(self, make: Any, layout: Layout, size: int) -> None:
        listed = list(zip(layout.series(size), map(float, range(size)), strict=True))
        z = make(listed)
        for bounds in self.RANGES:
            for step in (None, -1, 2):
                assert z.by_rank[slice(*bounds, step)] == listed[slice(*bounds, step)]
            expected = listed.copy()
            del expected[slice(*bounds)]
            if None not in bounds:
                other = z.copy()
                assert other.remove_by_rank(*bounds) == size - len(expected)
                assert list(other.items()) == expected
        for i in (size, -size - 1, 10**30):
            with pytest.raises(IndexError):
                z.by_rank[i]
        with pytest.raises(TypeError):
            z.by_rank[listed[0][0]]
        with pytest.raises(ValueError):
            z.by_rank[::0]
        assert z.pop_min(0) == []
        assert z.pop_min(10**9) == listed
        assert z.pop_max(5) == []


class TestB48StoredOrder:
    """Names copied in the order of one table must not crowd another one."""

    SCRIPT = """
import numpy as np, sys
from goblin import SortedSet
n = 300_000
raw = np.random.default_rng(1).integers(0, 256, (n, 8), dtype=np.uint8)
names = {
    "random": lambda: [row.tobytes() for row in raw],
    "sequential": lambda: [b"%d" % i for i in range(n)],
    "long prefix": lambda: [b"p" * 40 + b"%d" % i for i in range(n)],
    "big-endian": lambda: [i.to_bytes(8, "big") for i in range(n)],
    "shifted": lambda: [(i << 32).to_bytes(8, "little") for i in range(n)],
}[sys.argv[1]]()
a = SortedSet(names, 1.0, member="bytes")
b = SortedSet(*a.to_numpy(), member="bytes")
c = SortedSet(member="bytes")
c.update(a)
c.merge(b)
d = a.copy()
d.increment_many(b.to_numpy()[0])
assert c == d
for z in (a, b, c, d):
    z._validate()
"""

    @pytest.mark.parametrize(
        "names", ["random", "sequential", "long prefix", "big-endian", "shifted"]
    )
    def test_never_quadratic(self, names: str) -> None:
        """Seconds where all is well; the limit only stops a run that would take hours."""
        subprocess.run([sys.executable, "-c", self.SCRIPT, names], check=True, timeout=300)


class TestB53TheObjectAsItsOwnArgument:
    @pytest.mark.parametrize("others", [0, 300])
    def test_of_one_set(self, others: int) -> None:
        def make(content: dict[str, float]) -> SortedSet:
            z = SortedSet(content, member="str")
            z.update([f"x{i}" for i in range(others)], 9.0)
            return z

        z = make({"x": 1.0, "y": 2.0})
        before = z.digest()
        assert z.update(z) == (0, 0, others + 2)
        assert z.update(*z.to_numpy()) == (0, 0, others + 2)
        assert z.update(z.items()) == (0, 0, others + 2)
        assert z == z
        assert z.digest() == before
        z.merge(z)
        assert (z["x"], z["y"]) == (2.0, 4.0)
        z.merge(z, weight=-1)
        assert (z["x"], z["y"]) == (0.0, 0.0)
        z.increment_many(z, 1.0)
        z.subtract(z)
        assert set(z.values()) == {0.0}
        with pytest.raises(ValueError):
            z.move(z, list(z))
        assert z.remove(z.keys()) == others + 2
        z._validate()

    def test_of_two_sets(self) -> None:
        s, other = SortedSet({"x": 1.0, "y": 2.0}), SortedSet({"y": 3.0, "w": 4.0})
        assert list(goblin.union([s, other]).items()) == [("x", 1.0), ("w", 4.0), ("y", 5.0)]
        assert goblin.union([s, s]) == {"x": 2.0, "y": 4.0}
        assert goblin.union([s, s], weights=[1, -1]) == {"x": 0.0, "y": 0.0}
        assert goblin.intersection([s, s]) == {"x": 2.0, "y": 4.0}
        assert goblin.difference(s, s) == {}
        assert s == {"x": 1.0, "y": 2.0}


class TestB58Churn:
    def test_add_and_remove(self, make: Any, layout: Layout) -> None:
        z = make()
        for i in range(5000):
            z.add(layout.nth(i), 1.0)
            z.discard(layout.nth(i))
        for start in range(0, 30_000, 100):
            part = layout.series(start, start + 100)
            z.update(part, 1.0)
            assert z.remove(part) == 100
        assert len(z) == 0
        assert_slim(z)

    def test_sliding_window(self, make: Any, layout: Layout) -> None:
        z = make()
        for i in range(10_000):
            z.add(layout.nth(i), float(i))
            if i >= 500:
                assert z.pop_min() == (layout.nth(i - 500), float(i - 500))
        assert_slim(z)

    @pytest.mark.parametrize("size", [63, 64, 65, 1000])
    def test_two_extremes(self, make: Any, layout: Layout, size: int) -> None:
        names = layout.series(size)
        z = make(names, 1.0)
        for i in range(60):
            z.update(names[i % 7 :: 7], (-1e30, 1e30)[i % 2])
            assert len(z.top(3)) == 3
        assert sorted(z) == names
        assert_slim(z)


@functools.cache
def many_names(layout: Layout) -> list[Any]:
    return layout.series(20_000)


class TestB59MassRemoval:
    @pytest.mark.parametrize("left", [0, 1, 10, 64, 65])
    @pytest.mark.parametrize(
        "shrink",
        [
            lambda z, names, left: z.remove(names[left:]),
            lambda z, names, left: [z.discard(name) for name in names[left:]],
            lambda z, names, left: z.pop_max(len(z) - left),
            lambda z, names, left: z.remove_by_rank(left, len(z)),
            lambda z, names, left: z.remove_by_score(left, math.inf),
            lambda z, names, left: z.trim(left, keep="bottom"),
        ],
    )
    def test_room_is_given_back(
        self, make: Any, layout: Layout, left: int, shrink: Callable[[Any, Any, int], Any]
    ) -> None:
        names = many_names(layout)
        z = make(names, range(20_000))
        walk = iter(z)
        next(walk)
        shrink(z, names, left)
        with pytest.raises(RuntimeError):
            next(walk)
        assert list(z) == names[:left]
        assert_slim(z)
        z.update(names, 1.0)
        assert list(z) == names
        assert_slim(z)

    def test_clear(self, make: Any, layout: Layout) -> None:
        z = make(many_names(layout), 1.0)
        z.clear()
        assert_slim(z)

    @pytest.mark.parametrize("border", [64, 256, 4096])
    def test_no_thrashing_at_a_border(self, make: Any, layout: Layout, border: int) -> None:
        names = layout.series(border + 4)
        z = make(names, 1.0)
        for _ in range(300):
            z.remove(names[-8:])
            z.update(names[-8:], 1.0)
        assert list(z) == names
        assert_slim(z)


PROBES = {
    "str": ["abc", "absent", "é", "é absent", np.str_("abc"), b"abc", 5, None, "\ud800"],
    "bytes": [b"abc", b"absent", bytearray(b"abc"), memoryview(b"ab"), np.bytes_(b"abc"), "abc"],
    "uuid": [*Layout("uuid", "float64").series(2), "8" * 32, b"8" * 16, "no", 5],
}


class TestB61LeaksOnLookUps:
    def test_memory_is_flat(self, make: Any, layout: Layout) -> None:
        probes = PROBES[layout.member]
        z = make([probes[0]], 1.0)

        def look_up(rounds: int) -> None:
            for _ in range(rounds):
                for probe in probes:
                    assert (probe in z) == (z.get(probe) is not None)
                    z.rank(probe, default=None)
                    z.discard(probe) and z.add(probe, 1.0)
                z.scores(probes[:2])
                repr(z)

        look_up(50)
        gc.collect()
        tracemalloc.start()
        look_up(50)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        look_up(500)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert grown < 1 << 16  # one object a look-up would be more, other threads take a little
        assert_memory(z)

    def test_counts_of_references(self, make: Any, layout: Layout) -> None:
        z = make()
        probe = {"str": "x" * 40 + "é", "bytes": b"x" * 40}.get(layout.member, layout.nth(5))
        before = sys.getrefcount(probe)
        for _ in range(100):
            z.add(probe, 1.0)
            z.increment_many([probe, probe])
            assert z.scores((probe,))[0] == z[probe]
            z.remove([probe])
        assert sys.getrefcount(probe) == before


class TestB65LengthsThatChange:
    LENGTHS = (10, 200, 30, 1000, 0, 7, 8, 14, 15, 127, 254, 255, 256, 5000)

    @pytest.mark.parametrize("kept", [3, 60, 300])
    def test_holes_are_reused(self, kept: int) -> None:
        z = SortedSet(member="bytes")
        names: list[bytes] = []
        for i in range(8000):
            name = b"%d" % i + b"v" * self.LENGTHS[i % len(self.LENGTHS)]
            z.add(name, float(i % 50))
            names.append(name)
            if len(names) > kept:
                assert z.discard(names.pop(i * 7919 % kept))
        assert sorted(z) == sorted(names)
        assert_slim(z)
        z.optimize()
        assert_slim(z, 2)
        assert z.digest() == fresh(z).digest()

    def test_the_report_covers_long_names(self) -> None:
        z = SortedSet([b"%d" % i * 100 for i in range(2000)], 1.0, member="bytes")
        text = sum(map(len, z))
        assert z.memory().members >= text
        assert_memory(z)
        z.remove(list(z)[10:])
        assert z.memory().members < text / 10
        assert_memory(z)
