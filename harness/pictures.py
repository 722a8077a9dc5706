"""Results -> pictures, as asked for on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from tqdm import tqdm

from . import plots, results, store
from .config import Config
from .core.comparison import Plan
from .errors import Problem, UnknownNameError
from .paper import FOLDERS, PLOTS
from .plots import Settings
from .results import Results

T = TypeVar("T")


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
    _check(wanted, found)
    if any(plots.find(kind).needs_comparisons for kind in kinds):
        found = results.with_comparisons(found, _plan(found.config, settings.baseline))
    target = folder / PLOTS if output is None else output
    store.check_writable(target)
    drawn = plots.render_all(found.study, wanted, refuse=True, follow=_with_bar)
    # a run that writes its own pictures there holds the results, and not each file
    with store.locked(folder, FOLDERS) if output is None else nullcontext():
        store.write_all(target, drawn, alone=False)
    return target, list(drawn)


def _with_bar(wanted: Iterable[T]) -> Iterable[T]:
    """Yield each picture, with a bar on a terminal alone."""
    bar: Iterable[T] = tqdm(wanted, unit="picture", disable=None, leave=False)
    return bar


def _check(wanted: Sequence[Settings], found: Results) -> None:
    """Raise where a kind cannot be drawn of these results, before anything is compared or drawn.

    A missing baseline is said as the command's, which has an option for it.
    """
    compare, study = found.config.compare, found.study
    named = () if compare is None else compare.baseline
    runs = study.runs
    first = shlex.quote(next(iter(runs), "RUN"))
    fix = (
        f"give --baseline RUN, such as --baseline {first}; or 'compare: {{baseline: RUN}}' in the "
    )
    problems = []
    for one in wanted:
        if plots.find(one.kind).needs_baseline and one.baseline is None and not named:
            what = f"plots: {one.kind} needs a baseline  (there are: {', '.join(runs)})"
            problems.append(Problem("", what, fix=f"{fix}config"))
        told = plots.problems(one, runs, study.datasets, study.board.metrics, named or runs)
        problems += [Problem("", f"plots: {what}") for _, what in told]
    if problems:
        raise UnknownNameError(list(dict.fromkeys(problems)))


def _plan(config: Config, baseline: str | None) -> Plan | None:
    """Return the config's plan with another baseline; None for its own as it is."""
    plan = Plan() if config.compare is None else config.compare.to_core()
    if baseline is None or (config.compare is not None and baseline in plan.baselines):
        return None
    return replace(plan, baselines=(baseline,))
