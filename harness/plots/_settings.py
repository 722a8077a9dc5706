"""What is asked of a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Width = Literal["column", "page"]
Format = Literal["svg", "pdf", "png"]


@dataclass(frozen=True)
class Settings:
    """One entry of a config's ``plots:``.

    Parameters
    ----------
    kind : str
        One of :func:`harness.plots.names`.
    metrics : tuple of str
        Names of metrics, or patterns; those that the kind can draw where empty.
    datasets, runs : tuple of str
        Names, or patterns.
    baseline : str, optional
        Name of a run; the first of those compared with where None.
    names : mapping of str to str
        What runs and metrics are called.
    width : {"column", "page"}
    formats : tuple of {"svg", "pdf", "png"}
    """

    kind: str
    metrics: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ("*",)
    runs: tuple[str, ...] = ("*",)
    baseline: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    width: Width = "column"
    formats: tuple[Format, ...] = ("svg", "pdf")
