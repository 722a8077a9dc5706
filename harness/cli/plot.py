"""``harness plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..core.arguments import parameters_of
from ..experiment.results import PLOTS, add_files, read_results
from ..experiment.tables_and_plots import plot
from ..readers import files as store
from ..reports.plots.plot import Format, PlotSettings, check_installed, find
from . import options
from .options import Texts
from .printing import show

_OVER = "For sweep, curve, pareto: the column on the axis."
_BASELINE = "For differences and effects; by default the config's."


@options.command()
@options.results
@options.several("kinds", "[KIND]...", "Kinds of plot; by default two or three that suit.", False)
@options.metrics("A metric or a pattern such as 'ndcg*'")
@options.many("--dataset", "datasets", metavar="DATASET", help="One plot for each dataset")
@options.many("--run", "runs", metavar="RUN", help="A run or a pattern; '!random' excludes one")
@click.option("--baseline", "-b", metavar="RUN", help=_BASELINE)
@options.setting(PlotSettings, "over", metavar="COLUMN", show_default=False, help=_OVER)
@options.format_option("png", "svg", "pdf", help="Format; svg and pdf are for papers.")
@options.setting(PlotSettings, "width", help="3.3 inches (column) or 7 inches (page).")
@options.overrides
@options.path("--output", "-o", metavar="FOLDER", help="Output folder; by default RESULTS/plots.")
@options.flag("--force", "Replace edited or foreign files in RESULTS/plots.")
def command(
    results: Path, kinds: Texts, format: Format, output: Path | None, force: bool,
    overrides: Texts, **settings: Any,
) -> None:  # fmt: skip
    """Draw figures of results (needs matplotlib).

    The extra 'plots' installs matplotlib. --set takes the keys style and names of 'plots:'.

    \b
    Kinds:
      differences, effects, critical-difference    runs against others
      distribution, difficulty, heatmap            values of queries
      cutoffs, precision-recall                    values by depth
      sweep, curve                                 values by a setting or step
      scatter, pareto                              two runs, two metrics
      metric-correlation, run-similarity           matrices

    \b
    Examples:
      harness plot results/compare
      harness plot results/compare distribution heatmap -m map
      harness plot results/compare differences -b random -f pdf --width page
      harness plot results/tuned sweep --over lr -m ndcg@10
      harness plot results/compare effects --set "plot.style={font: serif}"
    """
    drawn_kinds = [find(kind) for kind in kinds]
    where = " and ".join(kinds)
    if kinds and not any(kind.needs_baseline for kind in drawn_kinds):
        options.refuse(("baseline",), where)
    if not any(kind.over for kind in drawn_kinds):
        options.refuse(("over",), where or "pictures that suit the results: it needs a kind")
    if kinds and not any(kind.takes_metrics for kind in drawn_kinds):
        options.refuse(("metrics",), where)
    if output is not None:
        options.refuse(("force",), "--output: files in another folder are replaced")
    settings |= {name: settings[name] or ("*",) for name in ("datasets", "runs")}
    keys = [key for key in parameters_of(PlotSettings) if key not in ("kind", "formats")]
    settings |= options.sections(overrides, {"plot": keys})["plot"]
    check_installed()
    outcome = read_results(results)
    target = results / PLOTS if output is None else output
    store.check_writable(target)
    drawn = plot(outcome, kinds, formats=(format,), **settings).files
    if output is not None:
        store.write_all(target, drawn)
    else:
        files = {f"{PLOTS}/{name}": content for name, content in drawn.items()}
        add_files(results, files, force=force)
    show("".join(f"{target / name}\n" for name in drawn))
