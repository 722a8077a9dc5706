"""Parts of sentences that captions, notes and methods texts share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

CORRECTIONS = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "bh": "Benjamini and Hochberg's correction",
    "by": "Benjamini and Yekutieli's correction",
}


def listed(parts: Iterable[str], last: str = "and") -> str:
    """Return parts with commas and an "and" before the last.

    >>> listed(["a"]), listed(["a", "b"]), listed("abc")
    ('a', 'a and b', 'a, b and c')
    """
    *before, end = parts
    return f"{', '.join(before)} {last} {end}" if before else end


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "query", "queries"), counted(1200, "query", "queries"), counted(2, "run")
    ('1 query', '1,200 queries', '2 runs')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def counts_of(sizes: Mapping[str, int]) -> str:
    """Return names with their numbers.

    >>> counts_of({"fold1": 50, "fold2": 1200})
    'fold1 (50) and fold2 (1,200)'
    """
    return listed(f"{name} ({n:,})" for name, n in sizes.items())


def span(numbers: Iterable[int]) -> str:
    """Return the smallest and the largest of some numbers, or the only one.

    >>> span([3, 1, 2]), span([2, 2])
    ('1 to 3', '2')
    """
    found = sorted(numbers)
    low, high = found[0], found[-1]
    return f"{low:,} to {high:,}" if low < high else f"{low:,}"


def capitalised(text: str) -> str:
    """Return a sentence with its first letter as a capital."""
    return text[:1].upper() + text[1:]
