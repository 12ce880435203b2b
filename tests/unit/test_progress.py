"""Progress goes to a callable or to standard error, and only where somebody looks."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from goblin.progress import track


def work(setting: Any) -> None:
    with track(setting, 10, "member", "adding") as advance:
        for _ in range(5):
            advance(2)


@pytest.mark.parametrize("setting", ["auto", False, None])
def test_silence(setting: Any, capfd: pytest.CaptureFixture[str]) -> None:
    work(setting)
    assert capfd.readouterr() == ("", "")


def test_callable() -> None:
    calls: list[tuple[int, int | None]] = []
    work(lambda done, total: calls.append((done, total)))
    assert calls == [(2, 10), (4, 10), (6, 10), (8, 10), (10, 10)]


@pytest.mark.parametrize("setting", ["yes", 1.5, "", b"auto"])
def test_other_settings(setting: Any) -> None:
    with pytest.raises(ValueError, match="progress"):
        work(setting)


@pytest.mark.parametrize("hidden", ["", "tqdm.auto"])
def test_bar_on_standard_error(hidden: str) -> None:
    """With tqdm and, where it is not installed, without."""
    code = (
        "import sys\n"
        f"sys.modules.update({{{hidden!r}: None}} if {hidden!r} else {{}})\n"
        "from goblin.progress import track\n"
        "with track(True, 10, 'member', 'adding') as advance: advance(10)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert "adding" in done.stderr
    assert "100%" in done.stderr


def test_bar_ends_its_line_when_work_fails() -> None:
    code = (
        "import sys; sys.modules['tqdm.auto'] = None\n"
        "from goblin.progress import track\n"
        "with track(True, None, 'B', 'reading') as advance: advance(3); raise SystemExit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr.startswith(b"\rreading: 3 B")
    assert done.stderr.endswith(b"\n")


def test_errors_pass_through() -> None:
    with pytest.raises(KeyError), track(False, None, "B", "reading"):
        raise KeyError("mine")


@pytest.mark.parametrize("hidden", ["", "tqdm.auto"])
@pytest.mark.parametrize("setting", ["auto", True])
def test_no_standard_error_is_no_error(hidden: str, setting: Any) -> None:
    """Nor a reason to write to standard output."""
    code = (
        "import sys\n"
        f"sys.modules.update({{{hidden!r}: None}} if {hidden!r} else {{}})\n"
        "from goblin.progress import track\n"
        "sys.stderr = None\n"
        f"with track({setting!r}, 10, 'member', 'adding') as advance: advance(10)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.parametrize("hidden", ["", "tqdm.auto"])
def test_a_bar_that_cannot_end_does_not_undo_the_work(hidden: str) -> None:
    code = (
        "import os, sys\n"
        f"sys.modules.update({{{hidden!r}: None}} if {hidden!r} else {{}})\n"
        "from goblin.progress import track\n"
        "with track(True, 10, 'member', 'adding'):\n"
        "    os.dup2(os.open('/dev/full', os.O_WRONLY), 2)\n"
        "print('done'); sys.stdout.flush(); os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert done.stdout == b"done\n"


@pytest.mark.parametrize("hidden", ["", "tqdm.auto", "ipywidgets"])
def test_a_notebook_shows_progress_and_no_warning(hidden: str) -> None:
    """Also where tqdm, or the widgets that it asks for, are not installed."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    code = (
        "import sys, warnings\n"
        f"sys.modules.update({{{hidden!r}: None}} if {hidden!r} else {{}})\n"
        "import goblin\n"
        "warnings.simplefilter('always')\n"
        "z = goblin.SortedSet(member='int64')\n"
        "z.increment_many(range(100), progress='auto')\n"
    )
    cell = nbformat.v4.new_code_cell(code)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    nbclient.NotebookClient(notebook, timeout=60).execute()
    shown = "".join(output.get("text", "") or str(output.get("data")) for output in cell.outputs)
    assert "incrementing" in shown
    assert "Warning" not in shown
    assert not [output for output in cell.outputs if output.get("name") == "stdout"]
