"""`import goblin` brings numpy along and little else, so that it takes a few milliseconds."""

from __future__ import annotations

import subprocess
import sys

import pytest

import goblin

# Modules that take time and that most programs never come to need.
LATER = {
    *("goblin.cli", "goblin.dask", "goblin.io", "goblin.plot", "goblin.synthetic"),
    *("argparse", "asyncio", "hmac", "html", "json", "multiprocessing", "random", "secrets"),
    *("backports.zstd", "dask", "IPython", "matplotlib", "pandas", "polars", "pyarrow", "tqdm"),
}


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_what_import_leaves_for_later() -> None:
    loaded = loaded_by("import goblin")
    assert {"goblin._core", "numpy"} <= loaded
    assert not (loaded - loaded_by("import numpy")) & LATER


def test_nothing_is_loaded_but_numpy_and_the_standard_library() -> None:
    fresh = loaded_by("import goblin") - loaded_by("import numpy")
    packages = {name.partition(".")[0] for name in fresh}
    assert packages <= {"goblin", "numpy"} | sys.stdlib_module_names


def test_modules_are_imported_where_they_are_named() -> None:
    code = "import goblin; goblin.synthetic.wikimedia; goblin.io.commands; goblin.plot.top"
    assert {"goblin.synthetic", "goblin.io", "goblin.plot"} <= loaded_by(code)
    with pytest.raises(AttributeError, match="'goblin' has no attribute 'graphs'"):
        _ = goblin.graphs  # type: ignore[attr-defined]
