"""Results logged to trackers of experiments, or written as JSON."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..core.names import distinct, tracker_names
from ..errors import HarnessError, Problem, not_installed, shorten
from ..readers.files import part, write_all
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


def to_tensorboard(results: Results, project: str) -> str:
    """Write a folder of TensorBoard for each run and dataset, below ``tensorboard/``."""
    _tracker("tensorboard")
    writer = import_module("tensorboard.summary.writer.event_file_writer").EventFileWriter
    event = import_module("tensorboard.compat.proto.event_pb2").Event
    folder = Path("tensorboard", part(project))
    entries = _entries(results)
    names = distinct(part(name) for name, _, _ in entries)
    for name, (_, _, values) in zip(names, entries, strict=True):
        for old in (folder / name).glob("events.out.tfevents.*"):  # else values would come twice
            old.unlink()
        log = writer(str(folder / name))
        tags = [{"tag": tag, "simple_value": value} for tag, value in values.items()]
        log.add_event(event(wall_time=time.time(), step=0, summary={"value": tags}))
        log.close()
    return str(folder)


def to_dvc(results: Results, project: str) -> str:
    """Write metrics and a table to plot for DVC, with the ``dvc.yaml`` that names them."""
    nested: dict[str, dict[str, dict[str, float]]] = {}
    rows, names = [], dict.fromkeys(tracker_names(_metrics(results)), "")
    for name, columns, values in _entries(results):
        run = name.removesuffix(f" on {columns['dataset']}")
        nested.setdefault(columns["dataset"], {})[run] = values
        rows.append({"dataset": columns["dataset"], "run": run, "row": name, **names, **values})
    table = io.StringIO()
    writer = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    plots = [
        {title: {"x": {"plots.csv": title}, "y": {"plots.csv": "row"}, "y_label": "run",
                 "template": "bar_horizontal"}}
        for title in names
    ]  # fmt: skip
    files = {
        "metrics.json": json.dumps(nested, indent=1, ensure_ascii=False) + "\n",
        "plots.csv": table.getvalue(),
        "dvc.yaml": json.dumps({"metrics": ["metrics.json"], "plots": plots}, indent=1) + "\n",
    }
    folder = Path("dvc", part(project))
    write_all(folder, {name: text.encode() for name, text in files.items()})
    return str(folder)


_TRACKERS: dict[str, Callable[[Results, str], str]] = {
    "dvc": to_dvc,
    "mlflow": to_mlflow,
    "tensorboard": to_tensorboard,
    "wandb": to_wandb,
}


def log(results: Results, tracker: str, project: str) -> str:
    """Log results to a tracker; return their location. HarnessError if the tracker refuses."""
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
    metrics = _metrics(results)
    short = dict(zip(metrics, tracker_names(metrics), strict=True))
    found = []
    for one in results.leaderboard.entries:
        columns = {"dataset": one.dataset, "run": one.run, **one.columns}
        name = f"{one.key.run_with_columns} on {one.dataset}"
        values = {short[k]: v for k, v in one.summary.items() if v == v}
        found.append((name, columns, values))
    return found


def _metrics(results: Results) -> list[str]:
    return [str(metric) for metric in results.leaderboard.metrics]


def _tracker(name: str) -> Any:
    spec = find_spec(name)
    if spec is None or spec.origin is None:  # a folder of that name, which wandb writes
        raise not_installed(f"export --to {name}", name, name)
    return import_module(name)
