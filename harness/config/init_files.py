"""Files below folders -> qrels and runs, in groups, and the qrels of each run."""

from __future__ import annotations

import contextlib
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
from ..core.qrels_and_runs import Qrels
from ..errors import HarnessError, InputError, Problem, first_of
from ..readers.files import readable_name
from ..readers.format import FORMATS, Head
from ..readers.source import Source
from .patterns import double_braces, natural

Kind = Literal["dataset", "run"]
MOST = 5000
"""Files that are looked at."""
LARGEST = 256 << 20
"""Bytes of a file that is read."""
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
_COLUMNS = {"trec": (0, 2), "msmarco": (0, 1)}
"""Columns of qid and docno in a run's line."""
_ABOVE = 20
"""Lines that may be a header or comments."""
_NUMBERED = rf"(?<![A-Za-z])({'|'.join(WORDS)})([ _.-]?)([0-9]+)(?![0-9])"
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

    Hidden files, results of earlier runs, and rows for training and validation next to test data
    are skipped.
    """
    folder = folders[0]
    if len(folders) > 1:
        folders = [Path(os.path.abspath(folder)) for folder in folders]
        folder = Path(os.path.commonpath(folders))
    scan = FolderScan(folder, paths=_paths_below(folder, folders))
    for path in scan.paths[:MOST]:
        if readable_name(path) != path:
            scan.aside[readable_name(path)] = "its name is not UTF-8"
        elif not _SKIPPED.fullmatch(path.rpartition("/")[2]):
            try:
                scan.files += [
                    File(path, kind, form) for kind, form in _kinds_of_file(folder / path)
                ]
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
            paths.update(
                dict.fromkeys((place / name).as_posix() for name in names if name[0] != ".")
            )
            subfolders = sorted((name for name in inner if name[0] != "."), key=natural)
            real = {name: os.path.realpath(os.path.join(root, name)) for name in subfolders}
            inner[:] = [
                name for name in subfolders if name not in _FOLDERS and real[name] not in visited
            ]
            visited.update(real.values())
    return sorted(paths, key=natural)


def _kinds_of_file(path: Path) -> list[tuple[Kind, str]]:
    """Return the readings of a file: as judgements, as a run, or (a batch) as both.

    Raises an `InputError` if it cannot be read, or only begins like a run.
    """
    formats: dict[Kind, str] = {}
    reason = ""
    for kind, read_as in _READ_AS.items():
        try:
            formats[kind] = readers.guess_format(path, read_as)
        except (HarnessError, OSError, ValueError) as error:
            reason = error.problems[0].what if isinstance(error, HarnessError) else str(error)
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
        source, fits = Source(path), readers.FORMATS[form].fits
        above = _other_lines(source, form)
        lines = source.head.split(b"\n")
        for number, line in enumerate(lines[:-1] or lines, 1):
            head = Head("", line)
            if head.lines and number not in above and not fits(head, _READ_AS[kind]):
                likely = "a run" if kind == "run" else "qrels"
                message = f"the file looks like {likely} ({form}), but line {number} does not"
                raise InputError(Problem(str(path), message))
    return [(kind, form)]


def _other_lines(source: Source, form: str) -> list[int]:
    """Return the numbers of the first lines that the reader of a format does not take as rows."""
    reads = readers.FORMATS[form].is_data(source)
    lines = source.head.split(b"\n")[:_ABOVE]
    return [n for n, line in enumerate(lines, 1) if line.strip() and reads and not reads(n, line)]


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
        single = {
            name: escape_path(value)
            for name, value in rows[0].items()
            if name not in keep and all(row[name] == value for row in rows)
        }
        rest = {
            path: {name: value for name, value in captured.items() if name not in single}
            for path, captured in self.values.items()
        }
        return FileGroup(fill_pattern(self.pattern, single), rest)


def escape_path(text: str) -> str:
    """Return a literal path as a pattern."""
    return double_braces(text).replace("$", "$$")


def fill_pattern(pattern: str, values: Mapping[str, str]) -> str:
    """Return a pattern with some placeholders filled in, as patterns; literal braces stay.

    >>> fill_pattern("{{fold}}/a{fold}-{seed}", {"fold": "2"})
    '{{fold}}/a2-{seed}'
    """
    return re.sub(
        r"\{\{|\}\}|\{(\w+)\}", lambda match: values.get(match[1] or "", match[0]), pattern
    )


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

    >>> short_in(["svm-f1-s0.txt", "svm-f2-s0.txt"], ["fold1.txt", "fold2.txt"])
    ('f', 's')
    """
    folds, full, short = (
        {
            fold
            for group in groups
            for values in group.values.values()
            if (fold := values.get("fold"))
        }
        for groups in (
            group_by_number(data),
            group_by_number(runs),
            group_by_number(runs, [*SHORT]),
        )
    )
    named = [
        values for group in group_by_number(runs, [*SHORT]) for values in group.values.values()
    ]
    are_seeds = all(values.get("seed", "0").isdecimal() for values in named)  # s0.5 is a setting
    return tuple(SHORT) if short and short <= folds and are_seeds and not full else ()


def group_by_number(paths: Iterable[str], settings: Sequence[str] = ()) -> list[FileGroup]:
    """Return the paths in groups that differ in numbers of folds, seeds and settings only.

    >>> [group.pattern for group in group_by_number(["svm/fold1.txt", "svm/fold2.txt", "bm25.run"])]
    ['svm/fold{fold}.txt', 'bm25.run']
    >>> [group.pattern for group in group_by_number(["svm-c0.1.txt", "svm-c10.txt"], ["c"])]
    ['svm-c{c}.txt']
    """
    form = re.compile("|".join([_NUMBERED, *map(_SETTING.format, settings)]), re.I)
    groups: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for path in paths:
        values: dict[str, str] = {}

        def placeholder(match: re.Match[str], values: dict[str, str] = values) -> str:
            word, between, number = (part for part in match.groups() if part is not None)
            name = SHORT.get(word.lower(), word.lower())
            is_same = values.setdefault(name, number) == number
            return f"{word}{between}{{{name}}}" if is_same else match[0]

        groups[form.sub(placeholder, escape_path(path))][path] = values
    return [FileGroup(pattern, values) for pattern, values in groups.items()]


def model_families(groups: Sequence[FileGroup], dataset: str = "") -> list[FileGroup]:
    """Return the groups with those that differ in one part of the path joined: ``{model}``.

    What all models of a family begin or end with belongs to their names, unless it is a word such
    as `run`, or one of the path of their `dataset`.

    >>> some = group_by_number(["gbrt/fold1.txt", "gbrt/fold2.txt", "svm/fold1.txt", "one.run"])
    >>> [group.pattern for group in model_families(some)]
    ['{model}/fold{fold}.txt', 'one.run']
    """
    members: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, group in enumerate(groups):
        for slot in _model_slots(group.pattern):
            members[slot].append(number)
    left = dict.fromkeys(range(len(groups)))
    joined: dict[int, FileGroup] = {}
    while left:
        sizes = {slot: sum(n in left for n in numbers) for slot, numbers in members.items()}
        best = max(sizes, key=lambda slot: (sizes[slot], _slot_rank(slot)), default=None)
        if best is None or sizes[best] < 2:
            break
        numbers = [number for number in members.pop(best) if number in left]
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
    parts = pattern.split("/")
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
            word = re.match(r"(.+?)([_.-][A-Za-z]*[_.-]?\{.*)", stem)
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
        has_own = any(
            not _GENERIC.fullmatch(word) and word not in words for word in _words_of_path(part)
        )
        return "" if has_own else part

    head = general(_common_beginning(names))
    tail = general(_common_beginning([name[len(head) :][::-1] for name in names])[::-1])
    values = {
        path: {MODEL: unescape_path(name[len(head) : len(name) - len(tail)]), **captured}
        for name, group in zip(names, groups, strict=True)
        for path, captured in group.values.items()
    }
    return FileGroup(f"{before}{head}{{{MODEL}}}{tail}{after}", values)


def _words_of_path(path: str) -> set[str]:
    """Return folders and words of a path, in small letters.

    >>> sorted(_words_of_path("my_data/qrels.covid-Round2.txt"))
    ['covid', 'data', 'my', 'my_data', 'qrels', 'round2', 'txt']
    """
    path = path.lower()
    return {*re.split(r"[/._-]+", path), *path.split("/")[:-1]} - {""}


def _common_beginning(names: Sequence[str]) -> str:
    """Return the common beginning of names, up to a sign between words."""
    head = re.match(r"(.*[._-])?", os.path.commonprefix(names))  # noqa: RUF071 - of letters
    return head[0] if head and all(len(head[0]) < len(name) for name in names) else ""


def unescape_path(pattern: str) -> str:
    """Return the literal path of a pattern without placeholders."""
    return pattern.replace("$$", "$").replace("{{", "{").replace("}}", "}")


class Matcher:
    """Finds the qrels of runs among groups of files, each with its format."""

    def __init__(self, folder: Path, datasets: Sequence[tuple[FileGroup, str]]) -> None:
        self.folder, self.datasets = folder, datasets
        self._qrels = cache(self._read_qrels)
        self._pairs = cache(self._judged_pairs)

    def find(self, run: File, values: Mapping[str, str]) -> tuple[int, str, tuple[int, ...]]:
        """Return group and path of a run's qrels, and other groups that it fits.

        Its numbers of fold and seed must be those of the data.
        Of all qrels that fit, those whose path shares most folders with the run's are taken,
        and of these, graded ones that judge most of its documents. InputError if none fit.
        """
        by_row, pairs = readers.FORMATS[run.format].needs_dataset, None
        without = "no rows to follow"
        if not by_row:
            try:
                pairs = self._retrieved(run)
            except HarnessError as error:  # such as a table without docnos
                by_row, without = True, error.problems[0].what
        scores: dict[tuple[int, str], float] = {}
        wrong = {4: "no qrels"}  # the smallest number says most
        for number, (group, form) in enumerate(self.datasets):
            for path, captured in group.values.items():
                shared = captured.keys() & values.keys()
                if differing := [name for name in shared if captured[name] != values[name]]:
                    wrong[3] = f"no qrels of {differing[0]} {values[differing[0]]}"
                    continue
                try:
                    score = (
                        self._by_rows(run, path, form)
                        if by_row
                        else self._judged(pairs, path, form)
                    )
                except HarnessError as error:
                    wrong[1] = f"fits no qrels: {error.problems[0].what}"
                    continue
                if score and captured and not shared:
                    wrong[0] = f"fits {path}, but no number in its own name gives its fold"
                elif score:
                    scores[number, path] = score
                else:
                    reason = without if by_row else "other queries or documents"
                    wrong[2] = f"fits no qrels: {reason}"
        if not scores:
            rank = min(wrong)
            hint = self._as_many(run) if by_row and rank in (1, 2) else ""
            raise InputError(Problem(run.path, wrong[rank] + hint))
        lowest = max(scores.values()) / 10
        fitting = [place for place, score in scores.items() if score > lowest]
        folders = {*run.path.lower().split("/")[:-1]}

        def nearness(place: tuple[int, str]) -> tuple[float, ...]:
            path = place[1]
            is_graded = not by_row and (self._pairs(path) or (0, 0))[1] > 1
            return len(folders & _words_of_path(path)), scores[place], is_graded, -path.count("/")

        number, path = max(fitting, key=nearness)
        return number, path, tuple({index: 0 for index, _ in fitting if index != number})

    def _as_many(self, run: File) -> str:
        """Return a hint at the qrels with as many rows as a run; empty if there are none."""
        paths = []
        for path, form in ((path, form) for group, form in self.datasets for path in group.values):
            with contextlib.suppress(HarnessError):
                paths += [path] if self._by_rows(run, path, form) == 1 else []
        return f"; it has as many rows as {first_of(paths, 3)}" if paths else ""

    def share_queries(self, paths: Collection[str]) -> bool:
        """Whether several qrels have queries in common, as far as they can be read."""
        qids: list[str] = []
        for path in paths if len(paths) > 1 else ():
            with contextlib.suppress(HarnessError, OSError):
                qrels = self._qrels(path)
                qids += [] if qrels is None else qrels.qids.to_pylist()
        return len(qids) > len({*qids})

    def _by_rows(self, run: File, path: str, form: str) -> float:
        """Return 1 if there are as many scores as rows, 0.1 for files too large to be read.

        Raises an `InputError` if the run cannot be read as predictions for these rows.
        """
        if form not in ("letor", "batch"):
            return 0
        if self._is_large(path) or self._is_large(run.path):
            return 0.1
        readers.read_run(self.folder / run.path, dataset=self._qrels(path))
        return 1

    def _judged(self, retrieved: list[tuple[str, str]] | None, path: str, form: str) -> float:
        """Return the share of judged documents in the first lines; 0.01 if it cannot be told."""
        judged_pairs = self._pairs(path)
        if judged_pairs is None or retrieved is None:
            return 0.01
        share = sum(pair in judged_pairs[0] for pair in retrieved) / max(1, len(retrieved))
        shares_queries = {pair[0] for pair in retrieved} & {pair[0] for pair in judged_pairs[0]}
        return 0.0001 if not share and form != "letor" and shares_queries else share

    def _is_large(self, name: str) -> bool:
        return (self.folder / name).stat().st_size > LARGEST

    def _retrieved(self, run: File) -> list[tuple[str, str]] | None:
        """Return queries and documents of a run, or of its beginning."""
        path = self.folder / run.path
        if run.format not in _COLUMNS:
            if self._is_large(run.path):
                return None
            rows = readers.read_run(path, duplicates="first").to_dict()
            return [(qid, docno) for qid, row in rows.items() for docno in row]
        qid, docno = _COLUMNS[run.format]
        lines = Source(path).head.decode("utf-8", "replace").splitlines()
        words = [line.split() for line in lines[:-1] or lines]
        return [(fields[qid], fields[docno]) for fields in words if len(fields) > docno]

    def _read_qrels(self, path: str) -> Qrels | None:
        """Return qrels; None if the file is too large."""
        if self._is_large(path):
            return None
        return readers.read_qrels(self.folder / path, duplicates="first")

    def _judged_pairs(self, path: str) -> tuple[frozenset[tuple[str, str]], int] | None:
        """Return the queries and documents judged, and how many grades above 0 there are."""
        rows: Mapping[str, Mapping[str, float]] = {}
        with contextlib.suppress(HarnessError, OSError):
            qrels = self._qrels(path)
            if qrels is None:
                return None
            rows = qrels.to_dict()
        pairs = frozenset((qid, docno) for qid, row in rows.items() for docno in row)
        return pairs, len({grade for row in rows.values() for grade in row.values() if grade > 0})
