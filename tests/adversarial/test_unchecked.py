"""Files that are mapped without a look at their content: whatever they hold, reads stay in them.

What is read may be wrong, or an exception. In processes of their own, which must end, and well.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DEADLINE = 300  # seconds for what takes a few
TESTS = Path(__file__).parents[1]
SCRIPT = TESTS / "adversarial" / "unchecked.py"


def run(*arguments: object) -> None:
    """With what it tried last where it does not end well."""
    search = [str(TESTS), str(TESTS / "unit"), *sys.path]
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", SCRIPT, *map(str, arguments)],
        capture_output=True, text=True, timeout=DEADLINE, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(search)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-200:] + done.stderr[-5000:]


KINDS = ["SortedSet int", "SortedSet str", "SortedSet bytes", "SortedSet uuid"]
KINDS += ["Hash Hash", "HashTable Hash"]


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_content_is_read_without_harm(kind: str) -> None:
    run(kind, 0, 100)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_much_damaged_content_is_read_without_harm(kind: str) -> None:
    run(kind, 100, 3000)


@pytest.mark.parametrize("name", ["numbers", "names", "pages", "fields", "records"])
def test_damaged_large_files_are_read_without_harm(name: str, tmp_path: Path) -> None:
    run(name, 0, 16, tmp_path)
