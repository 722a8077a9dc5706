"""A folder of results, read back."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from ..config.model import Config
from ..config.patterns import Pattern
from ..core.arrow import call, cast, take, to_arrow, to_floats, to_numpy
from ..core.comparison import Comparisons, Plan
from ..core.evaluation import Counts, Evaluation
from ..core.leaderboard import NOT_COMPARED, Failed, Leaderboard, Summarised, numbers_of
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.ragged import Floats, Ints
from ..core.recorded_metric import from_plain_data
from ..core.study import Study
from ..core.systems import chosen_of, failed_systems, incomplete, of_systems, systems_of
from ..errors import (
    HarnessError,
    InputError,
    Problem,
    UnknownNameError,
    said_by,
    shorten,
)
from ..files import check_room, sha256
from ..reports.csv import in_csv
from . import origin as origin
from .origin import MANIFEST

LEADERBOARD, CELLS, PER_QUERY = "leaderboard.csv", "leaderboard_cells.csv", "per_query.parquet"
_AGAIN = "run the config again, which writes them together"
_ROW = 80
"""Bytes that a row of values takes at most while it is read: its codes and numbers."""
_NONE = to_arrow(np.array([-1]))[0]  # pa.scalar loads pandas


@dataclass(frozen=True, eq=False)
class Results:
    """What a folder holds.

    Parameters
    ----------
    folder : Path
    config : Config
        As it was resolved then; :attr:`~harness.config.load.Config.base` is its folder.
    study : Study
        Evaluations as they were computed. Nothing is compared yet; see
        :func:`with_comparisons`.
    """

    folder: Path
    config: Config
    study: Study


def read(folder: Path, *, but: Collection[str] = ()) -> Results:
    """Read the results that ``harness run`` wrote into a folder; every command that does uses this.

    Results are data. No plugin is loaded: the manifest records what reports need of its metrics.

    Parameters
    ----------
    folder : Path
    but : Collection[str], optional
        Files that may differ from those that were written, as the caller compares them itself.

    Raises
    ------
    InputError
        If a file is missing, is no regular file, is not the one that was written with the others
        (also one that is not read here: ``significance.csv``), or does not fit the manifest.
    """
    content = origin.read_bytes(folder / MANIFEST)
    manifest = origin.read_manifest(folder, content)
    config, metrics = _config(manifest, folder / MANIFEST)
    config._base = folder / manifest["base"]
    cells = CELLS if config.summary else LEADERBOARD
    written = {name: origin.read_bytes(folder / name) for name in (cells, PER_QUERY)}
    if other := list(_not_as_written(folder, manifest, written, but)):
        what = f"is not the file that {MANIFEST} was written with: edited, or a run was stopped"
        raise InputError(
            [Problem(str(folder / name), what, fix=_AGAIN, rule=origin.RULE) for name in other]
        )
    names = [str(metric) for metric in numbers_of(metrics)]
    rows = read_rows(
        folder / cells, written[cells], [*manifest["cells"], *manifest.get("failed", ())]
    )
    summaries = [row.numbers(names) for row in rows[: len(manifest["cells"])]]
    evaluations = _read_values(
        folder / PER_QUERY, written[PER_QUERY], manifest["cells"], metrics, config.to_policy()
    )
    entries = tuple(
        Summarised(
            evaluation, cell.get("columns", {}), cell.get("pattern", ""),
            summaries={**dict.fromkeys(map(str, metrics), math.nan), **row},
        )
        for evaluation, cell, row in zip(evaluations, manifest["cells"], summaries, strict=True)
    )  # fmt: skip
    failed = tuple(_failed(manifest, config))
    board = Leaderboard(entries, failed, config.summary)
    trace = hashlib.sha256(content).hexdigest()
    return Results(folder, config, Study(board, None, manifest, trace))


def _not_as_written(
    folder: Path, manifest: Mapping[str, Any], read: Mapping[str, bytes], but: Collection[str]
) -> Iterator[str]:
    """Yield the files whose hash is not the manifest's: of those read, and of all that are there.

    What no one reads here is what a reader of the folder sees, and must say the same.
    """
    outputs = manifest.get("outputs")
    if outputs is None and manifest["manifest"] == 1:
        return
    expected = outputs or {}
    for name, data in read.items():
        if expected.get(name) != hashlib.sha256(data).hexdigest():
            yield name
    for name in sorted(expected.keys() - read.keys() - set(but)):
        path = folder / name
        if Path(name).name == name and path.is_file() and sha256(path) != expected[name]:
            yield name


def _config(manifest: Mapping[str, Any], path: Path) -> tuple[Config, tuple[Metric, ...]]:
    """Return the config and its metrics, those of plugins as the manifest records them."""
    try:
        config = Config.model_validate(manifest["config"])
        recorded = {
            entry: [*map(from_plain_data, some)]
            for entry, some in manifest.get("plugin_metrics", {}).items()
        }
        metrics = config.parsed_metrics(recorded)
    except ValidationError as error:
        raise origin.schema_error(path, error, "$.config") from None
    except UnknownNameError as error:
        problems = [
            replace(one, where=f"{path}: $.config.metrics", fix=_AGAIN, rule=origin.RULE)
            for one in error.problems
        ]
        raise InputError(problems) from None
    return config, metrics


def _failed(manifest: Mapping[str, Any], config: Config) -> Iterator[Failed]:
    """Yield the cells that failed, each with the dataset's name as the config has it."""
    for one in manifest.get("failed", ()):
        columns = one.get("columns", {})
        patterns = [pattern for pattern in map(Pattern, config.datasets) if pattern.names]
        fitting = (pattern for pattern in patterns if {*pattern.names} <= columns.keys())
        named = {pattern.fill(columns): pattern.text for pattern in fitting}
        pattern = named.get(one["dataset"], "")
        yield Failed(one["dataset"], one["run"], columns, one["error"], pattern)


@dataclass(frozen=True)
class CsvRow:
    """One row of a leaderboard in CSV, and the line that it ends on."""

    path: Path
    line: int
    fields: Mapping[str, str]

    def numbers(self, columns: Iterable[str]) -> dict[str, float]:
        """Return the numbers in some columns; NaN if a field is empty.

        Raises
        ------
        InputError
            If a column is missing or holds no number.
        """
        found = {}
        for name in columns:
            if name not in self.fields:
                raise origin.misfit(self.path, f"expected a column '{name}', got none")
            text = self.fields[name]
            try:
                found[name] = float(text or "nan")
            except ValueError:
                what = f"expected a number in column '{name}', got '{shorten(text)}'"
                raise origin.misfit(self.path, what, self.line) from None
        return found


def read_rows(path: Path, content: bytes, expected: Sequence[Mapping[str, Any]]) -> list[CsvRow]:
    """Read a leaderboard that ``harness run`` wrote as CSV.

    Parameters
    ----------
    path : Path
        Its name, for messages.
    content : bytes
    expected : sequence of mapping
        The ``dataset`` and ``run`` of each row, in order.

    Raises
    ------
    InputError
        If it is no CSV, or its rows are other ones.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise origin.misfit(path, f"expected UTF-8, got byte {error.object[error.start]}") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: list[CsvRow] = []
    try:
        header = next(reader, [])
        if len({*header}) < len(header) or not {"dataset", "run"} <= {*header}:
            what = "expected a header with 'dataset', 'run' and no name twice, got "
            raise origin.misfit(path, f"{what}'{shorten(','.join(header))}'", 1)
        for row in reader:
            if len(row) != len(header):
                what = f"expected {len(header)} fields, got {len(row)}"
                raise origin.misfit(path, what, reader.line_num)
            found.append(CsvRow(path, reader.line_num, dict(zip(header, row, strict=True))))
    except csv.Error as error:
        raise origin.misfit(path, f"expected CSV, got: {error}", reader.line_num) from None
    if len(found) != len(expected):
        raise origin.misfit(path, f"expected {len(expected)} rows, got {len(found)}")
    for one, cell in zip(found, expected, strict=True):
        for name in ("dataset", "run"):
            if one.fields[name] not in (cell[name], in_csv(cell[name])):
                what = f"expected {name} '{cell[name]}', got '{one.fields[name]}'"
                raise origin.misfit(path, what, one.line)
    return found


def systems(board: Leaderboard, config: Config) -> Leaderboard:
    """Return the leaderboard with a row a system; as it is where the config has no summary."""
    if not board.summary:
        return board
    from ..stats.intervals import clustered  # which loads SciPy

    plan = Plan() if config.compare is None else config.compare
    return of_systems(board, partial(clustered, plan=plan))


def compare(board: Leaderboard, config: Config, plan: Plan | None = None) -> Comparisons | None:
    """Return the comparisons of a leaderboard, as its config plans them; None where it does not.

    Parameters
    ----------
    board : Leaderboard
    config : Config
        Whose ``compare`` is the plan, where no other is given.
    plan : Plan, optional
    """
    if plan is None and config.compare is not None:
        plan = config.compare
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


def with_comparisons(results: Results, plan: Plan | None = None) -> Results:
    """Return results whose study has its comparisons, made anew from the values.

    Parameters
    ----------
    results : Results
    plan : Plan, optional
        Another one than the config's.
    """
    study, plugins = results.study, results.config.plugins
    wanted = results.config.compare if plan is None and results.config.compare else plan
    if plugins and wanted is not None:
        from ..stats.registry import load_all  # which loads SciPy

        if wanted.test not in load_all():
            what = f"expected a test of the harness, got '{wanted.test}', which a plugin may define"
            fix = "give another --test, or leave comparisons out (harness table --marks none)"
            raise InputError(Problem(str(results.folder), what, fix=fix))
    return replace(
        results, study=replace(study, comparisons=compare(study.board, results.config, plan))
    )


def _read_values(
    path: Path, content: bytes, cells: Sequence[Mapping[str, Any]], metrics: tuple[Metric, ...],
    policy: Policy,
) -> list[Evaluation]:  # fmt: skip
    """Return the values of each cell, once every row is the one that the manifest says.

    Raises
    ------
    InputError
        If columns, types or the number of rows differ, or a row is of another cell or metric.
    """
    queries = [cell["counts"]["queries"] for cell in cells]
    n_metrics, n_rows = len(metrics), sum(queries) * len(metrics)
    captured = sorted({name for cell in cells for name in cell.get("columns", {})})
    texts = ["dataset", "run", "qid", "metric", *captured]
    try:
        file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)
        _check_footer(path, file, texts, n_rows)
        numbers = [name for name in ("value", "weight") if name in file.schema_arrow.names]
        check_room(len(content) + n_rows * _ROW)
        # without threads: one that is not done when an error ends the process would abort it
        table = file.read([*texts, *numbers], use_threads=False).unify_dictionaries()
    except MemoryError:  # Arrow's own is also a ValueError
        raise
    except KeyError as error:  # Arrow's, of the name in bytes of a text column
        name = error.args[0].decode()
        raise origin.misfit(path, f"expected a column '{name}', got none") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise origin.misfit(path, f"expected Parquet, got: {said_by(error)}") from error
    codes = {}
    for name in texts:
        known, codes[name] = _codes(table[name])
        if name == "qid":
            qids, expected = known, np.repeat(codes[name][::n_metrics], n_metrics)
            wanted = "the qid of the row above"
        else:
            of_name: Sequence[str | None] = (
                [str(metric) for metric in metrics] if name == "metric"
                else [cell.get("columns", {}).get(name) for cell in cells] if name in captured
                else [cell[name] for cell in cells]
            )  # fmt: skip
            places = {text: place for place, text in enumerate(known.to_pylist())}
            code = np.array([-1 if t is None else places.get(t, -2) for t in of_name], np.int64)
            expected = (
                np.tile(code, sum(queries)) if name == "metric"
                else np.repeat(code, np.multiply(queries, n_metrics))
            )  # fmt: skip
            wanted = f"the {name} of {MANIFEST}"
        if (wrong := np.flatnonzero(codes[name] != expected)).size:
            row, found = int(wrong[0]), int(codes[name][wrong[0]])
            got = f"'{known[found]}'" if found >= 0 else "none"
            raise origin.misfit(path, f"expected {wanted} in row {row + 1:,}, got {got}")
    of_query = codes["qid"][::n_metrics]
    within = np.repeat(np.arange(len(cells)), queries) * (len(qids) + 1) + of_query
    if (of_query < 0).any() or np.unique(within).size != len(within):
        raise origin.misfit(path, "expected each query once in a cell, got one twice or none")
    values = {name: to_floats(table[name]).reshape(-1, n_metrics) for name in numbers}
    names, ends = take(qids, of_query), np.cumsum([0, *queries]).tolist()
    return [
        Evaluation(
            values["value"][start:stop], names[start:stop], metrics, policy,
            Counts(**cell["counts"]), _weights(values, slice(start, stop)), cell["run"],
            cell["dataset"],
        )
        for cell, (start, stop) in zip(cells, pairwise(ends), strict=True)
    ]  # fmt: skip


def _check_footer(path: Path, file: Any, texts: Sequence[str], n_rows: int) -> None:
    """Raise InputError if a Parquet file has other columns or rows than expected."""
    if file.metadata.num_rows != n_rows:
        raise origin.misfit(path, f"expected {n_rows:,} rows, got {file.metadata.num_rows:,}")
    schema = file.schema_arrow
    if len({*schema.names}) < len(schema.names):
        raise origin.misfit(path, "expected each column once, got one twice")
    for name in (*texts, "value", "weight"):
        if name not in schema.names:
            if name != "weight":
                raise origin.misfit(path, f"expected a column '{name}', got none")
            continue
        kind, is_number = schema.field(name).type, name in ("value", "weight")
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        if plain not in ((pa.float64(),) if is_number else (pa.string(), pa.large_string())):
            wanted = "double" if is_number else "text"
            raise origin.misfit(path, f"expected {wanted} in column '{name}', got {kind}")


def _codes(column: pa.ChunkedArray) -> tuple[pa.Array, Ints]:
    """Return the texts of a column, and the place of each row's among them; -1 for none."""
    if not column.num_chunks:
        return pa.array([], pa.string()), np.zeros(0, np.int64)
    one = column.combine_chunks()
    codes = call("coalesce", cast(one.indices, pa.int64()), to_arrow(np.array([-1]))[0])
    return one.dictionary, to_numpy(codes)


def _weights(values: Mapping[str, Floats], rows: slice) -> dict[int, Floats]:
    """Return the weights of each metric of a cell that has any."""
    weights = values.get("weight", np.zeros((0, 0)))[rows]
    return {
        at: weights[:, at] for at in range(weights.shape[1])
        if len(weights) and not np.isnan(weights[:, at]).all()
    }  # fmt: skip
