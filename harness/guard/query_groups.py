"""Groups of queries: which a config names, how they match datasets, and reversals in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ..config.cells import Cell
from ..core.comparable import why_not
from ..core.entries import Entry, System, grouped_by
from ..core.rules import finding
from ..errors import Finding, HarnessError, InputError, Problem, counted, problem
from ..readers.groups import Labels, find_grouping, labels_of, read_groups

if TYPE_CHECKING:
    from ..config.model import Groups


@dataclass(frozen=True)
class Grouping:
    """Source of the groups of a dataset's queries."""

    place: str
    """The file, or the function, for messages."""
    labels: Callable[[Sequence[str]], Labels]
    """Function from the qids of a dataset to their labels, by column."""


def load(groups: Groups) -> Grouping:
    """Return what groups the queries: a file's labels, which are read now, or a function's."""
    if groups.path is not None:
        labels = read_groups(Path(groups.path), groups.qid, groups.columns, groups.bins)
        return Grouping(groups.path, lambda qids: labels)
    function, name = find_grouping(str(groups.function)), f"function '{groups.function}'"

    def call(qids: Sequence[str]) -> Labels:
        try:
            columns = function(qids)
            if not isinstance(columns, Mapping):
                what = f"expected a mapping of columns to labels, got {type(columns).__name__}"
                raise InputError(Problem(name, what, fix="return {'length': [label of each qid]}"))
            wanted = groups.columns or list(columns)
            return labels_of(name, qids, {one: list(columns[one]) for one in wanted}, groups.bins)
        except HarnessError:
            raise
        except Exception as error:
            raise HarnessError(replace(problem(error), where=name)) from error

    return Grouping(name, call)


def load_all(cells: Iterable[Cell]) -> dict[str, Grouping]:
    """Return what groups the queries of each dataset that has groups, by its name."""
    read: dict[str, Grouping] = {}
    found = {}
    for cell in cells:
        if (groups := cell.dataset_entry.groups) is not None:
            key = groups.model_dump_json()
            read[key] = found[cell.dataset] = read.get(key) or load(groups)
    return found


def match(
    groups: Mapping[str, Grouping], qids: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Labels], list[Finding]]:
    """Return the labels of each dataset, and queries without a group and groups without a query.

    `groups` and `qids` are of datasets, by name. Raises InputError if a file of groups has no query
    of a dataset.
    """
    labels: dict[str, Labels] = {}
    found: list[Finding] = []
    known = [name for name in groups if name in qids]
    for place, names in grouped_by(known, lambda name: groups[name].place).items():
        own, inside = dict[str, None](), dict[str, None]()
        for name in names:
            labels[name] = groups[name].labels(qids[name])
            with_group = dict.fromkeys(qid for each in labels[name].values() for qid in each)
            if qids[name] and with_group.keys().isdisjoint(qids[name]):
                what = f"expected qids of dataset '{name}' such as '{qids[name][0]}', got "
                what += f"'{next(iter(with_group))}'" if with_group else "none with a group"
                fix = "give the groups of this dataset, with qids written alike"
                raise InputError(Problem(place, what, fix=fix))
            own |= dict.fromkeys(qids[name])
            inside |= with_group
        if unknown := [qid for qid in inside if qid not in own]:
            text = counted(len(unknown), "qid with a group is", "qids with a group are")
            what = f"{text} not in the dataset"
            found.append(finding("group-queries", place, what, len(unknown), unknown))
        if absent := [qid for qid in own if qid not in inside]:
            text = counted(len(absent), "query of the dataset has", "queries of the dataset have")
            found.append(finding("group-queries", place, f"{text} no group", len(absent), absent))
    return labels, found


def attach(
    entries: Sequence[Entry], groups: Mapping[str, Grouping]
) -> tuple[list[Entry], list[Finding]]:
    """Return entries with the groups of their queries, and what the guard reports of these."""
    qids: dict[str, dict[str, None]] = {}
    for entry in entries:
        own = dict.fromkeys(entry.evaluation.qids.to_pylist())
        qids.setdefault(entry.dataset, {}).update(own)
    labels, findings = match(groups, {name: [*some] for name, some in qids.items()})
    found = []
    for entry in entries:
        if entry.dataset in labels:
            names = entry.evaluation.qids.to_pylist()
            columns = {
                name: pa.array([each.get(qid) for qid in names], pa.string())
                for name, each in labels[entry.dataset].items()
            }
            entry = replace(entry, evaluation=replace(entry.evaluation, groups=columns))
        found.append(entry)
    return found, findings


def reversals(systems: Sequence[System], places: Mapping[str, str]) -> list[Finding]:
    """Return pairs of systems where one is better overall and worse in every group.

    `places` are the files of datasets, by name.
    """
    wholes: dict[str, list[System]] = {}
    parts: dict[tuple[str, str], dict[str, dict[str, System]]] = {}
    for one in systems:
        if one.group:
            column = one.group.partition("=")[0]
            groups = parts.setdefault((one.whole, column), {})
            groups.setdefault(one.group, {})[one.run] = one
        else:
            wholes.setdefault(one.dataset, []).append(one)
    found = []
    for (dataset, column), groups in parts.items():
        some = wholes.get(dataset, [])
        if len(groups) < 2 or len(some) < 2:
            continue
        for metric in some[0].metrics:
            if why_not(metric):
                continue
            overall = metric.sign * np.array([one.value(metric) for one in some])
            inside = metric.sign * np.array([
                [own[one.run].value(metric) if one.run in own else np.nan for one in some]
                for own in groups.values()
            ])  # fmt: skip
            better = overall[:, None] > overall
            worse = (inside[:, :, None] < inside[:, None, :]).all(axis=0)
            pairs = [(some[a].run, some[b].run) for a, b in np.argwhere(better & worse)]
            if pairs:
                a, b = pairs[0]
                what = f"on {dataset}, {a} is better than {b} by {metric}, "
                what += f"and worse in every group of {column}"
                examples = [f"{one} and {two}" for one, two in pairs] if len(pairs) > 1 else []
                found.append(
                    finding("reversal", places.get(dataset, dataset), what, len(pairs), examples)
                )
    return found
