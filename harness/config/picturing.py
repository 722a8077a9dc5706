"""What of `plots:` can be checked before any data are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..core.metric import Metric
from ..errors import Problem
from ..plots import problems
from .reporting import Compare, Plot
from .yamlfile import Source


def check(
    plots: Mapping[int, Plot],
    metrics: Sequence[Metric] | None,
    runs: Sequence[str] | None,
    datasets: Sequence[str] | None,
    compare: Compare | None,
    source: Source,
) -> Iterator[Problem]:
    """Yield what is wrong with pictures.

    Parameters
    ----------
    plots : mapping of int to Plot
        By place.
    metrics : sequence of Metric, optional
        Those of the config; None where some of them are wrong.
    runs, datasets : sequence of str, optional
        Names of those on disk; None where they are not known.
    compare : Compare, optional
        None where nothing is compared.
    source : Source
        Where each part stands.
    """
    baselines = None if compare is None else compare.baseline
    for place, plot in plots.items():
        for loc, what in problems(plot.to_core(), runs, datasets, metrics, baselines):
            yield source.problem(("plots", place, *loc), what)
