"""What the cells of a sweep say of each other: pure functions from their facts to findings."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, encode
from ..errors import ALIKE
from .causes import file_of
from .facts import Facts, first
from .finding import SHOWN, Finding, without_folders
from .first import First
from .fits import Fit
from .judged import BELOW_0
from .labels import are_labels
from .registry import finding

OTHERS = 2
"""Other folds, or other runs, that must agree before one is said to differ from them."""
ENOUGH_ROWS = 20
"""Rows below which two files may be equal by chance."""
FAR = 0.2
"""How much larger than the median of the runs a share of unjudged documents must be: two of the
ten documents at the top."""
WIDER = 5.0
"""How many times as wide as those of all other folds a fold's scores must be, or as narrow."""

APART = ("same-file-twice", "reader", "unreadable")
"""Rules whose findings are about several files each, or about anything, and are not taken
together."""

_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,.]*(e[+-]?\d+)?(?!\w)")
"""A number of what was found, and not of a name."""

T = TypeVar("T")


class Places:
    """What is looked up in the files of a sweep once more; here nothing is."""

    def queries(self, path: str, qids: Sequence[str]) -> Mapping[str, str]:
        """Return the place of each query in a dataset, as far as it is known."""
        return {}

    def scores(self, cell: GuardedCell, low: float, high: float) -> tuple[int, First]:
        """Return how many of a run's scores are below or above these, and the first."""
        return 0, First()

    def spans(self, cell: GuardedCell, low: float, high: float) -> tuple[int, First]:
        """Return in how many queries scores span less or more, and the first."""
        return 0, First()


NOWHERE = Places()
"""Nothing is known of the files."""


@dataclass(frozen=True, eq=False)
class GuardedCell:
    """One run on one dataset, as the guard sees it.

    Parameters
    ----------
    facts : Facts
    dataset, run : str
        Files.
    entry : str
        The datasets of one entry of the config are folds of one another, or the like.
    model : hashable
        What cells of one run on such datasets share.
    qids : pyarrow string array
        Queries of the dataset.
    digests : mapping of str to str
        SHA-256 of both files, by path.
    folds : bool
        Whether datasets of the entry should have no query in common.
    pooled : str
        What the dataset is pooled into with others; nothing where it is not.
    name : str
        The dataset's.
    """

    facts: Facts
    dataset: str
    run: str
    entry: str
    model: Hashable
    qids: pa.Array
    digests: Mapping[str, str]
    folds: bool = False
    pooled: str = ""
    name: str = ""


def of_sweep(
    cells: Sequence[GuardedCell], failed: Mapping[str, str] | None = None,
    where: Places = NOWHERE,
) -> Iterator[Finding]:  # fmt: skip
    """Yield what cells say of each other.

    Parameters
    ----------
    cells : sequence of GuardedCell
    failed : mapping of str to str, optional
        SHA-256, by path, of the runs that hold rows and failed.
    where : Places, optional
        Looks up what is in their files.
    """
    yield from _same_bytes(cells, failed or {})
    pooled = [cell for cell in cells if cell.pooled]
    for some in _by(pooled, lambda cell: cell.pooled).values():
        datasets = {cell.dataset: cell for cell in some}
        yield from _shared_queries("pooled-queries", datasets, where)
    named = [cell for cell in cells if cell.folds and not cell.facts.judgements.numbered]
    for some in _by(named, lambda cell: (cell.entry, cell.pooled)).values():
        if not some[0].pooled:
            datasets = {cell.digests[cell.dataset]: cell for cell in some}
            yield from _shared_queries("shared-queries", datasets, where)
    folds = [cell for cell in cells if cell.folds]
    for some in _by(folds, lambda cell: cell.model).values():
        yield from _ranges(some, where)
    for some in _by(cells, lambda cell: cell.dataset).values():
        yield from _unjudged(some)


def other_folds(
    cells: Iterable[GuardedCell], swapped: Mapping[tuple[str, str], tuple[str, Fit]]
) -> dict[tuple[str, str], list[tuple[str, Fit]]]:
    """Return how the same model's predictions for other folds fit these.

    By the files of dataset and run; each with the other dataset's name. `swapped` are those that
    fit another fold in place of their own, with its name.
    """
    found: dict[tuple[str, str], list[tuple[str, Fit]]] = {}
    known = [cell for cell in cells if cell.folds and cell.facts.run.own_fit]
    for some in _by(known, lambda cell: cell.model).values():
        fits = {cell.dataset: (cell.name, Fit(*cell.facts.run.own_fit)) for cell in some}
        for cell in some:
            if (cell.dataset, cell.run) in swapped:
                there, fit = swapped[cell.dataset, cell.run]
                fits[cell.dataset] = f"{there} (given for {cell.name})", fit
        for cell in some:
            others = [fit for path, fit in fits.items() if path != cell.dataset]
            found[cell.dataset, cell.run] = others
    return found


def _by(
    cells: Iterable[GuardedCell], key: Callable[[GuardedCell], T]
) -> dict[T, list[GuardedCell]]:
    found: dict[T, list[GuardedCell]] = {}
    for cell in cells:
        found.setdefault(key(cell), []).append(cell)
    return found


def _same_bytes(cells: Iterable[GuardedCell], failed: Mapping[str, str]) -> Iterator[Finding]:
    """Yield files of the same bytes, but for runs of which that follows from something else.

    Those of equal scores, or of the labels; and predictions of another fold, whose count is wrong.
    """
    paths: dict[str, dict[str, None]] = {}
    runs: set[str] = set()
    for cell in cells:
        run, rows = cell.facts.run, {cell.dataset: cell.facts.judgements.rows}
        runs.add(cell.digests[cell.run])
        if not (are_labels(run) or 0 < run.several == run.constant):
            rows[cell.run] = run.rows
        for path, n in rows.items():
            if n >= ENOUGH_ROWS:
                paths.setdefault(cell.digests[path], {})[path] = None
    for path, digest in failed.items():
        if digest not in runs:
            paths.setdefault(digest, {})[path] = None
    for same in paths.values():
        if len(same) > 1:
            one, *others = same
            what = (
                f"{len(others):,} other file{'s hold' if len(others) > 1 else ' holds'} its bytes"
            )
            yield finding("same-file-twice", one, what, len(others), others)


def _shared_queries(
    rule: str, datasets: Mapping[str, GuardedCell], where: Places
) -> Iterator[Finding]:
    if len(datasets) < 2:
        return
    distinct, which = encode(
        pa.concat_arrays([cast(cell.qids, pa.large_string()) for cell in datasets.values()])
    )
    shared = np.bincount(which, minlength=1) > 1
    n = int(shared.sum())
    if not n:
        return
    paths = [cell.dataset for cell in datasets.values()]
    are = "is" if n == 1 else "are"
    what = f"{n:,} of {len(distinct):,} queries {are} in several of the {len(paths)} folds"
    fold = np.repeat(np.arange(len(paths)), [len(cell.qids) for cell in datasets.values()])
    qids = first(distinct, shared)
    held = [fold[which == code][:2].tolist() for code in np.flatnonzero(shared)[: len(qids)]]
    known: dict[int, Mapping[str, str]] = {
        one: where.queries(paths[one], qids) for one in sorted({*chain(*held)})
    }
    places = [
        [known[one].get(qid, paths[one]) for one in two]
        for qid, two in zip(qids, held, strict=True)
    ]
    shown = (" and ".join(without_folders(two, paths)) for two in places)
    examples = [f"query {qid}: {both}" for qid, both in zip(qids, shown, strict=True)]
    yield finding(rule, places[0][1], what, n, examples)


def _ranges(cells: Sequence[GuardedCell], where: Places) -> Iterator[Finding]:
    """Yield folds whose scores are elsewhere, or of another scale, than on all other folds."""
    folds = list({cell.dataset: cell for cell in cells}.values())
    if len(folds) <= OTHERS:
        return
    runs = [cell.facts.run for cell in folds]
    low, high = np.array([[one.lowest, one.highest] for one in runs]).T
    wide = np.array([one.mean_highest - one.mean_lowest for one in runs])
    centre = np.array([(one.mean_highest + one.mean_lowest) / 2 for one in runs])
    for place, cell in enumerate(folds):
        others = np.arange(len(folds)) != place
        least, most = low[others].min(), high[others].max()
        n = f"{len(folds) - 1} other folds"
        if not least <= centre[place] <= most:
            what = (
                f"scores from {low[place]:.4g} to {high[place]:.4g}, those of the same model on "
                f"its {n} from {least:.4g} to {most:.4g}"
            )
            count, some = where.scores(cell, least, most)
            what += f"; {count:,} of {runs[place].rows:,} scores are outside" * bool(count)
            yield finding("score-range", some.at(cell.run), what, max(count, 1), some.names)
        elif min(wide[place], wide[others].min()) > 0 and not (
            wide[others].min() / WIDER <= wide[place] <= wide[others].max() * WIDER
        ):
            what = (
                f"a query's scores span {wide[place]:.3g} on average, those of the same model on "
                f"its {n} {wide[others].min():.3g} to {wide[others].max():.3g}"
            )
            less, more = wide[others].min() / WIDER, wide[others].max() * WIDER
            is_wide = wide[place] > more
            low_span, high_span = (0.0, more) if is_wide else (less, math.inf)
            count, some = where.spans(cell, low_span, high_span)
            beyond = f"more than {more:.3g}" if is_wide else f"less than {less:.3g}"
            of = f"{count:,} of {runs[place].several:,} queries of several documents"
            what += f"; {of} span {beyond}" * bool(count)
            yield finding("score-range", some.at(cell.run), what, max(count, 1), some.names)


def _unjudged(cells: Sequence[GuardedCell]) -> Iterator[Finding]:
    """Yield runs with many more unjudged documents near the top than the dataset's other runs."""
    runs = [cell for cell in cells if cell.facts.run.shown and cell.facts.run.judged]
    if len(runs) <= OTHERS:
        return
    share = np.array([1 - run.facts.run.judged_shown / run.facts.run.shown for run in runs])
    middle = float(np.median(share))
    for cell, own in zip(runs, share.tolist(), strict=True):
        if own > middle + FAR:
            facts = cell.facts.run
            below_0 = BELOW_0 if cell.facts.judgements.negative else ""
            what = (
                f"{100 * own:.0f} % of the documents at rank 10 or before are not judged{below_0}, "
                f"{100 * middle:.0f} % in the middle of the {len(runs)} runs on {cell.dataset}"
            )
            some = facts.first.get("unjudged-at-10", First())
            n = facts.shown - facts.judged_shown
            yield finding("unjudged-unlike-others", some.at(cell.run), what, n, some.names)


def collapsed(findings: Iterable[tuple[str, Finding]]) -> list[Finding]:
    """Return findings, those of one rule in one scope that differ in numbers alone as one.

    A few files with copies are told one by one, as each names its own; many together. Warnings and
    errors of one file, as of a run on several datasets, stay apart: it is no other file.

    Parameters
    ----------
    findings : iterable of (str, Finding)
        What they are collected by, such as the dataset, and each.
    """
    groups: dict[tuple[str, str, str, str, int], dict[Finding, None]] = {}
    every = dict.fromkeys(findings)
    n_of_file = Counter[tuple[str, ...]]()
    copies = len({one for _, one in every if one.rule == "same-file-twice"})
    for scope, one in every:
        apart = one.rule in APART and (one.rule != "same-file-twice" or copies <= ALIKE)
        own = f"{one.place}: {one.what}" if apart else scope
        said = _NUMBER.sub("", one.what)
        alike = (own, one.rule, one.severity, said)
        of_file = (*alike, file_of(one))
        nth = 0 if one.severity == "note" else n_of_file[of_file]
        n_of_file[of_file] += 1
        groups.setdefault((*alike, nth), {})[one] = None
    return [_collapsed(list(some)) for some in groups.values()]


def _collapsed(findings: Sequence[Finding]) -> Finding:
    one, *others = findings
    if not others:
        return one
    places = dict.fromkeys(one.place for one in others)
    unlike = any((each.what, each.count) != (one.what, one.count) for each in others)
    return replace(one, n_others=len(others), others=tuple(places)[:SHOWN], unlike=unlike)
