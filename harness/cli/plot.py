"""``harness plot``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Literal

import click
from tqdm import tqdm

from .. import files as store
<<<<<<< HEAD
from ..config.model import Config
from ..core.comparison import Plan
from ..errors import Problem, UnknownNameError, first_of
from ..experiment import folder as origin
from ..experiment.folder import TIMING
from ..experiment.outcome import Outcome, with_comparisons
from ..reports.paper import FOLDERS, PLOTS
from ..reports.plots import plot as plots
=======
from ..experiment import folder as results_folder
from ..experiment.table_and_plots import pictures
from ..reports.paper import FOLDERS, PLOTS
from ..reports.plots import check_installed
>>>>>>> h-flow
from ..reports.plots.plot import Settings
from . import options
from .printing import show


@click.command()
@options.results
@options.several("kinds", "KIND...", "A kind of plot; --help lists them.")
@options.metrics("A metric or a pattern such as 'ndcg*'")
@options.many("--dataset", "datasets", metavar="DATASET", help="A picture for each")
@options.many("--run", "runs", metavar="RUN", help="A system or a pattern; '!random' excludes")
@click.option(
    "--baseline", "-b", metavar="RUN", help="For differences and effects; by default the config's."
)
@click.option("--over", metavar="COLUMN", default="", help="For sweep: the column on the axis.")
@options.format_option("png", "svg", "pdf", help="png to look at; svg and pdf for papers.")
@options.choice("--width", Literal["column", "page"], default="column", help="3.3 inches, or 7.")
@options.path("--output", "-o", metavar="FOLDER", help="By default 'plots' in that of the results.")
@options.flag("--force", "Replace edited or foreign files in RESULTS/plots.")
def command(
    results: Path, kinds: tuple[str, ...], metrics: tuple[str, ...], datasets: tuple[str, ...],
    runs: tuple[str, ...], baseline: str | None, over: str, format: Literal["png", "svg", "pdf"],
    width: Literal["column", "page"], output: Path | None, force: bool,
) -> None:  # fmt: skip
    """Draw results: needs matplotlib, which the extra 'plots' installs.

    Kinds: differences, cutoffs, distribution, critical-difference, effects, scatter, heatmap,
    sweep.

    \b
    Examples:
      harness plot results/compare distribution heatmap -m map
      harness plot results/compare differences --baseline random --format pdf --width page
      harness plot results/tuned sweep --over lr -m ndcg@10
    """
    settings = Settings(
        "", metrics, datasets or ("*",), runs or ("*",), baseline, width=width, formats=(format,),
        over=over,
    )  # fmt: skip
    check_installed()
    found = results_folder.read(results)
    target = results / PLOTS if output is None else output
    store.check_writable(target)
    bar: Any = partial(tqdm, unit="picture", disable=None, leave=False)
    drawn = pictures(found, kinds, settings, bar)
    if output is not None:
<<<<<<< HEAD
        store.write_all(target, drawn, alone=False)
        return target, list(drawn)
    files = {f"{PLOTS}/{name}": content for name, content in drawn.items()}
    with store.locked(folder, FOLDERS):  # which a run that writes its own pictures holds, too
        store.check_own(folder, files, origin.written(folder).own, force=force)
        timing = origin.record_drawn(folder, files)
        store.write_all(folder, {TIMING: timing, **files}, alone=False)
    return target, list(drawn)


def pictures(found: Outcome, kinds: Sequence[str], settings: Settings) -> dict[str, bytes]:
    """Return pictures of results by file name; `settings` apply to each kind in turn."""
    plots.check_installed()
    wanted = [replace(settings, kind=kind) for kind in kinds]
    _check(wanted, found)
    if any(plots.find(kind).needs_comparisons for kind in kinds):
        found = with_comparisons(found, _plan(found.config, settings.baseline))
    return plots.render_all(found, wanted, refuse=True, follow=_with_bar)


def _with_bar(wanted: Iterable[T]) -> Iterable[T]:
    """Yield each picture, with a bar on a terminal alone."""
    bar: Iterable[T] = tqdm(wanted, unit="picture", disable=None, leave=False)
    return bar


def _check(wanted: Sequence[Settings], found: Outcome) -> None:
    """Raise if a kind cannot be drawn of these results, before anything is compared or drawn."""
    compare, study = found.config.compare, found
    named = () if compare is None else compare.baselines
    runs, datasets, metrics = study.runs, study.datasets, study.board.metrics
    problems = []
    for one in wanted:
        if plots.find(one.kind).needs_baseline and one.baseline is None and not named:
            what = f"plots: {one.kind} needs a baseline  (there are: {first_of(runs, 10)})"
            first = shlex.quote(next(iter(runs), "RUN"))
            fix = f"give --baseline RUN, such as --baseline {first}; or "
            fix += "'compare: {baseline: RUN}' in the config"
            problems.append(Problem("", what, fix=fix))
        wrong = [what for _, what in plots.problems(one, runs, datasets, metrics, named or runs)]
        problems += [Problem("", f"plots: {what}") for what in wrong]
    if problems:
        raise UnknownNameError(list(dict.fromkeys(problems)))


def _plan(config: Config, baseline: str | None) -> Plan | None:
    """Return the config's plan with another baseline; None for its own as it is."""
    plan = Plan() if config.compare is None else config.compare
    if baseline is None or (config.compare is not None and baseline in plan.baselines):
        return None
    return replace(plan, baselines=(baseline,))
=======
        store.write_all(target, drawn)
    else:
        files = {f"{PLOTS}/{name}": content for name, content in drawn.items()}
        with store.locked(results, FOLDERS):  # a run that writes its own pictures holds it too
            store.check_own(results, files, results_folder.written(results).own, force=force)
            timing = results_folder.record_drawn(results, files)
            store.write_all(results, {results_folder.TIMING: timing, **files})
    show("".join(f"{target / name}\n" for name in drawn))
>>>>>>> h-flow
