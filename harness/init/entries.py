"""Files -> entries of a config: datasets, runs, and what was left out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ..config.cells import DATASET
from ..config.patterns import Pattern, natural
from .look import File, Look
from .match import Matcher
from .names import (
    MODEL,
    Group,
    escaped,
    families,
    fixed,
    numbered,
    numbered_folders,
    stem_of,
    stripped,
)

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
    """The files of judgements that runs use, the runs on each group, those on none and why.

    `also` says of patterns of judgements which others their runs were given to, `sharing` has the
    groups whose files have queries in common.
    """

    used: dict[int, set[str]]
    runs: dict[tuple[int, str, str], list[str]]
    aside: dict[str, str]
    also: dict[str, str]
    sharing: set[int]


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
    kept = []
    for group, form in groups:
        if not runs or not group.names or shared & {*group.names}:
            kept.append((group, form))
        else:
            kept += _single((group, form))
    return kept


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
        Group(group.pattern.replace(f"{{{MODEL}}}", name), files) for name, files in models.items()
    ]


def _name_datasets(made: Proposal) -> None:
    """Name datasets after what tells them apart, or after the folder that their runs share."""
    ways = [_told(entry.path) for entry in made.datasets]
    shared = [_folders_of_runs(made, place) for place in range(len(ways))]
    names: list[str] = []
    for place, way in enumerate(ways):
        own = _only_here(way, place, ways)
        folders = _only_here(shared[place], place, shared)
        name = (folders or own or way or [made.folder.resolve().name or "data"])[-1]
        if name.isdecimal():  # qrels.1.txt: the number alone says little
            name = stem_of(made.datasets[place].path.rpartition("/")[2])[0]
        name += "".join(f"-{mark}{{{mark}}}" for mark in made.datasets[place].group.names)
        names.append(_free(name, names))
        made.datasets[place] = replace(made.datasets[place], key=names[-1])


def _only_here(parts: Sequence[str], place: int, every: Sequence[Sequence[str]]) -> list[str]:
    others = {part for other, way in enumerate(every) if other != place for part in way}
    return [part for part in parts if part not in others]


def _folders_of_runs(made: Proposal, place: int) -> list[str]:
    """Return the folders of a dataset that also are folders of all of its runs."""
    folders = made.datasets[place].path.split("/")[:-1]
    runs = [entry.path.split("/")[:-1] for entry in made.runs if entry.dataset == place]
    return [one for one in folders if "{" not in one and runs and all(one in way for way in runs)]


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
        return told[::-1] or [made.folder.resolve().name]
    around = [stripped(part) for part in folder.split("/") if f"{{{MODEL}}}" not in part]
    return [f"{{{MODEL}}}", *[part for part in around[::-1] if part]]


def _called(key: str, entry: Entry) -> set[tuple[int, str]]:
    models = {values.get(MODEL, "") for values in entry.group.values.values()}
    return {(entry.dataset, key.replace(f"{{{MODEL}}}", escaped(model))) for model in models}


def _join_datasets(made: Proposal) -> None:
    """Put ``{dataset}`` where entries differ in the name of their dataset only."""
    alike: dict[tuple[str, str, str], list[Entry]] = defaultdict(list)
    for entry in made.runs:
        name = made.datasets[entry.dataset].key
        parts = [f"{{{DATASET}}}" if part == name else part for part in entry.path.split("/")]
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


def _free(name: str, taken: Sequence[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free
