"""``harness table``."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..errors import HarnessWarning, Problem, UnknownNameError
from ..experiment import folder as results_folder
from ..experiment.table_plot_check import changed_plan, make_table
from ..guard.findings import warned
from ..reports import sweep as sweeps
from ..reports.paper_table.settings import Extra, Format, Marks, Spread
from ..reports.select import metric_spellings, select
from ..stats.comparison import Plan
from . import options
from .printing import show

_SWEPT = {"results", "format", "metrics", "runs", "datasets", "sweep", "top"}
"""What a table of --sweep takes."""


@click.command()
@options.results
@click.argument(
    "name", metavar="[NAME]", required=False, help="A table of the config; by default the first."
)
@options.format_option(
    "latex", "markdown", "html", "csv", "text", default="text", help="How to write it."
)
@options.metrics("A column, or a pattern such as 'ndcg*'")
@options.many("--run", "runs", metavar="RUN", help="A row or a pattern; '!random' excludes")
@options.many("--dataset", "datasets", metavar="DATASET", help="A block of columns")
@options.many("--name", "names", metavar="OLD=NEW", help="Name it this way in the table")
@click.option("--sort", metavar="METRIC", help="Rows by this, best first.")
@options.many("--digits", metavar="N", help="Decimals, or METRIC=N")
@click.option("--percent/--no-percent", default=None, help="Values x 100, of metrics in [0, 1].")
@click.option("--leading-zero/--no-leading-zero", default=None, help="0.423 instead of .423.")
@options.choice("--spread", Spread, help="Add a deviation or an interval to each value.")
@options.choice("--marks", Marks, help="Signs of significance.")
@click.option("--average/--no-average", default=None, help="Add a block: the mean over datasets.")
@options.choice("--extra", Extra, multiple=True, help="A further column; repeatable.")
@click.option("--siunitx/--no-siunitx", default=None, help="LaTeX: siunitx's S columns.")
@click.option("--wide/--no-wide", default=None, help="LaTeX: table*, over the page.")
@click.option("--longtable/--no-longtable", default=None, help="LaTeX: over several pages.")
@click.option("--caption", metavar="TEXT", help="First words of the caption.")
@click.option("--label", metavar="TEXT", help="LaTeX's label.")
@options.flag("--standalone", "LaTeX: a complete document, for a preview.")
@options.flag("--methods", "Sentences for the methods section, instead of the table.")
@options.flag("--bibtex", "The references that --methods cites.")
@options.many("--sweep", metavar="COLUMN", help="Values against a setting, such as lr")
@options.whole("--top", least=1, help="The best N settings of --sweep.")
@options.comparison
def command(
    results: Path, name: str | None, format: Format, names: tuple[str, ...],
    digits: tuple[str, ...], extra: tuple[str, ...], percent: bool | None, wide: bool | None,
    standalone: bool, methods: bool, bibtex: bool, sweep: tuple[str, ...], top: int | None,
    **settings: Any,
) -> None:  # fmt: skip
    """Print the table for the paper: best values, significance, caption.

    An option that you leave out keeps the value in the config's 'tables:'.

    \b
    Examples:
      harness table results/compare --format latex > table.tex
      harness table results/compare -m map -m ndcg@10 --sort map --spread deviation
      harness table results/compare --methods --format latex
      harness table results/tuned --sweep lr --top 5
    """
    if sweep or top is not None:
        others = {str(one.name) for one in click.get_current_context().command.params} - _SWEPT
        options.refuse(others, "--sweep")
        some = [settings[key] for key in ("metrics", "runs", "datasets")]
        show(sweep_of(results, sweep, top, format, *some))
        return
    plan = changed_plan(*(settings.pop(key) for key in ("baselines", "test", "correction")))
    changes = {key: value for key, value in settings.items() if value not in (None, ())}
    if names:
        changes["names"] = dict(options.pairs("--name", names))
    if digits:
        changes["digits"] = with_digits(digits)
    if extra:
        changes["extras"] = extra
    if percent is not None:
        changes["percent"] = ("*",) if percent else ()
    if wide is not None:
        changes["width"] = "page" if wide else "column"
    if settings["runs"]:
        changes["groups"] = {}
    try:
        table = make_table(results_folder.read(results), name, changes, plan)
    except UnknownNameError as error:  # its places are in a config, which the command does not have
        raise UnknownNameError([replace(one, where="") for one in error.problems]) from None
    found = table.study.manifest.get("findings", ())
    if counts := warned((one["rule"], one["severity"]) for one in found):
        what = f"the guard has {counts} for these results; 'findings' in manifest.json has each"
        warnings.warn(what, HarnessWarning, stacklevel=2)
    if methods or bibtex:
        parts = [table.methods("latex" if format == "latex" else "text")] if methods else []
        show("\n".join([*parts, table.bibtex()] if bibtex else parts))
        return
    show(table.render(format, standalone=standalone))


def sweep_of(
    folder: Path, names: Sequence[str], n: int | None, format: Format, metrics: Sequence[str],
    runs: Sequence[str], datasets: Sequence[str],
) -> str:  # fmt: skip
    """Return the values of a folder of results against some settings, in one of the formats."""
    found = results_folder.read(folder)
    plan = found.config.compare or Plan()
    if not names:
        listed = ", ".join(sweeps.columns_swept(found)) or "none"
        fix = f"name a column to sweep  (there are: {listed})"
        raise UnknownNameError(Problem("--top", "expected --sweep COLUMN with it", fix=fix))
    board = sweeps.sweep(found, names, plan)
    known = {str(metric): metric for metric in board.metrics}
    wanted = [*known]
    if metrics:
        wanted = [*select(metrics, wanted, "metric", metric_spellings(known))]
    kept = select(runs or ("*",), list(dict.fromkeys(one.run for one in board.entries)), "run")
    some = [name for name, _ in board.by_dataset()]
    some = [*select(datasets or ("*",), some, "dataset")]
    if n is not None:
        board = sweeps.top(board, names, known[wanted[0]], n)
    entries = [one for one in board.entries if one.run in kept and one.dataset in some]
    board = replace(board, entries=tuple(entries))
    return sweeps.render(board, [known[name] for name in wanted], plan, format)


def with_digits(given: Sequence[str]) -> dict[str, int]:
    """Return ``["2", "map=4"]`` as decimals by metric.

    >>> with_digits(["2", "ndcg(gain=exp)@10=4"])
    {'*': 2, 'ndcg(gain=exp)@10': 4}
    """
    found = {}
    for text in given:
        metric, _, digits = text.rpartition("=")
        if not re.fullmatch("[0-9]{1,2}", digits) or int(digits) > 17:
            what = f"expected a number from 0 to 17, or METRIC=NUMBER, got '{text}'"
            raise UnknownNameError(Problem("--digits", what, fix="write 3, or map=3"))
        found[metric or "*"] = int(digits)
    return found
