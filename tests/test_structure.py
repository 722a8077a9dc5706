"""Imports go one way through the packages."""

import ast
from collections.abc import Iterator
from pathlib import Path

import harness.metrics  # noqa: F401 - registers them
from harness.core.metric import REGISTRY
from harness.core.names import known_names
from harness.core.settings import PARAMETERS

PACKAGE = Path(__file__).resolve().parents[1] / "harness"
LEVELS = [
    {"errors", "input_files", "progress"},
    {"core"},
    {"metrics", "stats"},
    {"readers", "batch", "compat"},
    {"reports"},
    {"config"},
    {"guard"},
    {"experiment"},
    {"audit"},
    {"cli"},
]
"""A package imports those above it and those on its own level."""


def imports(path: Path) -> Iterator[tuple[str, int]]:
    package = ["harness", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            names = [*base, *(node.module or "").split(".")] if node.module else base
            parts = [names[1]] if len(names) > 1 else [alias.name for alias in node.names]
            yield from ((part, node.lineno) for part in parts)


def test_imports_go_one_way() -> None:
    level = {part: number for number, parts in enumerate(LEVELS) for part in parts}
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue
        for part, line in imports(path):
            if part != "__version__" and level[part] > level[own]:
                wrong.append(f"{path.relative_to(PACKAGE)}:{line} imports {part}")
    assert not wrong


def texts_of_code(path: Path) -> Iterator[str]:
    """Texts of a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.Expr))
    docstrings = {id(statement.value) for statement in statements}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield from [node.value] if isinstance(node.value, str) else []


def test_the_core_knows_no_metric_by_name() -> None:
    parameters = {name for definition in REGISTRY.values() for name in definition.parameters}
    common = {"rel", "cutoff", "reference", "documents", "levels", "judged", "tied", *PARAMETERS}
    known = {*known_names(), *parameters} - common
    found = {
        (path.name, text)
        for path in sorted((PACKAGE / "core").glob("*.py"))
        for text in texts_of_code(path)
        if text in known
    }
    assert not found
