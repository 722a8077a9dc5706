"""The program: its commands by name, signals, warnings, errors and exit codes."""

from __future__ import annotations

import ast
import gc
import os
import re
import shlex
import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_type_hints

import click

from .. import __version__
from ..errors import (
    ConfigError,
    HarnessError,
    HarnessWarning,
    Problem,
    VerificationError,
    nearest,
    shortage,
    show_tracebacks,
)
from ..input_files import keeping_inputs
from . import printing
from .printing import discard, end_unprintable, show

GROUPS = {
    "Evaluate": ("init", "run", "evaluate", "check", "metrics"),
    "Report": ("table", "plot", "page", "export"),
    "Compare": ("compare", "gate", "diff", "similarity"),
    "Understand": ("trace", "conventions", "verify"),
    "Share": ("pool", "trec_eval"),
}
"""The commands by purpose."""
COLOR = "--color"
COMMANDS = tuple(name for names in GROUPS.values() for name in names)


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
            near = nearest(name, COMMANDS)
            fix = f"use harness {near}" if near else "see harness --help"
            ctx.fail(f"No such command '{name}'. {fix}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by group, without loading any."""
        width = max(map(len, COMMANDS))
        for group, names in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:{width}}", summary(name)) for name in names])


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.option("--debug", is_flag=True, help="Show tracebacks of errors.")
@click.option(
    "--no-plugins",
    is_flag=True,
    help="Refuse plugins: configs, results and options load no code.",
)
@click.option(
    COLOR,
    type=click.Choice(get_args(printing.Colour)),
    default="auto",
    help="When to print in colours.",
)
@click.version_option(__version__, message="harness %(version)s", help="Print the version.")
@click.pass_context
def app(ctx: click.Context, debug: bool, no_plugins: bool, color: printing.Colour) -> None:
    """Evaluate ranking models, from prediction files to the tables of a paper.

    Exit codes: 0 done; 1 the answer is no: values differ, a run is worse, or there are warnings
    with --strict; 2 wrong usage, config or data. harness trec_eval has the exit codes of trec_eval.
    """
    printing.colour = "never" if ctx.invoked_subcommand == "trec_eval" else color


def main(arguments: list[str] | None = None) -> None:
    """Run the command line, as ``harness`` and ``python -m harness`` do."""
    signal.signal(signal.SIGINT, _end)  # while this imports, nothing has begun
    gc.set_threshold(100_000)  # imports make no garbage: 10% of a small `harness evaluate`
    # set before numpy is imported: its threads for matrix products take 10% more
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from ..config import plugins

    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    command = next((word for word in words if word in COMMANDS), "")
    if command != "trec_eval":  # which takes no plugins
        plugins.allowed = plugins.NO_PLUGINS not in words
        words = [word for word in words if word != plugins.NO_PLUGINS]
        words = _color_first(words)
    is_debugged = "--debug" in words
    warnings.simplefilter("always", HarnessWarning)
    warnings.showwarning = _show_warning
    show_tracebacks(is_debugged)
    if sys.stdout is None:  # `harness ... >&-`
        end_unprintable("standard output is closed", "send it to a file, or to /dev/null")
    stdout = sys.stdout
    try:
        signal.signal(signal.SIGINT, _stop)
        _check_current_folder()
        try:
            with keeping_inputs():
                code = app.main(words, prog_name="harness", standalone_mode=False)
        except click.ClickException as error:
            show(f"error: {_usage_problem(error, words)}\n", error=True)
            code = error.exit_code
        except SystemExit:  # Click's own 1 for a reader that is gone, or a shell completes words
            if sys.stdout is stdout:
                raise
            sys.stdout = stdout
            raise BrokenPipeError from None
        sys.stdout.flush()
        sys.exit(code or 0)
    except HarnessError as error:
        if is_debugged:
            traceback.print_exc()
        for text in [str(error)] if isinstance(error, ConfigError) else error.texts:
            show(f"error: {text}\n", error=True)
        sys.exit(1 if isinstance(error, VerificationError) else 2)
    except _Stopped:
        sys.unraisablehook = lambda _: None  # hides the complaint of a half-made progress bar
        hint = "; the same command continues" if command == "run" else ""
        show(f"stopped; nothing is left half written{hint}\n", error=True)
        sys.exit(130)
    except BrokenPipeError:  # the reader is gone, as in `harness ... | head`
        discard(sys.stdout)
        sys.exit(141 if command == "trec_eval" else 0)  # 128 + SIGPIPE, as a shell shows it
    except Exception as error:
        problem = shortage(error)
        if is_debugged or not (problem or isinstance(error, OSError)):
            raise
        if problem is None and isinstance(error, OSError):
            problem = Problem(str(error.filename or ""), error.strerror or str(error))
            if not error.filename:
                discard(sys.stdout)
                end_unprintable(problem.what, "free space, or send it elsewhere")
        show(f"error: {problem}\n", error=True)
        sys.exit(2)
    finally:
        gc.freeze()  # skip garbage collection at exit


def _color_first(words: list[str]) -> list[str]:
    """Return words with --color and its value before the command, which takes it anywhere."""
    end = words.index("--") if "--" in words else len(words)
    for place, word in enumerate(words[:end]):
        if word == COLOR or word.startswith(f"{COLOR}="):
            after = place + (2 if word == COLOR else 1)
            return [*words[place:after], *words[:place], *words[after:]]
    return words


def _usage_problem(error: click.ClickException, words: Sequence[str]) -> Problem:
    """Return an error of Click in some words as a problem in the form of all others."""
    context = getattr(error, "ctx", None)
    what, _, fix = error.format_message().partition(". ")
    what = what[:1].lower() + what[1:].rstrip(".")
    configs = [word for word in words if word.endswith((".yaml", ".yml")) and os.path.isfile(word)]
    if isinstance(error, click.NoSuchOption) and context is not None:
        fix = _fix_of_option(error.option_name, context, words)
    elif isinstance(error, click.MissingParameter) and configs:
        fix = f"run harness run {shlex.quote(configs[0])}"
        return Problem(configs[0], "expected qrels, got a config", fix=fix)
    elif context is not None and isinstance(getattr(error, "param", None), click.Argument):
        fix = "write " + " ".join(context.get_usage().split()[1:])
    elif isinstance(error, click.BadOptionUsage):
        fix = f"write a value after {error.option_name}"
    elif context is not None and not fix:
        fix = f"see {context.command_path} --help"
    return Problem("", what, fix=fix[:1].lower() + re.sub(r"(?<!\.)\.$", "", fix[1:]))


def _fix_of_option(name: str, context: click.Context, words: Sequence[str]) -> str:
    """Return the nearest option, or the key of this name in a config that the command takes."""
    from ..config.model import SECTIONS, Config  # which loads Pydantic

    parameters = {str(one.name): one for one in context.command.params}
    known = [option.strip("-") for one in parameters.values() for option in one.opts]
    keys = Config.model_fields if {"config", "overrides"} <= {*parameters} else {}
    key, section = name.strip("-").replace("-", "_"), str(context.info_name)
    near = nearest("metrics" if name == "-m" else key, [*keys, *known])
    if near in keys:
        at = next(place for place, word in enumerate(words) if word.startswith(name))
        value = words[at].partition("=")[2] or "".join(words[at + 1 : at + 2]) or "VALUE"
        return f"write --set {near}={shlex.quote(value)}"
    if near:
        return f"write --{near}"
    if section in SECTIONS and key in get_type_hints(SECTIONS[section]):
        return f"write {key} below '{section}:' of the config, and run it again"
    return f"see {context.command_path} --help"


def _check_current_folder() -> None:
    try:
        os.getcwd()
    except OSError as error:
        what = f"the current folder cannot be used: {error.strerror}"
        fix = "cd to a folder that exists, and run the command again"
        raise HarnessError(what, fix=fix) from error


class _Stopped(BaseException):
    """Ctrl-C; derives from BaseException so that no handler takes it for an error."""


def _end(*_: Any) -> None:
    os._exit(130)


def _stop(*_: Any) -> None:
    raise _Stopped


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    show(f"warning: {message}\n", error=True)
