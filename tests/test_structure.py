"""The shape of the project: imports go one way, and the core is pure."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from harness.cells import key

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "harness"

# Each layer may import those before it; siblings of one layer do not import each other.
LAYERS = [
    {"escaping"},
    {"errors"},
    {"system", "trust", "manifest_format"},
    {"output", "locks"},
    {"core", "command"},
    {"metrics", "stats", "reports"},
    {"readers", "store", "compat", "tables", "comparing", "guard"},
    {"plots"},
    {"convert", "config", "provenance"},
    {"inputs", "catalogue", "crosscheck", "origin"},
    {"manifest", "direct", "results", "paper"},
    {"cells"},
    {"derived"},
    {
        "experiment",
        "batch",
        "trec_eval",
        "audit",
        "explain",
        "why",
        "init",
        "versus",
        "changes",
        "tabulate",
        "pictures",
        "annotate",
        "check_table",
        "check",
    },
    {"verify"},
    {"plain"},
    {"running"},
    {"commands"},
    {"cli"},
    {"main"},
]
PURE = ("core", "metrics", "stats", "reports", "tables", "plots", "comparing")
IMPURE_NAMES = {"open", "print", "input"}
IMPURE_MODULES = {"os", "pathlib", "time", "datetime", "logging", "random", "tempfile", "shutil"}


def modules() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if p.name not in ("__init__.py", "__main__.py"))


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    """Which top-level parts of the package a module imports, wherever in the file."""
    package = ["harness", *path.relative_to(PACKAGE).parts[:-1]]
    parts = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            names = [*base, *(node.module or "").split(".")] if node.module else base
            if len(names) > 1 and names[1]:
                parts.add(names[1])
            else:
                parts.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("harness."):
            parts.add((node.module or "").split(".")[1])
    return parts


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    rank = {part: level for level, parts in enumerate(LAYERS) for part in parts}
    own = part_of(path)
    assert own in rank, f"{own} has no layer: add it to LAYERS and to docs"
    for other in imported_parts(path) - {own, "__version__"}:
        allowed = rank[other] < rank[own]
        assert allowed, f"{own} may not import {other}"


@pytest.mark.parametrize(
    "path",
    [p for p in modules() if part_of(p) in PURE],
    ids=lambda p: str(p.relative_to(PACKAGE)),
)
def test_the_core_is_pure(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in IMPURE_NAMES, f"line {node.lineno} calls {node.func.id}"
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
            assert not names & IMPURE_MODULES, f"line {node.lineno} imports {names}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            assert node.value.attr != "random" or node.attr == "default_rng", (
                f"line {node.lineno} uses global random state"
            )


@pytest.mark.parametrize("name", ["work", "record", "said"])
def test_the_code_that_a_cached_cell_follows_from_is_all_in_its_name(name: str) -> None:
    """But for what gives plain data alone that is in the name itself, and texts of errors."""
    inside = {part.removesuffix(".py") for part in key.COMPUTES}
    assert f"cells/{name}" in inside
    parts = imported_parts(PACKAGE / "cells" / f"{name}.py")
    assert parts - inside <= {"config", "store", "errors", "system", "cells", "guard"}


def of_guard(name: str) -> set[str]:
    """Return the parts of the guard that a module imports."""
    folder = "cells" if name in OF_CELLS else "guard"
    text = (PACKAGE / folder / f"{name}.py").read_text(encoding="utf-8")
    dots = r"\.\.guard" if name in OF_CELLS else r"\."
    found = {*re.findall(rf"^from {dots}\.?(\w+) import", text, re.M)}
    for several in re.findall(rf"^from {dots} import (.+)", text, re.M):
        found |= {*several.split(", ")}
    return found & {one.stem for one in (PACKAGE / "guard").glob("*.py")}


OF_CELLS = ("work", "record", "columns")


def test_the_facts_of_a_cached_cell_are_in_its_name() -> None:
    """With all that they follow from; findings, which may change, are no part of them."""
    known: set[str] = set()
    todo = {"watch", "facts"}.union(*map(of_guard, OF_CELLS))
    while todo := todo - known - {"finding", "registry"}:
        known |= todo
        todo = set().union(*map(of_guard, todo))
    assert {"moments", "spelling"} <= known
    assert {f"guard/{one}.py" for one in known} <= {*key.COMPUTES}


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_input_is_never_checked_with_assert(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_files_stay_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 350
