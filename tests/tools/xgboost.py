"""XGBoost: ``Booster.eval_set`` of a model without trees, whose scores are its start."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import ALL, CUTOFFS, Column, Printed, Query, flat, name, sizes

CONVENTIONS = ("xgboost", "xgboost-minus")
GRADES = ((0, 4), (0, 1), (0, 0), (0, 31))
REFUSED = (("ndcg", -1), ("ndcg", 32), ("map", 2), ("P", 2), ("map", -1))
_AT = ("", *(f"@{cutoff}" for cutoff in (*CUTOFFS, ALL)))


def _data(queries: Sequence[Query], binary: bool) -> Any:
    import xgboost

    grades = np.array(flat(query.grades for query in queries))
    data = xgboost.DMatrix(
        np.zeros((grades.size, 1)),
        label=grades > 0 if binary else grades,
        base_margin=flat(query.scores for query in queries),
        nthread=1,
    )
    data.set_group(sizes(queries))
    return data


def _columns(
    queries: Sequence[Query], metrics: list[str], binary: bool = False, **params: object
) -> Printed:
    import xgboost

    data = [_data([query], binary) for query in queries] + [_data(queries, binary)]
    usual = {"objective": "rank:ndcg", "nthread": 1, "verbosity": 0, "eval_metric": metrics}
    booster = xgboost.Booster({**usual, **params}, data)
    text = booster.eval_set([(one, str(place)) for place, one in enumerate(data)])
    values = [float(item.rpartition(":")[2]) for item in text.split("\t")[1:]]
    table = np.array(values).reshape(len(data), len(metrics)).T
    return {
        metric: Column(row[:-1].tolist(), float(row[-1]))
        for metric, row in zip(metrics, table, strict=True)
    }


def _named(column: str, *settings: str) -> str:
    convention = "xgboost-minus" if column.endswith("-") else "xgboost"
    metric, _, cutoff = column.rstrip("-").partition("@")
    ours = {"pre": "P"}.get(metric, metric)
    return name(ours, convention, int(cutoff) if cutoff else None, *settings)


def refuse(metric: str, query: Query) -> None:
    _columns([query], ["pre" if metric == "P" else metric])


def printed(queries: Sequence[Query]) -> Printed:
    whole = [metric + at for metric in ("ndcg", "map", "pre") for at in _AT]
    minus = [f"{metric}{at}-" for metric in ("ndcg", "map", "pre") for at in _AT]
    ndcg = [column for column in (*whole, *minus) if column.startswith("ndcg")]
    others = [column for column in (*whole, *minus) if column not in ndcg]
    graded = any(grade > 1 for query in queries for grade in query.grades)
    clip = ("labels=clip",) if graded else ()
    calls: tuple[tuple[list[str], tuple[str, ...], bool, dict[str, object]], ...] = (
        (ndcg, (), False, {}),
        (ndcg, ("gain=linear",), False, {"ndcg_exp_gain": False}),
        (others, clip, graded, {}),
    )
    return {
        _named(column, *settings): given
        for metrics, settings, binary, params in calls
        for column, given in _columns(queries, metrics, binary, **params).items()
    }
