"""Progress of long calls: a bar on standard error, a callable, or nothing."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

__all__ = ["Advance", "Progress", "track"]

Progress = Literal["auto"] | bool | Callable[[int, int | None], object] | None
Advance = Callable[[int], object]

_SECONDS_BETWEEN_LINES = 0.2


@contextmanager
def track(setting: Progress, total: int | None, unit: str, description: str) -> Iterator[Advance]:
    """Give a function `advance(n)` that reports n more units done of `total` (None: unknown).

    `setting` is "auto" (a bar on a terminal or in a notebook only), True, False or None, or a
    callable that gets `(done, total)` after each step. Nothing is ever written to standard output.
    ValueError for any other setting. O(1) a step.

    >>> with track(lambda done, total: print(done, "of", total), 5, "member", "adding") as advance:
    ...     advance(2)
    ...     advance(3)
    2 of 5
    5 of 5
    """
    if callable(setting):
        yield _count(setting, total)
    elif sys.stderr is not None and (setting is True or (setting == "auto" and _has_watcher())):
        with _bar(total, unit, description) as advance:
            yield advance
    elif setting == "auto" or setting is None or isinstance(setting, bool):
        yield _ignore
    else:
        raise ValueError(f'progress must be "auto", True, False or a callable, not {setting!r}')


def _ignore(_: int) -> None:
    pass


def _count(report: Callable[[int, int | None], object], total: int | None) -> Advance:
    done = 0

    def advance(n: int) -> None:
        nonlocal done
        done += n
        report(done, total)

    return advance


def _has_watcher() -> bool:
    return _in_notebook() or sys.stderr.isatty()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and type(ipython.get_ipython()).__name__ == "ZMQInteractiveShell"


@contextmanager
def _bar(total: int | None, unit: str, description: str) -> Iterator[Advance]:
    try:
        with warnings.catch_warnings():  # in a notebook without ipywidgets, where it writes text
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        with _lines(total, unit, description) as advance:
            yield advance
        return
    bar = tqdm(total=total, unit=unit, desc=description, unit_scale=True, file=sys.stderr)
    try:
        yield bar.update
    finally:
        with suppress(OSError):  # by now the work is done
            bar.close()


@contextmanager
def _lines(total: int | None, unit: str, description: str) -> Iterator[Advance]:
    """One line, rewritten in place."""
    started = last = time.monotonic()

    def show(done: int, seconds: float) -> None:
        share = f"{done / total:4.0%} " if total else ""
        rate = done / seconds if seconds > 0 else 0.0
        line = f"\r{description}: {share}{done:,} {unit}, {rate:,.0f} {unit}/s"
        print(line, end="", file=sys.stderr, flush=True)

    done = 0

    def advance(n: int) -> None:
        nonlocal done, last
        done += n
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            show(done, now - started)

    try:
        yield advance
    finally:
        with suppress(OSError):  # by now the work is done
            show(done, time.monotonic() - started)
            print(file=sys.stderr)
