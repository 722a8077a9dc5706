"""Rules about datasets that share queries: folds, and validation and test sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from ..config.cells import Cell
from ..core.arrow import cast, encode
from ..core.ragged import Array
from ..core.selection import Select
from ..core.systems import whole_name
from ..errors import Finding
from ..readers.source import HashedSource
from .examples import places_of_queries, qrels_of, short, texts_at
from .judgements import JudgementFacts, query_hashes
from .registry import SHOWN, finding

_FOLD = re.compile("fold|split|part", re.IGNORECASE)
"""Names of placeholders whose values are parts of one dataset."""
_SPLIT = re.compile("split", re.IGNORECASE)
"""Those whose values may be train, vali and test if another one names the fold."""
_NUMBERS = ("k", "n", "i")
"""Those that are such if the values are numbers."""
_FOLD_NAME = re.compile(r"(.*(?:fold|split|part)[-_ ]?)([0-9]+)(.*)", re.IGNORECASE | re.DOTALL)
"""Names of parts that a config lists one by one."""
T = TypeVar("T")
K = TypeVar("K")


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
        """Its file."""
        return self.cell.dataset_entry.path


class Part(NamedTuple):
    """A part of a dataset: what all of its parts share, and which one it is."""

    whole: str
    name: str


def part_of(cell: Cell, pooled: Sequence[str]) -> Part | None:
    """Return which part of a dataset a cell's dataset is; None if it is whole.

    The placeholders of its entry tell, such as {fold}, or {k} if it is a number and the dataset one
    for learning to rank; or a name that is written out, such as fold1. Each value of another
    placeholder, such as {collection}, is a dataset of its own.
    """
    names = [name for name in cell.of_dataset if _is_part(cell, name, pooled)]
    if any(not _SPLIT.search(name) for name in names):
        names = [name for name in names if name in pooled or not _SPLIT.search(name)]
    if names:
        others = [one for name, one in cell.of_dataset.items() if name not in names]
        which = [cell.of_dataset[name] for name in names]
        return Part(" ".join([cell.dataset_key, *others]), " ".join(which))
    written = _FOLD_NAME.fullmatch(cell.dataset) if not cell.of_dataset else None
    return None if written is None else Part(written[1] + written[3], written[2])


def _is_part(cell: Cell, name: str, pooled: Sequence[str]) -> bool:
    numbered = name in _NUMBERS and cell.of_dataset[name].isdecimal()
    is_letor = cell.dataset_entry.format == "letor"
    return name in pooled or bool(_FOLD.search(name)) or (numbered and is_letor)


def grouped_by(some: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return some things by their keys."""
    found: dict[K, list[T]] = {}
    for one in some:
        found.setdefault(key(one), []).append(one)
    return found


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
    examples = [
        f"query {qid}: {short(one)} and {short(other)}"
        for qid, (one, other) in zip(qids, both, strict=True)
    ]
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
    source = HashedSource(one.path)
    qrels = qrels_of(one.cell, source)
    if qrels is None:
        return one
    return replace(one, qids=qrels.qids, hashes=query_hashes(qrels, source.row_marks))
