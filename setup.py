"""Builds the one extension module, goblin._core.

Switches, all by environment:
  GOBLIN_WERROR=1             warnings are errors (the Makefile sets it)
  GOBLIN_DEBUG=1              assertions, and a validator run after each mutation
  GOBLIN_SANITIZE=address,..  build with these sanitizers
"""

from __future__ import annotations

import os
import subprocess
import textwrap
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

INCLUDE_DIRS = ["csrc/core", "csrc/simd", "csrc/py"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wvla"]
# What must compile before anything is built, and the sentence for where it does not.
PROBES = {
    "#include <Python.h>": "goblin needs the C headers of Python: install python3-dev (Debian) "
    "or python3-devel (elsewhere).",
    "#include <xxhash.h>\n#if XXH_VERSION_NUMBER < 800\n#error\n#endif": "goblin needs the header "
    "of xxHash 0.8 or newer: install libxxhash-dev (Debian), xxhash-devel (Fedora) or xxhash "
    "(elsewhere), and say CFLAGS=-I... where it is in no folder of the compiler's.",
}


def compile_args() -> list[str]:
    # numpy's headers are the system's: our warnings are not for them.
    args = ["-std=c11", "-fvisibility=hidden", *WARNINGS, "-isystem", numpy.get_include()]
    if os.environ.get("GOBLIN_WERROR"):
        args.append("-Werror")
    if os.environ.get("GOBLIN_DEBUG"):
        args += ["-O1", "-g3", "-UNDEBUG", "-DGOB_DEBUG=1"]
    else:
        args += ["-O3", "-DNDEBUG"]
    return args + sanitize_args()


def sanitize_args() -> list[str]:
    names = os.environ.get("GOBLIN_SANITIZE")
    if not names:
        return []
    return [f"-fsanitize={names}", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g"]


def files(pattern: str) -> list[str]:
    return sorted(path.as_posix() for path in Path("csrc").rglob(pattern))


class BuildCore(build_ext):
    """Says in one sentence what is missing, and hands the version to the C code.

    What is built to be installed has the licence of xxHash beside it, whose code it contains.
    """

    def build_extensions(self) -> None:
        for source, sentence in PROBES.items():
            if self.compiled(source).returncode != 0:
                raise SystemExit(sentence)
        for extension in self.extensions:
            version = self.distribution.get_version()
            extension.define_macros.append(("GOBLIN_VERSION", f'"{version}"'))
        super().build_extensions()
        if not self.inplace:
            Path(self.build_lib, "goblin/LICENSE.xxhash").write_text(self.licence_of_xxhash())

    def licence_of_xxhash(self) -> str:
        """The first comment of the header, wherever the compiler found it: years differ."""
        included = self.compiled("#include <xxhash.h>", "-H").stderr
        path = next(line[2:] for line in included.splitlines() if line.startswith(". "))
        comment, _, _ = Path(path).read_text(encoding="utf-8").partition("*/")
        lines = [line.removeprefix(" *") for line in comment.removeprefix("/*").splitlines()]
        return textwrap.dedent("\n".join(lines)).strip() + "\n"

    def compiled(self, source: str, *options: str) -> subprocess.CompletedProcess[str]:
        include = [f"-I{folder}" for folder in self.compiler.include_dirs]
        command = [*self.compiler.compiler_so, *include, *options, "-fsyntax-only", "-x", "c", "-"]
        try:
            return subprocess.run(command, input=source + "\n", text=True, capture_output=True)
        except FileNotFoundError:
            sentence = f"goblin needs a C compiler, but {command[0]} is not there: install gcc."
            raise SystemExit(sentence) from None


if __name__ == "__main__":
    setup(
        cmdclass={"build_ext": BuildCore},
        ext_modules=[
            Extension(
                "goblin._core",
                sources=files("*.c"),
                depends=["setup.py", *files("*.h")],
                include_dirs=INCLUDE_DIRS,
                libraries=["m"],
                extra_compile_args=compile_args(),
                extra_link_args=["-pthread", *sanitize_args()],
            )
        ],
    )
