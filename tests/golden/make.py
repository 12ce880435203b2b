"""Writes the golden files: `python tests/golden/make.py`. It never overwrites one.

Those of a version of the format stay as they are for good: whatever comes later has to read them. A
container or layout that is new gets files of its own beside them. The JSON tells what is in each:
the first of a list of members, with the scores of another list, repeated as often as it takes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import hashes

import goblin

FOLDER = Path(__file__).parent
VERSION = 1
CONTENTS = FOLDER / f"contents.v{VERSION}.json"  # of sorted sets
CONTENTS_OF_HASHES = FOLDER / f"contents-of-hashes.v{VERSION}.json"
DECODE = {"str": str, "bytes": bytes.fromhex, "uuid": UUID, "int32": int, "int64": int}
SMALL = 2  # those with more members are compressed


class Golden(NamedTuple):
    """What a golden file holds, and how."""

    file: str
    container: str
    options: dict[str, Any]
    members: str  # the name of a list
    count: int
    scores: str  # that of another
    ordered: bool  # whether the order by rank is in it


def content_of(g: Golden, lists: dict[str, list[Any]]) -> dict[Any, float]:
    decode, members = DECODE[g.options["member"]], []
    for member in lists[g.members]:
        members += range(*member) if isinstance(member, list) else [decode(member)]
    scores = map(float.fromhex, lists[g.scores])
    return dict(zip(members[: g.count], cycle(scores), strict=False))


def build(g: Golden, lists: dict[str, list[Any]]) -> Any:
    """The object of a golden file anew."""
    made = getattr(goblin, g.container)(content_of(g, lists), **g.options)
    if g.ordered:
        made.rank(next(iter(made), None), default=None)
    made.optimize()
    return made


# ---- what there is

HALVES = [*(i / 2 for i in range(-20, 40)), float("inf"), float("-inf"), 2.0**100, -0.25]
SCORES = {
    "scores-float32": HALVES,
    "scores-float64": [*HALVES, 0.1, 1 / 3, 5e-324, 1.7976931348623157e308],
    "codes-1": [*map(float, range(200)), -1.5, 2.0**90],  # widths of the codes of pages
    "codes-2": [*(i * 300.0 for i in range(200)), -1.5, 2.0**90],
    "codes-none": [i / 4 for i in range(-100, 100)],
}


def make_lists() -> dict[str, list[Any]]:
    """Lists as JSON has them: scores as hexadecimal, bytes too; runs of integers as their ends."""
    n = 300
    texts = [f"{i * 37 % n:x}" + "é€" * (i % 4) + "long " * (i % 97 // 96 * 60) for i in range(n)]
    return {
        **{name: [score.hex() for score in scores] for name, scores in SCORES.items()},
        "int32": [(i * 2_654_435_761 + 7) % 2**32 - 2**31 for i in range(n)],
        "int64": [(i * 11_400_714_819_323_198_485 + 7) % 2**64 - 2**63 for i in range(n)],
        "str": texts,
        "bytes": [(text.encode() + b"\xff\0"[: i % 3]).hex() for i, text in enumerate(texts)],
        "uuid": [str(UUID(int=i * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128)) for i in range(n)],
        "runs": [[-1700, 0], [16_384, 2 * 16_384], 10**6],
    }


def goldens() -> Iterator[Golden]:
    def golden(name: str, members: str, count: int, scores: str, ordered: bool) -> Golden:
        options = {"member": member, "score": score, "merge_exponent": 0.5}
        options["compress"] = name != "plain"
        file = f"SortedSet-{member}-{score}-{name}.v{VERSION}.goblin"
        return Golden(file, "SortedSet", options, members, count, scores, ordered)

    for member in DECODE:
        for score in ("float32", "float64"):
            scores = f"scores-{score}"
            yield golden("empty", member, 0, scores, False)
            yield golden("few", member, SMALL, scores, False)
            yield golden("many", member, 300, scores, False)
            yield golden("packed", member, 300, scores, True)
            yield golden("plain", member, 300, scores, True)
            for codes in (1, 2, "none") if member.startswith("int") else ():
                yield golden(f"pages-{codes}", "runs", 10**5, f"codes-{codes}", codes == 1)


def write(contents: Path, made: list[Any], lists: dict[str, list[Any]], source: Any) -> bool:
    """Writes files and the JSON of what they hold, unless they are there."""
    if contents.exists() or any((FOLDER / g.file).exists() for g in made):
        print(f"the golden files of {contents.name} are there already, and stay")
        return False
    for g in made:
        compression = "zstd" if g.count > source.SMALL else None
        source.build(g, lists).save(FOLDER / g.file, compression=compression)
    files = ",\n".join(json.dumps(g._asdict()) for g in made)
    texts = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(values)}" for name, values in lists.items()
    )
    contents.write_text(f'{{"files": [\n{files}\n],\n"lists": {{\n{texts}\n}}}}\n')
    return True


def main() -> int:
    groups = (CONTENTS, sys.modules[__name__]), (CONTENTS_OF_HASHES, hashes)
    written = [write(path, list(of.goldens()), of.make_lists(), of) for path, of in groups]
    return 0 if any(written) else 1


if __name__ == "__main__":
    sys.exit(main())
