"""The report page: what a config says about it, its data, and the HTML file that holds them."""

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
from importlib.resources import files
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from ...core.arguments import PathText
from ...core.entries import System, grouped_by
from ...core.leaderboard import Leaderboard, numbers_of
from ...core.metric import Metric
from ...core.names import over_same_queries
from ...core.ragged import Floats
from ...core.systems import systems_of
from ...stats.comparison import UNCOMPARED, Comparisons
from .. import html
from ..grid import grid
from ..html import in_html
from ..leaderboard import grids
from ..phrases import decimals


@dataclass(frozen=True)
class Metadata:
    """A CSV file with further columns of each run, such as team, type, date and link."""

    path: Annotated[str, PathText()]
    """The file, relative to the config."""
    key: str = "run"
    """The column that holds the names of the runs."""


@dataclass(frozen=True)
class PageSettings:
    """The report page."""

    rankings: Annotated[int, Ge(0), Le(1000)] = 0
    """How many documents of each query of each system the page shows."""
    conventions: tuple[str, ...] = ()
    """Tools whose values a switch on the page shows, such as lightgbm."""
    metadata: Metadata | None = None
    """Further columns of each run."""
    documents: Annotated[str | None, PathText()] = None
    """Texts of documents: lines of docno, a tab, and text. Relative to the config."""
    queries: Annotated[str | None, PathText()] = None
    """Texts of queries: lines of qid, a tab, and text. Relative to the config."""


Interval = Callable[[System, Metric], tuple[float, float]]
COUNTS = ("queries", "missing", "empty", "tied")


def report(
    title: str,
    board: Leaderboard,
    rows: Leaderboard,
    comparisons: Comparisons | None,
    *,
    interval: Interval,
    provenance: Mapping[str, Any],
    note: str = "",
    metadata: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """Return the data of the page, named as in ``src/data.ts``.

    `board` has an entry a cell, `rows` are as printed: an entry a system if the config has a
    summary. `interval` is used for values without a comparison; `note` names the tests.
    `metadata` has further columns of each run by its name; ``link`` becomes a link of the name.
    """
    systems = systems_of(board)
    metrics = numbers_of(board.metrics)
    runs = grouped_by(systems, lambda system: system.run)
    place = {name: i for i, name in enumerate(runs)}
    rows_of = {name: _columns(members) for name, members in runs.items()}
    for name, row in rows_of.items():
        row |= (metadata or {}).get(name, {})
    columns = list(dict.fromkeys(c for row in rows_of.values() for c in row if c != "link"))
    maker = _Boards(metrics, place, comparisons or UNCOMPARED, interval)
    by_dataset = grouped_by(systems, lambda system: system.dataset)
    boards = [maker.board(members) for members in by_dataset.values()]
    notes = {table.title: list(table.notes) for table in grids(rows)}
    for page_board in boards:
        page_board["notes"] = notes.get(page_board["dataset"], [])
    return {
        "title": title,
        "metrics": [*map(_metric, metrics)],
        "columns": columns,
        "systems": [_system(name, row, columns) for name, row in rows_of.items()],
        "boards": boards,
        "comparisonNote": note,
        "rankingDepth": 0,
        "conventions": [],
        "provenance": dict(provenance),
    }


def _metric(metric: Metric) -> dict[str, Any]:
    direction = {"higher": 1, "lower": -1}.get(metric.definition.direction or "", 0)
    return {
        "name": str(metric),
        "label": str(metric),
        "direction": direction,
        "digits": 0 if metric.definition.summary == "sum" else 4,
    }


def _columns(systems: Sequence[System]) -> dict[str, str]:
    """Return the placeholders that a run has in common on all datasets and in all repetitions."""
    values: dict[str, set[str]] = {}
    for system in systems:
        for entry in system.entries:
            for name, value in entry.columns.items():
                values.setdefault(name, set()).add(value)
    return {name: value for name, (value, *rest) in values.items() if not rest}


def _system(name: str, row: Mapping[str, str], columns: Sequence[str]) -> dict[str, Any]:
    link = row.get("link", "")
    safe = {"link": link} if link.startswith(("https://", "http://")) else {}
    return {"name": name, "columns": [row.get(column, "") for column in columns], **safe}


@dataclass(frozen=True)
class _Boards:
    """Makes the data of each dataset; `place` is that of each run in the page's systems."""

    metrics: Sequence[Metric]
    place: Mapping[str, int]
    comparisons: Comparisons
    interval: Interval

    def board(self, systems: Sequence[System]) -> dict[str, Any]:
        counts = [system.entries[0].evaluation.counts.as_dict() for system in systems]
        return {
            "dataset": systems[0].dataset,
            "group": systems[0].group,
            "whole": systems[0].whole,
            "qids": systems[0].qids,
            "systems": [self.place[system.run] for system in systems],
            "columns": [self.column(systems, metric) for metric in self.metrics],
            "counts": {
                name: np.array([count.get(name, math.nan) for count in counts], float)
                for name in COUNTS
            },
            "warned": [", ".join(system.warned) for system in systems],
            "tests": self.tests(systems[0].dataset),
            "rankings": {},
        }

    def column(self, systems: Sequence[System], metric: Metric) -> dict[str, Any]:
        where = systems[0].dataset, str(metric)
        standings = [self.comparisons.standing(*where, system.run) for system in systems]
        intervals = [
            (standing.low, standing.high) if standing else self.interval(system, metric)
            for system, standing in zip(systems, standings, strict=True)
        ]
        low, high = np.array(intervals).T
        queries = [system.values(metric) for system in systems]
        qids = [system.entries[0].evaluation.qids for system in systems]
        is_comparable = over_same_queries(metric, zip(qids, queries, strict=True))

        def numbers(name: str) -> Floats:
            return np.array([getattr(standing, name, math.nan) for standing in standings], float)

        return {
            "value": np.array([system.value(metric) for system in systems], float),
            "low": low,
            "high": high,
            "rank": numbers("rank"),
            "rankLow": numbers("rank_low"),
            "rankHigh": numbers("rank_high"),
            "tier": [standing.tier if standing else "" for standing in standings],
            "n": np.array([system.n(metric) for system in systems], float),
            "queries": np.stack(queries),
            "note": "" if is_comparable else "no best value: runs were scored on different queries",
        }

    def tests(self, dataset: str) -> dict[str, Floats]:
        """Return a dataset's tests as columns, one entry a test; metrics and runs are numbers."""
        rows = [row for row in self.comparisons.rows if row.dataset == dataset]
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

EMBEDDED = {"tests": 2 << 20, "rankings": 20 << 20}
"""Bytes, before compression, of each part of all boards that the page itself holds."""

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

    Tests and rankings that would make the page large go into side files, one a board.
    """
    report, side = {**report, "boards": [{**board} for board in report["boards"]]}, {}
    for part, limit in EMBEDDED.items():
        if sum(len(_flat(board[part])) for board in report["boards"]) <= limit:
            continue
        for number, board in enumerate(report["boards"]):
            path = f"{name.removesuffix('.html')}_data/{part}-{number}.js"
            data = base64.b64encode(pack(board[part])).decode("ascii")
            side[path] = f'harnessPart("{path}", "{data}");\n'.encode()
            board[part] = path
    return {name: _document(report, bool(side)).encode(), **side}


def _document(report: dict[str, Any], has_side_files: bool) -> str:
    folder = files(__package__)
    script = folder.joinpath("page.js").read_text(encoding="utf-8").strip()
    style = folder.joinpath("src/style.css").read_text(encoding="utf-8")
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
    return f'<section class="panel"><h2>{in_html(board["dataset"])}</h2>{table}</section>'


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
