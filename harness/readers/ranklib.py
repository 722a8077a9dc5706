"""RankLib's score files: ``qid row score``, rows counted from 0 in each query."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, index_in, to_numpy
from ..core.policy import Duplicates
from ..core.tables import Qrels, Run
from ..errors import SHOWN, InputError, Problem
from .build import column, gathered, lines_of_rows
from .columns import Layout, numbers_of, read_columns
from .format import Format, Head, Kind
from .number_text import is_like_number
from .predictions import needed
from .source import Source

RUN = Layout(
    ("qid", "row", "score"),
    ("qid", "row"),
    number="score",
    repair="repair the system's output; every row of the dataset needs its score",
)


def read_run(
    source: Source, *, dataset: Qrels | None = None, duplicates: Duplicates, name: str
) -> Run:
    """Read scores that name the query and the position of each row of `dataset`."""
    dataset = needed(source, dataset)
    table = gathered(read_columns(source, RUN))
    query, lengths = index_in(column(table["qid"]), dataset.qids), np.diff(dataset.offsets)
    try:
        position = to_numpy(cast(column(table["row"]), pa.uint32())).astype(np.int64)
    except pa.ArrowInvalid as error:
        what = f"row: expected a whole number ({error})"
        raise InputError(Problem(source.name, what)) from None
    given = np.bincount(query[query >= 0], minlength=dataset.n_queries)
    if (query < 0).any() or (given != lengths).any():
        raise InputError(_wrong_count(source, dataset, table, query < 0, given))
    at = dataset.offsets[query] + position
    repeats = np.ones(at.size, dtype=bool)
    repeats[np.unique(at, return_index=True)[1]] = False
    wrong = np.flatnonzero((position >= lengths[query]) | repeats)
    if wrong.size:
        found = lines_of_rows(source, wrong[:SHOWN], RUN.of(source).is_data)
        what, fix = "the row is beyond its query's rows, or repeated", "count rows from 0"
        problems = [Problem(f"{source.name}:{at}", what, line, fix) for at, line in found.values()]
        raise InputError(problems, total=wrong.size)
    scores = np.empty(dataset.n_rows)
    scores[at] = numbers_of(table, "score")
    order = np.empty(at.size, np.int64)
    order[at] = np.arange(at.size)
    return Run(dataset.qids, dataset.offsets, dataset.docnos, scores, name, order=order)


def _wrong_count(
    source: Source, dataset: Qrels, table: pa.Table, unknown: np.ndarray, given: np.ndarray
) -> Problem:
    """Return the problem of a query that is unknown or has more or fewer scores than rows."""
    what = f"expected {dataset.n_rows} predictions, got {unknown.size}"
    if unknown.any():
        what += f"; query '{table['qid'][int(unknown.argmax())]}' is not in the dataset"
    lengths = np.diff(dataset.offsets)
    drift = np.flatnonzero(given != lengths)[:1].tolist()
    for first in drift:
        qid = dataset.qids[first].as_py()
        what += f"; query '{qid}' has {lengths[first]} rows and {given[first]} predictions"
    return Problem(source.name, what, fix="predict every row of the dataset once", rule="row-count")


def looks(head: Head, kind: Kind) -> bool:
    """Whether there are three columns, the second of them counting from 0."""
    fields = head.fields
    if kind == "qrels" or not head.mostly(fields, lambda f: len(f) == 3 and is_like_number(f[2])):
        return False
    return [f[1:2] for f in fields[:2]] in ([["0"]], [["0"], ["0"]], [["0"], ["1"]])


FORMAT = Format(
    name="ranklib",
    about="RankLib scores (qid row score; rows from 0 in each query), for the rows of a dataset",
    suffixes=(".txt", ".score"),
    looks=looks,
    run=read_run,
    needs_dataset=True,
    is_data=lambda source: RUN.of(source).is_data,
)
