"""Files below folders -> qrels and runs, in groups, and the qrels of each run, by their paths."""

from __future__ import annotations

import os
import re
import zipfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from .. import readers
from ..core.entries import natural
from ..errors import HarnessError, InputError, Problem
from ..readers.files import readable_name
from ..readers.format import FORMATS, Head
from ..readers.source import Source
from .cells import RESERVED
from .patterns import double_braces

Kind = Literal["dataset", "run"]
MOST = 5000
"""Largest number of files that are read."""
LARGEST = 256 << 20
"""Bytes of a file that is read."""
BY_ROW = ("letor", "batch")
"""Formats of datasets with rows that predictions follow."""
WORDS = ("fold", "seed", "split", "rep", "repetition", "trial", "cv")
SHORT = {"f": "fold", "s": "seed"}
MODEL = "model"
_READ_AS: dict[Kind, Literal["qrels", "run"]] = {"dataset": "qrels", "run": "run"}
_BROKEN = ("truncated", "damaged", "unpacks-too-far")
_FOLDERS = {"__pycache__", "node_modules", "venv", "site-packages"}
_SKIPPED = re.compile(
    r"(readme|license|licence|changelog|source|leaderboard)\b.*"
    r"|.*\.(md|py|sh|ya?ml|ipynb|html?|tex|pdf|png|svg|conf|log|toml|cfg|params\.json|eval|model)"
    r"|.*\.(query|group|weight|position|init)",
    re.I,
)
_JUDGEMENTS = re.compile(r"qrel|judg|label|truth|relevance", re.I)
_NOT_TEST = re.compile(r"(^|[^a-z])(train|val|vali|valid|validation|dev)([^a-z]|$)", re.I)
_TEST = re.compile(r"(^|[^a-z])test([^a-z]|$)", re.I)
_ABOVE = 20
"""Lines that may be a header or comments."""
_NUMBERED = rf"(?<![A-Za-z])({'|'.join(WORDS)})([ _.=-]?)([0-9]+)(?![0-9])"
_PAIR = (
    r"(?<![A-Za-z0-9])([A-Za-z][A-Za-z0-9]*)(=)([^/,=]+?)"
    rf"(?=[/,]|[ _.-](?:[A-Za-z][A-Za-z0-9]*=|(?:{'|'.join([*WORDS, *SHORT])})[ _.-]?[0-9])|$)"
)
"""A name and its value, such as model=gbrt, up to the next name."""
_SETTING = (
    r"(?:(?<=[ _.,-])|(?<![^/])(?=(?:[_,-]?[A-Za-z]+=?[0-9][0-9.e-]*)+/))"
    r"({})(=?)([0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)(?![0-9])"
)
"""A word and its number, such as lr0.1; what a file begins with is the model, as in gbrt2.txt."""
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zstd")
_SUFFIXES = frozenset(
    {suffix for form in FORMATS.values() for suffix in form.suffixes}
    | {".result", ".results", ".predictions", ".out", ".test", ".dat"}
)
_GENERIC = re.compile(r"(scores?|predictions?|preds?|output|input|runs?|results?|test)\b.*", re.I)


@dataclass(frozen=True)
class File:
    """A file of qrels or a run; its path is relative, with slashes."""

    path: str
    kind: Kind
    format: str


@dataclass
class FolderScan:
    """Content of folders: files that can be read, all paths, and files left out with a reason."""

    folder: Path
    files: list[File] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    aside: dict[str, str] = field(default_factory=dict)


def scan_folders(folders: Sequence[Path]) -> FolderScan:
    """Return the qrels and runs below folders.

    Hidden files, results of earlier runs, Git repositories in a folder, and rows for training and
    validation next to test data are skipped.
    """
    folder = folders[0]
    if len(folders) > 1:
        folders = [Path(os.path.abspath(folder)) for folder in folders]
        folder = Path(os.path.commonpath(folders))
    scan = FolderScan(folder, paths=_paths_below(folder, folders))
    for path in scan.paths[:MOST]:
        if path.endswith("/"):
            scan.aside[path] = "a Git repository; to search it, give it as a FOLDER"
        elif readable_name(path) != path:
            scan.aside[readable_name(path)] = "its name is not UTF-8"
        elif not _SKIPPED.fullmatch(path.rpartition("/")[2]):
            try:
                kinds = _kinds_of_file(folder / path)
                scan.files += [File(path, kind, form) for kind, form in kinds]
            except InputError as error:
                scan.aside[path] = error.problems[0].what
    if (n_more := len(scan.paths) - MOST) > 0:
        scan.aside[f"{n_more:,} more files"] = f"only {MOST:,} files are read"
    split = {file: file.path.rpartition("/") for file in scan.files}
    places = {(file.kind, parent) for file, (parent, _, _) in split.items()}
    test = {(file.kind, parts[0]) for file, parts in split.items() if _TEST.search(parts[2])}
    for file, (parent, _, name) in split.items():
        word = _NOT_TEST.search(name) if (file.kind, parent) in test else None
        if (file.kind, _NOT_TEST.sub(r"\1test\3", parent)) in places:  # vali/ next to test/
            word = word or _NOT_TEST.search(parent)
        if word and (file.kind == "run" or file.format in ("letor", "batch")):  # else, queries tell
            scan.files.remove(file)
            data = "training data" if word[2].lower() == "train" else "validation data"
            scan.aside[file.path] = data if file.kind == "dataset" else f"predictions for {data}"
    return scan


def _paths_below(top: Path, folders: Sequence[Path]) -> list[str]:
    """Return all paths below folders; a folder that several links lead to counts once."""
    paths, visited = dict[str, None](), {os.path.realpath(folder) for folder in folders}
    for folder in folders:
        for root, inner, names in os.walk(folder, followlinks=True):
            if {"manifest.json", "leaderboard.csv"} <= {*names}:  # results of harness run
                inner.clear()
                continue
            place = Path(root).relative_to(top)
            if ".git" in {*inner, *names} and root != str(folder):
                inner.clear()
                paths[f"{place.as_posix()}/"] = None
                continue
            shown = (name for name in names if name[0] != ".")
            paths.update(dict.fromkeys((place / name).as_posix() for name in shown))
            subfolders = sorted((name for name in inner if name[0] != "."), key=natural)
            real = {name: os.path.realpath(os.path.join(root, name)) for name in subfolders}
            new = [name for name in subfolders if real[name] not in visited]
            inner[:] = [name for name in new if name not in _FOLDERS]
            visited.update(real.values())
    return sorted(paths, key=natural)


def _reason(error: Exception) -> str:
    """Return the reason why a file is unused, with keys of its entry that would help."""
    if not isinstance(error, HarnessError):
        return str(error)
    problem = error.problems[0]
    keys = re.search(r"\(in a config (.+?)\)", problem.fix)
    return f"{problem.what}; add {keys[1]}" if keys else problem.what


def _kinds_of_file(path: Path) -> list[tuple[Kind, str]]:
    """Return the readings of a file: as judgements, as a run, or (a batch) as both.

    Raises an `InputError` if it cannot be read, or only begins like a run.
    """
    formats: dict[Kind, str] = {}
    reason = ""
    for kind, read_as in _READ_AS.items():
        try:
            formats[kind] = readers.guess_format(Source(path), read_as)
        except (HarnessError, OSError, ValueError) as error:
            reason = _reason(error)
            if isinstance(error, InputError) and error.problems[0].rule in _BROKEN:
                raise
    if not formats:
        raise InputError(Problem(str(path), reason))
    if formats.get("run") == formats.get("dataset") == "batch":
        with zipfile.ZipFile(path) as arrays:
            names = {name.removesuffix(".npy") for name in arrays.namelist()}
        needed: dict[Kind, str] = {"dataset": "relevance", "run": "scores"}
        return [(kind, "batch") for kind, array in needed.items() if array in names]
    if len(formats) == 2:
        is_data = _JUDGEMENTS.search(path.name) or "qrel" in path.parent.name.lower()
        del formats["run" if is_data or formats["dataset"] == "beir" else "dataset"]
    ((kind, form),) = formats.items()
    if form in ("trec", "scores"):
        source, file_format = Source(path), readers.FORMATS[form]
        lines, reads = source.head.split(b"\n"), file_format.is_data(source)
        for number, line in enumerate(lines[:-1] or lines, 1):
            is_above = number <= _ABOVE and reads is not None and not reads(number, line)
            if (
                line.strip()
                and not is_above
                and not file_format.fits(Head("", line), _READ_AS[kind])
            ):
                likely = "a run" if kind == "run" else "qrels"
                message = f"the file looks like {likely} ({form}), but line {number} does not"
                raise InputError(Problem(str(path), message))
    return [(kind, form)]


@dataclass(frozen=True)
class FileGroup:
    """Files that one pattern matches, with the values of its placeholders in each."""

    pattern: str
    values: Mapping[str, Mapping[str, str]]

    @property
    def names(self) -> tuple[str, ...]:
        """The placeholders."""
        return tuple(next(iter(self.values.values())))

    def varying(self, keep: Collection[str] = ()) -> FileGroup:
        """Return the group without the placeholders that have one value, except those to keep."""
        rows = [*self.values.values()]
        names = [name for name in rows[0] if name in keep or len({row[name] for row in rows}) > 1]
        fixed = {k: escape_path(value) for k, value in rows[0].items() if k not in names}
        rest = {path: {k: row[k] for k in names} for path, row in self.values.items()}
        return FileGroup(fill_pattern(self.pattern, fixed), rest)


def escape_path(text: str) -> str:
    """Return a literal path as a pattern."""
    return double_braces(text).replace("$", "$$")


def fill_pattern(pattern: str, values: Mapping[str, str]) -> str:
    """Return a pattern with some placeholders filled in, as patterns; literal braces stay.

    >>> fill_pattern("{{fold}}/a{fold}-{seed}", {"fold": "2"})
    '{{fold}}/a2-{seed}'
    """
    brace = re.compile(r"\{\{|\}\}|\{(\w+)\}")
    return brace.sub(lambda match: values.get(match[1] or "", match[0]), pattern)


def settings_in(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the words whose numbers alone tell some paths apart, without those of folds and seeds.

    >>> settings_in(["bm25-lr0.1-seed1.txt", "bm25-lr1e-3-seed1.txt", "bm25-lr0.1-seed2.txt"])
    ('lr',)
    """
    numbers: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for path in paths:
        for match in re.finditer(_SETTING.format("[A-Za-z]+"), path):
            numbers[match[1].lower(), path[: match.start(3)], path[match.end(3) :]].add(match[3])
    words = dict.fromkeys(word for (word, *_), values in numbers.items() if len(values) > 1)
    return tuple(word for word in words if word not in (*WORDS, *SHORT, MODEL, "run", "dataset"))


def short_in(runs: Collection[str], data: Iterable[str]) -> tuple[str, ...]:
    """Return the letters of fold and seed, if no run has a fold but all after f are the data's.

    Of runs with a fold, the letter s alone is short, before two or more numbers. Numbers with a
    fraction after s are no seeds but a setting.

    >>> short_in(["svm-f1-s0.txt", "svm-f2-s0.txt"], ["fold1.txt", "fold2.txt"])
    ('f', 's')
    >>> short_in(["svm/fold1.s3.txt", "svm/fold1.s14.txt"], ["fold1.txt"])
    ('s',)
    """

    def numbers(paths: Iterable[str], letters: Sequence[str] = ()) -> list[Mapping[str, str]]:
        groups = group_by_number(paths, letters)
        return [values for group in groups for values in group.values.values()]

    named = numbers(runs, [*SHORT])
    folds, full, short = (
        {values["fold"] for values in found if "fold" in values}
        for found in (numbers(data), numbers(runs), named)
    )
    seeds = {values["seed"] for values in named if "seed" in values}
    are_seeds = all(map(str.isdecimal, seeds))
    if full:
        return ("s",) if full <= folds and are_seeds and len(seeds) > 1 else ()
    if not short or not short <= folds:
        return ()
    return tuple(SHORT) if are_seeds else ("f",)


def group_by_number(paths: Iterable[str], settings: Sequence[str] = ()) -> list[FileGroup]:
    """Return the paths in groups that differ in folds, seeds, settings and values after = only.

    >>> [group.pattern for group in group_by_number(["svm/fold1.txt", "svm/fold2.txt", "bm25.run"])]
    ['svm/fold{fold}.txt', 'bm25.run']
    >>> [group.pattern for group in group_by_number(["svm-c0.1.txt", "svm-c10.txt"], ["c"])]
    ['svm-c{c}.txt']
    >>> [group.pattern for group in group_by_number(["fold=1,model=svm.txt"])]
    ['fold={fold},model={model}.txt']
    """
    form = re.compile("|".join([_NUMBERED, *map(_SETTING.format, settings), _PAIR]), re.I)
    groups: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for path in paths:
        values: dict[str, str] = {}

        def placeholder(match: re.Match[str], values: dict[str, str] = values) -> str:
            word, between, number = (part for part in match.groups() if part is not None)
            name = word.lower()
            name = SHORT.get(name, name) if name in settings else name
            is_same = name not in RESERVED and values.setdefault(name, number) == number
            return f"{word}{between}{{{name}}}" if is_same else match[0]

        stem, ending = map(escape_path, stem_of(path))
        groups[form.sub(placeholder, stem) + ending][path] = values
    return [FileGroup(pattern, values) for pattern, values in groups.items()]


def model_families(groups: Sequence[FileGroup], dataset: str = "") -> list[FileGroup]:
    """Return the groups with those that differ in one part of the path joined: ``{model}``.

    What all models of a family begin or end with belongs to their names, unless it is a word such
    as `run`, or one of the path of their `dataset`.

    >>> some = group_by_number(["gbrt/fold1.txt", "gbrt/fold2.txt", "svm/fold1.txt", "one.run"])
    >>> [group.pattern for group in model_families(some)]
    ['{model}/fold{fold}.txt', 'one.run']
    """
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, group in enumerate(groups):
        for slot in _model_slots(group.pattern):
            places[slot].append(number)
    left = dict.fromkeys(range(len(groups)))
    joined: dict[int, FileGroup] = {}
    while left:
        sizes = {slot: sum(n in left for n in numbers) for slot, numbers in places.items()}
        best = max(sizes, key=lambda slot: (sizes[slot], _slot_rank(slot)), default=None)
        if best is None or sizes[best] < 2:
            break
        numbers = [number for number in places.pop(best) if number in left]
        joined[numbers[0]] = _join_family(best, [groups[number] for number in numbers], dataset)
        for number in numbers:
            del left[number]
    joined |= {number: groups[number] for number in left}
    return [joined[number] for number in sorted(joined)]


def stem_of(name: str) -> tuple[str, str]:
    """Return a file's name in two: ``("bm25", ".run.gz")``; other dots are part of a name."""
    stem, ending = name, ""
    for endings in (_COMPRESSED, _SUFFIXES):
        head, suffix = os.path.splitext(stem)
        if suffix.lower() in endings and head:
            stem, ending = head, suffix + ending
    return stem, ending


def _model_slots(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the text before and after each part of a pattern that may be a model's name."""
    parts = [] if f"{{{MODEL}}}" in pattern else pattern.split("/")
    for place, piece in enumerate(parts):
        before = "".join(f"{part}/" for part in parts[:place])
        if place < len(parts) - 1:
            if "{" not in piece:
                yield before, "/" + "/".join(parts[place + 1 :])
            continue
        stem, suffix = stem_of(piece)
        if "{" not in stem:
            yield before, suffix
        else:  # gbrt-fold{fold}: what is before the first placeholder's word
            word = re.match(r"(.+?)([_.,-][A-Za-z]*[_.=-]?\{.*)", stem)
            if word is not None and "{" not in word[1]:
                yield before, word[2] + suffix


def _slot_rank(slot: tuple[str, str]) -> tuple[bool, bool]:
    """Prefer names of files to those of folders, unless the files are called scores or the like."""
    file = slot[1].rpartition("/")[2] if "/" in slot[1] else ""
    return not _GENERIC.fullmatch(file), not file


def _join_family(slot: tuple[str, str], groups: Sequence[FileGroup], dataset: str) -> FileGroup:
    """Return groups that differ in one slot as one, with ``{model}`` there."""
    before, after = slot
    names = [group.pattern[len(before) : len(group.pattern) - len(after)] for group in groups]
    words = _words_of_path(dataset)

    def general(part: str) -> str:
        """Return a part of all names if it only has general words and those of the data."""
        own = (word for word in _words_of_path(part) - words if not _GENERIC.fullmatch(word))
        return "" if any(own) else part

    head = general(_common_beginning(names))
    tail = general(_common_beginning([name[len(head) :][::-1] for name in names])[::-1])
    values = {
        path: {MODEL: unescape_path(name[len(head) : len(name) - len(tail)]), **captured}
        for name, group in zip(names, groups, strict=True)
        for path, captured in group.values.items()
    }
    return FileGroup(f"{before}{head}{{{MODEL}}}{tail}{after}", values)


def _words_of_path(path: str) -> set[str]:
    """Return folders and words of a path, in small letters, without its ending.

    >>> sorted(_words_of_path("my_data/qrels.covid-Round2.txt"))
    ['covid', 'data', 'my', 'my_data', 'qrels', 'round2']
    """
    *folders, name = path.lower().split("/")
    return {*re.split(r"[/._-]+", "/".join([*folders, stem_of(name)[0]])), *folders} - {""}


def _common_beginning(names: Sequence[str]) -> str:
    """Return the common beginning of names, up to a sign between words."""
    head = re.match(r"(.*[._-])?", os.path.commonprefix(names))  # noqa: RUF071 - of letters
    return head[0] if head and all(len(head[0]) < len(name) for name in names) else ""


def unescape_path(pattern: str) -> str:
    """Return the literal path of a pattern without placeholders."""
    return pattern.replace("$$", "$").replace("{{", "{").replace("}}", "}")


class Matcher:
    """Finds the qrels of runs among groups of files, each with its format, by their paths."""

    def __init__(self, folder: Path, groups: Sequence[tuple[FileGroup, str]]) -> None:
        self.folder, self.groups = folder, groups
        self._read_qrels = cache(
            lambda path: readers.read_qrels(Source(folder / path), duplicates="first")
        )

    def find(self, run: File, values: Mapping[str, str]) -> tuple[int, str, tuple[int, ...]]:
        """Return group and path of the qrels nearest to a run, and other groups as near.

        Its numbers of fold and seed must be those of the qrels, and predictions need as many rows.
        Of qrels that fit, those whose path shares most words with the run's are near; of these,
        test data come first. Raises InputError if none fit.
        """
        by_row, words = readers.FORMATS[run.format].needs_dataset, _words_of_path(run.path)
        fitting: dict[tuple[int, str], tuple[int, bool]] = {}
        reasons = {3: "no qrels"}  # the smallest number says most
        for number, (group, form) in enumerate(self.groups):
            for path, captured in group.values.items():
                shared = captured.keys() & values.keys()
                if differing := [name for name in shared if captured[name] != values[name]]:
                    reasons[2] = f"no qrels of {differing[0]} {values[differing[0]]}"
                elif by_row and form not in BY_ROW:
                    reasons[2] = "no rows to follow"
                elif not shared and group.varying().names:
                    reasons[1] = f"no number in its path gives its {group.names[0]}"
                elif misfit := self._misfit(run, path):
                    reasons[0] = f"fits no qrels: {misfit}"
                else:
                    n_shared = len(words & _words_of_path(path))
                    fitting[number, path] = n_shared, by_row or form not in BY_ROW
        if not fitting:
            raise InputError(Problem(run.path, reasons[min(reasons)]))
        best = max(fitting.values())
        near = [place for place, nearness in fitting.items() if nearness == best]
        number, path = max(near, key=lambda at: (bool(_TEST.search(at[1])), -at[1].count("/")))
        return number, path, tuple({index: 0 for index, _ in near if index != number})

    def _misfit(self, run: File, path: str) -> str:
        """Reason why a run does not fit qrels; runs with a docno on each line are not read."""
        files = self.folder / run.path, self.folder / path
        if run.format in ("trec", "msmarco") or any(f.stat().st_size > LARGEST for f in files):
            return ""
        try:
            readers.read_run(Source(files[0]), duplicates="first", dataset=self._read_qrels(path))
        except HarnessError as error:
            return _reason(error)
        return ""
