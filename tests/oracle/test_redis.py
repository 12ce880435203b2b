"""A SortedSet of bytes beside a Redis server: the same random operations, the same answers.

Each rule is named after the command that it sends. What differs on purpose is in docs/redis.md, and
tested at the end.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import redis
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import goblin

pytestmark = pytest.mark.filterwarnings("ignore::goblin.PrecisionWarning")

DOCS = Path(__file__).parents[2] / "docs" / "redis.md"
LISTPACK_LIMITS = {"listpack": 1_000_000, "skiplist": 0}

KEYS = b"a", b"b", b"made", b"ties"
MOST_MEMBERS = 2_000
FLAGS = {
    "set": (),
    "nx": ("NX",),
    "xx": ("XX",),
    "gt": ("GT",),
    "lt": ("LT",),
    "xx_gt": ("XX", "GT"),
    "xx_lt": ("XX", "LT"),
}
OPEN_ENDS = {
    "both": (b"", b""),
    "left": (b"", b"("),
    "right": (b"(", b""),
    "none": (b"(", b"("),
}

# Redis' listpack stores what looks like an integer as one, and has forms by length.
NAMES = [
    *(b"", b"\0", b"\0\0", b"a\0", b"\x7f", b"\x80", b"\xff", b"\xff\xff"),
    *b"a aa ab b 0 -0 00 9 10 -1 12.5 4294967296 9223372036854775808".split(),
    *b"+ - ( [ [a inf maxstring".split(),
    *("\uffff".encode(), "\U00010000".encode()),
    *(b"x" * length for length in (7, 8, 12, 13, 31, 32, 63, 64, 65, 127, 254, 255, 256, 300)),
    *(b"x" * 255 + last for last in (b"w", b"y")),
]
EDGES = [0.0, -0.0, 0.5, 5e-324, -5e-324, 1e-45, 2.0**53, 1e16, 1e17, 1.7e308, -1.7e308]
INFINITIES = [math.inf, -math.inf]
STEPS = st.one_of(
    st.just(1.0),
    st.integers(-9, 9).map(lambda halves: halves / 2.0),
    st.sampled_from(EDGES),
    st.floats(allow_nan=False, allow_infinity=False),
)
SCORES = st.one_of(STEPS, STEPS, st.sampled_from(INFINITIES))
MEMBERS = st.one_of(
    st.sampled_from(NAMES[:12]),
    st.sampled_from(NAMES),
    st.integers(0, 99).map(b"run:%d".__mod__),
    st.binary(max_size=3),
)
ROWS = st.lists(st.tuples(MEMBERS, SCORES), min_size=1, max_size=12)
BOUNDS = st.one_of(st.integers(-9, 40).map(lambda halves: halves / 2.0), SCORES)
LEX_BOUNDS = st.one_of(st.none(), MEMBERS)
RANKS = st.one_of(st.integers(-12, 12), st.integers(-12, 12), st.integers(-1100, 1100))
COUNTS = st.one_of(st.integers(0, 8), st.integers(0, 8), st.integers(0, 1100))
LIMITS = st.one_of(st.none(), st.tuples(COUNTS, st.one_of(st.none(), COUNTS)))
CLOSED = st.sampled_from(list(OPEN_ENDS))
MODES = st.sampled_from(list(FLAGS))
ANY_KEY = st.sampled_from(KEYS)
SCORED_KEY = st.sampled_from(KEYS[:3])
DESTINATIONS = st.sampled_from([*KEYS[:2], *KEYS[2:3] * 4])
RUNS = st.tuples(
    st.integers(0, 99),
    st.sampled_from([1, 9, 9, 30, 63, 64, 65, 128, 129, 255, 256, 257, 600]),
    st.sampled_from([1, 7, 1001]),
    st.sampled_from([1, 3, 300, 10_000]),
)
SOURCES = st.lists(ANY_KEY, min_size=1, max_size=4)
FACTORS = [1.0, 2.0, -1.0, 0.5, 1e300]
WEIGHTS = st.sampled_from([*FACTORS, 0.0, *INFINITIES])
FOUR_WEIGHTS = st.lists(WEIGHTS, min_size=4, max_size=4)
FOUR_FACTORS = st.lists(st.sampled_from(FACTORS), min_size=4, max_size=4)
AGGREGATES = st.sampled_from(["sum", "min", "max", "count"])

Limit = tuple[int, int | None] | None
Run = tuple[int, int, int, int]  # the first number, how many, the step, distinct scores


def pairs(reply: list[bytes]) -> list[tuple[bytes, float]]:
    return list(zip(reply[::2], map(float, reply[1::2]), strict=True))


def optional(score: bytes | None) -> float:
    return math.nan if score is None else float(score)


def score_ends(lo: float, hi: float, closed: str) -> tuple[bytes, bytes]:
    first, last = OPEN_ENDS[closed]
    return first + repr(lo).encode(), last + repr(hi).encode()


def lex_ends(lo: bytes | None, hi: bytes | None, closed: str) -> tuple[bytes, bytes]:
    first, last = OPEN_ENDS[closed]
    return (
        b"-" if lo is None else (first or b"[") + lo,
        b"+" if hi is None else (last or b"[") + hi,
    )


def redis_limit(limit: Limit) -> tuple[Any, ...]:
    if limit is None:
        return ()
    offset, count = limit
    return "LIMIT", offset, -1 if count is None else count


def our_limit(limit: Limit) -> dict[str, Any]:
    return {} if limit is None else dict(zip(("offset", "limit"), limit, strict=True))


class RedisMachine(RuleBasedStateMachine):
    def __init__(self, server: redis.Redis, encoding: str, options: dict[str, Any]) -> None:
        super().__init__()
        self.call: Callable[..., Any] = server.execute_command
        self.encoding = encoding
        self.call("FLUSHALL")
        self.call("CONFIG", "SET", "zset-max-listpack-entries", LISTPACK_LIMITS[encoding])
        self.call("CONFIG", "SET", "zset-max-listpack-value", LISTPACK_LIMITS[encoding])
        self.z = {key: goblin.SortedSet(member="bytes", **options) for key in KEYS}

    def score(self, key: bytes, score: float) -> float:
        """What a key may hold: one has ties only, for the ranges by member."""
        return 0.0 if key == b"ties" else score

    # ---- writes

    @rule(key=ANY_KEY, rows=ROWS, mode=MODES, ch=st.booleans())
    def zadd(self, key: bytes, rows: list[tuple[bytes, float]], mode: str, ch: bool) -> None:
        rows = [(member, self.score(key, score)) for member, score in rows]
        words = [word for member, score in rows for word in (score, member)]
        reply = self.call("ZADD", key, *FLAGS[mode], *["CH"] * ch, *words)
        changes = self.z[key].update(rows, mode=mode)
        assert reply == changes.added + ch * changes.changed
        assert changes.total == self.call("ZCARD", key)

    @rule(key=ANY_KEY, member=MEMBERS, score=SCORES, mode=MODES)
    def zadd_one(self, key: bytes, member: bytes, score: float, mode: str) -> None:
        score = self.score(key, score)
        reply = self.call("ZADD", key, *FLAGS[mode], "CH", score, member)
        assert self.z[key].add(member, score, mode=mode) == bool(reply)

    @initialize(rows=ROWS, runs=st.lists(RUNS, min_size=len(KEYS), max_size=len(KEYS)))
    def fill(self, rows: list[tuple[bytes, float]], runs: list[Run]) -> None:
        for key, run in zip(KEYS, runs, strict=True):
            self.zadd(key, rows, "set", False)
            self.zadd_run(key, run)

    @precondition(lambda self: sum(map(len, self.z.values())) < MOST_MEMBERS)
    @rule(key=ANY_KEY, run=RUNS)
    def zadd_run(self, key: bytes, run: Run) -> None:
        start, count, step, kinds = run
        members = [b"run:%d" % (start + i * step) for i in range(count)]
        scores = [self.score(key, i * 7919 % kinds / 2) for i in range(count)]
        words = itertools.chain.from_iterable(zip(scores, members, strict=True))
        assert self.call("ZADD", key, *words) == self.z[key].update(members, scores).added

    @rule(key=SCORED_KEY, member=MEMBERS, by=STEPS, mode=MODES)
    def zadd_incr(self, key: bytes, member: bytes, by: float, mode: str) -> None:
        z = self.z[key]
        old = z.get(member)
        score = z.get(member, 0.0) + by
        written = z.add(member, score, mode=mode)
        reply = self.call("ZADD", key, *FLAGS[mode], "INCR", by, member)
        if written or (old == score and mode in ("set", "xx")):
            assert float(reply) == score
        else:
            assert reply is None

    @rule(key=SCORED_KEY, member=MEMBERS, by=SCORES)
    def zincrby(self, key: bytes, member: bytes, by: float) -> None:
        command = "ZINCRBY", key, by, member
        if math.isnan(self.z[key].get(member, 0.0) + by):
            with pytest.raises(ValueError):
                self.z[key].increment(member, by)
            with pytest.raises(redis.ResponseError):
                self.call(*command)
        else:
            assert self.z[key].increment(member, by) == float(self.call(*command))

    @rule(key=SCORED_KEY, rows=st.lists(st.tuples(MEMBERS, STEPS), max_size=12))
    def zincrby_many(self, key: bytes, rows: list[tuple[bytes, float]]) -> None:
        theirs = [float(self.call("ZINCRBY", key, by, member)) for member, by in rows]
        members, steps = [member for member, _ in rows], [by for _, by in rows]
        ours = self.z[key].increment_many(members, steps, return_scores=True)
        assert ours.tolist() == theirs

    @rule(key=ANY_KEY, members=st.lists(MEMBERS, min_size=1, max_size=12))
    def zrem(self, key: bytes, members: list[bytes]) -> None:
        assert self.z[key].remove(members) == self.call("ZREM", key, *members)

    @rule(key=ANY_KEY, member=MEMBERS)
    def zrem_one(self, key: bytes, member: bytes) -> None:
        assert self.z[key].discard(member) == self.call("ZREM", key, member)

    @rule(key=ANY_KEY, start=RANKS, stop=RANKS)
    def zremrangebyrank(self, key: bytes, start: int, stop: int) -> None:
        z = self.z[key]
        reply = self.call("ZREMRANGEBYRANK", key, start, stop)
        assert z.remove_by_rank(start, len(z) if stop == -1 else stop + 1) == reply

    @rule(key=ANY_KEY, lo=BOUNDS, hi=BOUNDS, closed=CLOSED)
    def zremrangebyscore(self, key: bytes, lo: float, hi: float, closed: str) -> None:
        reply = self.call("ZREMRANGEBYSCORE", key, *score_ends(lo, hi, closed))
        assert self.z[key].remove_by_score(lo, hi, closed=closed) == reply

    @rule(lo=LEX_BOUNDS, hi=LEX_BOUNDS, closed=CLOSED)
    def zremrangebylex(self, lo: bytes | None, hi: bytes | None, closed: str) -> None:
        reply = self.call("ZREMRANGEBYLEX", b"ties", *lex_ends(lo, hi, closed))
        assert self.z[b"ties"].remove_by_lex(lo, hi, closed=closed) == reply

    @rule(key=ANY_KEY, n=COUNTS, highest=st.booleans())
    def zpop(self, key: bytes, n: int, highest: bool) -> None:
        z = self.z[key]
        reply = self.call("ZPOPMAX" if highest else "ZPOPMIN", key, n)
        assert (z.pop_max(n) if highest else z.pop_min(n)).to_list() == pairs(reply)

    @rule(key=ANY_KEY, highest=st.booleans())
    def zpop_one(self, key: bytes, highest: bool) -> None:
        z = self.z[key]
        reply = pairs(self.call("ZPOPMAX" if highest else "ZPOPMIN", key))
        if reply:
            assert (z.pop_max() if highest else z.pop_min()) == reply[0]
        else:
            with pytest.raises(KeyError):
                z.popitem()

    @rule(keys=SOURCES, n=st.integers(1, 8), highest=st.booleans())
    def zmpop(self, keys: list[bytes], n: int, highest: bool) -> None:
        end = "MAX" if highest else "MIN"
        reply = self.call("ZMPOP", len(keys), *keys, end, "COUNT", n)
        key = next((key for key in keys if self.z[key]), None)
        if key is None:
            assert reply is None
            return
        rows = self.z[key].pop_max(n) if highest else self.z[key].pop_min(n)
        assert reply[0] == key
        assert rows.to_list() == [(member, float(score)) for member, score in reply[1]]

    @rule(key=ANY_KEY)
    def optimize(self, key: bytes) -> None:
        self.z[key].optimize()

    # ---- reads

    @rule(key=ANY_KEY, members=st.lists(MEMBERS, min_size=1, max_size=12))
    def zmscore(self, key: bytes, members: list[bytes]) -> None:
        theirs = [optional(score) for score in self.call("ZMSCORE", key, *members)]
        np.testing.assert_array_equal(self.z[key].scores(members), theirs)

    @rule(key=ANY_KEY, member=MEMBERS)
    def zscore_zrank_and_zrevrank(self, key: bytes, member: bytes) -> None:
        z = self.z[key]
        score = self.call("ZSCORE", key, member)
        assert z.get(member) == (None if score is None else float(score))
        assert z.rank(member, default=None) == self.call("ZRANK", key, member)
        assert z.rank(member, descending=True, default=None) == self.call("ZREVRANK", key, member)

    @rule(key=ANY_KEY, start=RANKS, stop=RANKS)
    def zrange(self, key: bytes, start: int, stop: int) -> None:
        ranks = slice(start, None if stop == -1 else stop + 1)
        by_rank = self.z[key].by_rank
        theirs = pairs(self.call("ZRANGE", key, start, stop, "WITHSCORES"))
        assert by_rank[ranks].to_list() == theirs
        theirs = pairs(self.call("ZRANGE", key, start, stop, "REV", "WITHSCORES"))
        assert by_rank[::-1][ranks].to_list() == theirs

    @rule(key=ANY_KEY, lo=BOUNDS, hi=BOUNDS, closed=CLOSED, limit=LIMITS)
    def zrangebyscore(self, key: bytes, lo: float, hi: float, closed: str, limit: Limit) -> None:
        z = self.z[key]
        first, last = score_ends(lo, hi, closed)
        options = "WITHSCORES", *redis_limit(limit)
        theirs = pairs(self.call("ZRANGE", key, first, last, "BYSCORE", *options))
        assert z.range_by_score(lo, hi, closed=closed, **our_limit(limit)).to_list() == theirs
        theirs = pairs(self.call("ZREVRANGEBYSCORE", key, last, first, *options))
        backward = z.range_by_score(lo, hi, closed=closed, descending=True, **our_limit(limit))
        assert backward.to_list() == theirs
        assert z.count(lo, hi, closed=closed) == self.call("ZCOUNT", key, first, last)

    @rule(lo=LEX_BOUNDS, hi=LEX_BOUNDS, closed=CLOSED, limit=LIMITS)
    def zrangebylex(self, lo: bytes | None, hi: bytes | None, closed: str, limit: Limit) -> None:
        z = self.z[b"ties"]
        first, last = lex_ends(lo, hi, closed)
        theirs = self.call("ZRANGE", b"ties", first, last, "BYLEX", *redis_limit(limit))
        rows = z.range_by_lex(lo, hi, closed=closed, **our_limit(limit))
        assert [member for member, _ in rows] == theirs
        theirs = self.call("ZREVRANGEBYLEX", b"ties", last, first, *redis_limit(limit))
        rows = z.range_by_lex(lo, hi, closed=closed, descending=True, **our_limit(limit))
        assert [member for member, _ in rows] == theirs
        assert z.count_lex(lo, hi, closed=closed) == self.call("ZLEXCOUNT", b"ties", first, last)

    @rule(key=ANY_KEY, n=st.integers(0, 20))
    def zrandmember(self, key: bytes, n: int) -> None:
        """Whom either draws the other has, each once unless repeats are asked for."""
        z = self.z[key]
        drawn = pairs(self.call("ZRANDMEMBER", key, n, "WITHSCORES"))
        ours = z.sample(min(n, len(z)), rng=n).to_list()
        assert len(set(drawn)) == len(drawn) == len(set(ours)) == len(ours)
        drawn += pairs(self.call("ZRANDMEMBER", key, -n, "WITHSCORES"))
        assert all(z[member] == score for member, score in drawn)
        repeated = z.sample(n if z else 0, replace=True, rng=n).to_list()
        assert len(ours) + len(repeated) == len(drawn)
        for member, score in ours + repeated:
            assert float(self.call("ZSCORE", key, member)) == score

    @rule(key=ANY_KEY)
    def zscan(self, key: bytes) -> None:
        cursor, found = b"0", {}
        while True:
            cursor, rows = self.call("ZSCAN", key, cursor)
            found.update(pairs(rows))
            if cursor == b"0":
                break
        assert found == self.z[key].to_dict()

    # ---- several sets

    def sources(self, keys: list[bytes], aggregate: str) -> tuple[list[bytes], str]:
        """What to give to Redis; AGGREGATE COUNT came with 8.8, but a plain set has scores of 1."""
        if aggregate != "count":
            return keys, aggregate
        for key in set(keys):
            self.call("DEL", b"set:" + key)
            if self.z[key]:
                self.call("SADD", b"set:" + key, *self.z[key])
        return [b"set:" + key for key in keys], "sum"

    def combined(
        self, command: str, keys: list[bytes], weights: list[float], aggregate: str
    ) -> list[tuple[bytes, float]]:
        given, combine = self.sources(keys, aggregate)
        weights = weights[: len(keys)]
        options = "WEIGHTS", *weights, "AGGREGATE", combine, "WITHSCORES"
        return pairs(self.call(command, len(keys), *given, *options))

    def smallest_first(
        self, keys: list[bytes], weights: list[float]
    ) -> tuple[list[goblin.SortedSet[bytes]], list[float]]:
        """The sets and weights in the order in which Redis adds them up."""
        order = sorted(range(len(keys)), key=lambda i: len(self.z[keys[i]]))
        return [self.z[keys[i]] for i in order], [weights[i] for i in order]

    @rule(keys=SOURCES, weights=FOUR_WEIGHTS, aggregate=AGGREGATES)
    def zunion(self, keys: list[bytes], weights: list[float], aggregate: str) -> None:
        theirs = self.combined("ZUNION", keys, weights, aggregate)
        sets, weights = self.smallest_first(keys, weights)
        assert list(goblin.union(sets, weights=weights, aggregate=aggregate).items()) == theirs

    @rule(keys=SOURCES, weights=FOUR_FACTORS, aggregate=AGGREGATES)
    def zinter(self, keys: list[bytes], weights: list[float], aggregate: str) -> None:
        theirs = self.combined("ZINTER", keys, weights, aggregate)
        sets, weights = self.smallest_first(keys, weights)
        ours = goblin.intersection(sets, weights=weights, aggregate=aggregate)
        assert list(ours.items()) == theirs

    @rule(keys=SOURCES, limit=COUNTS)
    def zintercard(self, keys: list[bytes], limit: int) -> None:
        size = self.call("ZINTERCARD", len(keys), *keys, "LIMIT", limit)
        assert goblin.intersection_card([self.z[key] for key in keys], limit) == size

    @rule(keys=SOURCES)
    def zdiff(self, keys: list[bytes]) -> None:
        theirs = pairs(self.call("ZDIFF", len(keys), *keys, "WITHSCORES"))
        assert list(goblin.difference(*(self.z[key] for key in keys)).items()) == theirs

    @rule(
        command=st.sampled_from(["ZUNIONSTORE", "ZINTERSTORE", "ZDIFFSTORE"]),
        destination=DESTINATIONS,
        keys=st.lists(ANY_KEY, min_size=1, max_size=2),
    )
    def store(self, command: str, destination: bytes, keys: list[bytes]) -> None:
        """The destination may be a source."""
        sets = [self.z[key] for key in keys]
        self.z[destination] = {
            "ZUNIONSTORE": lambda: goblin.union(sets),
            "ZINTERSTORE": lambda: goblin.intersection(sets),
            "ZDIFFSTORE": lambda: goblin.difference(*sets),
        }[command]()
        assert self.call(command, destination, len(keys), *keys) == len(self.z[destination])

    @rule(destination=DESTINATIONS, key=ANY_KEY, weight=WEIGHTS, aggregate=AGGREGATES)
    def merge(self, destination: bytes, key: bytes, weight: float, aggregate: str) -> None:
        given, combine = self.sources([destination, key], aggregate)
        options = "WEIGHTS", 1, weight, "AGGREGATE", combine
        size = self.call("ZUNIONSTORE", destination, 2, *given, *options)
        self.z[destination].merge(self.z[key], weight=weight, aggregate=aggregate)
        assert len(self.z[destination]) == size

    @rule(destination=DESTINATIONS, key=ANY_KEY, lo=BOUNDS, hi=BOUNDS, closed=CLOSED, limit=LIMITS)
    def zrangestore(
        self, destination: bytes, key: bytes, lo: float, hi: float, closed: str, limit: Limit
    ) -> None:
        ends = score_ends(lo, hi, closed)
        size = self.call("ZRANGESTORE", destination, key, *ends, "BYSCORE", *redis_limit(limit))
        rows = self.z[key].range_by_score(lo, hi, closed=closed, **our_limit(limit))
        self.z[destination].clear()
        self.z[destination].update(rows)
        assert len(self.z[destination]) == size

    # ---- what always holds

    @invariant()
    def both_hold_the_same(self) -> None:
        """The copy is put in order here, so that the set itself comes to owe changes to its own."""
        for key, z in self.z.items():
            z._validate()
            content = pairs(self.call("ZRANGE", key, 0, -1, "WITHSCORES"))
            assert z == dict(content)
            assert list(z.copy().items()) == content
            if content:
                assert self.call("OBJECT", "ENCODING", key) == self.encoding.encode()

    def teardown(self) -> None:
        for key, z in self.z.items():
            assert list(z.items()) == pairs(self.call("ZRANGE", key, 0, -1, "WITHSCORES"))


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("merge_exponent", [0.0, 1.0])
@pytest.mark.parametrize("encoding", LISTPACK_LIMITS)
def test_same_answers(
    server: redis.Redis, encoding: str, merge_exponent: float, compress: bool
) -> None:
    options = {"merge_exponent": merge_exponent, "compress": compress}
    run_state_machine_as_test(
        functools.partial(RedisMachine, server, encoding, options), settings=settings()
    )


# ---- what differs, as docs/redis.md tells


@pytest.fixture
def call(server: redis.Redis) -> Callable[..., Any]:
    server.execute_command("FLUSHALL")
    return server.execute_command


def test_the_docs_name_every_command(call: Callable[..., Any]) -> None:
    names = {
        name.decode().upper()
        for pattern in ("z*", "bz*")
        for name in call("COMMAND", "LIST", "FILTERBY", "PATTERN", pattern)
    }
    assert names - set(re.findall(r"\bB?Z[A-Z]+\b", DOCS.read_text())) == set()


def test_minus_zero_is_zero(call: Callable[..., Any]) -> None:
    z = goblin.SortedSet(member="bytes")
    assert call("ZINCRBY", "z", -0.0, "m") == b"-0"
    assert math.copysign(1.0, z.increment(b"m", -0.0)) == 1.0


def test_negative_limits_are_errors(call: Callable[..., Any]) -> None:
    z = goblin.SortedSet({b"a": 1.0, b"b": 1.0})
    call("ZADD", "z", 1, "a", 1, "b")
    assert call("ZRANGEBYSCORE", "z", 1, 1, "LIMIT", -1, 1) == []
    assert call("ZRANGEBYSCORE", "z", 1, 1, "LIMIT", 1, -7) == [b"b"]
    for read in functools.partial(z.range_by_score, 1, 1), z.range_by_lex:
        for options in {"offset": -1}, {"limit": -7}:
            with pytest.raises(ValueError):
                read(**options)


def test_numbers_are_ordered_as_numbers(call: Callable[..., Any]) -> None:
    call("ZADD", "z", 0, 9, 0, 10)
    assert call("ZRANGE", "z", 0, -1) == [b"10", b"9"]
    assert list(goblin.SortedSet({9: 0.0, 10: 0.0})) == [9, 10]
    assert list(goblin.SortedSet({b"9": 0.0, b"10": 0.0})) == [b"10", b"9"]


def test_ranges_by_member_need_one_score(call: Callable[..., Any]) -> None:
    z = goblin.SortedSet({b"a": 1.0, b"b": 2.0})
    call("ZADD", "z", 1, "a", 2, "b")
    assert call("ZRANGEBYLEX", "z", "[a", "+") == [b"a", b"b"]
    for method in z.range_by_lex, z.count_lex, z.remove_by_lex:
        with pytest.raises(ValueError):
            method(b"a", None)
    assert z.range_by_lex(b"a", None, within_score=1.0).to_list() == [(b"a", 1.0)]


@pytest.mark.parametrize(("aggregate", "ours"), [("sum", 5.0), ("min", 0.0), ("max", 5.0)])
def test_infinity_times_nothing_is_nothing(
    call: Callable[..., Any], aggregate: str, ours: float
) -> None:
    """Redis' intersection lets that NaN meet the other scores, unless it comes first."""
    small = goblin.SortedSet({b"m": 5.0})
    large = goblin.SortedSet({b"m": math.inf, b"n": 1.0})
    call("ZADD", "small", 5, "m")
    call("ZADD", "large", "inf", "m", 1, "n")
    given = "small", "large", "WEIGHTS", 1, 0, "AGGREGATE", aggregate, "WITHSCORES"
    theirs = 0.0 if aggregate == "sum" else 5.0
    assert pairs(call("ZINTER", 2, *given)) == [(b"m", theirs)]
    assert dict(pairs(call("ZUNION", 2, *given)))[b"m"] == ours
    for combine in goblin.union, goblin.intersection:
        assert combine([small, large], weights=[1, 0], aggregate=aggregate)[b"m"] == ours


def test_sets_are_added_up_in_the_order_given(call: Callable[..., Any]) -> None:
    """Redis starts with the smallest, which shows where the sum depends on it."""
    scores = [1e16, -1e16, 1.0]
    for key, score in zip("abc", scores, strict=True):
        call("ZADD", key, score, "m")
    call("ZADD", "a", 0, "n", 0, "o")
    call("ZADD", "b", 0, "n")
    sets = [goblin.SortedSet({b"m": score}) for score in scores]
    assert goblin.union(sets)[b"m"] == 1.0
    assert pairs(call("ZINTER", 3, "a", "b", "c", "WITHSCORES")) == [(b"m", 0.0)]
