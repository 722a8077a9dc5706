"""The first examples of what rules count, the lines they are on, and files that are read again."""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from .. import readers as readers
from ..config.cells import Cell
from ..core.arrow import bytes_at, string_column, to_numpy
from ..core.ragged import Array, Ints
from ..core.rules import SHOWN, finding
from ..core.tables import Docnos, Qrels, rows_in_file
from ..errors import Finding, HarnessError, Place, Severity, collecting
from ..readers.array_files import load_numpy
from ..readers.columns import read_columns
from ..readers.format import Kind
from ..readers.predictions import RUN as SCORES
from ..readers.rows import Rows
from ..readers.source import Source

if TYPE_CHECKING:
    from ..config.model import RunEntry

BY_ROW = ("scores", "npy")
"""Formats of predictions, one number for each row."""


class Examples(NamedTuple):
    """The first queries, documents or rows of a rule, and the place of the first one."""

    names: tuple[str, ...] = ()
    row: int = -1
    """Position of the first one's row in its file, from 0; -1 if it has none."""
    words: tuple[str, ...] = ()
    """Words on the line of that row, if files of its format name them."""
    place: Place = Place()
    """The line or row, without the file, if it is known."""


class ExamplesByRule(dict[str, Examples]):
    """The first examples of each rule."""

    def add(self, rule: str, later: Examples) -> None:
        """Add examples, as long as the rule has too few."""
        earlier = self.get(rule)
        if earlier is not None:
            self[rule] = earlier._replace(names=(*earlier.names, *later.names)[:SHOWN])
        elif later.names:
            self[rule] = later

    def wants(self, rule: str) -> bool:
        """Whether a rule takes more examples."""
        return rule not in self or len(self[rule].names) < SHOWN

    def finding(
        self, rule: str, what: str, count: int, severity: Severity | None = None,
        effect: str = "", fix: str = "",
    ) -> Finding:  # fmt: skip
        """Return what a rule found, with its examples and no file."""
        some = self.get(rule, Examples())
        return finding(rule, some.place, what, count, some.names, severity, effect, fix)


def placed(findings: Iterable[Finding], first: Mapping[str, Examples]) -> list[Finding]:
    """Return findings with the places of their examples, without the file."""
    return [replace(one, place=first.get(one.rule, Examples()).place) for one in findings]


def texts_at(names: pa.Array, rows: Ints) -> tuple[str, ...]:
    """Return a few identifiers as text."""
    return tuple(name.decode("utf-8", "replace") for name in bytes_at(names, rows))


def docnos_at(docnos: Docnos, rows: Ints) -> tuple[str, ...]:
    """Return the docnos of a few rows as text."""
    if docnos.strings is None:
        return texts_at(docnos.take(rows), np.arange(rows.size))
    return texts_at(docnos.strings, rows)


def of_documents(
    qids: Iterable[str], docnos: Docnos, rows: Ints, notes: Iterable[str], places: Ints
) -> Examples:
    """Return documents with their queries and a note on each; `places` are rows of the file."""
    names = list(zip(qids, docnos_at(docnos, rows), strict=True))
    if not names:
        return Examples()
    shown = (
        f"query {qid}, document {docno}" + (f": {note}" if note else "")
        for (qid, docno), note in zip(names, notes, strict=True)
    )
    return Examples(tuple(shown), int(places[0]), () if docnos.positional else names[0])


def of_queries(qids: pa.Array, which: Ints, places: Ints) -> Examples:
    """Return some queries of a column, at the first row of the first of them."""
    if not which.size:
        return Examples()
    names = texts_at(qids, which[:SHOWN])
    return Examples(names, int(places[0]), names[:1])


def short(place: str) -> str:
    """Return a place for an example: its file with the last folder.

    >>> short("/data/mslr/fold1/test.txt:7")
    'fold1/test.txt:7'
    """
    return "/".join(place.rsplit("/", 2)[-2:])


@contextlib.contextmanager
def suppressing_problems() -> Iterator[None]:
    """Read a file without its warnings and errors, which the first reading gave."""
    with contextlib.suppress(HarnessError), collecting([]):
        yield


def qrels_of(cell: Cell, source: Source | None = None) -> Qrels | None:
    """Return the judgements of a cell's dataset, read again; None if they cannot be."""
    entry = cell.dataset_entry
    with suppressing_problems():
        return readers.read_qrels(
            source or entry.path, name=cell.dataset, fractions=True, **entry.options()
        )
    return None


def scores_of(path: str) -> Array | None:
    """Return all numbers of a file of scores; None if a line is not a number."""
    with contextlib.suppress(TypeError, ValueError, OSError), suppressing_problems():
        source = Source(path)
        if path.endswith(".npy"):
            return np.asarray(load_numpy(source), np.float64).ravel()
        tables = read_columns(source, SCORES)
        found: Array = np.concatenate([to_numpy(table["score"]) for table in tables])
        return found
    return None


def add_lines(
    first: dict[str, Examples],
    source: Source,
    kind: Kind,
    format: str | None = None,
    among: Container[str] | None = None,
    *,
    whole: bool = False,
) -> None:
    """Add the line of each example's row in place, or the row's number in files without lines.

    The file holds qrels or a run (`kind`) in the `format`, which is guessed by default. Lines are
    added for the rules `among`; those after the first block are found only if the `whole` file may
    be read again.
    """
    rows = {
        rule: one
        for rule, one in first.items()
        if one.row >= 0 and (among is None or rule in among)
    }
    if not rows:
        return
    with contextlib.suppress(HarnessError):
        form = readers.FORMATS[format or readers.guess_format(source, kind)]
        is_data = form.is_data(source)
        if is_data is not None:
            wanted = {one.row: one.words for one in rows.values()}
            found = Rows(source, is_data).find(wanted, whole=whole)
            for rule, one in rows.items():
                line, _ = found.get(one.row, (0, ""))
                first[rule] = one._replace(place=Place(line=line))
        elif form.has_rows:
            for rule, one in rows.items():
                first[rule] = one._replace(place=Place(row=one.row + 1))


def place_of_row(entry: RunEntry, row: int) -> Place:
    """Return the place of a row of a run, whose file is read again; the file if unknown."""
    first = {"": Examples(row=row)}
    with contextlib.suppress(HarnessError, OSError):
        add_lines(first, Source(entry.path), "run", entry.format, whole=True)
    return first[""].place.within(entry.path)


def places_of_queries(cell: Cell, qids: Sequence[str]) -> dict[str, Place]:
    """Return the place of the first row of each query in a cell's dataset, which is read again."""
    qrels, entry = qrels_of(cell), cell.dataset_entry
    if qrels is None:
        return {}
    at = qrels.place(string_column(qids))
    rows = rows_in_file(qrels, qrels.offsets[at])
    first = {
        qid: Examples((qid,), row, (qid,))
        for qid, row, place in zip(qids, rows.tolist(), at.tolist(), strict=True)
        if place >= 0
    }
    with contextlib.suppress(HarnessError, OSError):
        add_lines(first, Source(entry.path), "qrels", entry.format, whole=True)
    return {qid: one.place.within(entry.path) for qid, one in first.items()}
