"""Which values stand out, and the signs of systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from ...core.comparison import Comparisons
from ...core.metric import Direction
from .settings import Marks

DAGGERS = "†‡§¶‖"
MOST_MARKED = 20
"""Systems of a table up to which significance is marked if the settings say nothing else."""
FEWEST_FOR_SECOND = 3
"""With two systems the second best is the other one, which needs no mark."""


def letter(place: int) -> str:
    """Return the letter of a system by its place, from 0: a ... z, aa, ab ... zz, aaa.

    >>> [letter(place) for place in (0, 25, 26, 27, 701, 702)]
    ['a', 'z', 'aa', 'ab', 'zz', 'aaa']
    """
    text, rest = "", place + 1
    while rest:
        rest, digit = divmod(rest - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def place_of(letters: str) -> int:
    """Return the place of a system by its letter.

    >>> [place_of(letters) for letters in ("a", "z", "aa", "aaa")]
    [0, 25, 26, 702]
    """
    place = 0
    for sign in letters:
        place = 26 * place + ord(sign) - ord("a") + 1
    return place - 1


def ranges(letters: Iterable[str]) -> list[str]:
    """Return letters in their order, three and more that follow each other as one range.

    >>> ranges(["a", "b", "d", "y", "z", "aa", "††"])
    ['a', 'b', 'd', 'y–aa', '††']
    """
    runs: list[list[str]] = []
    for text in letters:
        last = runs[-1][-1] if runs else "†"
        if text.isalpha() and last.isalpha() and place_of(text) == place_of(last) + 1:
            runs[-1].append(text)
        else:
            runs.append([text])
    parts = ([f"{run[0]}–{run[-1]}"] if len(run) > 2 else run for run in runs)
    return [text for part in parts for text in part]


def dagger(place: int) -> str:
    """Return the sign of a baseline by its place, from 0; each is doubled after the last.

    >>> [dagger(place) for place in (0, 1, 4, 5, 11)]
    ['†', '‡', '‖', '††', '‡‡‡']
    """
    times, which = divmod(place, len(DAGGERS))
    return DAGGERS[which] * (times + 1)


def best_and_second(texts: Sequence[str], direction: Direction | None) -> tuple[set[int], set[int]]:
    """Return the places of the best values, and of the second best, at the precision shown.

    All that share a value share its mark. Nothing is best in a mere count (no direction) or
    if all values are equal, and nothing second among fewer than :data:`FEWEST_FOR_SECOND`
    values.

    Parameters
    ----------
    texts : sequence of str
        The numbers of one column as they are shown; other texts take no part.
    direction : {"higher", "lower"} or None
        Which way is better.

    Examples
    --------
    >>> best_and_second([".42", ".40", ".42", "–", ".40"], "higher")
    ({0, 2}, {1, 4})
    >>> best_and_second(["1.5", "2.0"], "lower")
    ({0}, set())
    """
    numbers = {at: number for at, text in enumerate(texts) if (number := _number(text)) is not None}
    order = sorted({*numbers.values()}, reverse=direction == "higher")
    if direction is None or len(order) < 2:
        return set(), set()
    best, second = ({at for at in numbers if numbers[at] == order[rank]} for rank in (0, 1))
    return best, second if len(numbers) >= FEWEST_FOR_SECOND else set()


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


@dataclass(frozen=True, eq=False)
class Signs:
    """The signs of a table: of each system that others are compared with, in order."""

    kind: Marks = "none"
    of: dict[str, str] = field(default_factory=dict)
    comparisons: Comparisons | None = None
    are_too_many: bool = False

    def beside(
        self, dataset: str, metric: str, run: str
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the signs of the systems that a run is significantly better, and worse, than.

        The latter for daggers alone: with letters, the better system's own value has the sign.
        """
        ways = {sign: self._way(dataset, metric, run, other) for other, sign in self.of.items()}
        worse = tuple(sign for sign, way in ways.items() if way < 0 and self.kind == "daggers")
        return tuple(sign for sign, way in ways.items() if way > 0), worse

    def _way(self, dataset: str, metric: str, run: str, other: str) -> int:
        """Return 1 if `run` is significantly better than `other`, -1 if worse, else 0."""
        if self.comparisons is None or run == other:
            return 0
        one, sign = self.comparisons.get(dataset, metric, other, run), 1
        if one is None:
            one, sign = self.comparisons.get(dataset, metric, run, other), -1
        if one is None or not self.comparisons.is_significant(one) or one.difference == 0:
            return 0
        return sign if one.is_better else -sign


def signs_of(comparisons: Comparisons | None, marks: Marks | None, runs: Sequence[str]) -> Signs:
    """Return which system has which sign; `runs` are the rows, in order.

    By default daggers if there are baselines, letters otherwise, and none above `MOST_MARKED`.
    """
    if comparisons is None or not comparisons.rows or marks == "none":
        return Signs()
    if marks is None and len(runs) > MOST_MARKED:
        return Signs(are_too_many=True)
    baselines = comparisons.plan.baselines
    kind = marks or ("daggers" if baselines else "letters")
    compared = {name for one in comparisons.rows for name in (one.run, one.baseline)}
    named = [name for name in baselines or runs if name in compared]
    sign = dagger if kind == "daggers" else letter
    return Signs(kind, {name: sign(place) for place, name in enumerate(named)}, comparisons)
