"""Snapshots of Hash and HashTable: there and back, mapped and pickled; files with sets."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from model.hash_checks import ALL_KINDS, Kind, assert_memory
from operations.files import saved
from operations.tables import TABLE_KINDS, TableKind
from snapshots import Subject, assert_alike, fill_hash, fill_table, hash_subjects, table_subjects

from goblin import Hash, HashTable, Record, SnapshotError
from goblin._zstd import import_zstd

SUBJECTS = [*hash_subjects(), *table_subjects()]
every_subject = pytest.mark.parametrize("subject", SUBJECTS, ids=str)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "saved.goblin"


# ---- there and back


@every_subject
def test_there_and_back(subject: Subject, path: Path) -> None:
    before, container = subject.build(), subject.container
    data = before.to_bytes()
    path.write_bytes(data)
    mapped = container.load(path, mmap=True)
    for made in (container.from_bytes(data), container.load(path), mapped, mapped.copy()):
        assert made.to_bytes() == data
        assert_alike(before, made)
        assert_memory(made)


@pytest.mark.parametrize("subject", SUBJECTS[::7], ids=str)
@pytest.mark.parametrize("compression", [None, "zstd"])
def test_saved_files_hold_the_bytes(subject: Subject, compression: Any, path: Path) -> None:
    before = subject.build()
    before.save(path, compression=compression)
    data = path.read_bytes()
    assert (import_zstd().decompress(data) if compression else data) == before.to_bytes()
    assert_alike(before, subject.container.load(path))
    if compression:
        with pytest.raises(ValueError, match="can't be mapped"):
            subject.container.load(path, mmap=True)


@every_subject
def test_what_is_read_can_be_written(subject: Subject) -> None:
    before = subject.build()
    made = subject.container.from_bytes(before.to_bytes())
    for key in sorted(made)[::3]:
        del before[key], made[key]
    made.update(subject.build().to_dict())
    before.update(subject.build().to_dict())
    assert_alike(before, made)
    for one in (before, made):
        one.optimize()
    assert before.to_bytes() == made.to_bytes()
    made.clear()
    made._validate()


@pytest.mark.parametrize("encoding", [True, False])
def test_a_text_that_was_incremented_is_saved_as_a_text(encoding: bool) -> None:
    h = Hash({"a": "1"}, encoding=encoding)
    h.increment("a")
    h.increment_many(["b", "a"], 3)
    same = Hash({"a": "5", "b": "3"}, encoding=encoding)
    assert h.to_bytes() == same.to_bytes()
    assert_alike(same, Hash.from_bytes(h.to_bytes()))


@pytest.mark.parametrize("kind", ALL_KINDS, ids=str)
@pytest.mark.parametrize("most", [None, 0])
def test_bytes_of_a_hash_do_not_tell_its_history(kind: Kind, most: int | None) -> None:
    one = fill_hash(kind, 200, max_compact_fields=most)
    content = one.to_dict()
    other: Hash = Hash(max_compact_fields=most, **kind.options)
    for key in sorted(content, reverse=True):
        other[key] = kind.value_of(0)
    other.update(content)
    assert one.to_bytes() == other.to_bytes()
    other.optimize()
    assert one.to_bytes() == other.to_bytes()


@pytest.mark.parametrize("kind", TABLE_KINDS, ids=str)
def test_bytes_of_a_table_do_not_tell_its_history(kind: TableKind) -> None:
    one = fill_table(kind, 100)
    other: HashTable = HashTable(**kind.options)
    for key, record in sorted(one.to_dict().items(), key=lambda pair: repr(pair)[::-1]):
        other[key] = kind.row(50, 59)
        other[key] = record
    assert one.to_bytes() == other.to_bytes()
    other.optimize()
    assert one.to_bytes() == other.to_bytes()


def test_another_process_with_another_hash_seed_writes_the_same() -> None:
    script = (
        "from hashlib import sha256\n"
        "from snapshots import hash_subjects, table_subjects\n"
        "for subject in [*hash_subjects(), *table_subjects()]:\n"
        "    print(subject, sha256(subject.data()).hexdigest())\n"
    )
    search = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])

    def run(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": search}
        return subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True,
            env=environment,
        ).stdout  # fmt: skip

    first = run("1")
    assert first.count("\n") == len(SUBJECTS)
    assert run("2") == first


def test_a_file_of_another_process(path: Path) -> None:
    script = (
        "import sys, pickle, goblin\n"
        "h = goblin.Hash.load(sys.argv[1])\n"
        "h.update(new='9')\n"
        "h.save(sys.argv[1])\n"
        "sys.stdout.buffer.write(pickle.dumps(h))\n"
    )
    h = Hash({"a": "1", "b": "é"})
    h.save(path)
    run = subprocess.run([sys.executable, "-c", script, path], capture_output=True, check=True)
    h["new"] = "9"
    assert_alike(h, Hash.load(path))
    assert_alike(h, pickle.loads(run.stdout))


# ---- mapped

HASH_WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "clear": lambda h, k, v: h.clear(),
    "increment": lambda h, k, v: h.increment("new" if isinstance(k, str) else b"new"),
    "increment_many": lambda h, k, v: h.increment_many(["new" if isinstance(k, str) else b"new"]),
    "pop": lambda h, k, v: h.pop(k),
    "pop_many": lambda h, k, v: h.pop_many([k]),
    "popitem": lambda h, k, v: h.popitem(),
    "set_many": lambda h, k, v: h.set_many([k], [v]),
    "setdefault": lambda h, k, v: h.setdefault(k * 2, v),
    "update": lambda h, k, v: h.update({k * 2: v}),
    "__delitem__": lambda h, k, v: h.__delitem__(k),
    "__ior__": lambda h, k, v: h.__ior__({k * 2: v}),
    "__setitem__": lambda h, k, v: h.__setitem__(k * 2, v),
}
WHOLE_WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "optimize": lambda h, k, v: h.optimize(),
    "__init__": lambda h, k, v: h.__init__(),
    "_load": lambda h, k, v: h._load(type(h)().to_bytes(), False),
}
TABLE_WRITES = {
    name: HASH_WRITES[name]
    for name in HASH_WRITES.keys() - {"increment", "increment_many", "pop_many", "set_many"}
} | {"increment": lambda t, k, v: t.increment(k, "new" if t.field_dtype == "str" else b"new")}
SORTED: Callable[[Any], Any] = lambda rows: sorted(rows, key=repr)  # noqa: E731
READS: dict[str, Callable[[Any, Any], Any]] = {
    "copy": lambda h, k: h.copy().to_dict() == h.to_dict(),
    "get": lambda h, k: h.get(k),
    "items": lambda h, k: SORTED(h.items()),
    "keys": lambda h, k: sorted(h.keys()),
    "to_dict": lambda h, k: SORTED(h.to_dict().items()),
    "values": lambda h, k: SORTED(
        sorted(v.items()) if isinstance(v, Record) else v for v in h.values()
    ),
    "__bool__": lambda h, k: bool(h),
    "__contains__": lambda h, k: (k in h, k * 2 in h),
    "__copy__": lambda h, k: copy.copy(h).to_dict() == h.to_dict(),
    "__eq__": lambda h, k: (h == h.to_dict(), h == {}),
    "__getitem__": lambda h, k: h[k],
    "__iter__": lambda h, k: sorted(h),
    "__len__": lambda h, k: len(h),
    "__or__": lambda h, k: (h | {k: h[k]}).to_dict() == h.to_dict(),
    "__repr__": lambda h, k: (repr(h), h._repr_html_().count("<tr>")),
    "__ror__": lambda h, k: ({k: h[k]} | h).to_dict() == h.to_dict(),
    "deepcopy": lambda h, k: copy.deepcopy(h).to_dict() == h.to_dict(),
    "pickle": lambda h, k: pickle.loads(pickle.dumps(h)).to_dict() == h.to_dict(),
}
FIELD_READS: dict[str, Callable[[Any, Any], Any]] = {  # a Hash and a Record
    "get_many": lambda h, k: list(h.get_many([k, k * 2])),
    "sample": lambda h, k: SORTED(h.sample(len(h))),
    "scan": lambda h, k: (SORTED(h.scan()), list(h.scan(k))),
}
WHOLE_READS: dict[str, Callable[[Any, Any], Any]] = {  # a Hash and a HashTable
    "from_bytes": lambda h, k: h.from_bytes(h.to_bytes()).to_dict() == h.to_dict(),
    "key_dtype": lambda h, k: h.key_dtype,
    "memory": lambda h, k: h.memory().total > 0,
    "save": lambda h, k: saved(h),
    "to_arrow": lambda h, k: SORTED(map(sorted, map(dict.items, h.to_arrow().to_pylist()))),
    "to_bytes": lambda h, k: h.to_bytes(),
    "to_pandas": lambda h, k: sorted(h.to_pandas()["key"]),
    "to_polars": lambda h, k: sorted(h.to_polars()["key"]),
    "__arrow_c_schema__": lambda h, k: sorted(pa.schema(h).names),
    "__arrow_c_stream__": lambda h, k: pa.table(h).num_rows,
    "value_dtype": lambda h, k: h.value_dtype,
    "__sizeof__": lambda h, k: sys.getsizeof(h) > 0,
}
HASH_READS = READS | FIELD_READS | WHOLE_READS | {
    "is_compact": lambda h, k: h.is_compact,
    "to_numpy": lambda h, k: SORTED(zip(*map(list, h.to_numpy()), strict=True)),
}  # fmt: skip
TABLE_READS = READS | WHOLE_READS | {
    "column": lambda t, k: SORTED(t.column(next(iter(t[k])))),
    "field_dtype": lambda t, k: t.field_dtype,
    "fields": lambda t, k: SORTED(t.fields()),
}  # fmt: skip
NEITHER = {"__class_getitem__", "__module__", "__orig_bases__", "__slots__", "__slotnames__"}
NEITHER |= {"__firstlineno__", "__static_attributes__"}  # what a class has from Python 3.13 on
NEITHER |= {"__abstractmethods__", "__reversed__", "__deepcopy__", "load"}
NEITHER |= {"from_arrays", "from_arrow"}
FILLED = [s for s in SUBJECTS if "-0" not in s.name]


@pytest.mark.parametrize(
    ("container", "known"),
    [
        (Hash, [*HASH_WRITES, *WHOLE_WRITES, *HASH_READS]),
        (HashTable, [*TABLE_WRITES, *WHOLE_WRITES, *TABLE_READS]),
        (Record, [*HASH_WRITES, *READS, *FIELD_READS]),
    ],
)
def test_every_public_name_is_a_read_or_a_write(container: Any, known: list[str]) -> None:
    names = set(dir(container)) - set(dir(object))
    public = {name for name in names if name[0] != "_" or name[:2] == "__"}
    assert public <= set(known) | NEITHER


def load_mapped(subject: Subject, path: Path) -> tuple[Any, Any, Any]:
    """A mapped object, a key of it that has something, and what to write there."""
    subject.build().save(path)
    mapped = subject.container.load(path, mmap=True)
    if subject.container is Hash:
        return mapped, *next(iter(mapped.items()))
    key = next(key for key in mapped if len(mapped[key]))
    return mapped, key, mapped[key].to_dict()


def alike(one: Any, other: Any) -> bool:
    """Equal, or with a NaN where the other has one."""
    return bool(one == other) or repr(one) == repr(other)


def expect_no_write(one: Any, writes: dict[str, Any], key: Any, value: Any) -> None:
    for name, write in writes.items():
        with pytest.raises(ValueError, match="mapped, so it can't be changed"):
            write(one, key, value)
            pytest.fail(f"{name} was let through")


@pytest.mark.parametrize("subject", FILLED, ids=str)
def test_what_is_mapped_can_be_read_but_not_written(subject: Subject, path: Path) -> None:
    mapped, key, value = load_mapped(subject, path)
    own, before = subject.build(), mapped.to_bytes()
    writes, reads = (
        (HASH_WRITES, HASH_READS) if subject.container is Hash else (TABLE_WRITES, TABLE_READS)
    )
    expect_no_write(mapped, writes | WHOLE_WRITES, key, value)
    for name, read in reads.items():
        assert alike(read(mapped, key), read(own, key)), name
    if subject.container is HashTable:
        field, item = next(iter(value.items()))
        expect_no_write(mapped[key], HASH_WRITES, field, item)
        for name, read in (READS | FIELD_READS).items():
            assert alike(read(mapped[key], field), read(own[key], field)), name
    assert mapped.to_bytes() == before == path.read_bytes()
    assert_alike(own, mapped)
    assert_memory(mapped)


@pytest.mark.parametrize("subject", FILLED[::5], ids=str)
def test_a_copy_of_what_is_mapped_can_be_written(subject: Subject, path: Path) -> None:
    mapped, key, value = load_mapped(subject, path)
    writes = HASH_WRITES if subject.container is Hash else TABLE_WRITES
    before = mapped.to_bytes()
    for duplicate in (copy.copy, copy.deepcopy, lambda h: pickle.loads(pickle.dumps(h))):
        for write in (writes | WHOLE_WRITES).values():
            twin = duplicate(mapped)
            assert_alike(mapped, twin)
            write(twin, key, value)
            twin._validate()
    assert mapped.to_bytes() == before


@pytest.mark.parametrize("one", [Hash({"a": "1"}), HashTable({"a": {"x": "1"}})], ids=repr)
def test_iterators_and_records_keep_the_file(one: Any, path: Path) -> None:
    one.save(path)
    mapped = type(one).load(path, mmap=True)
    kept = mapped["a"]
    path.unlink()
    assert_alike(one, mapped)
    running = iter(mapped)
    del mapped
    assert list(running) == ["a"]
    assert kept == one["a"]


# ---- subclasses and pickles


class Players(HashTable):
    def __init__(self, *data: Any, **options: Any) -> None:
        super().__init__(*data, **options)
        self.starts = getattr(self, "starts", 0) + 1


class Settings(Hash):
    __slots__ = ("gone", "title")


def through(protocol: int) -> Callable[[Any], Any]:
    return lambda one: pickle.loads(pickle.dumps(one, protocol))


def out_of_band(one: Any) -> Any:
    buffers: list[Any] = []
    data = pickle.dumps(one, 5, buffer_callback=buffers.append)
    assert len(buffers) == 1
    assert len(data) < 300
    return pickle.loads(data, buffers=[bytearray(b.raw()) for b in buffers])


DUPLICATES = [through(2), through(5), out_of_band, copy.copy, copy.deepcopy]
every_duplicate = pytest.mark.parametrize("duplicate", DUPLICATES)


@every_duplicate
@pytest.mark.parametrize("subject", SUBJECTS[::3], ids=str)
def test_pickles(subject: Subject, duplicate: Callable[[Any], Any]) -> None:
    before = subject.build()
    twin = duplicate(before)
    assert_alike(before, twin)
    twin.clear()
    assert_alike(before, subject.build())


@every_duplicate
def test_attributes_come_along(duplicate: Callable[[Any], Any]) -> None:
    players = Players({"ann": {"elo": "1500"}})
    players.title = ["May"]
    twin = duplicate(players)
    assert_alike(players, twin)
    assert (twin.title, twin.starts) == (["May"], 1)
    settings = Settings({"a": "1"})
    settings.title = ["June"]
    twin = duplicate(settings)
    assert_alike(settings, twin)
    assert twin.title == ["June"]
    assert not hasattr(twin, "gone")


@pytest.mark.parametrize("container", [Players, Settings])
def test_snapshots_of_subclasses(container: Any, path: Path) -> None:
    one = container({"a": {"x": "1"} if container is Players else "1"})
    one.save(path)
    mapped = container.load(path, mmap=True)
    for made in (container.from_bytes(one.to_bytes()), container.load(path), mapped):
        assert_alike(one, made)
        assert not hasattr(made, "starts")
    mapped.title = "May"
    assert mapped.copy().title == "May"
    mapped.copy().clear()


@pytest.mark.parametrize("one", [Hash({"a": "1"}), HashTable({"a": {"x": "1"}})], ids=repr)
def test_a_damaged_pickle_is_an_error(one: Any) -> None:
    data = bytearray(pickle.dumps(one))
    data[data.index(b"GOB\r\n") + 24] ^= 1
    with pytest.raises(SnapshotError):
        pickle.loads(bytes(data))
