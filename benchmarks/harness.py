"""What the benchmarks share: interleaved repeats, medians, figures, a table, a JSON file."""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib.metadata
import json
import multiprocessing
import os
import platform
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

import goblin
from goblin import _core

LAYOUTS = [("int32", "float32"), ("int32", "float64"), ("int64", "float32"), ("int64", "float64")]
GIB = 2**30
ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "benchmarks"  # what `page.py` writes the page from
_TRIALS = ROOT / "build" / "bench"
_PEERS = ("duckdb", "pandas", "polars", "pyarrow", "sortedcontainers")

P = ParamSpec("P")
R = TypeVar("R")


CPU = time.thread_time  # what other work on the machine disturbs least
WALL = time.perf_counter  # for who works in several threads or processes


@dataclass
class Contender:
    """Something to time. `prepare` makes what `run` works on; only `run` is timed."""

    name: str
    run: Callable[[Any], object]
    units: int  # `run` does so many events, members or calls
    prepare: Callable[[], Any] = lambda: None
    clock: Callable[[], float] = CPU


class Times:
    """Nanoseconds per unit of each contender, one number a round."""

    def __init__(self) -> None:
        self.rounds: dict[str, list[float]] = {}

    def add(self, name: str, seconds: float, units: int) -> None:
        self.rounds.setdefault(name, []).append(seconds / units * 1e9)

    def median(self, name: str) -> float:
        return statistics.median(self.rounds[name])

    def columns(self, name: str) -> dict[str, Any]:
        rounds = self.rounds[name]
        return {"ns": self.median(name), "best_ns": min(rounds), "samples": rounds}

    def ratio(self, name: str, peer: str) -> float:
        """Median over the rounds of name / peer: what slows a round down slows both."""
        pairs = zip(self.rounds[name], self.rounds[peer], strict=True)
        return statistics.median(a / b for a, b in pairs)


def race(contenders: Sequence[Contender], repeat: int) -> Times:
    """Time the contenders in turn, `repeat` rounds, each round begun by another one."""
    times = Times()
    for turn in range(repeat):
        for contender in rotated(contenders, turn):
            state = contender.prepare()
            spent = seconds(contender.run, state, contender.clock)
            times.add(contender.name, spent, contender.units)
    return times


def rotated(items: Sequence[R], turn: int) -> list[R]:
    start = turn % len(items)
    return [*items[start:], *items[:start]]


def seconds(run: Callable[[Any], object], state: Any, clock: Callable[[], float] = CPU) -> float:
    """How long one call takes, without the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        start = clock()
        run(state)
        return clock() - start
    finally:
        gc.enable()


def isolated(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a module's function in a fresh interpreter, whose memory holds nothing else."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(function, *args, **kwargs).result()


def rss(pid: int | str = "self") -> int:
    """Resident bytes of a process; of this one, after what it freed has gone back."""
    if pid == "self":
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def random_members(n: int, dtype: str, seed: int = 1) -> np.ndarray:
    """About n distinct members over the whole range, in random order: repeats are dropped."""
    limits = np.iinfo(dtype)
    drawn = np.random.default_rng(seed).integers(limits.min, limits.max, n, dtype, endpoint=True)
    distinct = np.unique(drawn)
    return np.random.default_rng(seed).permutation(distinct)


def machine() -> dict[str, Any]:
    info = dict(
        line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line
    )
    cpu = {key.strip(): value.strip() for key, value in info.items()}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": os.cpu_count() or 0,
        "cpu": cpu.get("model name", platform.machine()),
        "cache": cpu.get("cache size", "unknown"),
        "memory_gib": round(memory / GIB),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "goblin": goblin.__version__,
        **_core.build_info(),
        "peers": peers(),
    }


def peers() -> dict[str, str]:
    """Versions of what is there to compare with."""
    installed = {one.metadata["Name"]: one.version for one in importlib.metadata.distributions()}
    found = {name: installed[name] for name in _PEERS if name in installed}
    if shutil.which("redis-server"):
        text = subprocess.run(["redis-server", "--version"], capture_output=True, text=True).stdout
        found["redis-server"] = text.partition("v=")[2].split()[0]
    return found


@dataclass
class Figure:
    """A number to reach: at most `limit`, or at least."""

    what: str
    value: float
    limit: float
    unit: str
    at_least: bool = False
    reached: bool = field(init=False)

    def __post_init__(self) -> None:
        self.reached = self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        relation = "at least" if self.at_least else "at most"
        verdict = "reached" if self.reached else "NOT REACHED"
        return f"{self.what}: {self.value:.4g} {self.unit}, {relation} {self.limit:g}: {verdict}"


class Report:
    """Collects the rows and figures of one benchmark, then prints and writes them.

    What a row holds as `samples`, the rounds that its medians are of, is written only.
    """

    def __init__(self, name: str, question: str, args: argparse.Namespace) -> None:
        self.name = name
        self.question = question
        self.options = {key: value for key, value in vars(args).items() if value is not None}
        self.rows: list[dict[str, Any]] = []
        self.figures: list[Figure] = []

    def row(self, **values: Any) -> None:
        self.rows.append(values)

    def figure(
        self, what: str, value: float, limit: float, unit: str, *, at_least: bool = False
    ) -> None:
        self.figures.append(Figure(what, value, limit, unit, at_least))

    def finish(self) -> None:
        host = machine()
        print(f"\n{self.name}: {self.question}")
        print(f"{host['cores']} cores, {host['cpu']}, {host['memory_gib']} GiB\n")
        shown = [{key: row[key] for key in row if key != "samples"} for row in self.rows]
        print(table(shown))
        for figure in self.figures:
            print(figure)
        content = {
            "benchmark": self.name,
            "question": self.question,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": host,
            "options": self.options,
            "rows": self.rows,
            "figures": [asdict(figure) for figure in self.figures],
        }
        self._path().write_text(json.dumps(content, indent=1) + "\n")

    def _path(self) -> Path:
        folder = _TRIALS if self.options["quick"] else RESULTS
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{self.name}{'-full' if self.options['full'] else ''}.json"


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Rows under the names of their values, in Markdown."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [columns, *([_cell(row.get(column, "")) for column in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = [any(isinstance(row.get(column), int | float) for row in rows) for column in columns]
    lines = [
        "| " + " | ".join(_pad(*place) for place in zip(line, widths, numeric, strict=True)) + " |"
        for line in cells
    ]
    rule = (
        f"{'-' * (w - 1)}:" if right else "-" * w for w, right in zip(widths, numeric, strict=True)
    )
    lines.insert(1, "| " + " | ".join(rule) + " |")
    return "\n".join(lines) + "\n"


def _pad(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def arguments(text: str | None, *, repeat: int) -> argparse.Namespace:
    """The options of every benchmark. `size` picks by them."""
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--quick", action="store_true", help="small sizes: does it run?")
    sizes.add_argument("--full", action="store_true", help="the sizes of English Wikipedia")
    parser.add_argument("--repeat", type=int, default=repeat, help="rounds (default %(default)s)")
    return parser.parse_args()


def size(args: argparse.Namespace, quick: R, default: R, full: R) -> R:
    return quick if args.quick else full if args.full else default
