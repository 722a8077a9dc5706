"""Paths that are alike -> patterns with placeholders: fold and seed numbers, names of models."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..readers import FORMATS

WORDS = ("fold", "seed", "split", "rep", "repetition", "trial", "cv")
MODEL = "model"
_NUMBERED = re.compile(rf"(?<![A-Za-z])({'|'.join(WORDS)})([ _.-]?)([0-9]+)(?![0-9])", re.I)
_FILLED = re.compile(
    rf"[ _.-]?(?<![A-Za-z])(?:{'|'.join(WORDS)})?[ _.-]?(?<!\{{)\{{\w+\}}(?!\}})", re.I
)
_BARE = re.compile(r"(?<![A-Za-z0-9])([0-9]+)(?![A-Za-z0-9])")
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zstd")
_SUFFIXES = frozenset(
    {suffix for known in FORMATS.values() for suffix in known.suffixes}
    | {".result", ".results", ".predictions", ".out", ".test", ".dat"}
)
_GENERIC = re.compile(r"(scores?|predictions?|preds?|output|run|results?|test)\b.*", re.I)


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


def escaped(text: str) -> str:
    """Return a literal path as a pattern."""
    return (
        text.replace("$", "$$" if "${" in text or "$$" in text else "$")
        .replace("{", "{{")
        .replace("}", "}}")
    )


def numbered(paths: Iterable[str], bare: Collection[str] = ()) -> list[Group]:
    """Return the paths in groups that differ in numbers only, such as those of folds and seeds.

    Parameters
    ----------
    paths : iterable of str
    bare : collection of str
        Folders in which a number that stands alone is a fold too, as in ``STR_3.qrels``.

    Examples
    --------
    >>> [group.pattern for group in numbered(["svm/fold1.txt", "svm/fold2.txt", "bm25.run"])]
    ['svm/fold{fold}.txt', 'bm25.run']
    """
    groups: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for path in paths:
        values: dict[str, str] = {}

        def known(match: re.Match[str], values: dict[str, str] = values) -> str:
            word, between, number = match.groups()
            name = word.lower()
            if values.setdefault(name, number) != number:
                return match[0]
            return f"{word}{between}{{{name}}}"

        def alone(match: re.Match[str], values: dict[str, str] = values) -> str:
            return (
                match[0] if "fold" in values else values.setdefault("fold", match[0]) and "{fold}"
            )

        folder, slash, name = path.rpartition("/")
        pattern = _NUMBERED.sub(known, escaped(path))
        if folder in bare and not values:
            pattern = escaped(folder) + slash + _BARE.sub(alone, escaped(name))
        groups[pattern][path] = values
    return [Group(pattern, values) for pattern, values in groups.items()]


def numbered_folders(paths: Iterable[str]) -> set[str]:
    """Return the folders whose files are numbered 1, 2, ... (or 0, 1, ...) with nothing else."""
    series: dict[tuple[str, str], set[int]] = defaultdict(set)
    for path in paths:
        folder, _, name = path.rpartition("/")
        if len(_BARE.findall(name)) == 1 and not _NUMBERED.search(path):
            series[folder, _BARE.sub("#", name)].add(int(_BARE.findall(name)[0]))
    return {
        folder
        for (folder, _), numbers in series.items()
        if len(numbers) > 1 and sorted(numbers) == list(range(min(numbers), max(numbers) + 1))
        and min(numbers) <= 1
    }  # fmt: skip


def stripped(text: str) -> str:
    """Return a part of a path's pattern, as a name: without numbers of folds and their words.

    >>> stripped("gbrt-fold{fold}_seed{seed}"), stripped("STR_{fold}"), stripped("Fold{fold}")
    ('gbrt', 'STR', '')
    """
    return _FILLED.sub("", text).replace("$$", "$").strip(" _.-")


def fixed(group: Group, keep: Collection[str] = ()) -> Group:
    """Return a group without the placeholders that have one value, but for those to keep."""
    if len(group.values) == 0:
        return group
    values = list(group.values.values())
    single = {
        name: values[0][name]
        for name in group.names
        if name not in keep and len({one[name] for one in values}) == 1
    }
    pattern = group.pattern
    for name, value in single.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return Group(
        pattern,
        {
            path: {name: value for name, value in one.items() if name not in single}
            for path, one in group.values.items()
        },
    )


def families(groups: Sequence[Group]) -> list[Group]:
    """Return the groups with those that differ in one part of the path made one: ``{model}``.

    Examples
    --------
    >>> some = numbered(["gbrt/fold1.txt", "gbrt/fold2.txt", "svm/fold1.txt", "one.run"])
    >>> [group.pattern for group in families(some)]
    ['{model}/fold{fold}.txt', 'one.run']
    """
    members: dict[tuple[str, ...], list[int]] = defaultdict(list)
    slots = [list(_slots(group.pattern)) for group in groups]
    for number, own in enumerate(slots):
        for slot in own:
            members[slot].append(number)
    left = dict.fromkeys(range(len(groups)))
    found: dict[int, Group] = {}
    while left:
        best = max(
            members, key=lambda slot: (len([n for n in members[slot] if n in left]), _rank(slot)),
            default=None,
        )  # fmt: skip
        some = [number for number in members.pop(best) if number in left] if best else []
        if best is None or len(some) < 2:
            found.update((number, groups[number]) for number in left)
            break
        found[some[0]] = _family(best, [groups[number] for number in some])
        for number in some:
            del left[number]
    return [found[number] for number in sorted(found)]


def stem_of(name: str) -> tuple[str, str]:
    """Return a file's name in two: ``("bm25", ".run.gz")``; other dots are part of a name."""
    stem, ending = name, ""
    for known in (_COMPRESSED, _SUFFIXES):
        head, suffix = os.path.splitext(stem)
        if suffix.lower() in known and head:
            stem, ending = head, suffix + ending
    return stem, ending


def _slots(pattern: str) -> Iterable[tuple[str, ...]]:
    """Yield the pattern with each part in turn left open: what is before, and what is after."""
    parts = pattern.split("/")
    for place, part in enumerate(parts):
        before = "/".join(parts[:place]) + "/" * (place > 0)
        if place < len(parts) - 1:
            if "{" not in part:
                yield before, "/" + "/".join(parts[place + 1 :])
            continue
        stem, suffix = stem_of(part)
        if "{" not in stem:
            yield before, suffix
        else:  # gbrt-fold{fold}: what is before the first placeholder's word
            word = re.match(r"(.+?)([_.-][A-Za-z]*[_.-]?\{.*)", stem)
            if word is not None and "{" not in word[1]:
                yield before, word[2] + suffix


def _rank(slot: tuple[str, ...]) -> tuple[bool, bool]:
    """Prefer names of files to those of folders, unless the files are called scores or the like."""
    after = slot[1]
    file = after.rpartition("/")[2] if "/" in after else ""
    return not _GENERIC.fullmatch(file), not file


def _family(slot: tuple[str, ...], groups: Sequence[Group]) -> Group:
    before, after = slot
    names = [group.pattern[len(before) : len(group.pattern) - len(after)] for group in groups]
    head, tail = _common(names)
    values = {
        path: {MODEL: name[len(head) : len(name) - len(tail)], **one}
        for name, group in zip(names, groups, strict=True)
        for path, one in group.values.items()
    }
    return Group(f"{before}{head}{{{MODEL}}}{tail}{after}", values)


def _common(names: Sequence[str]) -> tuple[str, str]:
    """Return what all names begin and end with, up to a sign between words."""
    head = re.match(r"(.*[._-])?", os.path.commonprefix(names))  # noqa: RUF071 - of letters
    begin = head[0] if head and all(len(head[0]) < len(name) for name in names) else ""
    rest = [name[len(begin) :][::-1] for name in names]
    tail = re.match(r"(.*[._-])?", os.path.commonprefix(rest))  # noqa: RUF071
    end = tail[0][::-1] if tail and all(len(tail[0]) < len(name) for name in rest) else ""
    return begin, end
