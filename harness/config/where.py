"""`where:`: which cells of a sweep are kept, by what placeholders captured and by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..errors import did_you_mean
from ..escaping import in_json
from ..tables.select import matched, problems
from .patterns import natural

Where = Mapping[str, Sequence[str]]
"""Patterns by column, as ``{"seed": ["1", "2"], "model": ["!random*"]}``."""


MOST = 20
"""Values that a suggestion lists."""
_PLAIN = re.compile("0|[1-9][0-9]{0,14}")  # YAML reads 01 as another


class Wrong(NamedTuple):
    """What is wrong with one part, and its place below ``where``."""

    loc: tuple[str | int, ...]
    what: str
    fix: str = ""


def kept(where: Where, seen: Sequence[Mapping[str, str]]) -> dict[str, frozenset[str]]:
    """Return the values of each column that are kept.

    Parameters
    ----------
    where : mapping of str to sequence of str
        Values and patterns, as :func:`~harness.tables.select.select` takes them.
    seen : sequence of mapping
        The columns of each cell.

    Examples
    --------
    >>> cells = [{"model": "svm", "seed": "1"}, {"model": "random", "seed": "1"}]
    >>> sorted(kept({"model": ["!rand*"]}, cells)["model"])
    ['svm']
    """
    return {
        column: frozenset(matched(patterns, _values(column, seen), None))
        for column, patterns in where.items()
    }


def keeps(values: Mapping[str, frozenset[str]], columns: Mapping[str, str]) -> bool:
    """Whether a cell is kept: in each column that it has, its value is.

    >>> keeps({"seed": frozenset("12")}, {"seed": "3"}), keeps({"seed": frozenset("12")}, {})
    (False, True)
    """
    return all(columns[name] in some for name, some in values.items() if name in columns)


def check(where: Where, seen: Sequence[Mapping[str, str]]) -> Iterator[Wrong]:
    """Yield columns that there are not, and values and patterns that fit nothing."""
    known = list(dict.fromkeys(column for columns in seen for column in columns))
    for column, patterns in where.items():
        if column not in known:
            near = did_you_mean(column, known)
            yield Wrong((column,), f"there is no column '{column}'{near}  ({_are(known)})")
            continue
        values = _values(column, seen)
        for place, what in problems(patterns, values, column):
            loc = (column,) if len(patterns) == 1 else (column, place)
            yield Wrong(loc, what, _same_number(patterns[place].removeprefix("!"), values))


def without(these: Sequence[Mapping[str, str]], others: Sequence[Mapping[str, str]]) -> str:
    """Return what to do about datasets without runs, where one entry found both.

    Parameters
    ----------
    these, others : sequence of mapping
        What placeholders captured of the datasets without runs, and of those with some.

    Examples
    --------
    >>> without([{"fold": "3"}], [{"fold": "1"}, {"fold": "2"}])
    "add them, or leave them out: 'where: {fold: [1, 2]}' keeps the others"
    >>> without([{"fold": "3"}], [])
    'add them, or take the dataset out'
    """
    if not others:
        return "add them, or take the dataset out"
    for column in others[0]:
        some = sorted({one[column] for one in others}, key=natural)
        if len(some) <= MOST and not {*some} & {one[column] for one in these}:
            listed = ", ".join(one if _PLAIN.fullmatch(one) else in_json(one) for one in some)
            return (
                f"add them, or leave them out: 'where: {{{column}: [{listed}]}}' keeps the others"
            )
    return "add them, or narrow the path"


def _values(column: str, seen: Sequence[Mapping[str, str]]) -> list[str]:
    return sorted({columns[column] for columns in seen if column in columns}, key=natural)


def _same_number(text: str, values: Sequence[str]) -> str:
    """Say that 1 is not 01, where that is why nothing fits."""
    same = [value for value in values if value != text and _number(value) == _number(text)]
    listed = ", ".join(f'"{value}"' for value in same)
    return f"write {listed}: values are text, and {text} is another" if same else ""


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _are(names: Sequence[str]) -> str:
    return f"there are: {', '.join(names)}"
