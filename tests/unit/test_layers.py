"""The dependency rule of csrc/README.md, read from the #include lines."""

from __future__ import annotations

import re
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

CSRC = Path(__file__).parents[2] / "csrc"

# A module may include its own layer and every earlier one; no cycles within a layer.
LAYERS = [
    {"compiler", "status", "config", "pace", "alloc", "check", "parallel"},
    {
        "cpu",
        "score",
        "hash",
        "pack",
        "text",
        "names",
        "glob",
        "encoding",
        "record",
        "utf8",
        "datum",
    },
    {"group", "kernels", "sum", "multiset", "journal", "arena", "snapshot"},
    {"block", "patch", "blob"},
    {"pages", "table"},
    {"members", "fields", "intern", "shapes", "row"},
    {"index", "order", "sort"},
    {"build", "increment"},
    {"zset", "hashmap", "records"},
    {"bulk", "scan", "digest", "shard"},
]
# Scanners of trace text: they know nothing of the containers.
SCANNERS = {"history", "commands", "pgn"}
SCANNERS_MAY_INCLUDE = {"compiler", "status", "text"}

FILES = sorted(CSRC.rglob("*.[ch]"))
HEADERS = [path for path in FILES if path.suffix == ".h"]
BELOW_PYTHON = [path for path in FILES if path.parent.name in ("core", "simd")]


def name(path: Path) -> str:
    return path.relative_to(CSRC).as_posix()


def module(file_name: str) -> str:
    """`gob_kernels_x86.c` belongs to the module `kernels`."""
    words = Path(file_name).stem.split("_")
    assert words[0] == "gob", f"{file_name} lacks the prefix gob_"
    return words[1]


def layer(module_name: str) -> int:
    for depth, members in enumerate(LAYERS):
        if module_name in members:
            return depth
    raise AssertionError(f"module {module_name} has no place in LAYERS")


def includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def modules_included(path: Path) -> set[str]:
    own = {module(header) for header in includes(path) if header.startswith("gob_")}
    return own - {module(path.name)}


def test_sources_were_found() -> None:
    assert {path.parent.name for path in FILES} >= {"core", "py"}


def test_file_names_are_unique() -> None:
    assert max(Counter(path.name for path in FILES).values()) == 1


@pytest.mark.parametrize("path", HEADERS, ids=name)
def test_header_has_its_guard(path: Path) -> None:
    directives = re.findall(r"^#.*$", path.read_text(), re.MULTILINE)
    guard = path.stem.upper() + "_H"
    assert directives[:2] == [f"#ifndef {guard}", f"#define {guard}"]
    assert directives[-1] == "#endif"


@pytest.mark.parametrize("path", BELOW_PYTHON, ids=name)
def test_no_file_includes_a_later_layer(path: Path) -> None:
    own = module(path.name)
    if own in SCANNERS:
        assert modules_included(path) <= SCANNERS_MAY_INCLUDE
        return
    own_layer = layer(own)
    for included in modules_included(path):
        assert layer(included) <= own_layer, f"{path.name} includes gob_{included}.h"


def test_no_cycles() -> None:
    graph: dict[str, set[str]] = {}
    for path in BELOW_PYTHON:
        graph.setdefault(module(path.name), set()).update(modules_included(path))
    TopologicalSorter(graph).prepare()  # raises CycleError


@pytest.mark.parametrize("path", BELOW_PYTHON, ids=name)
def test_core_knows_no_python_and_no_files(path: Path) -> None:
    foreign = {"Python.h", "goblin_module.h"}
    if path.parent.name == "core":
        foreign.add("stdio.h")
    assert not foreign & set(includes(path))
    assert not [header for header in includes(path) if header.startswith("py_")]


def test_only_gob_hash_includes_xxhash() -> None:
    assert {p.name for p in FILES if "xxhash.h" in includes(p)} <= {"gob_hash.h"}
