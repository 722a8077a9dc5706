"""The package as a whole: what it exports, and what importing it costs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import harness
from harness.reports import page

HEAVY = ("pandas", "torch", "polars", "matplotlib", "scipy", "sklearn", "pydantic", "click", "yaml")


NOTICE = Path("harness/reports/page/LICENSE-preact")


def test_the_page_ships_the_licence_of_the_library_it_bundles(root: Path) -> None:
    notice = (root / NOTICE).read_text(encoding="utf-8").strip()
    assert "Copyright (c) 2015-present Jason Miller" in notice
    script = (root / NOTICE).with_name("page.js").read_text(encoding="utf-8")
    assert script.startswith(f"/*! Includes Preact.\n\n{notice}\n*/")
    data: dict[str, object] = {"boards": [], "title": "a"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "_plain_table", lambda report: "")
        assert notice in page.html_files(data, "page.html")["page.html"].decode()


def test_the_wheel_ships_it_too(root: Path) -> None:
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert NOTICE.as_posix() in project["project"]["license-files"]
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["harness"]
    for name in (NOTICE, NOTICE.with_name("page.js")):
        assert not any(name.match(pattern) for pattern in wheel["exclude"])


def loaded(code: str, unwanted: Iterable[str], folder: Path) -> str:
    report = f"print([m for m in {sorted(unwanted)} if m in sys.modules])"
    code = f"import atexit, sys, harness; atexit.register(lambda: {report}); {code}"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_import_loads_nothing_heavy(root: Path) -> None:
    assert loaded("", HEAVY, root) == "[]"


def test_evaluating_loads_none_of_the_extras(root: Path) -> None:
    unwanted = (
        "pandas", "torch", "polars", "matplotlib", "scipy", "pyarrow.compute", "fsspec",
    )  # fmt: skip
    code = "harness.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, ['P@1'])"
    assert loaded(code, unwanted, root) == "[]"


FILES = {
    "trec": (
        "q1 0 d1 1\nq1 0 d2 0\n",
        "q1 Q0 d1 1 2.5 a\nq1 Q0 d2 2 1.5 a\nq1 Q0 d3 3 1.5 a\n",
    ),
    "letor": ("1 qid:1 1:2\n0 qid:1 1:3\n2 qid:2 1:4\n0 qid:2 1:5\n", "1.5\n0.5\n1\n1\n"),
}


@pytest.mark.parametrize("kind", FILES)
def test_the_command_starts_without_what_it_does_not_need(tmp_path: Path, kind: str) -> None:
    for name, text in zip(("qrels.txt", "a.run"), FILES[kind], strict=True):
        (tmp_path / name).write_text(text)
    unwanted = {*HEAVY, "pyarrow.compute", "pyarrow.parquet"} - {"click", "yaml"}
    words = ["evaluate", "qrels.txt", "a.run", "-m", "map", "-m", "bpref", "--ties", "stable"]
    code = f"from harness.cli.main import main; main({words})"
    assert loaded(code, unwanted, tmp_path) == "[]"


def test_another_package_of_the_same_name_is_an_error(tmp_path: Path) -> None:
    package = Path(shutil.copytree(Path(harness.__file__).parent, tmp_path / "harness"))
    (package / "__init__.py").write_text('"""Another distribution."""\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "harness", "metrics"], cwd=tmp_path, capture_output=True, text=True,
        check=False, env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "error: the package 'harness' does not belong to ranking-harness\n"
        "  fix:   pip uninstall harness, then install ranking-harness again\n"
    )
