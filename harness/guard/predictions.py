"""Predictions that belong to other rows than their own, by counts and by correlation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..core.ragged import Array
from . import fits
from .facts import RunFacts
from .finding import SHOWN, Finding
from .first import First
from .fits import Break, Fit, Rows
from .labels import are_labels
from .registry import finding

ENOUGH = 200
"""Rows from which on a model's predictions show that they have to do with the grades."""
CHANCE = 3.0
"""Standard errors up to which a correlation is what chance gives."""
TOO_MANY = "get the whole dataset, if it was cut; else predict its rows, and nothing else"
OTHER_FOLD = (
    "predict in the order of this fold's rows (they may have been shuffled, sorted or turned "
    "round), or name this fold's file: it may be that of a fold of as many rows that the config "
    "does not name"
)
LARGEST = 20_000_000
"""Predictions of one file beyond which they are not held against the grades at every offset."""


def of_count(
    place: str, name: str, rows: Rows | None, scores: Array, others: Mapping[str, Rows]
) -> Finding:
    """Return the finding for more or fewer predictions than rows: where they would fit.

    Parameters
    ----------
    place : str
        The file of predictions.
    name : str
        The dataset's.
    rows : Rows, optional
        Its own.
    scores : ndarray, shape (m,)
    others : mapping of str to Rows
        Other datasets of the sweep, by their names and files.
    """
    n_rows = 0 if rows is None else rows.grades.size
    what = f"{scores.size:,} predictions for {n_rows:,} rows of {name}"
    same = [other for other, held in others.items() if held.grades.size == scores.size]
    if same:
        ranked = fits.ranks(scores)
        best = max(same, key=lambda other: fits.fit(others[other], ranked).z)
        found = fits.fit(others[best], ranked)
        what += f"; they are as many as the rows of {best}"
        if found.z > fits.CLEAR:
            what += f", whose grades they correlate with ({found.r:.2f})"
        if len(same) > 1:
            what += f" (as many: {'; '.join(one for one in same if one != best)})"
        return finding("row-count", place, what, fix=f"name the predictions of {name}")
    fix = TOO_MANY if scores.size > n_rows else ""
    if rows is not None and scores.size and scores.size <= LARGEST:
        at_0, best_fit = fits.best(rows, scores)
        if best_fit.z > fits.CLEAR:
            more = scores.size - n_rows
            broken = fits.broken(rows, scores, 0, more)
            if broken is not None:
                what += f"; {_break(broken, more)}"
            elif fits.is_even(rows, scores, best_fit):
                what += f"; {_where(rows, scores, best_fit, at_0)}"
                fix = _delete(more, best_fit.offset) if more > 0 else fix
    return finding("row-count", place, what, fix=fix)


def _where(rows: Rows, scores: Array, best: Fit, at_0: Fit) -> str:
    """Return in words where scores fit that are too many or too few."""
    more = scores.size - rows.grades.size
    as_they_are = f"correlation with the grades {best.r:.2f}"
    if best.offset:
        as_they_are += f", against {at_0.r:.2f} as they stand"
    if more > 0:
        head, tail = best.offset, more - best.offset
        left_out = [f"the first {_n(head)}"] * (head > 0) + [f"the last {_n(tail)}"] * (tail > 0)
        return f"they fit without {' and '.join(left_out)} ({as_they_are})"
    head, tail = -best.offset, -more + best.offset
    lacking = [f"the first {_n(head)}"] * (head > 0) + [f"the last {_n(tail)}"] * (tail > 0)
    return f"they fit if {' and '.join(lacking)} of the dataset had none ({as_they_are})"


def _break(found: Break, more: int) -> str:
    """Return in words where scores stop to fit as they stand."""
    next_lines = "the next line" if abs(more) == 1 else f"the next {abs(more)} lines"
    there = f"without {next_lines}" if more > 0 else f"if {next_lines} of the dataset had none"
    return (
        f"they fit as they stand up to about line {found.row:,} of the dataset, and from there on "
        f"{there} (correlation with the grades {found.before.r:.2f}, and {found.after.r:.2f})"
    )


def _delete(more: int, head: int) -> str:
    """Return how to mend predictions that fit without some at the ends."""
    first = "line 1" if head == 1 else f"lines 1 to {head}"
    some = [first] * (head > 0) + [f"the last {_n(more - head)}"] * (head < more)
    delete = f"delete {' and '.join(some)} of the predictions"
    return f"get the whole dataset, if it was cut; else {delete}" if head < more else delete


def _n(lines: int) -> str:
    return "line" if lines == 1 else f"{lines} lines"


def of_facts(run: RunFacts, place: str, name: str) -> Iterator[Finding]:
    """Yield what is wrong with the rows or the columns of predictions, by their facts."""
    if run.whole_scores:
        listed = ", ".join(f"{one:g}" for one in run.whole_scores)
        what = (
            f"the predictions are whole numbers ({listed}), and the grades of {name} are "
            f"{run.different_grades:,} different fractions: the columns have changed places"
        )
        yield finding("swapped-columns", place, what, run.rows)
    elif _has_slipped(run):
        yield from _slip(run, place, name)


def _slip(run: RunFacts, place: str, name: str) -> Iterator[Finding]:
    """Yield by how many rows predictions have slipped, and in which part of the file."""
    own, best = Fit(*run.own_fit), Fit(*run.best_fit)
    fit, with_grades = f"the predictions fit the rows of {name}", "correlation with the grades"
    against = f"against {own.r:.2f} as they all stand"
    if run.broken:
        row, *both = run.broken
        before, after = Fit(*both[:3]), Fit(*both[3:])
        at = f"about line {row:,}"
        where = f"as they stand up to {at}, and from there on if {_moved(best.offset, row + 1)}"
        part = "documents from there on have the score of a neighbour"
        if before.offset:
            last = f"line {row + best.offset:,} belongs to row {row:,}"
            where = f"as they stand from {at} on, and before it if {last}"
            part = "documents before that line have the score of a neighbour"
        what = (
            f"{fit} {where}: {with_grades} within queries {before.r:.2f} before it and "
            f"{after.r:.2f} from there on, {against}"
        )
        fix = "find what was inserted or lost about there, and predict again"
        yield finding("shifted", place, what, run.rows, effect=part, fix=fix)
    elif run.uneven:
        what = (
            f"{fit} better moved by {_n_rows(abs(best.offset))}, but not all of them alike: "
            f"{with_grades} within queries {best.r:.2f}, {against}"
        )
        fix = "find what was inserted and lost within the file, and predict again"
        part = "documents in parts of the file have the score of a neighbour"
        yield finding("shifted", place, what, run.rows, effect=part, fix=fix)
    else:
        what = (
            f"{fit} better if {_moved(best.offset, 1)}: {with_grades} within queries {best.r:.2f}, "
            f"against {own.r:.2f} as they stand"
        )
        yield finding("shifted", place, what, run.rows)


def _moved(offset: int, row: int) -> str:
    """Return which line belongs to which row, from the row `row` on.

    >>> _moved(1, 1), _moved(-2, 1), _moved(-1, 301)
    ('line 2 belongs to row 1', 'line 1 belongs to row 3', 'line 301 belongs to row 302')
    """
    line, of = (row + offset, row) if offset > 0 else (row, row - offset)
    return f"line {line:,} belongs to row {of:,}"


def _n_rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n} rows"


def _has_slipped(run: RunFacts) -> bool:
    """Whether predictions fit clearly better some rows further on."""
    return bool(run.broken) or fits.has_slipped(Fit(*run.own_fit), Fit(*run.best_fit))


def is_odd(run: RunFacts) -> bool:
    """Whether predictions fit neither their own rows nor their neighbours."""
    if not run.own_fit or run.whole_scores or _has_slipped(run) or are_labels(run):
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
    elif own.n and (fitting := [(other, fit) for other, fit in others if fits.is_clear(fit, own)]):
        shown = fitting[:SHOWN]
        values = _listed([f"{fit.r:.2f}" for _, fit in shown])
        on = _listed([other for other, _ in shown])
        more = f" (and {len(fitting) - SHOWN:,} more)" if len(fitting) > SHOWN else ""
        what += f"; those of the same model {values} on {on}{more}"
        yield finding(
            "unrelated", place, what, own.n, severity="warning",
            effect="each document has the score of another one", fix=OTHER_FOLD,
        )  # fmt: skip
    elif own.n >= ENOUGH and own.z < CHANCE:
        yield finding("unrelated", place, what, own.n)


def _listed(some: Sequence[str]) -> str:
    """Return a few as people list them.

    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(some[:-1]), some[-1]]))


def of_others(
    place: str, name: str, own: Fit, scores: Array, others: Mapping[str, Rows]
) -> Iterator[Finding]:
    """Yield the dataset of as many rows whose grades predictions fit in place of their own."""
    ranked = fits.ranks(scores)
    found = {other: fits.fit(rows, ranked) for other, rows in others.items()}
    if found:
        other = max(found, key=lambda one: found[one].z)
        if fits.is_clear(found[other], own):
            what = (
                f"the predictions fit the rows of {other} (correlation with the grades within "
                f"queries {found[other].r:.2f}) and not those of {name} ({own.r:.2f}), as many"
            )
            yield finding("swapped-fold", place, what, scores.size)
