"""The study that reports are made from, and its leaderboard in every format."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.cell_key import pairs
from ..core.entries import Entry, System, grouped_by, natural
from ..core.evaluation import Evaluation
from ..core.fusion import Fusion
from ..core.leaderboard import CHOSEN, UNKNOWN, WEIGHTED, Leaderboard, best, numbers_of
from ..core.metric import Metric
from ..core.names import over_same_queries, spelled
from ..core.systems import failed_rows, system_name, systems_of
from ..errors import HarnessError, first_of, in_json, legible
from ..stats.comparison import UNCOMPARED, Comparisons, Plan
from . import formats, html, notes, text
from .grid import Answer, Grid, GridCell, first_rows, grid
from .notes import WARNED
from .phrases import decimals, heading, in_brackets, listed, number

if TYPE_CHECKING:
    from ..metrics.rank_similarity import Similarity


@dataclass(frozen=True, eq=False)
class Study:
    """Evaluations and comparisons, with the parts of a config and a manifest that reports need.

    `trace` is the SHA-256 of the manifest in hexadecimal, or empty.
    """

    board: Leaderboard
    comparisons: Comparisons | None = None
    trace: str = ""

    @property
    def name(self) -> str:
        """Name of the config; empty without one."""
        return ""

    @property
    def names(self) -> Mapping[str, str]:
        """New names of runs, datasets and metrics."""
        return {}

    @property
    def citations(self) -> Mapping[str, str]:
        """Citations next to names in tables."""
        return {}

    @property
    def sort(self) -> str | None:
        """Metric that sorts the rows."""
        return None

    @property
    def baselines(self) -> tuple[str, ...] | None:
        """Baselines of the comparisons; None without comparisons."""
        return None if self.comparisons is None else self.comparisons.plan.baselines

    @property
    def readings(self) -> tuple[str, ...]:
        """Sentences on settings of readers that change the values."""
        return ()

    @property
    def fusions(self) -> Mapping[str, tuple[tuple[str, ...], Sequence[Fusion]]]:
        """Fused runs by name, each with the names of its runs and the methods."""
        return {}

    @property
    def base(self) -> Path:
        """Folder at which paths of the config start."""
        return Path()

    @property
    def metadata(self) -> Mapping[str, Mapping[str, str]]:
        """Metadata of each run, by its name and column."""
        return {}

    def with_metrics(self, names: Sequence[str]) -> Study:
        """Return a study with these metrics: the same one if they were evaluated."""
        missing = [name for name in names if name not in map(str, self.board.metrics)]
        if not missing:
            return self
        fix = "add them to 'metrics:'"
        raise HarnessError(f"{first_of(missing, 3)} were not evaluated", fix=fix)

    def similarity(self, systems: Sequence[System]) -> Similarity:
        """Return the similarity of the rankings of systems; its runs are their positions."""
        fix = "give the results of 'harness run'"
        raise HarnessError("the rankings of the runs are not known", fix=fix)

    @property
    def versions(self) -> Mapping[str, str | None]:
        """Versions of the harness and its packages when values were computed."""
        return {}

    @property
    def recomputed(self) -> tuple[int, float]:
        """Number of values that pytrec_eval recomputed, and the largest difference."""
        return 0, 0.0

    @property
    def is_sampled(self) -> bool:
        """Whether pytrec_eval recomputed only a sample of the queries."""
        return True

    @property
    def cells(self) -> Leaderboard:
        """Leaderboard of all cells, also those of settings that were not selected."""
        return self.board if self.board.selection is None else self.board.selection.cells

    @cached_property
    def systems(self) -> tuple[System, ...]:
        """Pairs of run and dataset with their repetitions, in the order of the leaderboard."""
        return systems_of(self.board)

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets, in order."""
        return tuple(dict.fromkeys(system.dataset for system in self.systems))

    @cached_property
    def slices(self) -> frozenset[str]:
        """Names of the datasets that are slices of another."""
        return frozenset(system.dataset for system in self.systems if system.group)

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs, in order."""
        return tuple(dict.fromkeys(system.run for system in self.systems))

    @cached_property
    def failed(self) -> tuple[tuple[str, str], ...]:
        """Dataset and run of each system that could not be evaluated."""
        summary = self.board.summary
        if not summary and self.board.selection is None:
            return tuple((cell.dataset, cell.run) for cell in self.board.failed)
        return tuple((row.dataset, system_name(row, summary)) for row in failed_rows(self.board))

    @cached_property
    def _at(self) -> dict[tuple[str, str], System]:
        return {(system.dataset, system.run): system for system in self.systems}

    def system(self, dataset: str, run: str) -> System | None:
        """Return a run on a dataset; None if it was not evaluated there."""
        return self._at.get((dataset, run))


def plan_of(study: Study) -> Plan:
    """Return the plan of a study's comparisons; the default one if nothing was compared."""
    return (study.comparisons or UNCOMPARED).plan


REPETITIONS = "repetitions"
"""Heading of the column with the number of repetitions of each row."""
BEST = "^ marks the best value of each metric; it need not be significantly better."
TIES = "ties counts documents that share a score with another document of their query."
Tops = dict[Metric, set[int] | None]
Rows = list[list[GridCell]]
Shown = Evaluation | Comparisons | Leaderboard
ROWS, REST = 20, "print it to see all"
"""Rows of a table that a notebook shows, and where the others are."""
PRINTED = 100
"""Comparisons that ``print`` shows."""


REPORTS = {
    "csv": ".csv", "excel": ".excel.csv", "html": ".html", "json": ".json", "jsonl": ".jsonl",
    "markdown": ".md", "plain-markdown": ".plain.md", "table": ".txt", "trec": ".eval",
}  # fmt: skip
"""Formats of a leaderboard, and the endings of their files."""


def render_leaderboard(
    board: Leaderboard, format: str, *, per_query: bool = False, width: int | None = None,
    has_answers: bool = False,
) -> str:  # fmt: skip
    """Return a leaderboard in a format; `per_query` adds the values of each query.

    A line of a ``table`` takes at most `width` characters. With `has_answers`, sentences on the
    best runs come first in it.
    """
    of_values = {"csv": as_csv, "json": as_json, "jsonl": as_jsonl, "trec": as_trec}
    if format in of_values:
        return of_values[format](board, per_query=per_query)
    is_text = format == "table"
    tables = [*grids(board, per_query=per_query, is_text=is_text)]
    if has_answers and is_text:
        tables.insert(0, Grid(answers=tuple(best_in_words(board))))
    return formats.render(tables, "text" if is_text else format, width=width)


def as_csv(
    board: Leaderboard, *, per_query: bool = False, comparisons: Comparisons | None = None
) -> str:
    """Return CSV with a row a dataset x run; with `per_query`, with a row a query.

    Each run's queries are followed by its summary, with qid ``all``. Columns: dataset, run,
    captured columns, counts, undefined, then each metric with every digit; an undefined value is
    an empty field. If runs were compared, their tiers follow: ``map tier``.
    """
    if per_query:
        records: list[dict[str, Any]] = []
        for entry in board.entries:
            head = {"dataset": entry.dataset, "run": entry.run}
            head |= {name: entry.columns.get(name, "") for name in board.columns}
            head |= _weighted(entry)
            records += ({**head, "qid": qid, **row} for qid, row in _values(entry, per_query))
        return formats.as_csv(records)
    standings = () if comparisons is None else comparisons.standings
    tiers = {(row.dataset, row.run, str(row.metric)): row.tier for row in standings}
    metrics = dict.fromkeys(metric for _, _, metric in tiers)
    rows = board.rows()
    for row in rows:
        where = str(row["dataset"]), str(row["run"])
        row |= {f"{metric} tier": tiers.get((*where, metric), "") for metric in metrics}
    return formats.as_csv(rows)


def as_jsonl(board: Leaderboard, *, per_query: bool = False) -> str:
    """Return a line ``{"dataset", "run", "metric", "qid", "value"}`` for each value.

    Summaries have qid ``all``; undefined values are null. Captured columns come before the metric,
    and ``chosen_from`` after it if the run is the best of several.
    """

    def records() -> Iterator[dict[str, Any]]:
        for entry in board.entries:
            head = {"dataset": entry.dataset, "run": entry.run, **entry.columns}
            chosen = {CHOSEN: entry.chosen} if entry.chosen else {}
            chosen |= _weighted(entry)
            for qid, values in _values(entry, per_query):
                for metric, value in values.items():
                    yield {**head, "metric": metric, **chosen, "qid": qid, "value": value}

    return formats.as_jsonl(records())


def as_json(board: Leaderboard, *, per_query: bool = False) -> str:
    """Return ``{"schema", "systems", "failed", "notes"}`` as JSON; undefined values are null.

    A system has its dataset, run, captured columns, counts and values by metric, and, with
    `per_query`, each query's values.
    """
    systems = []
    for entry in board.entries:
        *queries, (_, summary) = _values(entry, per_query)
        counts = entry.evaluation.counts.as_dict()
        if entry.evaluation.group:
            counts = {name: n for name, n in counts.items() if name not in UNKNOWN}
        system: dict[str, Any] = {"dataset": entry.dataset, "run": entry.run}
        system |= {"columns": dict(entry.columns), "counts": counts}
        system["values"] = formats.plain(summary)
        if entry.spread:
            spreads = entry.spread.items()
            system["spread"] = {name: formats.plain(spread._asdict()) for name, spread in spreads}
        system |= {CHOSEN: entry.chosen} if entry.chosen else {}
        system |= _weighted(entry)
        if per_query:
            system["queries"] = {qid: formats.plain(values) for qid, values in queries}
        systems.append(system)
    content = {
        "schema": 1,
        "systems": systems,
        "failed": [
            {"dataset": cell.dataset, "run": cell.run, "error": cell.error} for cell in board.failed
        ],
        "notes": [*value_notes(board, has_runid=False)],
    }
    return in_json(content, indent=1) + "\n"


def as_trec(board: Leaderboard, *, per_query: bool = False) -> str:
    r"""Return ``metric<TAB>qid<TAB>value`` lines, with trec_eval's names and widths.

    Counts are whole, other values have four decimals. With several runs, each run's lines
    begin with a ``runid`` line, as in trec_eval, which also names what the run was chosen from. A
    tab or line break within a qid, which no TREC file can have, is shown as ``\t`` or ``\n``.
    """
    return "".join(line for entry in board.entries for line in _trec_lines(entry, per_query))


def _trec_lines(entry: Entry, per_query: bool) -> Iterator[str]:
    metrics = numbers_of(entry.evaluation.metrics)
    *queries, (_, summary) = _values(entry, per_query)
    for qid, values in queries:
        yield from (_trec_line(metric, qid, values[str(metric)]) for metric in metrics)
    if entry.run:
        chosen = f" ({entry.chosen})" if entry.chosen else ""
        yield f"{'runid':<22}\tall\t{legible(entry.run + chosen)}\n"
    yield from (_trec_line(metric, "all", summary[str(metric)]) for metric in metrics)


def _trec_line(metric: Metric, qid: str, value: float) -> str:
    rendered = f"{value:.0f}" if metric.definition.summary == "sum" else f"{value:6.4f}"
    return f"{metric.trec_name:<22}\t{legible(qid)}\t{rendered}\n"


def _weighted(entry: Entry) -> dict[str, str]:
    by = entry.evaluation.weighted_by
    return {WEIGHTED: by} if by else {}


def _values(entry: Entry, per_query: bool) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield qid and values by metric: those of every query on request, then the summaries."""
    names = [str(metric) for metric in numbers_of(entry.evaluation.metrics)]
    queries = entry.evaluation.to_dict().items() if per_query else ()
    for qid, values in [*queries, ("all", entry.summary)]:
        yield qid, {name: values[name] for name in names}


def grids(board: Leaderboard, *, per_query: bool = False, is_text: bool = False) -> Iterator[Grid]:
    """Yield a table for each dataset, best values bold; then the queries of each run, on request.

    In text, a note explains the mark behind bold values.
    """
    for dataset, entries in board.by_dataset():
        tops = _tops(board, entries)
        header, rows = _rows(board, entries, tops)
        unfair = [metric for metric, top in tops.items() if top is None]
        marked = [BEST] if is_text and any(cell.bold for row in rows for cell in row) else []
        marked += [TIES] if any(entry.evaluation.counts.tied for entry in entries) else []
        lines = [*marked, *notes.on_dataset(board, entries, unfair)]
        yield grid(header, rows, title=dataset, notes=lines, level=3)
        if per_query:
            yield from [_query_grid(*entries)] if len(entries) == 1 else _side_by_side(entries)


def _rows(board: Leaderboard, entries: list[Entry], tops: Tops) -> tuple[list[str], Rows]:
    columns = [name for name in board.columns if any(name in entry.columns for entry in entries)]
    fewer = [entry.incomplete if isinstance(entry, System) else None for entry in entries]
    has_fewer = [REPETITIONS] if any(fewer) else []
    is_chosen = any(entry.choices and not isinstance(entry, System) for entry in entries)
    setting = ["setting"] if is_chosen else []
    metrics = map(heading, board.metrics)
    header = ["run", *columns, *setting, *has_fewer, "queries", "ties", *metrics]
    rows = []
    for entry, missing in zip(entries, fewer, strict=True):
        texts = [entry.run, *(entry.columns.get(name, "") for name in columns)]
        texts += [" ".join(pairs(choice.setting) for choice in entry.choices)] if setting else []
        if has_fewer:
            times = max((spread.repetitions for spread in entry.spread.values()), default=1)
            texts.append(str(times) if missing is None else missing.share)
        tied = "–" if entry.evaluation.group else str(entry.evaluation.counts.tied)
        texts += ["{}/{}".format(*entry.evaluation.coverage), tied]
        rows.append(list(map(GridCell, texts)))
        rows[-1][0] = GridCell(entry.run, WARNED if entry.warned else "")
    for metric in board.metrics:
        name, top, unsettled = str(metric), tops[metric] or (), board.unsettled(metric, entries)
        for place, entry in enumerate(entries):
            value, spread = entry.summary.get(name, math.nan), entry.spread.get(name)
            rendered = number(value, metric)
            if spread is not None and spread.repetitions > 1:
                rendered += f" ± {number(spread.deviation, metric)}"
            sign = notes.UNSETTLED if place in unsettled else ""
            rows[place].append(GridCell(rendered, sign, bold=place in top))
    return header, rows


def _tops(board: Leaderboard, entries: list[Entry]) -> Tops:
    """Return the places of the best entries by each metric; None over different queries."""
    tops: Tops = {}
    for metric in board.metrics:
        name = str(metric)
        top = best(metric, [entry.summary.get(name, math.nan) for entry in entries])
        scored = (entry.evaluation for entry in entries if name in entry.evaluation.names)
        columns_of = ((evaluation.qids, evaluation.column(name)) for evaluation in scored)
        is_fair = not top or over_same_queries(metric, columns_of)
        tops[metric] = top if is_fair else None
    return tops


def best_in_words(board: Leaderboard) -> Iterator[Answer]:
    """Yield a sentence on each dataset: which runs are best by which metrics."""
    _, name = notes.names_among(board.metrics)
    for dataset, entries in board.by_dataset():
        tops = {metric: tuple(sorted(top)) for metric, top in _tops(board, entries).items() if top}
        parts: list[str] = []
        for places, metrics in grouped_by(tops, tops.__getitem__).items():
            runs = [_named_among(entries[place], entries) for place in places]
            who = listed(runs) if len(runs) <= notes.NAMED else f"{len(runs):,} runs"
            verb = "" if parts else " is best" if len(runs) == 1 else " are best"
            which = [*map(name, metrics)]
            if len(which) > notes.NAMED + 1:
                which[notes.NAMED :] = [f"{len(which) - notes.NAMED:,} more"]
            is_all = len(metrics) == len(board.metrics) > notes.NAMED
            on = f"all {len(metrics):,} metrics" if is_all else listed(which)
            parts.append(f"{who}{verb} on {on}")
        if parts:
            yield Answer(": ".join(filter(None, (dataset, "; ".join(parts)))))


def _named_among(entry: Entry, entries: Sequence[Entry]) -> str:
    """Return the name of an entry, with the columns in which entries of its run differ."""
    same = [other.columns for other in entries if other.run == entry.run]
    columns = {
        name: value
        for name, value in entry.columns.items()
        if any(columns.get(name) != value for columns in same)
    }
    return in_brackets(entry.run, pairs(columns.items())) if columns else entry.run


def _query_grid(entry: Entry) -> Grid:
    """Return the values of one run: a row for each query, a column for each metric."""
    on = " on ".join(filter(None, (entry.run, entry.dataset)))
    metrics = numbers_of(entry.evaluation.metrics)
    values = entry.evaluation.to_dict()
    rows = [
        [qid, *(number(values[qid][str(metric)], metric) for metric in metrics)]
        for qid in sorted(values, key=natural)
    ]
    title = " ".join(filter(None, (on, pairs(entry.key.columns))))
    return grid(["qid", *map(spelled, metrics)], rows, title=title)


def _side_by_side(entries: Sequence[Entry]) -> Iterator[Grid]:
    """Yield the values of several runs on a dataset: a table for each metric, a column a run."""
    names = [_named_among(entry, entries) for entry in entries]
    tables = [entry.evaluation.to_dict() for entry in entries]
    qids = sorted({qid for values in tables for qid in values}, key=natural)
    by_name = {str(m): m for entry in entries for m in numbers_of(entry.evaluation.metrics)}
    for metric in by_name.values():
        rows = [
            [qid, *(number(v.get(qid, {}).get(str(metric), math.nan), metric) for v in tables)]
            for qid in qids
        ]
        title = ", ".join(filter(None, (entries[0].dataset, heading(metric))))
        yield grid(["qid", *names], rows, title=title)


def value_notes(board: Leaderboard, *, has_runid: bool) -> Iterator[str]:
    """Yield the notes that formats of values alone (CSV, JSON lines) cannot contain.

    `has_runid` is whether the format shows the runs' names, as trec_eval does.
    """
    for _, entries in board.by_dataset():
        yield from notes.on_values(entries, ("runid",) if has_runid else ())


def printed(value: Shown) -> str:
    """Text of a result for ``print``."""
    if isinstance(value, Leaderboard):
        return render_leaderboard(value, "table").rstrip("\n")
    return text.render(_grids(value, PRINTED)).rstrip("\n")


def in_notebook(value: Shown) -> str:
    """HTML of a result for a notebook: the first rows of its tables."""
    if isinstance(value, Leaderboard):
        return html.render(first_rows(table, ROWS, REST) for table in grids(value))
    return html.render(_grids(value, ROWS))


def _grids(value: Evaluation | Comparisons, most: int | None = None) -> Iterable[Grid]:
    if isinstance(value, Comparisons):
        from .comparisons import grids as of_comparisons  # which loads what compares

        return of_comparisons(value, most, everything="to_pandas()")
    n, summary = value.n(), value.summary()
    metrics = [metric for metric in value.metrics if str(metric) in summary]
    rows = [
        [heading(metric), decimals(summary[str(metric)]), str(n[str(metric)])] for metric in metrics
    ]
    title = " on ".join(filter(None, (value.run, value.dataset)))
    board = Leaderboard((Entry(value),))
    lines = notes.on_dataset(board, board.entries)
    return [grid(["metric", "value", "n"], rows, title=title, notes=[*lines])]
