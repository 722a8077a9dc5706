"""Folders of qrels and runs -> a config to start from."""

from __future__ import annotations

import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from yaml import YAMLError

from ..errors import ConfigError, InputError, Problem, and_more, collecting, in_json, legible
from ..input_files import add_inputs, keeping_inputs
from ..readers import files as store
from ..readers.files import part, wrong_with
from ..readers.ir_metadata import load as load_yaml
from .cells import DATASET
from .init_files import (
    MODEL,
    SHORT,
    WORDS,
    FileGroup,
    FolderScan,
    Matcher,
    escaped,
    families,
    filled,
    look,
    numbered,
    settings_in,
    short_in,
    stem_of,
    unescaped,
)  # fmt: skip
from .load import check_name, loads
from .model import SCHEMA
from .patterns import Pattern, doubled, natural
from .yaml_file import PlacedProblem

SHOWN = 100
"""Lines of files left out."""
VALIDATION = "predictions for validation data"
FOR_SELECT = "   # for select"
_TREC = ["map", "ndcg@10", "P@10", "recip_rank"]
_ROWS = ["map", "ndcg@1,5,10", "ndcg(gain=exp)@1,5,10"]
_COLUMNS = ["map", "ndcg@10"]
_PLAIN = re.compile(r"[A-Za-z0-9_./+][A-Za-z0-9_./+@ -]*")
_FILLED = re.compile(
    rf"[ _.-]?(?<![A-Za-z])(?:{'|'.join(WORDS)}|(\w+)(?==?\{{\1\}})|f(?=\{{fold)|s(?=\{{seed))?"
    r"[ _.=-]?"
    r"(?<!\{)\{\w+\}(?!\})",
    re.I,
)
_NOT_NAMES = re.compile(
    r"(?<![A-Za-z])(test|train|vali|valid|qrels?|data|dataset|datasets|judge?ments?|labels?|txt|letor"
    r"|trec|runs|sample)(?![A-Za-z])", re.I
)  # fmt: skip


@dataclass(eq=False)
class ProposedDataset:
    """One entry of ``datasets``; `validation` is the pattern of the same for validation data."""

    format: str
    group: FileGroup
    shares_queries: bool = False
    key: str = ""
    validation: str = ""

    @property
    def path(self) -> str:
        """Pattern of its files, relative to the folder looked at."""
        return self.group.pattern

    @property
    def is_rows(self) -> bool:
        """Whether predictions follow its rows."""
        return self.format in ("letor", "batch")

    @property
    def validation_key(self) -> str:
        """What the validation data is called."""
        return "-".join(["vali", *(f"{mark}{{{mark}}}" for mark in self.group.names)])


@dataclass(eq=False)
class ProposedRun:
    """One entry of ``runs``; `path` may have ``{dataset}``, and `note` says what is unsure."""

    format: str
    group: FileGroup
    dataset: ProposedDataset
    path: str
    note: str = ""
    key: str = ""
    names_dataset: bool = False
    validation: str = ""

    def models(self, key: str = "") -> set[tuple[ProposedDataset, str]]:
        """Return dataset and name of each model, under its key or another."""
        models = {values.get(MODEL, "") for values in self.group.values.values()}
        return {(self.dataset, _name(key or self.key, model)) for model in models}


def _name(key: str, model: str) -> str:
    return unescaped(filled(key, {MODEL: doubled(model)}))


@dataclass
class Proposal:
    """What a config will hold: `aside` has the files left out and why, `commented` sections.

    `settings` are the words of placeholders to choose from on validation data, and short ones.
    """

    folder: Path
    datasets: list[ProposedDataset] = field(default_factory=list)
    runs: list[ProposedRun] = field(default_factory=list)
    where: dict[str, list[str]] = field(default_factory=dict)
    aside: dict[str, str] = field(default_factory=dict)
    commented: set[str] = field(default_factory=set)
    settings: tuple[str, ...] = ()


def propose_config(
    folders: Path | Sequence[Path], base: Path, where: str = "config.yaml"
) -> tuple[str, Proposal]:
    """Return a config for the qrels and runs in folders, as YAML with comments, and its parts.

    `base` is the folder of the config, `where` its name. It loads, unless no qrels or runs
    were found: then its comments say what to fill in. Raises InputError if a path is not a folder,
    nothing is found, or no config for it loads.
    """
    folders = [folders] if isinstance(folders, Path) else [*folders]
    fix = "name the folders of your qrels and runs"
    wrong = [
        Problem(str(one), "expected a folder, got none", fix=fix)
        for one in folders
        if not one.is_dir()
    ]
    if wrong:
        raise InputError(wrong)
    check_name(base / Path(where).name)
    names = ", ".join(map(str, folders))
    with collecting([]):  # harness run and harness check report them
        with keeping_inputs(apart=True):  # it looks into files that the config will not name
            found = look(folders)
        add_inputs(*(found.folder / file.path for file in found.files))
        if not found.files:
            what = f"expected runs and qrels, got {len(found.every)} other files"
            raise InputError(Problem(names, what, fix="see docs/reference/formats.md"))
        made = propose(found)
        while True:
            text = render(made, base, where)
            try:
                if made.datasets and made.runs:
                    loads(text, where, base)
                return text, made
            except ConfigError as error:
                if not _without_problems(made, error):
                    first = error.problems[0]
                    what = f"its files give no valid config: {first.where}: {first.what}"
                    fix = "rename the folder or file, or write the config yourself"
                    raise InputError(Problem(names, what, fix=fix)) from error


def _without_problems(made: Proposal, error: ConfigError) -> bool:
    """Leave out the runs and comment out the sections with problems; False if there are none."""
    placed = [one for one in error.problems if isinstance(one, PlacedProblem)]
    wrong = {one.loc[1]: one.what for one in placed[::-1] if one.loc[:1] == ("runs",)}
    sections = {str(one.loc[0]) for one in placed if one.loc} & {"summary", "compare", "tables"}
    before = len(made.runs), len(made.commented)
    made.aside |= {entry.path: wrong[entry.key] for entry in made.runs if entry.key in wrong}
    made.runs = [entry for entry in made.runs if entry.key not in wrong]
    made.commented |= sections
    return before != (len(made.runs), len(made.commented))


def save(folders: Path | Sequence[Path], output: Path, *, force: bool = False) -> Proposal:
    """Write a config for what folders hold into a file, and return what it holds.

    Raises InputError as `propose_config`, and if the file exists without `force`.
    """
    if output.exists() and not force:
        fix = "name another file with --output, or add --force"
        raise InputError(Problem(str(output), "the file exists", fix=fix))
    store.check_writable(output.parent)
    output.parent.mkdir(parents=True, exist_ok=True)
    with keeping_inputs():
        text, made = propose_config(folders, output.parent, str(output))
        store.write_all(output.parent, {output.name: text.encode()})
    return made


def propose(found: FolderScan) -> Proposal:
    """Return the entries for what folders hold."""
    made = Proposal(found.folder)
    data = [one for one in found.files if one.kind == "dataset"]
    runs = [one for one in found.files if one.kind == "run"]
    paths = [run.path for run in runs]
    short = short_in(paths, [one.path for one in data])
    numbers = {p: v for one in numbered(paths, short) for p, v in one.values.items()}
    shared = {name for values in numbers.values() for name in values}
    groups: list[tuple[FileGroup, str]] = []
    for form in dict.fromkeys(one.format for one in data):
        for group in numbered([one.path for one in data if one.format == form]):
            # if no run has such numbers, only content tells the fold of a run
            by_content = runs and group.names and not shared & {*group.names}
            alone = [FileGroup(escaped(path), {path: {}}) for path in group.values]
            groups += [(one, form) for one in (alone if by_content else [group])]
    matcher = Matcher(found.folder, groups)
    files: dict[int, set[str]] = defaultdict(set)
    of_dataset: dict[tuple[int, str], list[str]] = defaultdict(list)
    others: dict[str, tuple[int, ...]] = {}
    for run in runs:
        try:
            number, path, others[run.path] = matcher.find(run, numbers[run.path])
        except InputError as error:
            made.aside[run.path] = error.problems[0].what
            continue
        files[number].add(path)
        of_dataset[number, run.format].append(run.path)
    datasets: dict[int, ProposedDataset] = {}
    unused = {path for group, _ in groups for path in group.values}
    for number in sorted(files) or [*range(len(groups))]:
        group, form = groups[number]
        own = {p: v for p, v in group.values.items() if p in (files.get(number) or group.values)}
        unused -= {*own}
        some = FileGroup(group.pattern, own).varying()
        for name in some.names:
            kept = {one[name] for one in some.values.values()}
            if kept != {one[name] for one in group.values.values()}:
                made.where[name] = sorted(kept, key=natural)
        sharing = matcher.share_queries(files.get(number, ()))
        datasets[number] = ProposedDataset(form, some, sharing)
    made.datasets = [*datasets.values()]
    reason = dict.fromkeys(sorted(unused, key=natural), "no run was assigned to it")
    made.aside = {**reason, **made.aside, **found.aside}
    folds = settings_in(one.path for one in data)
    chosen = settings_in(path for path, why in found.aside.items() if why == VALIDATION)
    made.settings = (*(word for word in chosen if word not in folds), *short)
    for (number, form), paths in of_dataset.items():
        dataset = datasets[number]
        for group in families(numbered(paths, made.settings), groups[number][0].pattern):
            group = group.varying((*dataset.group.names, MODEL))
            for one in _without_strangers(group, found.every):
                fitting = {groups[n][0].pattern for path in one.values for n in others[path]}
                note = f"a guess: could also be {', '.join(sorted(fitting))}" if fitting else ""
                made.runs.append(ProposedRun(form, one, dataset, one.pattern, note))
    _name_datasets(made)
    _name_runs(made)
    _join_datasets(made)
    _add_validation(made)
    return made


def _without_strangers(group: FileGroup, every: Sequence[str]) -> list[FileGroup]:
    """Return a group for each model if the pattern of all would match other files."""
    pattern = Pattern(group.pattern.replace("$$", "$"))
    strangers = (path for path in every if pattern.match(path) is not None)
    if MODEL not in group.names or all(path in group.values for path in strangers):
        return [group]
    models: dict[str, dict[str, Mapping[str, str]]] = defaultdict(dict)
    for path, values in group.values.items():
        models[values[MODEL]][path] = values
    others = {*group.names} - {MODEL}
    return [FileGroup(group.pattern, files).varying(others) for files in models.values()]


def _stripped(text: str) -> str:
    """Return a part of a path's pattern as a name: without folds, settings and the word test."""
    return re.sub(
        r"^(test)?[\s_.-]+|[\s_.-]+(test)?$", "", _FILLED.sub("", text).replace("$$", "$")
    )


def _name_datasets(made: Proposal) -> None:
    """Name datasets after what tells them apart, or after the folder."""
    names = []
    for entry in made.datasets:
        *folders, file = entry.path.split("/")
        parts = [_NOT_NAMES.sub("", _stripped(one)) for one in (*folders, stem_of(file)[0])]
        parts = [re.sub(r"[ _.-]{2,}", "-", one.strip(" _.-")) for one in parts]
        names.append([one for one in parts if one])
    taken: set[str] = set()
    for place, entry in enumerate(made.datasets):
        others = {part for n, parts in enumerate(names) if n != place for part in parts}
        own = [part for part in names[place] if part not in others] or names[place]
        folders = [made.folder.resolve().name]
        if len(made.datasets) > 1:
            folders += [_stripped(one) for one in entry.path.split("/")[:-1]]
        name = own[-1] if own else [doubled(one).strip() for one in folders if one.strip()][-1]
        if name.isdecimal() or name == "qrels":  # qrels.1.txt, qrels/test.tsv
            name = stem_of(entry.path.rpartition("/")[2])[0]
        numbers = (name, *(f"{name}-{n}" for n in range(2, len(made.datasets) + 2)))
        name = next(one for one in numbers if one not in taken)
        taken.add(name)  # without marks: folds that are pooled are called so
        marks = [f"{mark}{{{mark}}}" for mark in entry.group.names]
        is_folder = not own and len(made.datasets) == 1
        entry.key = "-".join(marks if marks and is_folder else [name, *marks])


def _name_runs(made: Proposal) -> None:
    """Name runs after their files, and after their folders too if two would have one name."""
    ways = []
    for entry in made.runs:
        folder, _, file = entry.path.rpartition("/")
        if MODEL in entry.group.names:
            parts = [_stripped(one) for one in folder.split("/") if f"{{{MODEL}}}" not in one]
            ways.append([f"{{{MODEL}}}", *[one for one in parts[::-1] if one]])
        else:
            parts = [_stripped(one) for one in (*folder.split("/"), stem_of(file)[0])]
            name = doubled(made.folder.resolve().name).strip() or "run"
            own = [one for one in parts[::-1] if _NOT_NAMES.sub("", one)]
            ways.append(own or [one for one in parts[::-1] if one] or [name])
    names = [entry.models(way[0]) for way, entry in zip(ways, made.runs, strict=True)]
    taken: set[tuple[ProposedDataset, str]] = set()
    for place, (entry, (key, *outer)) in enumerate(zip(made.runs, ways, strict=True)):
        if outer and any(names[place] & others for n, others in enumerate(names) if n != place):
            key = f"{outer.pop(0)}-{key}"
        while taken & entry.models(key):
            key = f"{outer.pop(0)}-{key}" if outer else f"{key}-2"
        entry.key = key
        taken |= entry.models()
        marks = {*entry.group.names}
        sharing = [one for one in made.datasets if marks & {*one.group.names}]
        entry.names_dataset = len(made.datasets) > 1 and sharing != [entry.dataset]


def _join_datasets(made: Proposal) -> None:
    """Put ``{dataset}`` in place of entries that only differ in the name of their dataset."""
    alike: dict[tuple[str, str, str], list[ProposedRun]] = defaultdict(list)
    for entry in made.runs:
        parts = [
            f"{{{DATASET}}}" if one.replace("$$", "$") == entry.dataset.key else one
            for one in entry.path.split("/")
        ]
        if entry.names_dataset and f"{{{DATASET}}}" in parts:
            alike["/".join(parts), entry.key, entry.format].append(entry)
    for (path, _, _), entries in alike.items():
        for entry in entries if len(entries) > 1 else ():
            entry.path, entry.names_dataset = path, False


def _add_validation(made: Proposal) -> None:
    """Add the paths for validation data to a dataset and its runs, if it alone has them."""
    paths = {entry: _validation(entry.path, made.aside) for entry in made.runs}
    having = {entry.dataset for entry, path in paths.items() if path}
    if len(having) == 1 and (path := _validation((dataset := having.pop()).path, made.aside)):
        dataset.validation = path
        for entry in made.runs:
            if entry.dataset is dataset and f"{{{DATASET}}}" not in entry.path:
                entry.validation, entry.names_dataset = paths[entry], True


def _validation(own: str, aside: Collection[str]) -> str:
    """Return the pattern of an entry's files for validation data; empty if there are none."""
    if f"{{{DATASET}}}" in own:  # it would be the name of the validation data
        return ""
    for word in ("vali", "valid", "validation", "val", "dev"):
        path = re.sub(r"(?<![A-Za-z])test(?![A-Za-z])", word, own)
        pattern = Pattern(path.replace("$$", "$"))
        if path != own and any(pattern.match(one) is not None for one in aside):
            return path
    return ""


def render(made: Proposal, base: Path, where: str) -> str:
    """Return the config for a folder `base`; it gets a ``name`` if `where` cannot be one."""
    way = _relative(made.folder, base)
    start = "" if way == "." else escaped(way) + "/"
    stem = Path(where).stem
    kinds = {entry.is_rows for entry in made.datasets}
    metrics = [*(_ROWS if True in kinds else []), *(_TREC if kinds != {True} else [])]
    lines = [
        f"# yaml-language-server: $schema={SCHEMA}",
        "# Written by harness init. Paths start at the folder of this file; {placeholders} match",
        "# whatever the files on disk have there. docs/reference/config.md has every key.",
        "# harness run FILE --dry-run shows the cells.",
        *([f"name: config-{part(stem)}"] if wrong_with(stem) else []),
        "# output: results/{name}   # {name}: that of this file",
        "",
        "datasets:",
        *_dataset_lines(made, start),
        "",
        "runs:",
        *_run_lines(made, start),
        "",
        *_where_lines(made),
        *_select_lines(made),
        "metrics:   # all of them: harness metrics",
        *(f"  - {_flow(name)}" for name in dict.fromkeys(metrics)),
        "",
        "# policy: {ties: trec_eval, missing_queries: zero, empty_queries: zero}   # the defaults",
        *_summary_lines(made),
        *_compare_lines(made),
        "# reports: [csv, markdown]",
    ]
    if made.aside:
        lines += ["", "# Not used:", *_aside_lines(made)]
    return "\n".join(lines) + "\n"


def _relative(folder: Path, base: Path) -> str:
    """Return the way to a folder; through links only if the base's own links lead elsewhere."""
    way = os.path.relpath(os.path.abspath(folder), os.path.abspath(base))
    if os.path.realpath(base / way) != os.path.realpath(folder):
        way = os.path.relpath(os.path.realpath(folder), os.path.realpath(base))
    return Path(way).as_posix()


def _dataset_lines(made: Proposal, start: str) -> Iterator[str]:
    if not made.datasets:
        yield "  # fill in: no qrels were found, and no learning-to-rank file"
        yield "  data: {path: FILL-IN}"
    for entry in made.datasets:
        parts = {"format": entry.format, "path": start + entry.path}
        yield f"  {_flow(entry.key)}: {_flow(parts)}"
        if entry.validation:
            parts["path"] = start + entry.validation
            yield f"  # {_flow(entry.validation_key)}: {_flow(parts)}{FOR_SELECT}"


def _run_lines(made: Proposal, start: str) -> Iterator[str]:
    if not made.runs:
        yield "  # fill in: no run was found that fits the qrels; a path may have {model}"
        for n, data in enumerate(made.datasets or [None]):
            marks = "".join(f".{mark}{{{mark}}}" for mark in data.group.names) if data else ""
            yield f'  # such as "predictions/{{model}}{marks}.txt"'
            name = {"dataset": data.key} if data and len(made.datasets) > 1 else {}
            yield f"  model{n + 1 if n else ''}: {_flow({**name, 'path': 'FILL-IN'})}"
    for key in dict.fromkeys(entry.key for entry in made.runs):
        entries = {
            (one.path, one.format, one.dataset if one.names_dataset else None): one
            for one in made.runs
            if one.key == key
        }  # a line for all datasets that are in its path
        is_list = len(entries) > 1 or any(entry.validation for entry in entries.values())
        indent, head = ("    ", "-") if is_list else ("  ", f"{_flow(key)}:")
        if is_list:
            yield f"  {_flow(key)}:"
        for entry in entries.values():
            name = {"dataset": entry.dataset.key} if entry.names_dataset else {}
            parts = {**name, "format": entry.format, "path": start + entry.path}
            if entry.note:
                yield f"{indent}# {legible(entry.note)}"
            yield f"{indent}{head} {_flow(parts)}"
            if entry.validation:
                own = {"dataset": entry.dataset.validation_key, "path": start + entry.validation}
                yield f"    # - {_flow(parts | own)}{FOR_SELECT}"


def _where_lines(made: Proposal) -> Iterator[str]:
    if made.where:
        yield f"where: {_flow(made.where)}   # there are data for more, but no runs"
        yield ""
        return
    for entry in made.runs:
        for name, value in next(iter(entry.group.values.values())).items():
            yield f"# where: {_flow({name: [value]})}   # evaluate a part of it"
            yield "# complete: true   # make gaps in the grid an error"
            yield ""
            return


def _select_lines(made: Proposal) -> Iterator[str]:
    """Yield how to choose settings, if there are predictions for validation data."""
    if VALIDATION in made.aside.values():
        keys = [entry.validation_key for entry in made.datasets if entry.validation]
        over = [one for one in made.settings if one not in SHORT] or ["SETTING"]
        what = "remove the first # of each line for select"
        what = what if keys else "add them and their predictions"
        yield f"# To choose on validation data, {what};"
        yield "# see docs/how-to/choose-on-validation.md"
        select = {"on": keys[0] if keys else "VALIDATION", "by": _COLUMNS[1], "over": over}
        yield f"# select: {_flow(select)}{FOR_SELECT}"
        yield ""


def _summary_lines(made: Proposal) -> Iterator[str]:
    """Yield the summary that makes one row of folds and seeds, if there are any."""
    pool = [*dict.fromkeys(name for entry in made.datasets for name in entry.group.names)]
    own = dict.fromkeys(name for entry in made.runs for name in entry.group.names)
    spread = [name for name in own if name in WORDS and name not in pool]
    sharing = any(entry.shares_queries for entry in made.datasets)
    ways = {"average" if sharing else "pool": pool, "spread": spread}
    gaps = list(_gaps(made))
    for gap in gaps[:SHOWN]:
        yield f"# {legible(gap)}"
    if pool or spread:
        mark = _mark(made, "summary", bool(made.runs) and not gaps)
        given = {way: names for way, names in ways.items() if names}
        yield f"{mark}summary: {_flow(given)}   # a row a system, not a row a cell"
    if sharing:
        yield "#   average, which goes without compare: folds share queries, and cannot be pooled"


def _gaps(made: Proposal) -> Iterator[str]:
    """Yield the runs that have no predictions for some folds, and these folds."""
    for entry in made.runs:
        data = entry.dataset.group
        found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for values in entry.group.values.values():
            own = [name for name in values if name not in (*data.names, MODEL)]
            marks = "".join(f" {name} {values[name]}" for name in own)
            run = _name(entry.key, values.get(MODEL, "")) + marks
            found[run].add(tuple(values.get(name, "") for name in data.names))
        every = {tuple(values[name] for name in data.names) for values in data.values.values()}
        for run, folds in found.items():
            if lost := sorted(every - folds, key=lambda one: natural(" ".join(one))):
                shown = ", ".join(" ".join(one) for one in lost)
                yield f"no predictions of {run} for {' '.join(data.names)} {shown}"


def _compare_lines(made: Proposal) -> Iterator[str]:
    """Yield comparisons, with a usual baseline or the first run that all data have, and a table."""
    names: dict[ProposedDataset, dict[str, None]] = defaultdict(dict)
    for entry in made.runs:
        names[entry.dataset] |= dict.fromkeys(sorted(name for _, name in entry.models()))
    each = dict.fromkeys(name for some in names.values() for name in some)
    usual = [_baselines(some)[:1] for some in names.values()]
    known = all(usual)
    shared = [name for name in each if all(name in some for some in names.values())]
    first = [name for (name,) in usual] if known else shared[:1]
    baselines = [*dict.fromkeys(first or ["RUN"])]
    if len(each) != 1:
        sharing = any(entry.shares_queries for entry in made.datasets)
        mark = _mark(made, "compare", bool(first) and not sharing)
        plan = {
            "baseline": baselines[0] if len(baselines) == 1 else baselines,
            "metrics": _COLUMNS, "test": "paired-t", "correction": "holm",
        }  # fmt: skip
        note = "" if known else "   # name your baseline"
        if "compare" in made.commented and any(entry.validation for entry in made.datasets):
            note += FOR_SELECT
        yield f"{mark}compare: {_flow(plan)}{note}"
    mark = _mark(made, "tables", bool(made.runs))
    width = {"width": "page"} if len(made.datasets) > 1 else {}
    yield f"{mark}tables:"
    yield f"{mark}  main: {_flow({'metrics': _COLUMNS, 'sort': 'map', **width})}"


def _baselines(names: Iterable[str]) -> list[str]:
    """Return the names that baselines usually have, the most usual first.

    >>> _baselines(["random", "neural", "linear-regression", "BM25+RM3"])
    ['BM25+RM3', 'linear-regression', 'random']
    """
    usual = ("bm25", "baseline", "linear", "random")
    return [name for word in usual for name in sorted(names, key=len) if word in name.lower()]


def _mark(made: Proposal, section: str, fits: bool) -> str:
    """Return what a section's lines begin with: the sign of a comment, unless it fits."""
    return "" if fits and section not in made.commented else "# "


def _aside_lines(made: Proposal) -> list[str]:
    """Return a line for each file left out, or for files that differ in a fold, seed or setting.

    Of more than three of one reason, those that differ in one part of the path have one line too.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for path, why in made.aside.items():
        alike[why].append(path)
    lines = []
    for why, paths in alike.items():
        groups = numbered(paths, made.settings)
        for group in families(groups) if len(groups) > 3 else groups:
            n = len(group.values)
            name = next(iter(group.values)) if n == 1 else f"{group.pattern}: {n} files"
            lines.append(legible(f"#   {name}: {why}"))
    return [*lines[:SHOWN], *(f"#   {more}" for more in and_more(len(lines) - SHOWN))]


def _flow(value: Any) -> str:
    """Return plain data as YAML on one line; text is in quotes if it needs them."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_flow(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    plain = _PLAIN.fullmatch(value) and value.lower() not in ("y", "n")  # YAML 1.1's true and false
    with contextlib.suppress(YAMLError):  # a number that YAML reads as another
        if plain and load_yaml(value) == value:
            return str(value)
    return in_json(value)
