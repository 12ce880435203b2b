"""The stubs: they infer what they should, refuse what they should, and match the extension."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


def run_module(name: str, *arguments: str) -> str:
    """What a module of mypy prints; it exits with 1 for mere findings."""
    done = subprocess.run(
        [sys.executable, "-m", name, *arguments], cwd=ROOT, text=True, capture_output=True
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def test_types_are_inferred() -> None:
    report = run_module("mypy", str(HERE / "accepted.py"))
    assert report.startswith("Success"), report


def test_wrong_calls_are_refused() -> None:
    source = (HERE / "rejected.py").read_text().splitlines()
    expected = {
        (number, found[1])
        for number, line in enumerate(source, start=1)
        if (found := re.search(r"# error: ([a-z-]+)$", line))
    }
    report = run_module("mypy", str(HERE / "rejected.py"))
    assert set(re.findall(r"rejected\.py:(\d+): error: .*\[([a-z-]+)\]$", report, re.M)) == {
        (str(number), code) for number, code in expected
    }, report


def test_stubs_match_the_extension() -> None:
    report = run_module("mypy.stubtest", "--mypy-config-file", "pyproject.toml", "goblin._core")
    assert report.startswith("Success"), report
