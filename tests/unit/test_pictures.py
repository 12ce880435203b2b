"""The pictures of docs/plots.md are those that its script draws."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_every_picture_is_drawn_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(sys, "argv", ["make_pictures.py", str(tmp_path)])
    runpy.run_path(str(DOCS / "make_pictures.py"), run_name="__main__")
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {path.name for path in (DOCS / "images").glob("*.svg")}
    assert made == set(re.findall(r"\(images/(\w+\.svg)\)", (DOCS / "plots.md").read_text()))
