"""`harness plot`, and the pictures that `harness run` writes."""

from __future__ import annotations

import functools
import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import started

from harness import pictures
from harness.errors import UnknownNameError
from harness.plots import Settings

CONFIG = """\
output: results
datasets: {letor: {format: letor, path: "ROOT/runs/letor/fold1/test.txt"}}
runs: {"{model}": {format: scores, path: "ROOT/runs/letor/{model}/fold1-seed1.txt"}}
metrics: ["ndcg@5,10"]
compare: {baseline: lambdamart}
plots: [{kind: effects, metrics: "ndcg@5", formats: [svg, pdf]}, {kind: cutoffs, formats: png}]
"""


harness = functools.partial(started, python=("-W", "error"))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a config, and its results."""
    folder = tmp_path_factory.mktemp("plots")
    root = Path(__file__).resolve().parents[2]
    (folder / "a.yaml").write_text(CONFIG.replace("ROOT", str(root)))
    done = harness("run", "a.yaml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(
        "written to results: leaderboard.csv, per_query.parquet, significance.csv, standings.csv, "
        "plots/effects-letor-ndcg-5.svg, plots/effects-letor-ndcg-5.pdf, "
        "plots/cutoffs-letor-ndcg.png, manifest.json\n"
    )
    return folder


def test_a_config_asks_for_pictures(here: Path) -> None:
    made = {path.name: path.read_bytes() for path in (here / "results/plots").iterdir()}
    assert {"effects-letor-ndcg-5.svg", "effects-letor-ndcg-5.pdf", "cutoffs-letor-ndcg.png"} <= {
        *made
    }
    trace = hashlib.sha256((here / "results/manifest.json").read_bytes()).hexdigest()
    assert all(trace.encode() in content for content in made.values())


def test_the_command_draws_the_same_bytes(here: Path) -> None:
    done = harness(
        "plot", "results", "effects", "-m", "ndcg@5", "--format", "svg", "-o", "again", cwd=here
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == str(Path("again/effects-letor-ndcg-5.svg")) + "\n"
    name = "effects-letor-ndcg-5.svg"
    assert (here / "again" / name).read_bytes() == (here / "results/plots" / name).read_bytes()


def test_another_baseline_is_compared_anew(here: Path) -> None:
    done = harness(
        "plot", "results", "effects", "differences", "-m", "ndcg@5", "--run", "!random",
        "--baseline", "gbrt", "-o", "other", cwd=here,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (here / "other").iterdir()} == {
        "effects-letor-ndcg-5.png", "differences-letor-ndcg-5.png",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["results", "efects"], "error: unknown picture 'efects'; did you mean 'effects'?  (all: "
         "critical-difference, cutoffs, differences, distribution, effects, heatmap, scatter)\n"),
        (["xyz", "heatmap"], "error: xyz: there is no such folder\n"
         "  fix:   give the folder that the config's 'output:' names\n"),
        (["results", "critical-difference", "--run", "gbrt", "-m", "ndcg@5"],
         "error: plots: critical-difference of ndcg@5 on letor: there is one run only, and nothing "
         "to compare it with\n"),
        (["results", "distribution", "-m", "map"],
         "error: plots: there is no metric 'map'  (there are: ndcg@5, ndcg@10)\n"),
    ],
)  # fmt: skip
def test_errors(here: Path, arguments: list[str], said: str) -> None:
    done = harness("plot", *arguments, cwd=here)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_a_baseline_that_neither_the_command_nor_the_config_names(here: Path) -> None:
    done = harness(
        "run", "a.yaml", "--set", "compare=null", "--set", "plots=[]", "--set", "output=alone",
        cwd=here,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = harness("plot", "alone", "effects", "differences", "-m", "ndcg@5", cwd=here)
    assert (done.returncode, done.stdout) == (2, "")
    runs = "gbrt, lambdamart, linear-regression, neural, random"
    fix = (
        "give --baseline RUN, such as --baseline gbrt; or 'compare: {baseline: RUN}' in the config"
    )
    first, second = (
        f"plots: {kind} needs a baseline  (there are: {runs})\n"
        for kind in ("effects", "differences")
    )
    assert done.stderr == f"error: {first}{second}  fix:   {fix}\n"
    more = ["-m", "ndcg@5", "--baseline", "gbrt"]
    assert harness("plot", "alone", "effects", "differences", *more, cwd=here).returncode == 0


def test_every_kind_is_checked_before_runs_are_compared(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compared(*_: object) -> None:
        raise AssertionError("runs were compared")

    monkeypatch.setattr("harness.results.with_comparisons", compared)
    kinds, settings = ["heatmap", "effects", "cutoffs", "scatter"], Settings("", ("ndcg@5",))
    with pytest.raises(UnknownNameError) as caught:
        pictures.draw(here / "results", kinds, settings, here / "unwritten")
    assert str(caught.value) == (
        "plots: cutoffs needs a metric at two cutoffs or more, as in ndcg@5,10,20\n"
        "plots: scatter needs two metrics or more"
    )
    assert not (here / "unwritten").exists()


def test_a_bar_counts_the_pictures(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Bar] = []

    class Bar(list[Any]):
        """What a bar was given."""

        def __init__(self, wanted: list[Any], **options: Any) -> None:
            super().__init__(wanted)
            self.options = options
            made.append(self)

    monkeypatch.setattr(pictures, "tqdm", Bar)
    settings = Settings("", ("ndcg@5", "ndcg@10"), formats=("svg",))
    pictures.draw(here / "results", ["heatmap", "cutoffs"], settings, here / "counted")
    (bar,) = made
    assert len(bar) == 3
    assert bar.options["disable"] is None  # on a terminal alone


@pytest.mark.parametrize("arguments", ["'run', 'a.yaml'", "'plot', 'results', 'heatmap'"])
def test_without_matplotlib(here: Path, arguments: str) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        f"from harness.main import main; main([{arguments}])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: plots: pictures need matplotlib, which is not installed\n"
        '  fix:   pip install "ranking-harness[plots]"  (in a checkout: '
        'pip install -e ".[plots]")\n'
    )
