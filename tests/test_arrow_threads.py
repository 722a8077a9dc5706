"""No file is read with Arrow's threads: one that is not done when the process ends aborts it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "harness"
WITH_THREADS = {
    "from_pandas": "nthreads", "group_by": "use_threads", "iter_batches": "use_threads",
    "read_row_group": "use_threads", "read_row_groups": "use_threads",
    "read_table": "use_threads", "to_pandas": "use_threads", "to_table": "use_threads",
    "IpcReadOptions": "use_threads", "ReadOptions": "use_threads",
}  # fmt: skip
"""What takes threads unless it is told not to, and the argument that tells it."""
WITH_OPTIONS = {"open_csv", "read_csv", "read_json", "open_json", "open_stream", "open_file"}
"""What takes them unless its options say otherwise."""
OFF = {"use_threads": False, "nthreads": 1}


def name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def of_parquet(tree: ast.AST) -> set[str]:
    """Return the names and attributes that hold a ``ParquetFile``."""
    found = {"ParquetFile"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and "ParquetFile" in ast.unparse(node.value):
            found |= {name_of(target) for target in node.targets}
    return found


def threads(text: str) -> Iterator[int]:
    """Yield the lines in which something is read with threads."""
    tree = ast.parse(text)
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    own |= {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }
    files = of_parquet(tree)
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        name, given = name_of(call.func), {one.arg: one.value for one in call.keywords}
        argument = WITH_THREADS.get(name, "")
        if name == "read" and isinstance(call.func, ast.Attribute):
            of = call.func.value
            argument = "use_threads" * (name_of(getattr(of, "func", of)) in files)
        if isinstance(call.func, ast.Name) and name in own:
            argument = ""
        if argument:
            value = given.get(argument)
            if not isinstance(value, ast.Constant) or value.value != OFF[argument]:
                yield call.lineno
        elif name in WITH_OPTIONS and len(call.args) < 2 and not {*given} & {
            "read_options", "options"
        }:  # fmt: skip
            yield call.lineno


def test_nothing_is_read_with_threads() -> None:
    found = {path: [*threads(path.read_text(encoding="utf-8"))] for path in PACKAGE.rglob("*.py")}
    assert {str(path): lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("pq.ParquetFile(x).read()", 1),
        ("pq.ParquetFile(x).read(use_threads=False)", 0),
        ("file = pq.ParquetFile(x)\nfile.read(columns=y)", 1),
        ("self.file = pq.ParquetFile(x)\nself.file.iter_batches(9)", 1),
        ("with open(x) as file:\n    file.read()", 0),
        ("feather.read_table(x)", 1),
        ("feather.read_table(x, use_threads=False)", 0),
        ("def read_table(): ...\nread_table(x)", 0),
        ("csv.ReadOptions(block_size=9)", 1),
        ("csv.ReadOptions(use_threads=False)", 0),
        ("csv.read_csv(x)", 1),
        ("csv.read_csv(x, options)", 0),
        ("dataset(x).to_table(use_threads=True)", 1),
        ("pa.Table.from_pandas(x)", 1),
    ],
)
def test_what_takes_threads_is_seen(text: str, n: int) -> None:
    assert len([*threads(text)]) == n
