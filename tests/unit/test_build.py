"""The build itself: its gates can fail, its messages are plain, its source archive is complete."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import numpy as np
import pytest

import goblin

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.xdist_group("build")  # they share the tree

CLEAN = "int goblin_narrow(long v);\nint goblin_narrow(long v)\n{\n    return (int)v;\n}\n"
FAULTS = {
    "conversion": "int goblin_narrow(long v);\nint goblin_narrow(long v)\n{\n    return v;\n}\n",
    "shadow": "int goblin_f(int v);\nint goblin_f(int v)\n{\n    { int v = 1; return v; }\n}\n",
    "vla": "int goblin_f(int n);\nint goblin_f(int n)\n{\n    char v[n];\n    v[0] = 1;\n"
    "    return v[0];\n}\n",
    "unused-parameter": "int goblin_f(int n);\nint goblin_f(int n)\n{\n    return 1;\n}\n",
    "unused-variable": "int goblin_f(void);\nint goblin_f(void)\n{\n    int v;\n    return 1;\n}\n",
}


def setup_py(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("GOBLIN_")}
    return subprocess.run(
        [sys.executable, "setup.py", *arguments],
        cwd=folder,
        env=inherited | environment,
        text=True,
        capture_output=True,
    )


def small_project(folder: Path, source: str) -> Path:
    """The real set-up files round one C file: quick to build, with the flags of the real build."""
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, folder)
    (folder / "goblin").mkdir()
    shutil.copy(ROOT / "goblin/__init__.py", folder / "goblin")
    (folder / "csrc/core").mkdir(parents=True)
    (folder / "csrc/core/gob_one.c").write_text(source)
    return folder


def test_clean_code_builds_with_warnings_as_errors(tmp_path: Path) -> None:
    done = setup_py(small_project(tmp_path, CLEAN), "build_ext", GOBLIN_WERROR="1")
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("build/lib*/goblin/_core*.so"))


def test_the_licence_of_xxhash_lies_beside_what_is_built(tmp_path: Path) -> None:
    """It is that of the header compiled in, which the compiler may find anywhere."""
    headers = tmp_path / "headers of xxHash"
    headers.mkdir()
    (headers / "xxhash.h").write_text(
        "/*\n * Copyright (C) Somebody\n *\n *    * in binary form\n */\n/* and code */\n"
        "#define XXH_VERSION_NUMBER 800\n"
    )
    project = small_project(tmp_path, CLEAN)
    done = setup_py(project, "-q", "build_ext", CFLAGS=f"-I'{headers}'")
    assert done.returncode == 0, done.stderr
    (licence,) = tmp_path.glob("build/lib*/goblin/LICENSE.xxhash")
    assert licence.read_text() == "Copyright (C) Somebody\n\n   * in binary form\n"


def test_building_in_place_leaves_no_licence_in_the_tree(tmp_path: Path) -> None:
    done = setup_py(small_project(tmp_path, CLEAN), "-q", "build_ext", "--inplace")
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("goblin/_core*.so"))
    assert not (tmp_path / "goblin/LICENSE.xxhash").exists()


@pytest.mark.parametrize("warning", FAULTS)
def test_each_warning_stops_the_build(tmp_path: Path, warning: str) -> None:
    project = small_project(tmp_path, FAULTS[warning])
    done = setup_py(project, "build_ext", GOBLIN_WERROR="1")
    assert done.returncode != 0
    assert warning in done.stderr
    assert not list(tmp_path.glob("build/lib*/goblin/_core*.so"))


def test_a_warning_does_not_stop_a_users_build(tmp_path: Path) -> None:
    done = setup_py(small_project(tmp_path, FAULTS["conversion"]), "build_ext")
    assert done.returncode == 0, done.stderr
    assert "-Wconversion" in done.stderr


def without_header(tmp_path: Path, name: str) -> dict[str, str]:
    """An environment in which the compiler refuses the header of that name, wherever it lies."""
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / name).write_text("#error not here\n")
    return {"CFLAGS": f"-I{broken}"}


@pytest.mark.parametrize(
    ("header", "packages"),
    [("xxhash.h", ["libxxhash-dev", "xxhash"]), ("Python.h", ["python3-dev", "python3-devel"])],
)
def test_a_missing_header_is_one_sentence(tmp_path: Path, header: str, packages: list[str]) -> None:
    project = small_project(tmp_path, CLEAN)
    done = setup_py(project, "-q", "build_ext", **without_header(tmp_path, header))
    assert done.returncode == 1
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].endswith(".")
    for package in packages:
        assert package in lines[0]


def test_a_missing_compiler_is_one_sentence(tmp_path: Path) -> None:
    done = setup_py(small_project(tmp_path, CLEAN), "-q", "build_ext", CC="no-such-compiler")
    assert done.returncode == 1
    assert done.stderr.strip().splitlines() == [
        "goblin needs a C compiler, but no-such-compiler is not there: install gcc."
    ]


def test_the_version_to_cite_is_this_one() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (cited,) = re.findall(r"^version: (.*)$", text, re.MULTILINE)
    assert cited == goblin.__version__


def test_source_archive_stands_alone(tmp_path: Path) -> None:
    """Every C file is in it and finds its headers there."""
    done = setup_py(ROOT, "-q", "egg_info", "-e", str(tmp_path), "sdist", "-d", str(tmp_path))
    assert done.returncode == 0, done.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    unpacked = tmp_path / archive.name.removesuffix(".tar.gz")

    def sources(root: Path) -> set[str]:
        return {path.relative_to(root).as_posix() for path in (root / "csrc").rglob("*.[ch]")}

    assert sources(unpacked) == sources(ROOT)
    folders = ["csrc/core", "csrc/simd", "csrc/py", sysconfig.get_path("include")]
    folders.append(np.get_include())
    checked = subprocess.run(
        [
            os.environ.get("CC", "cc"),
            "-std=c11",
            "-fsyntax-only",
            '-DGOBLIN_VERSION=""',
            *(f"-I{folder}" for folder in folders),
            *sorted(name for name in sources(unpacked) if name.endswith(".c")),
        ],
        cwd=unpacked,
        text=True,
        capture_output=True,
    )
    assert checked.returncode == 0, checked.stderr
