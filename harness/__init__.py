"""A benchmarking harness for ranking models, from prediction files to the table in the paper.

The names here are the whole public surface; each is loaded when it is first used, so that
``import harness`` stays quick.

>>> import harness
>>> qrels = {"q1": {"d1": 2, "d2": 0, "d3": 1}}
>>> run = {"q1": {"d1": 0.3, "d2": 0.9, "d3": 0.1}}
>>> harness.evaluate(qrels, run, ["map", "recip_rank"]).summary()
{'map': 0.5833333333333333, 'recip_rank': 0.5}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .core import RENDERERS

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import batch as batch
    from . import compat as compat
    from .audit.conventions import conventions as conventions
    from .audit.trace import trace as trace
    from .batch import catboost as catboost
    from .batch import lightgbm as lightgbm
    from .batch import sklearn as sklearn
    from .batch import torch as torch
    from .batch import xgboost as xgboost
    from .batch.collector import BatchCollector as BatchCollector
    from .batch.dicts import from_pytrec_eval as from_pytrec_eval
    from .batch.dicts import to_pytrec_eval as to_pytrec_eval
    from .core.align import align as align
    from .core.aligned import Aligned as Aligned
    from .core.arguments import Range as Range
    from .core.evaluation import Evaluation as Evaluation
    from .core.metric import metric as metric
    from .core.names import metric_name as metric_name
    from .core.policy import Policy as Policy
    from .core.qrels_and_runs import Qrels as Qrels
    from .core.qrels_and_runs import Run as Run
    from .errors import HarnessError as HarnessError
    from .experiment.check import check as check
    from .experiment.compare import compare as compare
    from .experiment.evaluate import evaluate as evaluate
    from .experiment.fusion import fuse as fuse
    from .experiment.gate import gate as gate
    from .experiment.page import page as page
    from .experiment.per_query import per_query as per_query
    from .experiment.results import Results as Results
    from .experiment.run import run as run
    from .experiment.tables_and_plots import Plots as Plots
    from .experiment.tables_and_plots import Table as Table
    from .experiment.tables_and_plots import plot as plot
    from .experiment.tables_and_plots import table as table
    from .guard.check_report import Checked as Checked
    from .metrics.rank_similarity import rank_similarity as rank_similarity
    from .readers import read_qrels as read_qrels
    from .readers import read_run as read_run
    from .readers.in_memory import save_predictions as save_predictions
    from .stats.comparison import Comparisons as Comparisons
    from .stats.registry import all_pairs_test as all_pairs_test
    from .stats.registry import paired_test as paired_test

_HOME = {
    "Aligned": "core.aligned",
    "BatchCollector": "batch.collector",
    "Checked": "guard.check_report",
    "Comparisons": "stats.comparison",
    "Evaluation": "core.evaluation",
    "HarnessError": "errors",
    "Plots": "experiment.tables_and_plots",
    "Policy": "core.policy",
    "Qrels": "core.qrels_and_runs",
    "Range": "core.arguments",
    "Results": "experiment.results",
    "Run": "core.qrels_and_runs",
    "Table": "experiment.tables_and_plots",
    "align": "core.align",
    "all_pairs_test": "stats.registry",
    "batch": "",
    "catboost": "batch.catboost",
    "check": "experiment.check",
    "compare": "experiment.compare",
    "compat": "",
    "conventions": "audit.conventions",
    "evaluate": "experiment.evaluate",
    "from_pytrec_eval": "batch.dicts",
    "fuse": "experiment.fusion",
    "gate": "experiment.gate",
    "lightgbm": "batch.lightgbm",
    "metric": "core.metric",
    "metric_name": "core.names",
    "page": "experiment.page",
    "paired_test": "stats.registry",
    "per_query": "experiment.per_query",
    "plot": "experiment.tables_and_plots",
    "rank_similarity": "metrics.rank_similarity",
    "read_qrels": "readers",
    "read_run": "readers",
    "run": "experiment.run",
    "save_predictions": "readers.in_memory",
    "sklearn": "batch.sklearn",
    "table": "experiment.tables_and_plots",
    "to_pytrec_eval": "batch.dicts",
    "torch": "batch.torch",
    "trace": "audit.trace",
    "xgboost": "batch.xgboost",
}
_MODULES = ("batch", "catboost", "compat", "lightgbm", "sklearn", "torch", "xgboost")
__all__ = ["__version__", *(name for name in _HOME if name != "torch")]
"""Names for ``from harness import *``: all except those that load PyTorch."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'harness' has no attribute '{name}'")
    home = _HOME[name]
    if name == "metric_name":  # core knows no metrics; evaluate and the readers import them
        import_module(".metrics", __name__)
    module = import_module(f".{home or name}", __name__)
    value = module if name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(["__version__", *_HOME])


def _text(result: Any) -> str:
    return str(import_module(".reports.leaderboard", __name__).printed(result))


def _html(result: Any) -> str:
    return str(import_module(".reports.leaderboard", __name__).in_notebook(result))


RENDERERS.update(text=_text, html=_html)
