"""A look at folders: which files are judgements, which are runs, told as the readers tell it."""

from __future__ import annotations

import os
import re
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from .. import readers
from ..config.patterns import natural
from ..core.file_names import readable_name
from ..errors import HarnessError, InputError
from ..readers import Source
from ..readers.format import Head

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
    for kind in ("dataset", "run"):
        test = {
            _beside(one.path)
            for one in found.files
            if one.kind == kind and _TEST.search(one.path.rpartition("/")[2])
        }
        for one in list(found.files):
            name = one.path.rpartition("/")[2]
            if one.kind == kind and _beside(one.path) in test and _NOT_TEST.search(name):
                found.files.remove(one)
                found.aside[one.path] = "not test data"


def _beside(path: str) -> str:
    return path.rpartition("/")[0]
