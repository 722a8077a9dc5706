"""Predictions for the rows of a dataset: one number a line, in the order of its file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ..core.align import PART
from ..core.policy import Duplicates
from ..core.ragged import Array
from ..core.tables import Qrels, Run
from ..errors import SHOWN, InputError, Problem
from .build import last_lines, warn_cut_line
from .columns import Layout, numbers_of, read_columns
from .format import Format, Head, Kind
from .number_text import is_like_number
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
        Where there are more or fewer scores than rows, with both counts; or some are not finite.
    """
    dataset = needed(source, dataset)
    bad = np.flatnonzero(~np.isfinite(scores))
    if bad.size:
        problems = [
            Problem(
                f"{source.name}: row {row + 1}",
                f"score '{scores[row]}' is not a finite number",
                fix="repair the system's output",
                rule="not-finite",
            )
            for row in bad[:SHOWN].tolist()
        ]
        raise and_count(InputError(problems, total=bad.size), source, dataset, scores.size)
    _check_count(source, dataset, scores.size)
    scores = scores if dataset.order is None else scores[dataset.order]
    return Run(dataset.qids, dataset.offsets, dataset.docnos, scores, name)


def follow_parts(
    source: Source, dataset: Qrels, pieces: Iterable[Array], name: str
) -> Iterator[Run]:
    """Yield the run of :func:`follow` in parts of whole queries, while its scores are read.

    Parameters
    ----------
    pieces : iterable of ndarray
        The scores, all finite, cut anywhere.
    """
    if dataset.order is not None:  # the rows of a query may stand anywhere in the file
        yield from follow(source, dataset, np.concatenate([*pieces]), name).parts(PART)
        return
    pieces, n_read, rest = iter(pieces), 0, np.empty(0)
    for rows in dataset.parts(PART):
        held = [rest]
        n_held = rest.size
        while n_held < rows.n_rows and (piece := next(pieces, None)) is not None:
            held.append(piece)
            n_held += piece.size
        if n_held < rows.n_rows:
            _check_count(source, dataset, n_read + n_held)
        n_read += rows.n_rows
        scores, rest = np.split(np.concatenate(held), [rows.n_rows])
        yield Run(rows.qids, rows.offsets, rows.docnos, scores, name)
    _check_count(source, dataset, n_read + rest.size + sum(piece.size for piece in pieces))


def and_count(error: InputError, source: Source, dataset: Qrels, n: int) -> InputError:
    """Return an error of some scores, and that `n` of them are more or fewer than rows, if so."""
    wrong = _count(source, dataset, n)
    if wrong is None:
        return error
    problems = [*error.problems[: SHOWN - 1], wrong]  # the last one is printed too
    return InputError(problems, total=error.total + 1, at_least=error.at_least)


def _check_count(source: Source, dataset: Qrels, n: int) -> None:
    """Raise where `n` scores are more or fewer than rows."""
    wrong = _count(source, dataset, n)
    if wrong is not None:
        raise InputError(wrong)


def _count(source: Source, dataset: Qrels, n: int) -> Problem | None:
    """Return what is wrong where `n` scores are more or fewer than rows."""
    n_rows = rows_of(dataset)
    if n == n_rows:
        return None
    of = f" of {dataset.name}" if dataset.name else ""
    what = f"{n:,} predictions for {n_rows:,} rows{of}"
    fix = "predict every row of that file, in its order, and nothing else"
    if n < n_rows:
        what += f"; they end in query '{query_of_row(dataset, n)}'"
        if source.unfinished:
            what = f"the file may be cut, as its last line has no line end: {what}"
            fix = f"get the whole file again; or {fix}"
    return Problem(source.name, what, fix=fix, rule="row-count")


def query_of_row(dataset: Qrels, row: int) -> str:
    """Return the qid of a row of the dataset's file, or of the next one that was kept."""
    at = row
    if dataset.order is not None:
        later = np.where(dataset.order >= row, dataset.order, np.iinfo(dataset.order.dtype).max)
        at = int(later.argmin())
    return str(dataset.qids[int(dataset.row[at])].as_py())


RUN = Layout(
    ("score",),
    (),
    number="score",
    repair="repair the system's output: line by line, a score for each row of the dataset",
)

_BEFORE = 100
"""Lines that tell how many digits the last one should have."""
_DIGITS = re.compile(rb"[+-]?0*(\d*)(\.(\d*))?", re.ASCII)


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
    try:
        for table in read_columns(source, layout):
            yield numbers_of(table, "score")
    except InputError as error:
        if {one.rule for one in error.problems} != {"not-finite"}:
            raise
        is_data = layout.of(source).is_data
        n = sum(is_data(number, line) for number, line in source.lines())
        raise and_count(error, source, dataset, n) from None
    _warn_cut(source)


def _warn_cut(source: Source) -> None:
    """Warn where the last line has no end and fewer digits than each of the lines before it.

    Where all of those have as many decimals as each other, one less tells. Else a writer leaves
    out digits where they are 0, as of one number in ten, and it takes two less, of the decimals
    and of all digits.
    """
    lines = last_lines(source, _BEFORE)
    if not lines:
        return
    *before, last = lines
    digits, decimals = zip(*map(_digits, before), strict=True)
    n, n_decimals = _digits(last)
    is_fixed = len({*decimals}) == 1
    if n_decimals < min(decimals) if is_fixed else _are_few(n, digits, n_decimals, decimals):
        least = f"{'' if is_fixed else 'at least '}{min(decimals)}"
        why = f"{n_decimals} decimals where each of the {_BEFORE} lines before has {least}"
        warn_cut_line(source, why)


def _are_few(n: int, digits: tuple[int, ...], n_decimals: int, decimals: tuple[int, ...]) -> bool:
    return n + 2 <= min(digits) and n_decimals + 2 <= min(decimals)


def _digits(line: bytes) -> tuple[int, int]:
    """Return how many digits a number has after leading zeros, and how many decimals."""
    found = _DIGITS.match(line.strip())
    whole, decimals = (found[1], found[3] or b"") if found else (b"", b"")
    return len((whole + decimals).lstrip(b"0")), len(decimals)


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
    is_data=lambda source: RUN.of(source).is_data,
)
