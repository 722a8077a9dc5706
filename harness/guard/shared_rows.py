"""Queries and rows that several datasets of a config hold, told by the features of their rows.

Which datasets may share rows is told by marks that their reader took; only then are the features
of these rows read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from .. import readers as readers
from ..config.cells import Cell
from ..core.arrow import cast, index_in, select, unique
from ..core.hashing import splitmix64
from ..core.ragged import Array, Ints
from ..core.systems import whole_name
from ..core.tables import Qrels
from ..errors import Finding, Severity
from ..readers import letor as rowhash
from ..readers.build import find_lines
from ..readers.letor import is_data, of_kept
from ..readers.source import HashedSource, Source
from .lines import reading_again
from .parts import EXAMPLES, texts_at
from .registry import finding, without_folders

_FOLD = re.compile("fold|split|part", re.IGNORECASE)
"""Names of placeholders whose values are parts of one dataset."""
_SPLIT = re.compile("split", re.IGNORECASE)
"""Those whose values may be train, vali and test where another says the fold."""
_NUMBERS = ("k", "n", "i")
"""Those that are such where the values are numbers."""
_FOLD_NAME = re.compile(r"(.*(?:fold|split|part)[-_ ]?)([0-9]+)(.*)", re.IGNORECASE | re.DOTALL)
"""Names of parts that a config lists one by one."""


class Part(NamedTuple):
    """A part of a dataset: what all of its parts share, and which one it is."""

    whole: str
    name: str


def part_of(cell: Cell, pooled: Sequence[str]) -> Part | None:
    """Return which part of what a cell's dataset is; None where it is whole.

    Told by the placeholders of its entry, as {fold}, or {k} where it is a number and
    the dataset one for learning to rank; or by a name
    that is written out, such as fold1. Where others are captured beside, as {collection}, each of
    their values is a dataset of its own.
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


def pooled_into(cell: Cell, pooled: Sequence[str]) -> str:
    """Return what a cell's dataset is pooled into with others, nothing where it is not.

    `pooled` are the placeholders that the config's summary pools.
    """
    if not any(name in cell.of_dataset for name in pooled):
        return ""
    return whole_name(cell.dataset_key, cell.columns, pooled)


class PooledQueries:
    """Whether datasets that are pooled share queries, as they become known one by one.

    Attributes
    ----------
    shared : bool
        Whether two of those that were added do.
    """

    def __init__(self, pooled: Sequence[str]) -> None:
        self.shared = False
        self._pooled = pooled
        self._parts: dict[str, dict[str, pa.Array]] = {}

    def add(self, cell: Cell, qids: pa.Array) -> None:
        """Add the queries of a cell's dataset; nothing is done where they are known."""
        whole = pooled_into(cell, self._pooled)
        parts = self._parts.setdefault(whole, {})
        if whole and cell.dataset_entry.path not in parts:
            parts[cell.dataset_entry.path] = cast(qids, pa.large_string())
            every = pa.concat_arrays([*parts.values()])
            self.shared = self.shared or len(unique(every)) < len(every)


def _is_part(cell: Cell, name: str, pooled: Sequence[str]) -> bool:
    numbered = name in _NUMBERS and cell.of_dataset[name].isdecimal()
    is_letor = cell.dataset_entry.format == "letor"
    return name in pooled or bool(_FOLD.search(name)) or (numbered and is_letor)


MANY = 0.01
"""Share of the rows from which on those in common are a warning: fewer may be chance, where there
are few features."""
_OTHERS = (
    "what one dataset says of a system, the other says again; and where a model was trained on one "
    "of them, values on the other are too high"
)
_TAKE_OUT = "take them out of one of the two, or say that they are the same"


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
    """The same with all marks, query by query, and what queries they are of.

    Parameters
    ----------
    qids, offsets, order
        As the dataset has them.
    grades : ndarray
    """

    qids: pa.Array
    offsets: Ints
    order: Ints | None
    grades: Array

    @classmethod
    def of(cls, about: Marked, qrels: Qrels) -> Rows | None:
        """Return the rows of judgements whose marks `about` has in the order of the file."""
        marks = about.marks
        if marks.size != (qrels.n_rows if qrels.n_source is None else qrels.n_source):
            return None
        marks = marks if qrels.order is None else marks[qrels.order]
        return cls(
            about.path, about.name, about.digest, about.part, marks,
            qrels.qids, qrels.offsets, qrels.order, qrels.numbers,
        )  # fmt: skip

    @cached_property
    def telling(self) -> Array:
        """The marks that stand in one query alone: rows that several hold are alike by chance."""
        return _of_one_query(self, self.marks)


def candidates(datasets: Sequence[Marked]) -> list[tuple[int, int]]:
    """Return the pairs of datasets, by place, that should share no row and have a mark in common.

    Parts of one dataset should not, nor should others: but for files of the same bytes, of which
    that is said, and for parts of different names, as the training rows of fold 1 are the test rows
    of fold 2.
    """
    distinct = [one.telling if isinstance(one, Rows) else np.unique(one.marks) for one in datasets]
    marks = np.concatenate([np.zeros(0, np.uint64), *distinct])
    owner = np.repeat(np.arange(len(datasets)), [one.size for one in distinct])
    order = np.argsort(marks, kind="stable")
    marks, owner = marks[order], owner[order]
    found: set[tuple[int, int]] = set()
    for further in range(1, len(datasets)):
        same = marks[further:] == marks[:-further]
        if not same.any():
            break
        both = np.unique(np.stack([owner[:-further][same], owner[further:][same]]), axis=1)
        found |= {*map(tuple, both.T.tolist())}
    return sorted(
        (later, earlier) for earlier, later in found if _apart(datasets[earlier], datasets[later])
    )


def _apart(one: Marked, other: Marked) -> bool:
    """Whether two datasets should have no row in common."""
    if one.path == other.path or one.digest == other.digest:
        return False
    if one.part is None or other.part is None or one.part.whole == other.part.whole:
        return True
    return one.part.name == other.part.name


def shared_rows_of_cells(
    cells: Sequence[Cell], digests: Sequence[str], kept: Sequence[str],
    pooled: Sequence[str], most: int,
) -> Iterator[Finding]:  # fmt: skip
    """Yield the same as :func:`findings` of every pair, by marks that were kept of each dataset.

    Parameters
    ----------
    cells : sequence of Cell
        One of each dataset.
    digests, kept : sequence of str
        SHA-256 of its file, and :func:`~harness.readers.letor.kept` of its rows.
    pooled : sequence of str
        As :func:`~harness.guard.shared_rows.part_of` takes them.
    most : int
        Datasets that are read again.
    """
    marked = [
        Marked(cell.dataset_entry.path, cell.dataset, digest, part_of(cell, pooled), of_kept(text))
        for cell, digest, text in zip(cells, digests, kept, strict=True)
    ]
    read: dict[int, Rows | None] = {}
    for pair in candidates(marked):
        if len({*read, *pair}) > most:
            continue
        for place in pair:
            if place not in read:
                read[place] = _read(cells[place], marked[place])
        later, earlier = read[pair[0]], read[pair[1]]
        if later is not None and earlier is not None:
            yield from findings(later, earlier)


def _read(cell: Cell, about: Marked) -> Rows | None:
    """Return all rows of a cell's dataset, read again; None where they cannot be."""
    entry = cell.dataset_entry
    with reading_again():
        source = HashedSource(entry.path)
        qrels = readers.read_qrels(source, name=cell.dataset, fractions=True, **entry.options())
        if source.row_marks is not None:
            return Rows.of(replace(about, marks=source.row_marks), qrels)
    return None


def findings(later: Rows, earlier: Rows) -> Iterator[Finding]:
    """Yield the queries and the rows of one dataset that an earlier one holds too."""
    if not np.isin(later.telling, earlier.telling).any():
        return
    rows, others = later.marks, earlier.marks
    own, other = later.part, earlier.part
    folds = own is not None and other is not None and own.whole == other.whole
    paths = [later.path, earlier.path]
    effect, fix = ("", "") if folds else (_OTHERS, _TAKE_OUT)
    shared = np.intersect1d(_of_one_query(later, rows), _of_one_query(earlier, others))
    mine, theirs = _queries(later, rows, shared), _queries(earlier, others, shared)
    same = np.isin(mine, theirs) & (mine != 0)
    n = int(same.sum())
    if n:
        qids = select(later.qids, same)
        renamed = int((index_in(qids, earlier.qids) < 0).sum())
        again = f", {renamed:,} of them under another qid" if renamed else ""
        what = (
            f"{n:,} of {len(later.qids):,} queries of {later.name} hold the same rows as queries "
            f"of {earlier.name}{again}"
        )
        severity: Severity | None = None
        if (
            not folds
            and n == mine.size == theirs.size
            and not _same_grades(later, rows, earlier, others)
        ):
            what += ", with other grades"
            severity = "note"
        some = np.flatnonzero(same)[:EXAMPLES]
        known = _first_of(theirs, mine[some])
        here = _places(later, later.offsets[some])
        there = _places(earlier, earlier.offsets[known])
        names = zip(*(texts_at(one.qids, at) for one, at in ((later, some), (earlier, known))),
                    strict=True)  # fmt: skip
        examples = [
            f"query {qid}: {file}" + (f", query {its}" if its != qid else "")
            for (qid, its), file in zip(names, without_folders(there, paths), strict=True)
        ]
        yield finding("same-queries", here[0], what, n, examples, severity, effect, fix)
    beyond = np.isin(rows, shared) & ~np.repeat(same, np.diff(later.offsets))
    n = int(beyond.sum())
    if n:
        what = f"{n:,} of {rows.size:,} rows of {later.name} stand in {earlier.name} too"
        severity = None if n >= MANY * rows.size else "note"
        first = np.flatnonzero(beyond)[:EXAMPLES]
        here = _places(later, first)
        there = _places(earlier, _first_of(others, rows[first]))
        examples = [
            f"line {place.rpartition(':')[2]}: {file}"
            for place, file in zip(here, without_folders(there, paths), strict=True)
        ]
        yield finding("same-rows", here[0], what, n, examples, severity, effect, fix)


def _first_of(hashes: Array, wanted: Array) -> Ints:
    """Return where each of some hashes stands first."""
    return np.array([int((hashes == one).argmax()) for one in wanted.tolist()], np.int64)


def _places(one: Rows, rows: Ints) -> list[str]:
    """Return the file and the line of some rows; the file is read again as far as the last."""
    at = rows if one.order is None else one.order[rows]
    lines = find_lines(Source(one.path), dict.fromkeys(at.tolist(), ()), is_data, whole=True)
    return [f"{one.path}:{lines[row]}" for row in at.tolist()]


def _same_grades(one: Rows, rows: Array, other: Rows, others: Array) -> bool:
    """Whether queries of the same rows have the same grades."""

    def hashed(of: Rows, found: Array) -> Array:
        with_grades = found ^ splitmix64(of.grades.astype(np.float64).view(np.uint64))
        return np.sort(rowhash.of_queries(with_grades, of.offsets))

    return np.array_equal(hashed(one, rows), hashed(other, others))


def _queries(one: Rows, rows: Array, shared: Array) -> Array:
    """Return a hash of each query's rows; 0 where none of them is `shared`, or all are alike."""
    query = np.repeat(np.arange(one.offsets.size - 1), np.diff(one.offsets))
    found = rowhash.of_queries(rows, one.offsets)
    known = np.bincount(query[np.isin(rows, shared)], minlength=found.size) > 0
    several = np.zeros(found.size, dtype=bool)
    several[query[1:][(query[1:] == query[:-1]) & (rows[1:] != rows[:-1])]] = True
    return np.where(known & several, found, np.uint64(0))


def _of_one_query(one: Rows, rows: Array) -> Array:
    """Return the hashes, or the marks, that stand in one query alone, each once."""
    query = np.repeat(np.arange(one.offsets.size - 1), np.diff(one.offsets))
    order = np.argsort(rows, kind="stable")
    rows, query = rows[order], query[order]
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
    alone = np.minimum.reduceat(query, starts) == np.maximum.reduceat(query, starts)
    found: Array = rows[starts][alone]
    return found


_SAME_VALUES = {"format"}
"""Options of an entry that do not change which rows and columns are taken."""


def files_named_twice(cells: Iterable[Cell]) -> Iterator[Finding]:
    """Yield each file that is several runs on one dataset, with their names.

    One run whose file holds the queries of several datasets is no such file; nor are runs that
    take different columns of a table, or different ones of its duplicates.

    Parameters
    ----------
    cells : iterable of Cell
        All of them, those that could not be read too.
    """
    same: dict[tuple[str, str, str], dict[str, None]] = {}
    for cell in cells:
        options = cell.run_entry.options().items()
        read_by = repr(sorted((name, one) for name, one in options if name not in _SAME_VALUES))
        key = cell.dataset, cell.run_entry.path, read_by
        same.setdefault(key, {})[_name(cell)] = None
    found = {(path, tuple(names)): None for (_, path, _), names in same.items()}
    for path, names in found:
        if len(names) > 1:
            what = f"{len(names):,} names of runs stand for this one file"
            yield finding("same-file-twice", path, what, len(names), names)


def _name(cell: Cell) -> str:
    """Return what a run is called: ``gbrt seed=2``."""
    own = (f" {name}={value}" for name, value in cell.of_run.items() if name in cell.columns)
    return cell.run + "".join(own)
