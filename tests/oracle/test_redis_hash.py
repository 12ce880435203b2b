"""Hashes of bytes in every form beside one of a Redis server: the same random operations, the same
answers.

Each rule is named after the command that it sends. What differs on purpose is in docs/redis.md, and
tested at the end.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import redis
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from model.compare import outcome
from model.hash_checks import ALL_FORMS

from goblin import Hash

DOCS = Path(__file__).parents[2] / "docs" / "redis.md"
LISTPACK_LIMITS = {"listpack": 1_000_000, "hashtable": 0}
KEY = b"h"
INT64 = -(2**63), 2**63 - 1

# A listpack stores what looks like an integer as one, and has forms by length.
TEXTS = [
    *(b"", b"\0", b"a\0", b"\x7f", b"\x80", b"\xff", "é".encode(), "\uff11".encode()),
    *b"a aa ab b ab- a] [a ^ * ? - \\ \\a 0 -0 00 007 +1 -1 9 10 12.5 1e5 0x10 inf nan".split(),
    *b"127 128 -129 4095 4096 65536 4294967296 9223372036854775807 -9223372036854775808".split(),
    *(b"9223372036854775808", b"-9223372036854775809", b"1 ", b" 1", b"1\0"),
    *(b"0f8fad5b-d9cb-469f-a165-70867728950e", b"0F8FAD5B-d9cb-469f-a165-70867728950e"),
]
LENGTHS = 63, 64, 127, 128, 254, 255, 256, 4095, 4096, 32_767, 32_768
NUMBERS = b"0 -0 1 -5 41 3.0 10.50 5.0e3 .5 5. +7 0x10 1e12 -0.25 007".split()
FIELDS = st.one_of(
    st.sampled_from(TEXTS[:20]),
    st.sampled_from(TEXTS),
    st.sampled_from(LENGTHS[:-4]).map(bytes),
    st.integers(0, 40).map(b"run:%d".__mod__),
    st.binary(max_size=3),
)
VALUES = st.one_of(
    st.sampled_from(NUMBERS),
    st.sampled_from(TEXTS),
    st.sampled_from(LENGTHS).map(bytes),
    st.binary(max_size=40),
)
ROWS = st.lists(st.tuples(FIELDS, VALUES), min_size=1, max_size=12)
MANY = st.lists(FIELDS, min_size=1, max_size=12)
WHOLE = st.one_of(
    st.integers(-20, 20), st.sampled_from([*INT64, 2**63, -(2**70), 2**31, 107374182400])
)
# Sums of quarters are exact in float64 and in Redis' long double, and have few digits.
QUARTERS = st.integers(-400, 400).map(lambda quarters: quarters / 4.0)
PATTERNS = st.one_of(
    st.sampled_from([b"*", b"run:*", b"run:[0-9]", b"*[^0-9]", b"", b"?", b"[a-", b"*\\", b"[^]"]),
    st.lists(st.sampled_from([b"%c" % c for c in b"a*?[]^-\\bx0:"]), max_size=6).map(b"".join),
    FIELDS,
)


def pairs(reply: list[bytes]) -> dict[bytes, bytes]:
    return dict(zip(reply[::2], reply[1::2], strict=True))


def same(answers: Iterable[Any]) -> Any:
    """The answer that all give."""
    first, *others = answers
    assert all(type(other) is type(first) and other == first for other in others)
    return first


class RedisMachine(RuleBasedStateMachine):
    def __init__(self, server: redis.Redis, encoding: str) -> None:
        super().__init__()
        self.call: Callable[..., Any] = server.execute_command
        self.encoding = encoding
        self.call("FLUSHALL")
        self.call("CONFIG", "SET", "hash-max-listpack-entries", LISTPACK_LIMITS[encoding])
        self.call("CONFIG", "SET", "hash-max-listpack-value", LISTPACK_LIMITS[encoding])
        self.hashes = [Hash(key="bytes", value="bytes", **form) for form in ALL_FORMS]

    def ours(self, call: Callable[[Hash], Any]) -> Any:
        return same(call(h) for h in self.hashes)

    def refused(self, call: Callable[[Hash], Any]) -> bool:
        """Whether all refuse; the answers, if any, are compared by whoever asks."""
        errors = [outcome(lambda h=h: call(h))[1] for h in self.hashes]
        assert all(isinstance(error, ValueError | OverflowError | None) for error in errors)
        return same(error is not None for error in errors)

    # ---- writes

    @initialize(rows=ROWS, count=st.sampled_from([0, 0, 5, 6, 100, 600]))
    def fill(self, rows: list[tuple[bytes, bytes]], count: int) -> None:
        self.hset([*rows, *((b"run:%d" % i, b"%d" % (i * 7919)) for i in range(count))])

    @rule(rows=ROWS)
    def hset(self, rows: list[tuple[bytes, bytes]]) -> None:
        words = [word for row in rows for word in row]
        fields, values = [field for field, _ in rows], [value for _, value in rows]
        assert self.call("HSET", KEY, *words) == self.ours(lambda h: h.set_many(fields, values))

    @rule(rows=ROWS)
    def hmset(self, rows: list[tuple[bytes, bytes]]) -> None:
        self.call("HMSET", KEY, *[word for row in rows for word in row])
        self.ours(lambda h: h.update(rows))

    @rule(field=FIELDS, value=VALUES)
    def hsetnx(self, field: bytes, value: bytes) -> None:
        new = self.ours(lambda h: h.set_many([field], [value], only="new"))
        assert self.call("HSETNX", KEY, field, value) == new

    @rule(fields=MANY)
    def hdel(self, fields: list[bytes]) -> None:
        gone = self.ours(lambda h: sum(value is not None for value in h.pop_many(fields)))
        assert self.call("HDEL", KEY, *fields) == gone

    @rule(field=FIELDS, by=WHOLE)
    def hincrby(self, field: bytes, by: int) -> None:
        try:
            reply = self.call("HINCRBY", KEY, field, by)
        except redis.ResponseError:
            assert self.refused(lambda h: h.increment(field, by))
        else:
            assert self.ours(lambda h: h.increment(field, by)) == reply

    @rule(field=FIELDS, old=st.one_of(st.none(), st.sampled_from(NUMBERS)), by=QUARTERS)
    def hincrbyfloat(self, field: bytes, old: bytes | None, by: float) -> None:
        if old is not None:
            self.hset([(field, old)])
        if not self.is_small(self.call("HGET", KEY, field)):
            return
        try:
            reply = self.call("HINCRBYFLOAT", KEY, field, by)
        except redis.ResponseError:
            assert self.refused(lambda h: h.increment(field, by))
        else:
            assert self.ours(lambda h: h.increment(field, by)) == float(reply)
            assert self.ours(lambda h: h[field]) == reply

    @staticmethod
    def is_small(text: bytes | None) -> bool:
        """No number, or one of which float64 and a long double make the same text."""
        try:
            number = float(text or 0)
        except ValueError:
            return True
        return not math.isfinite(number) or (abs(number) < 2**43 and number * 4 % 1 == 0)

    @rule()
    def delete(self) -> None:
        self.call("DEL", KEY)
        self.ours(lambda h: h.clear())

    @rule()
    def optimize(self) -> None:
        self.ours(lambda h: h.optimize())

    # ---- reads

    @rule(fields=MANY)
    def hmget(self, fields: list[bytes]) -> None:
        assert self.call("HMGET", KEY, *fields) == self.ours(lambda h: h.get_many(fields))

    @rule(field=FIELDS)
    def hget_hexists_and_hstrlen(self, field: bytes) -> None:
        assert self.call("HGET", KEY, field) == self.ours(lambda h: h.get(field))
        assert self.call("HEXISTS", KEY, field) == self.ours(lambda h: field in h)
        assert self.call("HSTRLEN", KEY, field) == self.ours(lambda h: len(h.get(field, b"")))

    @rule()
    def hkeys_and_hvals(self) -> None:
        assert sorted(self.call("HKEYS", KEY)) == self.ours(lambda h: sorted(h))
        assert sorted(self.call("HVALS", KEY)) == self.ours(lambda h: sorted(h.values()))

    @rule(n=st.integers(0, 700))
    def hrandfield(self, n: int) -> None:
        """Chance is not compared, but what it may choose."""
        count = len(self.call("HRANDFIELD", KEY, n))
        for h in self.hashes:
            chosen = h.sample(min(n, len(h)))
            assert len(dict(chosen)) == count
            assert dict(chosen).items() <= h.items()

    @rule(pattern=PATTERNS)
    def hscan(self, pattern: bytes) -> None:
        pattern = re.sub(rb"\*+", b"*", pattern)  # in Redis "**" does not match an empty field
        cursor, reply = self.call("HSCAN", KEY, 0, "MATCH", pattern, "COUNT", 1000)
        found = pairs(reply)
        while cursor != b"0":
            cursor, reply = self.call("HSCAN", KEY, cursor, "MATCH", pattern, "COUNT", 1000)
            found |= pairs(reply)
        assert self.ours(lambda h: dict(sorted(h.scan(pattern)))) == found

    # ---- what always holds

    @invariant()
    def all_hold_the_same(self) -> None:
        content = pairs(self.call("HGETALL", KEY))
        for h in self.hashes:
            h._validate()
            assert h == content
        assert self.call("HLEN", KEY) == self.ours(len)
        if content:
            assert self.call("OBJECT", "ENCODING", KEY) == self.encoding.encode()


@pytest.mark.parametrize("encoding", LISTPACK_LIMITS)
def test_same_answers(server: redis.Redis, encoding: str) -> None:
    machine = functools.partial(RedisMachine, server, encoding)
    run_state_machine_as_test(machine, settings=settings())


# ---- what differs, as docs/redis.md tells


@pytest.fixture
def call(server: redis.Redis) -> Callable[..., Any]:
    server.execute_command("FLUSHALL")
    return server.execute_command


def test_the_docs_name_every_command(call: Callable[..., Any]) -> None:
    names = {name.decode().upper() for name in call("COMMAND", "LIST", "FILTERBY", "PATTERN", "h*")}
    names -= {"HELLO"}
    assert "HGETALL" in names
    assert names - set(re.findall(r"\bH[A-Z]+\b", DOCS.read_text())) == set()


@pytest.mark.parametrize(
    ("old", "by", "theirs", "ours"),
    [
        ("0", 1e-18, "0", "1e-18"),
        ("1e16", 1.0, "10000000000000001", "1e+16"),
        ("5200", 10.43, "5210.43000000000000016", "5210.43"),
        ("0", 1e17, "100000000000000000", "1e+17"),
    ],
)
def test_floats_have_64_bits(
    call: Callable[..., Any], old: str, by: float, theirs: str, ours: str
) -> None:
    """Redis reckons in a long double, of 80 bits on x86, and prints 17 digits after the point."""
    h = Hash({"f": old})
    call("HSET", KEY, "f", old)
    assert math.isclose(float(call("HINCRBYFLOAT", KEY, "f", by)), float(theirs))
    assert h.increment("f", by) == float(ours)
    assert h["f"] == ours


def test_a_sum_past_float64_is_an_error(call: Callable[..., Any]) -> None:
    h = Hash({"f": "1e308"})
    call("HSET", KEY, "f", "1e308")
    with pytest.raises(OverflowError):
        h.increment("f", 1e308)
    assert h == {"f": "1e308"}


def test_two_stars_match_the_empty_field(call: Callable[..., Any]) -> None:
    call("HSET", KEY, "", "v")
    assert call("HSCAN", KEY, 0, "MATCH", "**") == [b"0", []]
    assert list(Hash({"": "v"}).scan("**")) == [("", "v")]


def test_a_pattern_for_str_goes_by_character(call: Callable[..., Any]) -> None:
    call("HSET", KEY, "é", "v")
    assert call("HSCAN", KEY, 0, "MATCH", "?") == [b"0", []]
    assert call("HSCAN", KEY, 0, "MATCH", "??")[1] == ["é".encode(), b"v"]
    assert list(Hash({"é": "v"}).scan("?")) == [("é", "v")]
    raw = Hash({"é".encode(): b"v"}, key="bytes", value="bytes")
    assert list(raw.scan(b"??")) == list(raw.items())


@pytest.mark.parametrize("n", [-3, -(2**40), -(2**63)])
def test_negative_samples_are_errors(call: Callable[..., Any], n: int) -> None:
    call("HSET", KEY, "f", "v")
    assert call("HRANDFIELD", KEY, -3) == [b"f"] * 3
    with pytest.raises(ValueError):
        Hash({"f": "v"}).sample(n)


def test_an_empty_hash_stays(call: Callable[..., Any]) -> None:
    h = Hash({"f": "v"})
    call("HSET", KEY, "f", "v")
    call("HDEL", KEY, "f")
    assert call("EXISTS", KEY) == 0
    assert h.pop_many(["f"]) == ["v"]
    assert len(h) == 0
