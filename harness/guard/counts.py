"""Predictions that are more or fewer than the rows: which are too many, or lacking."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..core.ragged import Array
from . import fits, lost
from .finding import SHOWN, Finding
from .first import texts_at
from .fits import Fit, Rows
from .lost import Lost, Place
from .registry import RULES, finding

LARGEST = 5_000_000
"""Predictions of one file beyond which they are not held against the grades at every offset."""
BETTER = 2.0
"""Standard errors by which a place must fit better than a cut file's predictions as they stand."""
CUT = "get the whole dataset, if it was cut; else "

At = Callable[[Sequence[int]], Sequence[str]]
"""Returns the places of some rows of a file, by their positions from 0: ``["a.txt:3"]``."""


def nowhere(rows: Sequence[int]) -> Sequence[str]:
    """Return no places."""
    return [""] * len(rows)


def of_count(
    place: str, name: str, rows: Rows | None, scores: Array, others: Mapping[str, Rows],
    at: At = nowhere, at_rows: At = nowhere, is_cut: bool = False,
) -> Finding:  # fmt: skip
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
    at, at_rows : callable, optional
        Where predictions, and rows of the dataset, are in their files.
    is_cut : bool
        Whether the last prediction's line has no end.
    """
    n_rows = 0 if rows is None else rows.grades.size
    more = scores.size - n_rows
    is_cut = is_cut and more < 0
    what = "the file may be cut, as its last line has no line end: " * is_cut
    what += f"{scores.size:,} predictions for {n_rows:,} rows of {name}"
    same = {other: held for other, held in others.items() if held.grades.size == scores.size}
    known = None
    if rows is not None and n_rows and scores.size and scores.size <= LARGEST:
        known = lost.find(rows, scores)
        known = None if is_cut and known is not None and _is_no_better(known) else known
    best, found = _best(scores, same)
    if found.z > fits.CLEAR and (known is None or found.z > known.there.z):
        what += f"; {_as_many(best, found, same)}"
        return finding("row-count", place, what, abs(more), fix=f"give the predictions of {name}")
    if known is not None:
        what += f"; {_where(known, max(scores.size, n_rows))}"
        first = [one for place in known.places for one in _named(place, max(scores.size, n_rows))]
    else:
        what += f"; in their order without a {'row' if more > 0 else 'prediction'}"
        first = [*range(min(scores.size, n_rows), max(scores.size, n_rows))[:SHOWN]]
    first = first[:SHOWN]
    if more > 0:
        places = at(first)
        names = [f"prediction {one + 1:,}: {scores[one]:.15g}" for one in first]
        fix = _delete(known, scores.size)
    else:
        places, names = [], [*_rows(rows, first, at_rows)] if rows is not None else []
        fix = "get the whole file again" if is_cut else ""
    if same and known is None:  # the count alone says it
        what += f"; {_as_many(best, found, same)}, and may be theirs"
        fix = f"{fix or RULES['row-count'].fix}; or give the predictions of {name}"
    at_first = places[0] if places else ""
    return finding("row-count", at_first or place, what, abs(more), names, fix=fix)


def _is_no_better(found: Lost) -> bool:
    """Whether predictions fit as they stand, and elsewhere no more than chance gives."""
    there, own = found.there, found.own
    apart = (there.r - own.r) * math.sqrt(min(there.n, own.n))
    return own.z > fits.CLEAR and apart < BETTER


def _best(scores: Array, same: Mapping[str, Rows]) -> tuple[str, Fit]:
    """Return the dataset of as many rows that scores fit best, and how; no fit where none is."""
    ranked = fits.ranks(scores)
    found = {other: fits.fit(rows, ranked) for other, rows in same.items()}
    best = max(found, key=lambda other: found[other].z, default="")
    return best, found.get(best, Fit(0, 0.0, 0))


def _as_many(best: str, found: Fit, same: Iterable[str]) -> str:
    """Return in words of which other datasets predictions have the count."""
    what = f"they are as many as the rows of {best}"
    if found.z > fits.CLEAR:
        what += f", whose grades they correlate with ({found.r:.2f})"
    if others := [one for one in same if one != best]:
        what += f" (as many: {'; '.join(others)})"
    return what


def _rows(rows: Rows, first: Sequence[int], at: At) -> Iterator[str]:
    """Yield the names of some rows, with their places."""
    for one, place in zip(first, at(first), strict=True):
        qid = "" if rows.qids is None else texts_at(rows.qids, rows.query[[one]])[0]
        query = f", query {qid}" * bool(qid)
        yield f"row {one + 1:,}{query}" + f" ({place.rpartition('/')[2]})" * bool(place)


def _where(found: Lost, total: int) -> str:
    """Return in words without which predictions the others fit, or which rows have none."""
    noun = "prediction" if found.places[0].n > 0 else "row"
    which = " and ".join(_which(place, noun, total) for place in found.places)
    values = [f"{one.r:.2f}" for one in (found.there, found.own)]
    correlation = f"correlation with the grades {values[0]}"
    if values[0] != values[1]:
        correlation += f", against {values[1]} as they stand"
    if noun == "prediction":
        return f"they fit without {which.removesuffix(',')} ({correlation})"
    return f"they fit if {which} had none ({correlation})"


def _ends(place: Place, total: int) -> tuple[int, int, int, bool, bool]:
    """Return how many, the first and the last that they may begin at, and which is an end."""
    n = abs(place.n)
    low, high = place.at.low + 1, place.at.high + 1
    return n, low, high, low == 1, high + n - 1 == total


def _which(place: Place, noun: str, total: int) -> str:
    """Return in words which they are.

    >>> from .slips import Where
    >>> _which(Place(1, Where(2, 0, 16)), "prediction", 1209)
    'prediction 1, or one up to prediction 17,'
    >>> _which(Place(-3, Where(99, 83, 116)), "row", 1208)
    '3 rows that follow each other from one of rows 84 to 117 on, likeliest 100,'
    """
    n, low, high, begins, ends = _ends(place, total)
    likeliest = place.at.row + 1
    if low == high:
        return f"{noun} {low:,}" if n == 1 else f"{noun}s {low:,} to {low + n - 1:,}"
    if begins and ends:
        return f"one of all {noun}s" if n == 1 else f"{n:,} {noun}s that follow each other"
    if n == 1 and begins:
        return f"{noun} 1, or one up to {noun} {high:,},"
    if n == 1 and ends:
        return f"the last {noun}, or one from {noun} {low:,} on,"
    if n == 1:
        return f"one of {noun}s {low:,} to {high:,}, likeliest {likeliest:,},"
    together = f"{n:,} {noun}s that follow each other from"
    if begins:
        return f"the first {n:,} {noun}s, or {together} one up to {noun} {high:,} on,"
    if ends:
        return f"the last {n:,} {noun}s, or {together} {noun} {low:,} or a later one on,"
    return f"{together} one of {noun}s {low:,} to {high:,} on, likeliest {likeliest:,},"


def _named(place: Place, total: int) -> Sequence[int]:
    """Return those that the text names first, by their positions from 0."""
    n, _, _, begins, ends = _ends(place, total)
    first = place.at.low if begins else place.at.high if ends else place.at.row
    return range(first, first + n)[:SHOWN]


def _delete(found: Lost | None, total: int) -> str:
    """Return what to do about too many predictions."""
    if found is None:
        return CUT + "predict its rows, and nothing else"
    known = [_ends(place, total) for place in found.places]
    cut = CUT * any(ends for *_, ends in known)
    spans = [(low, high + n - 1) for n, low, high, *_ in known]
    some = " and ".join(
        f"{low:,}" if low == high else f"{low:,} to {high:,}" for low, high in spans
    )
    n = sum(high - low + 1 for low, high in spans)
    which = f"prediction{'s' * (n > 1)} {some}"
    if all(low == high for _, low, high, *_ in known):
        return f"{cut}delete {which}"
    one = "the one that is" if found.n == 1 else "those that are"
    return (
        f"{cut}look at {which}, and delete {one} none, such as a header; where all look right, "
        "predict again"
    )
