"""The settings models of a config."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    model_validator,
)

from ..core import policy as core_policy
from ..core.arguments import Level, PathText, Shorthand
from ..core.fusion import Fusion, Method, Norm, weights_text
from ..core.leaderboard import Select, Summary
from ..core.metric import Metric
from ..core.names import BOUNDS, parse, parse_all, with_bounds, without_bounds
from ..core.rules import ACCEPTABLE
from ..errors import SITE, HarnessError, Problem, UnknownNameError
from ..input_files import joined, real_path
from ..readers.passages import Passages, Take, settings_of
from ..reports.leaderboard import REPORTS
from ..reports.page import PageSettings
from ..reports.paper_table.settings import NameOrText, TableSettings
from ..reports.plots.plot import KindName, PlotSettings
from ..stats.comparison import Plan
from ..stats.gate import GateSettings
from .yaml_file import PATH_KEYS, Loc, ParsedYaml, escape_paths


class Model(BaseModel):
    """Frozen; unknown keys are errors; each key's text below it is its description."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=lambda name: "baseline" if name == "baselines" else name,
    )


SCHEMA = f"{SITE}config.schema.json"
"""Address of the JSON Schema of a config, for editors."""


def as_kind(value: Any) -> Any:
    """Return a picture's settings from its kind alone."""
    return {"kind": value} if isinstance(value, str) else value


Plots = tuple[Annotated[PlotSettings, Shorthand(as_kind, KindName | PlotSettings)], ...]


if TYPE_CHECKING:
    Report = str
    RuleName = str
else:
    RuleName = Literal[ACCEPTABLE]
    _REPORTS = (*REPORTS, "page")
    Report = Literal[_REPORTS]
Crosscheck = Literal["sample", "all", "none"]
Column = StrictStr | Annotated[StrictInt, Field(ge=1)]
"""Name of a column, or its number from 1."""


_PATTERN = PathText(placeholders=True, anywhere=True)
_OfRuns = Annotated[tuple[float, ...], Field(min_length=1)]


def _or_text(kind: Any) -> Shorthand:
    """Let the schema take text alone; the reader of the YAML makes an entry or a list of it."""
    return Shorthand(lambda value: value, StrictStr | kind)


class FileSettings(Model):
    """Settings of datasets and runs: a file and options of its reader."""

    path: Annotated[StrictStr, _PATTERN]
    """File, relative to the config, or a URL; each {placeholder} is filled from the files there."""
    format: StrictStr | None = None
    """Name of the format; by default the one that the file looks like."""

    def options(self) -> dict[str, Any]:
        """Return the reader's options that are set."""
        others = {"path", "dataset", "groups", "weights", "leaks"}
        return self.model_dump(exclude=others, exclude_none=True, by_alias=True)


class Groups(Model):
    """Groups of a dataset's queries; each is reported as a separate dataset."""

    path: Annotated[StrictStr, _PATTERN]
    """CSV, TSV or Parquet file of qids and columns, relative to the config, or a URL."""
    qid: StrictStr = "qid"
    """The column of qids."""
    columns: tuple[StrictStr, ...] = ()
    """The columns to group by; all of the file's if left out."""
    bins: Mapping[StrictStr, Annotated[tuple[float, ...], Field(min_length=1)]] = Field(
        default_factory=dict
    )
    """Edges that cut columns of numbers, as in {length: [5, 10]}; a bin includes its lower edge."""

    @model_validator(mode="after")
    def _checked(self) -> Groups:
        for name, edges in self.bins.items():
            if list(edges) != sorted({*edges}):
                raise ValueError(f"bins of {name}: expected numbers from low to high")
        return self


class Weights(Model):
    """Weights of a dataset's queries, such as their traffic."""

    path: Annotated[StrictStr, _PATTERN]
    """CSV, TSV or Parquet file of qids and weights, relative to the config, or a URL."""
    qid: StrictStr = "qid"
    """The column of qids."""
    column: StrictStr | None = None
    """The column of weights; the one that has numbers if left out."""


class Leaks(Model):
    """Data that the rows of a dataset must not be in."""

    train: Annotated[StrictStr, _PATTERN]
    """The training file, relative to the config; rows are compared by their features."""


class DatasetEntry(FileSettings):
    """Judgements: qrels, or a learning-to-rank file."""

    duplicates: core_policy.QrelsDuplicates = "error"
    """What to do if a query has a docno twice."""
    columns: Mapping[Literal["qid", "docno", "grade"], Column] | None = None
    """For tables: which column holds what, as in {qid: topic, docno: document}."""
    group: Annotated[StrictStr | None, _PATTERN] = None
    """LightGBM's file of group sizes, if the features have no qid."""
    groups: Annotated[Groups | None, _or_text(Groups)] = None
    """Groups of queries, which are reported as further datasets: a file, or {path: FILE, ...}."""
    weights: Annotated[Weights | None, _or_text(Weights)] = None
    """Weights of queries in every mean, such as their traffic: a file, or {path: FILE, ...}."""
    leaks: Leaks | None = None
    """Training file that must not contain rows of the dataset: {train: FILE}."""


class Documents(Model):
    """Conversion of passages to documents."""

    pattern: StrictStr = Field(alias="from")
    """Pattern of the passages' docnos; its only group is the document: (.+)#\\d+$ for D1#0."""
    take: Take = "max"
    """The score of a document, of its passages': max, sum, mean, or first, of the lowest number."""

    @model_validator(mode="after")
    def _checked(self) -> Documents:
        try:
            Passages.of({"from": self.pattern, "take": self.take})
        except HarnessError as error:
            raise ValueError(error.problems[0].what) from None
        return self


_or_pattern = Shorthand(
    lambda value: settings_of(value) if isinstance(value, str) else value, StrictStr | Documents
)


class RunEntry(FileSettings):
    """Predictions of a system."""

    duplicates: core_policy.RunDuplicates = "error"
    """What to do if a query has a docno twice; best keeps the highest score."""
    order: core_policy.ScoreOrder = "descending"
    """Whether the highest or the lowest score is best; ascending for distances and losses."""
    documents: Annotated[Documents | None, _or_pattern] = None
    """Makes documents of passages: a pattern, or {from: PATTERN, take: max, first, sum or mean}."""
    columns: Mapping[Literal["qid", "docno", "score", "rank", "grade", "row"], Column] | None = None
    """For tables: which column holds what, as in {qid: topic, docno: document}."""
    dataset: StrictStr | None = None
    """Name of the dataset they belong to, if placeholders do not tell it."""


class FusedEntry(Model):
    """A run that is fused from other runs of the config."""

    fuse: tuple[StrictStr, ...]
    """Names of runs, fused on each dataset; those of one seed, if several have seeds."""
    method: Method = "rrf"
    """How: rrf, combsum, combmnz, combanz, combmax, isr, borda, or wsum, which needs weights."""
    k: Annotated[StrictInt, Field(ge=0)] | None = None
    """The constant of rrf; 60 by default."""
    weights: _OfRuns | Annotated[tuple[_OfRuns, ...], Field(min_length=1)] | None = None
    """A number for each run, 1 by default; a list of such lists makes a run of each, with a
    column `weights`."""
    norm: Norm | None = None
    """Normalisation of scores, not for methods of ranks; min-max by default."""
    depth: Annotated[StrictInt, Field(ge=1)] | None = None
    """Number of documents of each query and run that are fused; all by default."""

    @model_validator(mode="after")
    def _checked(self) -> FusedEntry:
        try:
            for _, fusion in self.fusions():
                fusion.check_number(len(self.fuse))
        except HarnessError as error:
            problem = error.problems[0]
            raise ValueError(": ".join(filter(None, (problem.where, problem.what)))) from None
        return self

    def fusions(self) -> list[tuple[dict[str, str], Fusion]]:
        """Return the fusion of each setting, with its columns: those of a list of weights."""
        weights: Any = self.weights
        is_grid = weights is not None and isinstance(weights[0], tuple)
        return [
            (
                {"weights": weights_text(some)} if is_grid else {},
                Fusion(self.method, self.k, some, self.norm, self.depth),
            )
            for some in (weights if is_grid else [weights])
        ]


def _known_ties(name: str) -> str:
    try:
        return name if name == BOUNDS else core_policy.check_ties(name)
    except UnknownNameError as error:
        raise ValueError(str(replace(error.problems[0], where=""))) from None


@dataclass(frozen=True)
class PolicySettings(core_policy.Choices):
    """Policies for ties, missing and empty queries, and grades."""

    ties: Annotated[str, AfterValidator(_known_ties)] = "trec_eval"
    """Order of documents with one score: trec_eval, trec_eval10, docno+, stable, reverse, average,
    best, worst or random(SEED); or bounds: trec_eval, with columns for the smallest, expected and
    largest value of each metric over all orders."""
    relevance_level: Level = 1
    """Smallest relevant grade, for the metrics that have one and do not name it."""
    labels: Literal["error", "clip"] = "error"
    """Grades outside a convention's bounds: an error, or put at the nearer bound."""

    @lru_cache  # noqa: B019 - a config has few of them, and each cell asks
    def for_runs(self) -> core_policy.Policy:
        """Return the policy that alignment and evaluation take."""
        names = [choice.name for choice in fields(core_policy.Choices)]
        choices = {name: getattr(self, name) for name in names}
        return core_policy.Policy(**{**choices, "ties": without_bounds(self.ties)})

    def metric_defaults(self, convention: str | None) -> dict[str, Any]:
        """Return the parameters for every metric that has them and is not given them."""
        defaults: dict[str, Any] = {}
        if self.relevance_level != 1:
            defaults["rel"] = self.relevance_level
        if self.labels != "error":
            defaults["labels"] = self.labels
        return defaults if convention is None else {**defaults, "convention": convention}


class Guard(Model):
    """Rules that the guard accepts; see docs/reference/rules.md."""

    accept: tuple[RuleName, ...] = ()
    """Rules with intended findings: these become notes, and stop nothing."""


def _kind_of_runs(value: Any) -> str:
    if isinstance(value, FusedEntry) or (isinstance(value, Mapping) and "fuse" in value):
        return "fused"
    return "list" if isinstance(value, (list, tuple)) else "one"


Runs = Annotated[
    Annotated[RunEntry, _or_text(RunEntry), Tag("one")]
    | Annotated[FusedEntry, Tag("fused")]
    | Annotated[
        tuple[Annotated[RunEntry, _or_text(RunEntry)], ...], Field(min_length=1), Tag("list")
    ],
    Discriminator(_kind_of_runs),
]


def as_texts(value: Any) -> tuple[Any, ...]:
    """Return one value, or a list, as the texts that placeholders capture: 1 is "1"."""
    values = value if isinstance(value, (list, tuple)) else (value,)
    return tuple(str(item) if type(item) in (int, float) else item for item in values)


_Names = Annotated[tuple[StrictStr, ...], Field(min_length=1)]
_Value = str | float
_Values = Annotated[tuple[_Value, ...], Field(min_length=1)]
Choice = Annotated[_Names, Shorthand(as_texts, _Value | _Values)]
"""Values and patterns, one or several, with ``!`` before those that are left out."""


SECTIONS: dict[str, type] = {
    "summary": Summary,
    "select": Select,
    "compare": Plan,
    "tables": TableSettings,
    "plots": PlotSettings,
    "policy": PolicySettings,
    "guard": Guard,
    "page": PageSettings,
    "gate": GateSettings,
}
"""Models of the keys of a config with keys below them."""


class Config(Model):
    """An experiment: datasets, runs, metrics, and the choices in force.

    Made by `harness.config.load.load`. Paths are as the file has them, relative to
    `base`; `harness.config.cells.resolve` gives those of the files on disk.
    """

    name: StrictStr
    """Name of the experiment; by default the file's name."""
    extends: Annotated[StrictStr | None, PathText(), Field(exclude=True)] = None
    """Another config that this one is put on top of; of mappings, key by key."""
    output: Annotated[StrictStr, PathText(anywhere=True)] = "results/{name}"
    """Folder for the results, relative to the config, or a URL."""
    datasets: Annotated[
        Mapping[StrictStr, Annotated[DatasetEntry, _or_text(DatasetEntry)]], Field(min_length=1)
    ]
    """Judgements by name: a file, or {path: FILE, ...}; a name may have its {placeholders}."""
    runs: Annotated[Mapping[StrictStr, Runs], Field(min_length=1)]
    """Predictions by name: a file, {path: FILE, ...}, or other runs, {fuse: [bm25, dense], ...}; a
    name may have its {placeholders}."""
    where: Mapping[StrictStr, Choice] = Field(default_factory=dict)
    """Cells that are kept, by the values of placeholders and by the names `run` and `dataset`:
    values, patterns, and "!" before those left out. A cell without such a column is kept."""
    complete: StrictBool = False
    """Whether missing cells of a grid are an error."""
    metrics: Annotated[_Names, _or_text(_Names)]
    """Metrics in any spelling, such as map, ndcg@10, "rbo(p=0.9,reference=bm25)"."""
    convention: StrictStr | None = None
    """Compute every metric as this tool does, unless its name has a convention."""
    plugins: tuple[Annotated[StrictStr, PathText(module=True)], ...] = ()
    """Python files or modules that register metrics and tests."""
    policy: PolicySettings = PolicySettings()
    """Policies for ties, missing and empty queries, and grades."""
    guard: Guard = Guard()
    """Findings of the guard that you accept."""
    crosscheck: Crosscheck = "sample"
    """Queries of each run that pytrec_eval recomputes; a difference stops the run."""
    cache: Annotated[StrictStr, PathText(anywhere=True)] = ""
    """Folder for evaluated cells, relative to the config or a URL, for several to share; by default
    `cells` in the output folder, `none` to keep nothing."""
    reports: tuple[Report, ...] = ("csv",)
    """Renderings of the leaderboard; CSV is always written."""
    sort: StrictStr | None = None
    """Metric that sorts the rows of the leaderboard, best first; by default the first one with a
    direction. `none` keeps the order of the config."""
    names: Mapping[StrictStr, NameOrText] = Field(default_factory=dict)
    """New names of runs, datasets and metrics in tables, plots, the page and methods; `{text: BM25,
    cite: robertson1994}` adds a citation in tables."""
    summary: Summary = Summary()
    """Summary over folds and seeds; by default there is none."""
    select: Select | None = None
    """Selection of the best setting of each run on validation queries."""
    compare: Plan | None = None
    """Comparisons of runs; by default there are none."""
    tables: Mapping[StrictStr, TableSettings] = Field(default_factory=dict)
    """Tables for a paper by name."""
    plots: Plots = ()
    """Pictures (needs the extra `plots`)."""

    gate: GateSettings | None = None
    """Rules of `harness gate`: how far other runs may fall below a baseline."""
    page: PageSettings = PageSettings()
    """The report page, if `reports` names it; `harness page` writes it too."""

    @model_validator(mode="after")
    def _name_summary(self) -> Config:
        vars(self)["summary"] = self.summary.called(self.name)
        return self

    _source: ParsedYaml = PrivateAttr(default_factory=lambda: ParsedYaml("config", {}))
    _base: Path = PrivateAttr(default=Path())
    _path: Path | None = PrivateAttr(default=None)
    """The file from which it was loaded, absolute; None for a config of results."""
    _complete: bool = PrivateAttr(default=True)
    """Whether no dataset and no run was left out because it is wrong."""
    _is_recorded: Callable[[Any], bool] | None = PrivateAttr(default=None)
    """Whether a cell is one of the results that the config came with; None without results."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Config):
            return NotImplemented
        return (self.base, self.resolved()) == (other.base, other.resolved())

    @property
    def pooled(self) -> tuple[str, ...]:
        """Columns with parts that must not share queries, because these are pooled."""
        return (*self.summary.pool, *(self.summary.average if self.compare is not None else ()))

    @property
    def file(self) -> str:
        """Name of the file, for messages."""
        return self._source.where

    @property
    def base(self) -> Path:
        """Folder that the config's paths start from: its own."""
        return self._base

    @property
    def titles(self) -> dict[str, str]:
        """Names of runs, datasets and metrics without their citations."""
        return {key: name.text for key, name in self.names.items() if name.text}

    def files(self) -> list[Path]:
        """Return its own files and those that it names: plugins, groups, training files, texts."""
        page = self.page
        entries = self.datasets.values()
        tables = [(entry.groups, entry.weights) for entry in entries]
        of_queries = [table.path for pair in tables for table in pair if table]
        of_queries += [entry.leaks.train for entry in entries if entry.leaks]
        metadata = page.metadata.path if page.metadata else None
        bases = {file for file, _ in self._source.places.values() if file[:2] != "--"}
        names = [
            self._path,
            *bases,
            *self.plugins,
            *of_queries,
            metadata,
            page.documents,
            page.queries,
            *(plot.style.sheet for plot in self.plots),
        ]
        return [joined(self._base, name) for name in names if name]

    @property
    def output_folder(self) -> Path:
        """Folder for the results, to be used from here."""
        folder = joined(self._base, self.output)
        if ".." not in folder.parts:
            return folder
        short = Path(os.path.normpath(folder))  # results/x for configs/../results/x
        return short if real_path(short) == real_path(folder) else folder

    @property
    def cache_folder(self) -> Path | None:
        """Folder for evaluated cells, to be used from here; None if nothing is kept."""
        if self.cache == "none":
            return None
        return joined(self._base, self.cache) if self.cache else self.output_folder / "cells"

    def is_given(self, section: str, key: str) -> bool:
        """Whether the file itself has a key of a section."""
        settings = self._source.data.get(section)
        return isinstance(settings, Mapping) and key in settings

    def from_anywhere(self) -> Config:
        """Return the same config with paths that are valid from any working directory."""
        config = self.model_copy()
        config._base = self._base.absolute()
        return config

    def problem(self, loc: Loc, message: str, found: str = "", fix: str = "") -> Problem:
        """Return a problem at a place in the file, such as ``("runs", "bm25", "path")``."""
        return self._source.problem(loc, message, found, fix)

    def parsed_metrics(
        self, recorded: Mapping[str, Sequence[Metric]] | None = None
    ) -> tuple[Metric, ...]:
        """Return the metrics, each once, in order; `recorded` ones are not looked up by name."""
        sets = recorded or {}
        entries = [name for text in self.metrics for name in sets.get(text, (text,))]
        metrics = parse_all(entries, self.policy.metric_defaults(self.convention))
        return (
            with_bounds(metrics, self.policy.for_runs()) if self.policy.ties == BOUNDS else metrics
        )

    def plugin_metrics(self) -> dict[str, list[Metric]]:
        """Return the metrics that plugins define, by their entry in `metrics`."""
        defaults = self.policy.metric_defaults(self.convention)
        parsed = {text: parse(text, defaults) for text in self.metrics}
        return {
            text: metrics
            for text, metrics in parsed.items()
            if not all(metric.definition.is_built_in for metric in metrics)
        }

    def resolved(self) -> dict[str, Any]:
        """Return the config as plain data, with defaults; loading that gives it again."""
        settings = self.model_dump(mode="json", exclude_none=True, by_alias=True)
        return dict(escape_paths(settings))


def _path_keys(hint: Any, loc: Loc = ()) -> Iterator[tuple[Loc, PathText]]:
    """Yield the marked keys of a type, without the names of entries and the indexes of lists."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        for name, field in hint.model_fields.items():
            marks = [mark for mark in field.metadata if isinstance(mark, PathText)]
            yield from (((*loc, name), mark) for mark in marks)
            yield from _path_keys(field.annotation, (*loc, name))
    elif isinstance(hint, type) and is_dataclass(hint):
        for name, inner in get_type_hints(hint, include_extras=True).items():
            yield from _path_keys(inner, (*loc, name))
    elif get_origin(hint) is Annotated:
        yield from ((loc, mark) for mark in hint.__metadata__ if isinstance(mark, PathText))
        yield from _path_keys(hint.__origin__, loc)
    else:
        for inner in get_args(hint):
            yield from _path_keys(inner, loc)


PATH_KEYS.update(_path_keys(Config))
