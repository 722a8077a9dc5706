"""Predictions for the rows of a dataset: one number a line, in the order of its file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..core.policy import Duplicates
from ..core.ragged import Array
from ..core.tables import Qrels, Run
from ..errors import InputError
from .columns import Layout, numbers_of, read_columns
from .cut_line import last_lines, warn_cut_line
from .format import Format, Head, Kind
from .number_text import is_like_number
from .rows import and_count, follow, follow_parts, needed, rows_of
from .source import Source

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
        n = sum(layout.is_data(number, line) for number, line in source.lines())
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
    is_data=lambda source: RUN.is_data,
)
