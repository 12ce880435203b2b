"""The directive `methods CLASS`: a table of its methods with their costs, and what threads meet."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

SENTENCE = re.compile(r"(?<=[.;]) ")
COST = re.compile(r"O\([^)]*\)")
# What grows no faster than this is done before other threads would gain from running.
SHORT = {"O(1)", "O(log n)", "O(log size)"}

# What docs/threads.md says of single methods, beyond what follows from the cost.
BOTH = "holds both sets"
COPIES = "copies another one first, a moment of its own"
VIEW = "iterators hold nothing"
BOARD_BY_BOARD = "a moment for each board"
NOTES = {
    "SortedSet.merge": BOTH,
    "SortedSet.move": f"{BOTH}; no pause while numpy sorts the members",
    "SortedSet.subtract": BOTH,
    "SortedSet.update": BOTH,
    "SortedSet.page": "cursors hold nothing",
    "SortedSet.to_dict": "no pause while the dict grows",
    **{f"SortedSet.{view}": VIEW for view in ("keys", "values", "items")},
    "Hash.update": COPIES,
    "Hash.scan": VIEW,
    **{f"Hash.{view}": VIEW for view in ("keys", "values", "items")},
    "HashTable.update": COPIES,
    **{f"HashTable.{view}": VIEW for view in ("keys", "values", "items")},
    **{f"Record.{view}": VIEW for view in ("keys", "values", "items")},
    "Boards.increment_many": "holds all boards that it writes to",
    "Boards.memory": BOARD_BY_BOARD,
    "Boards.top": BOARD_BY_BOARD,
}


def members(kind: type) -> Iterator[tuple[str, Any]]:
    for name, member in inspect.getmembers(kind):
        ours = getattr(member, "__module__", None) != "collections.abc"  # that of Python is known
        documented = inspect.isroutine(member) or inspect.isdatadescriptor(member)
        if ours and documented and not name.startswith("_"):
            yield name, member


def prose(member: Any) -> list[str]:
    text = (inspect.getdoc(member) or "").partition(">>>")[0]
    return SENTENCE.split(" ".join(text.split()))


def threads(name: str, cost: str) -> str:
    length = "short" if set(COST.findall(cost)) <= SHORT else "long if large"
    return f"{length}; {NOTES[name]}" if name in NOTES else length


def row(kind: type, name: str, member: Any) -> list[str]:
    sentences = prose(member)
    cost = " ".join(sentence for sentence in sentences if COST.search(sentence))
    role = "meth" if inspect.isroutine(member) else "attr"
    if not cost:
        if role == "meth":
            raise ExtensionError(f"the docstring of {kind.__name__}.{name} does not say its cost")
        cost = "O(1)"
    return [
        f":{role}:`~{kind.__module__}.{kind.__name__}.{name}`",
        sentences[0].rstrip(".;"),
        cost.rstrip(".;"),
        threads(f"{kind.__name__}.{name}", cost),
    ]


class MethodTable(SphinxDirective):
    required_arguments = 1
    headings: ClassVar = ["name", "what it does", "cost", "threads"]

    def run(self) -> list[nodes.Node]:
        module, _, name = self.arguments[0].rpartition(".")
        kind = getattr(import_module(module), name)
        found = dict(members(kind))
        stale = {note for note in NOTES if note.startswith(f"{name}.")} - {
            f"{name}.{method}" for method in found
        }
        if stale:
            raise ExtensionError(f"there are notes on methods that are not there: {stale}")
        rows = [self.headings, *(row(kind, *member) for member in found.items())]
        lines = [".. list-table::", "   :header-rows: 1", "   :class: methods", ""]
        for cells in rows:
            lines += [f"   {'* -' if i == 0 else '  -'} {cell}" for i, cell in enumerate(cells)]
        box = nodes.container()
        self.state.nested_parse(StringList(lines, name), self.content_offset, box)
        return box.children


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("methods", MethodTable)
    return {"parallel_read_safe": True}
