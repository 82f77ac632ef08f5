"""The page of the study."""

from __future__ import annotations

from typing import Any


def page(records: list[dict[str, Any]]) -> str:
    """Write the page."""
    raise NotImplementedError
