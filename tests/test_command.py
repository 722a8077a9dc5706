"""Commands that leave values alone: what reaches the function, and what is still refused."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from typer.testing import CliRunner

from harness.command import QuickCommand, QuickGroup
from harness.main import main

given: dict[str, Any] = {}
app = typer.Typer(cls=QuickGroup, rich_markup_mode=None)


@app.callback()
def group(debug: Annotated[bool, typer.Option("--debug")] = False) -> None:
    given.update(debug=debug)


@app.command("quick", cls=QuickCommand)
@app.command("slow")
def command(
    one: str,
    many: list[str],
    color: Annotated[Literal["red", "blue"], typer.Option()] = "red",
    level: Annotated[int | None, typer.Option(min=1)] = None,
    extra: Annotated[list[str] | None, typer.Option()] = None,
    needed: Annotated[list[str], typer.Option("-n")] = ...,  # type: ignore[assignment]
    folder: Path | None = None,
    flag: Annotated[bool, typer.Option("--flag")] = False,
) -> None:
    given.update(
        one=one, many=many, color=color, level=level, extra=extra, needed=needed, folder=folder,
        flag=flag,
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        "a b -n x",
        "a b c -n x -n y --color blue --level 2 --extra e --folder f --flag",
        "a 1 -n 2 --level=1",
        "a b",
        "a -n x",
        "a b -n x --level 0",
        "a b -n x --nope",
        "a b -n",
        "--help",
    ],
)
@pytest.mark.parametrize("before", [[], ["--debug"]])
def test_a_quick_command_is_as_typer_s_own(arguments: str, before: list[str]) -> None:
    seen = []
    for name in ("slow", "quick"):
        given.clear()
        done = CliRunner().invoke(app, [*before, name, *arguments.split()])
        seen.append((done.exit_code, done.output.replace(name, "NAME"), dict(given)))
    assert seen[0] == seen[1]
    assert seen[0][0] in (0, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--color bleu", "'--color': 'bleu' is not one of red, blue; did you mean 'blue'?"),
        ("--color x", "'--color': 'x' is not one of red, blue\n"),
        ("--level x", "'--level': 'x' is not a whole number\n"),
    ],
)
def test_a_wrong_value_is_said_plainly(arguments: str, message: str) -> None:
    done = CliRunner().invoke(app, ["quick", "a", "b", "-n", "x", *arguments.split()])
    assert done.exit_code == 2
    assert f"Error: Invalid value for {message}" in done.output


def test_the_list_of_commands_cuts_no_description(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    commands = capsys.readouterr().out.partition("Commands:")[2]
    assert "  audit        Compute the leaderboard under every convention.\n" in commands
    assert "..." not in commands
