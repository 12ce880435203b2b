"""Write the tables and charts of docs/benchmarks.md from what the benchmarks left beside it.

What stands between `<!-- begin NAME -->` and `<!-- end -->` is written anew from NAME.json and
NAME-full.json in docs/benchmarks; the prose around it is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import charts
from harness import RESULTS, table
from views import CHARTS, VERSUS, VIEWS, Row, Versus, View, contests

PAGE = RESULTS.with_suffix(".md")
BLOCK = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
NOTHING = "*Not measured yet: `make bench` does it.*\n"
TRUSTED = 1.1  # a difference below this is none

Results = dict[str, Any]


def main() -> None:
    results = read(RESULTS)
    for file, result in results.items():
        if chart := CHARTS.get(result["benchmark"]):
            charts.draw(chart, result["rows"], RESULTS / f"{file}.svg")
    PAGE.write_text(written(PAGE.read_text(), results))


def read(folder: Path) -> dict[str, Results]:
    """Results by the stem of their file; the full sizes of a benchmark come after the others."""
    paths = sorted(folder.glob("*.json"), key=lambda path: path.stem)
    return {path.stem: json.loads(path.read_text()) for path in paths}


def written(page: str, results: dict[str, Results]) -> str:
    special = {"machines": machines, "losses": losses, "missed": missed}

    def block(match: re.Match[str]) -> str:
        begin, name, end = match.groups()
        if make := special.get(name):
            text = make(results.values())
        else:
            mine = {file: one for file, one in results.items() if one["benchmark"] == name}
            text = "\n".join(section(file, one) for file, one in mine.items())
        return f"{begin}\n{text or NOTHING}\n{end}"

    return BLOCK.sub(block, page)


def section(file: str, result: Results) -> str:
    views = VIEWS.get(result["benchmark"]) or [everything(result["rows"])]
    parts = [caption(result), *(shown(view, result["rows"]) for view in views)]
    if chart := CHARTS.get(result["benchmark"]):
        parts.append(f"![{result['question']}: {chart.axis}]({RESULTS.name}/{file}.svg)\n")
    return "\n".join(parts)


def caption(result: Results) -> str:
    options = result["options"]
    sizes = "`--full`" if options["full"] else "default sizes"
    rounds = "1 round" if options["repeat"] == 1 else f"{options['repeat']} rounds"
    return f"{result['date'][:10]}, {sizes}, {rounds}:\n"


def everything(rows: list[Row]) -> View:
    keys = dict.fromkeys(key for row in rows for key in row if key != "samples")
    return View({}, {key: key for key in keys})


# ---- tables


def shown(view: View, rows: list[Row]) -> str:
    rows = [row for row in rows if belongs(row, view)]
    return table(list(pivoted(view, rows)) if view.across else [picked(view, row) for row in rows])


def belongs(row: Row, view: View) -> bool:
    return (
        view.labels.keys() <= row.keys()
        and not view.values.keys().isdisjoint(row)
        and view.unless not in row
    )


def picked(view: View, row: Row) -> Row:
    headings = view.labels | view.values
    return {heading: row.get(key, "") for key, heading in headings.items()}


def pivoted(view: View, rows: list[Row]) -> Iterator[Row]:
    (value,) = view.values
    columns = dict.fromkeys(row[view.across] for row in rows)
    by_label: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        label = tuple(row[key] for key in view.labels)
        by_label.setdefault(label, {})[row[view.across]] = row[value]
    for label, cells in by_label.items():
        named = dict(zip(view.labels.values(), label, strict=True))
        yield named | {column: cells.get(column, "") for column in columns}


# ---- what concerns all of them


def machines(results: Iterable[Results]) -> str:
    by_machine: dict[str, list[str]] = {}
    for result in results:
        names = by_machine.setdefault(machine(result["machine"]), [])
        names.append(result["benchmark"])
    lines = [f"- {which}: {', '.join(dict.fromkeys(by_machine[which]))}" for which in by_machine]
    return "\n".join([*lines, ""]) if lines else ""


def machine(host: dict[str, Any]) -> str:
    peers = [f"{name} {version}" for name, version in host.get("peers", {}).items()]
    software = [f"Python {host['python']}", f"numpy {host['numpy']}", *peers]
    hardware = f"{host['cores']} cores of {host['cpu']}, {host['memory_gib']} GiB"
    built = f"goblin {host['goblin']} by gcc {host['compiler']} with {host['simd']} kernels"
    return f"{hardware}; {built}; {', '.join(software)}"


def missed(results: Iterable[Results]) -> str:
    rows = [
        {
            "benchmark": f"`bench_{result['benchmark']}.py`",
            "figure": figure["what"],
            "measured": figure["value"],
            "to reach": f"{'at least' if figure['at_least'] else 'at most'} {figure['limit']:g}",
            "unit": figure["unit"],
        }
        for result in results
        for figure in result["figures"]
        if not figure["reached"]
    ]
    return table(rows) if rows else "None.\n"


def losses(results: Iterable[Results]) -> str:
    rows = [row for result in results for row in losses_of(result)]
    rows.sort(key=lambda row: -row["times"])
    return table(rows) if rows else "None.\n"


def losses_of(result: Results) -> Iterator[Row]:
    rows = contests(result["benchmark"], result["rows"])
    for versus in VERSUS.get(result["benchmark"], []):
        for case, peer, value, times, ours in worst(versus, rows):
            if times >= TRUSTED:
                yield {
                    "benchmark": f"`bench_{result['benchmark']}.py`",
                    "case": named(versus.by, case),
                    "goblin": f"`{ours}`",
                    "peer": f"`{peer}`",
                    "of": value,
                    "times": times,
                }


def worst(versus: Versus, rows: list[Row]) -> Iterator[tuple[Any, str, str, float, str]]:
    """Of each case, peer and value: the largest multiple of the peer's, and whose it is."""
    cases: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        if versus.values.keys() & row.keys() and {versus.contender, *versus.by} <= row.keys():
            case = tuple(row[key] for key in versus.by)
            cases.setdefault(case, {})[row[versus.contender]] = row
    for case, by_name in cases.items():
        for key, value in versus.values.items():
            found: dict[str, tuple[float, str]] = {}
            for ours, peer in rivals(versus, by_name):
                pair = by_name[ours].get(key), by_name[peer].get(key)
                if all(isinstance(one, int | float) for one in pair):
                    times = pair[0] / pair[1]
                    found[peer] = max(found.get(peer, (0.0, "")), (times, ours))
            for peer, (times, ours) in found.items():
                yield case, peer, value, times, ours


def named(by: tuple[str, ...], case: tuple[Any, ...]) -> str:
    parts = [
        f"{one:,} {key}" if isinstance(one, int) else one for key, one in zip(by, case, strict=True)
    ]
    return ", ".join(parts) or "all"


def rivals(versus: Versus, by_name: dict[str, Row]) -> Iterator[tuple[str, str]]:
    for ours, peers in versus.pairs.items():
        for peer in peers:
            if ours in by_name and peer in by_name:
                yield ours, peer


if __name__ == "__main__":
    main()
