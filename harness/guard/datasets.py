"""Rules about datasets: grades, queries without relevant documents, shared and grouped queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from ..errors import Finding, HarnessError, InputError, Problem, counted, problem
from ..readers.groups import Labels, find_grouping, labels_of, read_groups
from ..readers.source import Source
from .findings import (
    ExamplesByRule,
    add_lines,
    by_share,
    of_documents,
    of_queries,
    placed,
    places_of_queries,
    qrels_of,
    short,
    texts_at,
)

if TYPE_CHECKING:
    from ..config.model import Groups

LARGEST_GRADE = 30
"""The largest for which LightGBM has a gain."""
_N_MARKS = 128
"""Hashes that are stored of a dataset: if one row in forty is shared, 96 in 100 times one of them
is of such a row."""
_FOLD = re.compile("fold|split|part", re.IGNORECASE)
"""Names of placeholders whose values are parts of one dataset."""
_SPLIT = re.compile("split", re.IGNORECASE)
"""Placeholders that may hold train, vali and test if another one names the fold."""
_FOLD_NAME = re.compile(r"(.*(?:fold|split|part)[-_ ]?)([0-9]+)(.*)", re.IGNORECASE | re.DOTALL)
"""Names of parts that a config lists one by one."""


@dataclass(frozen=True)
class JudgementFacts:
    """What the rules found in the qrels of one dataset, and what is compared with others.

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
    """Columns that were read, by what they hold."""

    @classmethod
    def of(cls, qrels: Qrels, source: Source, *, whole: bool = False) -> JudgementFacts:
        """Return the facts of qrels that were read from `source`; see `add_lines`."""
        first = ExamplesByRule()
        found = [*_findings(qrels, first)] if qrels.n_rows else []
        add_lines(first, source, whole=whole)
        hashes = query_hashes(qrels, source.row_marks)
        numbered = bool(qrels.n_rows) and _numbered(qrels)
        return cls(
            tuple(placed(found, first)), qrels.n_rows, numbered, _marks_of(hashes),
            source.unused_columns, source.columns,
        )  # fmt: skip


def _findings(qrels: Qrels, first: ExamplesByRule) -> Iterator[Finding]:
    """Yield what is wrong with qrels, and add examples."""
    n_queries, offsets = qrels.n_queries, qrels.offsets
    grades = qrels.numbers
    n_relevant = np.append(0, np.cumsum(grades > 0))[offsets]
    empty = np.flatnonzero(n_relevant[1:] == n_relevant[:-1])
    rule = "no-relevant-documents" if empty.size == n_queries else "empty-queries"
    first.add(rule, of_queries(qrels.qids, empty, rows_in_file(qrels, offsets[empty[:SHOWN]])))
    queries, of = counted(n_queries, "query", "queries"), counted(grades.size, "grade")
    if empty.size == n_queries:
        yield first.finding(rule, f"none of the {queries} has a relevant document", n_queries)
    elif n := empty.size:
        yield first.finding(
            rule, f"no relevant document in {n:,} of {queries}", n, by_share(n, n_queries)
        )
    low, high = grades.min(), grades.max()
    for rule, which, what in (
        ("grades-above-30", grades > LARGEST_GRADE, f"above {LARGEST_GRADE}, up to {high:,.15g}"),
        ("fractional-grades", grades != np.trunc(grades),
         f"with a fraction, from {low:,.15g} to {high:,.15g}"),
        ("negative-grades", grades < 0, "below 0"),
    ):  # fmt: skip
        some = np.flatnonzero(which)[:SHOWN]
        if some.size:
            qids = texts_at(qrels.qids, qrels.row[some])
            notes = (f"{grade:.15g}" for grade in grades[some].tolist())
            first.add(
                rule, of_documents(qids, qrels.docnos, some, notes, rows_in_file(qrels, some))
            )
            n = int(which.sum())
            yield first.finding(rule, f"{n:,} of {of} {what}", n)


def _numbered(qrels: Qrels) -> bool:
    ends = as_bytes(qrels.qids[:1]) + as_bytes(qrels.qids[-1:])
    from_0, from_1 = ([b"%d" % n, b"%d" % (n + qrels.n_queries - 1)] for n in (0, 1))
    return qrels.docnos.positional and ends in (from_0, from_1)


def _marks_of(hashes: Array) -> tuple[int, ...]:
    """Return the smallest hashes of queries, shared as far as two files share queries.

    Rows that a file holds twice are left out: several files hold such ones by chance.
    """
    some = hashes
    if hashes.size > 4 * _N_MARKS:  # some may be of equal rows
        some = np.partition(hashes, 4 * _N_MARKS)[: 4 * _N_MARKS]
    found, times = np.unique(some, return_counts=True)
    return tuple(found[times == 1][:_N_MARKS].tolist())


def query_hashes(qrels: Qrels, marks: Array | None) -> Array:
    """Return a hash of the rows of each query, by the marks of a learning-to-rank file's rows.

    It is 0 for queries without a row of their own, as coarse features agree by chance.
    """
    if marks is None or marks.size != qrels.n_rows:
        return np.zeros(0, np.uint64)
    marks, query = marks if qrels.order is None else marks[qrels.order], qrels.row
    order = np.argsort(marks, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(marks[order]) != 0))
    lowest, highest = (ends.reduceat(query[order], starts) for ends in (np.minimum, np.maximum))
    own = np.bincount(lowest[lowest == highest], minlength=qrels.n_queries) > 0
    several = np.zeros(own.size, dtype=bool)
    several[query[1:][(query[1:] == query[:-1]) & (marks[1:] != marks[:-1])]] = True
    hashes = np.zeros(qrels.n_queries, np.uint64)
    np.add.at(hashes, query, splitmix64(marks))
    return np.where(own & several, hashes, np.uint64(0))


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

    whole: str
    name: str


def part_of(cell: Cell, pooled: Sequence[str]) -> DatasetPart | None:
    """Return which part of a dataset a cell's dataset is; None if it is whole.

    The placeholders of its entry tell, such as {fold}, or a name that is written out, such as
    fold1. Each value of another placeholder, such as {collection}, is a dataset of its own.
    """
    names = [name for name in cell.of_dataset if name in pooled or _FOLD.search(name)]
    if any(not _SPLIT.search(name) for name in names):
        names = [name for name in names if name in pooled or not _SPLIT.search(name)]
    if names:
        others = [one for name, one in cell.of_dataset.items() if name not in names]
        which = [cell.of_dataset[name] for name in names]
        return DatasetPart(" ".join([cell.dataset_key, *others]), " ".join(which))
    written = _FOLD_NAME.fullmatch(cell.dataset) if not cell.of_dataset else None
    return None if written is None else DatasetPart(written[1] + written[3], written[2])


def of_folds(datasets: Iterable[Dataset], pooled: Sequence[str]) -> Iterator[Finding]:
    """Yield the qids that folds have in common; an error if the config pools them."""

    def pooled_into(one: Dataset) -> str:
        is_pooled = any(name in one.cell.of_dataset for name in pooled)
        return whole_name(one.cell.dataset_key, one.cell.columns, pooled) if is_pooled else ""

    by_whole = grouped_by(datasets, pooled_into)
    folds = [one for one in by_whole.pop("", []) if not one.facts.numbered]
    for some in by_whole.values():
        yield from _shared("pooled-queries", some)
    parts = grouped_by(folds, lambda one: getattr(part_of(one.cell, pooled), "whole", ""))
    parts.pop("", None)
    for some in parts.values():
        yield from _shared("shared-queries", [*{one.digest: one for one in some}.values()])


def of_validation(
    cells: Iterable[Cell], datasets: Mapping[str, Dataset], select: Select
) -> Iterator[Finding]:
    """Yield the qids on which `select` chooses settings, and which are test queries too."""
    groups: dict[object, tuple[dict[str, None], dict[str, None]]] = {}
    for cell in cells:
        if any(name in cell.columns for name in select.over):
            names = select.within or [name for name in cell.columns if name not in select.over]
            within = tuple(cell.columns.get(name) for name in names)
            group = groups.setdefault((cell.run, within), ({}, {}))
            group[cell.dataset_key != select.on][cell.dataset_entry.path] = None
    pairs = dict.fromkeys(pair for group in groups.values() for pair in product(*group))
    for validation, test in pairs:
        if validation in datasets and test in datasets:
            yield from _shared("validation-in-test", [datasets[test], datasets[validation]])


def _shared(rule: str, datasets: Sequence[Dataset]) -> Iterator[Finding]:
    if len(datasets) < 2:
        return
    every = pa.concat_arrays([cast(one.qids, pa.large_string()) for one in datasets])
    distinct, which = encode(every)
    shared = np.flatnonzero(np.bincount(which, minlength=1) > 1)
    if not shared.size:
        return
    owner = np.repeat(np.arange(len(datasets)), [len(one.qids) for one in datasets])
    qids, places = texts_at(distinct, shared[:SHOWN]), {}
    both = []
    for qid, code in zip(qids, shared[:SHOWN].tolist(), strict=True):
        two = [datasets[one] for one in owner[which == code][:2].tolist()]
        for one in two:
            if one.path not in places:
                places[one.path] = places_of_queries(one.cell, qids)
        both.append([places[one.path].get(qid, one.path) for one in two])
    examples = [f"{qid} ({short(one)})" for qid, (one, _) in zip(qids, both, strict=True)]
    n, several = shared.size, f"several of {len(datasets)} folds"
    what = f"{n:,} of {len(distinct):,} queries are in "
    what += "both the validation and the test set" if rule == "validation-in-test" else several
    yield finding(rule, both[0][1], what, n, examples)


def are_apart(one: Dataset, other: Dataset, pooled: Sequence[str]) -> bool:
    """Whether two datasets should have no row in common, unlike validation data of another fold."""
    own, its = part_of(one.cell, pooled), part_of(other.cell, pooled)
    return own is None or its is None or own.whole == its.whole or own.name == its.name


def of_features(datasets: Sequence[Dataset], pooled: Sequence[str]) -> Iterator[Finding]:
    """Yield learning-to-rank queries of two datasets with equal rows, even under other qids.

    Files of the same bytes are another finding; parts of different names may share rows, as the
    training rows of fold 1 are the test rows of fold 2.
    """
    for later, earlier in combinations(range(len(datasets))[::-1], 2):
        one, other = datasets[later], datasets[earlier]
        if one.digest == other.digest or not are_apart(one, other, pooled):
            continue
        if np.intersect1d(one.hashes, other.hashes).any():
            here, there = _whole(one), _whole(other)
            same = np.flatnonzero(np.isin(here.hashes, there.hashes[there.hashes != 0]))
            qids = texts_at(here.qids, same[:SHOWN])
            what = f"{same.size:,} of {len(here.qids):,} queries of {one.cell.dataset} have the "
            what += f"same rows as queries of {other.cell.dataset}"
            place = places_of_queries(one.cell, qids).get(qids[0], one.path)
            yield finding("same-queries", place, what, same.size, qids)


def _whole(one: Dataset) -> Dataset:
    """Return a dataset with the hashes of all of its queries; it is read again if it has a few."""
    if one.hashes.size == len(one.qids):
        return one
    source = Source(one.path, hashed=True)
    qrels = qrels_of(one.cell, source)
    if qrels is None:
        return one
    return replace(one, qids=qrels.qids, hashes=query_hashes(qrels, source.row_marks))


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
