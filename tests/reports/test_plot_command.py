"""`harness plot`, and the pictures that `harness run` writes."""

import hashlib
import sys
from pathlib import Path

import pytest
from command_line import refused, succeeds

pytest.importorskip("matplotlib")
CONFIG = """\
output: results
datasets: {letor: {format: letor, path: "ROOT/runs/letor/fold1/test.txt"}}
runs: {"{model}": {format: scores, path: "ROOT/runs/letor/{model}/fold1-seed1.txt"}}
metrics: ["ndcg@5,10"]
compare: {baseline: lambdamart}
plots: [{kind: effects, metrics: "ndcg@5", formats: [svg, pdf]}, {kind: cutoffs, formats: png}]
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plots")
    root = Path(__file__).resolve().parents[2]
    (folder / "a.yaml").write_text(CONFIG.replace("ROOT", str(root)))
    printed = " ".join(succeeds("run", "a.yaml", cwd=folder).split())
    assert (
        "written to results: leaderboard.csv, per_query.parquet, significance.csv, standings.csv, "
        "plots/effects-letor-ndcg-5.svg, plots/effects-letor-ndcg-5.pdf, "
        "plots/cutoffs-letor-ndcg.png, manifest.json "
    ) in printed
    return folder


def test_a_config_asks_for_pictures(here: Path) -> None:
    made = {path.name: path.read_bytes() for path in (here / "results/plots").iterdir()}
    assert {"effects-letor-ndcg-5.svg", "effects-letor-ndcg-5.pdf", "cutoffs-letor-ndcg.png"} <= {
        *made
    }
    trace = hashlib.sha256((here / "results/manifest.json").read_bytes()).hexdigest()
    assert all(trace.encode() in content for content in made.values())


def test_the_command_draws_the_same_bytes(here: Path) -> None:
    words = ("plot", "results", "effects", "-m", "ndcg@5", "--format", "svg", "-o", "again")
    name = "effects-letor-ndcg-5.svg"
    assert succeeds(*words, cwd=here) == f"{Path('again') / name}\n"
    assert (here / "again" / name).read_bytes() == (here / "results/plots" / name).read_bytes()


@pytest.mark.parametrize("words", [("run", "a.yaml"), ("plot", "results", "heatmap")])
def test_without_matplotlib(
    here: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [one for one in sys.modules if one.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    err = refused(*words, cwd=here)
    assert err.startswith("error: plots: ")
    assert "pip install matplotlib" in err


def test_each_kind_proposes_the_option_that_it_needs(here: Path, tmp_path: Path) -> None:
    text = (here / "a.yaml").read_text(encoding="utf-8").partition("compare:")[0]
    text = text.replace("fold1-seed1.txt", "fold1-seed{seed}.txt").replace("results", "swept")
    (tmp_path / "b.yaml").write_text(text, encoding="utf-8")
    succeeds("run", "b.yaml", cwd=tmp_path)
    for kind, option in (("differences", "--baseline"), ("sweep", "--over"), ("curve", "--over")):
        message = refused("plot", "swept", kind, cwd=tmp_path)
        proposed = message.partition(f"add {option} ")[2].split(",")[0]
        assert proposed in ("gbrt", "seed")
        succeeds("plot", "swept", kind, option, proposed, cwd=tmp_path)
    message = refused("plot", "swept", "sweep", "--over", "lr", cwd=tmp_path)
    assert message.count("error: ") == 1  # one cause, for several metrics
