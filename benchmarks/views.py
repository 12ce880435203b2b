"""Which numbers of each benchmark the page shows, and which of them compare goblin with a peer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class View:
    """Columns of a table, by their headings; or, `across` a key, one value for each of its names.

    Only rows that have all of `labels`, and not `unless`, are in it.
    """

    labels: dict[str, str]
    values: dict[str, str]
    across: str | None = None
    unless: str | None = None


@dataclass(frozen=True)
class Chart:
    """Bars of one value, or lines of some values over `x`, one line for each of their labels."""

    labels: tuple[str, ...]
    values: dict[str, str]
    axis: str
    x: str | None = None
    log: bool = False


@dataclass(frozen=True)
class Versus:
    """Rows that have `by` in common compete; at each of `values` the smaller wins.

    `pairs` says whose peers are which, by names in the column `contender`.
    """

    by: tuple[str, ...]
    contender: str
    values: dict[str, str]
    pairs: dict[str, tuple[str, ...]]


LAYOUTS = ("int32-float32", "int32-float64", "int64-float32", "int64-float64")
COUNTERS = (
    "np.bincount, one call a batch",
    "np.bincount, 1 M at a time",
    "np.unique, 1 M at a time",
    "np.add.at",
    "pandas value_counts",
    "polars value_counts",
    "DuckDB group by",
    "Counter",
    "dict + SortedList",
    "redis-server, pipelines of 256",
)
STORES = ("dict", "dict + SortedList", "redis-server")
SORTERS = ("np.lexsort", "sorted, 1 M", "SortedList, 1 M")
HASHES = ("compact", "full, optimized", "full, grown")
FORMS = (
    "numpy S",
    "numpy U",
    "StringDType",
    "Arrow string",
    "Arrow string_view",
    "list of str",
)
CALLS = {
    "z.increment(m)": ("d[m] += 1.0",),
    "z[m]": ("d[m]",),
    "z.rank(m)": ("SortedList rank", "SortedList: rank"),
    "z: increment, rank": ("SortedList: increment, rank",),
    "z.top(100), no order yet": ("np.argpartition, 100",),
}

VIEWS: dict[str, list[View]] = {
    "increments": [
        View(
            {"contender": "contender", "events": "events"},
            {"ns": "ns an event", "times_bare_loop": "times the bare loop"},
        )
    ],
    "memory": [
        View(
            {"case": "members", "layout": "layout or peer"},
            {"index": "index", "ordered": "ordered", "optimized": "optimized", "rss": "RSS"},
        )
    ],
    "full_replay": [
        View(
            {"members": "members", "events": "events"},
            {
                "total_s": "all, s",
                "increment_ns": "ns an event",
                "order_ns": "order, ns a member",
                "bytes": "bytes a member",
                "rss_gib": "GiB",
                "peak_rss_gib": "peak GiB",
            },
        )
    ],
    "points": [View({"operation": "operation"}, {"ns": "ns a call or member"}, "case")],
    "build": [
        View(
            {"shape": "members", "contender": "contender"},
            {
                "build_ns": "order, ns a member",
                "rank_ns": "rank, ns a call",
                "select_ns": "select, ns a call",
            },
        )
    ],
    "growth": [
        View(
            {"ids": "ids", "members": "members"},
            {
                "create_ns": "create, ns",
                "increment_ns": "increment, ns",
                "order_ns": "order, ns a member",
                "index_bytes": "bytes, index",
                "with_order_bytes": "bytes with order",
            },
        )
    ],
    "names": [
        View(
            {"case": "members", "layout": "layout or peer"},
            {
                "load_ns": "load, ns",
                "order_ns": "order, ns",
                "loaded": "loaded",
                "ordered": "ordered",
                "optimized": "optimized",
                "rss": "RSS",
            },
        )
    ],
    "names_points": [View({"operation": "operation"}, {"ns": "ns a call"}, "keys")],
    "update_names": [View({"form": "form"}, {"ns": "ns a pair"}, "case")],
    "setops": [View({"operation": "operation", "case": "members"}, {"ns": "ns"}, "contender")],
    "boards": [
        View(
            {"case": "members", "contender": "contender"},
            {"sets": "sets", "mapping too": "with the mapping", "rss": "RSS", "ns": "ns an event"},
        )
    ],
    "hashtable": [
        View(
            {"case": "values", "contender": "container"},
            {
                "own": "bytes",
                "optimized": "optimized",
                "rss": "RSS",
                "fill": "fill",
                "column": "column",
                "get": "get",
                "set": "set",
            },
        )
    ],
    "hash": [
        View(
            {"fields": "fields"},
            {
                "compact": "compact",
                "full, optimized": "full, optimized",
                "full, grown": "full, grown",
                "dict of str": "dict of str",
                "dict of bytes": "dict of bytes",
                "redis-server": "redis-server",
            },
            unless="call",
        ),
        View(
            {"fields": "fields", "call": "call"},
            {"compact": "compact", "full": "full", "dict": "dict"},
        ),
    ],
    "lichess": [View({"contender": "reader"}, {"gb_per_s": "GB/s"})],
}

CHARTS: dict[str, Chart] = {
    "increments": Chart(("contender",), {"ns": ""}, "ns an event (logarithmic)", log=True),
    "memory": Chart(("case", "layout"), {"rss": ""}, "resident bytes a member, with order"),
    "growth": Chart(
        ("ids",),
        {"index_bytes": "index", "with_order_bytes": "with order"},
        "bytes a member",
        x="members",
    ),
    "names": Chart(("case", "layout"), {"rss": ""}, "resident bytes a member, with order"),
    "hashtable": Chart(("case", "contender"), {"rss": ""}, "resident bytes a record"),
    "boards": Chart(("case", "contender"), {"rss": ""}, "resident bytes a board"),
    "hash": Chart(
        (),
        {
            "compact": "compact",
            "full, optimized": "full, optimized",
            "dict of str": "dict of str",
            "redis-server": "redis-server",
        },
        "bytes a hash",
        x="fields",
    ),
    "lichess": Chart(("contender",), {"gb_per_s": ""}, "GB of text a second"),
}

NS = {"ns": "time"}
VERSUS: dict[str, list[Versus]] = {
    "increments": [Versus((), "contender", NS, dict.fromkeys(LAYOUTS, COUNTERS))],
    "memory": [Versus(("case",), "layout", {"rss": "memory"}, dict.fromkeys(LAYOUTS, STORES))],
    "names": [
        Versus(("case",), "layout", {"rss": "memory"}, {"bytes-float64": STORES}),
    ],
    "build": [
        Versus(("shape",), "contender", {"build_ns": "time"}, dict.fromkeys(LAYOUTS, SORTERS))
    ],
    "points": [Versus(("case",), "operation", NS, CALLS)],
    "names_points": [Versus(("keys",), "operation", NS, CALLS)],
    "update_names": [Versus(("case",), "form", NS, dict.fromkeys(FORMS, ("d[name] = rating",)))],
    "setops": [
        Versus(
            ("operation", "case"),
            "contender",
            NS,
            {
                "goblin": ("dict", "pandas"),
                "goblin, ordered": ("dict + SortedList", "pandas, sorted"),
            },
        )
    ],
    "boards": [
        Versus(
            ("case",),
            "contender",
            {"rss": "memory", "ns": "time"},
            {"Boards": ("dict of dicts",)},
        )
    ],
    "hashtable": [
        Versus(
            ("case",),
            "contender",
            {
                "rss": "memory",
                "fill": "time to fill",
                "column": "time of a column",
                "get": "time to get",
                "set": "time to set",
            },
            {"HashTable": ("dict of dicts", "DataFrame")},
        )
    ],
    "hash": [
        Versus(
            ("fields",),
            "contender",
            {"bytes": "memory"},
            dict.fromkeys(HASHES, ("dict of str", "redis-server")),
        ),
        Versus(("fields", "call"), "contender", NS, {"compact": ("dict",), "full": ("dict",)}),
    ],
    "lichess": [
        Versus(
            (),
            "contender",
            NS,
            {"reader, zstd, and players as text": ("loop in Python over lines",)},
        )
    ],
}


def contests(name: str, rows: list[Row]) -> list[Row]:
    """The rows, those of hashes with an engine each: there the engines are columns."""
    if name != "hash":
        return rows
    long = []
    for row in rows:
        places = {key: row[key] for key in ("fields", "call") if key in row}
        value = "ns" if "call" in row else "bytes"
        for engine in row.keys() - {*places, "samples", "a field"}:
            long.append({**places, "contender": engine, value: row[engine]})
    return long
