"""Predictions for the rows of a dataset: by position, by row number, or by query and grade."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.align import PART
from ..core.arrow import cast, equal, index_in, to_numpy
from ..core.qrels_and_runs import Docnos, Qrels, Run
from ..core.ragged import Array, Ints, lengths_of, positions_of
from ..errors import SHOWN, InputError, Place, Problem
from .columns import Layout, column, gathered, read_columns
from .format import Format, add_formats
from .rows import Rows, last_line
from .source import Source
from .text import LIKE_NUMBER, ONE_EACH

GIVE_QIDS = "give qids to collector.add, so that batches in another order still find their queries"
_ONE_RUN = (
    "give the scores of one run over this dataset, by its qids; several runs go to harness.compare"
)
_OTHER_ROWS = (
    "predict every row, and save the scores before you sort them, with harness.save_predictions; "
    "or add a column 'row'"
)


def needed(where: Source | str, dataset: Qrels | None) -> Qrels:
    """Return `dataset`, or raise if there is none to follow."""
    if dataset is None:
        what = "expected a dataset whose rows the scores follow, got a file of scores alone"
        raise InputError(Problem(Rows(where).name, what, fix="name the dataset too"))
    return dataset


def n_source(dataset: Qrels) -> int:
    """Return the number of rows of a dataset's file, which predictions follow."""
    return dataset.n_rows if dataset.n_source is None else dataset.n_source


def file_order(dataset: Qrels) -> Array:
    """Return the position in its file of each row of a dataset."""
    return np.arange(dataset.n_rows) if dataset.order is None else dataset.order


def follow(where: Source | str, dataset: Qrels | None, scores: Array, name: str) -> Run:
    """Return the run that gives a finite score to each row of `dataset`, in its file's order."""
    dataset = needed(where, dataset)
    if isinstance(where, Source):
        check_count(where, dataset, scores.size)
    return Run.for_rows(dataset, scores, name=name)


def check_count(source: Source, dataset: Qrels, n: int) -> None:
    """Raise if `n` scores are more or fewer than rows."""
    n_rows = n_source(dataset)
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
        order = file_order(dataset)
        at = int(np.where(order >= n, order, np.iinfo(order.dtype).max).argmin())
        what += f"; they end in query '{dataset.qids[int(dataset.row[at])]}'"
        if source.unfinished:
            where += f":{last_line(source)}"
            what += "; the last line has no line end, so the file may be cut"
    raise InputError(Problem(where, what, fix=fix, rule="row-count"))


def follow_queries(
    where: Source | str, dataset: Qrels, run: Run, name: str, *,
    grades: Array | None = None, whole: bool = False,
) -> Run:  # fmt: skip
    """Return a run without docnos, for the rows of each query in the dataset's order.

    `grades` of the same rows must be the dataset's; the `whole` dataset must have scores.
    """
    place, lengths = dataset.place(run.qids), lengths_of(run.offsets)
    n_rows = np.where(place < 0, 0, lengths_of(dataset.offsets)[place])
    wrong = [(run.qids[at], lengths[at], n_rows[at]) for at in np.flatnonzero(lengths != n_rows)]
    if whole:
        absent = np.setdiff1d(np.arange(dataset.n_queries), place)
        wrong += [(dataset.qids[at], 0, lengths_of(dataset.offsets)[at]) for at in absent]
    if wrong:
        qid, n, expected = wrong[0]
        what = f"expected a score for each row of a query of {dataset.name or 'the dataset'}, "
        what += f"got {n:,} for the {expected:,} rows of query '{qid}'"
        problem = Problem(Rows(where).name, what, fix=_ONE_RUN, rule="row-count")
        raise InputError(problem, total=len(wrong))
    rows = positions_of(run.offsets) + np.repeat(dataset.offsets[place], lengths)
    if grades is not None:  # perhaps saved in half precision
        differ = np.flatnonzero(~np.isclose(grades, dataset.grades[rows], rtol=1e-3))
        if differ.size:
            row = int(differ[0])
            what = f"relevance of query '{run.qids[int(run.row[row])]}': expected the dataset's "
            what += f"{dataset.grades[rows[row]]}, got {grades[row]}"
            raise InputError(Problem(Rows(where).name, what, fix=GIVE_QIDS))
    if run.n_queries < dataset.n_queries:
        docnos = Docnos(None, run.offsets)
        if not dataset.docnos.positional:
            docnos = Docnos(dataset.docnos.take(rows), run.offsets)
        return Run(run.qids, run.offsets, docnos, run.scores, name)
    scores = np.empty(dataset.n_rows)
    scores[rows] = run.scores
    return Run(dataset.qids, dataset.offsets, dataset.docnos, scores, name)


def join_rows(
    at: Rows, dataset: Qrels, scores: Array, qids: pa.Array | None, grades: Array | None,
    numbers: Array | None,
) -> Array:  # fmt: skip
    """Return scores in the order of the dataset's file, joined by what is next to them.

    That is the number of each row; or qids, if each query has the grades of the dataset, row by
    row. InputError names the first prediction that contradicts the dataset's row.
    """
    n, n_rows = scores.size, n_source(dataset)
    kept = np.argsort(file_order(dataset))  # in the order of the file
    file_row, query, wanted = file_order(dataset)[kept], dataset.row[kept], dataset.numbers[kept]
    from_row = np.arange(n)  # the prediction of each row of the file
    if numbers is not None and n == n_rows:
        from_row = _by_number(at, numbers)
        qids, scores = None if qids is None else qids.take(pa.array(from_row)), scores[from_row]
        grades = None if grades is None else grades[from_row]
    present = file_row[file_row < n]
    names = dataset.qids.take(pa.array(query[: present.size]))
    differ = np.zeros(present.size, bool)
    if qids is not None:
        differ = ~equal(qids.take(pa.array(present)), names)
    if grades is not None:
        differ |= grades[present] != wanted[: present.size]
    if n == n_rows and not differ.any():
        return scores
    is_whole = n == n_rows == dataset.n_rows and numbers is None
    if is_whole and qids is not None and grades is not None:
        codes = index_in(qids, dataset.qids)
        own, theirs = np.argsort(query, kind="stable"), np.argsort(codes, kind="stable")
        if (query[own] == codes[theirs]).all() and (wanted[own] == grades[theirs]).all():
            joined = np.empty_like(own)
            joined[own] = theirs
            return scores[joined]
    first = int(present[differ.argmax()]) if differ.any() else min(n, n_rows)
    place = int(np.searchsorted(present, first))
    expected = found = "the end"
    if place < query.size:
        expected = f"query '{dataset.qids[int(query[place])]}'"
        expected += "" if grades is None else f" with grade {wanted[place]:g}"
    if first < n:
        found = f"query '{names[place] if qids is None else qids[first]}'"
        found += "" if grades is None else f" with grade {grades[first]:g}"
    of = f" of {dataset.name}" if dataset.name else ""
    what, rule = f"expected {expected}, as row {first + 1:,}{of} has, got {found}", "other-rows"
    if n != n_rows:
        count = f"expected {n_rows:,} predictions, one for each row{of}, got {n:,}"
        what, rule = f"{count}; first difference: expected {expected}, got {found}", "row-count"
    row = int(from_row[min(first, n - 1)])
    one = f"prediction {row + 1:,}: {scores[min(first, n - 1)]:.15g}"
    raise InputError(Problem(at.place(row), what, one, _OTHER_ROWS, rule))


def _by_number(at: Rows, numbers: Array) -> Ints:
    """Return the prediction of each row of the dataset; raise if not each row is there once."""
    from_row: Ints = np.argsort(numbers, kind="stable")
    wanted = np.arange(numbers.size) + min(1, numbers.min())
    wrong = numbers[from_row] != wanted
    if wrong.any():
        row = from_row[wrong.argmax()]
        what = "expected each row of the dataset once, counted from 0 or 1, got "
        what += f"{numbers[row]:g} in place of {wanted[wrong.argmax()]}"
        other = "in a config: columns: {row: none}" if isinstance(at.where, Source) else "drop it"
        fix = f"write the number of each row, or {other}"
        raise InputError(Problem(at.place(int(row)), what, "", fix, "other-rows"))
    return from_row


RUN = Layout(("score",), (), number="score")
RANKLIB = Layout(("qid", "row", "score"), ("qid", "row"), number="score")


def _follow_parts(
    source: Source, dataset: Qrels, pieces: Iterable[Array], name: str
) -> Iterator[Run]:
    """Yield the run of `follow` in parts of whole queries, while its scores are read."""
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
