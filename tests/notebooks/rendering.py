"""Runs the notebooks; `python tests/notebooks/rendering.py` writes each as .ipynb beside its .py.

The .py files are the source. A rendered notebook has the same cells and what they gave.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import jupytext
import matplotlib.font_manager
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

FOLDER = Path(__file__).parents[2] / "notebooks"
SOURCES = sorted(FOLDER.glob("*.py"))
SECONDS_OF_A_CELL = 300
# The first text of a machine that lacks matplotlib's list of fonts would be a warning about it.
FONTS = matplotlib.font_manager.fontManager


class Cell(NamedTuple):
    kind: str
    source: str


def rendered_path(source: Path) -> Path:
    return source.with_suffix(".ipynb")


def read(source: Path) -> NotebookNode:
    """The cells of a source, without what they give; the same each time."""
    notebook = jupytext.read(source)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    notebook.metadata = {"kernelspec": notebook.metadata.kernelspec}
    return notebook


def cells(notebook: NotebookNode) -> list[Cell]:
    return [Cell(cell.cell_type, cell.source) for cell in notebook.cells]


def execute(notebook: NotebookNode) -> None:
    """Run all cells in a kernel of their own; CellExecutionError for an exception in one."""
    client = NotebookClient(
        notebook,
        timeout=SECONDS_OF_A_CELL,
        record_timing=False,
        resources={"metadata": {"path": FOLDER}},
    )
    client.execute()
    del notebook.metadata["language_info"]["version"]


def execute_with_warnings(notebook: NotebookNode) -> str:
    """Run all cells with every warning shown; returns what went to standard error."""
    show_all = new_code_cell('import warnings\nwarnings.simplefilter("always")', id="show-warnings")
    notebook.cells.insert(0, show_all)
    execute(notebook)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "".join(output.text for output in outputs if output.get("name") == "stderr")


def main(names: list[str]) -> None:
    for source in SOURCES:
        if names and source.stem not in names:
            continue
        notebook = read(source)
        print(f"{rendered_path(source).name} ...", flush=True)
        execute(notebook)
        nbformat.write(notebook, rendered_path(source))


if __name__ == "__main__":
    main(sys.argv[1:])
