"""``harness table``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import click

from ..core.arguments import parameters_of
from ..errors import UnknownNameError, warn
from ..experiment.results import read_results
from ..experiment.tables_and_plots import best_first, settings_of, table
from ..guard.findings import warning_summary
from ..reports.paper_table.model import misfits, render
from ..reports.paper_table.settings import (
    Cite,
    Delta,
    Format,
    Marks,
    Spread,
    TableSettings,
)
from ..reports.sweep import sweep_table
from ..stats.comparison import Plan
from . import options
from .options import Texts
from .printing import show, terminal_width

_SWEPT = {
    "results", "format", "metrics", "runs", "datasets", "names", "digits", "percent", "arrows",
    "width", "document_class", "sweep", "top", "overrides",
}  # fmt: skip
"""Options of a table of --sweep."""
_KEYS = [key for key in parameters_of(TableSettings) if key != "formats"]
_LATEX = ["width", "document_class", "cite", "longtable", "caption_latex", "label"]
_OF_METHODS = {"metrics", "runs", "datasets", "names", "marks", "cite"}


@options.command()
@options.results
@options.argument("name", "[NAME]", "A table of the config; by default the first.", required=False)
@options.format_option(*get_args(Format), default="text", help="Format of the table.")
@options.metrics("Metric, or a pattern such as 'ndcg*'")
@options.many("--run", "runs", metavar="RUN", help="Row, or a pattern; '!random' excludes one")
@options.many("--dataset", "datasets", metavar="DATASET", help="Dataset, a block of columns")
@options.many("--name", "names", metavar="OLD=NEW", help="New name in the table")
@click.option("--sort", metavar="METRIC", help="Sort rows by this metric, best first.")
@options.whole("--top", least=1, help="Show the best N rows, or settings of --sweep.")
@options.many("--digits", metavar="N", help="Number of decimals, or METRIC=N")
@options.choice("--spread", Spread, help="Add a deviation, error or interval to each value.")
@options.choice("--delta", Delta, help="Add the change from the baseline.")
@options.choice("--marks", Marks, help="Marks of significance.")
@options.whole("--columns", least=1, help="Split a long table into N parts, side by side.")
@options.setting(TableSettings, "width", default=None, help="LaTeX: width; page is table*.")
@options.choice("--cite", Cite, help="LaTeX: command for citations.")
@options.overrides
@options.flag("--methods", "Sentences for the methods section, instead of the table.")
@options.flag("--bibtex", "The references that --methods cites.")
@options.many("--sweep", metavar="COLUMN", help="Print values by a setting, such as lr")
@options.comparison
def command(
    results: Path, name: str | None, format: Format, names: Texts, digits: Texts, baselines: Texts,
    overrides: Texts, methods: bool, bibtex: bool, sweep: Texts,
    **settings: Any,
) -> None:  # fmt: skip
    """Print a table for a paper, with significance and caption.

    Options that you leave out have the values of 'tables:' in the config. --set sets other keys of
    a table, as in table.percent=true: arrows, average, best, caption, document_class, extras,
    label, leading_zero, longtable, percent, transpose. The command warns if a table in LaTeX does
    not fit its page.

    \b
    Examples:
      harness table results/compare --format latex > table.tex
      harness table results/compare --sort map --spread deviation
      harness table results/compare --methods --format latex
      harness table results/tuned --sweep lr --top 5
    """
    width = terminal_width(format)
    if sweep:
        options.allow(_SWEPT, "--sweep")
        options.refuse({*_KEYS} - _SWEPT, "--sweep")
    if methods or bibtex:
        options.refuse({*_KEYS} - _OF_METHODS, "--methods and --bibtex")
        if not methods:
            options.refuse(("format", "names"), "--bibtex alone")
        elif format not in ("latex", "text"):
            options.refuse(("format",), "--methods unless it is latex or text")
    elif format == "csv":
        options.refuse(("digits", "percent", "leading_zero"), "--format csv, which has every digit")
    if format == "csv":
        shape = "arrows", "transpose", "columns", "caption"
        options.refuse(shape, "--format csv, which has one row per system")
    if format != "latex":
        options.refuse(_LATEX, f"--format {format}")
    given = {key: value for key, value in settings.items() if value not in (None, ())}
    if names:
        given["names"] = dict(options.pairs("--name", names, lambda: names_of(results)))
    if digits:
        given["digits"] = with_digits(digits)
    given |= options.sections(overrides, {"table": _KEYS})["table"]
    if sweep:
        study = read_results(results)
        chosen = settings_of(TableSettings, given)
        show(sweep_table(study, sweep, study.config.compare or Plan(), format, chosen, width=width))
        return
    try:
        built = table(results, name, baseline=baselines, **given)
    except UnknownNameError as error:  # its places are in a config, which the command does not have
        fix = "see harness table --help"
        raise UnknownNameError(
            [
                replace(one, where=one.where.rpartition(".")[2], fix=one.fix or fix)
                for one in error.problems
            ]
        ) from None
    if format == "text":
        built = best_first(built)
    findings = built.results.manifest.findings
    if counts := warning_summary((finding.rule, finding.severity) for finding in findings):
        warn(f"the guard has {counts} for these results; run harness check CONFIG")
    if methods or bibtex:
        parts = [built.methods("latex" if format == "latex" else "text")] if methods else []
        show("\n".join([*parts, built.bibtex()] if bibtex else parts))
        return
    for misfit in misfits(built.paper) if format == "latex" else ():
        warn(misfit)
    show(render(built.paper, format, width=width))


def names_of(folder: Path) -> list[str]:
    """Return the names of the runs and datasets of results."""
    outcome = read_results(folder)
    return [*outcome.runs, *outcome.datasets]


def with_digits(given: Sequence[str]) -> dict[str, int | str]:
    """Return ``["2", "map=4"]`` as decimals by metric; other text is unchanged.

    >>> with_digits(["2", "ndcg(gain=exp)@10=4"])
    {'*': 2, 'ndcg(gain=exp)@10': 4}
    """
    parts = (text.rpartition("=") for text in given)
    return {
        metric or "*": int(digits) if digits.isdecimal() else digits for metric, _, digits in parts
    }
