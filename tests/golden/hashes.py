"""What the golden files of hashes and tables hold, for make.py and test_golden.py."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any, NamedTuple
from uuid import UUID

import goblin

DECODE = {"str": str, "bytes": bytes.fromhex, "int64": int, "float64": float.fromhex}
SMALL = 3  # those with more entries are compressed


class GoldenHash(NamedTuple):
    """Of a table, the i-th record has the fields i % 3 up to i % 3 + i % 5 of the list."""

    file: str
    container: str
    options: dict[str, Any]
    count: int


def content_of(g: GoldenHash, lists: dict[str, list[Any]]) -> dict[Any, Any]:
    def column(part: str) -> list[Any]:
        kind = g.options[part]
        return [DECODE[kind](item) for item in lists[f"{part}-{kind}"]]

    keys, values = column("key")[: g.count], column("value")
    if g.container == "Hash":
        return dict(zip(keys, cycle(values), strict=False))
    fields = column("field")
    spans = [range(i % 3, i % 3 + i % 5) for i in range(g.count)]
    return {
        key: {fields[j]: values[(i + j) % len(values)] for j in span}
        for i, (key, span) in enumerate(zip(keys, spans, strict=True))
    }


def build(g: GoldenHash, lists: dict[str, list[Any]]) -> Any:
    made = getattr(goblin, g.container)(content_of(g, lists), **g.options)
    made.optimize()
    return made


# ---- what there is


def make_lists() -> dict[str, list[Any]]:
    """Lists as JSON has them; among the texts are integers, UUIDs, what only looks so, and long."""
    texts = []
    for i in range(100):
        uuid = str(UUID(int=i * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128))
        number = i * 11_400_714_819_323_198_485 % 2**64 - 2**63
        texts += [f"text {i}" + "é€" * (i % 4), str(number >> i % 8 * 8), uuid, f"{i:03}"]
    texts[5] += "long " * 13  # of more than 53 bytes
    texts[9] += "longer " * 60  # and more than 245
    fields = ["elo", "7", "f" * 70, str(UUID(int=5)), "é", "won", "lost"]
    ints = [0, 1, -1, 127, 128, 2**31, -(2**63), 2**63 - 1, 1500]
    floats = [0.0, -0.0, 0.5, 1 / 3, 5e-324, 1.7976931348623157e308, float("inf"), float("-inf")]

    def as_bytes(strings: list[str]) -> list[str]:
        return [(s.encode() + b"\xff\0"[: i % 7 // 5]).hex() for i, s in enumerate(strings)]

    return {
        "key-str": texts,
        "key-bytes": as_bytes(texts),
        "field-str": fields,
        "field-bytes": as_bytes(fields),
        "value-str": texts[3:60][::-1],
        "value-bytes": as_bytes(texts[3:60][::-1]),
        "value-int64": ints,
        "value-float64": [number.hex() for number in floats],
    }


def goldens() -> Iterator[GoldenHash]:
    for key in ("str", "bytes"):
        for value in ("str", "bytes", "int64", "float64"):
            for name, count, encoding, most in (
                ("empty", 0, True, None),
                ("few", SMALL, True, None),
                ("many", 300, True, None),
                ("plain", 300, False, None),
                ("full", 300, True, 0),
                ("full-plain", 40, False, 0),
            ):
                options = {"key": key, "value": value}
                options |= {"encoding": encoding, "max_compact_fields": most}
                yield GoldenHash(f"Hash-{key}-{value}-{name}.v1.goblin", "Hash", options, count)
            for field in ("str", "bytes"):
                for name, count in (("empty", 0), ("few", SMALL), ("many", 200)):
                    options = {"key": key, "field": field, "value": value}
                    file = f"HashTable-{key}-{field}-{value}-{name}.v1.goblin"
                    yield GoldenHash(file, "HashTable", options, count)
