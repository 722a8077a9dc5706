"""Search for the settings of conventions that give a published value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.metric import Metric
from ..core.names import parse
from ..core.pandas_frame import data_frame
from ..core.ragged import Floats
from ..core.settings import CONVENTIONS, PARAMETERS
from ..errors import InputError, Problem, UnknownNameError, counted
from ..reports import text
from ..reports.grid import Grid, grid
from ..reports.text import Shown
from .convention_choices import choices_of, plain
from .table_files import printed

if TYPE_CHECKING:
    import pandas

CUTOFFS = (None, 10, 5, 20, 1, 3, 100, 1000, 15, 30, 50)
"""Usual cutoffs, the most usual first; None is the whole list."""
_SLACK = 1e-12
"""Largest excess of a mean over a bound by rounding, as a share of the bound."""


@dataclass(frozen=True)
class PublishedValue:
    """A value as it was printed: `0.4731`, `.473`, `47.31` or `47.31%`."""

    text: str
    number: Decimal
    is_percent: bool = False

    @classmethod
    def read(cls, text: str) -> PublishedValue:
        """Return the value that a text prints; InputError if it is not a number."""
        number = printed(text.strip())
        if number is None:
            fix = "write the value as it was printed, such as 0.4731, .473 or 47.31%"
            raise InputError(Problem("--match", f"expected a number, got '{text}'", fix=fix))
        return cls(text.strip(), number.number, number.is_percent)

    def windows(self, largest: float = 1.0) -> list[tuple[float, float, float]]:
        """Return it, and between what values round to it, for a metric that is at most `largest`.

        The bounds are half of the last printed digit either way, so that it does not matter how
        halves are rounded. A number above 1 is also read as percent if the metric is a share.

        >>> value = PublishedValue.read("0.4731")
        >>> value.windows(), len(PublishedValue.read("47.31").windows())
        ([(0.4731, 0.47305, 0.47315)], 2)
        """
        half = Decimal(5).scaleb(int(self.number.as_tuple().exponent) - 1)
        low, high = self.number - half, self.number + half
        is_share = self.number > 1 and largest <= 1
        places = [2] if self.is_percent else [0, 2] if is_share else [0]
        return [
            (float(self.number.scaleb(-n)), float(low.scaleb(-n)), float(high.scaleb(-n)))
            for n in places
        ]

    def differences(self, values: Floats, largest: float) -> Floats:
        """Return values minus the published one: 0 if they round to it, inf for NaN."""
        nearest = np.full(values.shape, np.inf)
        for centre, low, high in self.windows(largest):
            slack = _SLACK * max(1.0, abs(centre))
            fits = (values >= low - slack) & (values <= high + slack)
            differences = np.where(fits, 0.0, np.nan_to_num(values - centre, nan=np.inf))
            nearest = np.where(np.abs(differences) < np.abs(nearest), differences, nearest)
        return nearest


@dataclass(frozen=True)
class Setting:
    """A metric with a tool's settings, of these `changed` with another value."""

    metric: Metric
    tool: str
    changed: int

    @property
    def order(self) -> tuple[int, ...]:
        """Key to sort by: fewer changes first, then a more usual cutoff."""
        places = [at for at, cutoff in enumerate(CUTOFFS) if cutoff == self.metric.cutoff]
        return self.changed, *(places or [len(CUTOFFS)])


def settings_of(metrics: Sequence[Metric], tools: Sequence[str]) -> Iterator[list[Setting]]:
    """Yield metrics at their cutoffs with the settings of each tool, then with one changed.

    `tools` are conventions, all if empty. A change that computes what another setting does is left
    out.
    """
    known_metrics = set[Metric]()
    pairs = {(metric.definition.name, metric.cutoff): metric.definition for metric in metrics}
    for changed in (0, 1):
        settings = list[Setting]()
        for ((name, cutoff), definition), tool in product(
            pairs.items(), [*([] if tools else [""]), *(tools or CONVENTIONS)]
        ):
            if tool and name not in CONVENTIONS[tool].metrics:
                continue
            known = {**PARAMETERS, **definition.parameters}
            own = [f"convention={tool}"] if tool else []
            changes = [
                f"{choice}={'none' if value is None else known[choice].text(value)}"
                for choice, values in choices_of(definition).items()
                for value in values
            ]
            for change in changes if changed else [""]:
                inside = ",".join(filter(None, [*own, change]))
                spelled = name + (f"({inside})" if inside else "")
                if cutoff is not None:
                    spelled += f"@{definition.cutoff.text(cutoff) if definition.cutoff else cutoff}"
                try:
                    (metric,) = parse(spelled)
                except (UnknownNameError, ValueError):  # settings that do not go together
                    continue
                title = CONVENTIONS[tool].tool if tool else "the harness"
                if not changed or plain(metric) not in known_metrics:
                    settings.append(Setting(metric, title, changed))
                known_metrics.add(plain(metric))
        yield settings


@dataclass(frozen=True)
class Fit:
    """A setting under which a system has a value; `difference` is it minus the published one.

    `missing_queries` is the policy that belongs to it.
    """

    dataset: str
    system: str
    setting: Setting
    value: float
    difference: float
    missing_queries: str

    @property
    def is_plain(self) -> bool:
        """Whether no setting of the tool and no policy is changed."""
        return self.setting.changed == 0 and self.missing_queries == "zero"

    @property
    def without_changes(self) -> tuple[Any, ...]:
        """Properties shared by the fits of one tool and cutoff."""
        metric = self.setting.metric
        return self.dataset, self.system, metric.definition.name, metric.cutoff, self.setting.tool

    @property
    def tool(self) -> str:
        """The tool, how many of its settings are changed, and the policy if it is not the usual."""
        name = self.setting.tool
        if self.setting.changed:
            name += f", {counted(self.setting.changed, 'setting')} changed"
        if self.missing_queries != "zero":
            name += f", missing_queries: {self.missing_queries}"
        return name


@dataclass(frozen=True, eq=False)
class Matches(Shown):
    """The settings that give a published value, the simplest first; `nearest` is the nearest miss.

    `tried` is how many settings and systems were tried.
    """

    published: PublishedValue
    fits: tuple[Fit, ...]
    nearest: Fit | None
    tried: int

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each setting that fits, or one for the nearest miss."""
        shown = self.fits or ((self.nearest,) if self.nearest else ())
        return [
            {
                "published": self.published.text,
                "fits": bool(self.fits),
                "dataset": fit.dataset,
                "system": fit.system,
                "metric": str(fit.setting.metric),
                "tool": fit.setting.tool,
                "changed": fit.setting.changed,
                "missing_queries": fit.missing_queries,
                "value": fit.value,
                "difference": fit.difference,
            }
            for fit in shown
        ]

    def to_pandas(self) -> pandas.DataFrame:
        """Return `rows` as a data frame (needs pandas)."""
        return data_frame(self.rows)

    def __str__(self) -> str:
        return text.render(grids(self)).rstrip("\n")

    def __repr__(self) -> str:
        return f"<Matches: {self.published.text}, {len(self.fits)} settings>"


def matches_of(published: PublishedValue, fits: Sequence[Fit], tried: int) -> Matches:
    """Return the settings that fit, the simplest first, and the nearest of the others."""
    near = sorted(fits, key=lambda fit: (abs(fit.difference), *fit.setting.order))
    fitting = [fit for fit in near if fit.difference == 0]
    plain_fits = {fit.without_changes for fit in fitting if fit.is_plain}
    fitting = [fit for fit in fitting if fit.is_plain or fit.without_changes not in plain_fits]
    known = [fit for fit in near if math.isfinite(fit.difference)]
    nearest = None if fitting or not known else known[0]
    return Matches(published, tuple(fitting), nearest, tried)


def _named(fit: Fit) -> list[str]:
    return [fit.dataset, fit.system, str(fit.setting.metric), fit.tool]


def grids(matches: Matches, details: bool = False) -> Iterator[Grid]:
    """Yield the simplest setting that fits, or the nearest miss; all that fit with `details`."""
    n = len(matches.fits)
    tried, published = f"{matches.tried:,} settings tried", matches.published.text
    header = ["value", "dataset", "system", "metric", "settings of"]
    if n and details:
        title = f"{published}: {counted(n, 'setting')} of {matches.tried:,} fit"
        rows = [[f"{fit.value:.6f}", *_named(fit)] for fit in matches.fits]
        yield grid(header, rows, left=5, title=title)
    elif n:
        best = matches.fits[0]
        where = f"{best.system} on {best.dataset}"
        title = f"{published} fits {best.setting.metric} of {where}: {best.value:.6f}"
        others = counted(n - 1, "other way gives", "other ways give")
        more = f"{others} the same value; --details lists them"
        how = f"with the settings of {best.tool}"
        yield Grid(title=title, notes=(how, *[more] * (n > 1), tried))
    elif (near := matches.nearest) is not None:
        cells = [f"{near.value:.6f}", f"{near.difference:+.6f}", *_named(near)]
        header = ["nearest value", "difference", *header[1:]]
        yield grid(header, [cells], left=6, title=f"{published}: no setting fits")
        yield Grid(notes=(tried,))
    else:
        yield Grid(title=f"{published}: no setting gives a value", notes=(tried,))
