"""The tables that the pages show are those that the commands above them print."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import harness
from harness.cli.app import app

SHOWN = re.compile(
    r"<!-- (harness table [^\n]*) -->\n(?:```text\n)?(.*?)\n(?:```|<!-- end -->)", re.DOTALL
)


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """The results of configs/paper.yaml."""
    folder = tmp_path_factory.mktemp("docs")
    for name in ("configs", "runs"):
        shutil.copytree(root / name, folder / name)
    harness.run(folder / "configs/paper.yaml")
    return folder


def test_tables_of_the_page(workplace: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    found = SHOWN.findall((root / "docs/tables.md").read_text("utf-8"))
    assert len(found) == 2
    for command, shown in found:
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        printed = re.sub(r"^<!-- .* -->\n\n", "", done.stdout)
        assert shown.strip() == printed.strip()


def test_the_table_of_the_readme_is_that_of_the_page(root: Path) -> None:
    page, readme = ((root / name).read_text("utf-8") for name in ("docs/tables.md", "README.md"))
    (table,) = re.findall(r"^\|  +\|  +Fold 1<br>.*?\n\n", page, re.S | re.M)
    assert table in readme
