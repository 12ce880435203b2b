"""Keys and values at the edges of a hash: lengths, what is stored in binary, what only looks so."""

from __future__ import annotations

import math
import struct
from typing import Any, NamedTuple
from uuid import UUID

from hypothesis import strategies as st
from model.hash_checks import Kind
from strategies import CODE_POINTS, EDGE_BYTES, EDGE_TEXTS, FINITE

LENGTHS = (0, 1, 7, 8, 15, 16, 63, 64, 127, 128, 254, 255, 256, 300, 4000)
# The longest entry of a blob, and two that do not fit one together.
LONG = (32_500, 32_760, 32_766, 32_767, 32_768, 40_000, 65_535, 65_536)
POWERS = [sign * 2**bits + off for bits in (7, 8, 15, 16, 23, 24, 31, 32, 40, 48, 56, 63)
          for sign in (-1, 1) for off in (-1, 0, 1)]  # fmt: skip
INT64 = [number for number in (0, 1, -1, 9, 10, 99, 100, *POWERS) if -(2**63) <= number < 2**63]
# Those of them past int64 are texts, as all the near misses are.
NUMERALS = [str(number) for number in (0, 1, -1, 9, 10, -10, 99, 100, *POWERS)]
NO_NUMERALS = ["007", "00", "+1", "-0", "-01", "1e5", " 1", "1 ", "1.0", "1.", ".5", "0x10", "-",
               "+", "--1", "1_0", "\uff11", "1\0", "\x001", "9" * 19, "9" * 20,
               "1" + "0" * 300]  # fmt: skip
NIL = UUID(int=0)
SOME = UUID("0f8fad5b-d9cb-469f-a165-70867728950e")
UUIDS = [str(uuid) for uuid in (NIL, SOME, UUID(int=2**128 - 1), UUID(int=2**64))]
NO_UUIDS = [str(SOME).upper(), SOME.hex, SOME.urn, f"{{{SOME}}}", f"({SOME})", f"{SOME} ",
            str(SOME)[:-1], f"{SOME}0", str(SOME).replace("f", "g"), str(SOME).replace("-", "_"),
            str(SOME).replace("0f8f", "0F8f"), "0f8fad5bd9cb-469f-a165-7086-7728950e",
            str(SOME)[:35] + "\0", str(SOME)[:35] + "é"]  # fmt: skip
LOOKALIKES = NUMERALS + NO_NUMERALS + UUIDS + NO_UUIDS
# Bytes that an encoding might keep for something else.
RAW = [b"\x07", b"\x00", struct.pack("<q", 7), struct.pack(">q", 7), struct.pack("<d", 7.0),
       SOME.bytes, NIL.bytes, b"\xff" * 16, bytes(range(17))]  # fmt: skip
FLOATS = [
    0.0,
    -0.0,
    0.1,
    1 / 3,
    7.0,
    1e16,
    1e22,
    5e-324,
    1.7e308,
    -1.7e308,
    2.0**53,
    math.inf,
    -math.inf,
]
NUMBER_TEXTS = ["0", "-1", "41", "3.0", "10.50", "5.0e3", "1e16", "1e256", "-0", "0x10", "0.1",
                "9223372036854775807", "-9223372036854775808"]  # fmt: skip
PATTERNS = ["", "*", "?", "**", "field:*", "field:?", "*[0-9]", "*[^0-9]", "f*e*l*d*1", "[", "[a",
            "[a-", "[]", "[^]", "[z-a]*", "*-*-*", "x*", "\\", "\\*", "*\\?", "[\\]]", "*\0*",
            "é*"]  # fmt: skip


def sized(lengths: tuple[int, ...]) -> st.SearchStrategy[str]:
    return st.builds(str.__mul__, st.sampled_from("xyé\0"), st.sampled_from(lengths))


def texts() -> st.SearchStrategy[str]:
    return st.one_of(
        st.sampled_from(LOOKALIKES),
        st.sampled_from(EDGE_TEXTS),
        sized(LENGTHS),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        st.text(CODE_POINTS, max_size=3),
    )


def raw() -> st.SearchStrategy[bytes]:
    return st.one_of(
        texts().map(str.encode), st.sampled_from([*RAW, *EDGE_BYTES]), st.binary(max_size=20)
    )


def keys(kind: Kind) -> st.SearchStrategy[Any]:
    """Few enough to be met again, most of them."""
    series = st.integers(0, 40).map(lambda i: kind.key_of(f"field:{i}"))
    some = st.sampled_from([kind.key_of(text) for text in NUMERALS[:8] + NO_NUMERALS[:8] + UUIDS])
    long = sized(LONG).map(kind.key_of)
    drawn = texts() if kind.key == "str" else raw()
    return st.integers(0, 29).flatmap(lambda i: long if not i else (series, some, drawn)[i % 3])


def values(kind: Kind) -> st.SearchStrategy[Any]:
    if kind.value == "int64":
        return st.one_of(st.integers(-300, 300), st.sampled_from(INT64))
    if kind.value == "float64":
        return st.one_of(FINITE, st.sampled_from(FLOATS), st.floats(allow_nan=False))
    plain = st.one_of(texts(), st.sampled_from(NUMBER_TEXTS), sized(LENGTHS))
    ours = plain if kind.value == "str" else st.one_of(plain.map(str.encode), raw())
    long = sized(LONG) if kind.value == "str" else sized(LONG).map(str.encode)
    return st.integers(0, 19).flatmap(lambda i: long if not i else ours)


def steps() -> st.SearchStrategy[Any]:
    """Increments of both kinds, with those that no value takes."""
    whole = st.one_of(st.integers(-20, 20), st.sampled_from([*INT64, 2**63, -(2**70)]))
    real = st.one_of(FINITE, st.sampled_from([*FLOATS, math.nan, 1e-18]), st.floats())
    return st.one_of(whole, whole, real, st.sampled_from([True, "1", None]))


class Run(NamedTuple):
    """Many fields at once: `count` from `start`, with values of one length or of several."""

    start: int
    count: int
    length: int
    varied: bool

    def pairs(self, kind: Kind) -> list[tuple[Any, Any]]:
        numbers = range(self.start, self.start + self.count)
        return [(kind.key_of(f"field:{i}"), self._value(kind, i)) for i in numbers]

    def _value(self, kind: Kind, i: int) -> Any:
        if kind.value in ("int64", "float64") or not self.length:
            return kind.value_of(i)
        text = "v" * (self.length - self.varied * (i % 3))
        return text if kind.value == "str" else text.encode()


def runs() -> st.SearchStrategy[Run]:
    """From a few fields to what passes 64 KiB by count or by length, and back if removed."""
    return st.builds(
        Run,
        start=st.one_of(st.integers(0, 40), st.sampled_from([0, 5000])),
        count=st.sampled_from(
            [1, 4, 5, 6, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1700]
        ),
        length=st.sampled_from([0, 0, 1, 16, 110, 118, 127, 128, 254, 255, 256, 300]),
        varied=st.booleans(),
    )
