"""Tests of how much memory a process has or may have."""

from __future__ import annotations

import os
import sys

import pytest

resident = pytest.mark.skipif(
    sys.platform != "linux" or "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="memory as Linux counts it; ASan keeps what is freed, and hangs where it gets none",
)
