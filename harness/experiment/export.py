"""Results logged to MLflow or Weights & Biases, or written as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..core.names import tracker_names
from ..errors import HarnessError, Problem, not_installed, shorten
from .results import Results


def to_json(results: Results) -> str:
    """Return ``{"dataset/run/metric": value}``; undefined values are null."""
    flat = {k: None if v != v else v for k, v in results.to_flat_dict().items()}
    return json.dumps(flat, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def to_mlflow(results: Results, project: str) -> str:
    """Log one MLflow run for each run and dataset, in the store that MLflow is set to."""
    mlflow = _tracker("mlflow")
    mlflow.set_experiment(project)
    for name, parameters, values in _entries(results):
        with mlflow.start_run(run_name=name):
            mlflow.log_params(parameters)
            mlflow.log_metrics(values)
    return f"MLflow, {mlflow.get_tracking_uri()}"


def to_wandb(results: Results, project: str) -> str:
    """Log one Weights & Biases run for each run and dataset; offline under WANDB_MODE=offline."""
    wandb = _tracker("wandb")
    for name, parameters, values in _entries(results):
        run = wandb.init(project=project, name=name, config=parameters, reinit="finish_previous")
        run.summary.update(values)
        run.finish()
    return "Weights & Biases"


_TRACKERS: dict[str, Callable[[Results, str], str]] = {"mlflow": to_mlflow, "wandb": to_wandb}


def log(results: Results, tracker: str, project: str) -> str:
    """Log results to a tracker; return where they are. HarnessError if the tracker refuses."""
    try:
        return _TRACKERS[tracker](results, project)
    except HarnessError:
        raise
    except Exception as error:
        first = str(error).partition("\n")[0]
        what = f"expected {tracker} to log, got {type(error).__name__}: {shorten(first, 300)}"
        fix = f"set up {tracker} first, or use --to json"
        raise HarnessError(Problem(f"export --to {tracker}", what, fix=fix)) from error


def _entries(results: Results) -> list[tuple[str, dict[str, str], dict[str, float]]]:
    """Return name, parameters and values of each run on each dataset; undefined ones left out."""
    metrics = [str(one) for one in results.leaderboard.metrics]
    short = dict(zip(metrics, tracker_names(metrics), strict=True))
    found = []
    for one in results.leaderboard.entries:
        columns = {"dataset": one.dataset, "run": one.run, **one.columns}
        name = f"{one.key.run_with_columns} on {one.dataset}"
        values = {short[k]: v for k, v in one.summary.items() if v == v}
        found.append((name, columns, values))
    return found


def _tracker(name: str) -> Any:
    spec = find_spec(name)
    if spec is None or spec.origin is None:  # a folder of that name, which wandb writes
        raise not_installed(f"export --to {name}", name, name)
    return import_module(name)
