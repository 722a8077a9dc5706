"""``harness evaluate``, and its plain command lines read without Typer.

Importing Typer and declaring every command takes a quarter of a small ``harness evaluate``. What
is written as the help shows it is read here; all else (help, mistakes, ``--ties=best``, ``-qJ``)
is Typer's, and so is every message.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from . import output
from .core.policy import Duplicates, Empty, Missing, Policy
from .errors import HarnessWarning
from .reports import names

FLAGS = {
    "--per-query": "per_query", "-q": "per_query", "--judged-only": "judged_only",
    "-J": "judged_only",
}  # fmt: skip
LISTS = {"--metric": "metrics", "-m": "metrics", "--plugin": "plugins", "-p": "plugins"}
NUMBERS = {"--relevance-level": "rel", "-l": "rel", "--depth": "depth", "-M": "depth"}
TEXTS = {
    "--format": "format", "-f": "format", "--ties": "ties", "--convention": "convention",
    "--missing": "missing", "--empty": "empty", "--duplicates": "duplicates",
    "--qrels-format": "qrels_format", "--run-format": "run_format", "--group": "group",
}  # fmt: skip


def arguments(words: Sequence[str]) -> dict[str, Any] | None:
    """Return what :func:`evaluate` is asked to do, or None where Typer has to read the words.

    >>> arguments(["qrels.txt", "a.run", "-m", "map", "-l", "2", "-q"])
    {'metrics': ['map'], 'rel': 2, 'per_query': True, 'qrels': 'qrels.txt', 'runs': ['a.run']}
    >>> arguments(["qrels.txt", "a.run"]), arguments(["--help"])
    (None, None)
    """
    choices: dict[str, Sequence[str]] = {
        "format": names(), "missing": get_args(Missing), "empty": get_args(Empty),
        "duplicates": get_args(Duplicates),
    }  # fmt: skip
    read = read_words(words, FLAGS, LISTS, NUMBERS, TEXTS, choices)
    if read is None or len(read[0]) < 2 or "metrics" not in read[1]:
        return None
    files, given = read
    return {**given, "qrels": files[0], "runs": files[1:]}


def read_words(
    words: Sequence[str], flags: Mapping[str, str], lists: Mapping[str, str],
    numbers: Mapping[str, str], texts: Mapping[str, str], choices: Mapping[str, Sequence[str]],
) -> tuple[list[str], dict[str, Any]] | None:  # fmt: skip
    """Return the files and options that words name; None where Typer has to read them.

    Parameters
    ----------
    words : sequence of str
    flags, lists, numbers, texts : mapping of str to str
        What options are called within, by how they are written: those without a value, those that
        may be repeated, those from 1, and all others.
    choices : mapping
        What values options of `texts` may have, where not all.
    """
    given: dict[str, Any] = {}
    files = []
    left = iter(words)
    for word in left:
        if word == "-" or not word.startswith("-"):
            files.append(word)
        elif word in flags:
            given[flags[word]] = True
        else:
            value = next(left, "")
            if not value or value.startswith("-"):
                return None
            if word in lists:
                given.setdefault(lists[word], []).append(value)
            elif word in numbers and re.fullmatch("0*[1-9][0-9]{,8}", value):
                given[numbers[word]] = int(value)
            elif word in texts and value in choices.get(texts[word], (value,)):
                given[texts[word]] = value
            else:
                return None
    return files, given


def evaluate(
    qrels: str,
    runs: Sequence[str],
    metrics: Sequence[str],
    *,
    per_query: bool = False,
    format: str = "table",
    depth: int | None = None,
    judged_only: bool = False,
    ties: str = "trec_eval",
    missing: Missing = "zero",
    empty: Empty = "zero",
    rel: int | None = None,
    convention: str | None = None,
    duplicates: Duplicates = "error",
    qrels_format: str | None = None,
    run_format: str | None = None,
    group: str | None = None,
    plugins: Sequence[str] = (),
) -> None:
    """Evaluate files and print the values."""
    from . import direct
    from .core.bounds import BOUNDS, without_bounds
    from .reports._said import beside_values

    policy = Policy(
        ties=without_bounds(ties),
        missing_queries=missing,
        empty_queries=empty,
        depth=depth,
        judged_only=judged_only,
    )
    board = direct.evaluate_files(
        qrels, runs, metrics, policy=policy, bounds=ties == BOUNDS, rel=rel,
        convention=convention, duplicates=duplicates, qrels_format=qrels_format,
        run_format=run_format, group=group, plugins=plugins,
    )  # fmt: skip
    if format in ("csv", "jsonl", "trec"):  # the others have notes
        for what in beside_values(board, has_runid=format == "trec"):
            warnings.warn(HarnessWarning(what), stacklevel=2)
    show(format, board, per_query=per_query)


def show(format: str, board: Any, **options: Any) -> None:
    """Print a leaderboard, a table as wide as the terminal."""
    from .reports import find

    output.show(find(format).render(board, **options, **width(format)))


def width(format: str) -> dict[str, int]:
    """Return the option that makes a table as wide as the terminal; none where there is none."""
    if format not in ("table", "text") or not sys.stdout.isatty():
        return {}
    import shutil

    return {"width": shutil.get_terminal_size().columns}
