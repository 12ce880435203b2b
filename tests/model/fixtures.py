"""The fixture `layout`, for the modules that run over other layouts than the integer ones."""

from __future__ import annotations

from typing import Any

import pytest
from model.layouts import Layout


def over(layouts: list[Layout]) -> Any:
    @pytest.fixture(params=layouts, ids=str)
    def layout(request: pytest.FixtureRequest) -> Layout:
        return request.param

    return layout
