"""Print the figures of the code's structure: run ``python tests/structure.py``.

Lines, files, commands, options, how many functions one job calls and how deep, and names.
"""

import ast
import itertools
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "harness"
BARE = """
one some found own each every other others of at there here made given known wanted kept seen shown
by how what who same alone first last all more most few whole
"""
"""Pronouns, articles and adverbs, which are names only in comprehensions."""
NUMBERS = itertools.count()
CONFIG = """
datasets: {toy: {path: toy.qrels}}
runs: {system: {path: toy.run}}
metrics: [map, ndcg@10]
output: out
"""


def sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def n_lines(folder: Path) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in sources(folder))


def bound_names(tree: ast.AST) -> Iterator[str]:
    """Every name that is assigned or is an argument, also in comprehensions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def share_of_bare_names() -> float:
    """Share of bound names that are bare pronouns or adverbs, in per cent."""
    names = [
        name
        for path in sources(PACKAGE)
        for name in bound_names(ast.parse(path.read_text(encoding="utf-8")))
    ]
    bare = {*BARE.split()}
    return 100 * sum(name in bare for name in names) / len(names)


def n_format_skips() -> int:
    """Number of statements that the formatter leaves alone."""
    texts = (path.read_text(encoding="utf-8") for path in sources(PACKAGE))
    return sum(text.count("# fmt: skip") for text in texts)


def commands() -> dict[str, int]:
    import click

    from harness.cli.main import app

    context = click.Context(app)
    return {
        name: sum(isinstance(parameter, click.Option) for parameter in command.params)
        for name in app.list_commands(context)
        if (command := app.get_command(context, name)) is not None
    }


def trip(job: Callable[[], object]) -> tuple[int, int]:
    """Number of functions of the package that a job calls, and their depth."""
    own, functions, depth, deepest = str(PACKAGE) + os.sep, set[Any](), 0, 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal depth, deepest
        if event not in ("call", "return") or not frame.f_code.co_filename.startswith(own):
            return
        if event == "call":
            if not frame.f_code.co_name.startswith("<"):  # comprehensions and lambdas
                functions.add(frame.f_code)
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1

    sys.setprofile(profile)
    try:
        job()
    finally:
        sys.setprofile(None)
    return len(functions), deepest


def warm_run(folder: Path) -> Callable[[], object]:
    import harness

    (folder / "toy.qrels").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n", encoding="utf-8")
    (folder / "toy.run").write_text(
        "q1 Q0 b 1 2.5 t\nq1 Q0 a 2 1.5 t\nq2 Q0 a 1 0.5 t\n", encoding="utf-8"
    )
    (folder / "config.yaml").write_text(CONFIG, encoding="utf-8")

    def job() -> object:
        return harness.run(folder / "config.yaml", overrides=[f"output=out{next(NUMBERS)}"])

    job()
    return job


def warm_evaluation() -> Callable[[], object]:
    import harness

    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}
    run = {"q1": {"a": 1.5, "b": 2.5}, "q2": {"a": 0.5}}

    def job() -> object:
        return harness.evaluate(qrels, run, ["ndcg@10"])

    job()
    return job


def finding_passes(folder: Path) -> int:
    """Number of functions that hold one finding of a reader on its way to the screen."""
    import harness
    from harness.errors import Finding

    (folder / "toy.run").write_text(
        "q1 Q0 b 1 2.5 t\nq2 Q0 a 1 0.5 t\nq1 Q0 a 2 1.5 u\n", encoding="utf-8"
    )
    own, holders = str(PACKAGE) + os.sep, set[Any]()

    def holds(value: object) -> bool:
        if isinstance(value, Finding):
            return True
        is_some = isinstance(value, (list, tuple)) and 0 < len(value) < 50
        return is_some and any(isinstance(part, Finding) for part in value)  # type: ignore

    def profile(frame: FrameType, event: str, argument: object) -> None:
        is_own = event == "return" and frame.f_code.co_filename.startswith(own)
        if is_own and (holds(argument) or any(map(holds, frame.f_locals.values()))):
            holders.add(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        harness.run(folder / "config.yaml", overrides=[f"output=out{next(NUMBERS)}"])
    finally:
        sys.setprofile(None)
    return len(holders)


def figures() -> dict[str, str]:
    options = commands()
    largest = max(options, key=options.__getitem__)
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(name)
        run, evaluation = trip(warm_run(folder)), trip(warm_evaluation())
        passes = finding_passes(folder)
    return {
        "lines in harness/": f"{n_lines(PACKAGE):,}",
        "files in harness/": str(len(sources(PACKAGE))),
        "commands": str(len(options)),
        f"options of the largest command ({largest})": str(options[largest]),
        "functions called by one warm run of one cell": "{}, depth {}".format(*run),
        "functions called by harness.evaluate of two dicts": "{}, depth {}".format(*evaluation),
        "functions that one finding of a reader passes": str(passes),
        "bound names that are pronouns or adverbs": f"{share_of_bare_names():.1f} %",
        "`# fmt: skip`": str(n_format_skips()),
        "lines in tests/": f"{n_lines(ROOT / 'tests'):,}",
    }


if __name__ == "__main__":
    for name, figure in figures().items():
        print(f"{name:52} {figure}")
