"""Fixtures of the whole suite, and the Hypothesis profiles.

HYPOTHESIS_PROFILE chooses one: "dev" for the desk, "ci" repeats the same examples every time,
"nightly" looks long.
"""

from __future__ import annotations

import functools
import gc
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from model.layouts import LAYOUTS, Layout

TESTS = Path(__file__).parent

# A shell's background job ignores Ctrl-C, and so would every test of it.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "dev",
    max_examples=25,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True)
settings.register_profile(
    "nightly", settings.get_profile("dev"), max_examples=400, stateful_step_count=100
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(params=LAYOUTS, ids=str)
def layout(request: pytest.FixtureRequest) -> Layout:
    return request.param


@pytest.fixture
def make(layout: Layout) -> Any:
    """Makes a set of the layout: make(), make({1: 2.0}), make(members, scores, compress=False)."""
    import goblin

    def build(*data: Any, **options: Any) -> goblin.SortedSet:
        return goblin.SortedSet(*data, **layout.options, **options)

    return build


@pytest.fixture
def shared_data() -> Path:
    """The folder of real samples beside the repository."""
    folder = TESTS.parent.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder of real sample data is not beside this repository")
    return folder


@pytest.fixture
def interrupt_soon() -> Iterator[Callable[[float], Any]]:
    """SIGALRM does what Ctrl-C does, after so many seconds."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # what is raised in a callback of a collection would be lost
    yield functools.partial(signal.setitimer, signal.ITIMER_REAL)
    gc.enable()
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def pytest_collection_finish() -> None:
    """The tests themselves are never garbage, and many collections would look through them all."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many allocations the tests made fail, over all workers."""
    failed = sum(
        count
        for report in terminalreporter.getreports("passed")
        for name, count in report.user_properties
        if name == "failed_allocations"
    )
    if failed:
        terminalreporter.write_line(f"{failed:,} allocations failed, and none changed anything")
