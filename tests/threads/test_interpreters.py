"""The module's own state: none is global, all of it goes, and what sub-interpreters get."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap

import pytest

from goblin import _core

# Data that may be written to, each with the one who writes.
WRITABLE = {
    # Tables that the C API of Python takes as not constant; none writes to them.
    *("functions", "methods", "properties", "slots", "spec", "module_slots"),
    "gob_module_def",  # Python counts modules in it
    *("gob_numpy_api", "gob_numpy_apiPyArray_RUNTIME_VERSION"),  # numpy, once in a process
    "cached",  # the choice of kernels: atomic, and every thread would choose the same
    *("__cpu_model", "__cpu_features2", "completed", "__dso_handle", "__TMC_END__"),  # of gcc
}


def run(script: str) -> None:
    """In a process of its own, which has to end well."""
    code = textwrap.dedent(script)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def read_elf(option: str) -> list[str]:
    command = ["readelf", "--wide", option, _core.__file__]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF files")
def test_no_global_is_mutable() -> None:
    sections = {}
    for line in read_elf("--sections"):
        if found := re.match(r" *\[ *(\d+)\] (\.\S+)", line):
            sections[found[1]] = found[2]
    written = set()
    for line in read_elf("--symbols"):
        match line.split():
            case [_, _, _, "OBJECT" | "TLS", _, _, index, name] if sections.get(index) in (
                *(".data", ".bss", ".tdata", ".tbss"),
            ):
                written.add(name.split(".")[0])
    assert "gob_module_def" in written  # else there is no table of symbols to look at
    assert written <= WRITABLE


def test_reloading_leaks_no_type() -> None:
    run(
        """
        import gc, sys, uuid

        def use():
            import goblin
            z = goblin.SortedSet({uuid.UUID(int=7): 1.0})
            h = goblin.Hash({"a": "1"})
            table = goblin.HashTable({"r": {"a": "1"}})
            return [z, iter(z), h, iter(h), table, iter(table), table["r"],
                    goblin.Boards.from_arrays(["a"], ["b"]), goblin._core.names(["a"], "str")]

        def reload():
            use()
            for name in [name for name in sys.modules if name.split(".")[0] == "goblin"]:
                del sys.modules[name]
            gc.collect()

        def kept():
            types = [o for o in gc.get_objects() if isinstance(o, type)]
            ours = sum(t.__module__.split(".")[0] == "goblin" for t in types)
            return ours, sys.getrefcount(uuid.UUID), sys.getrefcount(uuid.SafeUUID.unknown)

        for _ in range(3):
            reload()
        before = kept()
        for _ in range(20):
            reload()
        assert kept() == before, (before, kept())
        """
    )


def test_objects_outlive_their_module() -> None:
    run(
        """
        import gc, sys, uuid, goblin
        z = goblin.SortedSet({uuid.UUID(int=7): 1.0})
        table = goblin.HashTable({"r": {"a": "1"}})
        for name in [name for name in sys.modules if name.split(".")[0] == "goblin"]:
            del sys.modules[name]
        del goblin
        gc.collect()
        import goblin
        assert goblin.SortedSet is not type(z)
        assert list(z) == [uuid.UUID(int=7)] and z.copy() == z and table["r"]["a"] == "1"
        z._validate()
        """
    )


def test_sub_interpreters_are_refused() -> None:
    """numpy can be loaded once in a process, and says so; the first interpreter is left alone."""
    pytest.importorskip("_testcapi")
    run(
        """
        import _testcapi, gc, sys, goblin
        z = goblin.SortedSet({1: 1.0})
        references = sys.getrefcount(goblin.SortedSet)
        attempt = "\\n".join((
            "import sys",
            "try:",
            "    import goblin",
            "except ImportError:",
            "    pass",
            "else:",
            "    raise AssertionError('imported')",
        ))
        for _ in range(10):
            assert _testcapi.run_in_subinterp(attempt) == 0
            z.increment(1)
        gc.collect()
        assert z == {1: 11.0} and sys.getrefcount(goblin.SortedSet) == references
        """
    )


@pytest.mark.skipif(sys.version_info < (3, 13), reason="interpreters with a GIL of their own")
def test_interpreters_with_their_own_gil_are_refused() -> None:
    run(
        """
        import _interpreters
        for _ in range(5):
            one = _interpreters.create("isolated")
            failure = _interpreters.exec(one, "import sys; import goblin._core")
            assert failure is not None and failure.type.__name__ == "ImportError", failure
            _interpreters.destroy(one)
        """
    )
