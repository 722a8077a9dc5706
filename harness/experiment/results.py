"""Results of an experiment, just run or read back from their folder: data, which load no code."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from pydantic import ValidationError

from ..config.cells import Cell, resolve, run_entries
from ..config.load import load, loads
from ..config.model import Config, FusedEntry
from ..core.arguments import PathLike, wrong
from ..core.arrow import cast, take, to_floats
from ..core.cell_key import CellKey
from ..core.entries import Entry, Failed, System, natural
from ..core.evaluation import Evaluation
from ..core.fusion import Fusion
from ..core.leaderboard import Leaderboard
from ..core.metric import Metric
from ..core.pandas_frame import data_frame
from ..core.policy import Policy
from ..core.ragged import Floats
from ..core.selection import select
from ..core.systems import (
    chosen_of,
    failed_rows,
    failed_systems,
    of_systems,
    systems_of,
)
from ..errors import (
    SHOWN,
    Finding,
    HarnessError,
    InputError,
    Problem,
    UnknownNameError,
    check_known,
    did_you_mean,
    first_of,
    plus_more,
    said_by,
    warn,
)
from ..input_files import add_inputs, joined, name_of, real_path, url_of
from ..readers import remote
from ..readers.files import (
    check_own,
    compare_recorded,
    hashes_of,
    is_file,
    locked,
    read_file,
    sha256,
    write_all,
)
from ..readers.passages import TAKEN
from ..reports import comparisons as comparing
from ..reports.leaderboard import Study, render_leaderboard
from ..reports.phrases import listed
from ..reports.select import in_order
from ..stats.comparison import Comparisons, Plan
from .manifest import PER_QUERY, CellRecord, InputRecord, Manifest
from .plugin_metrics import from_plain_data

if TYPE_CHECKING:
    import pandas

    from ..metrics.rank_similarity import Similarity


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Results(Study):
    """Results of a config: leaderboard, comparisons, findings and the folder of the files.

    `print` shows the leaderboard and the comparisons. A notebook shows the report page, or the
    first rows of both if the page is large.

    Parameters
    ----------
    comparisons : Comparisons, optional
        None if the config compares nothing.
    manifest : Manifest
        The content of ``manifest.json``: config, versions, inputs, counts.
    config : Config
        The resolved config; paths start at the folder ``base``.
    folder : Path
        Folder of the files.
    files : mapping of str to bytes
        Files that the run wrote, by name; empty for results that were read from a folder.
    findings : tuple of Finding
        Findings of the guard, with notes; paths are those of the manifest.
    shown : tuple of Finding
        Warnings of the run; paths are those that it opened.
    errors : tuple of str
        Failures with their reasons; cells with the same reason share an entry.
    cached : int
        Number of cells with all values in the cache.
    summarised : Leaderboard, optional
        The `leaderboard`, if it was computed before.
    """

    config: Config
    folder: Path
    manifest: Manifest
    files: Mapping[str, bytes] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    shown: tuple[Finding, ...] = ()
    errors: tuple[str, ...] = ()
    cached: int = 0
    summarised: Leaderboard | None = None

    @property
    def name(self) -> str:
        """See the base class."""
        return self.config.name

    @property
    def names(self) -> Mapping[str, str]:
        """See the base class."""
        return self.config.titles

    @property
    def citations(self) -> Mapping[str, str]:
        """See the base class."""
        return {key: name.cite for key, name in self.config.names.items() if name.cite}

    @property
    def sort(self) -> str | None:
        """See the base class."""
        return self.config.sort

    @property
    def readings(self) -> tuple[str, ...]:
        """See the base class."""
        by_score: dict[str, list[str]] = defaultdict(list)
        entries = run_entries(self.config.runs)
        runs = [(name, getattr(entry, "documents", None)) for name, _, entry in entries]
        for name, documents in runs:
            if documents is not None:
                by_score[TAKEN[documents.take]].append(self.names.get(name, name))
        several = len({taken for _, taken in runs}) > 1
        return tuple(
            f"A document{f' of {listed(dict.fromkeys(names))}' if several else ''} has the {score}."
            for score, names in by_score.items()
        )

    @property
    def fusions(self) -> Mapping[str, tuple[tuple[str, ...], Sequence[Fusion]]]:
        """See the base class."""
        entries = [(n, e) for n, _, e in run_entries(self.config.runs) if isinstance(e, FusedEntry)]
        return {n: (e.fuse, [fusion for _, fusion in e.fusions()]) for n, e in entries}

    @property
    def baselines(self) -> tuple[str, ...] | None:
        """See the base class."""
        plan = self.config.compare if self.comparisons is None else self.comparisons.plan
        return None if plan is None else plan.baselines

    @property
    def base(self) -> Path:
        """See the base class."""
        return self.config.base

    @cached_property
    def metadata(self) -> Mapping[str, Mapping[str, str]]:
        """See the base class."""
        from .page_data import metadata_of  # which loads SciPy

        return metadata_of(self.config)

    def with_metrics(self, names: Sequence[str]) -> Study:
        """See the base class; reads the runs again, and leaves the leaderboard unchanged."""
        from .run import evaluate_again

        return self.board.memo(f"with {names}", lambda: evaluate_again(self, names))

    def similarity(self, systems: Sequence[System]) -> Similarity:
        """See the base class."""
        from .rankings import similarity_of

        return similarity_of(self.config, systems)

    @property
    def versions(self) -> Mapping[str, str | None]:
        """See the base class."""
        return self.manifest.versions

    @property
    def recomputed(self) -> tuple[int, float]:
        """See the base class."""
        checks = [cell.crosscheck for cell in self.manifest.cells]
        largest = max((check.largest_difference for check in checks), default=0.0)
        return sum(check.values for check in checks), largest

    @property
    def is_sampled(self) -> bool:
        """See the base class."""
        cells = self.manifest.cells
        queries = sum(cell.crosscheck.queries for cell in cells)
        return queries < sum(cell.counts.queries for cell in cells)

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """The leaderboard: a row for each system (with a summary in the config) or each cell."""
        if self.summarised is not None:
            return self.summarised
        board = self.board.sliced() if self.board.groups else self.board
        if self.board.summary:
            from ..stats.intervals import clustered  # which loads SciPy

            plan = self.config.compare or Plan()
            board = of_systems(self.board, partial(clustered, plan=plan))
        return in_order(board, self.config.sort) if len(board.entries) > 1 else board

    @property
    def rows(self) -> list[dict[str, str | int | float]]:
        """Rows of ``leaderboard.csv``: names, columns, counts, and a value for each metric."""
        return self.leaderboard.rows()

    def __str__(self) -> str:
        text = render_leaderboard(self.leaderboard, "table")
        if self.comparisons is not None:
            text += "\n" + render_comparisons(self.comparisons, "table")
        return text

    def __repr__(self) -> str:
        return f"<Results: {len(self.leaderboard.entries)} entries in {name_of(self.folder)}>"

    def _repr_html_(self) -> str:
        from .page_data import widget  # which loads SciPy

        if frame := widget(self):
            return frame
        text = self.leaderboard._repr_html_()
        return text + (render_comparisons(self.comparisons, "html") if self.comparisons else "")

    def to_pandas(self) -> pandas.DataFrame:
        """Return the leaderboard as a data frame, a row for each run (needs pandas)."""
        return data_frame(self.rows)

    def to_frame(self) -> pandas.DataFrame:
        """Return the rows of ``per_query.parquet`` as a tidy data frame (needs pandas).

        Each value has a row with dataset, run, captured columns, qid, metric and value.
        """
        return self.cells.to_frame()

    def to_flat_dict(self) -> dict[str, float]:
        """Return ``{"dataset/run/metric": value}``, for an experiment tracker.

        Captured columns come before the metric: ``"mq2007/gbrt/seed=1/ndcg@10"``.
        """
        return {
            "/".join(
                (entry.dataset, entry.run, *map("=".join, entry.columns.items()), metric)
            ): value
            for entry in self.leaderboard.entries
            for metric, value in entry.summary.items()
        }


def compared(
    systems: Sequence[System], plan: Plan, failed: Sequence[tuple[str, str]] = ()
) -> Comparisons:
    """Return the comparisons of systems; `failed` are dataset and run of those without values."""
    from ..stats.compare import compare as compare_systems  # which loads SciPy

    comparisons = compare_systems(systems, plan, os.cpu_count() or 1)
    lost = tuple(system.incomplete for system in systems if system.incomplete is not None)
    return replace(comparisons, lost=lost, failed=tuple(failed), chosen=chosen_of(systems))


def run_named(results: Results, name: str) -> str:
    """Return the run with a name, or with one that the config's `names` show for it."""
    shown = {results.names.get(run, run): run for run in results.runs}
    return name if name in results.runs else shown.get(name, name)


def with_comparisons(results: Results, plan: Plan | None = None) -> Results:
    """Return results with comparisons by a plan, or their config's; without either, with none.

    If failed runs leave nothing to compare by the config's, that is a warning.
    """
    board, asked, comparisons = results.board, plan or results.config.compare, None
    if asked is not None:
        baselines = tuple(run_named(results, name) for name in asked.baselines)
        asked = replace(asked, baselines=baselines)
        try:
            comparisons = compared(systems_of(board), asked, failed_systems(board))
        except HarnessError as error:
            if plan is not None or not failed_rows(board):
                raise
            message = f"some runs failed, and the others cannot be compared: {error}"
            warn(message)
    return replace(results, comparisons=comparisons)


def render_comparisons(comparisons: Comparisons, format: str, **options: Any) -> str:
    """Return the comparisons with the smallest p in the format of a report; "" if it has none."""
    if format not in ("table", "markdown", "html"):
        return ""
    format = "text" if format == "table" else format
    return comparing.render(comparisons, format, most=comparing.SHOWN, **options)


MANIFEST, TIMING, PAGE = "manifest.json", "timing.json", "page.html"
LEADERBOARD, CELLS = "leaderboard.csv", "leaderboard_cells.csv"
PLOTS = "plots"
"""Folder of the pictures."""
RENDERED = ("tables", PLOTS)
"""Folders of the tables and pictures."""
C = TypeVar("C", Cell, Entry)
RULE = "damaged-results"
"""Rule of errors about files of a results folder that do not belong together."""
_FIX = "put the file back, or run the config again and use those results"


def misfit(path: Path, what: str) -> InputError:
    """Return the error of a file of results that does not fit its manifest, or is damaged."""
    return InputError(Problem(name_of(path), what, fix=_FIX, rule=RULE))


def read_bytes(path: Path) -> bytes:
    """Return a file of a folder of results; InputError if it is missing or no regular file."""
    try:
        if path.exists() and not path.is_file():
            raise misfit(path, "expected a regular file")
        return read_file(path)
    except (FileNotFoundError, NotADirectoryError):
        folder, fix = path.parent, "give a folder that 'harness run CONFIG' wrote"
        if url := url_of(path):
            message = remote.missing(url).problems[0].what
        elif folder.is_file():
            message = "expected a folder of results, got a file"
            if folder.suffix in (".yaml", ".yml"):
                message, fix = "expected a folder of results, got a config", results_of(folder)
        elif folder.exists():
            inner = sorted(name_of(inside.parent) for inside in folder.glob(f"*/{path.name}"))
            fix = f"name one of: {first_of(inner)}" if inner else fix
            message = f"expected a folder of results, got one without {path.name}"
        else:
            near = [
                sibling.name for sibling in folder.absolute().parent.glob("*") if sibling.is_dir()
            ]
            message = f"no such folder{did_you_mean(folder.name, sorted(near))}"
        raise InputError(Problem(name_of(folder), message, fix=fix)) from None
    except OSError as error:
        raise misfit(path, f"cannot be read: {error.strerror}") from error


def results_of(path: Path) -> str:
    """Return the fix that leads to the results of a config."""
    fix = f"run harness run {shlex.quote(name_of(path))}, then give "
    try:
        output = load(path).output_folder
    except HarnessError:
        return f"{fix}the folder that its 'output:' names"
    name = shlex.quote(os.path.relpath(output))
    return f"give {name}" if is_file(output / MANIFEST) else fix + name


def read_manifest(folder: Path, content: bytes | None = None) -> Manifest:
    """Return the manifest of a folder of results; InputError without one of this format."""
    path = folder / MANIFEST
    content = read_bytes(path) if content is None else content
    try:
        manifest = Manifest.model_validate_json(content)
    except ValidationError as error:
        raise schema_error(path, error) from None
    if not manifest.cells:
        raise misfit(path, "$.cells: expected a cell, got none")
    return manifest


def schema_error(path: Path, error: ValidationError, below: str = "$") -> InputError:
    """Return the error of a manifest with missing values or values of another type."""
    problems = []
    for mistake in error.errors():
        where = f"{path}: {'.'.join([below, *map(str, mistake['loc'])])}"
        problems.append(Problem(where, mistake["msg"].lower(), fix=_FIX, rule=RULE))
    return InputError(problems[:SHOWN], total=len(problems))


def folder_of(results: PathLike | Results) -> Path:
    """Return the folder of results; ArgumentError if it is neither a path nor results."""
    if isinstance(results, Results):
        return results.folder
    if not isinstance(results, (str, os.PathLike)):
        raise wrong("results", "a folder or what harness.run returned", results)
    return Path(results)


def read_results(folder: Path) -> Results:
    """Read the results that ``harness run`` wrote into a folder; every command that does uses this.

    No plugin is loaded: the manifest records what reports need of its metrics. Nothing is
    compared yet; see `with_comparisons`. InputError if a file is missing, or the values are
    not those written with the manifest.
    """
    content = read_bytes(folder / MANIFEST)
    manifest = read_manifest(folder, content)
    config, metrics = _config(manifest, folder / MANIFEST)
    config._base = _base_of(folder, manifest)
    path = folder / PER_QUERY
    values = read_bytes(path)
    if hashes_of({PER_QUERY: values})[PER_QUERY] != manifest.outputs.get(PER_QUERY):
        message = (
            f"the file differs from the hash in {MANIFEST}: it was edited, or a run was stopped"
        )
        raise InputError(Problem(str(path), message, fix="run the config again", rule=RULE))
    evaluations = _read_values(path, values, manifest.cells, metrics, config.policy.for_runs())
    entries = tuple(
        Entry(evaluation, cell.columns, cell.pattern, warned=cell.warned)
        for evaluation, cell in zip(evaluations, manifest.cells, strict=True)
    )
    lost = tuple(Failed(**dict(cell)) for cell in manifest.failed)
    board = Leaderboard(entries, lost, config.summary)
    if config.select is not None:
        board = select(board, config.select)
    trace = hashlib.sha256(content).hexdigest()
    root = root_of(folder, manifest)
    add_inputs(folder / MANIFEST, path, *(joined(root, record.path) for record in manifest.inputs))
    add_inputs(*config.files())
    return Results(board, None, trace, config=config, folder=folder, manifest=manifest)


def _config(manifest: Manifest, path: Path) -> tuple[Config, tuple[Metric, ...]]:
    """Return the config and its metrics, those of plugins as the manifest records them."""
    try:
        config = Config.model_validate(manifest.config)
        recorded = {
            entry: [*map(from_plain_data, metrics)]
            for entry, metrics in manifest.plugin_metrics.items()
        }
        return config, config.parsed_metrics(recorded)
    except ValidationError as error:
        raise schema_error(path, error, "$.config") from None
    except (UnknownNameError, KeyError, TypeError, ValueError) as error:
        message = f"$.config.metrics and $.plugin_metrics: {said_by(error)}"
        raise misfit(path, message) from None


def _read_values(
    path: Path,
    content: bytes,
    cells: Sequence[CellRecord],
    metrics: tuple[Metric, ...],
    policy: Policy,
) -> list[Evaluation]:
    """Return the values of each cell; InputError if the file does not have them."""
    counts, n_metrics = [cell.counts for cell in cells], len(metrics)
    n_rows = sum(one.queries for one in counts) * n_metrics
    try:
        # without threads: one that is not done when an error ends the process would abort it
        file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=["dataset", "run", "qid"])
        if file.metadata.num_rows != n_rows:
            raise misfit(path, f"expected {n_rows:,} rows, got {file.metadata.num_rows:,}")
        table = file.read(use_threads=False)
        captured = {name for cell in cells for name in cell.columns}
        texts = {"dataset", "run", "qid", "metric", "value", "weight", *captured}
        grouping = [name for name in table.column_names if name not in texts]
        evaluations, start = [], 0
        for cell, counted in zip(cells, counts, strict=True):
            n = counted.queries
            part = table.slice(start, n * n_metrics)
            if part.num_rows and any(
                part[k][0].as_py() != getattr(cell, k) for k in ("dataset", "run")
            ):
                raise misfit(path, f"expected values of {cell.run} on {cell.dataset}")
            qids = take(part["qid"].combine_chunks(), np.arange(n) * n_metrics)
            values, weights = (
                to_floats(part[name]).reshape(n, n_metrics) if name in part.column_names else None
                for name in ("value", "weight")
            )
            if values is None:
                raise misfit(path, "expected a column 'value', got none")
            groups = {
                name: cast(take(part[name].combine_chunks(), np.arange(n) * n_metrics), pa.string())
                for name in grouping
            }
            evaluation = Evaluation(
                values,
                cast(qids, pa.string()),
                metrics,
                policy,
                counted,
                _weights(weights),
                cell.run,
                cell.dataset,
                unanswered=cell.unanswered,
                weighted_by=cell.weighted_by,
                groups={name: one for name, one in groups.items() if one.null_count < n},
            )
            evaluations.append(evaluation)
            start += n * n_metrics
        return evaluations
    except MemoryError:  # Arrow's own is also a ValueError
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise misfit(path, f"expected Parquet, got: {said_by(error)}") from error


def _weights(weights: Floats | None) -> dict[int, Floats]:
    """Return the weights of each metric of a cell with weights."""
    if weights is None or not len(weights):
        return {}
    return {at: column for at, column in enumerate(weights.T) if not np.isnan(column).all()}


def written(folder: Path) -> tuple[dict[str, str], list[str]]:
    """Return the SHA-256 of each file as an earlier command wrote it, and the names of other files.

    ``timing.json`` is the first file that a run writes, and has the hashes of all that it writes
    and replaces: so the next run knows them even if this one is killed.
    """
    recorded: defaultdict[str, set[str]] = defaultdict(set)
    if not (timing := timing_of(folder)):
        return {}, []
    recorded[TIMING].add(sha256(folder / TIMING))
    for name, digest in (*timing["files"].items(), *timing["earlier"].items()):
        recorded[name].add(digest)
    return compare_recorded(folder, recorded)


def add_files(folder: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    """Write pictures or pages into a folder of results, whose next run knows that they are ours."""
    with locked(folder, RENDERED):  # a run that writes its own pictures holds it too
        earlier = written(folder)[0]
        check_own(folder, files, earlier, force=force)
        content = timing_of(folder) or {"began": None, "seconds": None, "files": {}}
        content["earlier"] = {**earlier, **hashes_of(files)}
        timing = (json.dumps(content, indent=1) + "\n").encode()
        write_all(folder, {TIMING: timing, **files})


def timing_of(folder: Path) -> dict[str, Any]:
    """Return the content of ``timing.json``; empty if it is not from the harness."""
    if not is_file(folder / TIMING):
        return {}
    with contextlib.suppress(HarnessError, ValueError, RecursionError):
        content = json.loads(read_bytes(folder / TIMING))
        if isinstance(content, dict) and "seconds" in content:
            hashes = content.get("files"), content.get("earlier")
            if all(
                isinstance(part, dict) and all(isinstance(digest, str) for digest in part.values())
                for part in hashes
            ):
                return content
    return {}


def root_of(folder: Path, manifest: Manifest) -> Path:
    """Return the folder that paths of inputs start from: the config's."""
    return _base_of(folder, manifest).resolve()


def _base_of(folder: Path, manifest: Manifest) -> Path:
    return Path(manifest.base) if url_of(folder) else folder / manifest.base


def with_inputs(manifest: Manifest, base: Path | None) -> Manifest:
    """Return a manifest with paths from another folder, if one is given."""
    if base is None:
        return manifest
    if not base.is_dir():
        fix = "give the config's own folder"
        raise InputError(Problem(str(base), "expected a folder, got none", fix=fix))
    return manifest.model_copy(update={"base": str(base.absolute())})


def config_and_cells(
    folder: Path,
    manifest: Manifest,
    overrides: Iterable[str] = (),
    *,
    failed: bool = False,
    load_plugins: bool = False,
) -> tuple[Config, list[Cell]]:
    """Return the config that made the results, and the cells evaluated then.

    Files that came since make no difference. `failed` adds those that could not be evaluated.
    InputError if none of the inputs is at its place, seen from the folder: it was moved alone.
    """
    root, path = root_of(folder, manifest), folder / MANIFEST
    inputs = [joined(root, record.path) for record in manifest.inputs]
    if not any(map(is_file, inputs)):
        message = f"expected the inputs of these results, got no file at {name_of(inputs[0])}"
        fix = "add --inputs FOLDER, the folder that their config is in, or move the results back"
        raise InputError(Problem(str(path), message, fix=fix))
    text = yaml.safe_dump(manifest.config, allow_unicode=True, sort_keys=False)
    base = _base_of(folder, manifest)
    keys = {cell.key for cell in (*manifest.cells, *(manifest.failed if failed else ()))}
    recorded = partial(_is_recorded, keys, {*map(real_path, inputs)})
    config = loads(
        text, str(path), base, overrides, load_plugins=load_plugins, is_recorded=recorded
    )
    return config, resolve(config)


def _is_recorded(keys: Collection[CellKey], files: set[str], cell: Cell) -> bool:
    """Whether results have a cell, of the files that it has now."""
    return cell.key in keys and files.issuperset(map(real_path, cell.run_files))


def refuse_plugins(folder: Path, manifest: Manifest, fix: str) -> None:
    """Raise InputError with this `fix` if only plugins can compute the metrics."""
    names = manifest.config.get("plugins")
    if names:
        got = ", ".join(map(str, names)) if isinstance(names, list) else str(names)
        message = "expected results without plugins, got plugins that would be run: "
        raise InputError(Problem(str(folder / MANIFEST), message + got, fix=fix))


class ChangedInput(NamedTuple):
    """An input that has changed since the results were computed."""

    record: InputRecord
    """Record of the input in the manifest."""
    path: Path
    now: str
    """Its SHA-256; empty if it is gone or cannot be read."""

    @property
    def what(self) -> str:
        """State of the input in words: changed, missing or unreadable."""
        if self.now:
            then = f"sha256 {self.record.sha256[:12]}... then, {self.now[:12]}... now"
            return f"has changed since the results were computed: {then}"
        state = "cannot be read" if is_file(self.path) else "is gone"
        return f"{state}; the results were computed from it"


def changed_inputs(
    folder: Path,
    manifest: Manifest,
    only: Iterable[str] | None = None,
    hashed: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[ChangedInput]:
    """Yield the inputs that are gone or changed; `only` are the paths to look at, None for all.

    `hashed` has the SHA-256 of files that were read, by path.
    """
    root = root_of(folder, manifest)
    digests = {real_path(path): digest for path, digest in hashed.items()}
    paths = None if only is None else {*map(real_path, only)}
    for record in manifest.inputs:
        path = joined(root, record.path)
        path = path if url_of(path) else Path(os.path.normpath(path))
        if paths is None or real_path(path) in paths:
            now = ""
            with contextlib.suppress(OSError):
                if is_file(path):
                    now = digests.get(real_path(path)) or sha256(path)
            if now != record.sha256:
                yield ChangedInput(record, path, now)


def check_inputs(folder: Path, manifest: Manifest, only: Iterable[str] | None = None) -> None:
    """Raise InputError with every input that is gone or has changed; see `changed_inputs`."""
    changed = changed_inputs(folder, manifest, only)
    if problems := [
        Problem(name_of(changed_input.path), changed_input.what, fix=_FIX)
        for changed_input in changed
    ]:
        raise InputError(problems)


def one_cell(
    cells: Sequence[C],
    run: str,
    dataset: str | None = None,
    columns: Mapping[str, str] = MappingProxyType({}),
) -> C:
    """Return the one cell of some names; UnknownNameError if none fits, or several do.

    `columns` such as the seed are needed if the names alone fit several cells.
    """
    candidates: list[C] = list(cells)
    for what, name in (("run", run), ("dataset", dataset)):
        names = dict.fromkeys(getattr(cell, what) for cell in candidates)
        if name is not None:
            check_known(what, name, names, what)
        candidates = [cell for cell in candidates if name in (None, getattr(cell, what))]
    check_columns([cell.columns for cell in candidates], columns)
    fitting: list[C] = [cell for cell in candidates if columns.items() <= cell.columns.items()]
    if len(fitting) == 1:
        return fitting[0]
    keys = [cell.key for cell in fitting or candidates]
    what = f"expected one cell, got {len(fitting)}: {'; '.join(map(str, keys[:4]))}"
    what += plus_more(len(keys) - 4)
    words = ["--dataset", keys[0].dataset]
    words += [word for pair in keys[0].columns for word in ("--where", "=".join(pair))]
    fix = f"choose one, such as {shlex.join(words)} (in Python dataset= and where=)"
    raise UnknownNameError(what, fix=fix)


def check_columns(seen: Sequence[Mapping[str, str]], wanted: Mapping[str, str]) -> None:
    """Raise UnknownNameError if no cell has a wanted column, or none its value."""
    names = dict.fromkeys(name for columns in seen for name in columns)
    for name, value in wanted.items() if seen else ():
        values = sorted({columns[name] for columns in seen if name in columns}, key=natural)
        for what, one, known in (("column", name, names), (name, value, values)):
            check_known(what, one, known, "where")
