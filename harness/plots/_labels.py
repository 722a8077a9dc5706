"""Names in pictures."""

from __future__ import annotations

from ..core.metric import Metric


def better(metric: Metric) -> str:
    """Return the arrow of the way that is better, after a blank; nothing where there is none."""
    return {"higher": " ↑", "lower": " ↓", None: ""}[metric.definition.direction]
