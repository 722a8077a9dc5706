"""``harness export``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from ..errors import counted
from ..experiment import export
from ..experiment.results import read_results
from . import options
from .printing import show

To = Literal["json", "dvc", "mlflow", "tensorboard", "wandb"]


@options.command()
@options.results
@options.choice("--to", To, default="json", help="Target of the export.")
@click.option(
    "--project", metavar="NAME", help="Project in the tracker; by default the folder's name."
)
def command(results: Path, to: To, project: str | None) -> None:
    """Export results to an experiment tracker, or as JSON.

    The tracker gets one entry for each run and dataset, with the means. Files for TensorBoard go to
    the folder tensorboard/PROJECT, and files for DVC to dvc/PROJECT.

    \b
    Examples:
      harness export results/quickstart
      harness export results/quickstart --to mlflow --project ranking
    """
    outcome = read_results(results)
    if to == "json":
        options.refuse(("project",), "--to json")
        show(export.to_json(outcome))
        return
    tracker = export.log(outcome, to, project or results.resolve().name)
    n = len(outcome.leaderboard.entries)
    show(f"logged {counted(n, 'run')} to {tracker}\n")
