"""Parts of sentences that notes, captions and methods texts share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..core.comparison import Comparisons
from .grid import and_more

CORRECTIONS = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "bh": "Benjamini and Hochberg's correction",
    "by": "Benjamini and Yekutieli's correction",
    "none": "no correction",
}
INTERVALS = {
    "t": "t-intervals",
    "bca": "BCa bootstrap intervals",
    "simultaneous": "simultaneous intervals",
}
NO_BEST = "no best value marked, as runs were scored on different queries"
_FAMILIES = {"table": "", "metric": " of each metric and dataset", "dataset": " of each dataset"}


def listed(parts: Iterable[str], last: str = "and") -> str:
    """Return parts with commas and an "and" before the last.

    >>> listed(["a"]), listed(["a", "b"]), listed("abc")
    ('a', 'a and b', 'a, b and c')
    """
    *before, end = parts
    return f"{', '.join(before)} {last} {end}" if before else end


WARNED = "!"
"""Put behind the name of a run that the guard warns of."""


def warned_of(runs: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the note on runs that the guard warns of, by rule; nothing if there are none.

    >>> list(warned_of({"row-order": ["a", "b"]}))
    ['! the guard warns of row-order (a, b); see harness check']
    """
    if runs:
        each = ", ".join(f"{rule} ({first_of(names, 8)})" for rule, names in runs.items())
        yield f"{WARNED} the guard warns of {each}; see harness check"


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "query", "queries"), counted(1200, "query", "queries"), counted(2, "run")
    ('1 query', '1,200 queries', '2 runs')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def first_of(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are.

    >>> first_of(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    return " ".join([", ".join(names[:most]), *and_more(len(names) - most)])


def span(numbers: Iterable[int]) -> str:
    """Return the smallest and the largest of some numbers, or the only one.

    >>> span([3, 1, 2]), span([2, 2])
    ('1 to 3', '2')
    """
    sizes = sorted(numbers)
    low, high = sizes[0], sizes[-1]
    return f"{low:,} to {high:,}" if low < high else f"{low:,}"


def sized(sizes: Mapping[str, tuple[int, int]]) -> str:
    """Return datasets with the queries that count, and how many there are.

    >>> sized({"fold1": (50, 50), "fold2": (50, 50)}), sized({"fold1": (42, 50), "fold2": (1, 1)})
    ('fold1 and fold2 (50 queries each)', 'fold1 (42 of 50 queries) and fold2 (1 query)')
    """
    texts = {
        name: (f"{n:,} of " if n < size else "") + counted(size, "query", "queries")
        for name, (n, size) in sizes.items()
    }
    if len(sizes) > 1 and len({*sizes.values()}) == 1:
        return f"{listed(sizes)} ({texts.popitem()[1]} each)"
    return listed(f"{name} ({text})".strip() for name, text in texts.items())


def capitalised(text: str) -> str:
    """Return a sentence with its first letter as a capital."""
    return text[:1].upper() + text[1:]


def correction(comparisons: Comparisons, cite: str = "") -> str:
    """Return what p-values were corrected with, `cite` behind it, and over which family."""
    plan, sizes = comparisons.plan, [size for _, size in comparisons.family_sizes if size]
    if not sizes:
        return "no correction, as no comparison has a p-value"
    if comparisons.kind == "all-pairs":
        return f"corrected by the test for all pairs of each metric and dataset ({span(sizes)})"
    noun = "comparison" if max(sizes) == 1 else "comparisons"
    return f"{CORRECTIONS[plan.correction]}{cite} over {span(sizes)} {noun}{_FAMILIES[plan.family]}"


def absent_baselines(
    comparisons: Comparisons, datasets: Sequence[str], name: Callable[[str], str] = str
) -> Iterator[str]:
    """Yield which baselines were not run on some of the datasets shown."""
    for baseline, missing in comparisons.absent:
        if some := [name(one) for one in missing if one in datasets]:
            yield f"no test against {name(baseline)} on {listed(some)}, where it was not run"
