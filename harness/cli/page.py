"""``harness page``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from .. import files as output
from ..errors import InputError, Problem
from ..experiment import folder as results_folder
from ..experiment import page as report_page
from ..experiment.outcome import with_comparisons
from . import options


@click.command(cls=options.Command)
@click.argument(
    "results", metavar="RESULTS [NEW]", nargs=-1, required=True, type=Path,
    help="A folder that 'harness run' wrote; or an old and a new one.",
)  # fmt: skip
@click.option(
    "--output",
    "-o",
    "target",
    metavar="FILE",
    type=Path,
    help="The page; RESULTS/page.html by default.",
)
@click.option(
    "--rankings",
    metavar="N",
    type=options.Whole(0),
    help="Documents shown of each query and system.",
)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
def command(
    results: tuple[Path, ...], target: Path | None, rankings: int | None, force: bool
) -> None:
    """Write the report page: one HTML file that needs no network.

    It shows the leaderboard, pairs of systems, queries, rankings, and where the numbers come
    from. With an old and a new folder it also shows what changed.

    \b
    Example:
      harness page results/quickstart -o leaderboard.html
    """
    if len(results) > 2:
        raise click.UsageError("expected one folder of results, or an old and a new one")
    outcome = with_comparisons(results_folder.read(results[-1]))
    if rankings is not None:
        settings = replace(outcome.config.page, rankings=rankings)
        outcome = replace(outcome, config=outcome.config.model_copy(update={"page": settings}))
    old = results_folder.read(results[0]) if len(results) == 2 else None
    files = report_page.page_files(outcome, old)
    target = target or results[-1] / report_page.PAGE
    named = {
        target.name if name == report_page.PAGE else name: content
        for name, content in files.items()
    }
    own = (
        set(outcome.manifest["outputs"])
        if target.parent.resolve() == results[-1].resolve()
        else set()
    )
    for name in named:
        path = target.parent / name
        if path.exists() and not force and name not in own and path.read_bytes() != named[name]:
            raise InputError(
                Problem(str(path), "the file exists", fix="name another with -o, or add --force")
            )
    output.write_all(target.parent, named)
    size = sum(map(len, named.values()))
    output.show(f"written to {target} ({size / 1e6:.1f} MB)\n")
