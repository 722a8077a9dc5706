"""Judgements and runs -> entries of a config, with placeholders for folds, seeds and models."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import NamedTuple

from ..readers.choice import FORMATS
from .cells import DATASET
from .init_files import File, Group, Look, Matcher
from .patterns import Pattern, natural

WORDS = ("fold", "seed", "split", "rep", "repetition", "trial", "cv")
MODEL = "model"
_NUMBERED = re.compile(rf"(?<![A-Za-z])({'|'.join(WORDS)})([ _.-]?)([0-9]+)(?![0-9])", re.I)
_FILLED = re.compile(
    rf"[ _.-]?(?<![A-Za-z])(?:{'|'.join(WORDS)})?[ _.-]?(?<!\{{)\{{\w+\}}(?!\}})", re.I
)
_AROUND = re.compile(r"^[\s_.-]+|[\s_.-]+$")
_BARE = re.compile(r"(?<![A-Za-z0-9])([0-9]+)(?![A-Za-z0-9])")
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zstd")
_SUFFIXES = frozenset(
    {suffix for known in FORMATS.values() for suffix in known.suffixes}
    | {".result", ".results", ".predictions", ".out", ".test", ".dat"}
)
_GENERIC = re.compile(r"(scores?|predictions?|preds?|output|run|results?|test)\b.*", re.I)


def escaped(text: str) -> str:
    """Return a literal path as a pattern."""
    return in_braces(text).replace("$", "$$")


def unescaped(pattern: str) -> str:
    """Return the literal path that a pattern without placeholders stands for."""
    return pattern.replace("$$", "$").replace("{{", "{").replace("}}", "}")


def in_braces(text: str) -> str:
    """Return a literal name as the key of an entry, in which a dollar sign is one."""
    return text.replace("{", "{{").replace("}", "}}")


def filled(pattern: str, values: Mapping[str, str]) -> str:
    """Return a pattern with some placeholders filled in, as patterns; literal braces stay.

    >>> filled("{{fold}}/a{fold}-{seed}", {"fold": "2"})
    '{{fold}}/a2-{seed}'
    """
    return re.sub(
        r"\{\{|\}\}|\{(\w+)\}", lambda match: values.get(match[1] or "", match[0]), pattern
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
    return _AROUND.sub("", _FILLED.sub("", text).replace("$$", "$"))


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
    return Group(
        filled(group.pattern, single),
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
        path: {MODEL: unescaped(name[len(head) : len(name) - len(tail)]), **one}
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


_WORDS = re.compile(
    r"(?<![A-Za-z])(test|train|vali|valid|qrels?|data|dataset|datasets|judge?ments?|labels?|txt|letor"
    r"|trec|runs|sample)(?![A-Za-z])", re.I
)  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One entry of ``datasets`` or ``runs``.

    Parameters
    ----------
    key, path, format : str
        The path is a pattern relative to the folder looked at.
    group : Group
    dataset : int
        Place of a run's dataset.
    names_dataset : bool
        Whether a run has to name it.
    note : str
        What is unsure.
    shares_queries : bool
        Whether folds of judgements have queries in common.
    """

    key: str
    path: str
    format: str
    group: Group
    dataset: int = -1
    names_dataset: bool = False
    note: str = ""
    shares_queries: bool = False


@dataclass
class Proposal:
    """What a config will hold; `aside` has the patterns left out, and why."""

    folder: Path
    datasets: list[Entry] = field(default_factory=list)
    runs: list[Entry] = field(default_factory=list)
    where: dict[str, list[str]] = field(default_factory=dict)
    aside: dict[str, str] = field(default_factory=dict)


class _Assigned(NamedTuple):
    """Which judgements runs use, and which runs fit none."""

    used: dict[int, set[str]]
    """Files that runs use, by group."""
    runs: dict[tuple[int, str, str], list[str]]
    """Runs by group, format and note."""
    aside: dict[str, str]
    """Runs of no group, and why."""
    also: dict[str, str]
    """Patterns of judgements whose runs were given to others, which fit as well."""
    sharing: set[int]
    """Groups whose files have queries in common."""


def propose(found: Look) -> Proposal:
    """Return the entries for what folders hold."""
    made = Proposal(found.folder, aside=dict(found.aside))
    data = [one for one in found.files if one.kind == "dataset"]
    runs = [one for one in found.files if one.kind == "run"]
    bare = numbered_folders(one.path for one in data)
    groups = _split(_once(found.folder, _by_format(data, bare), made.aside), runs, bare)
    assigned = _assign(found, groups, runs, bare)
    unused = {n for n, (group, _) in enumerate(groups) if n not in assigned.used and group.names}
    if assigned.aside and unused:  # other datasets' runs have such numbers, these ones' may not
        several = [_single(one) if n in unused else [one] for n, one in enumerate(groups)]
        single = [one for some in several for one in some]
        anew = _assign(found, single, runs, bare)
        if len(anew.aside) < len(assigned.aside):
            groups, assigned = single, anew
    kept = [*range(len(groups))] if not assigned.used else sorted(assigned.used)
    for number, (group, _) in enumerate(groups):
        if number not in kept:
            made.aside[group.pattern] = assigned.also.get(group.pattern, "no run fits it")
    made.aside |= assigned.aside
    for number in kept:
        group, form = groups[number]
        files = assigned.used.get(number) or {*group.values}
        values = {path: own for path, own in group.values.items() if path in files}
        some = fixed(Group(group.pattern, values))
        sharing = number in assigned.sharing
        made.datasets.append(Entry("", some.pattern, form, some, shares_queries=sharing))
        _keep_used(group, some, made.where)
    for (number, form, note), paths in assigned.runs.items():
        place = kept.index(number)
        for group in families(numbered(paths, bare)):
            group = fixed(group, (*made.datasets[place].group.names, MODEL))
            for one in _without_strangers(group, found.every):
                made.runs.append(Entry("", one.pattern, form, one, place, note=note))
    _name_datasets(made)
    _name_runs(made)
    _join_datasets(made)
    return made


def _by_format(files: Sequence[File], bare: set[str]) -> list[tuple[Group, str]]:
    formats = dict.fromkeys(one.format for one in files)
    return [
        (group, form)
        for form in formats
        for group in numbered([one.path for one in files if one.format == form], bare)
    ]


def _split(
    groups: list[tuple[Group, str]], runs: Sequence[File], bare: set[str]
) -> list[tuple[Group, str]]:
    """Return groups whose numbers no run has as single files: content alone tells their runs."""
    shared = {name for group in numbered([run.path for run in runs], bare) for name in group.names}
    found = []
    for group in groups:
        by_content = runs and group[0].names and not shared & {*group[0].names}
        found += _single(group) if by_content else [group]
    return found


def _single(one: tuple[Group, str]) -> list[tuple[Group, str]]:
    """Return a group for each file of a group."""
    return [(Group(escaped(path), {path: {}}), one[1]) for path in one[0].values]


def _once(
    folder: Path, groups: list[tuple[Group, str]], aside: dict[str, str]
) -> list[tuple[Group, str]]:
    """Return the groups without those that hold the same as an earlier one."""
    known: dict[tuple[bytes, ...], str] = {}
    kept = []
    for group, form in groups:
        paths = sorted(group.values, key=natural)
        sizes = tuple((folder / path).stat().st_size for path in paths)
        small = sum(sizes) < 1 << 26
        content = tuple((folder / path).read_bytes() for path in paths) if small else ()
        if content and content in known:
            aside[group.pattern] = f"the same as {known[content]}"
            continue
        if content:
            known[content] = group.pattern
        kept.append((group, form))
    return kept


def _assign(
    found: Look, groups: list[tuple[Group, str]], runs: list[File], bare: set[str]
) -> _Assigned:
    """Return which runs belong to which judgements."""
    made = _Assigned(defaultdict(set), defaultdict(list), {}, {}, set())
    matcher = Matcher(found.folder, groups)
    values = {p: v for one in numbered([r.path for r in runs], bare) for p, v in one.values.items()}
    for run in runs:
        fit = matcher.find(run, values[run.path])
        if fit.dataset is None:
            made.aside[run.path] = fit.why if groups else "no judgements"
            continue
        made.used[fit.dataset].add(fit.path)
        made.runs[fit.dataset, run.format, fit.why].append(run.path)
        taken = groups[fit.dataset][0].pattern
        for other in fit.others:
            made.also.setdefault(other, f"its runs were given to {taken}, which fits as well")
    made.sharing.update(n for n, paths in made.used.items() if matcher.share_queries(paths))
    return made


def _keep_used(group: Group, some: Group, where: dict[str, list[str]]) -> None:
    """Leave out the folds that the pattern finds and no run has."""
    if len(some.values) < len(group.values):
        for name in some.names:
            values = {one[name] for one in some.values.values()}
            if values != {one[name] for one in group.values.values()}:
                where[name] = sorted(values, key=natural)


def _without_strangers(group: Group, every: Sequence[str]) -> list[Group]:
    """Return a group for each model, where its pattern would take files that are none."""
    pattern = Pattern(group.pattern.replace("$$", "$"))
    if all(path in group.values for path in every if pattern.match(path) is not None):
        return [group]
    if MODEL not in group.names:
        return [group]
    models: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for path, values in group.values.items():
        rest = {name: value for name, value in values.items() if name != MODEL}
        models[values[MODEL]][path] = rest
    return [
        Group(filled(group.pattern, {MODEL: escaped(name)}), files)
        for name, files in models.items()
    ]


def _name_datasets(made: Proposal) -> None:
    """Name datasets after what tells them apart, or after the folder that their runs share."""
    ways = [_told(entry.path) for entry in made.datasets]
    shared = [_folders_of_runs(made, place) for place in range(len(ways))]
    names: list[str] = []
    for place, way in enumerate(ways):
        own = _only_here(way, place, ways)
        folders = _only_here(shared[place], place, shared)
        name = (folders or own or way or [_name_of(made.folder) or "data"])[-1]
        if name.isdecimal():  # qrels.1.txt: the number alone says little
            name = stem_of(made.datasets[place].path.rpartition("/")[2])[0]
        name += "".join(f"-{mark}{{{mark}}}" for mark in made.datasets[place].group.names)
        free = (
            name
            if name not in names
            else next(one for n in count(2) if (one := f"{name}-{n}") not in names)
        )
        names.append(free)
        made.datasets[place] = replace(made.datasets[place], key=names[-1])


def _only_here(parts: Sequence[str], place: int, every: Sequence[Sequence[str]]) -> list[str]:
    others = {part for other, way in enumerate(every) if other != place for part in way}
    return [part for part in parts if part not in others]


def _folders_of_runs(made: Proposal, place: int) -> list[str]:
    """Return the folders of a dataset that also are folders of all of its runs."""
    folders = made.datasets[place].path.split("/")[:-1]
    runs = [entry.path.split("/")[:-1] for entry in made.runs if entry.dataset == place]
    shared = [
        one.replace("$$", "$") for one in folders
        if "{" not in one and runs and all(one in way for way in runs)
    ]  # fmt: skip
    return [one for one in shared if one.strip()]


def _name_runs(made: Proposal) -> None:
    """Name runs after their files, and after their folders too where two would be called alike."""
    short = [_names_of_run(made, entry) for entry in made.runs]
    called = [_called(way[0], entry) for way, entry in zip(short, made.runs, strict=True)]
    taken: set[tuple[int, str]] = set()
    for place, entry in enumerate(made.runs):
        key, *outer = short[place]
        if outer and any(called[place] & names for n, names in enumerate(called) if n != place):
            key = f"{outer.pop(0)}-{key}"
        while taken & _called(key, entry):
            key = f"{outer.pop(0)}-{key}" if outer else f"{key}-2"
        taken |= _called(key, entry)
        marks = {*entry.group.names}
        sharing = [n for n, one in enumerate(made.datasets) if marks & {*one.group.names}]
        needed = len(made.datasets) > 1 and sharing != [entry.dataset]
        made.runs[place] = replace(entry, key=key, names_dataset=needed)


def _names_of_run(made: Proposal, entry: Entry) -> list[str]:
    """Return what a run can be called, and the folders around it from the inside out."""
    folder, _, file = entry.path.rpartition("/")
    told = [part for part in map(stripped, [*folder.split("/"), stem_of(file)[0]]) if part]
    if MODEL not in entry.group.names:
        return told[::-1] or [_name_of(made.folder) or "run"]
    around = [stripped(part) for part in folder.split("/") if f"{{{MODEL}}}" not in part]
    return [f"{{{MODEL}}}", *[part for part in around[::-1] if part]]


def _called(key: str, entry: Entry) -> set[tuple[int, str]]:
    models = {values.get(MODEL, "") for values in entry.group.values.values()}
    return {(entry.dataset, filled(key, {MODEL: in_braces(model)})) for model in models}


def _join_datasets(made: Proposal) -> None:
    """Put ``{dataset}`` where entries differ in the name of their dataset only."""
    alike: dict[tuple[str, str, str], list[Entry]] = defaultdict(list)
    for entry in made.runs:
        name = made.datasets[entry.dataset].key
        parts = [
            f"{{{DATASET}}}" if part.replace("$$", "$") == name else part
            for part in entry.path.split("/")
        ]
        if entry.names_dataset and f"{{{DATASET}}}" in parts:
            alike["/".join(parts), entry.key, entry.format].append(entry)
    for (path, _, _), entries in alike.items():
        if len(entries) > 1:
            at = made.runs.index(entries[0])
            made.runs[at] = replace(entries[0], path=path, names_dataset=False)
            made.runs = [one for one in made.runs if one not in entries[1:]]


def _told(path: str) -> list[str]:
    """Return the parts of a path that say something: no numbers, and no words such as qrels."""
    *folders, file = path.split("/")
    parts = [*folders, stem_of(file)[0]]
    plain = [_WORDS.sub("", stripped(part)).strip(" _.-") for part in parts]
    plain = [re.sub(r"[ _.-]{2,}", "-", part) for part in plain]
    return [part for part in plain if part]


def _name_of(folder: Path) -> str:
    return in_braces(folder.resolve().name).strip()
