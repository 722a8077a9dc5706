"""Which judgements a run belongs to: by its rows, its documents, or where it lies."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from .. import readers
from ..core.tables import Qrels, Run
from ..errors import HarnessError, InputError, first_of
from ..readers import Source
from ..readers.numpy_files import NoArrayError, array_of
from .look import File
from .names import Group

LARGEST = 256 << 20
"""Bytes of a file of which the rows are counted, or the judgements read."""
_COLUMNS = {"trec": (0, 2), "msmarco": (0, 1)}
"""Where a run's line has qid and docno."""


_Rows = Mapping[str, Mapping[str, float]]


class Fit(NamedTuple):
    """The judgements that a run belongs to; `why` says what is wrong or unsure.

    `others` are the patterns of other judgements that it fits as well.
    """

    dataset: int | None
    path: str = ""
    why: str = ""
    others: tuple[str, ...] = ()


class Matcher:
    """Finds the judgements of runs; every file is looked at once.

    Parameters
    ----------
    folder : Path
    datasets : sequence of (Group, str)
        Files of judgements in groups, each with its format.
    """

    def __init__(self, folder: Path, datasets: Sequence[tuple[Group, str]]) -> None:
        self.folder, self.datasets = folder, datasets
        self._rows: dict[str, int | None] = {}
        self._pairs: dict[str, frozenset[tuple[str, str]] | None] = {}
        self._graded: set[str] = set()

    def find(self, run: File, values: Mapping[str, str]) -> Fit:
        """Return where a run belongs.

        Parameters
        ----------
        run : File
        values : mapping of str to str
            Its numbers of fold and seed; judgements of another fold are none of its.
        """
        near: dict[tuple[int, str], tuple[float, int]] = {}
        numbered = ""
        for number, (group, form) in enumerate(self.datasets):
            for path, own in group.values.items():
                shared = own.keys() & values.keys()
                if any(own[name] != values[name] for name in shared):
                    continue
                fits = self._by_rows if run.by_row else self._judged
                score = fits(run, path, form)
                if score and own and not shared:
                    numbered = numbered or path
                elif score:
                    near[number, path] = score, _shared(run.path, path)
        if not near:
            n = _scores(self._count(run.path)) if run.by_row else "other queries or documents"
            why = f"fits {numbered}, and no number in its own name says which fold it is of"
            return Fit(None, why=why if numbered else f"fits no judgements: {n}")
        best = max(near.values())
        fitting = [place for place, score in near.items() if score == best]
        fitting.sort(key=lambda place: place[1] not in self._graded)
        others = sorted({self.datasets[number][0].pattern for number, _ in fitting[1:]})
        why = f"a guess: could also be {first_of(others, 3)}" if others else ""
        return Fit(*fitting[0], why, tuple(others))

    def share_queries(self, paths: Iterable[str]) -> bool:
        """Return whether judgements have queries in common, of those that were read for runs."""
        seen: set[str] = set()
        for path in paths:
            qids = {qid for qid, _ in self._pairs.get(path) or ()}
            if qids & seen:
                return True
            seen |= qids
        return False

    def _by_rows(self, run: File, path: str, form: str) -> float:
        """Return 1 where there are as many scores as rows, 0.1 where that cannot be told."""
        if form not in ("letor", "batch"):
            return 0
        rows, scores = self._count(path), self._count(run.path)
        return 0.1 if rows is None or scores is None else float(rows == scores)

    def _judged(self, run: File, path: str, form: str) -> float:
        """Return the share of judged documents in the first lines; 0.01 where none can be told."""
        pairs = self._judgements(path)
        some = self._retrieved(run)
        if pairs is None or some is None:
            return 0.01
        share = sum(pair in pairs for pair in some) / max(1, len(some))
        if share or form == "letor" or not {one[0] for one in some} & {one[0] for one in pairs}:
            return share
        return 0.001

    def _retrieved(self, run: File) -> list[tuple[str, str]] | None:
        """Return queries and documents of a run, or of its beginning."""
        path = self.folder / run.path
        if run.format not in _COLUMNS:
            rows = _rows(path, readers.read_run)
            return None if rows is None else _pairs(rows)
        qid, docno = _COLUMNS[run.format]
        lines = Source(path).head.decode("utf-8", "replace").splitlines()
        fields = [line.split() for line in lines[:-1] or lines]
        return [(one[qid], one[docno]) for one in fields if len(one) > docno]

    def _count(self, path: str) -> int | None:
        if path not in self._rows:
            self._rows[path] = _count(self.folder / path)
        return self._rows[path]

    def _judgements(self, path: str) -> frozenset[tuple[str, str]] | None:
        if path not in self._pairs:
            rows = _rows(self.folder / path, partial(readers.read_qrels, fractions=True))
            self._pairs[path] = None if rows is None else frozenset(_pairs(rows))
            grades = {grade for row in (rows or {}).values() for grade in row.values()}
            if sum(grade > 0 for grade in grades) > 1:
                self._graded.add(path)
        return self._pairs[path]


def _count(path: Path) -> int | None:
    """Return how many rows a file has; None where that is not looked at, or it cannot be read."""
    if path.stat().st_size > LARGEST or path.suffix == ".npz":
        return None
    if path.suffix == ".npy":
        with contextlib.suppress(NoArrayError, HarnessError):
            return array_of(Source(path).read()).size
        return None
    source = Source(path)
    try:
        with source.explained(), source.open() as stream:
            lines = stream.read().split(b"\n")
    except InputError:  # which harness run and harness check tell
        return None
    return sum(1 for line in lines if line.strip() and not line.startswith(b"#"))


def _scores(n: int | None) -> str:
    return "other rows" if n is None else f"{n} scores"


def _rows(path: Path, read: Callable[..., Qrels | Run]) -> _Rows | None:
    """Return what a file says of the documents of queries: nothing if wrong, None if too large."""
    if path.stat().st_size > LARGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read(path, duplicates="first").to_dict()
    except (HarnessError, OSError):
        return {}


def _pairs(rows: _Rows) -> list[tuple[str, str]]:
    """Return the queries and documents of a file."""
    return [(qid, docno) for qid, row in rows.items() for docno in row]


def _shared(one: str, other: str) -> int:
    """Return how many folders two paths have in common, wherever they stand."""
    folders = [path.split("/")[:-1] for path in (one, other)]
    return len({*folders[0]} & {*folders[1]})
