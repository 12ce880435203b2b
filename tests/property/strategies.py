"""Strategies that aim at the edges of structures: pages, codes, leaves, widths, ties, lengths."""

from __future__ import annotations

import math
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from hypothesis import strategies as st
from model.layouts import Layout

PAGE = 16_384
PAGE_BORDERS = [page * PAGE + off for page in (-2, -1, 0, 1, 2, 8) for off in (-2, -1, 0, 1, 2)]
ENDS = [power * sign + off for power in (2**31, 2**32, 2**40, 2**62, 2**63) for sign in (-1, 1)
        for off in (-1, 0, 1)]  # fmt: skip
SMALL_SCORES = st.integers(0, 300).map(float)
CODE_ENDS = st.sampled_from([253.0, 254.0, 255.0, 256.0, *map(float, range(65530, 65541))])
EDGE_SCORES = st.sampled_from(
    [
        0.0,
        -0.0,
        0.5,
        -0.5,
        -1.0,
        1e-45,
        2.0**24 - 1,
        2.0**24,
        -(2.0**24),
        2.0**100,
        -(2.0**127),
        math.inf,
        -math.inf,
    ]
)
WIDE_SCORES = st.sampled_from(
    [0.1, 1 / 3, 5e-324, -5e-324, 2.2250738585072014e-308, 2.0**53, 1.7e308, -1.7e308, 1e39]
)
FINITE = st.integers(-1000, 1000).map(lambda halves: halves / 2.0)


LENGTHS = (1, 2, 6, 7, 8, 9, 13, 14, 15, 16, 126, 127, 128, 253, 254, 255, 256, 257, 300)
CODE_POINTS = "\x00\x01\x7f\x80\u00e9\u07ff\u0800\ud7ff\ue000\ufeff\uffff\U00010000\U0010ffff"
PREFIXES = ("p" * 7, "p" * 8, "p" * 200, "é" * 127)
EDGE_TEXTS = [
    "",
    *("x" * length for length in LENGTHS),
    *("\0" * length for length in (1, 2, 7, 8, 14, 15)),
    *("a\0", "a\0b", "a", "aa", "ab", "\0a", "NaN", "null", "-", "+", "[a", "(a", "maxstring"),
    *CODE_POINTS,
    *(prefix + end for prefix in PREFIXES for end in ("", "\0", "a", "b", "ab")),
]
EDGE_BYTES = [
    *(text.encode() for text in EDGE_TEXTS),
    *(b"\xff", b"\xff\xff", b"\x80", b"\xc3", b"\xed\xa0\x80", b"\xff" * 8, b"\xff" * 255),
]
EDGE_UUIDS = [
    *(UUID(int=number) for number in (0, 1, 2**64 - 1, 2**64, 2**127, 2**128 - 1)),
    *(UUID(int=0x55 << shift) for shift in range(0, 128, 8)),
]


def members(layout: Layout) -> st.SearchStrategy[Any]:
    """Members that collide often and sit where structures change."""
    if layout.kind is int:
        return integers(layout)
    series = st.integers(0, 60).map(layout.nth)
    if layout.kind is str:
        drawn = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
        return st.one_of(series, st.sampled_from(EDGE_TEXTS), drawn)
    if layout.kind is bytes:
        return st.one_of(series, st.sampled_from(EDGE_BYTES), st.binary(max_size=20))
    return st.one_of(series, st.sampled_from(EDGE_UUIDS), st.uuids())


def integers(layout: Layout) -> st.SearchStrategy[int]:
    ends = [end for end in ENDS if layout.lowest <= end <= layout.highest]
    return st.one_of(
        st.integers(0, 30),
        st.integers(0, 300),
        st.sampled_from(PAGE_BORDERS),
        st.integers(-300, 6000),
        st.sampled_from(ends),
        st.integers(layout.lowest, layout.highest),
    )


def scores(layout: Layout) -> st.SearchStrategy[float]:
    """Scores at the ends of the page codes and of the floats; float32 ones are exact in float32."""
    shared = st.one_of(SMALL_SCORES, SMALL_SCORES, CODE_ENDS, FINITE, EDGE_SCORES)
    if layout.is_float32:
        return st.one_of(shared, st.floats(width=32, allow_nan=False))
    return st.one_of(shared, WIDE_SCORES, st.floats(allow_nan=False))


def bounds(layout: Layout) -> st.SearchStrategy[float]:
    return st.one_of(FINITE, SMALL_SCORES, scores(layout))


class Run(NamedTuple):
    """Many members at once: `count` ids from `start`, with scores of a pattern."""

    start: int
    count: int
    step: int
    pattern: str

    def members(self, layout: Layout) -> np.ndarray:
        if layout.kind is not int:
            return layout.array(map(layout.nth, range(self.start, self.last, self.step)))
        last = min(self.last, layout.highest)
        return np.array(range(self.start, last, self.step), dtype=layout.member)

    @property
    def last(self) -> int:
        return self.start + self.count * self.step

    def scores(self, layout: Layout) -> np.ndarray:
        index = np.arange(len(self.members(layout)))
        match self.pattern:
            case "ties":
                values = np.full(len(index), 3.0)
            case "small":
                values = index * 7 % 300 * 1.0
            case "code ends":
                values = 65530.0 + index % 10
            case "ramp":
                values = index[::-1] - 100.0
            case "halves":
                values = index % 13 / 2.0 - 3.0
            case "random":
                values = np.random.default_rng(self.count).standard_normal(len(index))
        return values.astype(layout.score)


def runs(layout: Layout) -> st.SearchStrategy[Run]:
    """Runs that fill blocks (256) and make pages (of 16,384 ids, from about 1,600 members on)."""
    sizes = [1, 2, 63, 64, 65, 255, 256, 257, 300, 511, 512, 513, 1100, 1600, 2400, 4000, 6000]
    starts = st.one_of(st.integers(0, 60), st.integers(0, 5000))
    if layout.kind is int:
        starts = st.one_of(st.integers(-5000, 5000), st.sampled_from(PAGE_BORDERS), members(layout))
    return st.builds(
        Run,
        start=starts,
        count=st.sampled_from(sizes),
        step=st.sampled_from([1, 1, 1, 2, 3, 17, 16_384, 99991]),
        pattern=st.sampled_from(["ties", "small", "code ends", "ramp", "halves", "random"]),
    )
