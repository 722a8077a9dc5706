"""Predictions for the rows of a dataset: one number a line, in the order of its file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.policy import Duplicates
from ..core.tables import Qrels, Run
from .columns import Layout, is_like_number, numbers_of, read_columns
from .format import Format, Head, Kind
from .rows import follow, needed, rows_of
from .source import Source

RUN = Layout(
    ("score",),
    (),
    number="score",
    repair="repair the system's output: line by line, a score for each row of the dataset",
)


def read_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Run:
    """Read one score for each row of `dataset`; a blank line may only stand at the end."""
    layout = replace(RUN, n_rows=rows_of(needed(source, dataset)))
    scores = np.concatenate([numbers_of(table, "score") for table in read_columns(source, layout)])
    return follow(source, dataset, scores, name)


def looks(head: Head, kind: Kind) -> bool:
    """Whether there is one number on a line."""
    return kind == "run" and head.mostly(
        head.fields, lambda f: len(f) == 1 and is_like_number(f[0])
    )


FORMAT = Format(
    name="scores",
    about="predictions, one number a line, in the order of the dataset's rows",
    suffixes=(".txt", ".pred", ".predict", ".scores", ".csv"),
    looks=looks,
    run=read_run,
    needs_dataset=True,
)
