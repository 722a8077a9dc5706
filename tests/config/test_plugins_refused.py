"""``--no-plugins``: no code but the harness's own runs, whatever a config or an archive names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import config, trust
from harness.config import plugins
from harness.errors import ConfigError

CONFIG = """\
output: out
datasets: {web: {format: trec, path: web.qrels}}
runs: {ours: {format: trec, path: ours.run}}
metrics: [map]
plugins: [mine.py]
"""
SAID = (
    "'mine.py' is code, and is not loaded, as --no-plugins was given; "
    "leave that option out if you trust 'mine.py'"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A config whose plugin leaves a file behind where it runs."""
    (tmp_path / "web.qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "ours.run").write_text("q1 Q0 d1 1 1 t\n")
    (tmp_path / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    (tmp_path / "plain.yaml").write_text(CONFIG.replace("plugins: [mine.py]\n", ""))
    (tmp_path / "c.yaml").write_text(CONFIG)
    return tmp_path


def harness(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["run", "audit"])
def test_a_config_that_names_plugins_is_refused(folder: Path, command: str) -> None:
    done = harness(folder, command, "c.yaml", "--no-plugins")
    assert done.returncode == 2
    assert done.stderr == f"error: c.yaml: 1 problem\n  $.plugins[0] (line 5)  {SAID}\n"
    assert not (folder / "ran").exists()


def test_metrics_that_a_plugin_may_define_are_not_named_beside_it(folder: Path) -> None:
    names = "[map, best_grade@5, 'ndcg(gian=exp)']"
    (folder / "c.yaml").write_text(CONFIG.replace("[map]", names) + "tables: {main: {}}\n")
    done = harness(folder, "run", "c.yaml", "--no-plugins")
    assert done.returncode == 2
    first, *others = done.stderr.splitlines()
    assert first == "error: c.yaml: 2 problems"
    assert "best_grade" not in done.stderr
    assert others[0].startswith("  $.metrics[2] (line 4)  ")
    assert others[-1] == f"  $.plugins[0] (line 5)  {SAID}"


def test_nor_does_a_folder_of_results_bring_code_with_it(folder: Path) -> None:
    assert harness(folder, "run", "c.yaml").returncode == 0
    (folder / "ran").unlink()
    for words in (["table", "out"], ["verify", "out"], ["audit", "out"]):
        done = harness(folder, "--no-plugins", *words)
        assert done.returncode == 2, words
        assert SAID in done.stderr
        assert not (folder / "ran").exists()


def test_nor_the_command_line(folder: Path) -> None:
    words = ["evaluate", "web.qrels", "ours.run", "-m", "map", "-p", "mine.py"]
    assert harness(folder, *words).returncode == 0
    assert (folder / "ran").exists()
    (folder / "ran").unlink()
    done = harness(folder, *words, "--no-plugins")
    assert (done.returncode, done.stderr) == (2, f"error: {SAID}\n")
    assert not (folder / "ran").exists()


def test_what_names_none_is_done(folder: Path) -> None:
    done = harness(folder, "run", "--no-plugins", "plain.yaml")
    assert done.returncode == 0, done.stderr
    assert os.listdir(folder / "out")


def test_installed_plugins_are_loaded_where_they_are_named_alone(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    loaded = []

    class Point:
        name, dist = "theirs", None

        def load(self) -> None:
            loaded.append(self.name)

    def points(group: str, name: str) -> list[Point]:
        assert group == "harness.metrics"
        return [Point()] if name == "theirs" else []

    monkeypatch.setattr(plugins, "entry_points", points)
    (folder / "theirs.yaml").write_text(CONFIG.replace("mine.py", "theirs"))
    config.load(folder / "plain.yaml")
    assert not loaded
    config.load(folder / "theirs.yaml")
    assert loaded == ["theirs"]
    trust.allow_plugins(False)
    try:
        config.load(folder / "plain.yaml")
        for name in ("c.yaml", "theirs.yaml"):
            with pytest.raises(ConfigError, match="is not loaded, as --no-plugins was given"):
                config.load(folder / name)
    finally:
        trust.allow_plugins(True)
    assert loaded == ["theirs"]
