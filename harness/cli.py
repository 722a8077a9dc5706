"""The commands: parse, call, print. What they do lives elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from . import __version__, output, plain, running
from .command import QuickCommand, QuickGroup
from .commands import options
from .commands.annotate import annotate_command
from .commands.cache import cache_command
from .commands.check import check_command
from .commands.check_table import check_table_command
from .commands.compare import compare_command
from .commands.init import init_command
from .commands.plot import plot_command
from .commands.table import table_command
from .commands.verify import verify_command
from .commands.why import why_command
from .explain.cli import explain_command
from .reports import names
from .trust import NO_PLUGINS

app = typer.Typer(
    name="harness",
    cls=QuickGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


if TYPE_CHECKING:
    Format = str
else:
    Format = Literal[tuple(names())]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to print the values.")]


def _version(value: bool) -> None:
    if value:
        typer.echo(f"harness {__version__}")
        raise typer.Exit


@app.callback()
def harness(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
    no_plugins: Annotated[
        bool,
        typer.Option(
            NO_PLUGINS,
            help="Load no code that a config, results or an option names as a plugin. Anywhere.",
        ),
    ] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """From prediction files to the table in the paper.

    Exit codes: 0 done, 1 the answer is "differs" or "fails the check", 2 wrong usage, config
    or data.
    """


app.command("init", cls=QuickCommand)(init_command)


@app.command("run", cls=QuickCommand)
def run_command(
    config: Annotated[
        Path,
        typer.Argument(metavar="CONFIG", help="A YAML config, such as configs/quickstart.yaml."),
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override one value of the config."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the cells that would be evaluated, and stop.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes that evaluate.")] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A Dask scheduler whose workers evaluate."),
    ] = None,
    format: FormatOption = "table",
) -> None:
    """Evaluate every run that a config names, and write the leaderboard.

    Prints the leaderboard and writes leaderboard.csv, per_query.parquet and manifest.json into
    the config's output folder. What was evaluated before is taken from its folder 'cells'; a run
    that was stopped goes on where it was. Exits 1 where a run could not be evaluated.

    \b
    Example:
      harness run configs/quickstart.yaml --set policy.ties=stable
    """
    if not running.run(
        config, overrides=set_ or [], dry_run=dry_run, jobs=jobs, scheduler=scheduler, format=format
    ):
        raise typer.Exit(1)


@app.command("evaluate", cls=QuickCommand)
def evaluate_command(
    qrels: Annotated[
        str,
        typer.Argument(
            metavar="QRELS", help="Judgements: TREC qrels, a LETOR file, JSON, CSV... ('-': stdin)"
        ),
    ],
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Run files, or one prediction a line where QRELS is a LETOR file.",
        ),
    ],
    metrics: Annotated[
        list[str],
        typer.Option("--metric", "-m", help="A metric, as in 'harness metrics'; repeatable."),
    ],
    per_query: Annotated[
        bool, typer.Option("--per-query", "-q", help="Also print every query's values.")
    ] = False,
    format: FormatOption = "table",
    rel: options.Rel = None,
    depth: options.Depth = None,
    judged_only: options.JudgedOnly = False,
    ties: options.Ties = "trec_eval",
    convention: options.Convention = None,
    missing: options.MissingQueries = "zero",
    empty: options.EmptyQueries = "zero",
    duplicates: options.Twice = "error",
    qrels_format: options.QrelsFormat = None,
    run_format: options.RunFormat = None,
    group: options.Group = None,
    plugin: options.Plugins = None,
) -> None:
    """Evaluate runs against judgements; no config needed.

    A query that the run does not answer counts as 0 (as 'trec_eval -c'), and the output says so;
    where it has values alone (csv, jsonl, trec), standard error does.
    What the files can be read as is evaluated: scores that equal the grades row by row are warned
    of, but whether predictions belong to these rows, or scores follow the labels otherwise or are
    upside down, is not asked here. 'harness check QRELS RUN...' does.

    \b
    Examples:
      harness evaluate qrels.txt bm25.run dense.run.gz -m map -m ndcg@10
      harness evaluate test.txt predictions.txt -m "ndcg(gain=exp)@5" -q -f csv
    """
    plain.evaluate(
        qrels, runs, metrics, per_query=per_query, format=format, rel=rel, depth=depth,
        judged_only=judged_only, ties=ties, convention=convention, missing=missing, empty=empty,
        duplicates=duplicates, qrels_format=qrels_format, run_format=run_format, group=group,
        plugins=plugin or [],
    )  # fmt: skip


app.command("check", cls=QuickCommand)(check_command)


@app.command("audit", cls=QuickCommand)
def audit_command(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS|CONFIG", help="A folder that 'harness run' wrote, or a YAML config."
        ),
    ],
    metrics: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Audit this in place of the config's; repeatable."),
    ] = None,
    conventions: Annotated[
        list[str] | None,
        typer.Option(
            "--convention", metavar="TOOL", help="Compare with this one alone; repeatable."
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override one value of the config."),
    ] = None,
    format: Annotated[
        Literal["text", "csv", "html"],
        typer.Option("--format", "-f", help="How to print it; html is a page of its own."),
    ] = "text",
) -> None:
    """Compute the leaderboard under every convention: what changes with the tool, and why.

    For each dataset and metric: systems x conventions, the range of each system, whether their
    order and the best one change, and which single choice (gain, ties, empty queries...) changes
    the most. Each fold and seed is audited by itself: 'summary:' takes none together here.

    \b
    Examples:
      harness audit configs/quickstart.yaml
      harness audit results/quickstart -m ndcg@10 --format html > audit.html
    """
    from . import audit

    found = audit.audit(
        source, overrides=set_ or [], metrics=metrics or [], conventions=conventions or []
    )
    output.show(audit.find(format).render(found, **plain.width(format)))


app.command("compare", cls=QuickCommand)(compare_command)
app.command("table", cls=QuickCommand)(table_command)
app.command("check-table", cls=QuickCommand)(check_table_command)
app.command("plot", cls=QuickCommand)(plot_command)
app.command("explain", cls=QuickCommand)(explain_command)
app.command("why", cls=QuickCommand)(why_command)
app.command("verify", cls=QuickCommand)(verify_command)
app.command("cache", cls=QuickCommand)(cache_command)
app.command("annotate", cls=QuickCommand)(annotate_command)


@app.command("metrics", cls=QuickCommand)
def metrics_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A metric, such as ndcg or 'ndcg(convention=lightgbm)@10', or a convention.",
        ),
    ] = None,
    conventions: Annotated[
        bool, typer.Option("--conventions", help="The settings that reproduce each tool.")
    ] = False,
) -> None:
    """List the metrics, or define one: formula, parameters, settings, source.

    \b
    Examples:
      harness metrics ndcg                             what it is
      harness metrics "ndcg(convention=lightgbm)@10"   every setting of this spelling
      harness metrics ndcg --conventions               the tools that have it, side by side
      harness metrics lightgbm                         what one tool does
    """
    from . import catalogue

    output.show(catalogue.show(name, conventions))


@app.command("trec_eval", add_help_option=False, context_settings={"ignore_unknown_options": True})
def trec_eval_command(
    arguments: Annotated[list[str] | None, typer.Argument(metavar="...")] = None,
) -> None:
    """Take trec_eval's place in a script: its arguments, its output byte for byte."""
    from . import trec_eval

    raise typer.Exit(trec_eval.main(arguments or []))
