"""Plain command lines of ``harness evaluate``: read without Typer, and as Typer reads them."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.main import get_command
from typer.testing import CliRunner

from harness import plain
from harness.cli import app

VALUES = ["map", "ndcg@10", "csv", "zero", "skip", "last", "0", "2", "-1", "x", "", "-", "-q", "²"]
WORDS = st.lists(
    st.sampled_from(
        [*plain.FLAGS, *plain.LISTS, *plain.NUMBERS, *plain.TEXTS, *VALUES,
         "--nope", "-h", "--", "-mP@5", "-qJ", "--ties=best", "--debug"]
    ),
    max_size=7,
)  # fmt: skip


def _as_typer_reads(words: list[str]) -> dict[str, Any] | None:
    """What reaches ``plain.evaluate`` through Typer; None where it is not called."""
    reached = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "evaluate", lambda *args, **options: reached.append((args, options)))
        CliRunner().invoke(app, ["evaluate", *words])
    return _whole(*reached[0]) if reached else None


def _whole(arguments: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    bound = inspect.signature(plain.evaluate).bind(*arguments, **options)
    bound.apply_defaults()
    return {name: _listed(value) for name, value in bound.arguments.items()}


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@given(WORDS, st.booleans())
@example(["-l", "2", "-l", "3", "-m", "P@1", "b.run", "-q"], True)
@example(["-m", "P@1", "-M", "7", "-J", "-f", "trec", "--missing", "skip", "--ties", "x"], True)
@example(["-m", "-q", "b"], True)
@example(["-p", "a.py", "--plugin", "b.py", "--group", "g.txt", "-m", "map"], True)
def test_words_mean_what_they_mean_to_typer(words: list[str], filled: bool) -> None:
    words = ["qrels.txt", "a.run", "-m", "map", *words] if filled else words
    read = plain.arguments(words)
    assert read is None or _whole((), read) == _as_typer_reads(words)


def test_what_the_help_shows_is_read() -> None:
    every = "q a.run b.run -m map -m P@5 -q -f csv -l 2 -M 10 -J --ties best --convention lightgbm"
    every += " --missing skip --empty skip --duplicates last --qrels-format trec --run-format trec"
    words = [*every.split(), "--group", "g", "-p", "m.py"]
    read = plain.arguments(words)
    assert read is not None
    assert _whole((), read) == _as_typer_reads(words)
    assert len(read) == len(inspect.signature(plain.evaluate).parameters)


def test_no_option_of_the_command_is_forgotten() -> None:
    command = get_command(app).commands["evaluate"]  # type: ignore[attr-defined]
    options = {name for parameter in command.params for name in parameter.opts if name[0] == "-"}
    read = {*plain.FLAGS, *plain.LISTS, *plain.NUMBERS, *plain.TEXTS}
    assert options - read == {"-h", "--help"} or options == read
    assert read <= options


@pytest.mark.parametrize(
    "words",
    ["", "q r", "q -m map", "q r -m", "q r -m map --nope", "q r -m map --ties=best", "-h",
     "q r -mmap", "q r -m map -qJ", "q r -m map -f tabel", "q r -m map -l 0", "q r -m map -- x"],
)  # fmt: skip
def test_all_else_is_typer_s(words: str) -> None:
    assert plain.arguments(words.split()) is None
