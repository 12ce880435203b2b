"""How much a process grows while it does the same work again: what grew was left behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_MEASURED = """
import gc, os, sys

def _rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

_watched = globals().get("watched", ())
work({rounds[0]})
gc.collect()
_memory, _counts = _rss(), [sys.getrefcount(each) for each in _watched]
work({rounds[1]})
gc.collect()
_grown = _rss() - _memory
assert _grown < {most}, f"the process grew by {{_grown}} bytes"
_more = [sys.getrefcount(each) - count for each, count in zip(_watched, _counts)]
assert max(_more, default=0) < 20, f"references grew by {{_more}}"
"""


def run(script: str, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def check(script: str, rounds: tuple[int, int], *arguments: str, most: int = 400_000) -> None:
    """Runs a script in a new process, then twice the `work(rounds)` that it defines.

    The second time the process may grow by `most` bytes, and what the script calls `watched` may
    gain a few references.
    """
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc to see the memory used")
    run(script + _MEASURED.format(rounds=rounds, most=most), *arguments)
