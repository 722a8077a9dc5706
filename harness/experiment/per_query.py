"""Every value of many runs as one tidy data frame, for other programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.entries import Entry
from ..core.leaderboard import Leaderboard
from ..core.metric import Metric
from ..core.policy import Policy, RunDuplicates, ScoreOrder
from .compare import named_evaluations
from .evaluate import check_usual, leaderboard_of_runs, settings_of_runs
from .results import Results, read_results

if TYPE_CHECKING:
    import pandas


def per_query(
    qrels: Any,
    runs: Mapping[str, Any] | None = None,
    metrics: Iterable[str | Metric] = (),
    *,
    policy: Policy | Mapping[str, Any] | None = None,
    relevance_level: float | None = None,
    convention: str | None = None,
    weights: Any = None,
    dataset: str = "",
    columns: Mapping[str, str | int | None] | None = None,
    qrels_columns: Mapping[str, str | int | None] | None = None,
    order: ScoreOrder = "descending",
    duplicates: RunDuplicates = "error",
    documents: str | Mapping[str, str] | None = None,
) -> pandas.DataFrame:
    """Return the values of many runs, query by query, as a tidy data frame (needs pandas).

    Parameters
    ----------
    qrels : path, mapping, table or arrays
        Judgements; or, without `runs`, a results folder, the return value of `harness.run`, or
        evaluations: ``{name: Evaluation}``, or a list of named ones.
    runs : mapping of str to run
        Runs by name, each in any form that `harness.evaluate` takes.
    metrics : iterable of str or Metric
        Metrics of `runs`, as `harness.evaluate` takes them.
    dataset : str
        Name in the column ``dataset``.
    policy, relevance_level, convention, weights : see `harness.evaluate`
    columns, qrels_columns, documents : see `harness.evaluate`
    order : see `harness.evaluate`
    duplicates : see `harness.evaluate`

    Returns
    -------
    pandas.DataFrame
        A row for each value: dataset, run, captured columns, qid, metric, value.

    Raises
    ------
    InputError, UnknownNameError
        If the input is wrong, or a name does not exist.
    HarnessError
        If pandas is not installed.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 1}}
    >>> runs = {"up": {"q1": {"a": 1, "b": 2}, "q2": {"a": 1, "b": 2}}}
    >>> per_query(qrels, runs, ["recip_rank"])[["run", "qid", "metric", "value"]].values.tolist()
    [['up', 'q1', 'recip_rank', 0.5], ['up', 'q2', 'recip_rank', 1.0]]
    """
    settings = {"metrics": metrics, "dataset": dataset, **settings_of_runs(locals())}
    if runs is not None:
        return leaderboard_of_runs(qrels, runs, **settings).to_frame()
    check_usual(settings, "none", "leave {} out")
    if isinstance(qrels, Results):
        return qrels.to_frame()
    if isinstance(qrels, (str, os.PathLike)):
        return read_results(Path(qrels)).to_frame()
    return Leaderboard(tuple(map(Entry, named_evaluations(qrels)))).to_frame()
