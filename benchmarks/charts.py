"""The charts of the benchmarks page, as SVG that is readable on white and on black."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from views import Chart, Row

GREY = "#808080"
# Okabe and Ito's, which the colour-blind tell apart, those that stand out on white and on black.
GOBLIN, PEER = "#0072b2", "#d55e00"
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
OURS = re.compile(r"goblin|int(32|64)-|str-|bytes-|uuid-|Boards|HashTable|reader|scanner|compact")
LIMIT = "bare C loop"

STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "goblin",  # the same picture is the same file
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.alpha": 0.4,
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), GREY
    ),
    "grid.color": GREY,
}


def draw(chart: Chart, rows: list[Row], path: Path) -> None:
    with mpl.rc_context(STYLE):
        figure = Figure(layout="constrained")
        axes = figure.add_subplot()
        (lines if chart.x else bars)(axes, chart, rows)
        figure.savefig(path, transparent=True, metadata={"Date": None})
    # Lines of paths end with blanks.
    path.write_text("\n".join(map(str.rstrip, path.read_text().splitlines())) + "\n")


def bars(axes: Axes, chart: Chart, rows: list[Row]) -> None:
    (value,) = chart.values
    rows = [row for row in rows if isinstance(row.get(value), int | float)]
    names = [", ".join(str(row[key]) for key in chart.labels) for row in rows]
    colours = [colour_of(name) for name in names]
    axes.figure.set_size_inches(8, 0.8 + 0.27 * len(rows))
    drawn = axes.barh(names, [row[value] for row in rows], color=colours)
    axes.bar_label(drawn, [short(row[value]) for row in rows], padding=3)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(chart.axis)
    axes.margins(x=0.12)
    if chart.log:
        axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: short(x)))


def colour_of(name: str) -> str:
    return GREY if name == LIMIT else GOBLIN if OURS.search(name) else PEER


def lines(axes: Axes, chart: Chart, rows: list[Row]) -> None:
    axes.figure.set_size_inches(8, 3.8)
    rows = [row for row in rows if all(key in row for key in chart.values)]
    labels = dict.fromkeys(tuple(row[key] for key in chart.labels) for row in rows)
    colours = iter(LINES)
    for label in labels:
        mine = [row for row in rows if tuple(row[key] for key in chart.labels) == label]
        for key, name in chart.values.items():
            points = [(row[chart.x], row[key]) for row in mine if not isinstance(row[key], str)]
            if points:
                axes.plot(*zip(*points, strict=True), "o-", ms=4, color=next(colours),
                          label=", ".join([*map(str, label), name]))  # fmt: skip
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(chart.x)
    axes.set_ylabel(chart.axis)
    axes.grid(axis="y")
    axes.xaxis.set_minor_formatter(NullFormatter())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(LINES))


def short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
