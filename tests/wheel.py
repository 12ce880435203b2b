"""A wheel, in fresh environments: tests/wheel.py dist/goblin_core-...whl

Does what pyproject.toml tells cibuildwheel to do, with the oldest numpy that this Python can have
and with the newest. `make test-wheel` builds the wheel and runs this.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
OLDEST_NUMPY = {(3, 11): "2.0.0", (3, 12): "2.0.0", (3, 13): "2.1.0", (3, 14): "2.3.2"}
PACKAGES = {"goblin", "goblin_core"}
CARRIED = {"_core.pyi", "py.typed", "LICENSE.xxhash"}
AVX_KERNELS = {"count_codes_avx2", "match_avx2"}


def expect(what: str, found: Any, wanted: Any) -> None:
    if found != wanted:
        sys.exit(f"{what}: {found}, where {wanted} is wanted")


def check_content(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        expect("folders", {name.partition("/")[0].partition("-")[0] for name in names}, PACKAGES)
        carried = {name.removeprefix("goblin/") for name in names} & CARRIED
        expect("files beside the module", carried, CARRIED)
        licences = {Path(name).name for name in names if ".dist-info/licenses/" in name}
        expect("licences", licences, {"LICENSE", "NOTICE"})
        (module,) = (name for name in names if re.fullmatch(r"goblin/_core\..*\.so", name))
        check_instructions(Path(archive.extract(module, folder)))


def check_instructions(module: Path) -> None:
    """Registers of AVX are for the functions that are chosen where the processor has it."""
    code = subprocess.run(["objdump", "-d", module], check=True, text=True, capture_output=True)
    users, function = set(), ""
    for line in code.stdout.splitlines():
        if head := re.match(r"[0-9a-f]+ <([^.>]*).*>:", line):
            function = head[1]
        elif "%ymm" in line or "%zmm" in line:
            users.add(function)
    expect("functions that need AVX", users - AVX_KERNELS, set())


def check_installed(wheel: Path, folder: Path, numpy: str, settings: dict[str, Any]) -> None:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONPATH" and not name.startswith("GOBLIN_")
    }
    environment = folder / "environment"
    venv.create(environment, with_pip=True)

    def run(command: str, *arguments: str) -> None:
        path = environment / "bin" / command
        subprocess.run([path, *arguments], cwd=folder, env=inherited, check=True)

    goblin = f"goblin-core[{','.join(settings['test-extras'])}] @ {wheel.resolve().as_uri()}"
    run("pip", "install", "-q", goblin, numpy, *settings["test-requires"])
    for source in settings["test-sources"]:
        copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
        copy(ROOT / source, folder / source)
    run(*shlex.split(settings["test-command"]))
    run("goblin", "--version")
    run("pip", "uninstall", "-q", "-y", "goblin-core")
    expect("left when uninstalled", list(environment.rglob("*goblin*")), [])


def main(wheel: Path) -> None:
    with open(ROOT / "pyproject.toml", "rb") as file:
        settings = tomllib.load(file)["tool"]["cibuildwheel"]
    with tempfile.TemporaryDirectory() as folder:
        check_content(wheel, Path(folder))
    for numpy in (f"numpy=={OLDEST_NUMPY[sys.version_info[:2]]}", "numpy"):
        print(f"{wheel.name} with {numpy}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            check_installed(wheel, Path(folder), numpy, settings)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
