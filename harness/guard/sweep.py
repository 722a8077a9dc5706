"""What the cells of a sweep say of each other: from their facts to findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, encode
from ..errors import Finding
from .documents import BELOW_0
from .facts import Facts
from .labels import are_labels
from .parts import EXAMPLES, First, texts_at
from .registry import APART, SHOWN, file_of, finding, without_folders
from .row_order import Fit

OTHERS = 2
"""Other folds, or other runs, that must agree before one is said to differ from them."""
ENOUGH_ROWS = 20
"""Rows below which two files may be equal by chance."""
FAR = 0.2
"""How much larger than the median of the runs a share of unjudged documents must be: two of the
ten documents at the top."""
WIDER = 5.0
"""How many times as wide as those of all other folds a fold's scores must be, or as narrow."""
T = TypeVar("T")
Places = Callable[[str, Sequence[str]], Mapping[str, str]]
"""Returns the places of some queries in the file of a dataset, as far as they are known."""


def nowhere(path: str, qids: Sequence[str]) -> Mapping[str, str]:
    """Return no places."""
    return {}


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
    places: Places = nowhere,
) -> Iterator[Finding]:  # fmt: skip
    """Yield what cells say of each other.

    Parameters
    ----------
    cells : sequence of GuardedCell
    failed : mapping of str to str, optional
        SHA-256, by path, of the runs that hold rows and failed.
    places : callable, optional
        Looks up the places of queries in their files.
    """
    yield from _same_bytes(cells, failed or {})
    pooled = [cell for cell in cells if cell.pooled]
    for some in _by(pooled, lambda cell: cell.pooled).values():
        datasets = {cell.dataset: cell for cell in some}
        yield from _shared_queries("pooled-queries", datasets, places)
    named = [cell for cell in cells if cell.folds and not cell.facts.judgements.numbered]
    for some in _by(named, lambda cell: (cell.entry, cell.pooled)).values():
        if not some[0].pooled:
            datasets = {cell.digests[cell.dataset]: cell for cell in some}
            yield from _shared_queries("shared-queries", datasets, places)
    folds = [cell for cell in cells if cell.folds]
    for some in _by(folds, lambda cell: cell.model).values():
        yield from _ranges(some)
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
    folds = [cell for cell in cells if cell.folds and cell.facts.run.order.fit is not None]
    for some in _by(folds, lambda cell: cell.model).values():
        fits = {
            cell.dataset: (cell.name, fit) for cell in some if (fit := cell.facts.run.order.fit)
        }
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
        if not (are_labels(run) or 0 < run.scores.several == run.scores.constant):
            rows[cell.run] = run.queries.rows
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
    rule: str, datasets: Mapping[str, GuardedCell], places: Places
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
    qids = texts_at(distinct, np.flatnonzero(shared)[:EXAMPLES])
    held = [fold[which == code][:2].tolist() for code in np.flatnonzero(shared)[: len(qids)]]
    known: dict[int, Mapping[str, str]] = {
        one: places(paths[one], qids) for one in sorted({*chain(*held)})
    }
    both = [
        [known[one].get(qid, paths[one]) for one in two]
        for qid, two in zip(qids, held, strict=True)
    ]
    shown = (" and ".join(without_folders(two, paths)) for two in both)
    examples = [f"query {qid}: {two}" for qid, two in zip(qids, shown, strict=True)]
    yield finding(rule, both[0][1], what, n, examples)


def _ranges(cells: Sequence[GuardedCell]) -> Iterator[Finding]:
    """Yield folds whose scores are elsewhere, or of another scale, than on all other folds."""
    folds = list({cell.dataset: cell for cell in cells}.values())
    if len(folds) <= OTHERS:
        return
    scores = [cell.facts.run.scores for cell in folds]
    low, high = np.array([[one.lowest, one.highest] for one in scores]).T
    wide = np.array([one.mean_highest - one.mean_lowest for one in scores])
    centre = np.array([(one.mean_highest + one.mean_lowest) / 2 for one in scores])
    n = f"{len(folds) - 1} other folds"
    for place, cell in enumerate(folds):
        others = np.arange(len(folds)) != place
        least, most = low[others].min(), high[others].max()
        narrow, broad = wide[others].min(), wide[others].max()
        if not least <= centre[place] <= most:
            what = (
                f"scores from {low[place]:.4g} to {high[place]:.4g}, those of the same model on "
                f"its {n} from {least:.4g} to {most:.4g}"
            )
        elif min(wide[place], narrow) > 0 and not (narrow / WIDER <= wide[place] <= broad * WIDER):
            what = (
                f"a query's scores span {wide[place]:.3g} on average, those of the same model on "
                f"its {n} {narrow:.3g} to {broad:.3g}"
            )
        else:
            continue
        yield finding("score-range", cell.run, what, cell.facts.run.queries.rows)


def _unjudged(cells: Sequence[GuardedCell]) -> Iterator[Finding]:
    """Yield runs with many more unjudged documents near the top than the dataset's other runs."""
    runs = [cell for cell in cells if (one := cell.facts.run.documents).shown and one.judged]
    if len(runs) <= OTHERS:
        return
    documents = [cell.facts.run.documents for cell in runs]
    shares = [1 - one.judged_shown / one.shown for one in documents]
    middle = float(np.median(shares))
    for cell, facts, own in zip(runs, documents, shares, strict=True):
        if own > middle + FAR:
            below_0 = BELOW_0 if cell.facts.judgements.negative else ""
            what = (
                f"{100 * own:.0f} % of the documents at rank 10 or before are not judged{below_0}, "
                f"{100 * middle:.0f} % in the middle of the {len(runs)} runs on {cell.dataset}"
            )
            some = cell.facts.run.first.get("unjudged-at-10", First())
            n = facts.shown - facts.judged_shown
            yield finding("unjudged-unlike-others", some.at(cell.run), what, n, some.names)


def collapsed(findings: Iterable[tuple[str, Finding]]) -> list[Finding]:
    """Return findings, those of one rule in one scope as one, with the places of the others.

    Warnings and errors of one file stay apart.

    Parameters
    ----------
    findings : iterable of (str, Finding)
        The scope, such as a dataset, and each.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    n_of_file = Counter[tuple[str, ...]]()
    for scope, one in dict.fromkeys(findings):
        of_file = (scope, one.rule, one.severity, file_of(one))
        nth = 0 if one.severity == "note" else n_of_file[of_file]
        n_of_file[of_file] += 1
        key = (one,) if one.rule in APART else (scope, one.rule, one.severity, nth)
        groups.setdefault(key, []).append(one)
    return [_collapsed(*some) for some in groups.values()]


def _collapsed(one: Finding, *others: Finding) -> Finding:
    if not others:
        return one
    places = dict.fromkeys(other.place for other in others)
    return replace(one, n_others=len(others), others=tuple(places)[:SHOWN])
