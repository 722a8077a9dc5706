"""``harness similarity``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast, get_args

import click

from ..errors import Problem, UnknownNameError
from ..experiment.rankings import similarities
from ..experiment.results import Results, read_results
from ..input_files import check_outputs
from ..metrics.rank_similarity import Measure
from ..readers.files import write_all
from ..reports import rankings as report
from ..reports.plots.plot import Format
from ..stats.metric_correlation import correlations
from . import options
from .printing import show_grids

_OF_RUNS = ("measure", "p", "depth", "near", "picture")
_NEAR = "List pairs with at least this similarity."
_OF_METRICS = ("metrics", "draws")


@options.command()
@options.results
@options.choice("--measure", Measure, default="rbo", help="Measure of similarity.")
@options.persistence
@options.whole("--depth", least=1, default=1000, help="Compare only the first N documents.")
@click.option("--near", metavar="X", type=float, default=0.95, help=_NEAR)
@options.path("--plot", "picture", metavar="FILE", help="Draw a tree: png, svg, pdf.")
@options.many("--dataset", "datasets", metavar="DATASET", help="Use only this dataset")
@click.option("--metrics", "of_metrics", is_flag=True, help="Compare metrics instead of runs.")
@options.metrics("A metric to compare, with --metrics")
@options.whole("--draws", least=1, default=1000, help="Bootstrap samples, with --metrics.")
@options.format_option(*report.FORMATS, help="Format; csv and jsonl have every pair.")
def command(
    results: Path, near: float, picture: Path | None, of_metrics: bool, format: str, **settings: Any
) -> None:
    """Find runs with similar rankings, or metrics that agree.

    The command compares the rankings of every pair of runs, query by query, by rank-biased overlap
    or the overlap of their first documents. It does not use qrels.

    With --metrics, it prints tau-b and tau_ap of the orders of systems by every pair of metrics,
    with intervals. Pairs that agree least come first.

    \b
    Examples:
      harness similarity results/quickstart
      harness similarity results/quickstart --plot tree.png --format csv
      harness similarity results/quickstart --metrics -m map -m ndcg@10
    """
    metrics, draws = settings.pop("metrics"), settings.pop("draws")
    if of_metrics:
        options.refuse(_OF_RUNS, "--metrics")
        systems = read_results(results).systems
        agreement = correlations(systems, metrics, settings["datasets"], draws=draws)
        show_grids(report.correlation_grids(agreement), format, [*map(vars, agreement)])
        return
    options.refuse(_OF_METRICS, "rankings of runs: it needs --metrics")
    outcome = read_results(results)
    if picture is not None:
        check_outputs(picture.parent, [picture.name])
    pairs = similarities(outcome.config, **settings)
    if picture is not None:
        _draw(pairs, picture, outcome)
    show_grids(report.similarity_grids(pairs, near), format, report.similarity_records(pairs))


def _draw(pairs: list[Any], picture: Path, outcome: Results) -> None:
    """Write a tree for each dataset."""
    kind = cast(Format, picture.suffix[1:])
    if kind not in get_args(Format):
        message = f"expected a file of plots, got '{picture}'"
        fix = "end its name in .png, .svg or .pdf"
        raise UnknownNameError(Problem("--plot", message, fix=fix))
    for of_dataset in pairs:
        path = picture
        if len(pairs) > 1:
            path = picture.with_stem(f"{picture.stem}-{of_dataset.dataset}")
        write_all(path.parent, {path.name: report.tree(of_dataset, kind, outcome.trace)})
