"""Predictions for the rows of a dataset: one number a line, in the order of its file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..core.policy import Duplicates
from ..core.ragged import Array
from ..core.tables import Qrels, Run
from .columns import Layout, numbers_of, read_columns
from .format import Format, Head, Kind
from .number_text import is_like_number
from .rows import follow, follow_parts, needed, rows_of
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
    dataset = needed(source, dataset)
    return follow(source, dataset, np.concatenate([*_pieces(source, dataset)]), name)


def stream_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Iterator[Run]:
    """Yield the scores in parts of whole queries."""
    dataset = needed(source, dataset)
    return follow_parts(source, dataset, _pieces(source, dataset), name)


def _pieces(source: Source, dataset: Qrels) -> Iterator[Array]:
    layout = replace(RUN, n_rows=rows_of(dataset))
    return (numbers_of(table, "score") for table in read_columns(source, layout))


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
    stream=stream_run,
    needs_dataset=True,
    is_data=lambda source: RUN.is_data,
)
