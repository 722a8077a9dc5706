"""What is wrong or odd with the inputs of an experiment, found before any metric is computed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import config as configs
from ..cells.guarding import as_meant
from ..config import DatasetEntry, RunEntry
from ..config.cells import Cell, missing
from ..config.gaps import name_of
from ..config.validation import MOST
from ..core.grade_check import takes_fractions
from ..core.metric import Metric
from ..core.names import parse
from ..core.policy import Policy
from ..errors import ConfigError, HarnessError, Problem, UnknownNameError
from ..guard.finding import Finding, in_order
from ..guard.registry import finding
from .flow import Checked, check_cells

_LINE = re.compile(r"line (\d+)(?:, column (\d+))?")

__all__ = ["Checked", "check_config", "check_files", "refused"]


def check_config(path: str | Path, overrides: Sequence[str] = ()) -> Checked:
    """Check a config and every file that it names.

    Parameters
    ----------
    path : path
        A YAML file.
    overrides : sequence of str
        ``"policy.ties=stable"``: values put in place of the file's.

    Raises
    ------
    ConfigError
        Where it cannot be read as YAML. All else that is wrong is found.
    """
    cells, parts, problems = configs.examine(path, overrides)
    lacking = missing(cells)
    stopped = [one for one in problems if lacking and one.where.startswith("$.complete")]
    known = [_of_config(str(path), one) for one in problems if one not in stopped]
    if lacking:
        what = f"{len(lacking):,} of {len(lacking) + len(cells):,} cells of the grids are missing"
        names = [name_of(gap) for gap in lacking]
        one = finding("gaps", str(path), what, len(lacking), names)
        for problem in stopped:  # 'complete: true' is wanted, and not to be advised
            where = f"{path}: {problem.where}"
            one = finding("config", where, what, len(lacking), names, "error", fix=problem.fix)
        known.append(one)
    policy = parts.policy.to_core()
    defaults = parts.policy.metric_defaults(parts.convention)
    fractions = takes_fractions(_metrics(parts.metrics.values(), defaults), policy)
    ties = "ties" in parts.policy.model_fields_set
    accept = as_meant(parts.guard.accept, policy, parts.convention, ties)
    return check_cells(
        cells, policy, fractions=fractions, known=known, accept=accept, pooled=parts.summary.pool
    )


def check_files(
    qrels: str, runs: Sequence[str], *, of_qrels: Mapping[str, Any], of_runs: Mapping[str, Any]
) -> Checked:
    """Check judgements and runs, or a learning-to-rank file and its predictions.

    Parameters
    ----------
    qrels : str
        A file.
    runs : sequence of str
        Files; one that is named twice is checked once.
    of_qrels, of_runs : mapping
        How they are read, as in a config: ``{"format": "trec"}``.
    """
    dataset = DatasetEntry(path=qrels, **of_qrels)
    cells = [
        Cell(qrels, run, dataset, RunEntry(path=run, **of_runs), qrels, run, {}, {})
        for run in dict.fromkeys(runs)
    ]
    found = check_cells(cells, Policy(), fractions=True)
    # of one file that is asked about; in a sweep, one of many models may be a random baseline
    wary = [replace(one, severity="warning") if one.rule == "unrelated" else one
            for one in found.findings]  # fmt: skip
    return replace(found, findings=tuple(in_order(wary)))


def refused(path: str, error: HarnessError) -> Checked:
    """Return what was found where nothing could be looked at: a config that is none."""
    if isinstance(error, ConfigError):  # it may be that of a config which this one extends
        path = error.where
    return Checked(tuple(_of_config(path, one) for one in error.problems), ())


def _of_config(path: str, problem: Problem) -> Finding:
    place = path if problem.where in ("", path) else f"{path}: {problem.where}"
    what = problem.what
    if at := _LINE.fullmatch(problem.where):  # of YAML that is none, which has no keys
        place = f"{path}:{at[1]}"
        what = f"column {at[2]}: {what}" if at[2] else what
    if problem.rule == "missing-file" and not problem.where:  # of the config itself
        return finding(problem.rule, path, what, effect="nothing is checked", fix=problem.fix)
    examples = [problem.found] if problem.found else []
    return finding("config", place, what, 1, examples, fix=problem.fix)


def _metrics(names: Iterable[str], defaults: Mapping[str, Any]) -> list[Metric]:
    """Return the metrics that exist, but for what comes after a thousand that do not."""
    found: list[Metric] = []
    n_unknown = 0
    for name in names:
        try:
            found += parse(name, defaults)
        except UnknownNameError:
            n_unknown += 1
            if n_unknown == MOST:
                break
    return found
