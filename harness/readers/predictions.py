"""Predictions for the rows of a dataset: one number a line, in the order of its file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..core.align import PART
from ..core.ragged import Array, lengths_of
from ..core.tables import Qrels, Run
from ..errors import SHOWN, InputError, Problem
from .build import last_lines, warn_cut_line
from .columns import Layout, numbers_of, read_columns
from .format import Format, Head, Kind
from .source import Source
from .text import WITHOUT_INDEX, is_like_number

RUN = Layout(
    ("score",),
    (),
    number="score",
    repair="repair the system's output: line by line, a score for each row of the dataset",
    every_line=True,
)
_BEFORE = 100  # Lines that tell how many digits the last one should have
_DIGITS = re.compile(rb"[+-]?0*(\d*)(\.(\d*))?", re.ASCII)


def needed(source: Source | str, dataset: Qrels | None) -> Qrels:
    """Return `dataset`, or raise if there is none to follow."""
    if dataset is None:
        what = "expected a dataset whose rows the scores follow, got a file of scores alone"
        place = source if isinstance(source, str) else source.name
        raise InputError(Problem(place, what, fix="name the dataset too"))
    return dataset


def follow(source: Source | str, dataset: Qrels | None, scores: Array, name: str) -> Run:
    """Return the run that gives `scores` to the rows of `dataset`, in its file's order.

    InputError if there are more or fewer scores than rows, or some are not finite.
    """
    dataset = needed(source, dataset)
    if isinstance(source, str):
        return Run.for_rows(dataset, scores, name=name)
    bad = np.flatnonzero(~np.isfinite(scores))
    if bad.size:
        fix = "repair the system's output"
        problems = [
            Problem(f"{source.name}: row {row + 1}",
                    f"score: expected a finite number, got '{scores[row]}'", "", fix, "not-finite")
            for row in bad[:SHOWN].tolist()
        ]  # fmt: skip
        raise InputError(problems, total=bad.size)
    _check_count(source, dataset, scores.size)
    scores = scores if dataset.order is None else scores[dataset.order]
    return Run(dataset.qids, dataset.offsets, dataset.docnos, scores, name)


def follow_queries(where: str, dataset: Qrels, given: Mapping[str, Array], name: str) -> Run:
    """Return the run of ``{qid: scores}``, for the rows of each query in the dataset's order."""
    sizes = dict(zip(dataset.qids.to_pylist(), lengths_of(dataset.offsets).tolist(), strict=True))
    wrong = [f"'{qid}', which is no query" for qid in given if qid not in sizes]
    wrong += [f"none of query '{qid}'" for qid in sizes if qid not in given]
    wrong += [
        f"{given[qid].size:,} for the {size:,} rows of query '{qid}'"
        for qid, size in sizes.items()
        if qid in given and given[qid].shape != (size,)
    ]
    if wrong:
        what = f"expected scores by query, got {wrong[0]} of {dataset.name or 'the dataset'}"
        fix = "give {qid: scores} of one run, with a score for each row of each query"
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
        fix = WITHOUT_INDEX
    if n < n_rows:
        order = np.arange(dataset.n_rows) if dataset.order is None else dataset.order
        at = int(np.where(order >= n, order, np.iinfo(order.dtype).max).argmin())
        what += f"; they end in query '{dataset.qids[int(dataset.row[at])]}'"
        if source.unfinished:
            what += "; the last line has no line end, so the file may be cut"
    raise source.error(what, fix, "row-count")


def read_run(source: Source, *, dataset: Qrels | None = None, name: str, **how: Any) -> Run:
    """Read one score for each row of `dataset`; a blank line may only be at the end."""
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
    _warn_cut(source)


def _warn_cut(source: Source) -> None:
    """Warn if the last line has no end and fewer digits than each of the lines before it.

    One decimal less tells if all lines before have the same number of them. Otherwise it takes two
    less, of the decimals and of all digits, as writers leave out zeros at the end.
    """
    if not (lines := last_lines(source, _BEFORE)):
        return
    digits, decimals = np.array([*map(_digits, lines)]).T
    is_fixed = len({*decimals[:-1].tolist()}) == 1
    less = decimals[:-1].min() - decimals[-1]
    if less > 0 if is_fixed else min(less, digits[:-1].min() - digits[-1]) > 1:
        warn_cut_line(source, f"{decimals[-1]} decimals, fewer than each of {_BEFORE} lines before")


def _digits(line: bytes) -> tuple[int, int]:
    """Return how many digits a number has after leading zeros, and how many decimals."""
    found = _DIGITS.match(line.strip())
    whole, decimals = (found[1], found[3] or b"") if found else (b"", b"")
    return len((whole + decimals).lstrip(b"0")), len(decimals)


def looks(head: Head, kind: Kind) -> bool:
    """Whether there is one number on a line."""
    is_number = head.mostly(head.fields, lambda f: len(f) == 1 and is_like_number(f[0]))
    return kind == "run" and is_number and not head.has_heading


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
