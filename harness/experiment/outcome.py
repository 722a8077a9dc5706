"""Results of an experiment, whether it was just run or read back from its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config.model import Config
from ..core.leaderboard import NOT_COMPARED, Leaderboard
from ..core.systems import chosen_of, failed_systems, incomplete, of_systems, systems_of
from ..errors import Finding, HarnessError, InputError, Problem
from ..reports import comparisons as comparing
from ..reports.leaderboard import find
from ..reports.select import in_order
from ..stats.comparison import Comparisons, Plan, Study

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Results(Study):
    """The results of a config: leaderboard, comparisons, findings, and where the files are.

    `print` shows the leaderboard and the comparisons. A notebook shows the report page in a frame,
    or the first rows of both if the page is large.

    Parameters
    ----------
    comparisons : Comparisons, optional
        None if the config compares nothing.
    manifest : mapping
        The content of ``manifest.json``: config, versions, inputs, counts.
    config : Config
        As it was resolved then; its ``base`` is the folder that paths start from.
    folder : Path
        Where the files are.
    files : mapping of str to bytes
        What a run wrote, by name; empty for results that were read.
    warnings : tuple of str
        Paths in them as in the manifest.
    findings : tuple of Finding
        Of the guard, with its notes; paths in them as in the manifest.
    errors : tuple of str
        What failed and why, with paths as they were opened; cells that failed for one reason
        together.
    cached : int
        Cells whose values were all in the cache.
    summarised : Leaderboard, optional
        See `leaderboard`, if it is known.
    """

    config: Config
    folder: Path
    files: Mapping[str, bytes] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    errors: tuple[str, ...] = ()
    cached: int = 0
    summarised: Leaderboard | None = None

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """The leaderboard: a row per system if the config has a summary, else per cell."""
        return self.summarised or systems(self.board, self.config)

    @property
    def rows(self) -> list[dict[str, str | int | float]]:
        """The rows of ``leaderboard.csv``: names, columns, counts, then a value per metric."""
        return self.leaderboard.rows()

    def __str__(self) -> str:
        text: str = find("table").render(self.leaderboard)
        if self.comparisons is not None:
            text += "\n" + render_comparisons(self.comparisons, "table")
        return text

    def __repr__(self) -> str:
        return f"<Results: {len(self.leaderboard.entries)} entries in {self.folder}>"

    def _repr_html_(self) -> str:
        from .page import widget  # which imports this module

        if frame := widget(self):
            return frame
        text = self.leaderboard._repr_html_()
        return text + (render_comparisons(self.comparisons, "html") if self.comparisons else "")

    def to_pandas(self) -> pandas.DataFrame:
        """Return `rows` as a data frame (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.rows)

    def to_flat_dict(self) -> dict[str, float]:
        """Return ``{"dataset/run/metric": value}``, for a logger of experiments.

        Captured columns come before the metric: ``"mq2007/gbrt/seed=1/ndcg@10"``.
        """
        return {
            "/".join((one.dataset, one.run, *map("=".join, one.columns.items()), metric)): value
            for one in self.leaderboard.entries
            for metric, value in one.summary.items()
        }


def systems(board: Leaderboard, config: Config) -> Leaderboard:
    """Return the leaderboard in order, with a row a system if the config has a summary."""
    if board.summary:
        from ..stats.intervals import clustered  # which loads SciPy

        board = of_systems(board, partial(clustered, plan=config.compare or Plan()))
    else:
        board = board.sliced()
    return in_order(board, config.sort)


def compare(board: Leaderboard, config: Config, plan: Plan | None = None) -> Comparisons | None:
    """Return the comparisons of a leaderboard by a plan, or its config's; None without either."""
    plan = config.compare if plan is None else plan
    if plan is None:
        return None
    if board.summary.average:
        raise HarnessError(Problem("compare", NOT_COMPARED))
    return compared(board, plan)


def compared(board: Leaderboard, plan: Plan) -> Comparisons:
    """Return the comparisons of a leaderboard's systems."""
    from ..stats.compare import compare as compare_systems  # which loads SciPy

    some = systems_of(board)
    found = compare_systems(some, plan, os.cpu_count() or 1)
    return replace(
        found, lost=tuple(incomplete(board).values()), failed=failed_systems(board),
        chosen=chosen_of(some),
    )  # fmt: skip


def with_comparisons(outcome: Results, plan: Plan | None = None) -> Results:
    """Return results with comparisons computed from their values, by a plan or the config's."""
    wanted = plan or outcome.config.compare
    if outcome.config.plugins and wanted is not None:
        from ..stats.registry import load_all  # which loads SciPy

        if wanted.test not in load_all():
            what = f"expected a test of the harness, got '{wanted.test}', which a plugin may define"
            fix = "give another --test, or leave comparisons out (harness table --marks none)"
            raise InputError(Problem(str(outcome.folder), what, fix=fix))
    return replace(outcome, comparisons=compare(outcome.board, outcome.config, plan))


def render_comparisons(comparisons: Comparisons, format: str, **options: Any) -> str:
    """Return the comparisons with the smallest p in the format of a report; "" if it has none."""
    if format not in ("table", "markdown", "html"):
        return ""
    format = "text" if format == "table" else format
    return comparing.render(comparisons, format, most=comparing.SHOWN, **options)
