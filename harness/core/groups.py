"""Slices: the queries of one group, as an additional dataset named ``letor [length=short]``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ..errors import ArgumentError, Problem, UnknownNameError, did_you_mean
from .arguments import TEXT, check_arguments
from .arrow import call
from .evaluation import Counts, Evaluation

T = TypeVar("T")
Grouping = Callable[[Sequence[str]], Mapping[str, Sequence[Any]]]
"""From qids to columns of labels or numbers, one for each qid; None for no group."""
_FUNCTIONS: dict[str, Grouping] = {}


@dataclass(frozen=True)
class Slice:
    """One group of queries: those that have a label in a column."""

    column: str
    label: str

    @property
    def group(self) -> str:
        """What it is called: ``length=short``."""
        return f"{self.column}={self.label}"

    def of(self, evaluation: Evaluation) -> Evaluation | None:
        """Return an evaluation of the queries of this slice; None if it has none of them."""
        labels = evaluation.groups.get(self.column)
        if labels is None:
            return None
        keep = np.asarray(call("equal", labels, self.label).fill_null(False))
        if not keep.any():
            return None
        qids = evaluation.qids.filter(pa.array(keep))
        own = {*qids.to_pylist()} if evaluation.unanswered else set()
        unanswered = tuple(qid for qid in evaluation.unanswered if qid in own)
        return replace(
            evaluation, values=evaluation.values[keep], qids=qids, unanswered=unanswered,
            counts=Counts(queries=len(qids), missing=len(unanswered)),
            weights={column: found[keep] for column, found in evaluation.weights.items()},
            errors={column: found[keep] for column, found in evaluation.errors.items()},
            dataset=sliced_name(evaluation.dataset, self.group), groups={}, group=self.group,
        )  # fmt: skip


def sliced_name(dataset: str, group: str) -> str:
    """Return the name of a slice of a dataset.

    >>> sliced_name("letor", "length=short")
    'letor [length=short]'
    """
    return f"{dataset} [{group}]"


def whole_of(dataset: str, group: str) -> str:
    """Return the dataset that a slice is of; the dataset itself if `group` is empty."""
    return dataset.removesuffix(f" [{group}]") if group else dataset


def slices_of(evaluations: Iterable[Evaluation]) -> list[Slice]:
    """Return the slices that some evaluations of one dataset have, in natural order of labels."""
    labels: dict[str, set[str]] = {}
    for one in evaluations:
        for column, found in one.groups.items():
            labels.setdefault(column, set()).update(filter(None, found.unique().to_pylist()))
    return slices(labels)


def slices(labels: Mapping[str, Iterable[str]]) -> list[Slice]:
    """Return the slices of some labels by column: bins and numbers by size, before texts."""
    return [
        Slice(column, label)
        for column, some in labels.items()
        for label in sorted({*some}, key=_order)
    ]


def _order(label: str) -> tuple[int, float, str]:
    try:
        return not label.startswith(BELOW), float(label.removeprefix(BELOW).split(" ")[0]), label
    except ValueError:
        return 2, 0.0, label


def with_slices(
    items: Sequence[T], evaluation: Callable[[T], Evaluation], cut: Callable[[T, Slice], T | None]
) -> list[T]:
    """Return entries or systems, those of each dataset followed by those of its slices."""
    if not any(evaluation(one).groups for one in items):
        return list(items)
    together: dict[str, list[T]] = {}
    for one in items:
        together.setdefault(evaluation(one).dataset, []).append(one)
    found = []
    for some in together.values():
        found += some
        for each in slices_of(map(evaluation, some)):
            found += [part for one in some if (part := cut(one, each)) is not None]
    return found


BELOW = "below "
"""How the label of the lowest bin begins."""


def cut_by(numbers: Sequence[float | None], edges: Sequence[float]) -> list[str | None]:
    """Return the bin of each number; a bin includes its lower edge.

    >>> cut_by([2, 5, 7, None], [5, 10])
    ['below 5', '5 to 10', '5 to 10', None]
    """
    texts = [f"{edge:g}" for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    labels = [f"{BELOW}{texts[0]}", *between, f"{texts[-1]} or more"]
    return [
        None if one is None else labels[int(np.searchsorted(edges, one, side="right"))]
        for one in numbers
    ]


def query_groups(name: str) -> Callable[[Grouping], Grouping]:
    """Register a function that groups queries, for ``groups: {function: NAME}`` of a dataset.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> @query_groups("parity")
    ... def parity(qids):
    ...     return {"parity": ["even" if int(qid) % 2 == 0 else "odd" for qid in qids]}
    """
    check_arguments(locals(), name=TEXT)

    def register(function: Grouping) -> Grouping:
        if not callable(function):
            what = "expected a function below @query_groups"
            raise ArgumentError(Problem(name, what))
        _FUNCTIONS[name] = function
        return function

    return register


def find_grouping(name: str) -> Grouping:
    """Return the function of a name; UnknownNameError if no plugin registered it."""
    if name not in _FUNCTIONS:
        near = did_you_mean(name, _FUNCTIONS)
        what = f"no function '{name}' groups queries{near}"
        fix = "name the file under 'plugins:', and put @harness.query_groups above the function"
        raise UnknownNameError(Problem("", what, fix=fix))
    return _FUNCTIONS[name]
