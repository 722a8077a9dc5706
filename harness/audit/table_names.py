"""Run, metric and dataset of each cell of a paper's table, by the names of rows and columns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ..core.evaluation import names_of
from ..core.metric import REGISTRY, Metric
from ..errors import did_you_mean
from ..reports.leaderboard import Study
from ..reports.paper_table.model import Kind, PaperColumn
from .printed_tables import GREEK, PrintedTable, Row

_ARROWS = re.compile(r"[↑↓▲▼△▽⇑⇓]|\((?:in\s*)?%\)|%|\(\s*\)")
_LONG_NAMES: Mapping[str, str] = {
    "normalizeddcg": "ndcg", "normalizeddiscountedcumulativegain": "ndcg",
    "meanaverageprecision": "map", "averageprecision": "map", "prec": "P",
    "meanreciprocalrank": "recip_rank", "rec": "recall", "hit": "success", "hits": "success",
    "hr": "success", "s": "success", "tau": "kendall", "taub": "kendall", "kendallstau": "kendall",
    "kendalltau": "kendall", "kendallstaub": "kendall", "rho": "spearman",
    "spearmansrho": "spearman", "pearsonsr": "pearson", "logloss": "pairwise_logloss",
}  # fmt: skip
"""Metrics by names of papers that are not their name, alias or title."""
_AT = re.compile(
    r"(?P<name>.*?[A-Za-z)])[\s@_.\-]*?(?:@|cut|at)?[\s_.]*(?P<k>\d{1,9})(?P<rest>\D*)"
)


def plain(text: str) -> str:
    """Return a name without case, spaces, hyphens and accents, with Greek letters spelled out.

    >>> plain("Query-Likelihood (μ)"), plain("lambda_MART"), plain("λMART")
    ('querylikelihoodmu', 'lambdamart', 'lambdamart')
    """
    flat = unicodedata.normalize("NFKD", text).casefold()
    return "".join(GREEK.get(sign, sign) for sign in flat if sign.isalnum())


@cache
def _paper_names() -> dict[str, str]:
    """Return the names of metrics by all that papers call them."""
    own = {
        plain(str(name)): one.name
        for one in REGISTRY.values()
        for name in (one.title, *one.aliases, one.name)
    }
    return {**_LONG_NAMES, **own}


def named(text: str, names: Mapping[str, str]) -> str | None:
    """Return whose name a text is; text in brackets next to a name may be left out.

    >>> named("BM25 (ours) [12]", {"bm25": "bm25"}), named("BM26", {"bm25": "bm25"})
    ('bm25', None)
    """
    if text in names:  # before another one that differs only in case or accents
        return names[text]
    known = {plain(name): own for name, own in reversed([*names.items()])}
    ways = (text, re.sub(r"\[[^\]]*\]", "", text), re.sub(r"[\[(][^\])]*[\])]", "", text))
    return next((known[key] for key in map(plain, ways) if key in known), None)


def metrics_called(text: str, known: Known) -> list[Metric]:
    """Return the metrics that a heading can mean: ``nDCG@10 ↑``, ``ndcg_cut_10``, ``Prec. @ 5``."""
    metrics = {str(metric): metric for metric in known.study.board.metrics}
    clean = _ARROWS.sub("", text).strip()
    own = next((known.metrics[one] for one in (text.strip(), clean) if one in known.metrics), None)
    alike = (own for shown, own in known.metrics.items() if plain(shown) == plain(clean))
    if (own := own or next(alike, None)) is not None:
        return [metrics[own]]
    exact = [metrics[name] for name in names_of(clean) if name in metrics]
    return exact if len(exact) == 1 else _as_in_papers(clean, list(metrics.values()))


def _as_in_papers(text: str, metrics: Sequence[Metric]) -> list[Metric]:
    """Return the metrics of the longest usual name in a text that have its cutoff and words."""
    match = _AT.fullmatch(text)
    name, cutoff, rest = (
        (match["name"], int(match["k"]), match["rest"]) if match else (text, None, "")
    )
    words = [word for word in map(plain, re.split(r"[^\w]+|_", f"{name} {rest}")) if word]
    parts = [(start, end) for end in range(len(words), 0, -1) for start in range(end)]
    for start, end in sorted(parts, key=lambda part: part[0] - part[1]):
        own = _paper_names().get("".join(words[start:end]))
        if own is None:
            continue
        family = [one for one in metrics if one.definition.name == own and one.label is None]
        exact = [one for one in family if one.cutoff == cutoff]
        others = {*words[:start], *words[end:]}
        fitting = [
            one for one in exact or (family if cutoff is None else []) if others <= _words_of(one)
        ]
        simple = [one for one in fitting if not one.params and one.convention is None]
        return simple if len(fitting) > 1 and len(simple) == 1 else fitting
    return []


def _words_of(metric: Metric) -> set[str]:
    """Return the words that a heading may have next to the name of a metric."""
    params = dict(metric.params)
    words = {plain(word) for word in re.split(r"[^\w]+|_", str(metric))}
    words |= {"exponential", "gain"} if params.get("gain") == "exp" else set()
    words |= {"linear", "gain"} if params.get("gain", "linear") == "linear" else set()
    return words | ({"normalized", "normalised"} if params.get("normalize") else set())


AVERAGES = ("mean over datasets", "average", "avg", "mean", "overall", "all", "all datasets")
_KINDS: Mapping[str, Kind] = {
    "n": "n", "queries": "n", "#queries": "n", "tier": "tier", "rank": "rank",
    "coverage": "coverage", "answered": "coverage", "queries answered": "coverage",
}  # fmt: skip
_LETTERED = re.compile(
    r"\(?(?P<before>[a-z]{1,2}|\d{1,2})[).:]?\s+(?P<rest>\S.*)"
    r"|(?P<name>.+?)\s+\(?(?P<after>[a-z]{1,2}|\d{1,2})\)?"
)


class Known(NamedTuple):
    """A study, and its own names by all the names that tables may use."""

    study: Study
    runs: Mapping[str, str]
    datasets: Mapping[str, str]
    metrics: Mapping[str, str]

    @classmethod
    def of(cls, study: Study, shown: Collection[tuple[str, str]]) -> Known:
        """Return the names of a study; `shown` are pairs of own names and names in tables."""

        def ways(names: Iterable[str]) -> dict[str, str]:
            own = {name: name for name in names}
            for name, text in shown:
                if name in own.values():
                    own.setdefault(text, name)
            return own

        metrics = map(str, study.board.metrics)
        return cls(study, ways(study.runs), ways(study.datasets), ways(metrics))


@dataclass(frozen=True, eq=False)
class Heading:
    """What a column holds: None if no metric of the results; `why` if it could be several.

    `has_dataset` is whether its headings name a dataset, or the mean over several.
    """

    column: PaperColumn | None
    text: str
    has_dataset: bool = False
    why: str = ""

    @property
    def has_values(self) -> bool:
        """Whether the column holds values of a metric."""
        return self.column is not None and self.column.kind == "metric"


@dataclass(frozen=True, eq=False)
class TableLine:
    """One row of values: its name in the table, its letter or dagger (`sign`), its group."""

    run: str | None
    dataset: str | None
    text: str
    sign: str
    cells: Row
    group: int


@dataclass(frozen=True, eq=False)
class Match:
    """A table with its rows and columns recognised."""

    grid: PrintedTable
    headings: tuple[Heading, ...]
    lines: tuple[TableLine, ...]
    unknown: tuple[str, ...] = ()

    @property
    def is_any(self) -> bool:
        """Whether any row and any column was recognised."""
        return any(one.run for one in self.lines) and any(one.column for one in self.headings)


def match(grid: PrintedTable, known: Known) -> Match:
    """Return what the rows and columns of a table are, if need be after exchanging the two."""
    first = _match(grid, known)
    if first.is_any or len(grid.rows) < 2 or len(grid.rows[0]) < 2:
        return first
    other = _match(grid.transposed(), known)
    return other if other.is_any else first


def _match(grid: PrintedTable, known: Known) -> Match:
    headings: list[Heading] = []
    last: Metric | None = None
    for place in range(len(grid.rows[0])):
        headings.append(one := _heading(grid.headings(place), known, last))
        if one.column is not None and one.has_values:
            last = one.column.metric
    lines = tuple(_lines(grid, known, headings))
    has_datasets = any(one.has_dataset for one in headings)
    unknown = []
    for place, one in enumerate(headings):
        if one.why:
            unknown.append(f"column '{one.text}': {one.why}")
        elif one.column is None:
            has_digit = any(re.search(r"\d", row[place].text) for row in grid.body)
            if place and has_digit:
                near = did_you_mean(one.text, known.metrics)
                unknown.append(f"column '{one.text}': no metric of the results{near}")
        elif has_datasets and not one.has_dataset:
            above = (row[place] for row in grid.rows[: grid.header])
            if block := next((cell.whole for cell in above if cell.columns > 1 and cell.whole), ""):
                headings[place] = Heading(None, one.text)
                near = did_you_mean(block, known.datasets)
                unknown.append(f"column '{one.text}': no dataset of the results{near}")
    unknown += [
        f"row '{line.text}': no run of the results{did_you_mean(line.text, known.runs)}"
        for line in lines
        if line.run is None and line.text
    ]
    return Match(grid, tuple(headings), lines, tuple(unknown))


def _heading(texts: Sequence[str], known: Known, last: Metric | None = None) -> Heading:
    """Return the column of headings; `last` is the metric of the column before."""
    shown = " ".join(texts)
    for dataset, rest in _with_dataset(texts, known):
        has, own = dataset is not None, dataset or None
        sizes = range(1, len(rest) + 1)
        joined = ["".join(rest[at : at + n]) for n in sizes for at in range(len(rest) - n + 1)]
        for text in sorted(joined, key=len, reverse=True):
            metrics = metrics_called(text, known)
            if len(metrics) > 1:
                names = ", ".join(map(str, metrics))
                return Heading(None, shown, has, f"can be {names}; write which")
            if metrics:
                return Heading(PaperColumn(shown, "metric", "", own, metrics[0]), shown, has)
        for kind in (_KINDS[text.casefold()] for text in rest if text.casefold() in _KINDS):
            of = last if kind in ("tier", "rank") else None
            return Heading(PaperColumn(shown, kind, "", own, of), shown, has)
    return Heading(None, shown)


def _with_dataset(texts: Sequence[str], known: Known) -> Iterator[tuple[str | None, list[str]]]:
    """Yield the dataset that headings name ("" for the mean over several), and the others."""
    averages = dict.fromkeys(AVERAGES, "") if len(known.study.datasets) > 1 else {}
    names = {**averages, **known.datasets}
    for place, text in enumerate(texts):
        others = [*texts[:place], *texts[place + 1 :]]
        if others and (dataset := named(text, names)) is not None:
            yield dataset, others
        words = text.split(" ")
        for cut in range(len(words) - 1, 0, -1):
            for one, rest in ((words[:cut], words[cut:]), (words[cut:], words[:cut])):
                if (dataset := named(" ".join(one).strip("():,"), names)) is not None:
                    yield dataset, [*others, " ".join(rest)]
    yield None, list(texts)


def _lines(grid: PrintedTable, known: Known, headings: Sequence[Heading]) -> Iterator[TableLine]:
    values = [place for place, one in enumerate(headings) if one.column is not None]
    first = min(values, default=1)
    stub = [place for place in range(len(headings)) if place not in values]
    names = [place for place in stub if place < max(first, 1)] or stub[:1]
    corner = [text for at in stub if at < first for text in grid.headings(at)]
    group = 0
    dataset = next(filter(None, (named(text, known.datasets) for text in corner)), None)
    captioned = {
        own
        for shown, own in known.datasets.items()
        if re.search(rf"(?<!\w){re.escape(shown)}(?!\w)", grid.caption, re.IGNORECASE)
    }
    if dataset is None and len(captioned) == 1:
        (dataset,) = captioned
    for row in grid.body:
        texts = {cell.whole for cell in row if cell.whole}
        is_title = len(texts) == 1 and (row[0].whole or row[0].columns > 1)
        if is_title and not (values and row[first].whole and row[first] is not row[0]):
            group += 1
            dataset = named(texts.pop().strip("*"), known.datasets)
            continue
        run, text, sign = _run(row, names, known)
        own = [named(row[place].whole, known.datasets) for place in stub]
        of = next((one for one in own if one is not None and one != run), dataset)
        yield TableLine(run, of, text, sign, row, group)


def _run(row: Row, places: Sequence[int], known: Known) -> tuple[str | None, str, str]:
    """Return the run of a row, its name in the table, and its sign in other rows."""
    for cell in (row[place] for place in reversed(places)):
        ways = [(cell.text, "".join((cell.raised + cell.lowered).split()))]
        if (match := _LETTERED.fullmatch(cell.text)) is not None:  # (a) bm25, or bm25 a
            ways.append((match["rest"] or match["name"], match["before"] or match["after"]))
        if re.search(r"\(([a-z]{1,2}|\d{1,2})\)", cell.text):  # a letter rather than a remark
            ways.reverse()
        end = cell.text.rstrip("†‡§¶‖*")
        ways += [(cell.whole, ""), (end, cell.text[len(end) :])]  # k² has no mark
        for text, sign in ways:
            if (run := named(text, known.runs)) is not None:
                return run, text.strip(), sign
    texts = [row[place].text for place in places if row[place].text]
    return None, texts[-1] if texts else "", ""
