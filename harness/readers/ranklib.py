"""RankLib's score files: ``qid row score``, rows counted from 0 in each query."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, index_in, to_numpy
from ..core.policy import Duplicates
from ..core.ragged import Array, Ints
from ..core.tables import Qrels, Run
from ..errors import InputError, Problem
from .build import column, lines_of_rows
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
    table = pa.concat_tables(read_columns(source, RUN))
    query = index_in(column(table["qid"]), dataset.qids)
    position = _positions(source, table)
    _check_counts(source, dataset, table, query)
    at = dataset.offsets[query] + position
    wrong = (position >= np.diff(dataset.offsets)[query]) | _seen_before(at)
    if wrong.any():
        raise _wrong_row(source, wrong)
    scores = np.empty(dataset.n_rows)
    scores[at] = numbers_of(table, "score")
    order = np.empty(at.size, np.int64)
    order[at] = np.arange(at.size)
    return Run(dataset.qids, dataset.offsets, dataset.docnos, scores, name, order=order)


def _positions(source: Source, table: pa.Table) -> Ints:
    try:
        return to_numpy(cast(column(table["row"]), pa.uint32())).astype(np.int64)
    except pa.ArrowInvalid as error:
        raise InputError(Problem(source.name, f"a row is not a whole number ({error})")) from None


def _check_counts(source: Source, dataset: Qrels, table: pa.Table, query: Ints) -> None:
    """Raise where a query is unknown or has more or fewer scores than rows; the first of them."""
    unknown = np.flatnonzero(query < 0)
    given = np.bincount(query[query >= 0], minlength=dataset.n_queries)
    lengths = np.diff(dataset.offsets)
    drift = np.flatnonzero(given != lengths)
    if not unknown.size and not drift.size:
        return
    what = f"{query.size} predictions for {dataset.n_rows} rows"
    if unknown.size:
        what += f"; query '{table['qid'][int(unknown[0])]}' is not in the dataset"
    if drift.size:
        first = int(drift[0])
        qid = dataset.qids[first].as_py()
        what += f"; query '{qid}' has {lengths[first]} rows and {given[first]} predictions"
    fix = "predict every row of the dataset once"
    raise InputError(Problem(source.name, what, fix=fix, rule="row-count"))


def _seen_before(at: Ints) -> Array:
    first = np.zeros(at.size, dtype=bool)
    first[np.unique(at, return_index=True)[1]] = True
    return ~first


def _wrong_row(source: Source, wrong: Array) -> InputError:
    rows = np.flatnonzero(wrong)
    found = lines_of_rows(source, rows[:10], RUN.of(source).is_data)
    what, fix = (
        "the row is beyond its query's rows, or given twice",
        "count rows from 0 in each query",
    )
    problems = [Problem(f"{source.name}:{at}", what, line, fix) for at, line in found.values()]
    return InputError(problems, total=rows.size)


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
