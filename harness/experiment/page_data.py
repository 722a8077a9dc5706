"""Data of the report page, from the values, tests, manifest and tables of results."""

from __future__ import annotations

import csv
import io
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ..config.model import Config
from ..core.entries import System
from ..core.metric import Metric
from ..core.names import why_not
from ..errors import InputError, Problem, said_by
from ..guard.check_report import rule_address
from ..input_files import add_inputs
from ..reports import comparisons as comparing
from ..reports.leaderboard import find
from ..reports.methods import methods
from ..reports.page import Interval, PageSettings, html_files, report
from ..reports.paper_table.build import build
from ..reports.paper_table.model import render
from ..reports.paper_table.settings import DEFAULT
from ..reports.select import value_for
from ..stats.comparison import Plan
from ..stats.intervals import summary_interval
from .manifest import PER_QUERY
from .results import PAGE

if TYPE_CHECKING:
    from .results import Results

DOWNLOAD = 1 << 20
"""Characters of the largest file that the page holds for downloading; others are links."""
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
    """Return the data of the page without rankings and conventions."""
    config, comparisons = outcome.config, outcome.comparisons
    why = "an average is not tested" if config.summary.average else "'compare: {}' adds them"
    test = f"The config has no tests, so there are no tiers and ranges of ranks: {why}."
    if comparisons is not None:
        test = next(iter(comparing.notes(comparisons)), "") + "."
    interval = interval_of(config.compare or Plan(), config.summary.average)
    about: dict[str, Any] = {
        "provenance": _provenance(outcome),
        "note": test,
        "metadata": _metadata(config),
    }
    boards = outcome.board, outcome.leaderboard
    data = report(config.name, *boards, comparisons, interval=interval, **about)
    for one in data["metrics"]:
        one["label"] = value_for(config.names, one["name"], one["label"], patterns=False)
    if config.page.queries:
        data["texts"] = texts_of(config.base / config.page.queries)
    return data


def page_documents(data: dict[str, Any], config: Config) -> dict[str, bytes]:
    """Return the page with the config's names, and its side files."""
    _rename(data["systems"], "name", "run", config.names)
    _rename(data["boards"], "dataset", "key", config.names)
    return html_files(data, PAGE)


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


def _metadata(config: Config) -> dict[str, dict[str, str]]:
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


def texts_of(path: Path) -> dict[str, str]:
    """Return the texts of a file of lines of identifier, tab, text."""
    found = {}
    for number, line in enumerate(_text(path).splitlines(), 1):
        identifier, tab, text = line.partition("\t")
        if not tab:
            what = "expected an identifier, a tab and a text, got no tab"
            raise InputError(Problem(f"{path}:{number}", what))
        found[identifier] = text
    return found


def _text(path: Path) -> str:
    add_inputs(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(Problem(str(path), f"cannot be read: {said_by(error)}")) from error


def _provenance(outcome: Results) -> dict[str, Any]:
    """Return where the numbers come from, as the page shows it."""
    manifest, folder = outcome.manifest, shlex.quote(outcome.config.output)
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
    csvs = {
        "leaderboard.csv": find("csv").render(outcome.leaderboard, comparisons=outcome.comparisons)
    }
    if outcome.comparisons is not None:
        csvs |= {n: c.decode() for n, c in comparing.files(outcome.comparisons).items()}
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
                "severity": one.severity,
                "rule": one.rule,
                "link": rule_address(one.rule),
                "text": f"{one.place}: {one.what}",
            }
            for one in manifest.findings
            if one.severity != "note"
        ],
        "methods": methods(outcome, "plain").strip(),
        "config": yaml.safe_dump(manifest.config, sort_keys=False, allow_unicode=True),
        "commands": [
            ["Check every digit", f"harness verify {folder}"],
            ["Trace one number", trace],
            ["Trace one query's number", f"{trace} --query {shlex.quote(first.qids[0])}"],
        ],
        "results": folder,
        "downloads": [
            *(download(name, "text/csv", text) for name, text in csvs.items()),
            *(download(name, "text/x-tex", text) for name, text in tables),
            {"name": PER_QUERY},
        ],
    }


def download(name: str, kind: str, text: str) -> dict[str, str]:
    """Return a file that the page holds, or the name of a large one next to the page."""
    return {"name": name} | ({"type": kind, "text": text} if len(text) <= DOWNLOAD else {})
