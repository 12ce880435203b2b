"""Each notebook runs without a warning, and the rendered one beside it was made from it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("jupytext", reason="pip install 'goblin-core[notebooks]'")
pytest.importorskip("nbclient", reason="pip install 'goblin-core[notebooks]'")

import nbformat
from rendering import FOLDER, SOURCES, cells, execute_with_warnings, read, rendered_path

LARGEST = 300_000  # bytes of a rendered notebook
every_notebook = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)


@every_notebook
def test_it_runs_without_a_warning(source: Path) -> None:
    assert execute_with_warnings(read(source)) == ""


@pytest.mark.parametrize("name", ["lichess", "wikipedia"])
def test_it_runs_on_real_data(
    name: str, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOBLIN_DATA", str(shared_data))
    assert execute_with_warnings(read(FOLDER / f"{name}.py")) == ""


def test_each_rendered_one_has_a_source() -> None:
    assert sorted(FOLDER.glob("*.ipynb")) == [rendered_path(source) for source in SOURCES]


@every_notebook
def test_the_rendered_one_has_its_cells(source: Path) -> None:
    rendered = nbformat.read(rendered_path(source), as_version=4)
    nbformat.validate(rendered)
    assert cells(rendered) == cells(read(source)), "make notebooks renders it anew"


@every_notebook
def test_the_rendered_one_ran_to_its_end(source: Path) -> None:
    rendered = nbformat.read(rendered_path(source), as_version=4)
    code = [cell for cell in rendered.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert rendered_path(source).stat().st_size < LARGEST
