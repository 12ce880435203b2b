"""What the examples in docstrings and documents may take for granted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import goblin


@pytest.fixture(autouse=True)
def names_in_examples(doctest_namespace: dict[str, Any]) -> None:
    doctest_namespace.update(goblin=goblin, np=np)
