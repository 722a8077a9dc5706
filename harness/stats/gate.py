"""Non-inferiority of a candidate: is it worse than its baseline by more than a margin?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Literal

import numpy as np
from pydantic import Strict

from ..core.metric import Metric
from ..core.ragged import Floats
from ..errors import ArgumentError, HarnessError, Problem
from ..progress import track
from .bootstrap import resampled_means
from .comparison import Correction, Level
from .corrections import adjust
from .differences import EPS, means
from .effects import queries_needed
from .intervals import bca_interval, t_interval
from .registry import Stream

GateOutcome = Literal["pass", "fail", "undecided"]
WORST_QUERIES = 5
OTHERS = "*"
"""The rule of metrics that have none of their own."""


@dataclass(frozen=True)
class Margin:
    """The drop of a value that a gate tolerates, in the metric's units or as a share (`relative`).

    If it is `tested`, the interval of the difference decides, else the difference itself.
    """

    size: float
    relative: bool = False
    tested: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.size < np.inf or (self.tested and self.size == 0):
            least = "above 0" if self.tested else "of at least 0"
            message = f"margin: expected a number {least}, got {self.size:g}"
            raise ArgumentError(message, fix="write 0.005 or 1%")

    @classmethod
    def parse(cls, text: str | float, *, tested: bool = True) -> Margin:
        """Return the margin that ``0.005`` or ``1%`` describes."""
        number = str(text).strip()
        relative = number.endswith("%")
        try:
            size = float(number.rstrip("%"))
        except ValueError:
            message = f"margin: expected a number or a percentage, got '{text}'"
            raise ArgumentError(message, fix="write 0.005 or 1%") from None
        return cls(size / 100 if relative else size, relative, tested)

    def units(self, baseline: float) -> float:
        """Return the margin in the metric's units, given the baseline's value."""
        return self.size * abs(baseline) if self.relative else self.size


@dataclass(frozen=True)
class MarginRule:
    """Margin of one metric: one of both keys."""

    margin: Annotated[float, Strict()] | str | None = None
    """The largest drop that the interval of the difference must rule out: 0.005, or 1%."""
    max_drop: Annotated[float, Strict()] | str | None = None
    """The largest drop of the value itself, without a test."""

    def __post_init__(self) -> None:
        if (self.margin is None) == (self.max_drop is None):
            message = "expected one of margin and max_drop"
            raise ValueError(message)
        self.allowed  # noqa: B018 - raises if it is not a margin

    @property
    def allowed(self) -> Margin:
        """The tolerated drop."""
        if self.margin is not None:
            return Margin.parse(self.margin)
        return Margin.parse(self.max_drop or 0.0, tested=False)


@dataclass(frozen=True)
class GateSettings:
    """Whether the other runs are worse than a baseline, for ``harness gate CONFIG``."""

    baseline: str
    """The run that the others must not fall below."""
    rules: Mapping[str, MarginRule]
    """A rule for each metric by its name; "*" is for the others."""
    level: Level = 0.05
    """Level of the intervals and tests."""
    correction: Correction = "holm"
    """Correction over all metrics, datasets, runs and query groups."""


@dataclass(frozen=True, eq=False)
class Pair:
    """The values of baseline and candidate on the same queries, ``(n_queries,)`` each.

    `unanswered` is how many of these queries the baseline and the candidate leave unanswered.
    `weights` are those of the queries, if they are weighted by something.
    """

    dataset: str
    group: str
    run: str
    metric: Metric
    qids: Sequence[str]
    baseline: Floats
    candidate: Floats
    unanswered: tuple[int, int] = (0, 0)
    weights: Floats | None = None
    weighted_by: str = ""


@dataclass(frozen=True)
class Verdict:
    """The outcome of a gate for one candidate and metric, on one dataset and query group.

    Parameters
    ----------
    outcome : {"pass", "fail", "undecided"}
        ``pass``: not worse by more than the margin. ``fail``: worse. ``undecided``: too few queries
        to tell.
    dataset, group, run : str
        Names of the dataset, of the slice of queries and of the candidate.
    metric : Metric
        The metric; ``str(metric)`` is its name.
    n : int
        Number of queries with a value of both runs.
    baseline, candidate : float
        Means over these queries; weighted if the queries have weights.
    difference, low, high : float
        Candidate minus baseline, and the interval of this difference.
    margin : float
        Tolerated drop, in units of the metric.
    p, p_adjusted : float
        One-sided p-value that the candidate is worse by more than the margin, before and after the
        correction.
    needed : int, optional
        Number of queries that would decide an undecided outcome.
    worst : tuple of (str, float)
        Qids that lost most, and their differences.
    unanswered : tuple of int
        Number of queries that the baseline and the candidate leave unanswered.
    weighted_by : str
        Name of the query weights.
    tested : bool
        If false, the difference alone decides.
    level : float
        Level of the interval and of the test.
    correction : {"holm", "bonferroni", "bh", "by", "none"}
        Correction of the p-value.
    """

    dataset: str
    group: str
    run: str
    metric: Metric
    n: int
    baseline: float
    candidate: float
    difference: float
    low: float
    high: float
    margin: float
    p: float
    p_adjusted: float
    outcome: GateOutcome
    needed: int | None
    worst: tuple[tuple[str, float], ...]
    unanswered: tuple[int, int] = (0, 0)
    weighted_by: str = ""
    tested: bool = True
    level: float = 0.05
    correction: Correction = "holm"

    @property
    def limit(self) -> str:
        """The key of the rule that the margin is from."""
        return "margin" if self.tested else "max_drop"

    @property
    def worst_gain(self) -> float:
        """The end of the interval that is worse for the candidate, as a gain."""
        return -self.high if self.metric.sign < 0 else self.low


def judge(
    pairs: Iterable[tuple[Pair, Margin]], level: float = 0.05, correction: Correction = "holm"
) -> tuple[Verdict, ...]:
    r"""Return a verdict for each pair.

    With gains :math:`g` (candidate minus baseline, turned so that higher is better), their mean's
    interval :math:`[l, h]` by Student's t at one minus `level`, and margin :math:`m`:

    * **pass**: :math:`l > -m`, so the candidate is non-inferior;
    * **fail**: :math:`h < -m`, or the one-sided paired t-test of :math:`E(g) \ge -m`, corrected
      over all pairs, has :math:`p \le` `level`;
    * **undecided**: neither. The queries needed are those with which a candidate that is equally
      good passes in 80% of experiments. If there are as many already, the mean gain is close to
      the margin: then those that tell it from the margin in 80%.

    If queries have weights, the interval is by BCa bootstrap, the test by bootstrap too, and no
    number of queries is given. Gains that are all one number have no interval; they pass if that
    number is at least :math:`-m`, and fail otherwise. So does the mean gain under a margin that is
    not tested.

    Walker and Nowacki, Understanding equivalence and noninferiority testing, JGIM 2011.
    """
    tests = track([*pairs], "test", lambda test: f"{test[0].run}, {test[0].metric}")
    uncorrected = [_verdict(pair, margin, level) for pair, margin in tests]
    adjusted = adjust(np.array([verdict.p for verdict in uncorrected]), correction).tolist()
    verdicts = []
    for verdict, p in zip(uncorrected, adjusted, strict=True):
        # the corrected p-value can turn undecided into fail
        outcome = "fail" if verdict.outcome == "undecided" and p <= level else verdict.outcome
        needed = verdict.needed if outcome == "undecided" else None
        judged = replace(verdict, p_adjusted=p, outcome=outcome, needed=needed)
        verdicts.append(replace(judged, level=level, correction=correction))
    return tuple(verdicts)


def _verdict(pair: Pair, margin: Margin, level: float) -> Verdict:
    from scipy.special import stdtr

    both = ~(np.isnan(pair.baseline) | np.isnan(pair.candidate))
    if pair.weights is not None:
        both &= pair.weights > 0
    weights = None if pair.weights is None else pair.weights[both]
    before, after = pair.baseline[both], pair.candidate[both]
    sign, n = pair.metric.sign, int(both.sum())
    gains = sign * (after - before)
    if n == 0:
        message = f"{pair.metric}: baseline and candidate have no query in common"
        raise HarnessError(Problem(pair.dataset, message, fix="give runs of the same dataset"))
    mean, *both_means = means(np.array([gains, before, after]), weights).tolist()
    values = both_means[0], both_means[1]
    allowed = margin.units(values[0])
    p, needed = np.nan, None
    names = ("gate", pair.dataset, pair.group, str(pair.metric), pair.run)
    stream, interval = Stream(names), t_interval
    if weights is not None:
        interval = partial(bca_interval, stream=stream, weights=weights)
    if not margin.tested or (np.ptp(gains) == 0 and n > 1):
        low, high = interval(gains, level) if np.ptp(gains) else (mean, mean)
        outcome: GateOutcome = "pass" if mean >= -allowed else "fail"
    elif n == 1:
        low = high = np.nan
        outcome = "undecided"
    else:
        low, high = interval(gains, level)
        if weights is not None:
            p = not_worse(gains, mean + allowed, stream, weights)
        else:
            sd = float(gains.std(ddof=1))
            p = float(stdtr(n - 1, (mean + allowed) / (sd / np.sqrt(n))))
            needed = queries_needed(allowed, sd, level) if allowed else None
            if needed is not None and needed <= n:
                needed = queries_needed(abs(mean + allowed), sd, level)
        outcome = "pass" if low > -allowed else "fail" if high < -allowed else "undecided"
    order = np.argsort(gains, kind="stable")[:WORST_QUERIES]
    qids = [qid for qid, is_paired in zip(pair.qids, both, strict=True) if is_paired]
    worst = tuple((qids[i], float(sign * gains[i])) for i in order if gains[i] < 0)
    change = (0.0 + mean, low, high) if sign > 0 else (0.0 - mean, 0.0 - high, 0.0 - low)
    key, rest = (pair.dataset, pair.group, pair.run, pair.metric, n), pair.unanswered
    by, tested = pair.weighted_by, margin.tested
    return Verdict(
        *key, *values, *change, allowed, p, np.nan, outcome, needed, worst, rest, by, tested
    )  # fmt: skip


def not_worse(gains: Floats, beyond: float, stream: Stream, weights: Floats) -> float:
    """Return the one-sided p-value that the mean gain is not below minus the margin.

    By bootstrap with query weights: the share of resampled means, less the mean, of at most
    `beyond`, the mean plus the margin; ``(b + 1) / (m + 1)``.
    """
    centred = gains - means(gains[None], weights)[0]
    drawn = resampled_means(centred[:, None], stream, weights)[:, 0]
    tolerance = EPS * float(np.abs(gains).max())
    return float((np.count_nonzero(drawn <= beyond + tolerance) + 1) / (drawn.size + 1))
