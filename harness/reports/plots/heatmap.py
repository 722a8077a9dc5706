"""Every value: systems x queries, the queries from the hardest to the easiest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.ragged import Floats
from ..select import sign_of
from ..text import cut_all
from . import plot
from .plot import Kind, Name, Request, Width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOM: dict[Width, int] = {"column": 18, "page": 45}
"""Queries up to which each has its name."""


@dataclass(frozen=True, eq=False)
class Heatmap:
    """What is drawn: values ``(n_systems, n_queries)``, the query with the worst mean first."""

    names: tuple[Name, ...]
    qids: tuple[str, ...]
    values: Floats
    metric: str


def data(request: Request) -> Heatmap:
    """Return the values, their columns ordered by the mean of those that are defined."""
    qids, values = request.matrix(request.systems, request.metric)
    has = np.isfinite(values)
    if not has.any():
        raise request.refuse("no query has a value")
    count = has.sum(axis=0)
    mean = np.where(has, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    order = np.argsort(np.where(count, sign_of(request.metric) * mean, np.inf), kind="stable")
    return Heatmap(
        request.named(request.systems, 0.45), tuple(qids[place] for place in order),
        np.where(has, values, np.nan)[:, order], request.axis(request.metric),
    )  # fmt: skip


def draw(found: Heatmap, width: Width) -> Figure:
    """Return the map; its scale is below it, and cells without a value are grey."""
    from matplotlib import colormaps

    rows, columns = found.values.shape
    named = columns <= ROOM[width]
    labels = cut_all(found.qids, 14) if named else []
    below = 0.065 * max(map(len, labels), default=0)
    height = rows * 0.17 + 0.95 + below
    figure = plot.figure(width, height)
    axes = figure.subplots()
    shades = colormaps["cividis"].with_extremes(bad=plot.PALE)
    image = axes.imshow(found.values, aspect="auto", cmap=shades, interpolation="none")
    axes.set_yticks(range(rows), [name.label for name in found.names])
    if named:
        axes.set_xticks(range(columns), labels, rotation=90)
        axes.set_xlabel("query, hardest to easiest")
    else:
        axes.set_xticks([])
        axes.set_xlabel(f"{columns:,} queries, hardest to easiest")
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    figure.colorbar(
        image,
        ax=axes,
        location="bottom",
        label=found.metric,
        fraction=0.09 / height,
        aspect=30 if width == "column" else 60,
        shrink=0.8,
        pad=0.03 / height,
    ).outline.set_visible(False)
    return figure


KIND = Kind(data, draw)
