"""Predictions for the rows of a dataset: one number a line, in its order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.align import PART
from ..core.arrow import cast, index_in, to_numpy
from ..core.ragged import Array
from ..core.tables import Qrels, Run
from ..errors import SHOWN, InputError, Place, Problem
from .columns import Layout, column, gathered, read_columns
from .dataset_rows import check_count, follow, needed
from .format import Format, add_formats
from .rows import Rows
from .source import Source
from .text import LIKE_NUMBER

RUN = Layout(("score",), (), number="score")
RANKLIB = Layout(("qid", "row", "score"), ("qid", "row"), number="score")


def _follow_parts(
    source: Source, dataset: Qrels, pieces: Iterable[Array], name: str
) -> Iterator[Run]:
    """Yield the run of :func:`follow` in parts of whole queries, while its scores are read."""
    if dataset.order is not None:  # the rows of a query may be anywhere in the file
        yield from follow(source, dataset, np.concatenate([*pieces]), name).parts(PART)
        return
    pieces, n_read, rest = iter(pieces), 0, np.empty(0)
    for rows in dataset.parts(PART):
        parts = [rest]
        n_parts = rest.size
        while n_parts < rows.n_rows and (piece := next(pieces, None)) is not None:
            parts.append(piece)
            n_parts += piece.size
        if n_parts < rows.n_rows:
            check_count(source, dataset, n_read + n_parts)
        n_read += rows.n_rows
        scores, rest = np.split(np.concatenate(parts), [rows.n_rows])
        yield Run(rows.qids, rows.offsets, rows.docnos, scores, name)
    check_count(source, dataset, n_read + rest.size + sum(piece.size for piece in pieces))


def read_run(source: Source, *, dataset: Qrels | None = None, name: str, **how: Any) -> Run:
    """Read one score for each row of `dataset`."""
    dataset = needed(source, dataset)
    return follow(source, dataset, np.concatenate([*_pieces(source)]), name)


def stream_run(
    source: Source, *, dataset: Qrels | None = None, name: str, **how: Any
) -> Iterator[Run]:
    """Yield the scores in parts of whole queries."""
    dataset = needed(source, dataset)
    return _follow_parts(source, dataset, _pieces(source), name)


def _pieces(source: Source) -> Iterator[Array]:
    for table in read_columns(source, RUN):
        yield to_numpy(table["score"])


def read_ranklib(source: Source, *, dataset: Qrels | None = None, name: str, **how: Any) -> Run:
    """Read scores that name the query and the position of each row of `dataset`."""
    dataset = needed(source, dataset)
    table = gathered(read_columns(source, RANKLIB))
    query, lengths = index_in(column(table["qid"]), dataset.qids), np.diff(dataset.offsets)
    try:
        position = to_numpy(cast(column(table["row"]), pa.uint32())).astype(np.int64)
    except pa.ArrowInvalid as error:
        raise source.error(f"row: expected a whole number ({error})") from None
    if query.size != dataset.n_rows or (query < 0).any():
        what = f"expected {dataset.n_rows:,} predictions, got {query.size:,}"
        if (query < 0).any():
            what += f"; query '{table['qid'][int(query.argmin())]}' is not in the dataset"
        raise source.error(what, "predict every row of the dataset once", "row-count")
    at = dataset.offsets[query] + position
    is_repeated = np.ones(at.size, dtype=bool)
    is_repeated[np.unique(at, return_index=True)[1]] = False
    wrong = np.flatnonzero((position >= lengths[query]) | is_repeated)
    if wrong.size:
        found = Rows(source, RANKLIB.is_data(source)).numbered(wrong[:SHOWN])
        what, fix = "the row is beyond its query's rows, or repeated", "count rows from 0"
        problems = [Problem(Place(source.name, at), what, line, fix) for at, line in found.values()]
        raise InputError(problems, total=wrong.size)
    scores, order = np.empty(dataset.n_rows), np.empty(at.size, np.int64)
    scores[at], order[at] = to_numpy(table["score"]), np.arange(at.size)
    return Run(dataset.qids, dataset.offsets, dataset.docnos, scores, name, order=order)


add_formats(
    Format(
        name="scores",
        about="predictions, one number a line, in the order of the dataset's rows",
        suffixes=(".txt", ".pred", ".predict", ".scores", ".csv"),
        first=re.compile(rb"\s*%b\s*(\n|$)|[^\n]*[,;\[(]|\s*\S[^\n]*[ \t]\S" % LIKE_NUMBER),
        rows={"run": re.compile(rb"\s*%b\s*$" % LIKE_NUMBER)},
        run=read_run,
        stream=stream_run,
        needs_dataset=True,
        is_data=RUN.is_data,
    ),
    Format(
        name="ranklib",
        about="RankLib scores (qid row score; rows from 0 in each query), for rows of a dataset",
        suffixes=(".txt", ".score"),
        first=re.compile(rb"\s*\S+[ \t]+0[ \t].*(\n\s*\S+[ \t]+[01][ \t].*)?$"),
        rows={"run": re.compile(rb"\s*\S+\s+\S+\s+%b\s*$" % LIKE_NUMBER)},
        run=read_ranklib,
        needs_dataset=True,
        is_data=RANKLIB.is_data,
    ),
)
