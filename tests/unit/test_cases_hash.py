"""Faults others met, about hashes: the 64-bit edge (B10), float text (B12), repeats (B14), random
fields (B16), drift of kinds (B17), iteration (B18), aliases (B19, B53), re-entrancy (B21, B55),
surrogates and NULs (B22), readers and writers (B50), churn (B58), mass removal (B59), leaks (B61),
lengths that change (B65)."""

from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Callable
from typing import Any

import growth
import pytest
from model.hash_checks import assert_memory, in_every_form
from resident import resident

from goblin import Hash

BYTES = {"key": "bytes", "value": "bytes"}
ALLOWED = (KeyError, RuntimeError, ValueError, TypeError, OverflowError)


def assert_slim(h: Hash, factor: int) -> None:
    """The bytes of a hash are within a factor of those of a new one."""
    h._validate()
    assert_memory(h)
    assert h._live_bytes() <= factor * Hash(h, **BYTES)._live_bytes() + 1024


@in_every_form
class TestB10TheEndsOfInt64:
    def test_answers(self, form: dict[str, Any]) -> None:
        h = Hash({"n": "-9223372036854775484", "m": "9223372036854775807", "g": "-1"}, **form)
        with pytest.raises(OverflowError):
            h.increment("n", -10000)
        assert h["n"] == "-9223372036854775484"
        assert h.increment("n", 10000) == -9223372036854765484
        with pytest.raises(OverflowError):
            h.increment("m", 1)
        assert h.increment("m", -1) == 9223372036854775806
        assert h.increment("z", -9223372036854775808) == -9223372036854775808
        with pytest.raises(OverflowError):
            h.increment("z", -1)
        with pytest.raises(OverflowError):
            h.increment("g", -9223372036854775808)
        assert h["g"] == "-1"
        assert h.increment("b", 107374182400) == 107374182400
        with pytest.raises(OverflowError):
            h.increment("q", 9223372036854775808)
        assert "q" not in h
        assert h["z"] == "-9223372036854775808"


@in_every_form
class TestB12FloatText:
    @pytest.mark.parametrize(
        ("old", "by", "new"),
        [("1", 0.1, "1.1"), ("17179869184", 1.5, "17179869185.5"), ("3.0", 0.0, "3"),
         ("10.50", 0.1, "10.6"), ("5.0e3", 2.0e2, "5200"), ("0", 1e-18, "1e-18"), ("-5", 5.0, "0"),
         ("0", -0.0, "0"), ("0x10", 1.0, "17")],
    )  # fmt: skip
    def test_answers(self, form: dict[str, Any], old: str, by: float, new: str) -> None:
        h = Hash({b"f": old.encode()}, **BYTES, **form)
        assert repr(h.increment(b"f", by)) == repr(float(new))
        assert h == {b"f": new.encode()}

    @pytest.mark.parametrize("old", ["abc", " 1", "", "inf", "nan"])
    def test_errors(self, form: dict[str, Any], old: str) -> None:
        h = Hash({"f": old}, **form)
        with pytest.raises(ValueError):
            h.increment("f", 1.0)
        assert h == {"f": old}

    def test_what_is_not_finite(self, form: dict[str, Any]) -> None:
        h = Hash({"f": "1", "big": "1e308"}, **form)
        for key, by in (("f", float("inf")), ("f", float("nan")), ("big", 1e308)):
            with pytest.raises((ValueError, OverflowError)):
                h.increment(key, by)
        assert h == {"f": "1", "big": "1e308"}
        assert h.increment("z", 1e256) == 1e256
        assert h.increment("z", 1.0) == 1e256


@in_every_form
class TestB14FieldsRepeated:
    def test_answers(self, form: dict[str, Any]) -> None:
        c = Hash(**form)
        assert c.set_many(["u", "v"], ["1", "2"]) == 2
        assert c.pop_many(["u", "v", "u", "v", "u"]) == ["1", "2", None, None, None]
        assert len(c) == 0
        assert c.set_many(["k", "k"], ["1", "2"]) == 1
        assert c == {"k": "2"}
        assert c.set_many(["k"], ["3"]) == 0
        assert c.get_many(["k", "k", "none", "k"]) == ["3", "3", None, "3"]
        assert c.pop_many(["none"]) == [None]
        with pytest.raises(ValueError):
            c.set_many(["k", "j"], ["9"])
        assert c == {"k": "3"}


@in_every_form
class TestB16RandomFields:
    @pytest.mark.parametrize("n", [-1, -3, -(2**40), -(2**63), 2, 100, 2**40, 2**63 - 1, 2**200])
    def test_extreme_counts(self, form: dict[str, Any], n: int) -> None:
        for data in ({}, {"f": "v"}):
            with pytest.raises((ValueError, OverflowError)):
                Hash(data, **form).sample(n)

    def test_small_counts(self, form: dict[str, Any]) -> None:
        assert Hash({"f": "v"}, **form).sample(1) == [("f", "v")]
        assert Hash({"f": "v"}, **form).sample(0) == Hash(**form).sample(0) == []


@in_every_form
class TestB17IncrementsKeepTheKind:
    def test_text_stays_text(self, form: dict[str, Any]) -> None:
        h = Hash(**BYTES, **form)
        h.increment(b"n", 15)
        h.increment(b"x", 1.5)
        assert [h[b"n"], h[b"x"]] == [b"15", b"1.5"]
        assert h == Hash([(b"n", b"15"), (b"x", b"1.5")], **BYTES, **form)
        assert all(type(value) is bytes for value in h.values())
        h.increment(b"x", 1e-17)
        h.increment(b"x", 0.1)
        with pytest.raises(ValueError):
            h.increment(b"x", 1)
        h.increment(b"t", 3.0)
        assert h.increment(b"t", 1) == 4
        with pytest.raises(ValueError):
            Hash({"t": "3.0"}, **form).increment("t", 1)

    def test_growing_digits_leave_the_others_alone(self, form: dict[str, Any]) -> None:
        h = Hash({f"f{i}": f"value {i}" for i in range(200)}, **form)
        for power in range(18):
            h.increment("f", 9 * 10**power)
            h.increment("g", -(10**power) / 4)
            h._validate()
        assert h.pop("f") == "9" * 18
        assert float(h.pop("g")) == -sum(10**power / 4 for power in range(18))
        assert h == {f"f{i}": f"value {i}" for i in range(200)}


@in_every_form
class TestB18ChangesWhileIterating:
    def test_never_skipped_nor_repeated(self, form: dict[str, Any]) -> None:
        for change in (
            lambda h, key: h.pop(key),
            lambda h, key: h.increment(key, 100),
            lambda h, key: (h.pop(key), h.__setitem__("new" + key, "9")),
            lambda h, key: h.clear(),
        ):
            for walk in (iter, lambda h: iter(h.items()), lambda h: iter(h.values())):
                h = Hash({str(i): str(i) for i in range(6)}, **form)
                running = walk(h)
                next(running)
                change(h, next(iter(h)))
                with pytest.raises(RuntimeError):
                    next(running)

    def test_nested_loops(self, form: dict[str, Any]) -> None:
        h = Hash({str(i): "v" for i in range(6)}, **form)
        assert len({(a, b) for a in h for b in h}) == sum(1 for _ in h for _ in h) == 36


@in_every_form
class TestB19CopiesShareNothing:
    @pytest.mark.parametrize("size", [0, 6, 1000])
    def test_no_effect_either_way(self, form: dict[str, Any], size: int) -> None:
        for duplicate in (lambda h: h.copy(), copy.copy, copy.deepcopy, Hash):
            h = Hash({str(i): "v" * (i % 50) for i in range(size)}, **form)
            twin = duplicate(h)
            assert twin == h
            for one, other in ((h, twin), (twin, h)):
                kept = other.to_dict()
                one["0"] = "longer than before" * 9
                one.update({f"new {i}": "v" for i in range(3 * size + 10)})
                one.pop_many(list(kept)[::2])
                one.clear()
                assert other == kept
                one._validate()
                other._validate()
                one.update(kept)


class Evil:
    """What changes the hash, or an argument, when it is converted."""

    def __init__(self, change: Callable[[], Any]) -> None:
        self.change = change

    def __index__(self) -> int:
        self.change()
        return 1

    def __float__(self) -> float:
        self.change()
        return 1.0


def evil_keys(change: Callable[[], Any]) -> Any:
    for i in range(6):
        change()
        yield f"f{i}"


CHANGES = {
    "clear": lambda h: h.clear(),
    "grow": lambda h: h.update((f"g{i}", 7) for i in range(5000)),
    "shrink": lambda h: h.pop_many(list(h)[1:]),
    "same": lambda h: h.increment_many(list(h)),
    "optimize": lambda h: h.optimize(),
}
CALLS: dict[str, Callable[[Hash, Callable[[], Any]], Any]] = {
    "set item": lambda h, c: h.__setitem__("f1", Evil(c)),
    "setdefault": lambda h, c: h.setdefault("n", Evil(c)),
    "update pairs": lambda h, c: h.update([("f1", 5), ("f2", Evil(c))]),
    "update mapping": lambda h, c: h.update({"f1": Evil(c), "n": 5}),
    "update generator": lambda h, c: h.update((key, 5) for key in evil_keys(c)),
    "set_many": lambda h, c: h.set_many(["f1", "f2", "n"], [1, Evil(c), 3]),
    "set_many generator": lambda h, c: h.set_many(evil_keys(c), range(6)),
    "get_many": lambda h, c: h.get_many(evil_keys(c)),
    "get_many missing": lambda h, c: h.get_many(["f1", "x"], missing=Evil(c)),
    "pop_many": lambda h, c: h.pop_many(evil_keys(c)),
    "increment": lambda h, c: h.increment("f1", Evil(c)),
    "increment_many": lambda h, c: h.increment_many(evil_keys(c), [1, 2, Evil(c), 4, 5, 6]),
    "sample": lambda h, c: h.sample(Evil(c)),
}


class TestB21AndB55Reentrancy:
    @pytest.mark.parametrize("value", ["int64", "float64"])
    @pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
    @pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
    @pytest.mark.parametrize("most", [None, 0])
    def test_conversion_that_changes_the_hash(
        self, most: int | None, call: Any, change: Callable[[Any], Any], value: str
    ) -> None:
        h = Hash({f"f{i}": i for i in range(64)}, value=value, max_compact_fields=most)
        with contextlib.suppress(*ALLOWED):
            call(h, lambda: change(h))
        h._validate()
        assert_memory(h)
        assert len(list(h.items())) == len(h)

    def test_lists_that_shrink_meanwhile(self) -> None:
        h = Hash(value="int64")
        keys: list[Any] = [f"f{i}" for i in range(500)]
        values: list[Any] = list(range(500))
        values[3] = Evil(lambda: (keys.clear(), values.clear()))
        counts = sys.getrefcount(None)
        with contextlib.suppress(*ALLOWED):
            h.set_many(keys, values)
        assert all(key == f"f{value}" or value == 1 for key, value in h.items())
        assert abs(sys.getrefcount(None) - counts) < 50
        h._validate()


@in_every_form
class TestB22Surrogates:
    def test_surrogates(self, form: dict[str, Any]) -> None:
        h = Hash({"ok": "1"}, **form)
        for write in (
            lambda: h.__setitem__("\ud800", "v"),
            lambda: h.__setitem__("f", "\ud800"),
            lambda: h.increment("\udc80"),
            lambda: h.update([("ok", "2"), ("\ud800", "v")]),
            lambda: h.set_many(["ok", "f"], ["2", "\ud800"]),
        ):
            with pytest.raises(UnicodeEncodeError):
                write()
            assert repr(h).startswith("Hash(")
        assert "\ud800" not in h
        assert h.get("\ud800") is None
        assert h == {"ok": "1"}

    def test_nuls_and_the_empty_name(self, form: dict[str, Any]) -> None:
        h = Hash({b"a\0": b"x\0y", b"a\0b": b"\0", b"": b""}, **BYTES, **form)
        assert h.get(b"a") is None
        assert h[b"a\0"] == b"x\0y"
        assert h == {b"a\0": b"x\0y", b"a\0b": b"\0", b"": b""}


@in_every_form
class TestB53TheHashAsItsOwnArgument:
    def test_update_with_itself(self, form: dict[str, Any]) -> None:
        h = Hash({str(i): "v" for i in range(50)}, **form)
        before = h.to_dict()
        h.update(h)
        h.update(h.items())
        assert h.set_many(h.keys(), h.values()) == 0
        assert h == h == before
        assert h.get_many(h) == ["v"] * 50
        assert h.pop_many(h) == ["v"] * 50
        assert len(h) == 0


class TestB58Churn:
    @pytest.mark.parametrize("live", [1, 100, 3000])
    def test_fresh_fields_come_and_go(self, live: int) -> None:
        h = Hash(((b"live:%d" % i, b"v%d" % i) for i in range(live)), **BYTES)
        for i in range(20_000):
            h[b"fresh:%d" % i] = b"value"
            del h[b"fresh:%d" % i]
        assert len(h) == live
        assert_slim(h, 3)

    def test_a_sliding_window(self) -> None:
        h = Hash(**BYTES)
        for i in range(20_000):
            h[b"%d" % i] = b"x" * (i % 40)
            h.pop(b"%d" % (i - 1000), None)
        assert sorted(map(int, h)) == list(range(19_000, 20_000))
        assert_slim(h, 3)


class TestB59MassRemoval:
    @pytest.mark.parametrize("left", [0, 1, 10])
    @pytest.mark.parametrize(
        "way",
        [
            lambda h, gone: [h.pop(key) for key in gone],
            lambda h, gone: h.pop_many(gone),
            lambda h, gone: [h.popitem() for _ in gone],
        ],
    )
    def test_the_memory_comes_back(self, way: Callable[[Any, Any], Any], left: int) -> None:
        h = Hash(((b"field:%d" % i, b"value %d" % i) for i in range(20_000)), **BYTES)
        peak, walk = h._live_bytes(), iter(h)
        next(walk)
        way(h, [b"field:%d" % i for i in range(left, 20_000)])
        assert len(h) == left
        with pytest.raises(RuntimeError):
            next(walk)
        assert h._live_bytes() < peak / 20
        assert_slim(h, 4)
        h.update((b"field:%d" % i, b"again") for i in range(20_000))
        assert len(h) == 20_000
        h._validate()

    def test_clear_gives_everything_back(self) -> None:
        h = Hash({str(i): "v" for i in range(5000)})
        h.clear()
        assert h._live_bytes() <= Hash()._live_bytes()

    @pytest.mark.parametrize("size", [7, 14, 28, 56, 112, 224, 448, 896, 1792, 3584])
    def test_no_thrashing_at_a_threshold(self, size: int) -> None:
        h = Hash({str(i): "v" for i in range(size)}, max_compact_fields=0)
        sizes = set()
        for _ in range(1000):
            h["x"] = "v"
            del h["x"]
            sizes.add(h._live_bytes())
        h._validate()
        assert max(sizes) <= 3 * min(sizes)


LEAK = r"""
import numpy as np
from goblin import Hash

text = Hash({f"f{i}": str(i) for i in range(100)} | {"é": "x" * 99})
raw = Hash({b"f%d" % i: b"v" for i in range(3000)}, key="bytes", value="bytes")
whole, real = Hash({"a": 1}, value="int64"), Hash({"a": 1.5}, value="float64")
buffer = bytearray(b"f7")
keys, texts = [f"f{i}" for i in range(60)], np.array([f"f{i}" for i in range(60)])

def refused(call, *arguments):
    try:
        call(*arguments)
    except (TypeError, ValueError, KeyError, OverflowError):
        pass

def work(rounds):
    for _ in range(rounds):
        for key in ("f1", "é", "none", b"f1", 5, "\ud800"):
            key in text, text.get(key), text.pop(key, None)
            refused(text.__getitem__, key)
            refused(text.__setitem__, key, 5)
            refused(text.increment, key)
            refused(text.set_many, ["a", key], ["b", "\ud800"])
        for key in (b"f7", buffer, memoryview(buffer), np.bytes_(b"f7")):
            raw[key], raw.get(key), key in raw
        text.update({"f1": "1", "é": "x"})
        for given in (keys, texts, iter(keys), texts.astype("T")):
            text.get_many(given)
        text.set_many(keys, texts)
        text.pop_many(keys)
        whole.increment("a"), real.increment("a", 0.5), whole.get_many(["a", "x"])
        list(text.items()), list(text.scan("f*")), text.sample(1), repr(text), text == raw
        text.copy(), Hash(text), Hash(), text.to_dict(), text.to_numpy(), text.memory()
        buffer.append(buffer.pop())  # nobody holds it
"""


class TestB61Leaks:
    @resident
    def test_nothing_is_left_behind(self) -> None:
        growth.check(LEAK, (150, 600), most=500_000)

    def test_many_empty_ones(self) -> None:
        assert Hash()._live_bytes() == 0
        assert sys.getsizeof(Hash()) <= 160


class TestB65LengthsThatChange:
    LENGTHS = (10, 200, 30, 1000, 0)

    @pytest.mark.parametrize("most", [None, 0])
    def test_overwrites_leave_no_holes(self, most: int | None) -> None:
        fields = [b"field:%02d" % i for i in range(100)]
        h = Hash(**BYTES, max_compact_fields=most)
        for step in range(8000):
            h[fields[step * 7 % 100]] = b"v" * self.LENGTHS[step % 5]
        h._validate()
        again = Hash(h, **BYTES, max_compact_fields=most)
        assert h == again
        assert h._live_bytes() <= 2 * again._live_bytes() + 1024
        assert_memory(h)

    def test_growing_digits(self) -> None:
        h = Hash({b"f%d" % i: b"9" for i in range(100)}, **BYTES)
        for _ in range(30):
            for digits in (1, 10, 89, 9900, 10**15, -(10**15) - 9900 - 100):
                h.increment_many([b"f%d" % i for i in range(100)], digits)
        assert set(h.values()) == {b"9"}
        assert_slim(h, 2)

    def test_many_short_ones(self) -> None:
        hashes = [Hash({"name": f"n{i}", "elo": str(i), "title": "GM"}) for i in range(100)]
        assert max(map(sys.getsizeof, hashes)) <= 34 * 3 + 96
