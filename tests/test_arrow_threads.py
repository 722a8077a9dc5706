"""No file is read with Arrow's threads: one that is not done when the process ends aborts it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "harness"
OFF = {
    "from_pandas": "nthreads", "group_by": "use_threads", "iter_batches": "use_threads",
    "read_table": "use_threads", "to_pandas": "use_threads", "ReadOptions": "use_threads",
}  # fmt: skip
"""What takes threads unless it is told not to, and the argument that tells it."""


def threads(text: str) -> Iterator[int]:
    """Yield the lines in which something is read with threads."""
    for call in ast.walk(ast.parse(text)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            argument = OFF.get(call.func.attr, "")
            value = next((one.value for one in call.keywords if one.arg == argument), None)
            if argument and not (isinstance(value, ast.Constant) and value.value in (False, 1)):
                yield call.lineno


def test_nothing_is_read_with_threads() -> None:
    found = {path: [*threads(path.read_text(encoding="utf-8"))] for path in PACKAGE.rglob("*.py")}
    assert {str(path): lines for path, lines in found.items() if lines} == {}
    assert [*threads("feather.read_table(x)\ncsv.ReadOptions(use_threads=False)")] == [1]
