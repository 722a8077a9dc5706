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

from ..core.entries import natural
from ..errors import SITE, ConfigError, InputError, Problem, and_more, in_json, legible
from ..input_files import add_inputs, check_local, keeping_inputs
from ..readers import files as store
from ..readers.column_roles import lower_is_better
from ..readers.files import part, wrong_with
from ..readers.ir_metadata import load as load_yaml
from .cells import DATASET
from .init_files import (
    BY_ROW,
    MODEL,
    SHORT,
    WORDS,
    FileGroup,
    FolderScan,
    Matcher,
    escape_path,
    fill_pattern,
    group_by_number,
    model_families,
    scan_folders,
    settings_in,
    short_in,
    stem_of,
    unescape_path,
)
from .load import check_name, loads
from .model import SCHEMA
from .patterns import Pattern, double_braces
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
    rf"[ _.,-]?(?<![A-Za-z])(?:{'|'.join(WORDS)}|(\w+)(?==?\{{\1\}})"
    r"|f(?==?\{fold)|s(?==?\{seed))?[ _.=-]?"
    r"(?<!\{)\{\w+\}(?!\})",
    re.I,
)
_NOT_NAMES = re.compile(
    r"(?<![A-Za-z])(test|train|vali|valid|qrels?|data|datasets?|judge?ments?|labels?|txt|letor|trec"
    r"|runs|sample)(?![A-Za-z])",
    re.I,
)


@dataclass(eq=False)
class ProposedDataset:
    """One entry of ``datasets``; `validation` is the pattern of the same for validation data."""

    format: str
    group: FileGroup
    key: str = ""
    validation: str = ""

    @property
    def path(self) -> str:
        """Pattern of its files, relative to the searched folder."""
        return self.group.pattern

    @property
    def is_rows(self) -> bool:
        """Whether predictions follow its rows."""
        return self.format in BY_ROW

    @property
    def validation_key(self) -> str:
        """Name of the validation data."""
        return "-".join(["vali", *(f"{mark}{{{mark}}}" for mark in self.group.names)])


@dataclass(eq=False)
class ProposedRun:
    """One entry of ``runs``; `path` may have ``{dataset}``, and `note` has the doubts.

    `marks` are placeholders that a summary adds to the name, such as `` loss={loss}``.
    """

    format: str
    group: FileGroup
    dataset: ProposedDataset
    path: str
    note: str = ""
    key: str = ""
    marks: str = ""
    names_dataset: bool = False
    validation: str = ""

    def models(self, key: str = "") -> set[tuple[ProposedDataset, str]]:
        """Return dataset and name of each model, under its key or another."""
        rows = self.group.values.values()
        name = (key or self.key) + self.marks
        return {(self.dataset, _filled_name(name, values)) for values in rows}


def _filled_name(key: str, values: Mapping[str, str]) -> str:
    braced = {name: double_braces(value) for name, value in values.items()}
    return unescape_path(fill_pattern(key, braced))


@dataclass
class Proposal:
    """Content of a config: `aside` has the files left out and why, `commented` sections.

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
    for folder in folders:
        check_local(folder)
    wrong = [
        Problem(str(folder), "expected a folder, got none", fix=fix)
        for folder in folders
        if not folder.is_dir()
    ]
    if wrong:
        raise InputError(wrong)
    check_name(base / Path(where).name)
    names = ", ".join(map(str, folders))
    with keeping_inputs(apart=True):  # it looks into files that the config will not name
        scan = scan_folders(folders)
    add_inputs(*(scan.folder / file.path for file in scan.files))
    if not scan.files:
        message = f"expected runs and qrels, got {len(scan.paths)} other files"
        raise InputError(Problem(names, message, fix="see docs/reference/formats.md"))
    proposal = propose_entries(scan)
    while True:
        text = render_config(proposal, base, where)
        try:
            if proposal.datasets and proposal.runs:
                loads(text, where, base)
            return text, proposal
        except ConfigError as error:
            if not _without_problems(proposal, error):
                cause = error.problems[0]
                message = f"its files give no valid config: {cause.where}: {cause.what}"
                fix = "rename the folder or file, or write the config yourself"
                raise InputError(Problem(names, message, fix=fix)) from error


def _without_problems(proposal: Proposal, error: ConfigError) -> bool:
    """Leave out the runs and comment out the sections with problems; False if there are none."""
    placed = [problem for problem in error.problems if isinstance(problem, PlacedProblem)]
    wrong = {
        problem.loc[1]: problem.what for problem in placed[::-1] if problem.loc[:1] == ("runs",)
    }
    sections = {str(problem.loc[0]) for problem in placed if problem.loc}
    sections &= {"summary", "compare", "tables"}
    sizes = len(proposal.runs), len(proposal.commented)
    rejected = [entry for entry in proposal.runs if entry.key in wrong]
    proposal.aside |= {entry.path: wrong[entry.key] for entry in rejected}
    proposal.runs = [entry for entry in proposal.runs if entry.key not in wrong]
    proposal.commented |= sections
    return sizes != (len(proposal.runs), len(proposal.commented))


def save_config(folders: Path | Sequence[Path], output: Path, *, force: bool = False) -> Proposal:
    """Write a config for the files in folders, and return its content.

    Raises InputError as `propose_config`, and if the file exists without `force`.
    """
    if output.exists() and not force:
        fix = "name another file with --output, or add --force"
        raise InputError(Problem(str(output), "the file exists", fix=fix))
    check_local(output)
    store.check_writable(output.parent)
    output.parent.mkdir(parents=True, exist_ok=True)
    with keeping_inputs():
        text, proposal = propose_config(folders, output.parent, str(output))
        store.write_all(output.parent, {output.name: text.encode()})
    return proposal


def propose_entries(scan: FolderScan) -> Proposal:
    """Return the entries for the files in folders."""
    proposal = Proposal(scan.folder)
    data = [file for file in scan.files if file.kind == "dataset"]
    runs = [file for file in scan.files if file.kind == "run"]
    paths = [run.path for run in runs]
    short = short_in(paths, [file.path for file in data])
    numbers = {p: v for group in group_by_number(paths, short) for p, v in group.values.items()}
    groups = [
        (group, form)
        for form in dict.fromkeys(file.format for file in data)
        for group in group_by_number([file.path for file in data if file.format == form])
    ]
    matcher = Matcher(scan.folder, groups)
    files: dict[int, set[str]] = defaultdict(set)
    of_dataset: dict[tuple[int, str], list[str]] = defaultdict(list)
    other_groups: dict[str, tuple[int, ...]] = {}
    for run in runs:
        try:
            number, path, other_groups[run.path] = matcher.find(run, numbers[run.path])
        except InputError as error:
            proposal.aside[run.path] = error.problems[0].what
            continue
        files[number].add(path)
        of_dataset[number, run.format].append(run.path)
    datasets: dict[int, ProposedDataset] = {}
    unused = {path for group, _ in groups for path in group.values}
    for number in sorted(files) or [*range(len(groups))]:
        group, form = groups[number]
        used = {p: v for p, v in group.values.items() if p in (files.get(number) or group.values)}
        unused -= {*used}
        varying_group = FileGroup(group.pattern, used).varying()
        for name in varying_group.names:
            used_values = {values[name] for values in varying_group.values.values()}
            if used_values != {values[name] for values in group.values.values()}:
                proposal.where[name] = sorted(used_values, key=natural)
        datasets[number] = ProposedDataset(form, varying_group)
    proposal.datasets = [*datasets.values()]
    reason = dict.fromkeys(sorted(unused, key=natural), "no run belongs to it")
    proposal.aside = {**reason, **proposal.aside, **scan.aside}
    folds = settings_in(file.path for file in data)
    chosen = settings_in(path for path, text in scan.aside.items() if text == VALIDATION)
    proposal.settings = (*(word for word in chosen if word not in folds), *short)
    for (number, form), paths in of_dataset.items():
        dataset = datasets[number]
        by_setting = group_by_number(paths, proposal.settings)
        for group in model_families(by_setting, groups[number][0].pattern):
            group = group.varying((*dataset.group.names, MODEL))
            for subgroup in _without_strangers(group, scan.paths):
                others = (n for path in subgroup.values for n in other_groups[path])
                fitting = {groups[n][0].pattern for n in others}
                note = f"a guess: could also be {', '.join(sorted(fitting))}" if fitting else ""
                proposal.runs.append(ProposedRun(form, subgroup, dataset, subgroup.pattern, note))
    _name_datasets(proposal)
    _name_runs(proposal)
    _join_datasets(proposal)
    _add_validation(proposal)
    return proposal


def _without_strangers(group: FileGroup, paths: Sequence[str]) -> list[FileGroup]:
    """Return a group for each model if the pattern of all would match other files."""
    pattern = Pattern(group.pattern.replace("$$", "$"))
    strangers = (path for path in paths if pattern.match(path) is not None)
    if MODEL not in group.names or all(path in group.values for path in strangers):
        return [group]
    models: dict[str, dict[str, Mapping[str, str]]] = defaultdict(dict)
    for path, values in group.values.items():
        models[values[MODEL]][path] = values
    remaining = {*group.names} - {MODEL}
    return [FileGroup(group.pattern, files).varying(remaining) for files in models.values()]


def _part_of_name(text: str) -> str:
    """Return a part of a path's pattern as a name: without folds, settings and the word test."""
    bare = _FILLED.sub("", text).replace("$$", "$")
    return re.sub(r"^(test)?[\s_.-]+|[\s_.-]+(test)?$", "", bare)


def _name_datasets(proposal: Proposal) -> None:
    """Name datasets after what tells them apart, or after the folder."""
    names = []
    for entry in proposal.datasets:
        *folders, file = entry.path.split("/")
        parts = [_NOT_NAMES.sub("", _part_of_name(part)) for part in (*folders, stem_of(file)[0])]
        parts = [re.sub(r"[ _.-]{2,}", "-", part.strip(" _.-")) for part in parts]
        names.append([part for part in parts if part])
    taken: set[str] = set()
    for place, entry in enumerate(proposal.datasets):
        other_parts = {part for n, parts in enumerate(names) if n != place for part in parts}
        distinct_parts = [part for part in names[place] if part not in other_parts] or names[place]
        folders = [proposal.folder.resolve().name]
        if len(proposal.datasets) > 1:
            folders += [_part_of_name(folder) for folder in entry.path.split("/")[:-1]]
        outer = [double_braces(folder).strip() for folder in folders if folder.strip()]
        name = (distinct_parts or outer)[-1]
        if name.isdecimal() or name == "qrels":  # qrels.1.txt, qrels/test.tsv
            name = stem_of(entry.path.rpartition("/")[2])[0]
        numbers = (name, *(f"{name}-{n}" for n in range(2, len(proposal.datasets) + 2)))
        name = next(candidate for candidate in numbers if candidate not in taken)
        taken.add(name)  # without marks: folds that are pooled are called so
        marks = [f"{mark}{{{mark}}}" for mark in entry.group.names]
        is_folder = not distinct_parts and len(proposal.datasets) == 1
        entry.key = "-".join(marks if marks and is_folder else [name, *marks])


def _name_runs(proposal: Proposal) -> None:
    """Name runs after their files, and after their folders too if two would have one name."""
    candidates = []
    for entry in proposal.runs:
        folder, _, file = entry.path.rpartition("/")
        if MODEL in entry.group.names:
            around = (part for part in folder.split("/") if f"{{{MODEL}}}" not in part)
            parts = [part for part in map(_part_of_name, around) if part]
            candidates.append([f"{{{MODEL}}}", *parts[::-1]])
        else:
            parts = [_part_of_name(part) for part in (*folder.split("/"), stem_of(file)[0])]
            name = double_braces(proposal.folder.resolve().name).strip() or "run"
            name_parts = [part for part in parts[::-1] if _NOT_NAMES.sub("", part)]
            candidates.append(name_parts or [part for part in parts[::-1] if part] or [name])
        known = (*WORDS, MODEL, *entry.dataset.group.names, *proposal.settings)
        entry.marks = "".join(f" {n}={{{n}}}" for n in entry.group.names if n not in known)
        if entry.marks and not any(_pool_and_spread(proposal)):
            name = candidates[-1][0] if _NOT_NAMES.sub("", candidates[-1][0]) else ""
            candidates[-1][0], entry.marks = (name + entry.marks).strip(), ""
    names = [entry.models(way[0]) for way, entry in zip(candidates, proposal.runs, strict=True)]
    taken: set[tuple[ProposedDataset, str]] = set()
    for place, (entry, (key, *outer)) in enumerate(zip(proposal.runs, candidates, strict=True)):
        if outer and any(
            names[place] & other_models for n, other_models in enumerate(names) if n != place
        ):
            key = f"{outer.pop(0)}-{key}"
        while taken & entry.models(key):
            key = f"{outer.pop(0)}-{key}" if outer else f"{key}-2"
        entry.key = key
        taken |= entry.models()
        marks = {*entry.group.names}
        sharing = [dataset for dataset in proposal.datasets if marks & {*dataset.group.names}]
        entry.names_dataset = len(proposal.datasets) > 1 and sharing != [entry.dataset]


def _join_datasets(proposal: Proposal) -> None:
    """Put ``{dataset}`` in place of entries that only differ in the name of their dataset."""
    by_path: dict[tuple[str, str, str], list[ProposedRun]] = defaultdict(list)
    for entry in proposal.runs:
        parts = [
            f"{{{DATASET}}}" if part.replace("$$", "$") == entry.dataset.key else part
            for part in entry.path.split("/")
        ]
        if entry.names_dataset and f"{{{DATASET}}}" in parts:
            by_path["/".join(parts), entry.key, entry.format].append(entry)
    for (path, _, _), entries in by_path.items():
        for entry in entries if len(entries) > 1 else ():
            entry.path, entry.names_dataset = path, False


def _add_validation(proposal: Proposal) -> None:
    """Add the paths for validation data to a dataset and its runs, if it alone has them."""
    paths = {entry: _validation_path(entry.path, proposal.aside) for entry in proposal.runs}
    validated = {entry.dataset for entry, path in paths.items() if path}
    if len(validated) == 1 and (
        path := _validation_path((dataset := validated.pop()).path, proposal.aside)
    ):
        dataset.validation = path
        for entry in proposal.runs:
            if entry.dataset is dataset and f"{{{DATASET}}}" not in entry.path:
                entry.validation, entry.names_dataset = paths[entry], True


def _validation_path(test_path: str, aside: Collection[str]) -> str:
    """Return the pattern of an entry's files for validation data; empty if there are none."""
    if f"{{{DATASET}}}" in test_path:  # it would be the name of the validation data
        return ""
    for word in ("vali", "valid", "validation", "val", "dev"):
        path = re.sub(r"(?<![A-Za-z])test(?![A-Za-z])", word, test_path)
        pattern = Pattern(path.replace("$$", "$"))
        if path != test_path and any(pattern.match(file) is not None for file in aside):
            return path
    return ""


def render_config(proposal: Proposal, base: Path, where: str) -> str:
    """Return the config for a folder `base`; it gets a ``name`` if `where` cannot be one."""
    way = _relative_path(proposal.folder, base)
    start = "" if way == "." else escape_path(way) + "/"
    stem = Path(where).stem
    kinds = {entry.is_rows for entry in proposal.datasets}
    metrics = [*(_ROWS if True in kinds else []), *(_TREC if kinds != {True} else [])]
    lines = [
        f"# yaml-language-server: $schema={SCHEMA}",
        "# Written by harness init. Paths are relative to this file. {placeholders} match any text",
        f"# in file names. {SITE}reference/config/ lists every key.",
        "# harness run FILE --dry-run lists the cells.",
        *([f"name: config-{part(stem)}"] if wrong_with(stem) else []),
        "# output: results/{name}   # {name}: the name of this file",
        "",
        "datasets:",
        *_dataset_lines(proposal, start),
        "",
        "runs:",
        *_run_lines(proposal, start),
        "",
        *_where_lines(proposal),
        *_select_lines(proposal),
        "metrics:   # harness metrics lists all",
        *(f"  - {_flow_yaml(name)}" for name in dict.fromkeys(metrics)),
        "",
        "# policy: {ties: trec_eval, missing_queries: zero, empty_queries: zero}   # the defaults",
        *_summary_lines(proposal),
        *_compare_lines(proposal),
        "# reports: [csv, markdown]",
    ]
    if proposal.aside:
        lines += ["", "# Not used:", *_aside_lines(proposal)]
    return "\n".join(lines) + "\n"


def _relative_path(folder: Path, base: Path) -> str:
    """Return the way to a folder; through links only if the base's own links lead elsewhere."""
    way = os.path.relpath(os.path.abspath(folder), os.path.abspath(base))
    if os.path.realpath(base / way) != os.path.realpath(folder):
        way = os.path.relpath(os.path.realpath(folder), os.path.realpath(base))
    return Path(way).as_posix()


def _dataset_lines(proposal: Proposal, start: str) -> Iterator[str]:
    if not proposal.datasets:
        yield "  # fill in: no qrels were found, and no learning-to-rank file"
        yield "  data: {path: FILL-IN}"
    for entry in proposal.datasets:
        parts = {"format": entry.format, "path": start + entry.path}
        yield f"  {_flow_yaml(entry.key)}: {_flow_yaml(parts)}"
        if entry.validation:
            parts["path"] = start + entry.validation
            yield f"  # {_flow_yaml(entry.validation_key)}: {_flow_yaml(parts)}{FOR_SELECT}"


def _run_lines(proposal: Proposal, start: str) -> Iterator[str]:
    if not proposal.runs:
        yield "  # fill in: no run was found that fits the qrels; a path may have {model}"
        for n, data in enumerate(proposal.datasets or [None]):
            marks = "".join(f".{mark}{{{mark}}}" for mark in data.group.names) if data else ""
            yield f'  # such as "predictions/{{model}}{marks}.txt"'
            name = {"dataset": data.key} if data and len(proposal.datasets) > 1 else {}
            yield f"  model{n + 1 if n else ''}: {_flow_yaml({**name, 'path': 'FILL-IN'})}"
    for key in dict.fromkeys(entry.key for entry in proposal.runs):
        entries = {
            (entry.path, entry.format, entry.dataset if entry.names_dataset else None): entry
            for entry in proposal.runs
            if entry.key == key
        }  # a line for all datasets that are in its path
        is_list = len(entries) > 1 or any(entry.validation for entry in entries.values())
        indent, head = ("    ", "-") if is_list else ("  ", f"{_flow_yaml(key)}:")
        if is_list:
            yield f"  {_flow_yaml(key)}:"
        for entry in entries.values():
            name = {"dataset": entry.dataset.key} if entry.names_dataset else {}
            parts = {**name, "format": entry.format, "path": start + entry.path}
            if lower_is_better(os.path.splitext(entry.path)[1]):
                parts["order"] = "ascending"
            if entry.note:
                yield f"{indent}# {legible(entry.note)}"
            yield f"{indent}{head} {_flow_yaml(parts)}"
            if entry.validation:
                parts |= {"dataset": entry.dataset.validation_key}
                parts |= {"path": start + entry.validation}
                yield f"    # - {_flow_yaml(parts)}{FOR_SELECT}"


def _where_lines(proposal: Proposal) -> Iterator[str]:
    if proposal.where:
        yield f"where: {_flow_yaml(proposal.where)}   # the other datasets have no runs"
        yield ""
        return
    for entry in proposal.runs:
        for name, value in next(iter(entry.group.values.values())).items():
            yield f"# where: {_flow_yaml({name: [value]})}   # evaluate only a part"
            yield "# complete: true   # stop if a cell is missing"
            yield ""
            return


def _select_lines(proposal: Proposal) -> Iterator[str]:
    """Yield the lines that choose settings, if there are predictions for validation data."""
    if VALIDATION in proposal.aside.values():
        keys = [entry.validation_key for entry in proposal.datasets if entry.validation]
        over = [word for word in proposal.settings if word not in SHORT] or ["SETTING"]
        advice = "remove the first # of each line that ends in '# for select'"
        advice = advice if keys else "add the validation data and its predictions"
        yield f"# To choose settings on validation data, {advice}:"
        yield "# see docs/how-to/choose-on-validation.md"
        select = {"on": keys[0] if keys else "VALIDATION", "by": _COLUMNS[1], "over": over}
        yield f"# select: {_flow_yaml(select)}{FOR_SELECT}"
        yield ""


def _pool_and_spread(proposal: Proposal) -> tuple[list[str], list[str]]:
    """Return the folds and seeds of all datasets, and those of runs alone."""
    in_data, in_runs = (
        dict.fromkeys(name for entry in entries for name in entry.group.names if name in WORDS)
        for entries in (proposal.datasets, proposal.runs)
    )
    return [*in_data], [name for name in in_runs if name not in in_data]


def _summary_lines(proposal: Proposal) -> Iterator[str]:
    """Yield the summary that makes one row of folds and seeds, if there are any."""
    pool, spread = _pool_and_spread(proposal)
    ways = {"pool": pool, "spread": spread}
    gaps = list(_gap_texts(proposal))
    for gap in gaps[:SHOWN]:
        yield f"# {legible(gap)}"
    if pool or spread:
        mark = _comment_mark(proposal, "summary", bool(proposal.runs) and not gaps)
        summary = {way: names for way, names in ways.items() if names}
        yield f"{mark}summary: {_flow_yaml(summary)}   # one row per system"


def _gap_texts(proposal: Proposal) -> Iterator[str]:
    """Yield the runs that have no predictions for some folds, and these folds."""
    for entry in proposal.runs:
        data = entry.dataset.group
        folds_by_run: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for values in entry.group.values.values():
            key = entry.key + entry.marks
            names = [name for name in values if name not in (*data.names, *Pattern(key).names)]
            marks = "".join(f" {name} {values[name]}" for name in names)
            run = _filled_name(key, values) + marks
            folds_by_run[run].add(tuple(values.get(name, "") for name in data.names))
        all_folds = {tuple(values[name] for name in data.names) for values in data.values.values()}
        for run, folds in folds_by_run.items():
            if missing_folds := sorted(all_folds - folds, key=lambda fold: natural(" ".join(fold))):
                listed = ", ".join(" ".join(fold) for fold in missing_folds)
                yield f"no predictions of {run} for {' '.join(data.names)} {listed}"


def _compare_lines(proposal: Proposal) -> Iterator[str]:
    """Yield comparisons, with a usual baseline or the first run that all data have, and a table."""
    names: dict[ProposedDataset, dict[str, None]] = defaultdict(dict)
    for entry in proposal.runs:
        names[entry.dataset] |= dict.fromkeys(sorted(name for _, name in entry.models()))
    all_names = dict.fromkeys(name for group in names.values() for name in group)
    usual = [_baselines(group)[:1] for group in names.values()]
    has_usual = all(usual)
    shared = [name for name in all_names if all(name in group for group in names.values())]
    chosen = [name for (name,) in usual] if has_usual else shared[:1]
    baselines = [*dict.fromkeys(chosen or ["RUN"])]
    if len(all_names) != 1:
        mark = _comment_mark(proposal, "compare", bool(chosen))
        baseline = baselines[0] if len(baselines) == 1 else baselines
        plan = {"baseline": baseline, "metrics": _COLUMNS}
        plan |= {"test": "paired-t", "correction": "holm"}
        note = "" if has_usual else "   # name your baseline"
        if "compare" in proposal.commented and any(entry.validation for entry in proposal.datasets):
            note += FOR_SELECT
        yield f"{mark}compare: {_flow_yaml(plan)}{note}"
    mark = _comment_mark(proposal, "tables", bool(proposal.runs))
    width = {"width": "page"} if len(proposal.datasets) > 1 else {}
    yield f"{mark}tables:"
    yield f"{mark}  main: {_flow_yaml({'metrics': _COLUMNS, 'sort': 'map', **width})}"


def _baselines(names: Iterable[str]) -> list[str]:
    """Return the names that baselines usually have, the most usual first.

    >>> _baselines(["random", "neural", "linear-regression", "BM25+RM3"])
    ['BM25+RM3', 'linear-regression', 'random']
    """
    usual = ("bm25", "baseline", "linear", "random")
    return [name for word in usual for name in sorted(names, key=len) if word in name.lower()]


def _comment_mark(proposal: Proposal, section: str, fits: bool) -> str:
    """Return the beginning of a section's lines: the sign of a comment, unless it fits."""
    return "" if fits and section not in proposal.commented else "# "


def _aside_lines(proposal: Proposal) -> list[str]:
    """Return a line for each file left out, or for files that differ in a fold, seed or setting.

    Of more than three of one reason, those that differ in one part of the path have one line too.
    """
    by_reason: dict[str, list[str]] = defaultdict(list)
    for path, reason in proposal.aside.items():
        by_reason[reason].append(path)
    lines = []
    for reason, paths in by_reason.items():
        groups = group_by_number(paths, proposal.settings)
        for group in model_families(groups) if len(groups) > 3 else groups:
            n = len(group.values)
            name = next(iter(group.values)) if n == 1 else f"{group.pattern}: {n} files"
            lines.append(legible(f"#   {name}: {reason}"))
    return [*lines[:SHOWN], *(f"#   {rest}" for rest in and_more(len(lines) - SHOWN))]


def _flow_yaml(value: Any) -> str:
    """Return plain data as YAML on one line; text is in quotes if it needs them."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_flow_yaml(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow_yaml, value))}]"
    plain = _PLAIN.fullmatch(value) and value.lower() not in ("y", "n")  # YAML 1.1's true and false
    with contextlib.suppress(YAMLError):  # a number that YAML reads as another
        if plain and load_yaml(value) == value:
            return str(value)
    return in_json(value)
