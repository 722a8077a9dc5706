"""Tables for a paper and plots: for `harness table`, `harness plot` and Python."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from ..config.load import wrong_value
from ..core.arguments import (
    PATH,
    TEXT,
    PathLike,
    check_arguments,
    check_choice,
    names_in,
)
from ..core.pandas_frame import data_frame
from ..core.systems import dataset_name, system_name
from ..errors import ArgumentError, Problem, UnknownNameError, fix_of_name
from ..readers import files as store
from ..reports.leaderboard import Study
from ..reports.methods import bibliography, methods
from ..reports.paper_table.build import build, first_key
from ..reports.paper_table.model import PaperTable, records, render
from ..reports.paper_table.settings import DEFAULT, Format, TableSettings, renamed
from ..reports.plots import plot as plots
from ..reports.plots.plot import PlotSettings, find
from ..reports.select import NONE
from ..stats.comparison import Plan, changed_plan
from ..stats.registry import check_corrected
from .results import Results, folder_of, read_results, run_named, with_comparisons

if TYPE_CHECKING:
    import pandas

S = TypeVar("S")
_TYPES = {"svg": "image/svg+xml", "png": "image/png"}


@dataclass(frozen=True, repr=False)
class Table:
    """A table for a paper. `print` shows it as text, a notebook as HTML."""

    paper: PaperTable
    settings: TableSettings
    results: Results

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table, one for each system, with unrounded values as in CSV."""
        return records(self.paper)

    def to_pandas(self) -> pandas.DataFrame:
        """Return `rows` as a data frame (needs pandas)."""
        return data_frame(self.rows)

    def render(self, format: Format = "latex") -> str:
        """Return the table as ``latex``, ``markdown``, ``html``, ``csv`` or ``text``."""
        return render(self.paper, _checked(TypeAdapter(Format), format, "format"))

    def methods(self, format: Literal["text", "latex"] = "text") -> str:
        """Return the methods paragraph of the table."""
        check_choice("format", format, ("text", "latex"))
        study, metrics = self._shown()
        markup: Literal["latex", "plain"] = "latex" if format == "latex" else "plain"
        name, cite, shown = self.settings.name, self.settings.cite, self._shown_too
        return methods(study, markup, metrics=metrics, name=name, shown=shown, cite=cite)

    def bibtex(self) -> str:
        """Return the BibTeX entries that `methods` cites."""
        study, metrics = self._shown()
        return bibliography(study, metrics=metrics, shown=self._shown_too)

    @property
    def _shown_too(self) -> list[Literal["means", "average"]]:
        shown: list[Literal["means", "average"]] = []
        shown += ["means"] if self.settings.spread == "interval" else []
        return shown + (["average"] if self.settings.average else [])

    def _shown(self) -> tuple[Study, list[str]]:
        """Return the part of the study that the table shows, and its metrics."""
        runs = {row.run for row in self.paper.rows}
        datasets = {one.dataset for one in self.paper.columns}
        summary = self.results.board.summary
        entries = tuple(
            one
            for one in self.results.board.entries
            if dataset_name(one, summary) in datasets and system_name(one, summary) in runs
        )
        study = replace(self.results, board=replace(self.results.board, entries=entries))
        return study, [str(one.metric) for one in self.paper.columns if one.metric is not None]

    def __repr__(self) -> str:
        return f"<Table '{self.paper.name}': {len(self.rows)} rows>"

    def __str__(self) -> str:
        return render(self.paper, "text").rstrip("\n")

    def _repr_html_(self) -> str:
        return render(self.paper, "html")


@dataclass(frozen=True, repr=False)
class Plots:
    """Figures by file name. A notebook displays them."""

    files: Mapping[str, bytes]

    def save(self, folder: PathLike) -> list[Path]:
        """Write the figures into a folder, and return their paths."""
        check_arguments(locals(), folder=PATH)
        store.check_writable(Path(folder))
        store.write_all(Path(folder), self.files)
        return [Path(folder) / name for name in self.files]

    def __repr__(self) -> str:
        return f"<Plots: {', '.join(self.files)}>"

    def __str__(self) -> str:
        return "\n".join(self.files)

    def _repr_html_(self) -> str:
        return "".join(
            f'<img alt="{name}" style="background: white; max-width: 100%" '
            f'src="data:{_TYPES[kind]};base64,{b64encode(content).decode()}">'
            if (kind := name.rpartition(".")[2]) in _TYPES
            else f"<p>{name}</p>"
            for name, content in self.files.items()
        )


def table(
    results: PathLike | Results,
    name: str | None = None,
    *,
    baseline: str | Sequence[str] = (),
    test: str | None = None,
    correction: str | None = None,
    **settings: Any,
) -> Table:
    """Make a table for a paper from results, as ``harness table`` does.

    Parameters
    ----------
    results : path or Results
        A folder that ``harness run`` wrote, or the return value of `harness.run`.
    name : str, optional
        A table of the config; by default the first one.
    baseline : str or sequence of str
        Repeat the comparisons with this baseline, or with several.
    test : str, optional
        Repeat the comparisons with this test.
    correction : str, optional
        Repeat the comparisons with this correction.
    **settings
        Keys of ``tables:`` in a config, such as ``metrics=["map"]``, ``sort="map"``,
        ``digits=2``, ``names={"bm25": "BM25"}``, ``spread="deviation"``.

    Returns
    -------
    Table
        ``render("latex")`` returns the text of a format, ``save(path)`` writes it.

    Raises
    ------
    ArgumentError, UnknownNameError
        If a setting, run, metric or dataset does not exist.
    """
    check_arguments(locals(), name=TEXT.or_none(), test=TEXT.or_none(), correction=TEXT.or_none())
    made = settings_of(TableSettings, settings)
    changes = {key: getattr(made, key) for key in settings}
    plan = changed_plan(names_in(baseline, "baseline"), test, correction)
    study = _read(results)
    tables = study.config.tables
    if name is not None and name not in tables:
        what = f"the config of these results has no table '{name}'"
        fix = fix_of_name(name, tables)
        raise UnknownNameError(Problem("table", what, fix=fix))
    name = name or next(iter(tables), None)
    own = DEFAULT if name is None else tables[name]
    if "runs" in changes:
        changes.setdefault("groups", {})
    if isinstance(settings.get("caption"), str):
        changes["caption"] = replace(own.caption, text=settings["caption"])
    changes["names"] = renamed(own.names, changes.get("names", {}))
    own = replace(own, **changes)
    own = replace(own, runs=tuple(run_named(study, run) for run in own.runs))
    if name is None and own.label is None and study.config.name:
        own = replace(own, label=f"tab:{study.config.name}")
    compared = own.spread == "interval" or own.delta != "none"
    if own.marks != "none" or compared or {"tier", "rank", "p"} & {*own.extras}:
        asked = replace(study.config.compare or Plan(), **plan) if plan else None
        if asked is not None and correction is not None:
            check_corrected(asked.test, "--correction")
        study = with_comparisons(study, asked)
    return Table(build(study, own, name or "table"), own, study)


def best_first(made: Table) -> Table:
    """Return a table with its rows sorted by one metric, unless its settings order them.

    This is the config's `sort`, or the first metric shown.
    """
    own, study = made.settings, made.results
    if own.sort or own.groups or own.runs != DEFAULT.runs or study.config.sort == NONE:
        return made
    own = replace(own, sort=first_key(own, study, study.config.sort))
    return replace(made, paper=build(study, own, made.paper.name), settings=own)


def plot(
    results: PathLike | Results,
    kinds: str | Sequence[str] = (),
    *,
    metrics: str | Sequence[str] = (),
    datasets: str | Sequence[str] = "*",
    runs: str | Sequence[str] = "*",
    baseline: str | None = None,
    over: str = "",
    names: Mapping[str, str] | None = None,
    width: Literal["column", "page"] = "column",
    formats: str | Sequence[str] = "svg",
    style: Mapping[str, Any] | None = None,
) -> Plots:
    """Draw figures of results, as ``harness plot`` does (needs matplotlib).

    Parameters
    ----------
    results : path or Results
        A folder that ``harness run`` wrote, or the return value of `harness.run`.
    kinds : str or sequence of str
        ``critical-difference``, ``curve``, ``cutoffs``, ``differences``, ``difficulty``,
        ``distribution``, ``effects``, ``heatmap``, ``metric-correlation``, ``pareto``,
        ``precision-recall``, ``run-similarity``, ``scatter``, ``sweep``; by default two or three
        that suit the results.
    metrics : str or sequence of str
        Names, or patterns such as ``"ndcg*"``.
    datasets, runs : str or sequence of str
        Names or patterns.
    baseline : str, optional
        Baseline of ``differences`` and ``effects``; by default that of the config.
    over : str
        Axis of ``sweep`` and ``curve`` (a placeholder such as ``lr``) or of ``pareto`` (a column
        of the metadata).
    names : mapping, optional
        Labels of runs and metrics: ``{"bm25": "BM25"}``.
    width : {"column", "page"}
        3.3 or 7 inches.
    formats : {"svg", "png", "pdf"} or several of them
    style : mapping, optional
        ``{"font": "serif", "size": 8, "sheet": "my.mplstyle"}``.

    Returns
    -------
    Plots
        The pictures; ``save(folder)`` writes them, and a notebook shows them.
    """
    given = {key: value for key, value in locals().items() if key not in ("results", "kinds")}
    chosen_kinds = names_in(kinds, "kinds")
    for kind in chosen_kinds:
        find(kind)
    given |= {
        "kind": [*chosen_kinds, "distribution"][0],
        "names": names or {},
        "style": style or {},
    }
    settings = settings_of(PlotSettings, given)
    if settings.style.sheet:
        sheet = str(Path(settings.style.sheet).absolute())
        settings = replace(settings, style=replace(settings.style, sheet=sheet))
    return Plots(pictures(_read(results), chosen_kinds, settings))


def pictures(found: Results, kinds: Sequence[str], settings: PlotSettings) -> dict[str, bytes]:
    """Return pictures of results by file name; `settings` apply to each kind that has them.

    By default the kinds are those that suit the results.
    """
    plots.check_installed()
    baseline = settings.baseline and run_named(found, settings.baseline)
    runs = tuple(run_named(found, run) for run in settings.runs)
    settings = replace(settings, baseline=baseline, runs=runs)
    wanted = [plots.of_kind(settings, kind) for kind in kinds] or plots.suited(found, settings)
    plan = found.config.compare
    if any(plots.find(each.kind).needs_comparisons for each in wanted):
        if baseline is not None and (plan is None or baseline not in plan.baselines):
            plan = replace(plan or Plan(), baselines=(baseline,))
        found = with_comparisons(found, plan)
    return plots.render_all(found, wanted, refuse=True)


def _read(results: PathLike | Results) -> Results:
    return results if isinstance(results, Results) else read_results(folder_of(results))


def settings_of(kind: type[S], given: Mapping[str, Any]) -> S:
    """Return settings of a table or plot from arguments; ArgumentError if one is wrong."""
    known = [*signature(kind).parameters]
    for name in given:
        if name not in known:
            raise ArgumentError(Problem(name, "unknown argument", fix=fix_of_name(name, known)))
    return _checked(TypeAdapter(kind), dict(given), "")


def _checked(kind: TypeAdapter[S], given: Any, place: str) -> S:
    try:
        return kind.validate_python(given)
    except ValidationError as error:
        every = {place or str(one["loc"][0]): wrong_value(one) for one in error.errors()}
    raise ArgumentError([Problem(name, what) for name, what in every.items()])
