"""Predictions that belong to other rows than their own, by their correlation with the grades."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..core.ragged import Array, Ints
from . import fits
from .counts import At, nowhere
from .facts import RunFacts
from .finding import SHOWN, Finding
from .first import First, texts_at
from .fits import Fit, Rows, starts_of
from .labels import are_labels
from .registry import finding
from .slips import Slip, Where

ENOUGH = 200
"""Rows from which on a model's predictions show that they have to do with the grades."""
CHANCE = 3.0
"""Standard errors up to which a correlation is what chance gives."""
WORSE = (
    "the order is worse than a random one",
    "negate them, if they are ranks, distances or losses; else predict in the order of the "
    "dataset's rows",
)
"""What predictions do, and how to mend it, that fall as grades rise, less than six standard errors
clearly."""
OTHER_FOLD = (
    "predict in the order of this fold's rows (they may have been shuffled, sorted, turned round "
    "or moved by some rows), or name this fold's file: it may be that of a fold of as many rows "
    "that the config does not name, or that of another fold, cut"
)


def of_facts(run: RunFacts, place: str, name: str) -> Iterator[Finding]:
    """Yield what is wrong with the rows or the columns of predictions, by their facts."""
    if run.whole_scores:
        listed = ", ".join(f"{one:g}" for one in run.whole_scores)
        what = (
            f"the predictions are whole numbers ({listed}), and the grades of {name} are "
            f"{run.different_grades:,} different fractions: the columns have changed places"
        )
        yield finding("swapped-columns", place, what, run.rows)
    elif run.slip:
        yield _slip(run, Slip.of(run.slip), place, name)


def _slip(run: RunFacts, slip: Slip, place: str, name: str) -> Finding:
    """Return by how many rows predictions have slipped, and in which part of the file."""
    first = run.first.get("shifted", First())
    fit = f"the predictions fit the rows of {name}"
    certain = slip.certain
    moved = _moved(slip.there.offset, certain.start + 1)
    there, own = f"{slip.there.r:.2f}", f"against {slip.own.r:.2f} as they stand"
    correlation = "correlation with the grades within queries"
    begins, ends = slip.first.low == 0, slip.end.high == run.rows
    count, effect = len(certain), ""
    if begins and ends:
        what = f"{fit} better if {moved} and so on"
        if len(certain) < run.rows:
            what += f", rows {certain.start + 1:,} to {certain.stop:,} at least"
        what += f": {correlation} {there}, {own}"
        fix = ""
    else:
        since = _about(slip.first)
        until = _about(slip.end)
        if ends:
            what = f"{fit} as they stand up to {since}, and from there on"
            effect = "documents from there on have the score of a neighbour"
        elif begins:
            what = f"{fit} as they stand from {until} on, and before it"
            effect = "documents before that row have the score of a neighbour"
        else:
            what = f"{fit} as they stand but from {since} to {until}, and there"
            effect = "documents there have the score of a neighbour"
        what += (
            f" if {moved} and so on: {correlation} {there} there, {own}, and "
            f"{slip.others.r:.2f} elsewhere"
        )
        fix = "find what was inserted or lost about there, and predict again"
    found = finding("shifted", first.at(place), what, count, first.names, effect=effect, fix=fix)
    return replace(found, at_least=count < run.rows)


def _about(where: Where) -> str:
    """Return about which row a place is, the row before it or after it.

    >>> _about(Where(302, 290, 310)), _about(Where(302, 302, 302))
    ('about row 302 (290 to 310)', 'row 302')
    """
    row, low, high = (max(1, one) for one in where)
    return f"row {row:,}" if low == high else f"about row {row:,} ({low:,} to {high:,})"


def _moved(offset: int, row: int) -> str:
    """Return which prediction belongs to a row.

    >>> _moved(1, 1), _moved(-2, 3)
    ('prediction 2 belongs to row 1', 'prediction 1 belongs to row 3')
    """
    return f"prediction {row + offset:,} belongs to row {row:,}"


def is_odd(run: RunFacts) -> bool:
    """Whether predictions fit neither their own rows nor their neighbours."""
    if not run.own_fit or run.whole_scores or run.slip or are_labels(run):
        return False
    return Fit(*run.own_fit).z <= fits.CLEAR


def of_order(
    place: str, name: str, run: RunFacts, others: Sequence[tuple[str, Fit]] = ()
) -> Iterator[Finding]:
    """Yield that predictions have nothing to do with the grades, or the contrary.

    `others` are the same model's on its other folds, with their names: where these fit clearly, it
    is no random baseline.
    """
    own = Fit(*run.own_fit)
    what = f"predictions and grades of {name} have a correlation of {own.r:.2f} within queries"
    if own.z < -fits.CLEAR:
        first = run.first.get("upside-down", First())
        what += f", below 0 in {run.falling:,} of them"
        yield finding("upside-down", first.at(place), what, run.falling, first.names)
        return
    first = run.first.get("unrelated", First())
    what += f", below 0 in {run.falling:,} of {run.compared:,}"
    if own.n and (fitting := [(other, fit) for other, fit in others if fits.is_clear(fit, own)]):
        shown = fitting[:SHOWN]
        values = _listed([f"{fit.r:.2f}" for _, fit in shown])
        on = _listed([other for other, _ in shown])
        more = f" (and {len(fitting) - SHOWN:,} more)" if len(fitting) > SHOWN else ""
        what += f"; those of the same model {values} on {on}{more}"
        yield finding(
            "unrelated", first.at(place), what, run.compared, first.names, severity="warning",
            effect="each document has the score of another one", fix=OTHER_FOLD,
        )  # fmt: skip
    elif own.n >= ENOUGH and own.z < CHANCE:
        worse = own.z < -CHANCE
        yield finding(
            "unrelated", first.at(place), what, run.compared, first.names,
            effect=WORSE[0] * worse, fix=WORSE[1] * worse,
        )  # fmt: skip


def _listed(some: Sequence[str]) -> str:
    """Return a few as people list them.

    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(some[:-1]), some[-1]]))


class Swapped(NamedTuple):
    """Which dataset predictions fit in place of their own, how, and what is said of it."""

    other: str
    fit: Fit
    finding: Finding


def of_others(
    place: str, name: str, own: Fit, scores: Array, others: Mapping[str, Rows],
    own_rows: Rows | None = None, at: At = nowhere,
) -> Swapped | None:  # fmt: skip
    """Return the dataset of as many rows whose grades predictions fit in place of their own.

    `own_rows` are those of their own dataset; `at` returns where predictions are in their file.
    """
    ranked = fits.ranks(scores)
    found = {other: fits.fit(rows, ranked) for other, rows in others.items()}
    other = max(found, key=lambda one: found[one].z, default="")
    if not found or not fits.is_clear(found[other], own):
        return None
    query, there, here = _by_query(others[other], own_rows, ranked)
    better = np.flatnonzero(there > here)
    what = (
        f"the predictions fit the rows of {other} (correlation with the grades within "
        f"queries {found[other].r:.2f}) and not those of {name} ({own.r:.2f}), as many; so in "
        f"{better.size:,} of {query.size:,} queries of the other"
    )
    starts = starts_of(others[other])[query[better]]
    first = np.argsort(starts, kind="stable")[:SHOWN]
    qids = others[other].qids
    some = better[first]
    names = [] if qids is None else texts_at(qids, query[some])
    said = [
        f"query {qid} ({one:.2f}, and {its:.2f})"
        for qid, one, its in zip(names, there[some].tolist(), here[some].tolist(), strict=False)
    ]
    where = at([int(starts[first[0]])])[0] if some.size else ""
    told = finding("swapped-fold", where or place, what, better.size, said)
    return Swapped(other, found[other], told)


def _by_query(other: Rows, own: Rows | None, ranked: Array) -> tuple[Ints, Array, Array]:
    """Return the queries of another dataset, and how scores correlate with its grades in each.

    The third is how they do with those of their own dataset on the same rows; 0 where they do not
    differ there, or are not known.
    """
    query, there = fits.by_query(other, ranked)
    here = np.zeros(int(other.query.max()) + 1)
    if own is not None:
        some, r = fits.by_query(Rows(own.grades, other.query), ranked)
        here[some] = r
    return query, there, here[query]
