"""The arguments of ``harness plot``; what it does is loaded when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def plot_command(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A folder that 'harness run' wrote.")
    ],
    kinds: Annotated[
        list[str],
        typer.Argument(
            metavar="KIND...",
            help="differences, cutoffs, distribution, critical-difference, effects, scatter, "
            "heatmap.",
        ),
    ],
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", help="A picture for each, or a pattern such as 'ndcg*'; repeatable."
        ),
    ] = None,
    datasets: Annotated[
        list[str] | None, typer.Option("--dataset", help="A picture for each; repeatable.")
    ] = None,
    runs: Annotated[
        list[str] | None,
        typer.Option(
            "--run", help="A system drawn, or a pattern; '!random' leaves out; repeatable."
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", "-b", help="For differences and effects; by default the config's."
        ),
    ] = None,
    format: Annotated[
        Literal["png", "svg", "pdf"],
        typer.Option("--format", "-f", help="png to look at; svg and pdf for papers."),
    ] = "png",
    width: Annotated[Literal["column", "page"], typer.Option(help="3.3 inches, or 7.")] = "column",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="By default 'plots' in that of the results."
        ),
    ] = None,
) -> None:
    """Draw results: needs matplotlib, which the extra 'plots' installs.

    \b
    Examples:
      harness plot results/compare distribution heatmap -m map
      harness plot results/compare differences --baseline random --format pdf --width page
    """
    from .. import output as printed
    from .. import pictures
    from ..plots import Settings

    settings = Settings(
        "", tuple(metrics or ()), tuple(datasets or ("*",)), tuple(runs or ("*",)), baseline,
        width=width, formats=(format,),
    )  # fmt: skip
    folder, names = pictures.draw(results, kinds, settings, output)
    printed.show("".join(f"{folder / name}\n" for name in names))
