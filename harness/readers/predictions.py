"""Predictions for the rows of a dataset: one number a line, in its order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.align import PART
from ..core.arrow import cast, index_in, to_numpy
from ..core.ragged import Array, lengths_of
from ..core.tables import Qrels, Run
from ..errors import SHOWN, InputError, Place, Problem
from .build import column, gathered, last_line, lines_of_rows
from .columns import Layout, numbers_of, read_columns
from .format import Format, add_formats
from .source import Source
from .text import LIKE_NUMBER, ONE_EACH

RUN = Layout(("score",), (), number="score")
RANKLIB = Layout(("qid", "row", "score"), ("qid", "row"), number="score")


def needed(source: Source | str, dataset: Qrels | None) -> Qrels:
    """Return `dataset`, or raise if there is none to follow."""
    if dataset is None:
        what = "expected a dataset whose rows the scores follow, got a file of scores alone"
        place = source if isinstance(source, str) else source.name
        raise InputError(Problem(place, what, fix="name the dataset too"))
    return dataset


def follow(source: Source | str, dataset: Qrels | None, scores: Array, name: str) -> Run:
    """Return the run that gives a finite score to each row of `dataset`, in its file's order."""
    dataset = needed(source, dataset)
    if isinstance(source, str):
        return Run.for_rows(dataset, scores, name=name)
    if (bad := np.flatnonzero(~np.isfinite(scores))).size:
        what, fix = "score: expected a finite number, got", "repair the system's output"
        problems = [
            Problem(
                Place(source.name, row=row + 1), f"{what} '{scores[row]}'", "", fix, "not-finite"
            )
            for row in bad[:SHOWN].tolist()
        ]
        raise InputError(problems, total=bad.size)
    _check_count(source, dataset, scores.size)
    scores = scores if dataset.order is None else scores[dataset.order]
    return Run(dataset.qids, dataset.offsets, dataset.docnos, scores, name)


def follow_queries(where: str, dataset: Qrels, given: Mapping[str, Array], name: str) -> Run:
    """Return the run of ``{qid: scores}``, for the rows of each query in the dataset's order."""
    sizes = dict(zip(dataset.qids.to_pylist(), lengths_of(dataset.offsets).tolist(), strict=True))
    wrong = [f"'{qid}', not a query" for qid in given if qid not in sizes]
    wrong += [f"none of query '{qid}'" for qid in sizes if qid not in given]
    wrong += [
        f"{given[qid].size:,} for the {size:,} rows of query '{qid}'"
        for qid, size in sizes.items()
        if qid in given and given[qid].shape != (size,)
    ]
    if wrong:
        what = f"expected scores by query, got {wrong[0]} of {dataset.name or 'the dataset'}"
        fix = "give {qid: scores} of one run; several runs go to harness.compare"
        raise InputError(Problem(where, what, fix=fix, rule="row-count"), total=len(wrong))
    scores = Run.check_numbers(np.concatenate([given[qid] for qid in sizes]), where)
    return Run(dataset.qids, dataset.offsets, dataset.docnos, scores, name)


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
            _check_count(source, dataset, n_read + n_parts)
        n_read += rows.n_rows
        scores, rest = np.split(np.concatenate(parts), [rows.n_rows])
        yield Run(rows.qids, rows.offsets, rows.docnos, scores, name)
    _check_count(source, dataset, n_read + rest.size + sum(piece.size for piece in pieces))


def _check_count(source: Source, dataset: Qrels, n: int) -> None:
    """Raise if `n` scores are more or fewer than rows."""
    n_rows = dataset.n_rows if dataset.n_source is None else dataset.n_source
    if n == n_rows:
        return
    of = f" of {dataset.name}" if dataset.name else ""
    what = f"expected {n_rows:,} predictions, one for each row{of}, got {n:,}"
    fix = "predict every row of that file, in its order, and nothing else"
    if n == n_rows + 1 and source.head.split(b"\n", 1)[0].strip() == b"0":
        what += "; the first line is 0, as pandas calls a column without a name"
        fix = ONE_EACH
    where = source.name
    if n < n_rows:
        order = np.arange(dataset.n_rows) if dataset.order is None else dataset.order
        at = int(np.where(order >= n, order, np.iinfo(order.dtype).max).argmin())
        what += f"; they end in query '{dataset.qids[int(dataset.row[at])]}'"
        if source.unfinished:
            where += f":{last_line(source)}"
            what += "; the last line has no line end, so the file may be cut"
    raise InputError(Problem(where, what, fix=fix, rule="row-count"))


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
        yield numbers_of(table, "score")


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
        found = lines_of_rows(source, wrong[:SHOWN], RANKLIB.of(source).is_data)
        what, fix = "the row is beyond its query's rows, or repeated", "count rows from 0"
        problems = [Problem(Place(source.name, at), what, line, fix) for at, line in found.values()]
        raise InputError(problems, total=wrong.size)
    scores, order = np.empty(dataset.n_rows), np.empty(at.size, np.int64)
    scores[at], order[at] = numbers_of(table, "score"), np.arange(at.size)
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
        is_data=lambda source: RUN.of(source).is_data,
    ),
    Format(
        name="ranklib",
        about="RankLib scores (qid row score; rows from 0 in each query), for rows of a dataset",
        suffixes=(".txt", ".score"),
        first=re.compile(rb"\s*\S+[ \t]+0[ \t].*(\n\s*\S+[ \t]+[01][ \t].*)?$"),
        rows={"run": re.compile(rb"\s*\S+\s+\S+\s+%b\s*$" % LIKE_NUMBER)},
        run=read_ranklib,
        needs_dataset=True,
        is_data=lambda source: RANKLIB.of(source).is_data,
    ),
)
