"""docs/benchmarks.md has what the benchmarks measured: as is, and wherever goblin loses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
PAGE = ROOT / "docs" / "benchmarks.md"


@pytest.fixture(scope="module")
def page() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        import page

        yield page


def result(benchmark: str, *rows: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {
        "benchmark": benchmark,
        "question": "ns?",
        "date": "2026-11-30T12:00:00+00:00",
        "machine": {},
        "options": {"quick": False, "full": False, "repeat": 3},
        "rows": list(rows),
        "figures": [],
        **others,
    }


def test_the_page_has_what_was_measured(page: ModuleType) -> None:
    text = PAGE.read_text()
    assert text == page.written(text, page.read(page.RESULTS)), "run benchmarks/page.py"


def test_every_benchmark_has_its_place(page: ModuleType) -> None:
    text = PAGE.read_text()
    for script in BENCHMARKS.glob("bench_*.py"):
        assert f"| `{script.name}` |" in text
    for one in page.read(page.RESULTS).values():
        assert f"<!-- begin {one['benchmark']} -->" in text


def test_nothing_measured_is_said(page: ModuleType) -> None:
    text = page.written(PAGE.read_text(), {})
    blocks = re.findall(r"<!-- begin (\w+) -->(.*?)<!-- end -->", text, re.DOTALL)
    assert len(blocks) >= 15
    assert all("Not measured yet" in content or "None." in content for _, content in blocks)


def test_results_replace_those_before(page: ModuleType) -> None:
    template = "Before.\n<!-- begin mine -->\nold\n<!-- end -->\nAfter.\n"
    rows = {"case": "a", "ns": 1234.5, "samples": [1.0]}, {"case": "c", "ns": 2.0}
    once = page.written(template, {"mine": result("mine", *rows)})
    assert page.written(once, {"mine": result("mine", *rows)}) == once
    assert "old" not in once and once.startswith("Before.") and once.endswith("After.\n")
    assert "1,234" in once and "samples" not in once and "2026-11-30" in once


def test_losses_are_listed_and_wins_are_not(page: ModuleType) -> None:
    rows = [
        {"contender": name, "ns": ns}
        for name, ns in {
            "int64-float64": 10.0,
            "int32-float32": 12.0,
            "np.add.at": 100.0,
            "np.unique, 1 M at a time": 11.5,  # less than a tenth from the worst
            "np.bincount, one call a batch": 5.0,
        }.items()
    ]
    (loss,) = page.losses_of(result("increments", *rows))
    assert (loss["peer"], loss["goblin"], loss["times"]) == (
        "`np.bincount, one call a batch`",
        "`int32-float32`",
        2.4,
    )


def test_engines_in_columns_compete_and_have_a_table_of_each_kind(page: ModuleType) -> None:
    rows = (
        {"fields": 32, "compact": 1000, "dict of str": 900, "redis-server": "not installed"},
        {"fields": 32, "call": "get", "compact": 20.0, "full": 9.0, "dict": 10.0},
    )
    losses = {(one["case"], one["of"]): one for one in page.losses_of(result("hash", *rows))}
    assert set(losses) == {("32 fields", "memory"), ("32 fields, get", "time")}
    assert losses["32 fields, get", "time"]["times"] == 2.0
    bytes_of, ns = (page.shown(view, list(rows)).splitlines() for view in page.VIEWS["hash"])
    assert len(bytes_of) == len(ns) == 3
    assert "900" in bytes_of[-1] and "get" in ns[-1]


def test_figures_that_are_missed_are_listed(page: ModuleType) -> None:
    figure = {"what": "ranks", "value": 3.0, "limit": 2.0, "unit": "us", "at_least": False}
    missed = figure | {"reached": False}
    reached = figure | {"what": "tops", "reached": True}
    text = page.missed([result("points", figures=[missed, reached])])
    assert "ranks" in text and "at most 2" in text and "tops" not in text


def test_charts_show_each_value_and_are_the_same_again(page: ModuleType, tmp_path: Path) -> None:
    bars = [{"case": "few", "layout": name, "rss": rss} for name, rss in [("dict", 1234.0)]]
    lines = [{"ids": "dense", "members": n, "index_bytes": 2.0, "with_order_bytes": 3.0}
             for n in (10, 1000)]  # fmt: skip
    for name, rows, texts in (
        ("memory", bars, ["few, dict", "1,234"]),
        ("growth", lines, ["dense, index", "1,000", "members"]),
    ):
        drawn = []
        for _ in range(2):
            page.charts.draw(page.CHARTS[name], rows, tmp_path / "chart.svg")
            drawn.append((tmp_path / "chart.svg").read_text())
        assert drawn[0] == drawn[1]
        assert all(f">{text}<" in drawn[0] for text in texts)
