"""What is drawn of small studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import studies

from harness.core.names import parse_all
from harness.reports.plots import plot as plots
from harness.reports.plots.plot import Settings, requests, styled
from harness.stats.comparison import Comparison, Comparisons, Plan, Study

TRACE = studies.TRACE
RANKED = {"a": [0.2, 0.4, 0.7, 0.1], "b": [0.3, 0.5, 0.9, 0.2], "c": [0.3, 0.6, 0.9, 0.3]}


def study(
    runs: Mapping[str, Sequence[Any]],
    metrics: Sequence[str] = ("map",),
    comparisons: Comparisons | None = None,
    qids: Mapping[str, Sequence[str]] | None = None,
) -> Study:
    """Return a study of ``{run: [value, or the value of each metric, for each query]}``."""
    return studies.study({"trec": runs}, metrics, comparisons, qids=qids)


def drawn(found: Study, kind: str, **settings: Any) -> list[Any]:
    """Return what each picture of an entry of `plots:` shows."""
    module = plots.find(kind)
    return [module.data(one) for one in requests(found, Settings(kind, **settings))]


def figures(found: Study, kind: str, **settings: Any) -> list[Any]:
    """Return the figures of an entry of `plots:`."""
    module = plots.find(kind)
    with styled():
        return [
            module.draw(one, settings.get("width", "column"))
            for one in drawn(found, kind, **settings)
        ]


def texts(figure: Any) -> list[str]:
    """Return every text of a figure that is shown."""
    from matplotlib.text import Text

    found = (one for one in figure.findobj(Text) if one.get_visible())
    return [one.get_text() for one in found if one.get_text()]


def effects_study() -> Study:
    """Return a study of two comparisons with a, one of them the other way round."""
    (metric,) = parse_all(["map"])
    rows = (
        Comparison("trec", metric, "a", "b", 2, 0.1, 0.05, 0.15, p_adjusted=0.01, hedges_g=0.8),
        Comparison("trec", metric, "c", "a", 2, 0.2, -0.1, 0.5, p_adjusted=0.3, hedges_g=0.4),
    )
    return study({"a": [0.1, 0.2], "b": [0.2, 0.3], "c": [0.1, 0.1]},
                 comparisons=Comparisons(Plan(("a",)), rows))  # fmt: skip
