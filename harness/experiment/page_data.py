"""Data of the report page, from the values, tests, manifest and tables of results."""

from __future__ import annotations

import csv
import io
import math
import os
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from ..config.cells import Cell
from ..config.model import Config
from ..core.entries import System
from ..core.leaderboard import numbers_of
from ..core.metric import Metric
from ..core.names import why_not
from ..core.rules import RULES
from ..core.systems import system_key, systems_of
from ..errors import Finding, HarnessError, InputError, Problem, first_of, said_by, warn
from ..guard.check_report import rule_address
from ..input_files import add_inputs, url_of
from ..readers.files import is_file
from ..readers.source import Source, missing
from ..readers.texts_by_id import read_texts
from ..reports import comparisons as comparing
from ..reports.leaderboard import as_csv
from ..reports.methods import methods
from ..reports.page import Interval, PageSettings, html_files, report
from ..reports.paper_table.build import build
from ..reports.paper_table.model import render
from ..reports.paper_table.settings import DEFAULT
from ..reports.phrases import capitalised
from ..reports.select import sort_metric
from ..stats.comparison import Plan
from ..stats.intervals import summary_interval
from .manifest import PER_QUERY, Manifest, Paths
from .results import PAGE, check_inputs

if TYPE_CHECKING:
    from .results import Results

DOWNLOAD = 1 << 20
"""Characters of the largest file inside the page for download; others are links."""
MOST_JUDGEMENTS = 20 << 20
"""Bytes of judgements that are read again to count grades."""
MOST_GRADES = 10
MOST_TESTS = 10_000
"""Tests up to which ``significance.csv`` may be small enough to be in the page."""
WIDGET = 2 << 20
"""Bytes of the largest page that a notebook shows inside itself."""


def widget(outcome: Results) -> str:
    """Return the report page as a frame for a notebook; empty if it is too large for one."""
    config = outcome.config.model_copy(update={"page": PageSettings()})
    outcome = replace(outcome, config=config)
    files = page_documents(page_data(outcome), config)
    page = files.pop(PAGE)
    if files or len(page) > WIDGET:
        return ""
    style = "width:100%;height:36rem;border:0"
    return f'<iframe title="leaderboard" style="{style}" srcdoc="{escape(page.decode())}"></iframe>'


def page_data(outcome: Results) -> dict[str, Any]:
    """Return the data of the page without what needs the inputs: rankings, judgements, files."""
    config, comparisons = outcome.config, outcome.comparisons
    plan = config.compare or Plan()
    settings = replace(config.page, title=config.page.title or config.name)
    metrics = numbers_of(outcome.board.metrics)
    data = report(
        settings,
        outcome.board,
        comparisons,
        interval=interval_of(plan, config.summary.average),
        provenance=_provenance(outcome),
        names=outcome.names,
        metadata=_metadata_of_runs(config, {entry.run for entry in outcome.board.entries}),
        deciding=sort_metric(metrics, settings.metric or config.sort),
        level=plan.level,
    )
    if config.page.queries:
        data["texts"] = read_texts(Source(str(config.base / config.page.queries)), "qid")
    return data


def page_documents(data: dict[str, Any], config: Config, name: str = PAGE) -> dict[str, bytes]:
    """Return the page `name` with the config's names, and its side files."""
    _rename(data["systems"], "name", "run", config.titles)
    _rename(data["boards"], "dataset", "key", config.titles)
    return html_files(data, name)


def _rename(rows: Sequence[dict[str, Any]], shown: str, own: str, names: Mapping[str, str]) -> None:
    """Give rows the config's names if these tell them apart, and keep their own for commands.

    A slice of queries begins with the name of its dataset.
    """
    labels = []
    for one in rows:
        whole = one.get("whole", one[shown])
        rest = one[shown].removeprefix(whole)
        labels.append(names.get(one[shown], names.get(whole, whole) + rest))
    if len({*labels}) == len(labels):
        for one, label in zip(rows, labels, strict=True):
            one |= {own: one[shown], shown: label} if label != one[shown] else {}


def interval_of(plan: Plan, average: Sequence[str] = ()) -> Interval:
    """Return a function for the interval of a system's value, without a comparison's standings."""

    def interval(system: System, metric: Metric) -> tuple[float, float]:
        if why_not(metric) or average:
            return math.nan, math.nan
        return summary_interval(system, metric, plan)

    return interval


def metadata_of(config: Config) -> dict[str, dict[str, str]]:
    """Return the metadata of each run, by its name."""
    settings = config.page.metadata
    if settings is None:
        return {}
    path = config.base / settings.path
    rows = list(csv.DictReader(io.StringIO(_text(path), newline="")))
    if rows and settings.key not in rows[0]:
        what = f"expected a column '{settings.key}', got {', '.join(map(str, rows[0]))}"
        fix = "name the column of runs with page.metadata.key"
        raise InputError(Problem(f"{path}:1", what, fix=fix))
    return {
        row[settings.key]: {k: v or "" for k, v in row.items() if k and k != settings.key}
        for row in rows
    }


def _metadata_of_runs(config: Config, runs: Collection[str]) -> dict[str, dict[str, str]]:
    """Return the metadata of runs; warn if rows and runs do not have the same names."""
    rows = metadata_of(config)
    if (unused := sorted(rows.keys() - runs)) and (without := sorted(runs - rows.keys())):
        text = f"no row for {first_of(without, 3)}; rows of no run: {first_of(unused, 3)}"
        warn(f"page.metadata: {text}")
    return rows


def _text(path: Path) -> str:
    add_inputs(path)
    if not path.exists():
        raise missing(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(Problem(str(path), f"cannot be read: {said_by(error)}")) from error


def _provenance(outcome: Results) -> dict[str, Any]:
    """Return the origin of the numbers, as on the page."""
    manifest, config = outcome.manifest, outcome.config
    folder = shlex.quote(_from(config.base, config.output))
    values, _ = outcome.recomputed
    modes = dict.fromkeys(one.crosscheck.mode for one in manifest.cells)
    recomputed = f"{values:,} values recomputed by pytrec_eval, all equal"
    commit = ""
    if (git := manifest.git) is not None:
        commit = git.commit + (", changed since" if git.dirty else "")
    versions = {name: text for name, text in manifest.versions.items() if text}
    facts = [
        *versions.items(),
        ("platform", manifest.platform),
        ("git commit", commit),
        ("cross-check", recomputed if values else ", ".join(modes)),
        ("policy", ", ".join(f"{k}: {v}" for k, v in manifest.config.get("policy", {}).items())),
    ]
    first = outcome.systems[0]
    trace = f"harness trace {folder} --run {shlex.quote(first.run)} --metric {first.metrics[0]}"
    if sum(one.run == first.run for one in outcome.systems) > 1:
        trace += f" --dataset {shlex.quote(first.dataset)}"
    csvs = {"leaderboard.csv": as_csv(outcome.leaderboard, comparisons=outcome.comparisons)}
    large = []
    if (comparisons := outcome.comparisons) is not None:
        if len(comparisons.rows) > MOST_TESTS:  # as text they take longer than the whole page
            large = [comparing.SIGNIFICANCE]
            comparisons = replace(comparisons, rows=())
        texts = comparing.files(comparisons).items()
        csvs |= {name: text.decode() for name, text in texts if name not in large}
    untraced = replace(outcome, trace="")  # the manifest's hash depends on the page's
    tables = [
        (f"tables/{name}.tex", render(build(untraced, settings, name), "latex"))
        for name, settings in (outcome.config.tables or {"leaderboard": DEFAULT}).items()
    ]
    return {
        "facts": [[name, str(text)] for name, text in facts if text],
        "inputs": [[one.path, str(one.bytes), one.sha256] for one in manifest.inputs],
        "findings": [
            {
                "severity": finding.severity,
                "rule": finding.rule,
                "link": rule_address(finding.rule),
                "text": f"{finding.place}: {finding.what}",
                "sentence": _sentence(finding),
            }
            for finding in _warnings(manifest)
        ],
        "methods": methods(outcome, "plain", shown=["differences"]).strip(),
        "config": yaml.safe_dump(
            _from_base(config.base, manifest.config), sort_keys=False, allow_unicode=True
        ),
        "commands": [
            ["Check every digit", f"harness verify {folder}"],
            ["Trace one number", trace],
            ["Trace one query's number", f"{trace} --query {shlex.quote(first.qids[0])}"],
        ],
        "results": folder,
        "downloads": [
            *(download(name, "text/csv", text) for name, text in csvs.items()),
            *(download(name, "text/x-tex", text) for name, text in tables),
            *({"name": name, "bytes": _size(outcome, name)} for name in (*large, PER_QUERY)),
        ],
    }


def _warnings(manifest: Manifest) -> list[Finding]:
    return [finding for finding in manifest.findings if finding.severity != "note"]


def _sentence(finding: Finding) -> str:
    """Return a finding without its place, for a reader who has none of the files."""
    effect = finding.effect or RULES[finding.rule].effect if finding.rule in RULES else ""
    return capitalised(": ".join(filter(None, (finding.what, effect)))) + "."


def _from(base: Path, path: str) -> str:
    """Return a path as seen from the config's folder: readers have no use for absolute ones."""
    return os.path.relpath(path, base.resolve()) if os.path.isabs(path) else path


def _from_base(base: Path, settings: Any) -> Any:
    """Return settings of a config without absolute paths."""
    if isinstance(settings, Mapping):
        return {key: _from_base(base, value) for key, value in settings.items()}
    if isinstance(settings, (list, tuple)):
        return [_from_base(base, value) for value in settings]
    return _from(base, settings) if isinstance(settings, str) else settings


def _size(outcome: Results, name: str) -> float:
    """Return the size of a file of results; NaN if it is not known."""
    if name in outcome.files:
        return len(outcome.files[name])
    path = outcome.folder / name
    return path.stat().st_size if is_file(path) and not url_of(outcome.folder) else math.nan


def download(name: str, kind: str, text: str) -> dict[str, Any]:
    """Return a file inside the page, or the name of a large file next to it."""
    entry = {"name": name, "bytes": len(text.encode())}
    return entry | ({"type": kind, "text": text} if len(text) <= DOWNLOAD else {})


def add_files(data: dict[str, Any], outcome: Results, cells: Sequence[Cell]) -> None:
    """Add the files of each system, their findings, and the grades to the data."""
    manifest, base = outcome.manifest, outcome.config.base
    inputs = {record.path: i for i, record in enumerate(manifest.inputs)}
    names = Paths([path for cell in cells for path in cell.run_files], base).names
    found: dict[str, list[int]] = {}
    for i, finding in enumerate(_warnings(manifest)):
        file = finding.place.file  # with the line if it was read from a manifest
        for path in {file, file.rpartition(":")[0], *finding.examples, *finding.others}:
            found.setdefault(path, []).append(i)
    keys = {entry.key: system for system in systems_of(outcome.board) for entry in system.entries}
    summary = outcome.board.summary
    systems = {one.key: keys.get(system_key(one, summary)) for one in outcome.board.entries}
    files: dict[tuple[str, str], dict[str, None]] = {}
    datasets: dict[str, list[Cell]] = {}
    for cell in cells:
        if (system := systems.get(cell.key)) is not None:
            paths = [names[path] for path in cell.run_files]
            files.setdefault((system.dataset, system.run), {}).update(dict.fromkeys(paths))
            datasets.setdefault(system.dataset, []).append(cell)
    runs = [system["name"] for system in data["systems"]]
    for board in data["boards"]:
        own = [files.get((board["whole"], runs[system]), {}) for system in board["systems"]]
        board["files"] = [[inputs[path] for path in paths if path in inputs] for paths in own]
        board["findings"] = [[i for path in paths for i in found.get(path, ())] for paths in own]
        if board["dataset"] in datasets:
            board |= _judged(board["qids"], datasets[board["dataset"]], outcome)


def _judged(qids: Sequence[str], cells: Sequence[Cell], outcome: Results) -> dict[str, Any]:
    """Count documents by grade for each query; nothing if the files are large."""
    entries = {cell.dataset_entry.path: cell for cell in cells}
    counts: dict[tuple[str, float], int] = {}
    own = {*qids}
    try:
        sizes = [path.stat().st_size for path in map(Path, entries)]
        if sum(sizes) > MOST_JUDGEMENTS:
            return {}
        check_inputs(outcome.folder, outcome.manifest, only=entries)
        for cell in entries.values():
            qrels = cell.read_qrels()
            for qid, judged in qrels.to_dict().items():
                name = qid if qid in own else f"{cell.dataset}/{qid}"
                for grade, n in Counter(judged.values()).items():
                    counts[name, grade] = n
    except (OSError, HarnessError):
        return {}
    grades = sorted({grade for _, grade in counts})
    if not 0 < len(grades) <= MOST_GRADES:
        return {}
    table = [[counts.get((qid, grade), 0) for qid in qids] for grade in grades]
    return {"grades": grades, "judged": np.array(table, float)}
