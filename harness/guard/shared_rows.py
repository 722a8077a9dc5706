"""Rules about files that share queries, rows or bytes: folds, datasets, runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .. import readers as readers
from ..config.cells import Cell
from ..core.arrow import index_in, select
from ..core.hashing import splitmix64
from ..core.ragged import Array, Ints
from ..core.systems import whole_name
from ..core.tables import Qrels
from ..errors import Finding, Severity
from ..readers import letor
from ..readers.build import find_lines
from ..readers.source import HashedSource, Source
from .lines import reading_again
from .parts import EXAMPLES, short, texts_at
from .registry import finding

_FOLD = re.compile("fold|split|part", re.IGNORECASE)
"""Names of placeholders whose values are parts of one dataset."""
_SPLIT = re.compile("split", re.IGNORECASE)
"""Those whose values may be train, vali and test if another one names the fold."""
_NUMBERS = ("k", "n", "i")
"""Those that are such if the values are numbers."""
_FOLD_NAME = re.compile(r"(.*(?:fold|split|part)[-_ ]?)([0-9]+)(.*)", re.IGNORECASE | re.DOTALL)
"""Names of parts that a config lists one by one."""
MANY = 0.01
"""Share of the rows from which on those in common are a warning: few features give fewer."""


class Part(NamedTuple):
    """A part of a dataset: what all of its parts share, and which one it is."""

    whole: str
    name: str


def part_of(cell: Cell, pooled: Sequence[str]) -> Part | None:
    """Return which part of a dataset a cell's dataset is; None if it is whole.

    The placeholders of its entry tell, such as {fold}, or {k} if it is a number and the dataset one
    for learning to rank; or a name that is written out, such as fold1. Each value of another
    placeholder, such as {collection}, is a dataset of its own.
    """
    names = [name for name in cell.of_dataset if _is_part(cell, name, pooled)]
    if any(not _SPLIT.search(name) for name in names):
        names = [name for name in names if name in pooled or not _SPLIT.search(name)]
    if names:
        others = [one for name, one in cell.of_dataset.items() if name not in names]
        which = [cell.of_dataset[name] for name in names]
        return Part(" ".join([cell.dataset_key, *others]), " ".join(which))
    written = _FOLD_NAME.fullmatch(cell.dataset) if not cell.of_dataset else None
    return None if written is None else Part(written[1] + written[3], written[2])


def _is_part(cell: Cell, name: str, pooled: Sequence[str]) -> bool:
    numbered = name in _NUMBERS and cell.of_dataset[name].isdecimal()
    is_letor = cell.dataset_entry.format == "letor"
    return name in pooled or bool(_FOLD.search(name)) or (numbered and is_letor)


def pooled_into(cell: Cell, pooled: Sequence[str]) -> str:
    """Return what a cell's dataset is pooled into with others; nothing if it is not.

    `pooled` are the placeholders that the config's summary pools.
    """
    if not any(name in cell.of_dataset for name in pooled):
        return ""
    return whole_name(cell.dataset_key, cell.columns, pooled)


@dataclass(frozen=True, eq=False)
class Marked:
    """One learning-to-rank dataset of a config, and marks of its rows.

    Parameters
    ----------
    path, name, digest : str
        Its file, and the SHA-256 of that.
    part : Part, optional
    marks : ndarray of uint64
        All of them or some; see :mod:`harness.readers.letor`.
    """

    path: str
    name: str
    digest: str
    part: Part | None
    marks: Array


@dataclass(frozen=True, eq=False)
class Rows(Marked):
    """The same with all marks, query by query, and the judgements that they belong to."""

    qrels: Qrels

    @cached_property
    def of_one_query(self) -> Array:
        """The marks of one query alone, each once: rows of several queries are alike by chance."""
        order = np.argsort(self.marks, kind="stable")
        rows, query = self.marks[order], self.qrels.row[order]
        starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
        alone = np.minimum.reduceat(query, starts) == np.maximum.reduceat(query, starts)
        found: Array = rows[starts][alone]
        return found

    def of_queries(self, shared: Array) -> Array:
        """Return a hash of each query's rows; 0 if none of them is `shared`, or all are alike."""
        query, rows = self.qrels.row, self.marks
        found = letor.of_queries(rows, self.qrels.offsets)
        known = np.bincount(query[np.isin(rows, shared)], minlength=found.size) > 0
        several = np.zeros(found.size, dtype=bool)
        several[query[1:][(query[1:] == query[:-1]) & (rows[1:] != rows[:-1])]] = True
        return np.where(known & several, found, np.uint64(0))

    def graded(self) -> Array:
        """Return a hash of each query's rows and grades, sorted."""
        grades = splitmix64(self.qrels.numbers.astype(np.float64).view(np.uint64))
        return np.sort(letor.of_queries(self.marks ^ grades, self.qrels.offsets))

    def places(self, rows: Ints) -> list[str]:
        """Return the file and the line of some rows; the file is read again up to the last."""
        at = rows if self.qrels.order is None else self.qrels.order[rows]
        wanted: dict[int, Sequence[str]] = dict.fromkeys(at.tolist(), ())
        lines = find_lines(Source(self.path), wanted, letor.is_data, whole=True)
        return [f"{self.path}:{lines[row]}" for row in at.tolist()]


def candidates(datasets: Sequence[Marked]) -> list[tuple[int, int]]:
    """Return the pairs of datasets, later and earlier, that have a mark in common and should not.

    Files of the same bytes may, which is another finding; so may parts of different names, as the
    training rows of fold 1 are the test rows of fold 2.
    """
    distinct = [np.unique(one.marks) for one in datasets]
    marks = np.concatenate([np.zeros(0, np.uint64), *distinct])
    owner = np.repeat(np.arange(len(datasets)), [one.size for one in distinct])
    order = np.argsort(marks, kind="stable")
    marks, owner = marks[order], owner[order]
    found: set[tuple[int, int]] = set()
    for further in range(1, len(datasets)):
        same = marks[further:] == marks[:-further]
        if not same.any():
            break
        pairs = zip(owner[further:][same].tolist(), owner[:-further][same].tolist(), strict=True)
        found |= {*pairs}
    return sorted((one, other) for one, other in found if _apart(datasets[one], datasets[other]))


def _apart(one: Marked, other: Marked) -> bool:
    """Whether two datasets should have no row in common."""
    if one.path == other.path or one.digest == other.digest:
        return False
    if one.part is None or other.part is None or one.part.whole == other.part.whole:
        return True
    return one.part.name == other.part.name


def shared_rows(
    datasets: Sequence[tuple[Cell, str, Array]], pooled: Sequence[str], most: float
) -> Iterator[Finding]:
    """Yield the queries and the rows that two datasets hold.

    Parameters
    ----------
    datasets : sequence of (Cell, str, ndarray)
        One cell of each dataset, the SHA-256 of its file, and some marks of its rows.
    pooled : sequence of str
        As :func:`part_of` takes them.
    most : float
        Datasets that are read again.
    """
    marked = [
        Marked(cell.dataset_entry.path, cell.dataset, digest, part_of(cell, pooled), marks)
        for cell, digest, marks in datasets
    ]
    read: dict[int, Rows | None] = {}
    for pair in candidates(marked):
        if len({*read, *pair}) > most:
            continue
        for place in pair:
            if place not in read:
                read[place] = _read(datasets[place][0], marked[place])
        later, earlier = read[pair[0]], read[pair[1]]
        if later is not None and earlier is not None:
            yield from _findings(later, earlier)


def _read(cell: Cell, about: Marked) -> Rows | None:
    """Return all rows of a cell's dataset, read again; None if they cannot be."""
    entry = cell.dataset_entry
    with reading_again():
        source = HashedSource(entry.path)
        qrels = readers.read_qrels(source, name=cell.dataset, fractions=True, **entry.options())
        marks = source.row_marks
        if marks is not None and marks.size == (qrels.n_source or qrels.n_rows):
            marks = marks if qrels.order is None else marks[qrels.order]
            about = replace(about, marks=marks)
            return Rows(about.path, about.name, about.digest, about.part, about.marks, qrels)
    return None


def _findings(later: Rows, earlier: Rows) -> Iterator[Finding]:
    """Yield the queries and the rows of one dataset that an earlier one holds too."""
    own, other = later.part, earlier.part
    effect, fix = "", ""
    if own is None or other is None or own.whole != other.whole:
        effect = "both say the same of a system; a model trained on one is too good on the other"
        fix = "take them out of one of the two, or report that they are the same"
    shared = np.intersect1d(later.of_one_query, earlier.of_one_query)
    mine, theirs = later.of_queries(shared), earlier.of_queries(shared)
    same = np.isin(mine, theirs) & (mine != 0)
    severity: Severity | None = None
    if n := int(same.sum()):
        renamed = int((index_in(select(later.qrels.qids, same), earlier.qrels.qids) < 0).sum())
        what = f"{n:,} of {mine.size:,} queries of {later.name} have the same rows as queries of "
        what += f"{earlier.name} ({renamed:,} under another qid)"
        all_same = n == mine.size == theirs.size
        if fix and all_same and not np.array_equal(later.graded(), earlier.graded()):
            what, severity = f"{what}, with other grades", "note"
        some = np.flatnonzero(same)[:EXAMPLES]
        known = _first_of(theirs, mine[some])
        here = later.places(later.qrels.offsets[some])
        there = earlier.places(earlier.qrels.offsets[known])
        qids = texts_at(later.qrels.qids, some), texts_at(earlier.qrels.qids, known)
        each = zip(*qids, there, strict=True)
        examples = [f"query {qid}: {short(place)}, query {its}" for qid, its, place in each]
        yield finding("same-queries", here[0], what, n, examples, severity, effect, fix)
    beyond = np.isin(later.marks, shared) & ~same[later.qrels.row]
    if n := int(beyond.sum()):
        what = f"{n:,} of {beyond.size:,} rows of {later.name} are in {earlier.name} too"
        severity = None if n >= MANY * beyond.size else "note"
        first = np.flatnonzero(beyond)[:EXAMPLES]
        here = later.places(first)
        there = earlier.places(_first_of(earlier.marks, later.marks[first]))
        examples = [f"{short(one)}: {short(two)}" for one, two in zip(here, there, strict=True)]
        yield finding("same-rows", here[0], what, n, examples, severity, effect, fix)


def _first_of(hashes: Array, wanted: Array) -> Ints:
    """Return where each of some hashes is first."""
    return np.array([int((hashes == one).argmax()) for one in wanted.tolist()], np.int64)


def files_named_twice(cells: Iterable[Cell]) -> Iterator[Finding]:
    """Yield each file that is several runs on one dataset, with their names.

    Runs that take different columns of a table, or different ones of its duplicates, differ.
    """
    same: dict[tuple[str, str, str], dict[str, None]] = {}
    for cell in cells:
        options = cell.run_entry.options().items()
        read_by = repr(sorted((name, one) for name, one in options if name != "format"))
        own = (f" {name}={value}" for name, value in cell.of_run.items() if name in cell.columns)
        key = cell.dataset, cell.run_entry.path, read_by
        same.setdefault(key, {})[cell.run + "".join(own)] = None
    for path, names in {(path, tuple(names)): None for (_, path, _), names in same.items()}:
        if len(names) > 1:
            what = f"{len(names):,} run names for this one file"
            yield finding("same-file-twice", path, what, len(names), names)
