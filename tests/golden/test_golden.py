"""Files of each version are read as what they hold; the same content is written as before."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import hashes
import pytest
from hashes import GoldenHash
from make import CONTENTS, CONTENTS_OF_HASHES, FOLDER, VERSION, Golden, build, content_of
from snapshots import assert_alike

import goblin
from goblin._zstd import ZSTD_MAGIC, import_zstd

INDEX = json.loads(CONTENTS.read_text())
LISTS: dict[str, list[Any]] = INDEX["lists"]
GOLDENS = [Golden(**entry) for entry in INDEX["files"]]
HASH_INDEX = json.loads(CONTENTS_OF_HASHES.read_text())
HASH_LISTS: dict[str, list[Any]] = HASH_INDEX["lists"]
HASH_GOLDENS = [GoldenHash(**entry) for entry in HASH_INDEX["files"]]
every_hash = pytest.mark.parametrize("golden", HASH_GOLDENS, ids=lambda g: g.file)
every_file = pytest.mark.parametrize("golden", GOLDENS, ids=lambda g: g.file)


def data_of(golden: Golden | GoldenHash) -> bytes:
    data = (FOLDER / golden.file).read_bytes()
    return import_zstd().decompress(data) if data.startswith(ZSTD_MAGIC) else data


def assert_holds(golden: Golden, made: Any) -> None:
    made._validate()
    content = content_of(golden, LISTS)
    assert {member: score.hex() for member, score in made.items()} == {
        member: score.hex() for member, score in content.items()
    }
    ranked = sorted(content, key=lambda member: (content[member], member))
    assert list(made) == ranked
    assert made.layout == f"{golden.options['member']}-{golden.options['score']}"
    assert made._compress == golden.options["compress"]
    assert made._merge_exponent == golden.options["merge_exponent"]


@every_file
def test_golden_files_are_read(golden: Golden) -> None:
    container = getattr(goblin, golden.container)
    path = FOLDER / golden.file
    made = container.load(path)
    structure = made._structure()
    assert structure["order_built"] == golden.ordered
    assert (structure["pages"] > 0) == ("pages" in golden.file)
    assert_holds(golden, made)
    assert_holds(golden, container.from_bytes(data_of(golden)))


@every_file
def test_golden_files_can_be_mapped(golden: Golden, tmp_path: Any) -> None:
    path = tmp_path / golden.file
    path.write_bytes(data_of(golden))
    made = getattr(goblin, golden.container).load(path, mmap=True)
    assert_holds(golden, made)
    assert_holds(golden, made.copy())


@every_file
def test_the_same_content_gives_the_same_bytes(golden: Golden) -> None:
    assert build(golden, LISTS).to_bytes() == data_of(golden)


@every_hash
def test_golden_hashes_are_read_and_written_as_before(golden: GoldenHash, tmp_path: Any) -> None:
    container = getattr(goblin, golden.container)
    data, content = data_of(golden), hashes.content_of(golden, HASH_LISTS)
    path = tmp_path / golden.file
    path.write_bytes(data)
    mapped = container.load(path, mmap=True)
    built = hashes.build(golden, HASH_LISTS)
    assert built.to_bytes() == data
    for made in (container.load(FOLDER / golden.file), container.from_bytes(data), mapped):
        assert made.to_dict() == content
        assert_alike(built, made)
        assert_alike(made, made.copy())


def test_nothing_is_left_out_and_nothing_is_overwritten() -> None:
    files = {path.name for path in FOLDER.glob(f"*.v{VERSION}.goblin")}
    assert files == {golden.file for golden in [*GOLDENS, *HASH_GOLDENS]}
    before = {path: path.read_bytes() for path in FOLDER.glob("*.v*")}
    done = subprocess.run([sys.executable, FOLDER / "make.py"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "are there already, and stay" in done.stdout
    assert {path: path.read_bytes() for path in FOLDER.glob("*.v*")} == before
