"""Nothing that a file holds is ever run: no eval, no pickle, no YAML but the guarded one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "harness"
CALLS = {"eval", "exec", "compile", "__import__"}
MODULES = {
    "pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "code", "runpy",
}  # fmt: skip
YAML = {"load", "load_all", "unsafe_load", "full_load", "safe_load", "Loader", "UnsafeLoader",
        "FullLoader", "SafeLoader"}  # fmt: skip
IMPORTING = {"import_module", "exec_module", "spec_from_file_location"}
LOADS = {"np", "numpy"}, {"load", "loads", "fromfile"}
OF_PARTS = ("metrics/__init__.py", "readers/__init__.py", "reports/plots/plot.py",
            "stats/registry.py")  # fmt: skip
"""Files that import parts of the project itself by name."""
MAY = {
    **{name: {"import_module"} for name in OF_PARTS},
    "config/plugins.py": IMPORTING,  # the one file that runs code which a config names
    "readers/array_files.py": {"load", "fromfile"},
    "readers/ir_metadata.py": YAML,
}


def found(path: Path) -> Iterator[str]:
    """What a file does that could run what is not part of the project."""
    may = MAY.get(path.relative_to(PACKAGE).as_posix(), set())
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            keywords = {k.arg: getattr(k.value, "value", None) for k in node.keywords}
            if called in CALLS or keywords.get("allow_pickle") or keywords.get("shell"):
                yield f"{node.lineno}: {called}, a pickle or a shell"
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            of = {a.name for a in node.names} if isinstance(node, ast.Import) else {node.module}
            if of & MODULES:
                yield f"{node.lineno}: imports {of}"
        if isinstance(node, ast.Attribute) and node.attr not in may:
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            is_load = owner in LOADS[0] and node.attr in LOADS[1]
            if is_load or (owner == "yaml" and node.attr in YAML) or node.attr in IMPORTING:
                yield f"{node.lineno}: {owner}.{node.attr}"


def test_no_code_from_outside() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert [(path, one) for path in files for one in found(path)] == []
