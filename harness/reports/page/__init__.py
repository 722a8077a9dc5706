"""The report page: its settings in a config, its data, and its HTML file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from ...core.arguments import Names, PathText
from ...core.entries import System, grouped_by
from ...core.leaderboard import Leaderboard, numbers_of
from ...core.metric import Metric
from ...core.names import over_same_queries, spelled
from ...core.ragged import Floats
from ...core.systems import reference, systems_of
from ...errors import Problem, UnknownNameError
from ...stats.comparison import REFERENCE_RUNS, UNCOMPARED, Comparison, Comparisons, Plan
from .. import html
from ..grid import grid
from ..html import in_html
from ..notes import share_in_words, tests_of_tiers
from ..phrases import CORRECTIONS, confidence, cost_of, decimals
from ..select import value_for
from ..sentences import Queries, Scores, as_text, group_label, reader_notes, relations


@dataclass(frozen=True)
class Metadata:
    """A CSV file with further columns of each run, such as team, type, date and link."""

    path: Annotated[str, PathText()]
    """The file, relative to the config."""
    key: str = "run"
    """The column with the names of the runs."""
    costs: Names = ()
    """Columns of numbers, lower is better, that values are drawn against, such as latency; by
    default every column of numbers."""


@dataclass(frozen=True)
class PageSettings:
    """The report page."""

    title: str = ""
    """Title of the page; by default the config's name."""
    description: str = ""
    """One sentence below the title."""
    organiser: str = ""
    """Who publishes the results."""
    date: str = ""
    """When they were published, as the page shows it."""
    link: str = ""
    """Address of a page on the task, with https:// or http://."""
    metric: str | None = None
    """The metric that decides the ranks; by default the one that rows are sorted by."""
    rankings: Annotated[int, Ge(0), Le(1000)] = 0
    """Number of documents shown for each query and system."""
    conventions: tuple[str, ...] = ()
    """Tools for the switch of conventions on the page, such as lightgbm."""
    metadata: Metadata | None = None
    """Further columns of each run."""
    documents: Annotated[str | None, PathText()] = None
    """Texts of documents: lines of docno, a tab and text; JSON lines, as BEIR's corpus.jsonl; CSV;
    or TSV. Relative to the config."""
    queries: Annotated[str | None, PathText()] = None
    """Texts of queries: lines of qid, a tab and text; JSON lines, as BEIR's queries.jsonl; CSV;
    TSV; or TREC topics. Relative to the config."""


Interval = Callable[[System, Metric], tuple[float, float]]
TITLE = ("title", "description", "organiser", "date", "link")
MOST_NOTES = 3
"""Notes below a table, at most."""


def check_link(address: str, place: str = "") -> None:
    """Raise UnknownNameError for an address that the page cannot link to."""
    if address and not address.startswith(("https://", "http://")):
        what = f"expected an address that begins with https:// or http://, got '{address}'"
        raise UnknownNameError(Problem(place, what, fix="write the whole address"))


def report(
    settings: PageSettings,
    board: Leaderboard,
    comparisons: Comparisons | None,
    *,
    interval: Interval,
    provenance: Mapping[str, Any],
    names: Mapping[str, str] = MappingProxyType({}),
    metadata: Mapping[str, Mapping[str, str]] | None = None,
    deciding: Metric | None = None,
    level: float = Plan.level,
) -> dict[str, Any]:
    """Return the data of the page, named as in ``src/data.ts``.

    `board` has an entry a cell. `interval` is used for values without a comparison, at `level`.
    `metadata` has further columns of each run by its name; ``link`` becomes a link of the name.
    The `deciding` metric is the first one by default.
    """
    systems = systems_of(board)
    metrics = numbers_of(board.metrics)
    runs = grouped_by(systems, lambda system: system.run)
    place = {name: i for i, name in enumerate(runs)}
    rows_of = {name: _columns(members) for name, members in runs.items()}
    for name, row in rows_of.items():
        row |= (metadata or {}).get(name, {})
    columns = list(dict.fromkeys(c for row in rows_of.values() for c in row if c != "link"))
    described = [_metric(metric, names) for metric in metrics]
    labels = [metric["label"] for metric in described]
    share = confidence(level)
    comparisons = comparisons or UNCOMPARED
    references = [name for name in comparisons.plan.baselines if name in REFERENCE_RUNS]
    place |= {name: len(runs) + k for k, name in enumerate(references)}
    titles = {run: names.get(run, run) for run in runs}
    titles = titles if len({*titles.values()}) == len(titles) else {}
    maker = _Boards(metrics, labels, place, comparisons, interval, share, board, references, titles)
    by_dataset = grouped_by(systems, lambda system: system.dataset)
    costs = settings.metadata.costs if settings.metadata else ()
    page_systems: list[dict[str, Any]] = [_system(name, row) for name, row in rows_of.items()]
    page_systems += [
        {"name": f"{name.capitalize()} of all systems", "reference": True} for name in references
    ]
    return {
        **{name: getattr(settings, name) for name in TITLE},
        "deciding": metrics.index(deciding) if deciding in metrics else 0,
        "level": round(100 * (1 - level), 10),
        "metrics": described,
        "columns": [
            _column(name, [row.get(name, "") for row in rows_of.values()], costs)
            for name in columns
        ],
        "systems": page_systems,
        "boards": [maker.board(members) for members in by_dataset.values()],
        "rankingDepth": 0,
        "conventions": [],
        "provenance": dict(provenance),
    }


def _metric(metric: Metric, names: Mapping[str, str]) -> dict[str, Any]:
    definition = metric.definition
    text = definition.headline.replace("``", "")
    if isinstance(metric.cutoff, int):
        text = re.sub(r"\b(first|at) k\b", rf"\1 {metric.cutoff}", text)
    low, high = definition.bounds
    return {
        "name": str(metric),
        "label": value_for(names, str(metric), spelled(metric), patterns=False),
        "explanation": text,
        "direction": {"higher": 1, "lower": -1}.get(definition.direction or "", 0),
        "low": low if math.isfinite(low) else math.nan,
        "high": high if math.isfinite(high) else math.nan,
        "digits": 0 if definition.summary == "sum" else 4,
    }


def _column(name: str, texts: Sequence[str], costs: Sequence[str]) -> dict[str, Any]:
    values = np.array([cost_of(text) for text in texts])
    is_numeric = not any(text and np.isnan(v) for text, v in zip(texts, values, strict=True))
    is_numeric = name in costs or (any(texts) and is_numeric)
    varies = len({*values[~np.isnan(values)].tolist()}) > 1
    return {
        "name": name,
        "texts": texts,
        **({"numbers": values} if is_numeric else {}),
        "isCost": is_numeric and varies and (not costs or name in costs),
    }


def _columns(systems: Sequence[System]) -> dict[str, str]:
    """Return the placeholders that a run has in common on all datasets and in all repetitions."""
    values: dict[str, set[str]] = {}
    for system in systems:
        for entry in system.entries:
            for name, value in entry.columns.items():
                values.setdefault(name, set()).add(value)
    return {name: value for name, (value, *rest) in values.items() if not rest}


def _system(name: str, row: Mapping[str, str]) -> dict[str, str]:
    link = row.get("link", "")
    return {"name": name} | ({"link": link} if link.startswith(("https://", "http://")) else {})


@dataclass(frozen=True)
class _Boards:
    """Makes the data of each dataset; `place` is that of each run in the page's systems.

    Rows of `references` that runs are tested against, such as the median, follow those of systems.
    """

    metrics: Sequence[Metric]
    labels: Sequence[str]
    place: Mapping[str, int]
    comparisons: Comparisons
    interval: Interval
    confidence: str
    leaderboard: Leaderboard
    references: Sequence[str]
    titles: Mapping[str, str]

    @cached_property
    def rows(self) -> Mapping[tuple[str, str], list[Comparison]]:
        """Comparisons by dataset and metric."""
        of_runs = (row for row in self.comparisons.rows if row.baseline in self.place)
        return grouped_by(of_runs, lambda row: (row.dataset, str(row.metric)))

    def board(self, systems: Sequence[System]) -> dict[str, Any]:
        dataset, group = systems[0].dataset, systems[0].group
        label = group_label(group, self.leaderboard.groups)
        labels = dict(zip(self.metrics, self.labels, strict=True))
        added = [reference(name, systems) for name in self.references if len(systems) > 1]
        compared = [
            row for (where, _), rows in self.rows.items() if where == dataset for row in rows
        ]
        return {
            "dataset": dataset,
            "group": group,
            "groupLabel": label or "all queries",
            "whole": systems[0].whole,
            "qids": systems[0].qids,
            "systems": [self.place[system.run] for system in systems],
            "references": [self.place[system.run] for system in added],
            "columns": [self.column(systems, added, *column, label) for column in labels.items()],
            "files": [[] for _ in systems],
            "findings": [[] for _ in systems],
            "notes": [*reader_notes(self.leaderboard, systems, labels, self.titles)][:MOST_NOTES],
            **({"testing": self.testing()} if compared else {}),
            "tests": self.tests(compared),
            "rankings": {},
        }

    def testing(self) -> dict[str, Any]:
        """Describe the test of pairs."""
        plan, all_pairs = self.comparisons.plan, self.comparisons.kind == "all-pairs"
        title = CORRECTIONS[plan.correction].title
        return {
            "test": self.comparisons.title or plan.test,
            "correction": "the test's own correction" if all_pairs else title,
            "family": "metric" if all_pairs else plan.corrected,
            "alpha": plan.level,
            "tiers": tests_of_tiers(self.comparisons),
        }

    def column(
        self, systems: Sequence[System], added: list[System], metric: Metric, label: str, group: str
    ) -> dict[str, Any]:
        where = systems[0].dataset, str(metric)
        standings = [self.comparisons.standing(*where, system.run) for system in systems]
        intervals = [
            (standing.low, standing.high) if standing else self.interval(system, metric)
            for system, standing in zip(systems, standings, strict=True)
        ]
        low, high = np.array(intervals).T
        queries = [system.values(metric) for system in systems]
        qids = [system.entries[0].evaluation.qids for system in systems]
        is_fair = over_same_queries(metric, zip(qids, queries, strict=True))
        sign = metric.sign if metric.definition.direction else 0
        tests, whole = self.rows.get(where, []), [*systems, *added]
        places = {system.run: row for row, system in enumerate(whole)}
        letters = relations(self.comparisons, tests, places, len(systems[0].qids))
        is_plan = bool(self.comparisons.plan.baselines)
        baselines = sorted({places[test.baseline] for test in tests}) if is_plan else []
        means = np.array([system.value(metric) for system in whole], float)
        gaps = enumerate(system.incomplete for system in systems)
        shares = {row: share_in_words(gap) for row, gap in gaps if gap is not None}

        def ranks(name: str) -> Floats:
            return np.array(
                [getattr(standing, name, 0) or math.nan for standing in standings], float
            )

        rank = ranks("rank")
        n = len(systems)
        value = means[:n]
        if sign:
            better = (sign * value)[None] > (sign * value)[:, None]
            place = np.where(np.isnan(value), np.nan, 1 + better.sum(axis=1))
            rank = np.where(np.isnan(rank), place, rank)
        scores = Scores(
            label, sign, 0 if metric.definition.summary == "sum" else 4, self.confidence,
            f"with {group}" if group else "", [self.place[system.run] for system in systems],
            means, low, high, np.array([system.n(metric) for system in systems], float),
            rank, ranks("rank_low"), ranks("rank_high"), letters, baselines, is_fair,
            [system.run for system in added],
            shares,
        )  # fmt: skip
        of_queries = Queries.of(np.stack(queries))
        queries += [system.values(metric) for system in added]
        return {
            "value": value,
            "references": means[n:],
            "low": low,
            "high": high,
            "rank": rank,
            "rankLow": scores.rank_low,
            "rankHigh": scores.rank_high,
            "tier": [standing.tier if standing else "" for standing in standings],
            "n": scores.n,
            "queries": np.stack(queries),
            "note": "" if is_fair else "no best value: runs were scored on different queries",
            "family": self.comparisons.family(tests[0])[1] if tests else 0,
            "baselines": baselines,
            "pairs": "".join(letters[np.triu_indices(len(whole), 1)]) if tests else "",
            **of_queries._asdict(),
            "lede": scores.lede(),
            "systemLedes": [scores.of_system(row) for row in range(n)],
            "queryLede": scores.of_queries(systems[0].qids, of_queries),
        }

    def tests(self, rows: Sequence[Comparison]) -> dict[str, Floats]:
        """Return a dataset's tests as columns, one entry a test; metrics and runs are numbers."""
        numbers = {str(metric): i for i, metric in enumerate(self.metrics)}
        columns = {
            "metric": [numbers[str(row.metric)] for row in rows],
            "run": [self.place[row.run] for row in rows],
            "baseline": [self.place[row.baseline] for row in rows],
            "difference": [row.difference for row in rows],
            "low": [row.low for row in rows],
            "high": [row.high for row in rows],
            "p": [row.p for row in rows],
            "adjusted": [row.p_adjusted for row in rows],
            "significant": [self.comparisons.is_significant(row) for row in rows],
        }
        return {name: np.array(values, np.float64) for name, values in columns.items()}


LIMIT = "default-src 'none'; img-src data:; connect-src data:; form-action 'none'; base-uri 'none'"

EMBEDDED = {"rankings": 20 << 20, "tests": 2 << 20}
"""Bytes, before compression, of each part of all boards inside the page."""
LARGEST = 2_500_000
"""Bytes of the largest page with these parts inside."""

_STYLES = re.compile(' style="[^"]*"')
"""Attributes that the page's policy does not allow."""
DATA = '<script type="application/octet-stream" id="data">'


def pack(report: Any) -> bytes:
    """Return a report, or a part of it, as gzip of what `_flat` returns."""
    return gzip.compress(_flat(report), compresslevel=9, mtime=0)


def _flat(report: Any) -> bytes:
    """Return the length of the JSON text (uint32), the text, and the arrays.

    Arrays of floats anywhere in `report` are stored as distinct values and codes, which keeps
    every bit and takes a byte or two per value. The same report gives the same bytes.
    """
    arrays: list[dict[str, int]] = []
    blobs: list[bytes] = []
    size = 0

    def put(content: bytes) -> int:
        nonlocal size
        start = size
        blobs.append(content)
        size += len(content)
        return start

    def plain(node: Any) -> Any:
        if isinstance(node, np.ndarray):
            arrays.append(_array(node.astype(np.float64).ravel(), put))
            return {"$": len(arrays) - 1}
        if isinstance(node, dict):
            return {key: plain(value) for key, value in node.items()}
        if isinstance(node, (list, tuple)):
            return [plain(item) for item in node]
        return None if isinstance(node, float) and node != node else node

    content = {"report": plain(report), "arrays": arrays}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    return struct.pack("<I", len(text)) + text + b"".join(blobs)


def _array(values: Floats, put: Any) -> dict[str, int]:
    """Positions of the distinct values of an array and of its codes; `put` stores bytes."""
    distinct, codes = np.unique(values.view(np.uint64), return_inverse=True)
    width = 1 if len(distinct) <= 1 << 8 else 2 if len(distinct) <= 1 << 16 else 4
    return {
        "values": put(distinct.astype("<u8").tobytes()),
        "distinct": len(distinct),
        "codes": put(codes.astype(f"<u{width}").tobytes()),
        "width": width,
        "size": len(values),
    }


def html_files(report: dict[str, Any], name: str) -> dict[str, bytes]:
    """Return the page `name` of what ``src/data.ts`` calls a ``Report``, and its side files.

    Rankings and tests that would make the page large go into side files, one a board.
    """
    report = {**report, "boards": [{**board} for board in report["boards"]]}
    page, side = b"", dict[str, bytes]()
    for part, limit in EMBEDDED.items():
        if sum(len(_flat(board[part])) for board in report["boards"]) <= limit:
            page = page or _document(report, bool(side)).encode()
            if len(page) <= LARGEST:
                continue
        for number, board in enumerate(report["boards"]):
            path = f"{name.removesuffix('.html')}_data/{part}-{number}.js"
            data = base64.b64encode(pack(board[part])).decode("ascii")
            side[path] = f'harnessPart("{path}", "{data}");\n'.encode()
            board[part] = path
        page = b""
    return {name: page or _document(report, bool(side)).encode(), **side}


def _document(report: dict[str, Any], has_side_files: bool) -> str:
    folder = files(__package__)
    script = folder.joinpath("page.js").read_text(encoding="utf-8").strip()
    style = folder.joinpath("src/style.css").read_text(encoding="utf-8")
    logo = base64.b64encode(folder.joinpath("logo.svg").read_bytes()).decode("ascii")
    data = base64.b64encode(pack(report)).decode("ascii")
    scripts = f"'sha256-{_digest(script)}'"
    scripts += " file: 'self'" if has_side_files else ""
    policy = f"{LIMIT}; style-src 'sha256-{_digest(style)}'; script-src {scripts}"
    title = in_html(report["title"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{in_html(policy)}">
<title>{title}</title>
<link rel="icon" href="data:image/svg+xml;base64,{logo}">
<style>{style}</style>
</head>
<body>
<div id="app"><header class="top"><h1>{title}</h1></header><main>{_plain_table(report)}</main></div>
{DATA}{data}</script>
<script>{script}</script>
</body>
</html>
"""


def _plain_table(report: dict[str, Any]) -> str:
    """Return the first leaderboard as HTML, for readers without JavaScript."""
    board, metrics = report["boards"][0], report["metrics"]
    arrows = {1: " ↑", -1: " ↓", 0: ""}
    header = ["System", *(metric["label"] + arrows[metric["direction"]] for metric in metrics)]
    values = [column["value"] for column in board["columns"]]
    digits = [metric["digits"] for metric in metrics]
    rows = [
        [
            report["systems"][board["systems"][row]]["name"],
            *(decimals(column[row], n) for column, n in zip(values, digits, strict=True)),
        ]
        for row in np.argsort(-values[0] * (metrics[0]["direction"] or 1), kind="stable")
    ]
    table = _STYLES.sub("", html.render([grid(header, rows)]))
    names = [system["name"] for system in report["systems"]]
    lede = as_text(board["columns"][report["deciding"]]["lede"], names)
    return f"<section><h2>{in_html(board['dataset'])}</h2><p>{in_html(lede)}</p>{table}</section>"


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
