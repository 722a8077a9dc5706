"""Correlation of the orders of systems by two metrics, with intervals over queries."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

import numpy as np

from ..core.entries import System, grouped_by
from ..core.metric import Metric
from ..core.names import compared
from ..core.ragged import Array, Floats
from ..core.systems import matrix
from ..errors import HarnessError, check_known

_PART = 50
"""Draws that are computed together."""


@dataclass(frozen=True)
class Correlation:
    """Correlation of the orders of the systems of a dataset by two metrics.

    `tau_ap` is the mean of both directions. 95% intervals are the value plus and minus a
    normal quantile times the deviation over bootstrap samples of the queries, within -1 and 1.
    Percentiles of the samples would be too low, because sampling adds noise to the orders.
    """

    dataset: str
    metric: str
    other: str
    systems: int
    queries: int
    tau_b: float
    tau_b_low: float
    tau_b_high: float
    tau_ap: float
    tau_ap_low: float
    tau_ap_high: float


def correlations(
    systems: Sequence[System],
    metrics: Sequence[str] = (),
    datasets: Sequence[str] = (),
    draws: int = 1000,
) -> list[Correlation]:
    """Correlate every pair of metrics over the systems of each dataset.

    tau_b = (C - D) / sqrt((N - T_x)(N - T_y)) over the N pairs of systems: C in the same order
    by both metrics, D in opposite order, T tied by one of them. tau_ap is the metric
    ``tau_ap(tied=b)``: 2 * mean over the systems i that have others above them by one metric, of
    the share of those that are above i by the other metric too, minus 1; the mean of both
    directions. The better system is above, also by metrics that are better if lower. Each
    bootstrap sample draws the dataset's queries with replacement, with their weights if they have
    any, and ranks the systems by their means over it. Without `metrics` it is all that have means
    over queries, and without `datasets` it is every dataset. HarnessError for fewer than two
    metrics, or two systems of every dataset.

    For each dataset the pairs that agree least come first.

    Kendall, Biometrika 33, 1945; Yilmaz, Aslam and Robertson, SIGIR 2008.
    """
    present = dict.fromkeys(system.dataset for system in systems)
    for name in datasets:
        check_known("dataset", name, present, "datasets")
    rows = []
    for dataset, chosen in grouped_by(systems, lambda system: system.dataset).items():
        if datasets and dataset not in datasets:
            continue
        ranked_by = compared(chosen[0].metrics, metrics)
        if len(ranked_by) < 2:
            names = ", ".join(map(str, ranked_by)) or "none"
            message = f"expected two metrics or more, got {names}"
            raise HarnessError(message, fix="name another metric of the results")
        if len(chosen) > 1:
            rows += _of_dataset(dataset, chosen, ranked_by, draws)
    if not rows:
        message = "expected two systems or more on one dataset, got one alone"
        raise HarnessError(message, fix="evaluate more runs")
    return rows


def _of_dataset(
    dataset: str, systems: Sequence[System], metrics: Sequence[Metric], draws: int
) -> list[Correlation]:
    qids = matrix(systems, metrics[0])[0]
    values = np.array([metric.sign * matrix(systems, metric)[1].T for metric in metrics])
    weights: dict[str, float] = {}
    for system in systems:
        if (of_system := system.weights(metrics[0])) is not None:
            weights |= zip(system.qids, of_system.tolist(), strict=True)
    unit = np.array([[weights.get(qid, 1.0) for qid in qids]])
    (tau_b,), (tau_ap,) = next(_taus(values, unit))
    rng = np.random.default_rng(0)
    samples = rng.multinomial(len(qids), np.full(len(qids), 1 / len(qids)), size=draws)
    both = [np.concatenate(parts) for parts in zip(*_taus(values, samples * unit), strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a metric that ties all systems has no correlation
        margin = NormalDist().inv_cdf(0.975) * np.nanstd(both, axis=1)
    tau = np.array([tau_b, tau_ap])
    low, high = (np.clip(tau + side * margin, -1, 1) for side in (-1, 1))
    # (n_metrics, n_metrics, 6): tau_b, its low and high; tau_ap, its low and high
    numbers = np.moveaxis(np.array([tau, low, high]), (1, 0), (-2, -1)).reshape(*tau_b.shape, 6)
    sizes = len(systems), len(qids)
    pairs = [
        Correlation(dataset, str(metrics[i]), str(metrics[j]), *sizes, *numbers[i, j].tolist())
        for i, j in combinations(range(len(metrics)), 2)
    ]
    return sorted(pairs, key=lambda pair: pair.tau_b)


def _taus(values: Floats, weights: Array) -> Iterator[tuple[Floats, Floats]]:
    """Yield tau-b and tau_ap of each pair of metrics for some of the samples.

    `values` are ``(n_metrics, n_queries, n_systems)``, `weights` ``(n_samples, n_queries)``; each
    array that is yielded is ``(n_some, n_metrics, n_metrics)``.
    """
    has = ~np.isnan(values)
    filled = np.where(has, values, 0.0)
    for start in range(0, len(weights), _PART):
        part = weights[start : start + _PART].astype(np.float64)
        with np.errstate(invalid="ignore"):
            means = (part @ filled) / (part @ has)  # (n_metrics, n_some, n_systems)
        means = np.round(means, 12).swapaxes(0, 1)  # the order of a sum changes its last bits
        shape = (*means.shape[:2], -1)
        above = (means[..., None, :] > means[..., :, None]).astype(np.float64)
        sign = (above - above.swapaxes(-1, -2)).reshape(shape)
        product = sign @ sign.swapaxes(-1, -2)
        squares = np.diagonal(product, axis1=1, axis2=2)
        n_above = above.sum(-1, keepdims=True)
        share = np.divide(above, n_above, out=np.zeros_like(above), where=n_above > 0)
        ranked = (n_above > 0).sum((-1, -2))
        with np.errstate(invalid="ignore", divide="ignore"):
            tau_b = product / np.sqrt(squares[:, :, None] * squares[:, None, :])  # 1 is exact
            agreed = above.reshape(shape) @ share.reshape(shape).swapaxes(-1, -2)
            one_way = 2 * agreed / ranked[:, None, :] - 1
        yield tau_b, (one_way + one_way.swapaxes(-1, -2)) / 2
