"""Results -> a table, as the config says or otherwise."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import results as results_of
from .config import Config
from .core.comparison import Plan
from .core.leaderboard import Entry
from .core.study import Study
from .core.summary import Summary
from .core.systems import dataset_name, run_name
from .errors import HarnessError, HarnessWarning, Problem, UnknownNameError, did_you_mean
from .guard.in_one_line import warned
from .results import Results
from .tables.alike import shown_alike
from .tables.build import build
from .tables.latex_width import too_wide
from .tables.markup import Markup
from .tables.model import PaperTable
from .tables.rendering import Format, render
from .tables.settings import DEFAULT, EXTRAS, Settings


def table_of(
    folder: Path,
    name: str | None = None,
    changes: Mapping[str, Any] | None = None,
    plan: Mapping[str, Any] | None = None,
) -> tuple[PaperTable, Settings, Study]:
    """Return a table of a folder of results.

    Parameters
    ----------
    folder : Path
        What ``harness run`` wrote.
    name : str, optional
        Of a table of its config: the first where left out, or one of everything where the config
        has none.
    changes : mapping
        Settings in place of the config's; see :class:`~harness.tables.settings.Settings`. New
        `names` come on top of the config's.
    plan : mapping
        Parts of a plan of comparisons in place of the config's: runs are compared anew then.

    Raises
    ------
    HarnessError
        Where there are no results, or no such table, run, dataset or metric.
    """
    results = results_of.read(folder)
    called, settings = settings_of(results.config, name)
    names = settings.names
    settings = replace(settings, **(changes or {}))
    settings = replace(settings, names={**names, **settings.names})
    if _needs_comparisons(settings):
        results = _compared(results, plan or {})
    return build(results.study, settings, called), settings, results.study


def text_of(
    folder: Path,
    name: str | None,
    format: Format,
    changes: Mapping[str, Any],
    plan: Mapping[str, Any],
    standalone: bool = False,
) -> str:
    """Return the same as text, in one of the formats."""
    table, settings, study = table_of(folder, name, changes, plan)
    _warn_of(study)
    for said in shown_alike(table, [format]):
        warnings.warn(said, HarnessWarning, stacklevel=2)
    if format == "latex" and not standalone and (what := too_wide(table, settings)):
        warnings.warn(what, HarnessWarning, stacklevel=2)
    return render(table, format, settings, standalone=standalone)


def methods_of(
    folder: Path,
    name: str | None,
    format: Format,
    changes: Mapping[str, Any],
    plan: Mapping[str, Any],
    parts: tuple[bool, bool] = (True, False),
) -> str:
    """Return the methods paragraph of a table, the references that it cites, or both.

    Citations are LaTeX's where `format` is; otherwise keys in brackets.
    """
    from .tables.methods import bibliography, methods

    table, settings, study = table_of(folder, name, changes, plan)
    _warn_of(study)
    runs = {row.run for row in table.rows}
    shown = {one.dataset for one in table.columns}
    entries = [
        one for one in study.board.entries if _belongs(one, study.board.summary, runs, shown)
    ]
    study = replace(study, board=replace(study.board, entries=tuple(entries)))
    metrics = [str(one.metric) for one in table.columns if one.metric is not None]
    markup: Markup = "latex" if format == "latex" else "plain"
    found = [methods(study, markup, metrics=metrics, name=settings.name)]
    found.append(bibliography(study, metrics=metrics))
    return "\n".join(text for text, wanted in zip(found, parts, strict=True) if wanted)


def _warn_of(study: Study) -> None:
    """Say what the guard warned of when the values were computed."""
    found = study.manifest.get("findings", ())
    said = warned((one["rule"], one["severity"]) for one in found)
    if said:
        what = f"the results have {said} of the guard; 'findings' in manifest.json has each"
        warnings.warn(what, HarnessWarning, stacklevel=3)


def _belongs(
    entry: Entry, summary: Summary, runs: Collection[str], datasets: Collection[str | None]
) -> bool:
    """Whether an entry is part of a system of these runs and datasets."""
    dataset = dataset_name(entry, summary)
    return (
        dataset in datasets and run_name(entry.run, entry.columns, entry.pattern, summary) in runs
    )


def settings_of(config: Config, name: str | None) -> tuple[str, Settings]:
    """Return a table's name and settings, as a config has them.

    Raises
    ------
    UnknownNameError
        Where the config has no table of that name.
    """
    if name is None:
        name = next(iter(config.tables), None)
        return ("table", DEFAULT) if name is None else (name, config.tables[name].to_core())
    if name not in config.tables:
        has = f"it has: {', '.join(config.tables)}" if config.tables else "it has none"
        near = did_you_mean(name, config.tables)
        raise UnknownNameError(f"the config of these results has no table '{name}'{near}  ({has})")
    return name, config.tables[name].to_core()


def with_digits(given: Sequence[str]) -> dict[str, int]:
    """Return ``["2", "map=4"]`` as decimals by metric.

    >>> with_digits(["2", "ndcg(gain=exp)@10=4"])
    {'*': 2, 'ndcg(gain=exp)@10': 4}
    """
    found = {}
    for text in given:
        metric, _, digits = text.rpartition("=")
        if not re.fullmatch("[0-9]{1,2}", digits) or int(digits) > 17:
            what = f"--digits takes a number from 0 to 17, or METRIC=NUMBER, and is '{text}'"
            raise UnknownNameError(Problem("", what))
        found[metric or "*"] = int(digits)
    return found


def with_extras(given: Sequence[str]) -> tuple[str, ...]:
    """Return further columns, each of which there is."""
    for name in given:
        if name not in EXTRAS:
            all_ = ", ".join(EXTRAS)
            what = f"--extra is one of {all_}, and not '{name}'{did_you_mean(name, EXTRAS)}"
            raise UnknownNameError(Problem("", what))
    return tuple(given)


def with_names(given: Sequence[str]) -> dict[str, str]:
    """Return ``["bm25=BM25"]`` as names by name; the last ``=`` divides them.

    >>> with_names(["ndcg(gain=exp)@10=nDCG"])
    {'ndcg(gain=exp)@10': 'nDCG'}
    """
    found = {}
    for text in given:
        own, sign, name = text.rpartition("=")
        if not sign or not own:
            raise UnknownNameError(Problem("", f"--name takes OLD=NEW, and is '{text}'"))
        found[own] = name
    return found


def _needs_comparisons(settings: Settings) -> bool:
    extras = {"tier", "rank"} & {*settings.extras}
    return settings.marks != "none" or bool(extras) or settings.spread == "interval"


def _compared(results: Results, changes: Mapping[str, Any]) -> Results:
    """Return results with comparisons; without, where runs that failed leave nothing to compare."""
    try:
        return results_of.with_comparisons(results, _plan(results, changes))
    except HarnessError as error:
        if changes or not results.study.failed:
            raise
        what = f"runs could not be evaluated, and the others are not compared: {error}"
        warnings.warn(what, HarnessWarning, stacklevel=4)
        return results


def _plan(results: Results, changes: Mapping[str, Any]) -> Plan | None:
    if not changes:
        return None
    given = results.config.compare
    return replace(Plan() if given is None else given.to_core(), **changes)
