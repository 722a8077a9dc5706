"""What the README and the docs show is run as it stands."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import called

import harness

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.S | re.M)


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [body for name, body in BLOCK.findall(text) if name == language]


def having(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a user has: configs and runs, and the files that the pages' examples name."""
    folder = tmp_path_factory.mktemp("workplace")
    for name in ("configs", "runs"):
        shutil.copytree(ROOT / name, folder / name)
    letor = ROOT / "runs" / "letor"
    for path in ("mq2007/test.txt", "mq2008/Fold1/test.txt", "mslr/sample.txt"):
        copy(letor / "fold1" / "test.txt", folder / "data" / path)
        for model in ("gbrt", "lambdamart"):
            predictions = folder / "predictions" / path.partition("/")[0] / f"{model}.txt"
            copy(letor / model / "fold1-seed1.txt", predictions)
    for seed, model in enumerate(("gbrt", "lambdamart")):
        collector, generator = harness.BatchCollector(), np.random.default_rng(seed)
        for start in (0, 8):
            grades = np.arange(8 * 20).reshape(8, 20) % 5
            qids = np.arange(start, start + 8)
            collector.add(generator.normal(size=(8, 20)), grades, np.full(8, 20), qids)
        collector.save(folder / "batches" / f"{model}.npz")
    return folder


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


@pytest.mark.parametrize("page", having("python"), ids=lambda p: p.name)
def test_python_blocks_run(page: Path, workplace: Path) -> None:
    code = "\n".join(blocks(page, "python"))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=workplace, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", having("sh"), ids=lambda p: p.name)
def test_commands_run(page: Path, workplace: Path) -> None:
    for config in blocks(page, "yaml"):  # a block that begins with its path is that file
        named = re.match(r"# (configs/\S+\.yaml)\n", config)
        if named:
            (workplace / named[1]).write_text(config, encoding="utf-8")
    for command in "\n".join(blocks(page, "sh")).splitlines():
        if not command.startswith("harness "):
            continue
        done = called(*shlex.split(command, comments=True)[1:], cwd=workplace)
        assert done.code == 0, f"{command}\n{done.err}"


def test_every_shell_command_in_the_readme_is_known() -> None:
    commands = "\n".join(blocks(ROOT / "README.md", "sh")).splitlines()
    known = ("harness ", "python3 -m venv .venv && ", "source .venv/bin/activate")
    assert [c for c in commands if c and not c.startswith(known)] == []


def test_links_in_the_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_generated_pages_are_up_to_date() -> None:
    sys.path.insert(0, str(ROOT))
    try:
        from docs.generate import pages
    finally:
        sys.path.remove(str(ROOT))
    for name, text in pages().items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, (
            f"docs/{name} is out of date: run python -m docs.generate"
        )
