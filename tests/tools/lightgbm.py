"""LightGBM: ``Booster.eval_valid`` of a model without trees, whose scores are its start."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import ALL, CUTOFFS, Column, Printed, Query, flat, name, sizes

CONVENTIONS = ("lightgbm",)
GRADES = ((0, 4), (0, 1), (0, 0), (0, 30))
REFUSED = (("ndcg", -1), ("ndcg", 31))
_LINEAR = ",".join(str(gain) for gain in range(31))


def _data(queries: Sequence[Query], reference: Any = None) -> Any:
    import lightgbm

    return lightgbm.Dataset(
        np.zeros((sum(sizes(queries)), 1)),
        label=flat(query.grades for query in queries),
        group=sizes(queries),
        init_score=flat(query.scores for query in queries),
        reference=reference,
        params={"verbose": -1, "num_threads": 1},
    )


def _columns(queries: Sequence[Query], metrics: list[str], **params: object) -> Printed:
    import lightgbm

    usual = {"objective": "none", "metric": metrics, "verbose": -1, "num_threads": 1}
    train = _data(queries)
    booster = lightgbm.Booster({**usual, **params}, train)
    for query in queries:
        booster.add_valid(_data([query], train), "one")
    means = {metric: mean for _, metric, mean, _ in booster.eval_train()}
    values: dict[str, list[float]] = {metric: [] for metric in means}
    for _, metric, value, _ in booster.eval_valid():
        values[metric].append(value)
    return {metric: Column(values[metric], means[metric]) for metric in means}


def refuse(metric: str, query: Query) -> None:
    _columns([query], [metric])


def printed(queries: Sequence[Query]) -> Printed:
    found: Printed = {}
    calls: tuple[tuple[list[str], tuple[str, ...], dict[str, object]], ...] = (
        (["ndcg", "map"], (), {"eval_at": [*CUTOFFS, 2, 4, ALL]}),
        (["ndcg"], ("gain=linear",), {"eval_at": [*CUTOFFS, ALL], "label_gain": _LINEAR}),
    )
    for metrics, settings, params in calls:
        for metric, column in _columns(queries, metrics, **params).items():
            ours, _, cutoff = metric.partition("@")
            found[name(ours, "lightgbm", int(cutoff), *settings)] = column
    return found
