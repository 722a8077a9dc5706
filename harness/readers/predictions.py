"""Predictions for the rows of a dataset: by position, by row number, or by query and grade."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.align import PART
from ..core.arrow import cast, equal, index_in, to_numpy
from ..core.qrels_and_runs import Docnos, Qrels, Run, wrong_row_count
from ..core.ragged import Array, Ints, lengths_of, positions_of
from ..errors import SHOWN, InputError, Place, Problem, counted
from .column_roles import naming
from .columns import CORRECT, Layout, column, gathered, read_columns
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
        message = "expected a dataset with the rows of these scores, got only the scores"
        raise InputError(Problem(Rows(where).name, message, fix="name the dataset too"))
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
    message = wrong_row_count(n_rows, n, dataset.name)
    fix = "predict every row of that file, in its order, and nothing else"
    is_judged = not dataset.learning_to_rank and not dataset.docnos.positional
    if n == n_rows + 1 and source.head.split(b"\n", 1)[0].strip() == b"0":
        message += "; the first line is 0, as pandas calls a column without a name"
        fix = ONE_EACH
    elif is_judged:
        qrels = dataset.name or "the dataset"
        message = f"{counted(n, 'score')} alone, but {qrels} is qrels of {n_rows:,} documents"
        fix = "give the learning-to-rank data that was predicted, or a run with qids and docnos"
    where, is_text = source.name, source.format == "scores"
    blank = [number for number, line in source.lines() if is_text and not line.strip()]
    if 0 < len(blank) == n_rows - n:
        where, fix = Place(where, blank[0]), "write a score on each line"
        message += "; this line is blank"
    elif n < n_rows and not is_judged:
        order = file_order(dataset)
        row = int(np.where(order >= n, order, np.iinfo(order.dtype).max).argmin())
        message += f"; they end in query '{dataset.qids[int(dataset.row[row])]}'"
        if source.report.unfinished:
            where += f":{last_line(source)}"
            message += "; the last line has no line end, so the file may be cut"
    raise InputError(Problem(where, message, fix=fix, rule="row-count"))


def follow_queries(
    where: Source | str,
    dataset: Qrels,
    run: Run,
    name: str,
    *,
    grades: Array | None = None,
    whole: bool = False,
) -> Run:
    """Return a run without docnos, for the rows of each query in the dataset's order.

    `grades` of the same rows must be the dataset's; the `whole` dataset must have scores.
    """
    place, lengths = dataset.place(run.qids), lengths_of(run.offsets)
    n_rows = np.where(place < 0, 0, lengths_of(dataset.offsets)[place])
    wrong = [
        (run.qids[query], lengths[query], n_rows[query])
        for query in np.flatnonzero(lengths != n_rows)
    ]
    if whole:
        absent = np.setdiff1d(np.arange(dataset.n_queries), place)
        wrong += [(dataset.qids[query], 0, lengths_of(dataset.offsets)[query]) for query in absent]
    if wrong:
        qid, n, expected = wrong[0]
        message = f"expected a score for each row of a query of {dataset.name or 'the dataset'}, "
        message += f"got {n:,} for the {expected:,} rows of query '{qid}'"
        problem = Problem(Rows(where).name, message, fix=_ONE_RUN, rule="row-count")
        raise InputError(problem, total=len(wrong))
    rows = positions_of(run.offsets) + np.repeat(dataset.offsets[place], lengths)
    if grades is not None:  # perhaps saved in half precision
        differ = np.flatnonzero(~np.isclose(grades, dataset.grades[rows], rtol=1e-3))
        if differ.size:
            row = int(differ[0])
            message = f"relevance of query '{run.qids[int(run.row[row])]}': expected the dataset's "
            message += f"{dataset.grades[rows[row]]}, got {grades[row]}"
            raise InputError(Problem(Rows(where).name, message, fix=GIVE_QIDS))
    if run.n_queries < dataset.n_queries:
        docnos = Docnos(None, run.offsets)
        if not dataset.docnos.positional:
            docnos = Docnos(dataset.docnos.take(rows), run.offsets)
        return Run(run.qids, run.offsets, docnos, run.scores, name)
    scores = np.empty(dataset.n_rows)
    scores[rows] = run.scores
    return Run(dataset.qids, dataset.offsets, dataset.docnos, scores, name)


def join_rows(
    places: Rows,
    dataset: Qrels,
    scores: Array,
    qids: pa.Array | None,
    grades: Array | None,
    numbers: Array | None,
) -> Array:
    """Return scores in the order of the dataset's file, joined by the columns next to them.

    These are row numbers; or qids, if each query has the grades of the dataset, row by row.
    InputError names the first prediction that contradicts the dataset's row.
    """
    n, n_rows = scores.size, n_source(dataset)
    by_file = np.argsort(file_order(dataset))  # in the order of the file
    columns = file_order(dataset), dataset.row, dataset.numbers
    file_row, query, grades_read = (values[by_file] for values in columns)
    from_row = np.arange(n)  # the prediction of each row of the file
    if numbers is not None and n == n_rows:
        from_row = _by_number(places, numbers)
        qids, scores = None if qids is None else qids.take(pa.array(from_row)), scores[from_row]
        grades = None if grades is None else grades[from_row]
    present = file_row[file_row < n]
    names = dataset.qids.take(pa.array(query[: present.size]))
    differ = np.zeros(present.size, bool)
    if qids is not None:
        differ = ~equal(qids.take(pa.array(present)), names)
    if grades is not None:
        differ |= grades[present] != grades_read[: present.size]
    if n == n_rows and not differ.any():
        return scores
    is_whole = n == n_rows == dataset.n_rows and numbers is None
    if is_whole and qids is not None and grades is not None:
        codes = index_in(qids, dataset.qids)
        from_dataset, from_scores = (np.argsort(qid, kind="stable") for qid in (query, codes))
        if (query[from_dataset] == codes[from_scores]).all() and (
            grades_read[from_dataset] == grades[from_scores]
        ).all():
            joined = np.empty_like(from_dataset)
            joined[from_dataset] = from_scores
            return scores[joined]
    first_row = int(present[differ.argmax()]) if differ.any() else min(n, n_rows)
    place = int(np.searchsorted(present, first_row))
    expected = actual = "the end"
    if place < query.size:
        expected = f"query '{dataset.qids[int(query[place])]}'"
        expected += "" if grades is None else f" with grade {grades_read[place]:g}"
    if first_row < n:
        actual = f"query '{names[place] if qids is None else qids[first_row]}'"
        actual += "" if grades is None else f" with grade {grades[first_row]:g}"
    of_dataset = f" of {dataset.name}" if dataset.name else ""
    message = f"expected {expected}, as row {first_row + 1:,}{of_dataset} has, got {actual}"
    rule = "other-rows"
    if n != n_rows:
        count = wrong_row_count(n_rows, n, dataset.name)
        message, rule = f"{count}; first difference: expected {expected}, got {actual}", "row-count"
    row = int(from_row[min(first_row, n - 1)])
    prediction = f"prediction {row + 1:,}: {scores[min(first_row, n - 1)]:.15g}"
    raise InputError(Problem(places.place(row), message, prediction, _OTHER_ROWS, rule))


def _by_number(places: Rows, numbers: Array) -> Ints:
    """Return the prediction of each row of the dataset; raise if not each row is there once."""
    from_row: Ints = np.argsort(numbers, kind="stable")
    numbering = np.arange(numbers.size) + min(1, numbers.min())
    wrong = numbers[from_row] != numbering
    if wrong.any():
        row = from_row[wrong.argmax()]
        message = "expected each row of the dataset once, counted from 0 or 1, got "
        message += f"{numbers[row]:g} instead of {numbering[wrong.argmax()]}"
        is_file = isinstance(places.where, Source)
        otherwise = naming("run", {"row": "none"}) if is_file else "drop it"
        fix = f"write the number of each row, or {otherwise}"
        raise InputError(Problem(places.place(int(row)), message, "", fix, "other-rows"))
    return from_row


RUN = Layout(("score",), (), number="score", fix=CORRECT)
RANKLIB = Layout(("qid", "row", "score"), ("qid", "row"), number="score", fix=CORRECT)


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


def read_run(source: Source, *, dataset: Qrels | None = None, name: str, **settings: Any) -> Run:
    """Read one score for each row of `dataset`."""
    dataset = needed(source, dataset)
    return follow(source, dataset, np.concatenate([*_pieces(source)]), name)


def stream_run(
    source: Source, *, dataset: Qrels | None = None, name: str, **settings: Any
) -> Iterator[Run]:
    """Yield the scores in parts of whole queries."""
    dataset = needed(source, dataset)
    return _follow_parts(source, dataset, _pieces(source), name)


def _pieces(source: Source) -> Iterator[Array]:
    for table in read_columns(source, RUN):
        yield to_numpy(table["score"])


def read_ranklib(
    source: Source, *, dataset: Qrels | None = None, name: str, **settings: Any
) -> Run:
    """Read scores that name the query and the position of each row of `dataset`."""
    dataset = needed(source, dataset)
    table = gathered(read_columns(source, RANKLIB))
    query, lengths = index_in(column(table["qid"]), dataset.qids), np.diff(dataset.offsets)
    try:
        position = to_numpy(cast(column(table["row"]), pa.uint32())).astype(np.int64)
    except pa.ArrowInvalid as error:
        raise source.error(f"row: expected a whole number ({error})") from None
    if query.size != dataset.n_rows or (query < 0).any():
        message = wrong_row_count(dataset.n_rows, query.size, dataset.name)
        if (query < 0).any():
            message += f"; query '{table['qid'][int(query.argmin())]}' is not in the dataset"
        raise source.error(message, "predict every row of the dataset once", "row-count")
    rows = dataset.offsets[query] + position
    is_repeated = np.ones(rows.size, dtype=bool)
    is_repeated[np.unique(rows, return_index=True)[1]] = False
    wrong = np.flatnonzero((position >= lengths[query]) | is_repeated)
    if wrong.size:
        lines = Rows(source, RANKLIB.is_data(source)).numbered(wrong[:SHOWN])
        message, fix = "the row is beyond its query's rows, or repeated", "count rows from 0"
        problems = [
            Problem(Place(source.name, number), message, line, fix)
            for number, line in lines.values()
        ]
        raise InputError(problems, total=wrong.size)
    scores, order = np.empty(dataset.n_rows), np.empty(rows.size, np.int64)
    scores[rows], order[rows] = to_numpy(table["score"]), np.arange(rows.size)
    return Run(dataset.qids, dataset.offsets, dataset.docnos, scores, name, order=order)


add_formats(
    Format(
        name="scores",
        about="predictions, one number on each line, in the order of the dataset's rows",
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
        about="RankLib scores (qid row score; rows from 0 in each query) for the dataset's rows",
        suffixes=(".txt", ".score"),
        first=re.compile(rb"\s*\S+[ \t]+0[ \t].*(\n\s*\S+[ \t]+[01][ \t].*)?$"),
        rows={"run": re.compile(rb"\s*\S+\s+\S+\s+%b\s*$" % LIKE_NUMBER)},
        run=read_ranklib,
        needs_dataset=True,
        is_data=RANKLIB.is_data,
    ),
)
