"""Nothing that a file holds is ever run: no eval, no pickle, no YAML but the guarded one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "harness"
FILES = sorted(PACKAGE.rglob("*.py"))
CALLS = {"eval", "exec", "compile", "__import__"}
MODULES = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "marshal",
    "shelve",
    "joblib",
    "code",
    "runpy",
}
YAML = {"load", "load_all", "unsafe_load", "full_load", "safe_load", "Loader", "UnsafeLoader",
        "FullLoader", "SafeLoader"}  # fmt: skip
IMPORTING = {"import_module", "exec_module", "spec_from_file_location"}
OWN = ("__init__.py", "experiment/executors.py", "reports/plots/_request.py", "readers/choice.py",
       "stats/registry.py", "reports/paper_table/rendering.py")  # fmt: skip
"""Files that import parts of the project itself by name, and Dask."""
MAY_IMPORT = {"config/plugins.py": IMPORTING} | {name: {"import_module"} for name in OWN}
"""The first is the one file that runs code which a config names."""


def found(path: Path) -> Iterator[str]:
    """What a file does that could run what is no part of the project."""
    name = path.relative_to(PACKAGE).as_posix()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            if called in CALLS:
                yield f"{node.lineno}: {called}()"
            keywords = {k.arg: getattr(k.value, "value", None) for k in node.keywords}
            if keywords.get("allow_pickle", False) is not False or keywords.get("shell"):
                yield f"{node.lineno}: a pickle or a shell"
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            of = {a.name for a in node.names} if isinstance(node, ast.Import) else {node.module}
            if of & MODULES:
                yield f"{node.lineno}: imports {of}"
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if owner == "yaml" and node.attr in YAML and name != "readers/ir_metadata.py":
                yield f"{node.lineno}: yaml.{node.attr}"
            may = MAY_IMPORT.get(name) or MAY_IMPORT.get(path.name, set())
            if node.attr in IMPORTING - may:
                yield f"{node.lineno}: {node.attr}"
            loads = owner in ("np", "numpy") and node.attr in ("load", "loads", "fromfile")
            if loads and name != "readers/npy.py":  # which loads no pickle
                yield f"{node.lineno}: np.{node.attr}, where readers.npy belongs"


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_no_code_from_outside(path: Path) -> None:
    assert [*found(path)] == []


@pytest.mark.parametrize(
    "text",
    ["eval('1')", "import pickle", "from pickle import loads", "yaml.safe_load(x)", "np.load(x)",
     "np.save(x, allow_pickle=True)", "importlib.import_module(x)", "run(x, shell=True)"],
)  # fmt: skip
def test_the_test_sees_it(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    (tmp_path / "a.py").write_text(text)
    assert len([*found(tmp_path / "a.py")]) == 1
