"""Files below folders -> judgements and runs, and which judgements each run belongs to."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Literal, NamedTuple

from .. import readers as readers
from ..core.tables import Qrels, Run
from ..core.text import readable_name
from ..errors import HarnessError, InputError, first_of
from ..readers.format import Head
from ..readers.npy import NoArrayError, array_of
from ..readers.source import Source
from .patterns import natural

Kind = Literal["dataset", "run"]
MOST = 5000
"""Files that are looked at."""
_FOLDERS = {"__pycache__", "node_modules", "venv", "site-packages"}
_PASSED_OVER = re.compile(
    r"(readme|license|licence|changelog|source|leaderboard)\b.*"
    r"|.*\.(md|py|sh|ya?ml|ipynb|html?|tex|pdf|png|svg|conf|log|toml|cfg|params\.json|eval|model)"
    r"|.*\.(query|group|weight|position|init)",
    re.I,
)
_JUDGEMENTS = re.compile(r"qrel|judg|label|truth|relevance", re.I)
_NOT_TEST = re.compile(r"(^|[^a-z])(train|val|vali|valid|validation|dev)([^a-z]|$)", re.I)
_TEST = re.compile(r"(^|[^a-z])test([^a-z]|$)", re.I)
_BROKEN = ("truncated", "damaged", "unpacks-too-far")
"""Rules of packed files that nobody can tell the format of."""
_LINE_BY_LINE = ("trec", "scores")
"""Formats whose every line says what it is; others are read wholly before a run of them is used."""


@dataclass(frozen=True)
class File:
    """A file that holds judgements or a run.

    Parameters
    ----------
    path : str
        Relative to the folder of the look, with slashes.
    kind : {"dataset", "run"}
    format : str
    """

    path: str
    kind: Kind
    format: str

    @property
    def by_row(self) -> bool:
        """Whether it is a run that follows the rows of its dataset."""
        return self.kind == "run" and readers.FORMATS[self.format].needs_dataset


@dataclass
class Look:
    """What folders hold.

    Parameters
    ----------
    folder : Path
        The folder looked at, or of several the one that they all are in.
    """

    folder: Path
    files: list[File] = field(default_factory=list)
    every: list[str] = field(default_factory=list)
    """All paths, whatever the files hold."""
    aside: dict[str, str] = field(default_factory=dict)
    """Files that could be of use, and why they were left out."""


def look(folders: Sequence[Path]) -> Look:
    """Return the judgements and runs below folders.

    Hidden files, results of earlier runs, and training and validation data that stand beside test
    data are passed over.
    """
    folder = folders[0]
    if len(folders) > 1:
        folders = [Path(os.path.abspath(one)) for one in folders]
        folder = Path(os.path.commonpath(folders))
    found = Look(folder)
    for path in _paths(folder, folders):
        found.every.append(path)
        name = path.rpartition("/")[2]
        if readable_name(path) != path:
            found.aside[readable_name(path)] = "its name is not UTF-8"
            continue
        is_one = os.path.isfile(folder / path)  # nobody may ever write to a pipe
        if is_one and not _PASSED_OVER.fullmatch(name) and len(found.every) <= MOST:
            try:
                kinds = _kinds(folder / path, name)
            except InputError as error:
                found.aside[path] = error.problems[0].what
                continue
            for kind, form in kinds:
                if odd := _odd_line(folder / path, kind, form):
                    likely = "a run" if kind == "run" else "judgements"
                    found.aside[path] = f"looks like {likely} ({form}), but its line {odd} is none"
                else:
                    found.files.append(File(path, kind, form))
    _set_training_aside(found)
    return found


def _paths(top: Path, folders: Sequence[Path]) -> list[str]:
    """Return all paths below folders; folders elsewhere that are linked into them count once."""
    paths, known = dict[str, None](), set[str]()
    given = [os.path.realpath(folder) for folder in folders]

    def is_new(path: str) -> bool:
        target = os.path.realpath(path)
        if os.path.islink(path) and any(
            os.path.commonpath((target, one)) in (target, one) for one in given
        ):
            return False  # it is found under its own name, or holds all that is looked at
        new = target not in known
        known.add(target)
        return new

    for folder in folders:
        for root, inner, names in os.walk(folder, followlinks=True):
            if {"manifest.json", "leaderboard.csv"} <= {*names}:  # results of harness run
                inner.clear()
                continue
            kept = (one for one in inner if one[0] != "." and one not in _FOLDERS)
            inner[:] = [one for one in sorted(kept, key=natural) if is_new(os.path.join(root, one))]
            here = Path(root).relative_to(top)
            paths.update(dict.fromkeys((here / one).as_posix() for one in names if one[0] != "."))
    return sorted(paths, key=natural)


def _kinds(path: Path, name: str) -> list[tuple[Kind, str]]:
    """Return what a file can be read as: nothing, judgements, a run, or (a batch) both.

    Raises an :class:`InputError` where it cannot be unpacked.
    """
    formats: dict[Kind, str] = {}
    kinds: dict[Kind, Literal["qrels", "run"]] = {"dataset": "qrels", "run": "run"}
    for kind, of in kinds.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                formats[kind] = readers.guess_format(path, of)
        except (HarnessError, OSError, ValueError) as error:
            if isinstance(error, InputError) and error.problems[0].rule in _BROKEN:
                raise
    if len(formats) == 2 and formats["run"] == "batch":
        with zipfile.ZipFile(path) as arrays:
            held = {name.removesuffix(".npy") for name in arrays.namelist()}
        needed: dict[Kind, str] = {"dataset": "relevance", "run": "scores"}
        return [(kind, "batch") for kind, array in needed.items() if array in held]
    if len(formats) == 2:
        likely: Kind = "dataset" if _JUDGEMENTS.search(name) else "run"
        return [(likely, formats[likely])]
    return list(formats.items())


def _odd_line(path: Path, kind: Kind, form: str) -> int:
    """Return the number of the first line that is none of a format, of the beginning; else 0."""
    if form not in _LINE_BY_LINE:
        return 0
    lines, looks = Source(path).head.split(b"\n"), readers.FORMATS[form].looks
    for number, line in enumerate(lines[:-1] or lines, 1):
        head = Head("", line)
        if head.lines and not looks(head, "qrels" if kind == "dataset" else "run"):
            return number
    return 0


def _set_training_aside(found: Look) -> None:
    """Leave out training and validation data, and predictions for them, beside test data."""
    split = {one: one.path.rpartition("/") for one in found.files}
    test = {(one.kind, way[0]) for one, way in split.items() if _TEST.search(way[2])}
    for one, (folder, _, name) in split.items():
        if (one.kind, folder) in test and _NOT_TEST.search(name):
            found.files.remove(one)
            found.aside[one.path] = "not test data"


@dataclass(frozen=True)
class Group:
    """Files that one pattern stands for.

    Parameters
    ----------
    pattern : str
        The path with placeholders; literal braces are doubled.
    values : mapping of path to mapping
        What the placeholders are in each file.
    """

    pattern: str
    values: Mapping[str, Mapping[str, str]]

    @property
    def names(self) -> tuple[str, ...]:
        """The placeholders."""
        return tuple(next(iter(self.values.values())))


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
        self._graded: set[str] = set()
        self._count = cache(lambda path: _count(folder / path))
        self._pairs: dict[str, frozenset[tuple[str, str]] | None] = {}

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
            n = self._count(run.path) if run.by_row else None
            what = "rows" if run.by_row else "queries or documents"
            misfit = f"other {what}" if n is None else f"{n} scores"
            why = f"fits {numbered}, and no number in its own name says which fold it is of"
            return Fit(None, why=why if numbered else f"fits no judgements: {misfit}")
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
