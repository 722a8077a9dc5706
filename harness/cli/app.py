"""The commands by name; each is loaded from its file when it is called."""

from __future__ import annotations

from importlib import import_module

import click

from .. import __version__
from ..errors import did_you_mean
from ..files import printing

COMMANDS = {
    "init": "Write a config for folders of judgements and runs.",
    "run": "Evaluate every run that a config names, and write the leaderboard.",
    "evaluate": "Evaluate runs against judgements; no config needed.",
    "check": "Find what would make numbers wrong, before any is computed.",
    "audit": "Compute the leaderboard under every convention.",
    "compare": "Compare runs with each other, or two leaderboards.",
    "gate": "Gate a change.",
    "table": "Print the table for the paper.",
    "check-table": "Check the table of a paper.",
    "plot": "Draw results.",
    "page": "Write the report page.",
    "explain": "Find the tool's settings that give a published value.",
    "why": "Show where one number of a leaderboard comes from.",
    "similarity": "Find runs whose rankings are nearly the same.",
    "correlate": "Compare how metrics rank the systems.",
    "verify": "Compute every number of a results folder again and compare all digits.",
    "cache": "List, prune or verify cached cells.",
    "annotate": "Write runs with ir_metadata.",
    "metrics": "List the metrics, or define one.",
    "trec_eval": "Replace trec_eval in a script.",
}


class Commands(click.Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, loaded from its file."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f".{cmd_name.replace('-', '_')}", __package__)
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called; say which one was probably meant."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            ctx.fail(f"No such command '{name}'{did_you_mean(name, COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words before the command."""
        with printing():  # --help and --version
            return super().parse_args(ctx, args)


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.option("--debug", is_flag=True, help="Show tracebacks of errors.")
@click.option(
    "--no-plugins",
    is_flag=True,
    help="Load no code that a config, results or an option names as a plugin. Anywhere.",
)
@click.version_option(__version__, message="harness %(version)s", help="Print the version.")
def app(debug: bool, no_plugins: bool) -> None:
    """From prediction files to the table in the paper.

    Exit codes: 0 done, 1 the answer is "differs" or "fails the check", 2 wrong usage, config
    or data.
    """
