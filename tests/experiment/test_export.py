"""harness export: JSON, and local stores of MLflow and Weights & Biases where installed."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from command_line import called, refused, started, succeeds
from csv_rows import csv_rows
from refusals import refuses

import harness

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    (folder / "q.txt").write_text("10 0 b 1\n10 0 a 0\n2 0 c 1\n1 0 d 0\n")
    for seed in (3, 11):
        (folder / f"s{seed}.run").write_text(f"2 Q0 c 1 {seed} t\n10 Q0 a 1 2 t\n10 Q0 b 2 1 t\n")
    (folder / "c.yaml").write_text(
        "datasets: {d x: {path: q.txt}}\nruns: {my: {path: 's{seed}.run'}}\n"
        "metrics: [ndcg@10, 'rbo(p=0.9)', kendall]\noutput: out\n"
    )
    succeeds("run", "c.yaml", cwd=folder)
    return folder


def test_json_is_the_flat_dict_with_null_for_undefined(here: Path) -> None:
    found = json.loads(succeeds("export", "out", cwd=here))
    assert "d x/my/seed=3/ndcg@10" in found
    assert len(found) == 6
    from harness.experiment.results import read_results

    flat = read_results(here / "out").to_flat_dict()
    assert flat.keys() == found.keys()
    for key, value in flat.items():
        assert found[key] is None if math.isnan(value) else found[key] == value


def test_summaries_have_the_names_of_the_export() -> None:
    qrels, run = {"10": {"a": 1, "b": 0}, "2": {"c": 1}}, {"10": {"a": 1.0, "b": 1.0}}
    metrics = ["ndcg(gain=exp)@10", "rbo(p=0.9)", "rbo(p=0.95)", "map"]
    found = harness.evaluate(qrels, run, metrics)
    short = found.summary(names="tracker")
    assert list(short.values()) == pytest.approx(list(found.summary().values()), nan_ok=True)
    assert list(short) == ["ndcg_gain_exp_at_10", "rbo_p_0.9", "rbo_p_0.95", "map"]
    with refuses("names"):
        found.summary(names="mlflow")  # type: ignore[arg-type]


@pytest.mark.slow
def test_mlflow(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (here / "mlruns").as_uri())
    done = started("export", "out", "--to", "mlflow", "--project", "p", cwd=here)
    assert done.returncode == 0, done.stderr
    assert "logged 2 runs to MLflow" in done.stdout
    mlflow.set_tracking_uri((here / "mlruns").as_uri())
    client = mlflow.MlflowClient()
    runs = client.search_runs([client.get_experiment_by_name("p").experiment_id])
    assert sorted(run.data.params["seed"] for run in runs) == ["11", "3"]
    flat = json.loads(called("export", "out", cwd=here).out)
    for run in runs:
        key = f"d x/my/seed={run.data.params['seed']}/ndcg@10"
        assert run.data.metrics["ndcg_at_10"] == flat[key]


@pytest.mark.slow
def test_wandb_offline(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", exc_type=ImportError)
    monkeypatch.setenv("WANDB_MODE", "offline")
    done = started("export", "out", "--to", "wandb", cwd=here)
    assert done.returncode == 0, done.stderr
    assert len(list((here / "wandb").glob("offline-run-*"))) == 2


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_a_tracker_that_is_not_installed_names_its_extra(
    here: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.experiment import export

    monkeypatch.setattr(export, "find_spec", lambda _: None)
    err = refused("export", "out", "--to", name, cwd=here)
    assert err.startswith(f"error: export --to {name}: ")
    assert f"fix:   pip install {name} (the extra '{name}')" in err


def test_what_a_tracker_refuses_is_an_error(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.experiment import export

    monkeypatch.setitem(export._TRACKERS, "mlflow", lambda *_: 1 / 0)
    assert "got ZeroDivisionError" in refused("export", "out", "--to", "mlflow", cwd=here)


def output_of(example: str, *words: str, cwd: Path) -> str:
    command = [sys.executable, ROOT / "examples" / example, *words]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_boosting_examples(library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    out = output_of(f"boosting/train_{library}.py", cwd=tmp_path)
    assert "of 10 queries gained since the first tree" in out


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "tracker", ["json", pytest.param("mlflow", marks=SLOW), pytest.param("wandb", marks=SLOW)]
)
def test_tracker_example(tracker: str, examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if tracker != "json":
        pytest.importorskip(tracker)
    for key, value in {
        "MLFLOW_ALLOW_FILE_STORE": "true", "WANDB_MODE": "offline",
        "MLFLOW_TRACKING_URI": (examples / "mlruns").as_uri(),
    }.items():  # fmt: skip
        monkeypatch.setenv(key, value)
    out = output_of("trackers/log_results.py", tracker, cwd=examples)
    assert "letor/lambdamart/ndcg@10" in out or "logged to" in out


def test_tensorboard(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    flat = json.loads(succeeds("export", "out", cwd=here))
    for _ in range(2):  # the second replaces the first
        succeeds("export", "out", "--to", "tensorboard", "--project", "p", cwd=here)
    for seed in ("3", "11"):
        log = EventAccumulator(str(here / f"tensorboard/p/my-seed-{seed}-on-d-x")).Reload()
        (event,) = log.Scalars("ndcg_at_10")
        assert event.value == pytest.approx(flat[f"d x/my/seed={seed}/ndcg@10"], abs=1e-6)


def test_dvc_gets_nested_metrics_and_a_table_to_plot(here: Path) -> None:
    flat = json.loads(succeeds("export", "out", cwd=here))
    succeeds("export", "out", "--to", "dvc", "--project", "p", cwd=here)
    folder = here / "dvc/p"
    nested = json.loads((folder / "metrics.json").read_text())
    rows = csv_rows(folder / "plots.csv")
    for row, seed in zip(rows, ("3", "11"), strict=True):
        value = flat[f"d x/my/seed={seed}/ndcg@10"]
        assert nested["d x"][f"my seed={seed}"]["ndcg_at_10"] == value == float(row["ndcg_at_10"])
        assert nested["d x"][row["run"]]["rbo_p_0.9"] == float(row["rbo_p_0.9"])
    described = yaml.safe_load((folder / "dvc.yaml").read_text())
    assert described["metrics"] == ["metrics.json"]
    assert [*described["plots"][0]] == ["ndcg_at_10"]


def test_dvc_shows_the_metrics_and_plots(here: Path) -> None:
    dvc = [sys.executable, "-m", "dvc"]
    pytest.importorskip("dvc")
    succeeds("export", "out", "--to", "dvc", "--project", "p", cwd=here)
    folder = here / "dvc/p"
    subprocess.run([*dvc, "init", "--no-scm", "-q"], cwd=folder, check=True)
    shown = subprocess.run([*dvc, "metrics", "show", "--md"], cwd=folder, stdout=-1, check=True)
    assert "my seed=11.ndcg_at_10" in shown.stdout.decode()
    subprocess.run([*dvc, "plots", "show", "-q", "-o", "plots"], cwd=folder, check=True)
    assert "ndcg_at_10" in (folder / "plots/index.html").read_text()
