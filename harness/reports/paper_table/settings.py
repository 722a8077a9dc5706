"""The settings of a table, as the config's ``tables:`` has them, and their problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from ...core.arguments import Digits, Flag, Patterns, Positive, Shorthand, as_list
from ...core.metric import Metric
from ...core.names import metric_spellings, spelled
from ...errors import Problem, fix_of_name
from ..phrases import cutoffs_together, fixed, in_sentence, listed
from ..select import Found, matched, pattern_problems, setting_problems, value_for

Spread = Literal["none", "deviation", "error", "interval"]
Marks = Literal["letters", "daggers", "stars", "none"]
Best = Literal["column", "group", "none"]
Delta = Literal["none", "percent", "absolute"]
Extra = Literal["n", "tier", "rank", "coverage", "p"]
Width = Literal["column", "page"]
Details = Literal["note", "full", "short", "none"]
Cite = Literal["cite", "citep", "autocite"]
DocumentClass = Literal["acmart", "ieee", "llncs", "acl", "neurips", "article"]
Format = Literal["latex", "markdown", "plain-markdown", "html", "csv", "excel", "text"]
SUFFIXES = {
    "latex": ".tex", "markdown": ".md", "plain-markdown": ".plain.md", "html": ".html",
    "csv": ".csv", "excel": ".excel.csv", "text": ".txt",
}  # fmt: skip
ALL = ("*",)


def _sort_key_text(value: Any) -> Any:
    """Return ``trec: map``, which YAML reads as a mapping, as text."""
    if isinstance(value, dict) and len(value) == 1:
        ((dataset, metric),) = value.items()
        return f"{dataset}: {metric}" if isinstance(metric, str) else value
    return value


def _digits_by_metric(value: Any) -> Any:
    return {"*": value} if isinstance(value, int) and not isinstance(value, bool) else value


def _percent_patterns(value: Any) -> Any:
    return (ALL if value else ()) if isinstance(value, bool) else as_list(value)


def _text_alone(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


@dataclass(frozen=True)
class Caption:
    """A caption: the author's text, and where the sentences on data and tests go."""

    text: str = ""
    """The author's text; by default it names the metrics and datasets."""
    details: Details = "note"
    """`note` puts data, test, marks, treatment of ties and queries below the table, `full` into the
    caption; `short` is `full` without the treatment; `none` leaves them out."""


@dataclass(frozen=True)
class Name:
    """Name of a run, metric or dataset in a table, and its citation."""

    text: str = ""
    """Its name; the usual one if left out."""
    cite: str = ""
    """Key of its reference in LaTeX, or several keys with commas between them."""


def renamed(usual: Mapping[str, Name], own: Mapping[str, Name]) -> dict[str, Name]:
    """Return the usual names and a table's own, with the usual text or citation if it has none.

    >>> renamed({"bm25": Name("BM25")}, {"bm25": Name(cite="robertson1994")})
    {'bm25': Name(text='BM25', cite='robertson1994')}
    """
    names = dict(usual)
    for key, name in own.items():
        default = usual.get(key, Name())
        names[key] = Name(name.text or default.text, name.cite or default.cite)
    return names


SortKey = Annotated[str, Shorthand(_sort_key_text, str | dict[str, str])]
DigitsByMetric = Annotated[
    Mapping[str, Digits], Shorthand(_digits_by_metric, Digits | dict[str, Digits])
]
NameOrText = Annotated[Name, Shorthand(_text_alone, str | Name)]
Percent = Annotated[tuple[str, ...], Shorthand(_percent_patterns, Flag | str | tuple[str, ...])]


@dataclass(frozen=True)
class TableSettings:
    """One table of a paper.

    Names are chosen by lists of patterns: `[bm25, "lambda*", "!*random*", "*"]` takes them in that
    order, without those after an exclamation mark.
    """

    metrics: Patterns = ALL
    """Columns, in this order."""
    datasets: Patterns = ALL
    """Blocks of columns, in this order."""
    runs: Patterns = ALL
    """Rows, in this order."""
    groups: Mapping[str, Patterns] = field(default_factory=dict)
    """Rows in groups with a title, in place of `runs`."""
    names: Mapping[str, NameOrText] = field(default_factory=dict)
    """New names of runs, metrics and datasets in the table; `{text: BM25, cite: robertson1994}`
    adds a citation."""
    sort: SortKey | None = None
    """Rows of each group by this metric, best first; by one dataset's values as in `trec: map`."""
    top: Positive | None = None
    """The first rows of each group alone; without `sort`, the best by the first metric."""
    digits: DigitsByMetric = field(default_factory=dict)
    """Decimals of all metrics, or by metric ("*" for the others); by default 3, and 1 for values
    x 100."""
    percent: Percent = ()
    """Values x 100: true for all metrics of 0 to 1 or -1 to 1, or those of these names."""
    leading_zero: Flag = False
    """0.423 in place of .423."""
    spread: Spread = "none"
    """Next to each value: the deviation over repetitions (seeds), or the standard error or interval
    over queries."""
    delta: Delta = "none"
    """Next to each value: its change against the first baseline."""
    marks: Marks | None = None
    """Significance: a letter for each system that is beaten, a dagger for each baseline, or stars
    by level against one baseline. By default letters if all pairs are compared, daggers if there
    are baselines, none above 20 systems."""
    best: Best = "column"
    """The best value in bold and the second best underlined: of a column, of each group of rows, or
    none."""
    arrows: Flag = True
    """An arrow at each metric that points to better."""
    average: Flag = False
    """A further block: the mean over the datasets, of runs that have them all."""
    extras: tuple[Extra, ...] = ()
    """Further columns: queries of the mean, tier, rank with its interval, queries answered, and
    adjusted p-values against each baseline."""
    transpose: Flag = False
    """Metrics as rows and systems as columns; CSV keeps a row for each system. LaTeX transposes
    a table that has no room otherwise."""
    columns: Positive | None = None
    """Parts of a long table, side by side; by default 1, and in LaTeX 2 above 40 rows."""
    width: Width | None = None
    """LaTeX: `table`, or `table*` over both columns of the page; by default as needed."""
    document_class: DocumentClass = "acmart"
    """LaTeX: class with the column and page that the table must fit; a warning lists misfits."""
    cite: Cite = "cite"
    """LaTeX: the command of citations."""
    longtable: Flag = False
    """LaTeX: `longtable`, which breaks across pages; not in two columns."""
    caption: Annotated[Caption, Shorthand(_text_alone, str | Caption)] = Caption()
    """One sentence above the table; or `{text: ..., details: full}`."""
    caption_latex: str | None = None
    """LaTeX's own in place of `caption`, not escaped: for `\\cite{...}` and formulas."""
    label: str | None = None
    """LaTeX's label, with a hyphen for each sign that a label cannot have; by default `tab:` and
    the name of the table, or of the config."""
    formats: tuple[Format, ...] = ("latex", "markdown")
    """Files written by harness run."""

    def __post_init__(self) -> None:
        """Take the texts of a caption and of names alone."""
        if not isinstance(self.caption, Caption):
            object.__setattr__(self, "caption", Caption(self.caption or ""))
        pairs = self.names.items()
        names = {key: Name(name) if isinstance(name, str) else name for key, name in pairs}
        object.__setattr__(self, "names", names)

    @property
    def is_wide(self) -> bool | None:
        """Whether LaTeX sets it over both columns of the page; None if its width decides."""
        return None if self.width is None else self.width == "page"

    def is_percent(self, metric: Metric) -> bool:
        """Whether a metric's values are shown x 100: ``*`` takes those of 0 to 1 or -1 to 1."""
        low, high = metric.definition.bounds
        patterns = self.percent
        if low not in (0, -1) or high != 1:
            patterns = tuple(pattern for pattern in patterns if pattern != "*")
            if all(pattern.startswith("!") for pattern in patterns):
                return False
        name = str(metric)
        return bool(patterns) and name in matched(patterns, [name], metric_spellings([name]))

    def digits_of(self, metric: Metric) -> int:
        """Number of decimals of a metric's values."""
        return value_for(self.digits, str(metric), 1 if self.is_percent(metric) else 3)

    def number(self, metric: Metric, value: float) -> str:
        """Return a metric's value as the table shows it; a sum of whole numbers is whole."""
        if metric.definition.summary == "sum" and value.is_integer():
            return str(int(value))
        percent, zero = self.is_percent(metric), self.leading_zero
        return fixed(value, self.digits_of(metric), percent=percent, leading_zero=zero)

    def name(self, own: str) -> str:
        """Return a run's or dataset's name in the table."""
        return self.names.get(own, Name()).text or own

    def metric_name(self, metric: Metric, among: Sequence[Metric] = ()) -> str:
        """Return a metric's name in a table that also has the metrics `among`."""
        own = value_for(self.names, str(metric), Name(), patterns=False)
        return own.text or spelled(metric, among)

    def metric_in_sentence(self, metric: Metric, among: Sequence[Metric] = ()) -> str:
        """Return a metric's name as it is within a sentence, unless it was chosen."""
        name = self.metric_name(metric, among)
        return in_sentence(name) if name == spelled(metric, among) else name

    def metric_list(self, metrics: Sequence[Metric], among: Sequence[Metric]) -> str:
        """Return the names of metrics with which a sentence begins."""
        names = cutoffs_together(self.metric_in_sentence(metric, among) for metric in metrics)
        return self.metric_name(metrics[0], among)[0] + listed(names)[1:] if metrics else ""

    def citation(self, own: str) -> str:
        """Return the keys that the name of a run, dataset or metric cites."""
        return value_for(self.names, own, Name(), patterns=False).cite


DEFAULT = TableSettings()


def problems(
    settings: TableSettings,
    runs: Sequence[str] | None,
    datasets: Sequence[str] | None,
    metrics: Sequence[Metric] | None,
    compared: bool,
    baselines: Sequence[str] | None = None,
) -> Found:
    """Yield each problem with its place in the settings; None is not known yet, and not checked."""
    names = None if metrics is None else [str(metric) for metric in metrics]
    if names is not None:
        yield from _metric_problems(settings, names)
    yield from setting_problems(settings, runs, datasets)
    if runs is not None:
        yield from _group_problems(settings, runs)
    chosen = names and matched(settings.metrics, names, metric_spellings(names))
    for names_of_kind in (runs, datasets, chosen):
        yield from _duplicate_names(settings, names_of_kind or ())
    if names is not None and metrics is not None and datasets is not None and runs is not None:
        valid_keys = [*runs, *datasets, *names]
        for key in settings.names:
            if key not in valid_keys and not metric_spellings(names)(key):
                what = f"unknown run, dataset or metric '{key}'"
                yield ("names", key), Problem("", what, fix=fix_of_name(key, valid_keys))
            elif settings.names[key].cite and key in datasets and key not in runs:
                yield (
                    ("names", key),
                    Problem("", "a citation is for a run or a metric, got one for a dataset"),
                )
    sort = settings.sort
    if sort and datasets and names and len(sort_key(sort, datasets, names)[1]) != 1:
        fix = fix_of_name(sort.rpartition(": ")[2], names)
        yield ("sort",), Problem("", f"unknown metric '{sort}'", fix=fix)
    if not compared and settings.marks in ("letters", "daggers", "stars"):
        yield (
            ("marks",),
            Problem("", f"{settings.marks} mark significance, and no runs are compared"),
        )
    for place, extra in enumerate(settings.extras):
        if not compared and extra in ("tier", "rank", "p"):
            yield (
                ("extras", place),
                Problem("", f"{extra} comes from comparisons, and no runs are compared"),
            )
        elif extra == "p" and baselines == ():
            yield (
                ("extras", place),
                Problem("", "p is a column for each baseline, and there is none"),
            )
    if settings.delta != "none" and not baselines and baselines is not None:
        yield ("delta",), Problem("", "the change is against a baseline, and there is none")
    if compared and settings.marks == "stars" and baselines is not None and len(baselines) != 1:
        yield (
            ("marks",),
            Problem("", f"stars are against one baseline, got {len(baselines) or 'none'}"),
        )
    if settings.longtable and (settings.width == "page" or (settings.columns or 1) > 1):
        yield ("longtable",), Problem("", "longtable is for one column of the page, and of rows")


def comparison_fix(loc: tuple[str | int, ...], baselines: Sequence[str] | None) -> str:
    """Return the fix of a setting that needs comparisons; `baselines` are None without them."""
    if loc[:1] not in (("marks",), ("extras",), ("delta",)):
        return ""
    if baselines is None and loc[0] != "delta":
        return "add 'compare:' to the config"
    return "mark with daggers" if baselines else "name a baseline in 'compare:'"


def _metric_problems(settings: TableSettings, names: Sequence[str]) -> Found:
    spellings = metric_spellings(names)
    for key, patterns in (("metrics", settings.metrics), ("percent", settings.percent)):
        for place, problem in pattern_problems(patterns, names, "metric", spellings):
            yield (key, place), problem
    for pattern in settings.digits:
        for _, problem in pattern_problems([pattern], names, "metric", spellings):
            yield ("digits", pattern), problem


def _group_problems(settings: TableSettings, runs: Sequence[str]) -> Found:
    group_of: dict[str, str] = {}
    for title, patterns in settings.groups.items():
        for place, problem in pattern_problems(patterns, runs, "run"):
            yield ("groups", title, place), problem
        for place, name in enumerate(patterns):
            if name in runs and group_of.setdefault(name, title) != title:
                yield (
                    ("groups", title, place),
                    Problem("", f"run '{name}' is in group '{group_of[name]}' too"),
                )


def _duplicate_names(settings: TableSettings, known: Sequence[str]) -> Found:
    """Yield new names that another row, column, or block of columns has too."""
    owners: dict[str, str] = {}
    for name in known:
        label = value_for(settings.names, name, Name(), patterns=False).text or name
        owner = owners.setdefault(label, name)
        if owner != name:
            keys = [name, owner, *reversed([*settings.names])]
            called = {key: given.text or key for key, given in settings.names.items()}
            key = next(candidate for candidate in keys if called.get(candidate) == label)
            yield ("names", key), Problem("", f"{owner} and {name} are both called '{label}'")


def sort_key(
    text: str, datasets: Sequence[str], metrics: Sequence[str]
) -> tuple[str | None, list[str]]:
    """Return the dataset and the metrics that ``metric`` or ``dataset: metric`` names.

    The dataset is None if the text has only a metric; the list is empty if no metric has that name.
    """
    dataset, colon, metric = text.partition(": ")
    target = dataset if colon and dataset in datasets else None
    metric = text if target is None else metric
    return target, [metric] if metric in metrics else list(metric_spellings(metrics)(metric))
