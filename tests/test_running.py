"""Plain command lines of ``harness run``: read without Typer, and as Typer reads them."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.main import get_command
from typer.testing import CliRunner

from harness import running
from harness.cli import app

WRITTEN = [*running.FLAGS, *running.LISTS, *running.NUMBERS, *running.TEXTS]
VALUES = ["a.yaml", "name=x", "2", "0", "-1", "007", "csv", "tabel", "tcp://host:8786", "", "-"]
WORDS = st.lists(
    st.sampled_from([*WRITTEN, *VALUES, "--nope", "-h", "--", "-j2", "--jobs=2"]), max_size=6
)


def _as_typer_reads(words: list[str]) -> dict[str, Any] | None:
    """What reaches ``running.run`` through Typer; None where it is not called."""
    reached: list[dict[str, Any]] = []

    def run(*arguments: Any, **options: Any) -> bool:
        reached.append(_whole(arguments, options))
        return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "run", run)
        CliRunner().invoke(app, ["run", *words])
    return reached[0] if reached else None


SIGNATURE = inspect.signature(running.run)


def _whole(arguments: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    bound = SIGNATURE.bind(*arguments, **options)
    bound.apply_defaults()
    found = bound.arguments
    return {**found, "config": Path(found["config"]), "overrides": list(found["overrides"])}


@given(WORDS, st.booleans())
@example(["--set", "a=1", "-j", "2", "--set", "b=2", "-j", "3", "-f", "csv"], True)
@example(["--dry-run", "--scheduler", "tcp://host:8786"], True)
@example(["b.yaml"], True)
def test_words_mean_what_they_mean_to_typer(words: list[str], filled: bool) -> None:
    words = ["c.yaml", *words] if filled else words
    read = running.arguments(words)
    assert read is None or _whole((), read) == _as_typer_reads(words)


def test_what_the_help_shows_is_read() -> None:
    words = ["c.yaml", "--set", "a=1", "--dry-run", "--jobs", "2"]
    words += ["--scheduler", "tcp://h:1", "--format", "csv"]
    read = running.arguments(words)
    assert read is not None
    assert _whole((), read) == _as_typer_reads(words)
    assert len(read) == len(SIGNATURE.parameters)


def test_no_option_of_the_command_is_forgotten() -> None:
    command = get_command(app).commands["run"]  # type: ignore[attr-defined]
    options = {name for parameter in command.params for name in parameter.opts if name[0] == "-"}
    assert options - {*WRITTEN} <= {"-h", "--help"}
    assert {*WRITTEN} <= options


@pytest.mark.parametrize(
    "words", ["", "a b", "a --jobs", "a -j 0", "a -j2", "a --jobs=2", "a -f tabel", "-h", "a -- b"]
)
def test_all_else_is_typer_s(words: str) -> None:
    assert running.arguments(words.split()) is None
