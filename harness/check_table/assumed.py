"""The dataset of a table that does not say it: as told, or the one that its numbers fit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from ..core.study import Study
from .match import Line, Match
from .rounding import is_rounded
from .values import columns_of, dataset_of


def with_dataset(match: Match, study: Study, told: str | None) -> Match:
    """Return a table whose rows have the dataset that it does not say.

    One whose columns name datasets is left as it is.

    Parameters
    ----------
    match : Match
    study : Study
    told : str or None
        Whose values they are; None: the one dataset whose values at least half of these numbers
        are, and more than of any other. Which it is, is noted.
    """
    unsaid = [line for line in match.lines if _is_unsaid(line, match, study)]
    if not unsaid or any(heading.has_dataset for heading in match.headings):
        return match
    if told is not None:
        return _taken(match, unsaid, told)
    fits = {name: _fits(_taken(match, unsaid, name), unsaid, study) for name in study.datasets}
    best = max(fits, key=lambda name: fits[name])
    right, n = fits[best]
    if 2 * right < n or not right or [one for one, _ in fits.values()].count(right) > 1:
        return match
    note = f"its dataset is not said: taken as {best}, which {right} of {n} numbers fit (--dataset)"
    found = _taken(match, unsaid, best)
    return replace(found, notes=(*found.notes, note))


def _is_unsaid(line: Line, match: Match, study: Study) -> bool:
    return line.run is not None and any(
        heading.column is not None and dataset_of(line, heading, study) is None
        for heading in match.headings
    )


def _taken(match: Match, unsaid: list[Line], name: str) -> Match:
    lines = tuple(
        replace(line, dataset=name) if line in unsaid else line for line in match.lines
    )  # fmt: skip
    return replace(match, lines=lines)


def _fits(match: Match, unsaid: list[Line], study: Study) -> tuple[int, int]:
    """Return how many of the numbers that had no dataset are its values, and how many they are."""
    known = list(_are_right(match, {id(line.cells) for line in unsaid}, study))
    return sum(known), len(known)


def _are_right(match: Match, rows: set[int], study: Study) -> Iterator[bool]:
    for column in columns_of(match, study):
        for one in column:
            if id(one.line.cells) in rows and one.known:
                shown = one.printed
                yield not math.isnan(one.value) and is_rounded(
                    shown.number, shown.digits, one.value, percent=one.percent
                )
