"""The config's models for comparisons, tables and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr

from .. import plots
from ..core import comparison as core
from ..core import summary
from ..tables import settings as tables
from .model import Model

if TYPE_CHECKING:
    PlotKind = str
else:
    PlotKind = Literal[tuple(plots.names())]


def _as_list(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def as_kind(value: Any) -> Any:
    """Return a picture's settings, of which the kind alone may be given."""
    return {"kind": value} if isinstance(value, str) else value


def _by_metric(value: Any) -> Any:
    return {"*": value} if isinstance(value, int) and not isinstance(value, bool) else value


def _as_patterns(value: Any) -> Any:
    return (("*",) if value else ()) if isinstance(value, bool) else _as_list(value)


def _as_text(value: Any) -> Any:
    """Return ``trec: map``, which YAML reads as a mapping, as text."""
    if isinstance(value, dict) and len(value) == 1:
        ((dataset, metric),) = value.items()
        return f"{dataset}: {metric}" if isinstance(metric, str) else value
    return value


Names = Annotated[
    tuple[StrictStr, ...],
    BeforeValidator(_as_list, json_schema_input_type=StrictStr | tuple[StrictStr, ...]),
]
"""One name, or a list of them."""
Patterns = Annotated[Names, Field(min_length=1)]
Digits = Annotated[StrictInt, Field(ge=0, le=17)]


class Summary(Model):
    """What becomes of captured columns: `summary:`. The leaderboard has one row a system then."""

    pool: Names = ()
    """Columns of datasets that are parts of one (folds): their queries are taken together."""
    average: Names = ()
    """Such columns whose parts count alike, whatever their numbers of queries."""
    spread: Names = ()
    """Columns of repetitions (seeds): mean, deviation, and an interval over seeds and queries."""
    best: Names = ()
    """Columns of which the best value alone is shown, chosen by the first metric on the very
    queries that are reported: such results are too good, and so only on request."""

    def to_core(self) -> summary.Summary:
        """Return the summary that systems are made by."""
        return summary.Summary(**self.model_dump())


class Compare(Model):
    """How runs are compared with each other: `compare:`."""

    baseline: Names = ()
    """Runs that the others are compared with; every run with every other where left out."""
    test: StrictStr = "paired-t"
    """paired-t, randomization, bootstrap, bootstrap-t, wilcoxon, sign; for all pairs at once tukey,
    randomized-tukey, friedman-nemenyi; or one of a plugin."""
    correction: core.Correction = "holm"
    """For several comparisons."""
    family: core.Family = "table"
    """Which comparisons are corrected together: all of them, those of one metric on one dataset, or
    those of one dataset."""
    level: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """An adjusted p-value up to this is significant."""
    interval: core.IntervalMethod = "t"
    """How the interval of a difference is had."""
    draws: Annotated[StrictInt, Field(ge=99)] = 10_000
    """Random draws of a test or interval that draws."""
    seed: Annotated[StrictInt, Field(ge=0)] = 0
    """Seed of what is drawn."""
    metrics: Names = ()
    """Metrics compared; all that are means and have a direction where left out."""

    def to_core(self) -> core.Plan:
        """Return the plan that comparisons follow."""
        given = self.model_dump()
        return core.Plan(baselines=given.pop("baseline"), **given)


class Table(Model):
    """One table of a paper: an entry of `tables:`.

    Names are chosen by lists of patterns: `[bm25, "lambda*", "!*random*", "*"]` takes them in that
    order, without those after an exclamation mark.
    """

    metrics: Patterns = ("*",)
    """Columns, in this order."""
    datasets: Patterns = ("*",)
    """Blocks of columns, in this order."""
    runs: Patterns = ("*",)
    """Rows, in this order."""
    groups: Mapping[StrictStr, Patterns] = Field(default_factory=dict)
    """Rows in groups with a title, in place of `runs`."""
    names: Mapping[StrictStr, StrictStr] = Field(default_factory=dict)
    """What runs, metrics and datasets are called in the table."""
    sort: Annotated[
        StrictStr | None,
        BeforeValidator(_as_text, json_schema_input_type=StrictStr | dict[str, str] | None),
    ] = None
    """Rows of each group by this metric, best first; a dataset's alone as in `trec: map`."""
    digits: Annotated[
        Mapping[StrictStr, Digits],
        BeforeValidator(_by_metric, json_schema_input_type=Digits | dict[str, Digits]),
    ] = Field(default_factory=dict)
    """Decimals of all metrics, or by metric ("*" for the others); 3, and 1 for values x 100, where
    left out."""
    percent: Annotated[
        tuple[StrictStr, ...],
        BeforeValidator(
            _as_patterns, json_schema_input_type=bool | StrictStr | tuple[StrictStr, ...]
        ),
    ] = ()
    """Values x 100: true for all metrics within [0, 1] or [-1, 1], or those of these names."""
    leading_zero: StrictBool = False
    """0.423 in place of .423."""
    spread: tables.Spread = "none"
    """Beside each value: the deviation over repetitions (seeds), or its interval over queries."""
    marks: tables.Marks | None = None
    """Significance: a letter for each system that is beaten, or a dagger for each baseline; letters
    where all pairs are compared and daggers where there are baselines, where left out."""
    average: StrictBool = False
    """A further block: the mean over the datasets, of runs that have them all."""
    extras: tuple[tables.Extra, ...] = ()
    """Further columns: queries of the mean, tier, rank with its interval, queries answered."""
    siunitx: StrictBool = False
    """LaTeX: align numbers at the decimal point with siunitx (3 or newer)."""
    width: tables.Width = "column"
    """LaTeX: `table`, or `table*` over both columns of the page; a table that is wider is a
    warning."""
    caption: StrictStr | None = None
    """Text before what is said of test, level and conventions."""
    caption_latex: StrictStr | None = None
    """LaTeX's own in place of `caption`, not escaped: for `\\cite{...}` and formulas."""
    label: StrictStr | None = None
    """LaTeX's label; `tab:` and the table's name where left out, with a hyphen for each sign that a
    label cannot have."""
    formats: tuple[Literal["latex", "markdown", "html", "csv", "text"], ...] = ("latex", "markdown")
    """Files written by harness run."""

    def to_core(self) -> tables.Settings:
        """Return what a table is built with."""
        return tables.Settings(**self.model_dump(exclude={"formats"}))


class Plot(Model):
    """One picture, or one for each dataset and metric: an entry of `plots:`."""

    kind: PlotKind
    """What is drawn."""
    metrics: Names = ()
    """A picture for each; those that are means and have a direction where left out. scatter: for
    each pair; cutoffs: for those that differ in their cutoff alone."""
    datasets: Names = ("*",)
    """A picture for each."""
    runs: Names = ("*",)
    """Systems drawn, in this order."""
    baseline: StrictStr | None = None
    """For differences and effects; the first of `compare` where left out."""
    names: Mapping[StrictStr, StrictStr] = Field(default_factory=dict)
    """What runs and metrics are called."""
    width: plots.Width = "column"
    """3.3 inches, or 7."""
    formats: Annotated[tuple[plots.Format, ...], BeforeValidator(_as_list)] = ("svg", "pdf")
    """Files written: svg and pdf for papers, png to look at."""

    def to_core(self) -> plots.Settings:
        """Return what a picture is drawn by."""
        return plots.Settings(**self.model_dump())


Plots = tuple[
    Annotated[Plot, BeforeValidator(as_kind, json_schema_input_type=PlotKind | Plot)], ...
]
