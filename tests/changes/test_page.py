"""docs/changes.md shows what is printed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import harness
from harness.audit.changes import changes
from harness.audit.changes_report import render


def test_the_page_shows_what_is_printed(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (root / "docs/changes.md").read_text(encoding="utf-8")
    shutil.copytree(root / "runs", tmp_path / "runs")
    (tmp_path / "configs").mkdir()
    config = tmp_path / "configs/before.yaml"
    config.write_text(re.findall(r"^```yaml\n(.*?)^```", page, re.S | re.M)[0])
    harness.run(config)
    harness.run(config, overrides=["policy.ties=stable", "output=results/after"])
    monkeypatch.chdir(tmp_path)
    text = render(changes("configs/results/before", "configs/results/after"))
    beginning, end = re.findall(r"^```text\n(.*?)^```", page, re.S | re.M)
    assert text.startswith(beginning)
    assert text.endswith(end)
