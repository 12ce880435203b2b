"""What the machines of a Hash and of a HashTable share."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from model.compare import assert_same_outcome, outcome


class HashMachine(RuleBasedStateMachine):
    """A model and the real thing; `assert_content` compares them."""

    model: Any
    real: Any
    fail_at = 0
    assert_content: Callable[[Any, Any], None]

    def both(self, call: Callable[[Any], Any]) -> None:
        """The same call on both; where an allocation was made to fail, nothing happened."""
        before = self.model.copy() if self.fail_at else None
        self.real._fail_at(self.fail_at)
        actual, error = outcome(lambda: call(self.real))
        self.real._fail_at(0)
        if before is not None and isinstance(error, MemoryError):
            self.assert_content(before, self.real)
            return

        def again() -> Any:
            if error is not None:
                raise error
            return actual

        assert_same_outcome(lambda: call(self.model), again)

    @rule(n=st.integers(0, 6))
    def fail_an_allocation_of_each_call(self, n: int) -> None:
        self.fail_at = n if n < 4 else 0

    def snapshot(self) -> bytes | None:
        """None where an allocation was made to fail, which changes nothing."""
        self.real._fail_at(self.fail_at)
        data, error = outcome(self.real.to_bytes)
        self.real._fail_at(0)
        assert error is None or isinstance(error, MemoryError)
        self.real._validate()
        return data

    @rule()
    def go_on_with_a_snapshot(self) -> None:
        data = self.snapshot()
        if data is not None:
            self.real = type(self.real).from_bytes(data)
            self.assert_content(self.model, self.real)
            assert self.real.to_bytes() == data

    @rule(protocol=st.sampled_from([2, 5]))
    def go_on_with_a_pickle(self, protocol: int) -> None:
        self.real = pickle.loads(pickle.dumps(self.real, protocol))
        self.assert_content(self.model, self.real)

    def mapped(self) -> Any:
        """The real thing, read from a file."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "mapped")
            path.write_bytes(self.real.to_bytes())
            return type(self.real).load(path, mmap=True)
