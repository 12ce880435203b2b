"""Runs the code of plots.md and saves what it draws in docs/images, or in the folder given."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes

DOCS = Path(__file__).parent
PICTURE = re.compile(r"!\[.*\]\(images/(\w+\.svg)\)")
# The same bytes each time: names of the parts of a picture are random otherwise.
SETTINGS = {"svg.hashsalt": "goblin", "savefig.facecolor": "white"}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "images"
    folder.mkdir(exist_ok=True)
    code, *rest = PICTURE.split((DOCS / "plots.md").read_text())
    names: dict[str, Any] = {}
    for picture, following in zip(rest[::2], rest[1::2], strict=True):
        names = run(code, names)
        save(folder / picture, names["ax"])
        code = following


def run(code: str, names: dict[str, Any]) -> dict[str, Any]:
    """The names that there are after the examples in a part of the page."""
    test = doctest.DocTestParser().get_doctest(code, names, "plots.md", None, 0)
    if doctest.DocTestRunner().run(test, clear_globs=False).failed:
        raise SystemExit(1)
    return test.globs


def save(path: Path, ax: Axes) -> None:
    with matplotlib.rc_context(SETTINGS):
        ax.figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
