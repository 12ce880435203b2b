"""Each fault that others met, of which there is a case, has a test that names it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CASES = [
    *(1, 3, 4, 5, 7, 9, 10, 12, 14, 16, 17, 18, 19, 21, 22, 24, 26, 28, 29, 30, 32, 34, 36, 37, 38),
    *(40, 41, 42, 43, 45, 46, 48, 50, 51, 53, 55, 56, 57, 58, 59, 61, 64, 65),
]


def named(path: Path) -> Iterator[str]:
    """The cases in the names and docstrings of the tests of one file, and of their classes."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and re.match("[Tt]est", node.name):
            yield from re.findall(r"B\d\d(?!\d)", f"{node.name} {ast.get_docstring(node)}")
    # One fault may be the matter of a whole file.
    yield from re.findall(r"B\d\d(?!\d)", ast.get_docstring(tree) or "")


FOUND = {
    case for path in TESTS.rglob("test_*.py") if path != Path(__file__) for case in named(path)
}


@pytest.mark.parametrize("case", [f"B{number:02}" for number in CASES])
def test_the_case_has_a_test(case: str) -> None:
    assert case in FOUND
