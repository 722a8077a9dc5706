"""Wrong arguments of public functions: one HarnessError that names the argument, nothing raw."""

import contextlib
import inspect
import io
import itertools
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
from refusals import refuses

import harness
from harness.core.qrels_and_runs import Qrels, Run
from harness.errors import ArgumentError, HarnessError

QRELS = {"q2": {"b": 1, "a": 0}, "q10": {"z": 2}}
RUN = {"q2": {"b": 1.0, "a": 2.0}, "q10": {"z": 0.5}}
SCORES, GRADES, N = [[1.0, 2.0], [0.5, 0.0]], [[1, 0], [2, 0]], [2, 1]
BATCH: dict[str, Any] = {"scores": SCORES, "relevance": GRADES, "n": N}


class Dataset:
    """As a Dataset of Hugging Face: a sequence of rows, and neither an array nor an Arrow table."""

    column_names = ("qid", "docno", "score")

    def __len__(self) -> int:
        return 2

    def __getitem__(self, at: int) -> dict[str, Any]:
        return self.to_pandas().iloc[at].to_dict()

    def to_pandas(self) -> Any:
        return pandas.DataFrame({"qid": ["q2"] * 2, "docno": ["b", "a"], "score": [1.0, 2.0]})


class Stream:
    """As an IterableDataset, which has no length."""

    column_names = None

    def to_pandas(self) -> Any:
        return Dataset().to_pandas()


class Columns:
    """As a data frame of Spark."""

    columns = ("qid", "docno", "score")

    def toPandas(self) -> Any:  # noqa: N802
        return Dataset().to_pandas()


WRONG: list[Any] = [
    None, object(), 3, -1, 0, 3.5, float("nan"), True, "x", "", b"x", [], [None], [1],
    [object()], (), {}, {"x": 1}, {"x": None}, {1: {"a": 1}}, {"q": {"d": [1]}},
    {"q": {"d": object()}}, {"q": {"d": None}}, {"q": {"d": "1"}}, {"q": [1]}, {"q": {3: 1}},
    {"q": None}, {None: {}}, len, np.array([object()]), np.zeros((2, 2, 2)), np.zeros(3),
    iter([1]), {1, 2}, Path("nope"), int, ["map"], {"ties": 3}, {"tie": "stable"},
    Dataset(), Stream(), Columns(), {"test": Dataset()}, [Dataset()], io.BytesIO(b"x"), range(2),
    np.ndarray, iter(range(2)),
]  # fmt: skip


def _collector() -> harness.BatchCollector:
    collector = harness.BatchCollector()
    collector.add(**BATCH)
    return collector


def _with_policy(**given: Any) -> harness.Evaluation:
    return harness.evaluate(QRELS, RUN, ["map"], policy=given)


EVALUATION = harness.evaluate(QRELS, RUN, ["map"])
COMPARED = {"runs": {"a": RUN, "b": RUN}, "metrics": ["map"]}
BATCHED = {
    name: (getattr(harness.batch.functions, name), BATCH)
    for name in ("ndcg", "dcg", "arp", "swaps", "mse", "rbo", "ao", "kendall", "tau_ap",
                 "spearman", "pearson", "pairwise_logloss", "lambdas")
}  # fmt: skip
FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "evaluate": (harness.evaluate, {"qrels": QRELS, "run": RUN, "metrics": ["map"]}),
    "evaluate a batch": (harness.evaluate, {"qrels": GRADES, "run": SCORES, "metrics": ["map"],
                                            "n": N, "qids": ["q9", "q1"]}),
    "evaluate, reference": (harness.evaluate, {"qrels": QRELS, "run": RUN,
                            "metrics": ["rbo(reference=o)"], "references": {"o": RUN}}),
    "run": (harness.run, {"config": "c.yaml"}),
    "compare": (harness.compare, {"qrels": QRELS, **COMPARED}),
    "compare evaluations": (harness.compare, {"qrels": {"a": EVALUATION, "b": EVALUATION}}),
    "read_qrels": (harness.read_qrels, {"path": "q.txt"}),
    "read_run": (harness.read_run, {"path": "r.run"}),
    "Policy": (harness.Policy, {}),
    "policy": (_with_policy, {"ties": "stable", "missing_queries": "zero", "depth": 3,
                              "empty_queries": "zero", "judged_only": False, "scores": None,
                              "grades": harness.Policy().grades}),
    "align": (harness.align, {"qrels": Qrels.from_dict(QRELS), "run": Run.from_dict(RUN)}),
    "Qrels.from_dict": (Qrels.from_dict, {"mapping": QRELS}),
    "Run.from_dict": (Run.from_dict, {"mapping": RUN}),
    "BatchCollector": (harness.BatchCollector, {}),
    "add": (lambda **given: harness.BatchCollector().add(**given), {**BATCH, "qids": None}),
    "collected": (lambda **given: _collector().evaluate(**given),
                  {"metrics": ["map"], "policy": None, "name": ""}),
    "save": (lambda **given: _collector().save(**given), {"path": "b.npz"}),
    "to_tables": (lambda **given: _collector().to_tables(**given), {"name": ""}),
    "to_pytrec_eval": (harness.to_pytrec_eval, BATCH),
    "from_pytrec_eval": (harness.from_pytrec_eval, {"qrel": QRELS, "run": RUN}),
    "rank_similarity": (harness.rank_similarity, {"first": ["a", "b"], "second": ["b", "a"]}),
    "metric": (harness.metric, {"name": "m", "direction": None, "bounds": (0, 1), "source": "s"}),
    "paired_test": (harness.paired_test, {"name": "t", "title": "t"}),
    "all_pairs_test": (harness.all_pairs_test, {"name": "t", "title": "t"}),
    "column": (EVALUATION.column, {"metric": "map"}),
    "Evaluation": (harness.Evaluation, {"values": EVALUATION.values, "qids": EVALUATION.qids,
                                        "metrics": EVALUATION.metrics}),
    "rbo_weight": (harness.batch.functions.rbo_weight, {"p": 0.9, "d": 3}),
    "sigmoid": (harness.batch.functions.sigmoid, {"x": 0.9}),
    **BATCHED,
}  # fmt: skip
NOT_CHECKED = {
    "weights", "errors", "counts", "unanswered",  # of Evaluation, which this package fills
    "also", "expected", "empty", "missing", "cutoffs", "weight", "bounded", "unbounded_with",
    "trec_name", "trec_parameter", "reference", "check", "options",
    "scheduler",  # any text is an address that is tried for seconds
}  # fmt: skip


def _cases() -> list[tuple[str, str]]:
    found = []
    for name, (function, given) in FUNCTIONS.items():
        parameters = [one for one in inspect.signature(function).parameters if one != "given"]
        found += [(name, one) for one in dict.fromkeys([*given, *parameters])]
    return [case for case in found if case[1] not in NOT_CHECKED]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "q.txt").write_text("q2 0 b 1\nq2 0 a 0\n")
    (tmp_path / "r.run").write_text("q2 Q0 b 1 1.0 t\nq2 Q0 a 2 0.5 t\n")
    (tmp_path / "c.yaml").write_text(
        "datasets: {d: {path: q.txt}}\nruns: {r: {path: r.run}}\nmetrics: [map]\noutput: out\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("name", "argument"), _cases())
def test_a_wrong_value_is_taken_or_one_of_our_errors(name: str, argument: str) -> None:
    function, given = FUNCTIONS[name]
    for value in WRONG:
        if argument == "jobs" and isinstance(value, int) and value == 3:
            continue  # it is right, and starts processes
        with warnings.catch_warnings(), contextlib.suppress(HarnessError):
            warnings.simplefilter("ignore")
            function(**{**given, argument: value})


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda: harness.evaluate(QRELS, RUN, [None]), "metrics[0]"),
        (lambda: harness.evaluate(QRELS, RUN, ["map"], policy="stable"), "policy"),
        (lambda: harness.evaluate(QRELS, RUN, ["map"], policy={"tie": "stable"}), "policy"),
        (lambda: harness.run(None), "config"),
        (lambda: harness.run("c.yaml", overrides="policy.ties=stable"), "overrides"),
        (lambda: harness.compare(QRELS, [RUN, RUN], ["map"]), "runs"),
        (lambda: harness.compare(QRELS, {"a": RUN, "b": RUN}, ["map"], level="x"), "level"),
        (lambda: harness.read_qrels(None), "path"),
        (lambda: harness.align(QRELS, RUN), "qrels"),
        (lambda: harness.rank_similarity(["a"], None), "second"),
        (lambda: harness.metric(3, direction=None, bounds=(0, 1), source="s"), "name"),
    ],
)
def test_the_error_names_the_argument(call: Callable[[], Any], where: str) -> None:
    with refuses(where, error=ArgumentError) as caught:
        call()
    assert isinstance(caught.value, (TypeError, ValueError))


TABLES = {
    "dataset.to_pandas()": Dataset(), "df.toPandas()": Columns(),
    "dataset['dev'].to_pandas()": {"dev": Dataset()}, "list(run)": range(2),
}  # fmt: skip


@pytest.mark.parametrize("call", TABLES)
def test_an_object_of_another_library_is_refused_with_what_to_write(call: str) -> None:
    value = TABLES[call]
    paths = [
        lambda: harness.evaluate(QRELS, value, ["map"]),
        lambda: harness.evaluate([1, 0, 2, 0], value, ["map"], n=[2, 2]),
        lambda: harness.compare(QRELS, {"a": RUN, "b": value}, ["map"]),
    ]
    for path in paths:
        with refuses("run") as caught:
            path()
        assert f"got a {type(value).__name__}" in str(caught.value)
        assert call in caught.value.problems[0].fix
    if isinstance(value, (Dataset, Columns)):  # the fix works
        fixed = eval(call, {"dataset": value, "df": value})
        assert harness.evaluate(QRELS, fixed, ["map"]).summary() == {"map": 0.25}


@pytest.mark.parametrize("value", [Dataset(), Stream(), {1.5, 2}, object(), None, "x", {"a": 1}])
@pytest.mark.parametrize("argument", ["scores", "relevance", "mask"])
def test_an_object_that_is_no_array_is_refused_by_its_type(value: Any, argument: str) -> None:
    if argument == "mask" and value is None:
        return
    given = {**BATCH, argument: value}
    for function in (harness.BatchCollector().add, harness.to_pytrec_eval, harness.batch.ndcg):
        with refuses(argument) as caught:
            function(**given)
        what = caught.value.problems[0].what
        assert what.endswith(("'x'", "None", f"a {type(value).__name__}", "an object")), what


def test_columns_that_arrow_cannot_read_are_refused() -> None:
    frame = pandas.DataFrame({"qid": ["q2", 10], "docno": ["a", "z"], "score": [1.0, 2.0]})
    twice = pandas.DataFrame([["q2", "a", 1.0, 2.0]], columns=["qid", "docno", "score", "score"])
    for wrong in (frame, twice):
        with refuses("data frame", "columns"):
            harness.evaluate(QRELS, wrong, ["map"])
    frame["qid"] = ["q2", "q10"]
    assert harness.evaluate(QRELS, frame.astype({"qid": str}), ["map"]).summary() == {"map": 0.5}


COLUMNS = {"qid": ["q2", "q2"], "docno": ["b", "a"], "grade": [1, 0], "score": [1.0, 2.0]}


@pytest.mark.parametrize(("role", "name"), [("docno", "thing"), ("docno", "my thing"),
                                            ("score", "strength"), ("docno", "7")])  # fmt: skip
def test_a_data_frame_is_told_to_rename_its_columns(role: str, name: str) -> None:
    frame = pandas.DataFrame(COLUMNS).drop(columns="grade")
    df = frame.rename(columns={role: name})
    with refuses("data frame", "columns") as caught:
        harness.evaluate(QRELS, df, ["map"])
    fix = caught.value.problems[0].fix
    assert "columns: {" not in fix
    call = re.search(r"df\.rename\(columns={[^}]*}\)", fix)
    assert (call is None) == (name == "7")
    if call:
        assert eval(call[0], {"df": df}).equals(frame)


@pytest.mark.filterwarnings("ignore")
def test_no_error_of_a_data_frame_names_a_key_of_a_config() -> None:
    for n_left in range(1, 5):
        for names in itertools.combinations(COLUMNS, n_left):
            frame = pandas.DataFrame({f"x{name}": COLUMNS[name] for name in names})
            frame = frame.rename(columns={f"x{names[0]}": names[0]})
            for given in ((frame, RUN), (QRELS, frame), (pyarrow.table(frame), RUN)):
                with pytest.raises(HarnessError) as caught:
                    harness.evaluate(*given, ["map"])
                assert "columns: {" not in str(caught.value)


@pytest.mark.parametrize("name", ["n", "mask", "qids"])
@pytest.mark.parametrize("run", [{"1": {"a": 1.0}}, {"1": ["a"]}, ("1", "a", 1.0)])
def test_what_describes_a_batch_is_for_batches(name: str, run: Any) -> None:
    run = ([run[0]], [run[1]], [run[2]]) if isinstance(run, tuple) else run
    with refuses(name):
        harness.evaluate({"1": {"a": 1}}, run, ["map"], **{name: [1]})
