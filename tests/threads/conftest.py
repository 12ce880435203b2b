"""What all tests of threads share: threads that switch often, and a watchdog."""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Iterator

import crowd
import pytest


@pytest.fixture(params=[1, pytest.param(25, marks=pytest.mark.slow)], ids=["short", "long"])
def effort(request: pytest.FixtureRequest) -> int:
    """How many times as much a test does."""
    return request.param


@pytest.fixture(autouse=True)
def frequent_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(autouse=True)
def watchdog(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """A hang that holds the GIL ends the process, and shows on the real stderr where it was."""
    with capfd.disabled():
        stderr = os.dup(2)
    faulthandler.dump_traceback_later(crowd.DEADLINE * 6, exit=True, file=stderr)
    yield
    faulthandler.cancel_dump_traceback_later()
    os.close(stderr)
