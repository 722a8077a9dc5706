"""``harness check``."""

from __future__ import annotations

import os
from typing import Literal

import click

from .. import files as output
from ..errors import ConfigError, HarnessError, InputError, Problem
from ..guard import check
from . import options


@click.command(cls=options.Command)
@click.argument(
    "first",
    metavar="CONFIG|QRELS",
    help="A YAML config, or judgements followed by runs.",
)
@click.argument(
    "runs",
    metavar="[RUN]...",
    nargs=-1,
    help="Run files, or predictions for the rows of a LETOR file.",
)
@click.option("--strict", is_flag=True, help="Exit 1 where anything is warned of.")
@click.option("--no-notes", is_flag=True, help="Leave notes out of the text, and say how many.")
@options.overrides
@options.duplicates
@options.file_formats
@options.format_option("text", "json")
def command(
    first: str,
    runs: tuple[str, ...],
    strict: bool,
    no_notes: bool,
    overrides: tuple[str, ...],
    duplicates: str,
    qrels_format: str | None,
    run_format: str | None,
    group: str | None,
    format: Literal["text", "json"],
) -> None:
    """Find what would make numbers wrong, before any is computed.

    Reads every file of a config, or those given, to the end, goes on after errors, and looks for
    mismatches: predictions of another fold or shifted by a line, labels in place of scores, files
    cut short, columns or files that changed places, documents that no judgement knows. Each
    finding says where, how often, what it does to the numbers, and how to fix it.
    docs/reference/rules.md has every rule.

    Exit codes: 0; 1 with --strict where there are warnings; 2 where there are errors.

    \b
    Examples:
      harness check configs/sweep.yaml
      harness check qrels.txt bm25.run dense.run.gz --strict --no-notes
      harness check test.txt predictions.txt --format json
    """
    is_config = first.endswith((".yaml", ".yml"))
    if runs and is_config:
        raise click.BadParameter("a config names its runs itself; give it alone")
    if runs:
        of_qrels = {"format": qrels_format, "group": group, "duplicates": duplicates}
        of_runs = {"format": run_format, "duplicates": duplicates}
        found = check.check_files(first, runs, of_qrels=of_qrels, of_runs=of_runs)
    else:
        try:
            found = check.check_config(first, overrides)
        except (ConfigError, InputError) as error:
            wrong: HarnessError = error
            if isinstance(error, ConfigError) and not is_config and os.path.isfile(first):
                what = "it is no config, and judgements by themselves are not enough"
                fix = "harness check CONFIG, or harness check QRELS RUN..."
                wrong = InputError(Problem(first, what, fix=fix))
            found = check.refused_config(first, wrong)
    json = format == "json"
    output.show(check.as_json(found) if json else check.as_text(found, notes=not no_notes))
    if found.count("error"):
        raise click.exceptions.Exit(2)
    if strict and found.count("warning"):
        raise click.exceptions.Exit(1)
