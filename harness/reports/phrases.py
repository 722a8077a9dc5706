"""Numbers and parts of sentences, as every report writes them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import NamedTuple

from ..core.metric import Metric
from ..core.names import spelled
from ..errors import counted
from ..stats.comparison import Comparisons

UNDEFINED = "–"
"""Shown in place of a value that is not defined."""
ARROWS = {"higher": "↑", "lower": "↓", None: ""}
# a double has at most 1,075 significant decimals: nothing is rounded before the last step
_EXACT = Context(prec=1100, rounding=ROUND_HALF_EVEN)


def heading(metric: Metric) -> str:
    """Return a metric's name with an arrow that points to better.

    >>> from harness.core.names import parse
    >>> heading(parse("ndcg@5")[0])
    'nDCG@5 ↑'
    """
    return f"{spelled(metric)} {ARROWS[metric.definition.direction]}".rstrip()


def in_sentence(name: str) -> str:
    """Return the name of a metric as it is within a sentence.

    >>> in_sentence("Swaps"), in_sentence("MAP"), in_sentence("Kendall’s τ")
    ('swaps', 'MAP', 'Kendall’s τ')
    """
    return name[:1].lower() + name[1:] if re.match("[A-Z][a-z]+(?![a-z’])", name) else name


def plural(names: Collection[str]) -> str:
    """Return the word for repetitions by placeholder.

    >>> plural(["seed"]), plural(["seed", "draw"]), plural([])
    ('seeds', 'repetitions', 'repetitions')
    """
    name = next(iter(names)) if len(names) == 1 else ""
    return f"{name}s" if name.isalpha() and not name.endswith("s") else "repetitions"


def number(value: float, metric: Metric) -> str:
    """Return a metric's value: counts whole, others with four decimals."""
    if metric.definition.summary == "sum" and value.is_integer():
        return str(int(value))
    return decimals(value)


def decimals(value: float, digits: int = 4, sign: bool = False) -> str:
    """Return a number with `digits` decimals; one that rounds to 0 has no sign.

    >>> decimals(0.12345), decimals(0.12345, sign=True), decimals(float("nan"))
    ('0.1235', '+0.1235', '–')
    >>> decimals(-1e-17), decimals(-0.00004, sign=True)
    ('0.0000', '0.0000')
    """
    if math.isnan(value):
        return UNDEFINED
    text = f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
    return text if float(text) else text.lstrip("+-")


def signed(value: float, digits: int = 4) -> str:
    """Return a difference with its sign; a small one in powers of ten, since it is not 0.

    >>> signed(0.01), signed(-1e-9), signed(0.0), signed(-0.25, 2)
    ('+0.0100', '-1.0e-09', '0.0000', '-0.25')
    """
    if value and abs(value) < 0.5 * 10.0**-digits:
        return f"{value:+.1e}"
    return decimals(value, digits, sign=True)


def interval(low: float, high: float, sign: bool = False) -> str:
    """Return an interval in brackets; with a sign, an end that is not 0 is not shown as 0.

    >>> interval(0.25, 0.5), interval(float("nan"), float("nan"))
    ('[0.2500, 0.5000]', '–')
    >>> interval(-0.00004, 0.5, sign=True)
    '[-4.0e-05, +0.5000]'
    """
    ends = [signed(end) if sign else decimals(end) for end in (low, high)]
    return UNDEFINED if math.isnan(low) else f"[{ends[0]}, {ends[1]}]"


def confidence(level: float) -> str:
    """Return the confidence of an interval: 0.05 is ``95%``."""
    return f"{100 * (1 - level):g}%"


def at_most(level: float) -> str:
    """Return that a p-value is at most a level.

    >>> at_most(0.05)
    'p ≤ .05'
    """
    return f"p ≤ {without_zero(level)}"


def without_zero(number: float) -> str:
    """Return a number without the zero before its point.

    >>> without_zero(0.05), without_zero(1e-05)
    ('.05', '1e-05')
    """
    return f"{number:g}".removeprefix("0")


def p_value(p: float) -> str:
    """Return a p-value as it is shown; the files have every digit.

    >>> p_value(0.03217), p_value(0.00001), p_value(0.99999), p_value(float("nan"))
    ('0.0322', '<0.0001', '1.0000', '–')
    """
    return "<0.0001" if p < 0.0001 else decimals(p)


def fixed(value: float, digits: int, *, percent: bool = False, leading_zero: bool = False) -> str:
    """Return a number with `digits` decimals, by default as ``.423``.

    The decimal expansion of the stored double is rounded, half to even, as ``format`` does; with
    `percent` it is multiplied by 100 before, without a rounding error, and keeps its leading
    zero. A value that rounds to 0 has no sign.

    >>> fixed(0.4235, 3), fixed(-0.5, 2), fixed(1.25, 1), fixed(0.125, 1, percent=True)
    ('.423', '-.50', '1.2', '12.5')
    >>> fixed(-0.0001, 2, leading_zero=True), fixed(0.575, 1, percent=True), fixed(7.0, 0)
    ('0.00', '57.5', '7')
    """
    if not math.isfinite(value):
        return UNDEFINED
    number = _EXACT.multiply(Decimal(value), Decimal(100 if percent else 1))
    text = f"{number.quantize(Decimal(1).scaleb(-digits), context=_EXACT):f}"
    if not text.strip("-0."):
        text = text.removeprefix("-")
    if leading_zero or percent or not digits:
        return text
    sign = "-" if text.startswith("-") else ""
    return sign + text.removeprefix("-").removeprefix("0")


class CorrectionTitle(NamedTuple):
    """A correction of p-values as sentences and captions name it, and the keys of its sources."""

    title: str
    short: str
    sources: tuple[str, ...]


CORRECTIONS = {
    "holm": CorrectionTitle("Holm's correction", "Holm", ("holm1979",)),
    "bonferroni": CorrectionTitle("Bonferroni's correction", "Bonferroni", ("dunn1961",)),
    "bh": CorrectionTitle("Benjamini and Hochberg's correction", "BH", ("benjamini1995",)),
    "by": CorrectionTitle("Benjamini and Yekutieli's correction", "BY", ("benjamini2001",)),
    "none": CorrectionTitle("no correction", "", ()),
}
INTERVALS = {
    "t": "t-intervals",
    "bca": "BCa bootstrap intervals",
    "simultaneous": "simultaneous intervals",
}


def unadjusted(kind: str, share: str) -> str:
    """Return the kind of some intervals with their confidence.

    >>> unadjusted("t", "95%"), unadjusted("simultaneous", "95%")
    ('unadjusted 95% t-intervals', '95% simultaneous intervals')
    """
    return f"{'' if kind == 'simultaneous' else 'unadjusted '}{share} {INTERVALS[kind]}"


_FAMILIES = {"table": "", "metric": " of each metric and dataset", "dataset": " of each dataset"}


def listed(parts: Iterable[str]) -> str:
    """Return parts with commas and an "and" before the last.

    A comma precedes it if another part has one.

    >>> listed(["a"]), listed(["a", "b"]), listed("abc"), listed(["a and b", "c"])
    ('a', 'a and b', 'a, b and c', 'a and b, and c')
    """
    *before, end = parts
    is_nested = any(" and " in part for part in (*before, *([end] if len(before) > 1 else [])))
    return f"{', '.join(before)}{',' * is_nested} and {end}" if before else end


_CUT_OFF = re.compile(r"(.+)@(\d+)")


def cutoffs_together(names: Iterable[str]) -> list[str]:
    """Return names of metrics, those that differ in their cutoff alone as one.

    >>> cutoffs_together(["nDCG@5", "MAP", "nDCG@10", "nDCG@20", "P@5"])
    ['nDCG at 5, 10 and 20', 'MAP', 'P@5']
    """
    cutoffs: dict[str, list[str]] = {}
    for name in names:
        match = _CUT_OFF.fullmatch(name)
        cutoffs.setdefault(match[1] + "@" if match else name, []).append(match[2] if match else "")
    return [
        f"{stem[:-1]} at {listed(of_stem)}"
        if len(of_stem) > 1 and stem.endswith("@")
        else stem + of_stem[0]
        for stem, of_stem in cutoffs.items()
    ]


def weighted_in_words(columns: Mapping[str, str]) -> str:
    """Return the names of query weights of datasets; nothing without weights.

    >>> weighted_in_words({"web": "clicks", "news": "clicks"})
    'weighted by clicks'
    >>> weighted_in_words({"web": "clicks", "news": ""}), weighted_in_words({"web": ""})
    ('weighted by clicks on web', '')
    """
    if len({*columns.values()}) == 1:
        by = next(iter(columns.values()))
        return f"weighted by {by}" if by else ""
    parts = listed(f"by {by} on {name}" for name, by in columns.items() if by)
    return f"weighted {parts}" if columns else ""


def no_room(titles: Sequence[str], everything: str) -> Iterator[str]:
    """Yield the note on columns that do not fit; nothing if all do.

    >>> list(no_room(["p", "n"], "-f csv")), list(no_room([], "-f csv"))
    (['Columns that do not fit: p and n; -f csv has all.'], [])
    """
    if titles:
        yield f"Columns that do not fit: {listed(titles)}; {everything} has all."


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
        return in_brackets(listed(sizes), f"{texts.popitem()[1]} each")
    return listed(in_brackets(name, text).strip() for name, text in texts.items())


def in_brackets(text: str, note: str) -> str:
    """Return text with a note in brackets behind it, within those that it ends with.

    >>> in_brackets("web", "50 queries"), in_brackets("web (2009)", "50 queries")
    ('web (50 queries)', 'web (2009; 50 queries)')
    """
    return f"{text[:-1]}; {note})" if text.endswith(")") else f"{text} ({note})"


def capitalised(text: str) -> str:
    """Return a sentence with its first letter as a capital."""
    return text[:1].upper() + text[1:]


def correction(comparisons: Comparisons) -> str:
    """Name the correction of p-values and its family; one comparison needs none."""
    plan, sizes = comparisons.plan, [size for _, size in comparisons.family_sizes if size]
    if not sizes:
        return "no correction, as no comparison has a p-value"
    if comparisons.kind == "all-pairs":
        return f"the test's own correction for all {span(sizes)} pairs of each metric and dataset"
    text = f"{CORRECTIONS[plan.correction].title} over {span(sizes)} comparisons"
    text = (text if max(sizes) > 1 else "one comparison") + _FAMILIES[plan.corrected]
    has_slices = plan.corrected == "table" and any(row.group for row in comparisons.rows)
    return text + (", each slice separately" if has_slices else "")


_COST = re.compile(r"([-−+]?[\d,]*\.?\d+(?:e[-+]?\d+)?)\s?([kKMGBT]?)\s?[a-zA-Z%$€/]*")
_THOUSANDS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "B": 3, "T": 4}


def cost_of(text: str) -> float:
    """Return the number of a text in the metadata of runs; NaN for other texts.

    >>> cost_of("110M"), cost_of("1,200 ms"), cost_of("large")
    (110000000.0, 1200.0, nan)
    """
    match = _COST.fullmatch(text.strip())
    if match is None:
        return math.nan
    return float(match[1].replace(",", "").replace("−", "-")) * 1000.0 ** _THOUSANDS[match[2]]
