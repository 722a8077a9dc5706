"""The commands check, table, plot, explain and why as functions whose results show themselves."""

from __future__ import annotations

import os
import warnings
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from .. import files as store
from .. import readers
from ..audit import explain as explaining
from ..audit import why as tracing
from ..audit.explain_space import levels_of, read, spaces_of
from ..core.arguments import (
    MAPPING,
    TEXT,
    Kind,
    check_arguments,
    check_choice,
    describe,
    whole_from,
    wrong,
)
from ..core.policy import Duplicates
from ..core.study import Study
from ..core.tables import Run
from ..errors import (
    ArgumentError,
    ConfigError,
    HarnessWarning,
    InputError,
    Problem,
    did_you_mean,
)
from ..experiment import folder as results_folder
from ..experiment.outcome import Results
from ..guard import check as guard
from ..readers import in_memory
from ..reports.paper_table.model import PaperTable
from ..reports.paper_table.rendering import records, render, too_wide
from ..reports.paper_table.settings import Format
from ..reports.paper_table.settings import Settings as TableSettings
from ..reports.plots.plot import Settings as PlotSettings
from ..reports.plots.plot import find
from . import plot as plotting
from . import table as tabling
from .options import changed_plan

if TYPE_CHECKING:
    import pandas

__all__ = ["Plots", "Table", "check", "explain", "plot", "table", "why"]

PathLike = str | os.PathLike[str]
S = TypeVar("S")
_PATHS = (str, os.PathLike)
_PATH = Kind("a path", lambda given: isinstance(given, _PATHS))
_NAMES = Kind(
    "a name or a list of names",
    lambda given: isinstance(given, (list, tuple)) and all(isinstance(one, str) for one in given),
)
_FILES = Kind(
    "a path or a list of paths",
    lambda given: (
        isinstance(given, _PATHS)
        or (isinstance(given, (list, tuple)) and all(isinstance(one, _PATHS) for one in given))
    ),
)
_CUTOFFS = Kind(
    "a whole number from 1, or a list of them",
    lambda given: all(
        map(whole_from(1).fits, given if isinstance(given, (list, tuple)) else [given])
    ),
)
_TYPES = {"svg": "image/svg+xml", "png": "image/png"}


@dataclass(frozen=True, repr=False)
class Table:
    """A table for a paper; `print` shows it as text, a notebook as HTML."""

    paper: PaperTable
    settings: TableSettings
    study: Study

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row per system with every digit of its values, as ``--format csv`` has them."""
        return records(self.paper)

    def to_pandas(self) -> pandas.DataFrame:
        """Return `rows` as a data frame (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.rows)

    def render(self, format: Format = "latex", *, standalone: bool = False) -> str:
        """Return the table as ``latex``, ``markdown``, ``html``, ``csv`` or ``text``.

        `standalone` makes LaTeX a whole document.
        """
        kind = _checked(TypeAdapter(Format), format, "format")
        if kind == "latex" and not standalone and (wide := too_wide(self.paper, self.settings)):
            warnings.warn(wide, HarnessWarning, stacklevel=2)
        return render(self.paper, kind, self.settings, standalone=standalone)

    def methods(self, format: Literal["text", "latex"] = "text") -> str:
        """Return the methods paragraph of the table."""
        check_choice("format", format, ("text", "latex"))
        kind: Format = "latex" if format == "latex" else "text"
        return tabling.methods_of(self.paper, self.settings, self.study, kind, True, False)

    def bibtex(self) -> str:
        """Return the references that `methods` cites."""
        return tabling.methods_of(self.paper, self.settings, self.study, "latex", False, True)

    def __repr__(self) -> str:
        return f"<Table '{self.paper.name}': {len(self.rows)} rows>"

    def __str__(self) -> str:
        return render(self.paper, "text", self.settings).rstrip("\n")

    def _repr_html_(self) -> str:
        return render(self.paper, "html", self.settings)


@dataclass(frozen=True, repr=False)
class Plots:
    """Pictures by file name; a notebook shows them, on white in dark mode too."""

    files: Mapping[str, bytes]

    def save(self, folder: PathLike) -> list[Path]:
        """Write the pictures into a folder, and return their paths."""
        check_arguments(locals(), folder=_PATH)
        store.check_writable(Path(folder))
        store.write_all(Path(folder), self.files, alone=False)
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


def check(
    first: PathLike,
    runs: PathLike | Sequence[PathLike] = (),
    *,
    overrides: Sequence[str] = (),
    qrels_format: str | None = None,
    run_format: str | None = None,
    group: str | None = None,
    duplicates: Duplicates = "error",
) -> guard.Checked:
    """Find what would make numbers wrong, as ``harness check`` does.

    Parameters
    ----------
    first : path
        A config; or qrels or a LETOR file, with `runs`.
    runs : path or sequence of paths
        Run files, or predictions.
    overrides : sequence of str
        ``"policy.ties=stable"``: values put in place of the config's.
    qrels_format, run_format, group, duplicates
        How files are read, as the command's options.

    Returns
    -------
    Checked
        Its ``findings`` have ``severity``, ``rule``, ``place``, ``what``, ``effect`` and ``fix``;
        ``count("error")`` and ``to_pandas()`` sum them up.
    """
    check_arguments(locals(), first=_PATH, runs=_FILES, group=_PATH.or_none())
    for place, format in (("qrels_format", qrels_format), ("run_format", run_format)):
        if format is not None:
            check_choice(place, format, readers.FORMATS)
    check_choice("duplicates", duplicates, get_args(Duplicates))
    paths = [os.fspath(one) for one in ([runs] if isinstance(runs, _PATHS) else runs)]
    if paths:
        of_qrels = {"format": qrels_format, "group": group, "duplicates": duplicates}
        of_runs = {"format": run_format, "duplicates": duplicates}
        return guard.check_files(os.fspath(first), paths, of_qrels=of_qrels, of_runs=of_runs)
    try:
        return guard.check_config(Path(first), _names(overrides, "overrides"))
    except (ConfigError, InputError) as error:
        return guard.refused_config(os.fspath(first), error)


def table(
    results: PathLike | Results,
    name: str | None = None,
    *,
    baseline: str | Sequence[str] = (),
    test: str | None = None,
    correction: str | None = None,
    **settings: Any,
) -> Table:
    """Return the table for the paper, as ``harness table`` prints it.

    Parameters
    ----------
    results : path or Results
        A folder that ``harness run`` wrote, or what :func:`harness.run` returned.
    name : str, optional
        A table of the config; the first one if left out.
    baseline, test, correction
        Compare again with these.
    **settings
        Keys of a config's ``tables:``, such as ``metrics=["map"]``, ``sort="map"``, ``digits=2``,
        ``names={"bm25": "BM25"}``, ``spread="deviation"``.

    Raises
    ------
    ArgumentError, UnknownNameError
        If a setting, run, metric or dataset does not exist.
    """
    check_arguments(locals(), name=TEXT.or_none(), test=TEXT.or_none(), correction=TEXT.or_none())
    made = _settings(TableSettings, settings)
    changes = {key: getattr(made, key) for key in settings}
    if "runs" in changes:
        changes.setdefault("groups", {})
    plan = changed_plan(_names(baseline, "baseline"), test, correction)
    return Table(*tabling.table_of(_read(results), name, changes, plan))


def plot(
    results: PathLike | Results,
    kinds: str | Sequence[str],
    *,
    metrics: str | Sequence[str] = (),
    datasets: str | Sequence[str] = "*",
    runs: str | Sequence[str] = "*",
    baseline: str | None = None,
    names: Mapping[str, str] | None = None,
    width: Literal["column", "page"] = "column",
    formats: str | Sequence[str] = "svg",
) -> Plots:
    """Draw results, as ``harness plot`` does; needs matplotlib.

    Parameters
    ----------
    results : path or Results
        A folder that ``harness run`` wrote, or what :func:`harness.run` returned.
    kinds : str or sequence of str
        ``differences``, ``cutoffs``, ``distribution``, ``critical-difference``, ``effects``,
        ``scatter``, ``heatmap``.
    metrics, datasets, runs : str or sequence of str
        Names or patterns.
    baseline : str, optional
        For differences and effects; the config's if left out.
    names : mapping, optional
        What runs and metrics are called.
    width : {"column", "page"}
        3.3 inches, or 7.
    formats : {"svg", "png", "pdf"} or several of them
    """
    given = {key: value for key, value in locals().items() if key not in ("results", "kinds")}
    some = _names(kinds, "kinds")
    if not some:
        raise wrong("kinds", "at least one kind of picture", kinds)
    for one in some:
        find(one)
    settings = _settings(PlotSettings, {**given, "kind": some[0], "names": names or {}})
    return Plots(plotting.pictures(_read(results), some, settings))


def explain(
    value: str | float,
    qrels: Any = None,
    run: Any = None,
    metrics: str | Sequence[str] = (),
    *,
    k: int | Sequence[int] = (),
    depth: int | None = None,
    results: PathLike | Results | None = None,
    dataset: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> explaining.Search:
    """Find the tool's settings that give a published value, as ``harness explain`` does.

    Parameters
    ----------
    value : str or float
        As it was printed: ``"0.4730"``, ``".473"``, ``"47.3%"``. A text keeps its last zeros.
    qrels, run : see :func:`harness.evaluate`
        With `results`, `run` is the name of a run.
    metrics : str or sequence of str
        What the value may be, such as ``"ndcg"``; all metrics of a convention if left out.
    k : int or sequence of int
        The cutoff, if you know it.
    depth : int, optional
        How many settings of a convention are changed at most: 2; 1 without `metrics`.
    results : path or Results, optional
        Results with a cell to explain.
    dataset, where
        The cell's dataset, and its columns: ``{"seed": 1}``.

    Returns
    -------
    Search
        ``explanations``, ``rows`` and ``to_pandas()`` have what fits, the simplest first.
    """
    asked = read(value if isinstance(value, str) else repr(value))
    check_arguments(locals(), k=_CUTOFFS, depth=whole_from(0).or_none())
    some, cutoffs = _names(metrics, "metrics"), [k] if isinstance(k, int) else list(k)
    spaces_of(some, cutoffs or None)  # reports wrong names before any file is read
    if results is not None:
        check_arguments(locals(), run=TEXT)
        judged, scores, subject = explaining.from_results(
            _folder(results), run, dataset, _columns(where)
        )
    else:
        judged, given = in_memory.as_pair(qrels, run, fractions=True)
        if isinstance(given, Run):
            scores, subject = given, given.name
        else:
            scores, subject = readers.read_run(given, dataset=judged), Path(given).name
    spaces = spaces_of(some, cutoffs or None, levels_of(judged))
    most = depth if depth is not None else explaining.DEPTH if some else 1
    found = explaining.explain(asked, judged, scores, spaces, most)
    found.subject = subject
    return found


def why(
    results: PathLike | Results,
    run: str,
    metric: str,
    *,
    query: str | None = None,
    dataset: str | None = None,
    where: Mapping[str, Any] | None = None,
    inputs: PathLike | None = None,
) -> tracing.Account:
    """Show where one number of a leaderboard comes from, as ``harness why`` does.

    Parameters
    ----------
    results : path or Results
        A folder that ``harness run`` wrote, or what :func:`harness.run` returned.
    run, metric : str
        As in the leaderboard; the metric in any spelling.
    query : str, optional
        A qid, whose ranking is shown.
    dataset, where
        The dataset if there are several, and columns: ``{"seed": 1}``.
    inputs : path, optional
        Where the config's paths start from, if that or the results were moved.

    Returns
    -------
    Account
        ``value``, ``inputs``, and ``is_confirmed``: whether the files still give the value.
    """
    check_arguments(locals(), run=TEXT, metric=TEXT, query=TEXT.or_none(), dataset=TEXT.or_none())
    check_arguments(locals(), inputs=_PATH.or_none())
    base = None if inputs is None else Path(inputs)
    return tracing.why(
        _folder(results), run, metric, dataset=dataset, where=_columns(where), query=query,
        inputs=base,
    )  # fmt: skip


def _folder(results: PathLike | Results) -> Path:
    if isinstance(results, Results):
        return results.folder
    if not isinstance(results, _PATHS):
        raise wrong("results", "a folder or what harness.run returned", results)
    return Path(results)


def _read(results: PathLike | Results) -> Results:
    return results if isinstance(results, Results) else results_folder.read(_folder(results))


def _names(given: str | Sequence[str], name: str) -> tuple[str, ...]:
    some = (given,) if isinstance(given, str) else given
    check_arguments({name: some}, **{name: _NAMES})
    return tuple(some)


def _columns(where: Mapping[str, Any] | None) -> list[str]:
    """Return ``{"seed": 1}`` as the command has it: ``["seed=1"]``."""
    check_arguments(locals(), where=MAPPING.or_none())
    return [f"{name}={value}" for name, value in (where or {}).items()]


def _settings(kind: type[S], given: Mapping[str, Any]) -> S:
    """Return settings of a table or plot from arguments; ArgumentError if one is wrong."""
    known = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            what = f"unknown argument{did_you_mean(name, known)}  (known: {', '.join(known)})"
            raise ArgumentError(Problem(name, what))
    return _checked(TypeAdapter(kind), dict(given), "")


def _checked(kind: TypeAdapter[S], given: Any, place: str) -> S:
    try:
        return kind.validate_python(given)
    except ValidationError as error:
        found = {
            place or str(one["loc"][0]): f"{one['msg']}, got {describe(one['input'])}"
            for one in error.errors()
        }
    raise ArgumentError(
        [Problem(name, what.replace("Input should be", "expected")) for name, what in found.items()]
    )
