"""Rows of a test file that stand in its training file, by their features, whatever their qids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import readers
from ..config.cells import Cell
from ..core.qrels_and_runs import Qrels, rows_in_file
from ..core.ragged import Array, Bools, Ints
from ..core.rules import SHOWN
from ..errors import Finding, InputError, Problem, Severity, counted
from ..readers import table_files
from ..readers.source import Source
from .findings import (
    MANY,
    ExamplesByRule,
    add_lines,
    examples_of_documents,
    percent,
    short_place,
    texts_at,
)

FEWEST = 3
"""Rows with the same features that are no chance, at least."""
CHANCE = 3.0
"""Factor by which they must be more than files without a leak would share."""


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """The rows of a dataset by the hashes of their features, in the order of its qrels."""

    source: Source
    qrels: Qrels
    marks: Array
    """Hash of each row's features; 0 if all of them are equal."""
    distinct: Array
    """The hashes, each once."""
    own: Bools
    """Whether the rows of each distinct hash are of one query; coarse features agree by chance."""

    @classmethod
    def read(cls, path: str, options: dict[str, Any]) -> FeatureRows:
        """Read a file; InputError if its rows have no features."""
        source = Source(path, hashed=True)
        source.may_reread = source.by_features = True
        qrels = readers.read_qrels(source, name=path, **options)
        marks = source.row_marks
        if marks is None or marks.size != qrels.n_source:
            message = "expected rows with features, to compare training and test data"
            fix = "give learning-to-rank files, or tables with columns of features"
            raise InputError(Problem(source.name, message, fix=fix, rule="columns"))
        marks = marks[rows_in_file(qrels, np.arange(qrels.n_rows))]
        order = np.argsort(marks, kind="stable")
        in_order, query = marks[order], qrels.row[order]
        starts = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1]))
        lowest, highest = (end.reduceat(query, starts) for end in (np.minimum, np.maximum))
        own = (lowest == highest) & (in_order[starts] != 0)
        return cls(source, qrels, marks, in_order[starts], own)

    @property
    def repeated(self) -> int:
        """Distinct rows that several queries have."""
        return int((~self.own).sum())


def has_features(path: str) -> bool:
    """Whether a file has rows with features: a learning-to-rank file, or a table of features."""
    try:
        form = readers.guess_format(path, "qrels")
        return form == "letor" or (form == "table" and table_files.has_features(Source(path)))
    except InputError:
        return False


def leaked_rows(train: FeatureRows, test: FeatureRows) -> Ints:
    """Return the rows of the test file that stand in the training file; none if that is chance.

    Of features that two queries have by chance, two are in the training file as often as
    ``n_train / 2 n_test`` times one is in each file, and likewise for the test file.
    """
    in_both = np.intersect1d(train.distinct[train.own], test.distinct[test.own])
    n_train, n_test = train.marks.size, test.marks.size
    by_chance = max(train.repeated * 2 * n_test / n_train, test.repeated * 2 * n_train / n_test)
    by_chance = min(by_chance, float(test.distinct.size))
    if in_both.size < FEWEST + CHANCE * by_chance:
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.isin(test.marks, in_both))


def findings_of_leaks(pairs: Iterable[tuple[str, Cell]], effect: str = "") -> Iterator[Finding]:
    """Yield findings for rows of the test file of each cell that are also in its training file.

    HarnessError if a file cannot be read, or the features of two files cannot be compared.
    `effect` replaces the effect of the rule, if no model was trained on the rows.
    """
    read: dict[str, FeatureRows] = {}
    distinct = {(path, cell.dataset_entry.path): cell for path, cell in pairs}
    for (path, test_path), cell in distinct.items():
        options = cell.dataset_entry.options()
        if test_path not in read:
            read[test_path] = FeatureRows.read(test_path, options)
        if path not in read:
            of_train = {name: value for name, value in options.items() if name != "group"}
            read[path] = FeatureRows.read(path, of_train)
        formats = {read[name].source.format == "letor" for name in (path, test_path)}
        if len(formats) > 1:
            message = f"expected a file in the format of {short_place(path)}, to compare features"
            fix = "write both as learning-to-rank files, or both as tables"
            raise InputError(Problem(read[test_path].source.name, message, fix=fix, rule="columns"))
        yield from _leak(read[path], read[test_path], effect)


def training_files(cells: Iterable[Cell]) -> list[tuple[str, Cell]]:
    """Return the training file that a config names for each dataset, with a cell of it."""
    with_leaks = ((cell.dataset_entry.leaks, cell) for cell in cells)
    return [(leaks.train, cell) for leaks, cell in with_leaks if leaks is not None]


def _leak(train: FeatureRows, test: FeatureRows, effect: str) -> Iterator[Finding]:
    rows = leaked_rows(train, test)
    if not rows.size:
        return
    examples = ExamplesByRule()
    first = rows[:SHOWN]
    qids = texts_at(test.qrels.qids, test.qrels.row[first])
    places = rows_in_file(test.qrels, first)
    documents = examples_of_documents(qids, test.qrels.docnos, first, [""] * first.size, places)
    examples.add("leaked-rows", documents)
    add_lines(examples, test.source, whole=True)
    n = rows.size
    severity: Severity = "error" if n >= MANY * test.marks.size else "warning"
    message = f"{n:,} of {counted(test.marks.size, 'row')} ({percent(n, test.marks.size)}) "
    message += f"have the features of rows of {short_place(train.source.name)}"
    leak = examples.finding("leaked-rows", message, n, severity, effect)
    yield replace(leak, place=leak.place.within(test.source.name))
