"""``harness similarity``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast, get_args

import click

from ..errors import Problem, UnknownNameError, collecting
from ..experiment.rankings import similarities
from ..experiment.results import read_results
from ..input_files import check_outputs
from ..metrics.rank_similarity import Measure
from ..readers.files import writing
from ..reports import rankings as report
from ..reports.plots.plot import Format
from . import options
from .printing import show_grids


@click.command()
@options.results
@options.choice("--measure", Measure, default="rbo", help="How to compare rankings.")
@click.option("-p", metavar="P", type=float, default=0.9, help="Persistence of RBO.")
@click.option(
    "--depth",
    metavar="K",
    type=options.Whole(1),
    default=1000,
    help="Compare the first K documents.",
)
@options.many("--dataset", "datasets", metavar="DATASET", help="Only this one")
@click.option(
    "--near",
    metavar="X",
    type=float,
    default=0.95,
    help="List pairs with at least this similarity.",
)
@options.path("--plot", "picture", metavar="FILE", help="Draw a tree: png, svg, pdf.")
@options.format_option(*report.FORMATS, help="csv and jsonl have every pair.")
def command(results: Path, near: float, picture: Path | None, format: str, **settings: Any) -> None:
    """Find runs whose rankings are nearly the same.

    Compares the rankings of every pair of runs, query by query, with rank-biased overlap or the
    overlap of their first documents. It uses no qrels.

    \b
    Examples:
      harness similarity results/quickstart
      harness similarity results/quickstart --plot tree.png --format csv
    """
    outcome = read_results(results)
    if picture is not None:
        check_outputs(picture.parent, [picture.name])
    with collecting([]):  # 'harness run' printed them
        found = similarities(outcome.config, **settings)
    if picture is not None:
        kind = cast(Format, picture.suffix[1:])
        if kind not in get_args(Format):
            what = f"expected a file of plots, got '{picture}'"
            fix = "end its name in .png, .svg or .pdf"
            raise UnknownNameError(Problem("--plot", what, fix=fix))
        for one in found:
            path = picture
            if len(found) > 1:
                path = picture.with_stem(f"{picture.stem}-{one.dataset}")
            with writing(path) as file:
                file.write(report.tree(one, kind, outcome.trace))
    grids = report.similarity_grids(found, near)
    show_grids(grids, format, report.similarity_records(found))
