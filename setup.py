"""Builds the one extension module, goblin._core.

Switches, all by environment:
  GOBLIN_WERROR=1             warnings are errors (the Makefile and CI set it)
  GOBLIN_DEBUG=1              assertions, and a validator run after each mutation
  GOBLIN_SANITIZE=address,..  build with these sanitizers
"""

import os
from pathlib import Path

from setuptools import Extension, setup

INCLUDE_DIRS = ["csrc/core", "csrc/simd", "csrc/py"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wvla"]


def compile_args() -> list[str]:
    args = ["-std=c11", "-fvisibility=hidden", *WARNINGS]
    if os.environ.get("GOBLIN_WERROR"):
        args.append("-Werror")
    if os.environ.get("GOBLIN_DEBUG"):
        args += ["-O1", "-g3", "-UNDEBUG", "-DGOB_DEBUG=1"]
    else:
        args += ["-O3", "-DNDEBUG"]
    return args + sanitize_args()


def sanitize_args() -> list[str]:
    names = os.environ.get("GOBLIN_SANITIZE")
    return [f"-fsanitize={names}", "-fno-omit-frame-pointer", "-g"] if names else []


def files(pattern: str) -> list[str]:
    return sorted(path.as_posix() for path in Path("csrc").rglob(pattern))


setup(
    ext_modules=[
        Extension(
            "goblin._core",
            sources=files("*.c"),
            depends=files("*.h"),
            include_dirs=INCLUDE_DIRS,
            extra_compile_args=compile_args(),
            extra_link_args=sanitize_args(),
        )
    ]
)
