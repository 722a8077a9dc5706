"""Plots: their settings, their pictures, and their common style.

A kind of plot is a `PlotKind`, whose `draw` returns the figure and alone loads matplotlib.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, cast

import numpy as np
from annotated_types import Ge, Le

from ...core.arguments import Names, OneOf, PathText, Shorthand, as_list
from ...core.entries import System
from ...core.metric import Metric
from ...core.names import distinct, metric_spellings, spelled
from ...core.ragged import Bools, Floats
from ...core.systems import reference
from ...errors import (
    InputError,
    Problem,
    UnknownNameError,
    fix_of_name,
    legible,
    not_installed,
    unknown,
    warn,
)
from ...progress import track
from ...readers.files import part
from ...stats.comparison import REFERENCE_RUNS
from ..leaderboard import Study, plan_of
from ..phrases import ARROWS
from ..select import (
    Found,
    best_first,
    pattern_problems,
    select,
    select_datasets,
    select_metrics,
    setting_problems,
    sort_metric,
    value_for,
)
from ..text import cut, cut_all

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Width = Literal["column", "page"]
Format = Literal["svg", "pdf", "png"]
Metrics = tuple[Metric, ...]
ROOM, BEST = 20, 5
"""Systems that fit into a legend. With more, the legend lists the best and the rest is grey."""
DOTS, TALLEST = 300, 3600
"""Dots per inch of a PNG, and its tallest height in dots: a taller plot has fewer per inch."""
ROWS = 30
"""Systems that fit into a plot with a line of text for each; beyond that, it draws the best."""
SMALLEST, POINTS = 7, 8
"""Points of the smallest text that can be read in print, and of all text by default."""


class PlotKind(NamedTuple):
    """One kind of plot; by default it needs no baseline and draws a picture for each metric."""

    draw: Callable[[PlotRequest], Figure]
    groups: Callable[[Sequence[Metric]], Iterable[Metrics]] = lambda metrics: zip(metrics)
    """The metrics of each picture."""
    file_names: Callable[[Metrics], Iterable[str]] = lambda metrics: map(str, metrics)
    """The part of a file's name that tells its metrics."""
    needs: str = "a metric"
    needs_baseline: bool = False
    needs_comparisons: bool = False
    over: str = ""
    """Meaning of the column `over`, with an example; empty if the kind has no such column."""
    takes_metrics: bool = True


KINDS = {
    "critical-difference": "comparisons.CRITICAL_DIFFERENCE",
    "curve": "lines.CURVE",
    "cutoffs": "lines.CUTOFFS",
    "differences": "comparisons.DIFFERENCES",
    "difficulty": "values.DIFFICULTY",
    "distribution": "values.DISTRIBUTION",
    "effects": "comparisons.EFFECTS",
    "heatmap": "matrices.HEATMAP",
    "metric-correlation": "matrices.METRIC_CORRELATION",
    "pareto": "values.PARETO",
    "precision-recall": "lines.PRECISION_RECALL",
    "run-similarity": "matrices.RUN_SIMILARITY",
    "scatter": "values.SCATTER",
    "sweep": "lines.SWEEP",
}
Formats = Annotated[tuple[Format, ...], Shorthand(as_list, Format | tuple[Format, ...])]
KindName = Annotated[str, OneOf(lambda: tuple(KINDS))]


def find(name: str) -> PlotKind:
    """Return the kind of that name; raises UnknownNameError."""
    if name not in KINDS:
        raise unknown("plot", name, KINDS)
    module, _, constant = KINDS[name].partition(".")
    kind: PlotKind = getattr(importlib.import_module(f".{module}", __package__), constant)
    return kind


@dataclass(frozen=True)
class Style:
    """The look of text, and a style sheet of matplotlib."""

    font: str | None = None
    """`sans-serif`, `serif` (like Times), or an installed family."""
    size: Annotated[float, Ge(SMALLEST), Le(12)] | None = None
    """Points of all text, from 7 to 12; 8 by default."""
    sheet: Annotated[str | None, PathText()] = None
    """A style sheet of matplotlib, relative to the config."""


@dataclass(frozen=True)
class PlotSettings:
    """One picture, or one for each dataset and metric."""

    kind: KindName
    """Content of the picture."""
    metrics: Names = ()
    """A picture for each; by default those that are means and have a direction. scatter: for each
    pair; cutoffs: for those that differ in their cutoff alone."""
    datasets: Names = ("*",)
    """A picture for each."""
    runs: Names = ("*",)
    """Systems drawn, in this order."""
    baseline: str | None = None
    """Baseline for differences and effects; by default the first of `compare`."""
    names: Mapping[str, str] = field(default_factory=dict)
    """New names of runs and metrics."""
    width: Width = "column"
    """3.3 inches, or 7."""
    formats: Formats = ("svg", "pdf")
    """Files written: svg and pdf for papers, png to look at."""
    over: str = ""
    """Column on the axis: of runs for sweep (lr) and curve (epoch); of `page.metadata` for pareto,
    lower being better."""
    style: Style = Style()
    """Font, size of text, style sheet."""


def problems(
    settings: PlotSettings,
    runs: Sequence[str] | None,
    datasets: Sequence[str] | None,
    metrics: Sequence[Metric] | None,
    baselines: Sequence[str] | None,
    columns: Sequence[str] = (),
) -> Found:
    """Yield each problem with its place in the settings; None is not known yet and not checked.

    `baselines` are those of the comparisons; None if nothing is compared. The first of `columns` is
    proposed for an axis.
    """
    kind, known_runs = find(settings.kind), runs or ()
    yield from setting_problems(settings, runs, datasets)
    if runs is not None and settings.baseline in REFERENCE_RUNS and settings.baseline in runs:
        what = f"'{settings.baseline}' is a run too"
        yield ("baseline",), Problem("", what, fix="give the run another name")
    elif runs is not None and settings.baseline not in (None, *REFERENCE_RUNS, *runs):
        fix = fix_of_name(str(settings.baseline), runs)
        yield ("baseline",), Problem("", f"unknown run '{settings.baseline}'", fix=fix)
    if kind.needs_comparisons and baselines is None:
        fix = "add such as 'compare: {baseline: bm25}' to the config, or --baseline bm25"
        what = f"{settings.kind} draws comparisons, and the config asks for none"
        yield (), Problem("", what, fix=fix)
    elif kind.needs_baseline and settings.baseline is None and not baselines:
        fix = f"add --baseline {[*known_runs, 'RUN'][0]}, or 'baseline: RUN' under 'compare:'"
        yield (), Problem("", f"{settings.kind} needs a baseline", fix=fix)
    if kind.over and not settings.over:
        what, _, usual = kind.over.rpartition(" ")
        example = next(iter(columns), usual)
        fix = f"add --over {example}, or 'over: {example}' in a config"
        yield (), Problem("", f"{settings.kind} needs {what}", fix=fix)
    if settings.over and not kind.over:
        yield ("over",), Problem("", f"{settings.kind} has no such axis", fix="remove it")
    if settings.metrics and not kind.takes_metrics:
        yield ("metrics",), Problem("", f"{settings.kind} takes no metrics", fix="remove them")
    if metrics is None:
        return
    names = [str(metric) for metric in metrics]
    wrong = list(pattern_problems(settings.metrics, names, "metric", metric_spellings(names)))
    yield from ((("metrics", place), problem) for place, problem in wrong)
    if wrong:
        return
    groups = list(kind.groups(chosen(metrics, settings)))
    if not groups:
        what = f"{settings.kind} needs {kind.needs}"
        yield (("metrics",) if settings.metrics else ()), Problem("", what)
    file_names = (name for group in groups for name in kind.file_names(group))
    valid_names = [*known_runs, *names, *file_names]
    for key in settings.names if runs is not None else ():
        if key not in valid_names:
            fix = fix_of_name(key, valid_names)
            yield ("names", key), Problem("", f"unknown run or metric '{key}'", fix=fix)


def chosen(metrics: Sequence[Metric], settings: PlotSettings) -> Metrics:
    """Return the requested metrics; by default those with a direction and a mean."""
    if settings.metrics:
        return tuple(select_metrics(settings.metrics, metrics))
    averaged = [metric for metric in metrics if metric.definition.summary == "mean"]
    directed = [metric for metric in averaged if metric.definition.direction is not None]
    # a label is a bound over the orders of ties
    return tuple(metric for metric in directed if metric.label is None) or tuple(metrics)


def of_kind(settings: PlotSettings, kind: str) -> PlotSettings:
    """Return the settings that a kind of several has."""
    own = find(kind)
    metrics = settings.metrics if own.takes_metrics else ()
    return replace(settings, kind=kind, metrics=metrics, over=settings.over if own.over else "")


EPOCHS = ("epoch", "epochs", "step", "steps", "iteration", "iter", "depth", "round", "trees")


def suited(study: Study, settings: PlotSettings) -> list[PlotSettings]:
    """Return two or three pictures that suit a study, by the metric that sorts its rows.

    They are curves if a setting has three values or more; else comparisons, cutoffs of one metric,
    and the spread over queries.
    """
    from ..sweep import columns_swept

    metrics = chosen(study.board.metrics, settings)
    first = sort_metric(study.board.metrics, study.sort)
    metric = first if first in metrics else metrics[0]
    plots = list[PlotSettings]()

    def add(kind: str, *names: Metric, **changes: Any) -> None:
        plots.append(replace(settings, kind=kind, metrics=tuple(map(str, names)), **changes))

    swept = {
        name: {cell.columns[name] for cell in study.cells.entries if name in cell.columns}
        for name in columns_swept(study)
    }
    name = next((name for name, values in swept.items() if len(values) > 2), "")
    if name:
        others = [other for other in metrics if other != metric]
        of_choice = study.board.selection is not None
        add(
            "curve" if name.lower() in EPOCHS else "sweep",
            metric,
            *others[: not of_choice],
            over=name,
        )
        if not of_choice:
            return plots
    n_queries = max((len(system.qids) for system in study.systems), default=0)
    if study.baselines or settings.baseline:
        add("effects" if n_queries > 1 else "differences", metric)
    elif len(study.runs) > 2 and n_queries > 2:
        is_weighted = any(system.evaluation.weighted_by for system in study.systems)
        add("difficulty" if is_weighted else "critical-difference", metric)
    if families := [*find("cutoffs").groups(metrics)]:
        add("cutoffs", *next((family for family in families if metric in family), families[0]))
    add("distribution" if n_queries > 1 else "heatmap", metric)
    if len(plots) < 3 and len(study.runs) > ROOM:
        add("difficulty", metric)
    return plots[:3]


class Name(NamedTuple):
    """A system in a picture: its label, and its place among the study's runs (its look)."""

    label: str
    place: int


@dataclass(frozen=True, eq=False)
class PlotRequest:
    """One picture of a dataset: its systems in the order asked for, and its baseline.

    `metrics` is one; two for a scatter; one for each cutoff.
    """

    study: Study
    settings: PlotSettings
    dataset: str
    metrics: Metrics
    systems: tuple[System, ...]
    baseline: System | None = None

    @property
    def metric(self) -> Metric:
        """The only metric, or the first."""
        return self.metrics[0]

    @property
    def others(self) -> tuple[System, ...]:
        """The systems except the baseline."""
        return tuple(system for system in self.systems if system is not self.baseline)

    @property
    def level(self) -> float:
        """Level of significance."""
        return plan_of(self.study).level

    def called(self, run: str) -> str:
        """Return a run's name in the picture."""
        own = REFERENCE_RUNS.get(run, run)
        return self.settings.names.get(run, self.study.names.get(run, own))

    def axis(self, metric: Metric) -> str:
        """Return a metric's label for an axis: its name, and the way that is better."""
        return self.short(metric, characters(self.settings.width, 0.6))

    @property
    def weighted(self) -> str:
        """The word before a mean over queries that have weights; empty for others."""
        return "weighted " if any(one.evaluation.weighted_by for one in self.systems) else ""

    def short(self, metric: Metric, most: int = 24) -> str:
        """Return a metric's name cut to `most` characters, and the way that is better."""
        names = {**self.study.names, **self.settings.names}
        text = cut(value_for(names, str(metric), spelled(metric), patterns=False), most)
        return f"{text} {ARROWS[metric.definition.direction]}".rstrip()

    def named(
        self, systems: Sequence[System], share: float = 0.5, *, most: int | None = None
    ) -> tuple[Name, ...]:
        """Return the systems' names, in lines of a share of the width or of `most` characters."""
        names = [self.called(system.run) for system in systems]
        labels = wrap_all(names, most or characters(self.settings.width, share))
        runs = self.study.runs
        places = [runs.index(one.run) if one.run in runs else 0 for one in systems]
        return tuple(map(Name, labels, places))

    def best_rows(self, systems: Sequence[System]) -> tuple[tuple[System, ...], str]:
        """Return the systems that fit, the best by the metric, and a line on those left out."""
        if len(systems) <= ROWS:
            return tuple(systems), ""
        values = np.array([self.metric.sign * system.value(self.metric) for system in systems])
        best = np.sort(np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")[:ROWS])
        return tuple(systems[place] for place in best), best_of(len(systems))

    def refuse(self, what: str, fix: str = "") -> InputError:
        """Return the error that this picture cannot be drawn."""
        where = f"plots: {self.settings.kind}"
        if self.metrics and find(self.settings.kind).takes_metrics:
            where += f" of {', '.join(map(str, self.metrics))}"
        return InputError(Problem(f"{where} on {self.dataset}", what, fix=fix))

    def refuse_kind(self, what: str, fix: str = "") -> InputError:
        """Return the error that no picture of this kind can be drawn."""
        return InputError(Problem(f"plots: {self.settings.kind}", what, fix=fix))


def requests(study: Study, settings: PlotSettings) -> Iterator[PlotRequest]:
    """Yield the pictures of one entry of a config.

    Datasets without the requested runs, or without the baseline, have none.
    """
    kind, baselines = find(settings.kind), study.baselines
    from ..sweep import columns_swept

    columns = () if settings.over or settings.kind == "pareto" else columns_swept(study)
    known = study.runs, study.datasets, study.board.metrics, baselines, columns
    if wrong := [*problems(settings, *known)]:
        raise UnknownNameError(
            [replace(one, where="".join(map(str, loc[:1]))) for loc, one in wrong]
        )
    if settings.baseline is not None:
        baselines = (settings.baseline,)
    sort = sort_metric(study.board.metrics, study.sort)
    is_drawn = False
    for dataset in select_datasets(settings.datasets, study.datasets, study.slices):
        candidates = (system for system in study.systems if system.dataset == dataset)
        order = [system.run for system in best_first(candidates, sort)]
        runs = select(settings.runs, list(dict.fromkeys([*order, *study.runs])), "run")
        systems = tuple(system for run in runs if (system := study.system(dataset, run)))
        of_dataset = [system for system in study.systems if system.dataset == dataset]
        named = (
            reference(name, of_dataset)
            if name in REFERENCE_RUNS and of_dataset
            else study.system(dataset, name)
            for name in baselines or ()
        )
        baseline = next((system for system in named if system is not None), None)
        if systems and (baseline is not None or not kind.needs_baseline):
            for metrics in kind.groups(chosen(study.board.metrics, settings)):
                is_drawn = True
                yield PlotRequest(study, settings, dataset, metrics, systems, baseline)
    if not is_drawn:
        needed = "the baseline and a run of those chosen" if kind.needs_baseline else "a run"
        names = ", ".join((baselines or ()) if kind.needs_baseline else runs)
        needed = f"expected a dataset with {needed}, got none: {names}"
        raise UnknownNameError(Problem(f"plots: {settings.kind}", needed, fix="choose other runs"))


def render_all(
    study: Study, plots: Iterable[PlotSettings], *, refuse: bool = False
) -> dict[str, bytes]:
    """Return the requested pictures, by file name: ``<kind>-<dataset>-<metric>.<format>``.

    The same study gives the same bytes. A picture that the data do not allow, as of a single run,
    is left out with a warning; with `refuse` it is an error if no picture can be drawn.
    """
    check_installed()
    stems: list[str] = []
    files: list[dict[Format, bytes]] = []
    refused: list[InputError] = []
    # check every request before drawing the first
    drawings = [request for settings in plots for request in requests(study, settings)]
    for request in track(drawings, "picture", lambda request: request.settings.kind):
        kind, settings = find(request.settings.kind), request.settings
        parts = [*filter(None, (settings.kind, settings.over)), request.dataset]
        parts += kind.file_names(request.metrics)
        with styled(settings.style, study.base):
            try:
                figure = kind.draw(request)
            except InputError as error:
                refused.append(error)
                continue
            title = " ".join(parts)
            files.append({f: save(figure, f, title, study.trace) for f in settings.formats})
        stems.append("-".join(map(part, parts)))
    if refuse and refused and not files:
        raise InputError([*dict.fromkeys(p for error in refused for p in error.problems)])
    for reason in dict.fromkeys(map(str, refused)):  # one for several pictures is told once
        warn(f"not drawn: {reason}")
    named = zip(distinct(stems), files, strict=True)
    return {f"{stem}.{end}": content for stem, made in named for end, content in made.items()}


def best_of_many(values: Floats, metric: Metric) -> Bools:
    """Return a mask of the systems that a legend names: all up to `ROOM`, else the `BEST`."""
    mask = np.ones(len(values), dtype=bool)
    if len(values) > ROOM:
        worth = np.where(np.isnan(values), -np.inf, metric.sign * values)
        mask[np.argsort(-worth, kind="stable")[BEST:]] = False
    return mask


def best_of(n: int, most: int = ROWS) -> str:
    """Return the sentence on systems that are not drawn; nothing if all are.

    >>> best_of(143), best_of(30)
    ('\\nthe best 30 of 143 systems', '')
    """
    return f"\nthe best {most} of {n} systems" if n > most else ""


INCHES: dict[Width, float] = {"column": 3.3, "page": 7.0}
"""Widths of a column and of a page of a two-column paper."""
_POINTS: ContextVar[float] = ContextVar("points", default=POINTS)
"""Points of text while a picture is drawn."""
GREY, PALE = "#8c8c8c", "#d9d9d9"
COLOURS = ("#0F5BA8", "#A84D06", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Blue and orange of the report page, then Okabe and Ito's colours without their pale yellow."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (6, 1.5, 1, 1.5)), (0, (1, 1)))


_colours: ContextVar[Sequence[str]] = ContextVar("colours", default=COLOURS)
"""Colours while a picture is drawn: those of the style sheet, if it has any."""


class LineStyle(NamedTuple):
    """The colour and marker of a system, and its dashes as matplotlib takes them."""

    colour: str
    marker: str
    line: Any


def look(place: int) -> LineStyle:
    """Return the look of the system that has `place` among the runs of a study.

    Markers and dashes differ too, so that a print without colours can be read; no two of the first
    308 look the same.

    >>> look(0).colour == look(7).colour, look(0).marker == look(7).marker
    (True, False)
    """
    colours, dashes = _colours.get(), DASHES[place % len(DASHES)]
    return LineStyle(colours[place % len(colours)], MARKERS[place % len(MARKERS)], dashes)


def distinct_looks(places: Sequence[int]) -> list[LineStyle]:
    """Return the looks of some systems, without repeating a colour.

    >>> len({style.colour for style in distinct_looks([0, 7, 14, 2])})
    4
    """
    colours, shapes = len(_colours.get()), len(MARKERS)
    own = {place % colours: place for place in reversed(places)}
    used, result = {*own.values()}, []
    for place in places:
        if own[place % colours] != place:
            taken = {k % colours for k in used}, {k % shapes for k in used}
            choices = range(place, place + colours * shapes)
            free = [k for k in choices if k % colours not in taken[0]]
            place = next((k for k in free if k % shapes not in taken[1]), place)
            used.add(place)
        result.append(look(place))
    return result


def check_installed() -> None:
    """Raise HarnessError if matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise not_installed("plots", "matplotlib", "plots")


@contextmanager
def styled(style: Style = Style(), base: Path = Path()) -> Iterator[None]:
    """Draw in the harness's style and then the author's, regardless of any matplotlibrc.

    `base` is the folder of the style sheet. InputError for a sheet or font that is missing, or
    text that is too small to read in print.
    """
    import matplotlib
    from matplotlib.font_manager import FontProperties, findfont

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rc_file(Path(__file__).with_name("style.mplstyle"), use_default_template=False)
        settings: dict[str, Any] = cast(Any, matplotlib.rcParams)
        sheet = _sheet(base / style.sheet) if style.sheet else {}
        settings.update(sheet)
        settings["font.size"] = style.size or settings["font.size"]
        if style.font in FONTS:
            settings["font.family"] = FONTS[style.font]
        elif style.font:
            try:
                findfont(style.font, fallback_to_default=False)
            except ValueError:
                what, fix = f"no font '{style.font}' is installed", "choose serif or sans-serif"
                raise InputError(Problem("plots: style", what, fix=fix)) from None
            settings["font.family"] = [style.font, *FONTS["sans-serif"]]
        for key in ("font.size", *(key for key in sheet if key.endswith("size") and key in TEXTS)):
            if FontProperties(size=settings[key]).get_size_in_points() < SMALLEST:
                what = f"{key} is smaller than {SMALLEST} pt"
                raise InputError(Problem("plots: style", what, fix="choose 7 or more"))
        cycle = settings["axes.prop_cycle"].by_key()
        colours = cycle.get("color", COLOURS) if "axes.prop_cycle" in sheet else COLOURS
        tokens = _POINTS.set(settings["font.size"]), _colours.set(colours)
        try:
            yield
        finally:
            _POINTS.reset(tokens[0])
            _colours.reset(tokens[1])


FONTS = {"serif": ["STIXGeneral", "DejaVu Serif"], "sans-serif": ["DejaVu Sans"]}
"""Fonts that come with matplotlib, so that a picture is the same on every machine."""
TEXTS = ("axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize",
         "legend.fontsize", "figure.labelsize")  # fmt: skip
"""Sizes of text that a style sheet may set."""


def _sheet(path: Path) -> dict[str, Any]:
    """Return the settings of a style sheet; InputError if it cannot be used."""
    from matplotlib import rc_params_from_file

    try:
        sheet: dict[Any, Any] = dict(rc_params_from_file(path, use_default_template=False))
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError(Problem(str(path), what, fix="correct 'sheet:' of the style")) from None
    for key in ("text.usetex", "text.parse_math"):
        if sheet.get(key):
            what = f"{key} is not supported: a name may contain $ or _"
            raise InputError(Problem(str(path), what, fix="remove it, and use 'font: serif'"))
    return sheet


def lines(n: float) -> float:
    """Return the inches that `n` lines of text take.

    >>> lines(2)
    0.33
    """
    return 0.165 * n * _POINTS.get() / POINTS


def figure(width: Width, height: float) -> Figure:
    """Return an empty figure of that height in inches, outside pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    picture = Figure(figsize=(INCHES[width], height), layout="constrained")
    engine: Any = picture.get_layout_engine()
    engine.set(w_pad=0.02, h_pad=0.03)
    FigureCanvasAgg(picture)
    return picture


def characters(width: Width, share: float = 1.0) -> int:
    """Return about how many characters fit into a share of the width.

    >>> characters("column"), characters("page", 0.5)
    (48, 51)
    """
    return int(INCHES[width] * share * 14.7 * POINTS / _POINTS.get())


_PARTS = re.compile(r"[(\[]*[^ _+/.:,=()\[-]*(?:[ _+/.:,=)-]+|$|(?=[(\[]))")


def wrap_all(names: Sequence[str], width: int) -> list[str]:
    r"""Return names in lines of at most `width` characters, broken behind a sign if possible.

    Names that need more than about five lines are cut.

    >>> wrap_all(["bm25+rm3-tuned"], 10), wrap_all(["abcdefgh"], 5)
    (['bm25+rm3-\ntuned'], ['abcde\nfgh'])
    """
    wrapped = []
    for name in cut_all(names, max(5 * width - 12, 12)):
        rows = [""]
        for piece in _PARTS.findall(name):
            if len(rows[-1]) + len(piece.rstrip()) > width and rows[-1]:
                rows.append("")
            while len(rows[-1] + piece.rstrip()) > width:
                rows[-1], piece = piece[:width], piece[width:]
                rows.append("")
            rows[-1] += piece
        wrapped.append("\n".join(row.rstrip() for row in rows if row.strip()))
    return wrapped


def label_below(figure: Figure, text: str, width: Width) -> None:
    """Put text in the middle below the axes, in as many lines as it needs."""
    limit = characters(width)
    rows = (textwrap.fill(row, limit, break_on_hyphens=False) for row in text.splitlines())
    figure.supxlabel("\n".join(rows))


def label_rows(axes: Axes, labels: Sequence[str]) -> None:
    """Give an axis a labelled row for each system, in order from above."""
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_yticks(range(len(labels)), labels, linespacing=1)
    axes.tick_params(axis="y", length=0)


def rows_high(labels: Sequence[str], least: float = 1.15) -> float:
    """Return the inches of labelled rows, each as high as the tallest label and `least` lines."""
    tallest = max((label.count("\n") + 1 for label in labels), default=1)
    return len(labels) * lines(max(least, 0.85 * tallest + 0.35 if tallest > 1 else 0))


def legend_rows(labels: Sequence[str], width: Width) -> int:
    """Number of lines of a legend.

    >>> legend_rows(["bm25", "dense", "hybrid"], "column"), legend_rows([], "page")
    (1, 0)
    """
    texts = [row for label in labels for row in label.split("\n")]
    limit = characters(width) // (max(map(len, texts), default=0) + 7)
    tallest = max((label.count("\n") + 1 for label in labels), default=1)
    return -(-len(labels) // max(1, limit)) * tallest


def legend(figure: Figure, handles: Sequence[Artist], labels: Sequence[str], width: Width) -> None:
    """Put a legend below the axes, in as many columns as fit."""
    if labels:
        # matplotlib hides a label that begins with "_"
        texts = [f"\u2009{label}" if label.startswith("_") else label for label in labels]
        tallest = max(label.count("\n") + 1 for label in labels)
        ncols = -(-len(labels) * tallest // legend_rows(labels, width))
        pads = {"borderaxespad": 0.2, "handletextpad": 0.5}
        figure.legend(handles, texts, ncols=ncols, loc="outside lower center", **pads)


def save(figure: Figure, format: Format, title: str, trace: str) -> bytes:
    """Return a figure's bytes: the same for the same figure, with no date in them.

    `trace` is the SHA-256 of the manifest of its results.
    """
    source = f"manifest.json sha256:{trace}" if trace else "no manifest"
    maker = "ranking-harness"
    parts: dict[Format, dict[str, Any]] = {
        "svg": {"Creator": maker, "Date": None, "Source": source},
        "pdf": {"Creator": maker, "CreationDate": None, "Producer": None, "Subject": source},
        "png": {"Software": maker, "Source": source},
    }
    metadata = {"Title": legible(title), **parts[format]}
    buffer = io.BytesIO()
    dots = min(DOTS, TALLEST / figure.get_figheight())
    with warnings.catch_warnings(record=True) as caught:  # such as of a letter without a glyph
        warnings.simplefilter("always")
        figure.savefig(buffer, format=format, metadata=metadata, dpi=dots)
    if caught:
        warn(f"plots: {title}: {caught[0].message}")
    return buffer.getvalue()
