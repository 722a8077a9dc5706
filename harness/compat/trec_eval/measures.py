"""The measures of trec_eval 9.0.8 and 10.0: their order, parameters, and how they are printed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ... import metrics as _built_in
from ...core.metric import REGISTRY, TREC_CUT
from ...core.names import NICKNAMES
from ...core.ragged import Array
from ...metrics.trec_average import SMALLEST

del _built_in

Takes = Literal["nothing", "cutoffs", "levels", "numbers", "gains"]
Summary = Literal["mean", "sum", "gm", "queries", "relevant", "runid", "nothing"]
USAGE, FILES, CALCULATION, NOTHING = 1, 2, 4, 7
"""trec_eval's exit statuses: wrong usage; a file or a parameter; a query; no query at all."""


class Stop(Exception):  # noqa: N818 - the end of the program, which may be a good one
    """Ends the program with an exit status; the message goes to standard error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass(frozen=True)
class Measure:
    """How one of trec_eval's measures is requested and printed."""

    name: str
    takes: Takes = "nothing"
    """What may follow its name and a point. ``cutoffs`` (whole) and ``levels`` are sorted and give
    one line each; ``numbers`` and ``gains`` (``1=3,2=9``) become part of the name."""
    default: tuple[float, ...] = ()
    """The default cutoffs, levels or numbers."""
    summary: Summary = "mean"
    """The value in the line for all queries."""
    per_query: bool = True
    """Whether there are lines for single queries."""
    whole: bool = False
    """Whether it is printed as a whole number."""
    needs_documents: bool = True
    """Whether it uses the ranking, and so stops at a docno that comes twice."""


_OWN = (
    Measure("runid", summary="runid", per_query=False, needs_documents=False),
    Measure("num_q", summary="queries", per_query=False, whole=True, needs_documents=False),
    Measure("num_rel", summary="relevant", whole=True),
    Measure("relstring", "numbers", (10.0,), summary="nothing"),
    Measure("unj", "cutoffs", (5, 10, 20)),
    *(Measure(name, "gains") for name in ("dcg", "ideal_dcg", "rbp", "rbp_resid")),
)
_BY_NAME = {measure.name: measure for measure in _OWN}
"""Measures that differ from the harness's metric of that name, or have none."""


def measure_of(name: str) -> Measure:
    """Return a measure; parameters, defaults and summary are those of the harness's metric."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    definition = REGISTRY[TREC_CUT.get(name, name)]
    how, cutoff = definition.summary, definition.cutoff
    plain = Measure(name, summary=how, per_query=how != "gm", whole=how == "sum")
    if cutoff is not None and (definition.needs_cutoff or name in TREC_CUT):
        default = definition.cutoffs or REGISTRY["P"].cutoffs
        return replace(plain, takes="cutoffs" if cutoff.type is int else "levels", default=default)
    if "gains" in definition.parameters:
        return replace(plain, takes="gains")
    if definition.trec_parameter is None:
        return plain
    default = definition.parameters[definition.trec_parameter].default
    return replace(plain, takes="numbers", default=tuple(np.ravel(default).astype(float).tolist()))


@dataclass(frozen=True)
class Version:
    """One version of the program.

    ``order`` has its measures as it prints them, ``nicknames`` the measures of each nickname;
    ``ties`` is the policy of its ranking.
    """

    number: int
    title: str
    ties: Literal["trec_eval", "trec_eval10"]
    order: tuple[str, ...]
    nicknames: Mapping[str, tuple[str, ...]]


_ALL = NICKNAMES["all_trec"]
_AFTER_G = _ALL.index("G") + 1
_ADDED = ("rbp", "rbp_resid", "unj")
_WITH_DCG = (*_ALL[:_AFTER_G], "dcg", "ideal_dcg", *_ALL[_AFTER_G:], "yaap", *_ADDED)
VERSIONS: Mapping[str, Version] = {
    "9": Version(9, "9.0.8", "trec_eval", (*_ALL, "yaap"), NICKNAMES),
    "10": Version(
        10, "10.0", "trec_eval10", _WITH_DCG, {**NICKNAMES, "all_trec": (*_ALL, *_ADDED)}
    ),
}
PREFERENCES = frozenset([
    "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret", "prefs_simp",
    "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel", "prefs_simp_ret", "prefs_pair_ret",
    "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret", "prefs_simp_imp", "prefs_pair_imp",
    "prefs_avgjg_imp", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg", "all_prefs", "prefs", "qrels_jg",
])  # fmt: skip
"""Measures and nicknames of both versions that need other judgements than qrels."""
SHARED = ("dcg", "ideal_dcg", "ndcg")
"""Measures that share their gains in version 10: each takes those of the one before it by default,
and all are computed with the last ones."""
_LARGEST = 2**63 - 1
_INTEGER = re.compile(r"[ \t-\r]*([+-]?)0*([0-9]{0,20})")  # 20 digits are beyond the largest
_FLOAT = re.compile(
    r"[ \t-\r]*([+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan))",
    re.IGNORECASE,
)
_HEXADECIMAL = re.compile(
    r"[ \t-\r]*([+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?)", re.IGNORECASE
)


def atol(text: str) -> int:
    """Return the whole number that `text` begins with, else 0.

    >>> atol("23.4"), atol(" -7x"), atol("x"), atol("1e3"), atol("9" * 5000)
    (23, -7, 0, 1, 9223372036854775807)
    """
    sign, digits = _INTEGER.match(text).groups()  # type: ignore[union-attr]  # it always matches
    return max(-_LARGEST - 1, min(int(f"{sign}{digits or 0}"), _LARGEST))


def atof(text: str) -> float:
    """Return the number that `text` begins with, else 0.0.

    >>> atof("1.5f"), atof(".25,"), atof("0x1p-1"), atof("-inf"), atof("")
    (1.5, 0.25, 0.5, -inf, 0.0)
    """
    if match := _HEXADECIMAL.match(text):
        return float.fromhex(match[1])
    match = _FLOAT.match(text)
    return float(match[1]) if match else 0.0


Pairs = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Request:
    """One measure with its parameters.

    ``numbers`` are the cutoffs, levels or numbers, ``pairs`` the gains as they are written.
    ``names`` are those of its lines.
    """

    measure: Measure
    names: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    pairs: Pairs = ()


def requests(
    version: Version, measures: Iterable[str], parameters: Mapping[str, str]
) -> list[Request]:
    """Return the measures asked for in print order; Stop if parameters cannot be used."""
    wanted, inherited = [], None
    for name in (name for name in version.order if name in measures):
        text = parameters.get(name)
        if version.number == 10 and name in SHARED:
            inherited = text = text or inherited
        wanted.append(_request(measure_of(name), text))
    if version.number == 9:
        return wanted
    last = next((one.pairs for one in reversed(wanted) if one.measure.name in SHARED), ())
    return [replace(one, pairs=last) if one.measure.name in SHARED else one for one in wanted]


def _request(measure: Measure, text: str | None) -> Request:
    name = measure.name
    if measure.takes in ("cutoffs", "levels"):
        cutoffs = measure.default if text is None else _cutoffs(measure, text)
        return Request(measure, tuple(_name(name, cutoff) for cutoff in cutoffs), cutoffs)
    if measure.takes == "nothing" or text is None:
        return Request(measure, (name,), measure.default)
    names = (f"{name}_{text}",)
    if measure.takes == "gains":
        return Request(measure, names, pairs=_pairs(measure, text))
    return Request(measure, names, tuple(map(atof, text.split(","))))


def _cutoffs(measure: Measure, text: str) -> tuple[float, ...]:
    read = atol if measure.takes == "cutoffs" else atof
    cutoffs = sorted(read(number) for number in text.split(","))
    if measure.takes == "cutoffs" and cutoffs[0] <= 0:
        raise Stop(FILES, f"measure '{measure.name}.{text}': a cutoff is at least 1")
    if len(set(cutoffs)) != len(cutoffs):
        raise Stop(FILES, f"measure '{measure.name}.{text}': a cutoff comes twice")
    return tuple(cutoffs)


def _name(name: str, cutoff: float) -> str:
    """Return the name of one line; a level has two decimals, and eight characters at most.

    >>> _name("P", 5), _name("Rprec_mult", 0.25), _name("Rprec_mult", 123456.0)
    ('P_5', 'Rprec_mult_0.25', 'Rprec_mult_123456.0')
    """
    text = f"{cutoff:.2f}"[:8] if isinstance(cutoff, float) else str(cutoff)
    return f"{name}_{text}"


def _pairs(measure: Measure, text: str) -> Pairs:
    """Read ``1=3,2=9``, checked as trec_eval does: signs ``=`` and ``,`` alternate."""
    if not re.fullmatch(r"(?:=,)*=", re.sub("[^=,]", "", text)):
        what = f"measure '{measure.name}.{text}': write gains as GRADE=GAIN,GRADE=GAIN..."
        raise Stop(FILES, what)
    items = (item.partition("=") for item in text.split(","))
    return tuple((grade, atof(gain)) for grade, _, gain in items)


_QID = "\0"  # in a line in place of the qid
_FORMATS = {"relstring": "'%s'", "runid": "%s"}


def _line(request: Request, name: str) -> str:
    """Return the format of one line, without its qid.

    >>> _line(Request(measure_of("num_ret"), ("num_ret",)), "num_ret")
    'num_ret               \\t\\x00\\t%d\\n'
    """
    kind = _FORMATS.get(request.measure.name, "%d" if request.measure.whole else "%6.4f")
    return f"{name:<22}\t{_QID}\t{kind}\n".replace(name, name.replace("%", "%%"), 1)


def _fill(template: str, values: Sequence[float | str], qid: str) -> str:
    """Return lines with their values and qid; NaN is written with its sign, as by C on x86."""
    text = template % tuple(values)
    if any(value != value for value in values):
        text = text.replace(f"\t{np.nan:6.4f}\n", f"\t{'-nan':>6}\n")
    return text.replace(_QID, qid)


def per_query(requests: Sequence[Request], columns: Sequence[Array], qids: Iterable[str]) -> str:
    """Return the lines of each query; `columns` are the values ``(n_queries,)`` of each line."""
    template = "".join(_line(request, name) for request in requests for name in request.names)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return "".join(_fill(template, values, qid) for qid, values in zip(qids, rows, strict=False))


@dataclass(frozen=True)
class Totals:
    """What summaries need besides the values.

    ``queries`` is the number of queries they are over, ``evaluated`` how many of them have
    values; ``relevant`` replaces the sum of ``num_rel`` if it is not None.
    """

    queries: int
    evaluated: int
    relevant: int | None = None
    run_id: str = ""


def summaries(request: Request, columns: Sequence[Array], totals: Totals) -> str:
    """Return the lines of one measure for all queries."""
    if request.measure.summary == "nothing":
        return ""
    return "".join(
        _fill(_line(request, name), (_summary(request, column, totals),), "all")
        for name, column in zip(request.names, columns, strict=True)
    )


def _summary(request: Request, column: Array, totals: Totals) -> float | str:
    """Return the summary of one line's values, which are added in the order of the queries."""
    how = request.measure.summary
    if how == "runid":
        return totals.run_id
    if how == "queries":
        return totals.queries
    if how == "relevant" and totals.relevant is not None:
        return totals.relevant
    total = float(np.cumsum(np.append(0.0, column))[-1])
    if how == "gm":
        total += (totals.queries - totals.evaluated) * math.log(SMALLEST)
        return math.exp(total / totals.queries)
    return total / totals.queries if how == "mean" else total
