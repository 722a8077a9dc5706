"""How command lines are read: what reaches a command, what is refused, help and completion."""

from __future__ import annotations

import inspect
import os
import re
from importlib import import_module
from pathlib import Path

import click
import pytest
from command_line import called
from command_line import started as harness

from harness.cli.app import COMMANDS, app

FILES = {"q.txt": "1 0 a 1\n1 0 b 0\n", "a.run": "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n"}
PLAIN = ("evaluate", "q.txt", "a.run")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def loaded(name: str) -> click.Command:
    command: click.Command = import_module(f"harness.cli.{name.replace('-', '_')}").command
    return command


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_by_how_its_help_begins(name: str) -> None:
    command = loaded(name)
    first = " ".join(inspect.cleandoc(command.help or "").partition("\n\n")[0].split())
    assert re.split(r"[:.] |\.$", first)[0] + "." == COMMANDS[name]
    assert all(
        parameter.metavar or isinstance(parameter.type, click.Choice)
        for parameter in command.params
        if not getattr(parameter, "is_flag", False)
    ), "a value without a name that says what it is"


@pytest.mark.parametrize(
    "words",
    [
        ("-m", "map", "-m", "P@1", "-q", "-f", "csv"),
        ("-mmap", "--metric=P@1", "-qf", "csv"),
        ("--format=csv", "-q", "-m", "map", "-m", "P@1"),
    ],
)
def test_options_are_written_as_usual(words: tuple[str, ...], here: Path) -> None:
    done = called(*PLAIN, *words, cwd=here)
    assert (done.code, done.err) == (0, "")
    assert done == called(PLAIN[0], *words, *PLAIN[1:], cwd=here)
    assert "map" in done.out.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "Missing argument 'QRELS'"),
        ("q.txt", "Missing argument 'RUN...'"),
        ("q.txt a.run", "Missing option '--metric' / '-m'"),
        ("q.txt a.run -m", "Option '-m' requires an argument"),
        ("q.txt a.run -m map --nope", "No such option '--nope'"),
        ("q.txt a.run -m map --missing skp", "'skp' is not one of zero, skip, error; did you mean"),
        ("q.txt a.run -m map -f x", "'x' is not one of csv, html, jsonl, markdown, table, trec\n"),
        ("q.txt a.run -m map -l x", "'x' is not a valid whole number"),
        ("q.txt a.run -m map -l 0", "0 is not in the range 1<=x"),
    ],
)
def test_wrong_words_are_refused(words: str, message: str, here: Path) -> None:
    done = called("evaluate", *words.split(), cwd=here)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


@pytest.mark.parametrize("name", ["rum", "evalaute", "check_table"])
def test_a_misspelt_command_gets_the_nearest(name: str, here: Path) -> None:
    done = called(name, cwd=here)
    assert done.code == 2
    assert f"No such command '{name}'; did you mean '" in done.err


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_is_printed_before_anything_is_checked(word: str, here: Path) -> None:
    assert called(word, cwd=here).out.startswith("Usage: harness [OPTIONS] COMMAND")
    done = called("evaluate", "nowhere", word, cwd=here)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: harness evaluate [OPTIONS] QRELS RUN...\n")


@pytest.mark.parametrize(
    ("words", "completed"),
    [("harness eval", "evaluate"), ("harness evaluate --jud", "--judged-only")],
)
def test_a_shell_completes_words(
    words: str, completed: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_HARNESS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    assert called(cwd=here).out == f"plain,{completed}\n"


def test_trec_eval_gets_its_words_as_they_are(here: Path) -> None:
    done = called("trec_eval", "-q", "-m", "map", "--", "q.txt", "a.run", cwd=here)
    assert done.out.split() == ["map", "1", "1.0000", "map", "all", "1.0000"]


def test_no_plugins_holds_wherever_it_is_written(here: Path) -> None:
    (here / "p.py").write_text("")
    words = ("-m", "map", "-p", "p.py")
    assert called(*PLAIN, *words, cwd=here).code == 0
    for given in ((*PLAIN, "--no-plugins", *words), ("--no-plugins", *PLAIN, *words)):
        assert called(*given, cwd=here).code == 2


def test_commands_are_loaded_when_they_are_called(here: Path) -> None:
    assert [*app.list_commands(click.Context(app))] == [*COMMANDS]
    done = harness("--help", cwd=here, python=("-X", "importtime"))
    assert "harness.cli.app" in done.stderr
    assert "harness.cli.evaluate" not in done.stderr
    assert os.linesep in done.stdout
