"""``harness plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..experiment.results import PLOTS, RENDERED, TIMING, read_results, record_pictures, written
from ..experiment.tables_and_plots import pictures
from ..readers import files as store
from ..reports.plots.plot import Format, PlotSettings, check_installed
from . import options
from .options import Texts
from .printing import show

_KIND = options.Text("Give one, such as distribution; 'harness plot --help' lists all.")
_BASELINE = "For differences and effects; by default the config's."


@options.command()
@options.results
@options.several("kinds", "KIND...", "A kind of plot; --help lists them.", type=_KIND)
@options.metrics("A metric or a pattern such as 'ndcg*'")
@options.many("--dataset", "datasets", metavar="DATASET", help="One plot for each dataset")
@options.many("--run", "runs", metavar="RUN", help="A system or a pattern; '!random' excludes")
@click.option("--baseline", "-b", metavar="RUN", help=_BASELINE)
@options.setting(PlotSettings, "over", metavar="COLUMN", help="For sweep: the column on the axis.")
@options.format_option("png", "svg", "pdf", help="png to look at; svg and pdf for papers.")
@options.setting(PlotSettings, "width", help="3.3 inches, or 7.")
@options.path("--output", "-o", metavar="FOLDER", help="By default 'plots' in that of the results.")
@options.flag("--force", "Replace edited or foreign files in RESULTS/plots.")
def command(
    results: Path, kinds: Texts, format: Format, output: Path | None, force: bool, **settings: Any
) -> None:
    """Draw results: it needs matplotlib, from the extra 'plots'.

    Kinds: differences, cutoffs, distribution, critical-difference, effects, scatter, heatmap,
    sweep.

    \b
    Examples:
      harness plot results/compare distribution heatmap -m map
      harness plot results/compare differences --baseline random --format pdf --width page
      harness plot results/tuned sweep --over lr -m ndcg@10
    """
    if not {"differences", "effects"} & {*kinds}:
        options.refuse(("baseline",), f"{' and '.join(kinds)}")
    if "sweep" not in kinds:
        options.refuse(("over",), f"{' and '.join(kinds)}")
    if output is not None:
        options.refuse(("force",), "--output: files in another folder are replaced")
    settings |= {name: settings[name] or ("*",) for name in ("datasets", "runs")}
    plot_settings = PlotSettings("", formats=(format,), **settings)
    check_installed()
    outcome = read_results(results)
    target = results / PLOTS if output is None else output
    store.check_writable(target)
    drawn = pictures(outcome, kinds, plot_settings)
    if output is not None:
        store.write_all(target, drawn)
    else:
        files = {f"{PLOTS}/{name}": content for name, content in drawn.items()}
        with store.locked(results, RENDERED):  # a run that writes its own pictures holds it too
            store.check_own(results, files, written(results)[0], force=force)
            timing = record_pictures(results, files)
            store.write_all(results, {TIMING: timing, **files})
    show("".join(f"{target / name}\n" for name in drawn))
