"""Scores that follow the rows of a dataset instead of naming documents."""

from __future__ import annotations

import numpy as np

from ..core.ragged import Array
from ..core.tables import Qrels, Run
from ..errors import InputError, Problem
from .source import Source


def needed(source: Source, dataset: Qrels | None) -> Qrels:
    """Return `dataset`, or raise where there is none to follow."""
    if dataset is None:
        raise InputError(
            Problem(
                source.name,
                "a file of scores alone means nothing without the dataset whose rows it follows",
                fix="name the dataset too",
            )
        )
    return dataset


def rows_of(dataset: Qrels) -> int:
    """Return how many rows the dataset's file has, dropped ones among them."""
    return dataset.n_rows if dataset.n_source is None else dataset.n_source


def follow(source: Source, dataset: Qrels | None, scores: Array, name: str) -> Run:
    """Return the run that gives `scores` to the rows of `dataset`, in its file's order.

    Raises
    ------
    InputError
        Where there are more or fewer scores than rows, with both counts; or one is not finite.
    """
    dataset = needed(source, dataset)
    n_rows = rows_of(dataset)
    if scores.size != n_rows:
        of = f" of {dataset.name}" if dataset.name else ""
        ends = ""
        if scores.size < n_rows:
            ends = f"; they end in query '{query_of_row(dataset, scores.size)}'"
        raise InputError(
            Problem(
                source.name,
                f"{scores.size} predictions for {n_rows} rows{of}{ends}",
                fix="predict every row of that file, in its order, and nothing else",
            )
        )
    bad = np.flatnonzero(~np.isfinite(scores))
    if bad.size:
        problems = [
            Problem(
                f"{source.name}: row {row + 1}",
                f"score '{scores[row]}' is not a finite number",
                fix="repair the system's output",
            )
            for row in bad[:10].tolist()
        ]
        raise InputError(problems, total=bad.size)
    return Run.for_rows(dataset, scores, name=name)


def query_of_row(dataset: Qrels, row: int) -> str:
    """Return the qid of a row of the dataset's file, or of the next one that was kept."""
    at = row
    if dataset.order is not None:
        later = np.where(dataset.order >= row, dataset.order, np.iinfo(np.int64).max)
        at = int(later.argmin())
    return str(dataset.qids[int(dataset.row[at])].as_py())
