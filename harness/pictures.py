"""Results -> pictures, as asked for on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from . import plots, results, store
from .config import Config
from .core.comparison import Plan
from .errors import Problem, UnknownNameError
from .paper import FOLDERS, PLOTS
from .plots import Settings
from .results import Results


def draw(
    folder: Path, kinds: Sequence[str], settings: Settings, output: Path | None = None
) -> tuple[Path, list[str]]:
    """Draw pictures of a folder of results, and write them.

    Parameters
    ----------
    folder : Path
        What ``harness run`` wrote.
    kinds : sequence of str
    settings : Settings
        Whose kind is each of these in turn.
    output : Path, optional
        Folder for the files; ``plots`` in that of the results where left out.

    Returns
    -------
    Path, list of str
        The folder and the names of the files.

    Raises
    ------
    HarnessError
        Where there are no results, nothing can be drawn, or matplotlib is not installed.
    """
    plots.check_installed()
    wanted = [replace(settings, kind=kind) for kind in kinds]
    found = results.read(folder)
    _check_baseline(kinds, settings, found)
    if any(plots.find(kind).needs_comparisons for kind in kinds):
        found = results.with_comparisons(found, _plan(found.config, settings.baseline))
    target = folder / PLOTS if output is None else output
    store.check_writable(target)
    drawn = plots.render_all(found.study, wanted, refuse=True)
    # a run that writes its own pictures there holds the results, and not each file
    with store.locked(folder, FOLDERS) if output is None else nullcontext():
        store.write_all(target, drawn, alone=False)
    return target, list(drawn)


def _check_baseline(kinds: Sequence[str], settings: Settings, found: Results) -> None:
    """Raise where a kind needs a baseline, and neither the command nor the config names one."""
    compare = found.config.compare
    if settings.baseline is not None or (compare is not None and compare.baseline):
        return
    runs = found.study.runs
    first = shlex.quote(next(iter(runs), "RUN"))
    fix = (
        f"give --baseline RUN, such as --baseline {first}; or 'compare: {{baseline: RUN}}' in the "
    )
    problems = [
        Problem(
            "",
            f"plots: {kind} needs a baseline  (there are: {', '.join(runs)})",
            fix=f"{fix}config",
        )
        for kind in kinds
        if plots.find(kind).needs_baseline
    ]
    if problems:
        raise UnknownNameError(problems)


def _plan(config: Config, baseline: str | None) -> Plan | None:
    """Return the config's plan with another baseline; None for its own as it is."""
    plan = Plan() if config.compare is None else config.compare.to_core()
    if baseline is None or (config.compare is not None and baseline in plan.baselines):
        return None
    return replace(plan, baselines=(baseline,))
