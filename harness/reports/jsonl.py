"""Records as JSON lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import in_json


def render(records: Iterable[Mapping[str, Any]]) -> str:
    """Return an object a line; NaN and infinity are null.

    >>> print(render([{"run": "a", "map": float("nan")}]), end="")
    {"run": "a", "map": null}
    """
    return "".join(f"{in_json(plain(record))}\n" for record in records)


def plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with None in place of NaN and infinity, which JSON does not have."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in record.items()
    }
