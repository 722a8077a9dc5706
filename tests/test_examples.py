"""The examples of slices, gates and CI run as they are."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import called, succeeds
from csv_rows import csv_rows

from harness.cli import pytest_gate

ROOT = Path(__file__).parents[1]
harness_gate = pytest_gate.harness_gate


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for name in ("examples", "runs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


def test_slices(here: Path) -> None:
    succeeds("run", "examples/slices/slices.yaml", cwd=here)
    rows = csv_rows(here / "results/slices/leaderboard.csv")
    queries = {row["dataset"]: int(row["queries"]) for row in rows}
    assert len(queries) == 6
    assert queries["trec [type=keyword]"] + queries["trec [type=question]"] == 30
    assert called("verify", "results/slices", cwd=here).code == 0


@pytest.fixture
def repository(here: Path) -> Path:
    text = (here / "examples/gate/gate.yaml").read_text().replace("../../", "")
    (here / "gate.yaml").write_text(text)
    return here


def bash(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a step of CI; nothing is installed, and no comment is written."""
    functions = f'''
harness() {{ "{sys.executable}" -m harness "$@"; }}
python() {{ test "$*" = "-m pip install git+https://github.com/ranking-harness/ranking-harness"; }}
gh() {{ echo "$*" >> gh.log; }}
'''
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", functions + script], cwd=folder, text=True,
        capture_output=True, env={**os.environ, "GITHUB_STEP_SUMMARY": "summary.md", **environment},
        check=False,
    )  # fmt: skip


def worsen(repository: Path) -> None:
    config = repository / "gate.yaml"
    config.write_text(config.read_text().replace("query-likelihood.run.gz", "tfidf.run"))


def test_actions_are_pinned_by_hash() -> None:
    examples = (ROOT / f"examples/ci/{name}.yml" for name in ("github", "nightly"))
    workflows = [*(ROOT / ".github/workflows").glob("*.yml"), *examples]
    used = [use for file in workflows for use in re.findall("uses: (.+)", file.read_text())]
    assert len(used) > 10
    for use in used:
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", use), use


def test_a_fork_writes_nothing(repository: Path) -> None:
    workflow = yaml.safe_load((repository / "examples/ci/github.yml").read_text())
    steps = workflow["jobs"]["gate"]["steps"]
    writes = [one for one in steps if "pr comment" in str(one) or "upload-sarif" in str(one)]
    assert len(writes) == 2
    assert all("env.MAY_WRITE == 'true'" in step["if"] for step in writes)


@pytest.mark.slow
def test_github(repository: Path) -> None:
    workflow = yaml.safe_load((repository / "examples/ci/github.yml").read_text())
    steps = workflow["jobs"]["gate"]["steps"]
    scripts = {one["name"]: one["run"] for one in steps if "run" in one}
    environment = {**workflow["env"], "PR": "7"}
    for name, script in scripts.items():
        done = bash(script, repository, **environment)
        assert done.returncode == 0, (name, done.stderr)
    assert (repository / "gh.log").read_text().startswith("pr comment 7 --body-file gate.md")
    assert json.loads((repository / "check.sarif").read_text())["version"] == "2.1.0"
    for name in ("summary.md", "page.html", "results/gate/cells"):
        assert (repository / name).exists()
    worsen(repository)
    done = bash(scripts["Gate"], repository, **environment)
    assert done.returncode == 1
    assert "::error title=harness gate fail::" in done.stdout
    assert "| fail |" in (repository / "gate.md").read_text()


@pytest.mark.slow
def test_nightly(repository: Path) -> None:
    workflow = yaml.safe_load((repository / "examples/ci/nightly.yml").read_text())
    steps = workflow["jobs"]["history"]["steps"]
    scripts = {one["name"]: one["run"] for one in steps if "name" in one}
    for day in "2025-01-09", "2025-01-10":
        environment = {**workflow["env"], "DAY": day}
        assert bash(scripts["Evaluate"], repository, **environment).returncode == 0
        worsen(repository)
    done = bash(scripts["History"], repository, **environment)
    assert done.returncode == 1, done.stderr
    assert "| ▼ worse | trec | candidate |" in (repository / "summary.md").read_text()
    assert "data:image/svg+xml" in (repository / "history/index.html").read_text()


@pytest.mark.slow
def test_gitlab(repository: Path) -> None:
    job = yaml.safe_load((repository / "examples/ci/gitlab.yml").read_text())["gate"]
    script = "\n".join(job["script"])
    worsen(repository)
    done = bash(script, repository, **job["variables"])
    assert done.returncode == 1, done.stderr
    assert (repository / job["artifacts"]["paths"][0]).exists()
    assert 'failures="2"' in (repository / job["artifacts"]["reports"]["junit"]).read_text()


SCALED = {
    "slurm": ("dask_jobqueue", "SLURMCluster"),
    "kubernetes": ("dask_kubernetes.operator", "KubeCluster"),
    "coiled_cluster": ("coiled", "Cluster"),
}
STAND_IN = """
import os, sys, types
from distributed import LocalCluster, Security

class Cluster(LocalCluster):
    def __init__(self, **settings):
        own = {{"n_workers": 1, "threads_per_worker": 1, "processes": False}}
        super().__init__(**own, dashboard_address=":0")
        self.security = Security()

    def scale(self, jobs):
        pass

    def __exit__(self, *_):  # threads of one process end with it
        pass

for part in {parts}:
    sys.modules[part] = types.ModuleType(part)
sys.modules[{module!r}].{name} = Cluster
"""
END = """
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("file", ["local", *SCALED])
def test_scale_out(here: Path, file: str) -> None:
    """The scripts run; clusters of other packages are stood in for by a local one."""
    pytest.importorskip("distributed")
    shutil.copytree(ROOT / "configs", here / "configs")
    path = here / f"examples/scale-out/{file}.py"
    if file in SCALED:
        module, name = SCALED[file]
        parts = [module.rpartition(".")[0] or module, module]
        stand_in = STAND_IN.format(parts=parts, module=module, name=name)
        path.write_text(stand_in + path.read_text() + END)
    command = [sys.executable, str(path), "configs/quickstart.yaml"]
    done = subprocess.run(
        command, cwd=here, text=True, capture_output=True, check=False, timeout=240,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "bm25" in done.stdout
    assert "cells by worker: " in done.stderr
    assert (here / "results/quickstart/leaderboard.csv").exists()


def test_pre_commit(repository: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    config = yaml.safe_load((repository / "examples/ci/pre-commit-config.yaml").read_text())
    (used,) = config["repos"][0]["hooks"]
    assert (used["id"], hook["language"]) == (hook["id"], "python")
    assert re.search(hook["files"], "gate.yaml")
    words = [*hook["entry"].split()[1:], *used.get("args", hook["args"])]
    assert called(*words, cwd=repository).code == 0
    run = repository / "runs/trec/bm25.run"
    run.write_text(run.read_text()[:20_000])
    assert called(*words, "--strict", cwd=repository).code != 0


def test_the_pytest_fixture(repository: Path) -> None:
    test = (repository / "examples/ci/test_gate.py").read_text()
    text = (repository / "gate.yaml").read_text()
    (repository / "worse.yaml").write_text(text.replace("query-likelihood.run.gz", "tfidf.run"))
    for name in ("gate", "worse"):
        (repository / f"test_{name}.py").write_text(test.replace("gate.yaml", f"{name}.yaml"))
    words = ["-m", "pytest", "-q", "-p", "harness.cli.pytest_gate", "test_gate.py", "test_worse.py"]
    done = subprocess.run(
        [sys.executable, *words], cwd=repository, text=True, capture_output=True,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, check=False,
    )  # fmt: skip
    assert "1 failed, 1 passed" in done.stdout
    assert "; 2 of 2 values fail" in done.stdout
    entry = '[project.entry-points.pytest11]\nharness = "harness.cli.pytest_gate"'
    assert entry in (ROOT / "pyproject.toml").read_text()


def test_the_fixture_takes_options(repository: Path, harness_gate: Any) -> None:
    trec = repository / "runs/trec"
    options = {"qrels": trec / "qrels.txt", "metric": ["ndcg@10", "map"], "margin": 0.05}
    found = harness_gate(trec / "bm25.run", trec / "query-likelihood.run.gz", **options)
    assert [one.outcome for one in found] == ["pass", "pass"]
    with pytest.raises(pytest.fail.Exception, match="; 2 of 2 values fail"):
        harness_gate(trec / "bm25.run", trec / "tfidf.run", **options)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["Dockerfile", "examples/ci/Dockerfile"])
def test_docker(file: str) -> None:
    info = shutil.which("docker") and subprocess.run(["docker", "info"], capture_output=True)
    if not info or info.returncode:
        pytest.skip("needs Docker")
    subprocess.run(["docker", "build", "-q", "-f", file, "."], cwd=ROOT, check=True)
