"""The arguments of ``harness check``; what it does is loaded when it is called."""

from __future__ import annotations

import os
from typing import Annotated, Literal

import typer

from ..errors import ConfigError, HarnessError, InputError, Problem
from . import options


def check_command(
    first: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG|QRELS",
            help="A YAML config; or judgements, or a learning-to-rank file, with runs after it.",
        ),
    ],
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="Run files, or one prediction a line where QRELS is a LETOR file.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 where anything is warned of.")
    ] = False,
    no_notes: Annotated[
        bool, typer.Option("--no-notes", help="Leave notes out of the text, and say how many.")
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override one value of the config."),
    ] = None,
    duplicates: options.Twice = "error",
    qrels_format: options.QrelsFormat = None,
    run_format: options.RunFormat = None,
    group: options.Group = None,
    format: Annotated[
        Literal["text", "json"], typer.Option("--format", "-f", help="How to print it.")
    ] = "text",
) -> None:
    """Find what would make numbers wrong, before any is computed.

    Reads every file of a config, or those given, to the end, goes on after errors, and looks for
    mismatches: predictions of another fold or shifted by a line, labels in place of scores, files
    cut short, columns or files that changed places, documents that no judgement knows. Each
    finding says where, how often, what it does to the numbers, and how to mend it. docs/check.md
    has every rule.

    Exit codes: 0; 1 with --strict where there are warnings; 2 where there are errors.

    \b
    Examples:
      harness check configs/sweep.yaml
      harness check qrels.txt bm25.run dense.run.gz --strict --no-notes
      harness check test.txt predictions.txt --format json
    """
    from .. import check, output
    from ..check.report import as_json, text

    is_config = first.endswith((".yaml", ".yml"))
    if runs and is_config:
        raise typer.BadParameter("a config names its runs itself; give it alone")
    if runs:
        of_qrels = {"format": qrels_format, "group": group, "duplicates": duplicates}
        of_runs = {"format": run_format, "duplicates": duplicates}
        found = check.check_files(first, runs, of_qrels=of_qrels, of_runs=of_runs)
    else:
        try:
            found = check.check_config(first, set_ or [])
        except (ConfigError, InputError) as error:
            wrong: HarnessError = error
            if isinstance(error, ConfigError) and not is_config and os.path.isfile(first):
                what = "it is no config, and judgements by themselves are not enough"
                fix = "harness check CONFIG, or harness check QRELS RUN..."
                wrong = InputError(Problem(first, what, fix=fix))
            found = check.refused(first, wrong)
    output.show(as_json(found) if format == "json" else text(found, notes=not no_notes))
    if found.count("error"):
        raise typer.Exit(2)
    if strict and found.count("warning"):
        raise typer.Exit(1)
