"""What a command found: the object that --json prints, and the text for people made from it."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Sequence
from typing import Any

from .. import MemoryReport, SortedSet
from ._load import Loaded

Report = dict[str, Any]

# By command: what members and scores are.
_WORDS = {"count": ("page", "edits"), "leaderboard": ("player", "rating")}
_SPREAD = ("mean", "min", "25%", "50%", "75%", "max")
_LONGEST = 64  # characters of a name in a table


def make(command: str, loaded: Loaded, top: int) -> Report:
    """Sum up what was loaded, with its `top` members."""
    sets = {name: _of_set(command, scores, top) for name, scores in loaded.sets.items()}
    only = next(iter(sets.values()))
    return {
        "command": command,
        **({"keys": sets} if len(sets) > 1 else only),
        "rss_bytes": _rss_bytes(),
        "events": loaded.events,
        "seconds": loaded.seconds,
        "skipped": loaded.skipped,
    }


def _of_set(command: str, scores: SortedSet[Any], top: int) -> Report:
    rows = scores.top(top)
    digest = scores.digest()  # builds the order, so that the bytes are those of a sorted set
    memory = scores.memory()
    report = {
        "layout": scores.layout,
        "members": len(scores),
        "total": digest.total,
        "top": [
            {"rank": rank, "member": _plain_member(member), "score": score}
            for rank, (member, score) in enumerate(rows, start=1)
        ],
        "digest": {
            "count": digest.count,
            "total": digest.total,
            "ordered": f"{digest.ordered:032x}",
            "mapping": f"{digest.mapping:032x}",
        },
        "bytes": memory.total,
        "bytes_per_member": memory.per_member,
    }
    if command in ("info", "leaderboard"):
        report["scores"] = scores.describe()
    if command == "info":
        report["memory"] = memory._asdict()
    return report


def _plain_member(member: Any) -> Any:
    """Text for bytes, with surrogates for those that are no UTF-8."""
    return member.decode("utf-8", "surrogateescape") if isinstance(member, bytes) else member


def _rss_bytes() -> int:
    """Memory of this process now or, where the system has no /proc, at its highest."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except FileNotFoundError:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def as_json(report: Report) -> str:
    """One JSON object; infinities become texts and NaN null, for which JSON has no number."""
    return json.dumps(_plain(report), indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def as_text(report: Report) -> str:
    """Tables for people, with thousands separators and units."""
    command = report["command"]
    if "keys" not in report:
        parts = [_set_text(command, report)]
    else:
        parts = [
            f"{_shown(key)}:\n{_set_text(command, of_set)}"
            for key, of_set in report["keys"].items()
        ]
    if command != "digest":  # which has nothing that differs from run to run
        parts.append(_facts(_run_facts(report)))
    return "\n\n".join(parts)


def _set_text(command: str, of_set: Report) -> str:
    if command == "digest":
        return _facts({name: str(value) for name, value in of_set["digest"].items()})
    member, score = _WORDS.get(command, ("member", "score"))
    facts = {
        f"{member}s": f"{of_set['members']:,}",
        **_sum(command, of_set),
        "memory": f"{of_set['bytes']:,} bytes" + _each(of_set["bytes_per_member"], member),
    }
    if command == "info":
        spread = {name: number(of_set["scores"][name]) for name in _SPREAD}
        parts = MemoryReport(**of_set["memory"])
        return f"{_facts({'layout': of_set['layout'], **facts, **spread})}\n\n{parts}"
    return _top_text(of_set, member, score) + _facts(facts)


def _sum(command: str, of_set: Report) -> dict[str, str]:
    """What the scores come to; ratings add up to nothing."""
    if command != "leaderboard":
        return {"edits" if command == "count" else "total": number(of_set["total"])}
    return {"median": number(of_set["scores"]["50%"])} if of_set["members"] else {}


def _top_text(of_set: Report, member: str, score: str) -> str:
    rows = [["rank", member, score]]
    for row in of_set["top"]:
        rows.append([str(row["rank"]), _shown(str(row["member"])), number(row["score"])])
    return table(rows) + "\n\n" if of_set["top"] else ""


def _run_facts(report: Report) -> dict[str, str]:
    seconds = report["seconds"]
    skipped = "; ".join(f"{reason}: {rows:,}" for reason, rows in report["skipped"].items())
    return {
        **({"skipped": skipped} if skipped else {}),
        "time": f"{seconds:,.2f} s, {report['events'] / seconds:,.0f} events/s",
        "process": f"{report['rss_bytes'] / 2**20:,.1f} MiB",
    }


def _each(size: float, member: str) -> str:
    return "" if math.isnan(size) else f", {size:,.2f} a {member}"


def _facts(facts: dict[str, str]) -> str:
    width = max(map(len, facts))
    return "\n".join(f"{name:<{width}}  {text}" for name, text in facts.items())


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns of numbers, the first row their heads."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )


def number(value: float) -> str:
    """A score to its last digit, whole ones without a fraction."""
    return f"{int(value):,}" if abs(value) < 2**53 and value.is_integer() else f"{value:,}"


def _shown(name: str) -> str:
    return escaped(name if len(name) <= _LONGEST else name[: _LONGEST - 3] + "...")


def escaped(text: str) -> str:
    """Text that can neither end a line nor command a terminal."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )
