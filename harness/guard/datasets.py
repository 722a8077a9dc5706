"""Rules about datasets: grades, queries without relevant documents, shared and grouped queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from ..config.cells import Cell
from ..core.arrow import as_bytes, cast, encode
from ..core.entries import Entry, System, grouped_by, whole_name
from ..core.hashing import splitmix64
from ..core.leaderboard import Select
from ..core.names import why_not
from ..core.qrels_and_runs import Qrels, rows_in_file
from ..core.ragged import Array
from ..core.rules import SHOWN, finding
from ..errors import Finding, InputError, Problem, counted
from ..readers.groups import Labels, read_groups
from ..readers.query_weights import QueryWeights, read_weights
from ..readers.source import Source
from .findings import (
    ExamplesByRule,
    add_lines,
    by_share,
    examples_of_documents,
    examples_of_queries,
    place_findings,
    places_of_queries,
    qrels_of,
    short_place,
    texts_at,
)
from .row_order import find_size_order

if TYPE_CHECKING:
    from ..config.model import Groups

LARGEST_GRADE = 30
"""The largest for which LightGBM has a gain."""
_N_MARKS = 128
"""Hashes that are stored of a dataset: if one row in forty is shared, 96 in 100 times one of them
is of such a row."""
_FOLD = re.compile("fold|split|part", re.IGNORECASE)
"""Placeholders with the parts of one dataset as values."""
_SPLIT = re.compile("split", re.IGNORECASE)
"""Placeholders with values such as train, vali and test, next to one for the fold."""
_FOLD_NAME = re.compile(r"(.*(?:fold|split|part)[-_ ]?)([0-9]+)(.*)", re.IGNORECASE | re.DOTALL)
"""Names of parts that a config lists one by one."""


@dataclass(frozen=True)
class JudgementFacts:
    """Findings about the qrels of one dataset, and its facts to compare with other datasets.

    The places of findings have no file.
    """

    findings: tuple[Finding, ...] = ()
    rows: int = 0
    numbered: bool = False
    """Whether queries are called 0, 1, 2, ... or 1, 2, ... and documents have no names, as in
    files with group sizes: queries of two such files have the same names by chance."""
    marks: tuple[int, ...] = ()
    """A few of the `query_hashes`."""
    unused: tuple[str, ...] = ()
    """Columns of a table that were not read."""
    columns: dict[str, str] = field(default_factory=dict)
    """Columns that were read, by role."""

    @classmethod
    def of(cls, qrels: Qrels, source: Source, *, whole: bool = False) -> JudgementFacts:
        """Return the facts of qrels that were read from `source`; see `add_lines`."""
        examples = ExamplesByRule()
        findings = [*_grade_findings(qrels, examples)] if qrels.n_rows else []
        if source.by_sizes:
            findings += group_order(qrels)
        if examples:
            add_lines(examples, source, whole=whole)
        marks: tuple[int, ...] = ()
        if source.row_marks is not None:
            marks = _marks_of(query_hashes(qrels, source.row_marks))
        numbered = qrels.docnos.positional and bool(qrels.n_rows) and _has_numbered_queries(qrels)
        placed = tuple(findings and place_findings(findings, examples))
        columns = source.unused_columns, source.columns
        return cls(placed, qrels.n_rows, numbered, marks, *columns)


def group_order(qrels: Qrels) -> Iterator[Finding]:
    """Yield a finding if group sizes, which give the rows their queries, fit in another order."""
    if order := find_size_order(qrels):
        message = f"grades within queries are more similar with the group sizes of {order}"
        yield finding("group-order", "", message, qrels.n_rows)


def _grade_findings(qrels: Qrels, examples: ExamplesByRule) -> Iterator[Finding]:
    n_queries, offsets = qrels.n_queries, qrels.offsets
    grades = qrels.numbers
    n_relevant = np.append(0, np.cumsum(grades > 0))[offsets]
    empty = np.flatnonzero(n_relevant[1:] == n_relevant[:-1])
    rule = "no-relevant-documents" if empty.size == n_queries else "empty-queries"
    if empty.size:
        places = rows_in_file(qrels, offsets[empty[:SHOWN]])
        examples.add(rule, examples_of_queries(qrels.qids, empty, places))
        queries = counted(n_queries, "query", "queries")
    if empty.size == n_queries:
        yield examples.finding(rule, f"none of the {queries} has a relevant document", n_queries)
    elif n := empty.size:
        message = f"no relevant document in {n:,} of {queries}"
        yield examples.finding(rule, message, n, by_share(n, n_queries))
    low, high = grades.min(), grades.max()
    above, between = f"above {LARGEST_GRADE}, up to {high:,.15g}", f"{low:,.15g} to {high:,.15g}"
    for rule, is_affected, description in (
        ("grades-above-30", grades > LARGEST_GRADE, above),
        ("fractional-grades", grades != np.trunc(grades), f"with a fraction, from {between}"),
        ("negative-grades", grades < 0, "below 0"),
    ):
        rows = np.flatnonzero(is_affected)[:SHOWN]
        if rows.size:
            qids = texts_at(qrels.qids, qrels.row[rows])
            notes = (f"{grade:.15g}" for grade in grades[rows].tolist())
            examples.add(
                rule,
                examples_of_documents(qids, qrels.docnos, rows, notes, rows_in_file(qrels, rows)),
            )
            n = int(is_affected.sum())
            all_grades = counted(grades.size, "grade")
            yield examples.finding(rule, f"{n:,} of {all_grades} {description}", n)


def _has_numbered_queries(qrels: Qrels) -> bool:
    ends = as_bytes(qrels.qids[:1]) + as_bytes(qrels.qids[-1:])
    from_0, from_1 = ([b"%d" % n, b"%d" % (n + qrels.n_queries - 1)] for n in (0, 1))
    return ends in (from_0, from_1)


def _marks_of(hashes: Array) -> tuple[int, ...]:
    """Return the smallest hashes of queries; files that share queries share hashes.

    Rows that occur twice in a file are left out: several files have such rows by chance.
    """
    sample = hashes
    if hashes.size > 4 * _N_MARKS:  # some may be of equal rows
        sample = np.partition(hashes, 4 * _N_MARKS)[: 4 * _N_MARKS]
    values, times = np.unique(sample, return_counts=True)
    return tuple(values[times == 1][:_N_MARKS].tolist())


def query_hashes(qrels: Qrels, marks: Array | None) -> Array:
    """Return a hash of the rows of each query, by the marks of a learning-to-rank file's rows.

    It is 0 for queries without a row of their own, as coarse features agree by chance.
    """
    if marks is None or marks.size != qrels.n_rows:
        return np.zeros(0, np.uint64)
    marks, query = marks if qrels.order is None else marks[qrels.order], qrels.row
    order, has_own_row = np.argsort(marks), np.diff(qrels.offsets) > 0
    differ = np.diff(marks[order]) != 0
    if not differ.all():
        starts = np.flatnonzero(np.append(True, differ))
        lowest, highest = (ends.reduceat(query[order], starts) for ends in (np.minimum, np.maximum))
        has_own_row = np.bincount(lowest[lowest == highest], minlength=qrels.n_queries) > 0
    several = np.zeros(has_own_row.size, dtype=bool)
    several[query[1:][(query[1:] == query[:-1]) & (marks[1:] != marks[:-1])]] = True
    hashes = np.zeros(qrels.n_queries, np.uint64)
    np.add.at(hashes, query, splitmix64(marks))
    return np.where(has_own_row & several, hashes, np.uint64(0))


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset: one of its cells, facts, qids, hashes of its queries (or a few), and SHA-256."""

    cell: Cell
    facts: JudgementFacts
    qids: pa.Array
    hashes: Array
    digest: str = ""

    @property
    def path(self) -> str:
        """Return the file of the dataset."""
        return self.cell.dataset_entry.path


class DatasetPart(NamedTuple):
    """A part of a dataset: what all of its parts share, and which one it is."""

    dataset: str
    name: str


def part_of(cell: Cell, pooled: Sequence[str]) -> DatasetPart | None:
    """Return the part of a dataset that a cell reads; None for the whole dataset.

    The placeholders of its entry tell, such as {fold}, or a name that is written out, such as
    fold1. Each value of another placeholder, such as {collection}, is a dataset of its own.
    """
    names = [name for name in cell.of_dataset if name in pooled or _FOLD.search(name)]
    if any(not _SPLIT.search(name) for name in names):
        names = [name for name in names if name in pooled or not _SPLIT.search(name)]
    if names:
        values = [value for name, value in cell.of_dataset.items() if name not in names]
        which = [cell.of_dataset[name] for name in names]
        return DatasetPart(" ".join([cell.dataset_key, *values]), " ".join(which))
    written = _FOLD_NAME.fullmatch(cell.dataset) if not cell.of_dataset else None
    return None if written is None else DatasetPart(written[1] + written[3], written[2])


def findings_of_folds(datasets: Iterable[Dataset], pooled: Sequence[str]) -> Iterator[Finding]:
    """Yield the qids that folds have in common; an error if the config pools them."""

    def pooled_into(dataset: Dataset) -> str:
        cell = dataset.cell
        is_pooled = any(name in cell.of_dataset for name in pooled)
        return whole_name(cell.dataset_key, cell.columns, pooled) or "all" if is_pooled else ""

    by_whole = grouped_by(datasets, pooled_into)
    folds = [dataset for dataset in by_whole.pop("", []) if not dataset.facts.numbered]
    for group in by_whole.values():
        yield from _shared_queries("pooled-queries", group)
    parts = grouped_by(folds, lambda dataset: getattr(part_of(dataset.cell, pooled), "dataset", ""))
    parts.pop("", None)
    for group in parts.values():
        distinct = {dataset.digest: dataset for dataset in group}
        yield from _shared_queries("shared-queries", [*distinct.values()])


def findings_of_validation(
    cells: Iterable[Cell], datasets: Mapping[str, Dataset], select: Select
) -> Iterator[Finding]:
    """Yield the qids on which `select` chooses settings, and which are test queries too."""
    for validation, test in validation_pairs(cells, select):
        if validation in datasets and test in datasets:
            yield from _shared_queries("validation-in-test", [datasets[test], datasets[validation]])


def validation_pairs(cells: Iterable[Cell], select: Select) -> list[tuple[str, str]]:
    """Return the files of validation data and of the test data for which they choose settings."""
    groups: dict[object, tuple[dict[str, None], dict[str, None]]] = {}
    for cell in cells:
        if any(name in cell.columns for name in select.over):
            names = select.within or [name for name in cell.columns if name not in select.over]
            within = tuple(cell.columns.get(name) for name in names)
            group = groups.setdefault((cell.run, within), ({}, {}))
            group[cell.dataset_key != select.on][cell.dataset_entry.path] = None
    return [*dict.fromkeys(pair for group in groups.values() for pair in product(*group))]


def _shared_queries(rule: str, datasets: Sequence[Dataset]) -> Iterator[Finding]:
    if len(datasets) < 2:
        return
    all_qids = pa.concat_arrays([cast(dataset.qids, pa.large_string()) for dataset in datasets])
    distinct, codes = encode(all_qids)
    shared = np.flatnonzero(np.bincount(codes, minlength=1) > 1)
    if not shared.size:
        return
    owner = np.repeat(np.arange(len(datasets)), [len(dataset.qids) for dataset in datasets])
    qids, places = texts_at(distinct, shared[:SHOWN]), {}
    owner_places = []
    for qid, code in zip(qids, shared[:SHOWN].tolist(), strict=True):
        owners = [datasets[index] for index in owner[codes == code][:2].tolist()]
        for dataset in owners:
            if dataset.path not in places:
                places[dataset.path] = places_of_queries(dataset.cell, qids)
        owner_places.append([places[dataset.path].get(qid, dataset.path) for dataset in owners])
    pairs = zip(qids, owner_places, strict=True)
    examples = [f"{qid} ({short_place(place)})" for qid, (place, _) in pairs]
    n, several = shared.size, f"several of {len(datasets)} folds"
    message = (
        f"{n:,} of {counted(len(distinct), 'query', 'queries')} {'is' if n == 1 else 'are'} in "
    )
    message += "both the validation and the test set" if rule == "validation-in-test" else several
    yield finding(rule, owner_places[0][1], message, n, examples)


def are_apart(left: Dataset, right: Dataset, pooled: Sequence[str]) -> bool:
    """Whether two datasets should have no row in common, unlike validation data of another fold."""
    left_part, right_part = part_of(left.cell, pooled), part_of(right.cell, pooled)
    return (
        left_part is None
        or right_part is None
        or left_part.dataset == right_part.dataset
        or left_part.name == right_part.name
    )


def findings_of_features(datasets: Sequence[Dataset], pooled: Sequence[str]) -> Iterator[Finding]:
    """Yield learning-to-rank queries of two datasets with equal rows, even under other qids.

    Files of the same bytes are another finding; parts of different names may share rows, as the
    training rows of fold 1 are the test rows of fold 2.
    """
    for later, earlier in combinations(range(len(datasets))[::-1], 2):
        left, right = datasets[later], datasets[earlier]
        if left.digest == right.digest or not are_apart(left, right, pooled):
            continue
        if np.intersect1d(left.hashes, right.hashes).any():
            all_left, all_right = _with_all_hashes(left), _with_all_hashes(right)
            known = all_right.hashes[all_right.hashes != 0]
            shared = np.flatnonzero(np.isin(all_left.hashes, known))
            qids = texts_at(all_left.qids, shared[:SHOWN])
            message = f"{shared.size:,} of {len(all_left.qids):,} queries of {left.cell.dataset} "
            message += f"have the same rows as queries of {right.cell.dataset}"
            place = places_of_queries(left.cell, qids).get(qids[0], left.path)
            yield finding("same-queries", place, message, shared.size, qids)


def _with_all_hashes(dataset: Dataset) -> Dataset:
    """Return a dataset with the hashes of all of its queries; it is read again if it has a few."""
    if dataset.hashes.size == len(dataset.qids):
        return dataset
    source = Source(dataset.path, hashed=True)
    qrels = qrels_of(dataset.cell, source)
    if qrels is None:
        return dataset
    return replace(dataset, qids=qrels.qids, hashes=query_hashes(qrels, source.row_marks))


@dataclass(frozen=True)
class Grouping:
    """Groups of queries: their file, and the label of each query by column."""

    place: str
    labels: Labels


def load_grouping(groups: Groups) -> Grouping:
    """Read a file of groups."""
    labels = read_groups(Path(groups.path), groups.qid, groups.columns, groups.bins)
    return Grouping(groups.path, labels)


def load_groupings(cells: Iterable[Cell]) -> dict[str, Grouping]:
    """Return the grouping of each dataset with groups, by its name."""
    read: dict[str, Grouping] = {}
    groupings = {}
    for cell in cells:
        if (groups := cell.dataset_entry.groups) is not None:
            key = groups.model_dump_json()
            read[key] = groupings[cell.dataset] = read.get(key) or load_grouping(groups)
    return groupings


def match_groups(
    groups: Mapping[str, Grouping], qids: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Labels], list[Finding]]:
    """Return the labels of each dataset, and queries without a group and groups without a query.

    `groups` and `qids` are of datasets, by name. Raises InputError if a file of groups has no query
    of a dataset.
    """
    labels: dict[str, Labels] = {}
    findings: list[Finding] = []
    datasets = [name for name in groups if name in qids]
    for place, names in grouped_by(datasets, lambda name: groups[name].place).items():
        all_qids, grouped_qids = dict[str, None](), dict[str, None]()
        for name in names:
            labels[name] = groups[name].labels
            with_group = dict.fromkeys(qid for by_qid in labels[name].values() for qid in by_qid)
            if qids[name] and with_group.keys().isdisjoint(qids[name]):
                message = f"expected qids of dataset '{name}' such as '{qids[name][0]}', got "
                message += f"'{next(iter(with_group))}'" if with_group else "none with a group"
                fix = "give the groups of this dataset, with the same qids"
                raise InputError(Problem(place, message, fix=fix))
            all_qids |= dict.fromkeys(qids[name])
            grouped_qids |= with_group
        if unknown := [qid for qid in grouped_qids if qid not in all_qids]:
            text = counted(len(unknown), "qid with a group is", "qids with a group are")
            message = f"{text} not in the dataset"
            findings.append(finding("group-queries", place, message, len(unknown), unknown))
        if absent := [qid for qid in all_qids if qid not in grouped_qids]:
            text = counted(len(absent), "query of the dataset has", "queries of the dataset have")
            findings.append(
                finding("group-queries", place, f"{text} no group", len(absent), absent)
            )
    return labels, findings


def attach_groups(
    entries: Sequence[Entry], groups: Mapping[str, Grouping]
) -> tuple[list[Entry], list[Finding]]:
    """Return entries with the groups of their queries, and findings on the groups."""
    labels, findings = match_groups(groups, _qids_of(entries))
    with_groups = []
    for entry in entries:
        if entry.dataset in labels:
            names = entry.evaluation.qids.to_pylist()
            columns = {
                name: pa.array([by_qid.get(qid) for qid in names], pa.string())
                for name, by_qid in labels[entry.dataset].items()
            }
            entry = replace(entry, evaluation=replace(entry.evaluation, groups=columns))
        with_groups.append(entry)
    return with_groups, findings


def _qids_of(entries: Iterable[Entry]) -> dict[str, list[str]]:
    qids: dict[str, dict[str, None]] = {}
    for entry in entries:
        entry_qids = dict.fromkeys(entry.evaluation.qids.to_pylist())
        qids.setdefault(entry.dataset, {}).update(entry_qids)
    return {name: [*distinct] for name, distinct in qids.items()}


def load_weights(cells: Iterable[Cell]) -> dict[str, QueryWeights]:
    """Return the query weights of each dataset with weights, by its name."""
    read: dict[str, QueryWeights] = {}
    of_datasets = {}
    for cell in cells:
        if (weights := cell.dataset_entry.weights) is not None:
            key = weights.model_dump_json()
            if key not in read:
                read[key] = read_weights(Path(weights.path), weights.qid, weights.column)
            of_datasets[cell.dataset] = read[key]
    return of_datasets


def match_weights(
    weights: Mapping[str, QueryWeights], qids: Mapping[str, Sequence[str]]
) -> list[Finding]:
    """Return the qids that only files of weights have; InputError if a query has no weight.

    `weights` and `qids` are of datasets, by name.
    """
    findings = []
    datasets = [name for name in weights if name in qids]
    for table, names in grouped_by(datasets, weights.__getitem__).items():
        for name in names:
            table.check(qids[name], name)
        every_qid = {qid for name in names for qid in qids[name]}
        if unused := [qid for qid in table.values if qid not in every_qid]:
            text = counted(len(unused), "qid with a weight is", "qids with a weight are")
            message = f"{text} not in the dataset, and ignored"
            findings.append(finding("unused-weights", table.place, message, len(unused), unused))
    return findings


def attach_weights(
    entries: Sequence[Entry], weights: Mapping[str, QueryWeights]
) -> tuple[list[Entry], list[Finding]]:
    """Return entries with query weights, and findings on the weights."""
    findings = match_weights(weights, _qids_of(entries))
    weighted = [
        replace(entry, evaluation=weights[entry.dataset].weigh(entry.evaluation))
        if entry.dataset in weights
        else entry
        for entry in entries
    ]
    return weighted, findings


def reversals(systems: Sequence[System], places: Mapping[str, str]) -> list[Finding]:
    """Return pairs of systems where one is better overall and worse in every group.

    `places` are the files of datasets, by name.
    """
    wholes: dict[str, list[System]] = {}
    parts: dict[tuple[str, str], dict[str, dict[str, System]]] = {}
    for system in systems:
        if system.group:
            column = system.group.partition("=")[0]
            groups = parts.setdefault((system.whole, column), {})
            groups.setdefault(system.group, {})[system.run] = system
        else:
            wholes.setdefault(system.dataset, []).append(system)
    findings = []
    for (dataset, column), groups in parts.items():
        whole_systems = wholes.get(dataset, [])
        if len(groups) < 2 or len(whole_systems) < 2:
            continue
        for metric in whole_systems[0].metrics:
            if why_not(metric):
                continue
            runs = [system.run for system in whole_systems]
            overall = metric.sign * np.array([system.value(metric) for system in whole_systems])
            values = [
                [by_run[run].value(metric) if run in by_run else np.nan for run in runs]
                for by_run in groups.values()
            ]
            inside = metric.sign * np.array(values)
            better = overall[:, None] > overall
            worse = (inside[:, :, None] < inside[:, None, :]).all(axis=0)
            pairs = [
                (whole_systems[a].run, whole_systems[b].run) for a, b in np.argwhere(better & worse)
            ]
            if pairs:
                a, b = pairs[0]
                message = f"on {dataset}, {a} is better than {b} by {metric}, "
                message += f"and worse in every group of {column}"
                examples = [" and ".join(pair) for pair in pairs] if len(pairs) > 1 else []
                place = places.get(dataset, dataset)
                findings.append(finding("reversal", place, message, len(pairs), examples))
    return findings
