"""The commands by name; each is loaded from its file when it is called."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import click

from .. import __version__
from ..errors import did_you_mean

COMMANDS = (
    "init", "run", "evaluate", "check", "audit", "compare", "gate", "table", "check-table",
    "plot", "page", "explain", "why", "similarity", "correlate", "pool", "export", "verify",
    "cache", "annotate", "metrics", "trec_eval",
)  # fmt: skip


def summary(name: str) -> str:
    """Return the first sentence of a command's help, from its source without loading it."""
    source = Path(__file__).with_name(f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == "command":
            first = (ast.get_docstring(node) or "").partition("\n")[0]
            return first.partition(": ")[0].rstrip(".") + "."
    raise LookupError(name)


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
        """Return the command that is called, or suggest one for a name that does not exist."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            ctx.fail(f"No such command '{name}'{did_you_mean(name, COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(name)) for name in COMMANDS])


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.option("--debug", is_flag=True, help="Show tracebacks of errors.")
@click.option(
    "--no-plugins",
    is_flag=True,
    help="Refuse plugins: configs, results and options load no code.",
)
@click.version_option(__version__, message="harness %(version)s", help="Print the version.")
def app(debug: bool, no_plugins: bool) -> None:
    """From prediction files to the table in the paper.

    Exit codes: 0 done; 1 the answer is "differs", "worse" or "fails the check"; 2 wrong usage,
    config or data. trec_eval keeps its own.
    """
