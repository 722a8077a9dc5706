"""Random small experiments: what every command prints must be what a simple evaluation gives.

A failure shows the config, the files and the seed; ``RANDOM_EXPERIMENT=SEED pytest
tests/test_random_experiments.py`` replays that one. ``pytest -m slow`` tries 5,000 others, or
``RANDOM_EXPERIMENTS`` of them.
"""

import contextlib
import itertools
import json
import math
import os
import re
import shutil
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from command_line import Said, called
from csv_rows import csv_rows
from random_experiments import TIES, Experiment, File
from simple_evaluation import FORMULAS, Expected, Span

import harness
from harness.errors import HarnessWarning
from harness.readers.format import guess_format

COUNT, PARTS = 150, 5
"""Experiments in the default suite, and the tests that share them."""
SIGNS = re.compile("'+[=+\\-@\t]")
"""How a CSV begins a name that a spreadsheet would take for a formula."""


def check_value(
    what: str, found: Any, wanted: float | Span | None, tolerance: float = 1e-9
) -> None:
    """Fail unless a value is the one wanted, or lies where it may."""
    number = math.nan if found in (None, "") else float(found)
    if isinstance(wanted, Span):
        fits = wanted.low - tolerance <= number <= wanted.high + tolerance
        assert fits or (math.isnan(number) and wanted.may_be_nan), (what, number, wanted)
    elif wanted is not None:
        near = math.isclose(number, wanted, rel_tol=tolerance, abs_tol=tolerance)
        assert near or (math.isnan(number) and math.isnan(wanted)), (what, number, wanted)


class Trial:
    def __init__(self, experiment: Experiment, folder: Path) -> None:
        self.made, self.folder, self.draw = experiment, folder, experiment.draw
        self.wanted = {id(run): experiment.expected(run) for run in experiment.runs}
        experiment.write(folder)
        for file in [*experiment.datasets, *experiment.runs]:
            with contextlib.suppress(harness.HarnessError):  # left open
                assert guess_format(folder / file.path, file.kind) == file.format_name, file.path

    def call(self, *words: str, codes: Iterable[int] = (0,)) -> Said:
        self.made.log.append(f"$ harness {' '.join(map(repr, words))}")
        said = called(*words, cwd=self.folder)
        self.made.log.append(f"exit {said.code}\n{said.out[-3000:]}\n{said.err[-3000:]}")
        assert said.code in codes
        assert not re.search("Traceback|guard-failed|a mistake in harness", said.out + said.err)
        return said

    def runs_of(self, dataset: File) -> list[File]:
        return [run for run in self.made.runs if run.dataset == dataset.dataset]

    def cell(self, dataset: str, run: str) -> tuple[File, Expected]:
        (found,) = (
            one
            for one in self.made.runs
            if one.name == run and self.made.datasets[one.dataset].name == dataset
        )
        return found, self.wanted[id(found)]

    def check_queries(self, run: File, found: Iterable[tuple[str, dict[str, Any]]]) -> None:
        rows, wanted = list(found), self.wanted[id(run)].values
        assert [qid for qid, _ in rows] == [*wanted]
        for qid, row in rows:
            for metric, value in wanted[qid].items():
                check_value(f"{run.name}, query {qid!r}, {metric}", row[metric], value)

    def check_summary(self, run: File, row: dict[str, Any]) -> None:
        for metric in self.made.labels:
            value, _ = self.wanted[id(run)].summary(metric)
            check_value(f"{run.name}, mean of {metric}", row[metric], value)

    def by_python(self) -> None:
        for dataset in self.made.datasets:
            for run in self.runs_of(dataset):
                self.one_by_python(dataset, run)

    def one_by_python(self, dataset: File, run: File) -> None:
        wanted, policy = self.wanted[id(run)], {**vars(self.made.choices)}
        level = policy.pop("relevance_level")
        policy = {key: value for key, value in policy.items() if value is not None}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HarnessWarning)
            path = self.folder / dataset.path
            judgements = harness.read_qrels(path, format=dataset.format_name)
            path = self.folder / run.path
            answers = harness.read_run(path, dataset=judgements, format=run.format_name)
            try:
                found = harness.evaluate(
                    judgements, answers, self.made.metrics, policy=policy, relevance_level=level
                )
            except harness.HarnessError:
                assert wanted.error
                return
        assert not wanted.error
        assert found.names == self.made.labels
        self.check_queries(run, found.to_dict().items())
        self.check_summary(run, found.summary())
        for metric, n in found.n().items():
            assert wanted.summary(metric)[1] in (None, n)
        assert wanted.counts.items() <= found.counts.as_dict().items()
        unanswered = [qid for qid in wanted.missing if qid in wanted.values]
        assert list(found.unanswered) == unanswered

    def by_evaluate(self) -> None:
        for dataset in self.made.datasets:
            self.evaluate(dataset, self.runs_of(dataset))

    def evaluate(self, dataset: File, runs: list[File]) -> None:
        choices, files = self.made.choices, [dataset.path, *(run.path for run in runs)]
        formats = ["--qrels-format", dataset.format_name, "--run-format", runs[0].format_name]
        words = [
            *formats,
            "--ties",
            choices.ties,
            "--set",
            f"policy.missing_queries={choices.missing_queries}",
        ]
        words += ["--set", f"policy.empty_queries={choices.empty_queries}"]
        if choices.relevance_level:
            words += ["-l", str(choices.relevance_level)]
        if choices.depth:
            words += ["-M", str(choices.depth)]
        if choices.judged_only:
            words += ["--set", "policy.judged_only=true"]
        metrics = [word for metric in self.made.metrics for word in ("-m", metric)]
        form = self.draw.choice(["csv", "jsonl"]) if choices.ties != "bounds" else "csv"
        said = self.call("evaluate", *files, *metrics, "-q", "-f", form, *words, codes=(0, 2))
        assert bool(said.code) == any(self.wanted[id(run)].error for run in runs)
        if said.code:
            return
        as_jsonl = form == "jsonl"
        rows = jsonl_rows(said.out, len(self.made.labels)) if as_jsonl else plain_rows(said.out)
        for run in runs:
            mine = [(row["qid"], row) for row in rows if row["run"] == run.name]
            assert {row["dataset"] for _, row in mine} == {dataset.name}
            self.check_queries(run, mine[:-1])
            assert mine[-1][0] == "all"
            self.check_summary(run, mine[-1][1])
        assert {row["run"] for row in rows} == {run.name for run in runs}
        if self.draw.random() < 0.3:
            said = self.call("check", *files, *formats, "-f", "json", codes=(0, 2))
            self.check_findings(json.loads(said.out)["findings"], runs)
        if len(runs) > 1 and self.draw.random() < 0.4:
            self.compare("--qrels", dataset.path, *words, runs=files[1:])

    def check_findings(self, findings: list[Any], runs: list[File]) -> None:
        for run in runs:
            wanted = self.wanted[id(run)]
            for rule, qids in ("missing-queries", wanted.missing), ("extra-queries", wanted.extra):
                mine = [f for f in findings if f["rule"] == rule and f["file"] == run.path]
                assert sum(finding["count"] for finding in mine) == len(qids), (rule, run.path)
                assert {one for finding in mine for one in finding["examples"]} <= {*qids}

    def compare(self, *words: str, runs: list[str]) -> None:
        metrics = [m for m in self.made.labels if not FORMULAS[m].total and m != "judged@2"]
        if not metrics or len(runs) < 2 or self.made.choices.tries_orders:
            return
        named = [word for metric in metrics for word in ("-m", metric)]
        said = self.call("compare", *runs, *words, *named, "-f", "jsonl", codes=(0, 2))
        for line in said.out.splitlines() if not said.code else ():
            self.check_difference(json.loads(line))

    def check_difference(self, row: dict[str, Any]) -> None:
        metric = row["metric"]
        baseline, run = (
            self.cell(row["dataset"], row[which])[1].values for which in ("baseline", "run")
        )
        pairs = [(baseline[qid][metric], run[qid][metric]) for qid in baseline if qid in run]
        numbers = [(a, b) for a, b in pairs if not math.isnan(a + b)]  # type: ignore[operator]
        assert row["n"] == len(numbers)
        if not numbers:
            return
        means = [math.fsum(column) / len(numbers) for column in zip(*numbers, strict=True)]  # type: ignore[arg-type]
        check_value("baseline_value", row["baseline_value"], means[0])
        check_value("run_value", row["run_value"], means[1])
        largest = max(map(abs, itertools.chain(*numbers)))  # type: ignore[arg-type]
        check_value("difference", row["difference"], means[1] - means[0], 1e-9 + 1e-15 * largest)
        if largest > 1000:
            return  # differences that are small next to these count as none
        sign = 1 if FORMULAS[metric].higher else -1
        gains = [sign * (b - a) for a, b in numbers]  # type: ignore[operator]
        assert row["wins"] == sum(gain > 1e-9 for gain in gains)
        assert row["losses"] == sum(gain < -1e-9 for gain in gains)

    def by_run(self) -> None:
        errors = [wanted.error for wanted in self.wanted.values()]
        said = self.call("run", "config.yaml", codes=(0, 1, 2) if any(errors) else (0,))
        if said.code == 2 and not (self.folder / "results/leaderboard.csv").exists():
            assert all(errors)
            return
        self.check_leaderboard(said)
        if said.code:
            return
        self.check_per_query()
        commands = [self.table, self.trace, self.check_config, self.run_again]
        for command in self.draw.sample(commands, self.draw.choice([1, 1, 2])):
            command()
        self.call("verify", "results")
        self.compare("--results", "results", runs=self.made.run_names)

    def check_leaderboard(self, said: Said) -> None:
        rows = plain_rows(self.folder / "results/leaderboard.csv")
        assert len(rows) == len(self.made.runs)
        for row in rows:
            run, wanted = self.cell(row["dataset"], row["run"])
            assert bool(row.get("error")) == bool(wanted.error)
            if wanted.error:
                assert said.code == 2
                continue
            self.check_summary(run, row)
            for name in {*wanted.counts} & {*row}:
                assert int(row[name]) == wanted.counts[name], name

    def check_per_query(self) -> None:
        table = parquet.read_table(self.folder / "results/per_query.parquet").to_pylist()
        found: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
        for row in table:
            by_qid = found.setdefault((row["dataset"], row["run"]), {})
            by_qid.setdefault(row["qid"], {})[row["metric"]] = row["value"]
        for (dataset, run), rows in found.items():
            self.check_queries(self.cell(dataset, run)[0], rows.items())

    def table(self) -> None:
        rows = plain_rows(self.call("table", "results", "-f", "csv").out)
        assert {row["run"] for row in rows} == {*self.made.run_names}
        for row, dataset, metric in itertools.product(rows, self.made.datasets, self.made.labels):
            shown = row.get(f"{dataset.name} {metric}")
            if shown is not None:
                value, _ = self.cell(dataset.name, row["run"])[1].summary(metric)
                check_value(f"table: {row['run']} on {dataset.name}, {metric}", shown, value)

    def trace(self) -> None:
        run, metric = self.draw.choice(self.made.runs), self.draw.choice(self.made.labels)
        dataset = self.made.datasets[run.dataset].name
        words = ["--run", run.name, "--metric", metric, "--dataset", dataset]
        said = self.call("trace", "--full", "results", *words)
        head, _, value = said.out.partition("\n")[0].rpartition(": ")
        assert head.endswith(f" of {run.name} on {dataset}")  # after the metric's name for readers
        number = value.rstrip("^~").split(" ")[0]
        wanted, _ = self.wanted[id(run)].summary(metric)
        check_value(head, number if number[-1:].isdigit() else None, wanted)

    def check_config(self) -> None:
        said = self.call("check", "config.yaml", "-f", "json", codes=(0, 2))
        findings = json.loads(said.out)["findings"]
        for dataset in self.made.datasets:
            mine = [finding for finding in findings if finding["dataset"] == dataset.name]
            self.check_findings(mine, self.runs_of(dataset))

    def run_again(self) -> None:
        """What is taken from the cache must be what was computed."""
        before = (self.folder / "results/leaderboard.csv").read_bytes()
        self.call("run", "config.yaml")
        assert (self.folder / "results/leaderboard.csv").read_bytes() == before

    def every_command(self) -> None:
        """Right numbers, or a sentence: no command may fail on what a run has written."""
        run, metric, codes = self.made.runs[0], self.made.labels[0], (0, 1, 2)
        dataset, qrels = self.made.datasets[run.dataset].name, self.made.datasets[run.dataset].rows
        one = ["--run", run.name, "--dataset", dataset, "-m"]
        answered = {qid for qid, _, _ in run.rows}
        missing = [qid for qid, _, _ in qrels if qid not in answered]
        for qid in (qrels[0][0], *missing[:1]):
            self.call("trace", "--full", "results", *one, metric, "--query", qid, codes=codes)
        self.call("conventions", "results", "--match", "0.25", *one, "ndcg@3", codes=codes)
        self.call("conventions", "config.yaml", "-m", "map", "--convention", "sklearn", codes=codes)
        if self.made.seed % 3 == 0:  # drawing takes longer than all else
            self.call("plot", "results", "heatmap", "-m", metric, "--format", "svg", codes=codes)
        self.call("table", "results", codes=codes)
        self.call("verify", "results", codes=codes)


def plain_rows(given: Path | str) -> list[dict[str, str]]:
    """Rows without the sign that guards a name from spreadsheets."""
    return [{plain(key): plain(row[key]) for key in row} for row in csv_rows(given)]


def plain(text: str) -> str:
    return text[1:] if SIGNS.match(text) else text


def jsonl_rows(text: str, n_metrics: int) -> list[dict[str, Any]]:
    """One row a run and query, with its metrics as columns."""
    rows = [json.loads(line) for line in text.splitlines()]
    return [
        {**rows[at], **{row["metric"]: row["value"] for row in rows[at : at + n_metrics]}}
        for at in range(0, len(rows), n_metrics)
    ]


def attempt(experiment: Experiment, folder: Path, *methods: str) -> None:
    """Try one experiment; whatever is wrong is shown with all that replays it."""
    folder.mkdir()
    try:
        with warnings.catch_warnings():  # what the command line sets holds for the process
            trial = Trial(experiment, folder)
            for method in methods or (f"by_{experiment.mode}",):
                getattr(trial, method)()
    except Exception as error:
        kind = type(error).__name__
        replay = f"RANDOM_EXPERIMENT={experiment.seed}"
        pytest.fail(f"{kind}: {error}\n{replay}\n{experiment}", pytrace=False)
    shutil.rmtree(folder)


ONE = os.environ.get("RANDOM_EXPERIMENT")


@pytest.mark.oracle("hits", "ncg", "dcg", "arp", "mse", "judged")
@pytest.mark.parametrize("part", range(PARTS))
def test_random_experiments_agree_with_a_simple_evaluation(part: int, tmp_path: Path) -> None:
    for seed in [int(ONE)] * (part == 0) if ONE else range(part, COUNT, PARTS):
        attempt(Experiment(seed), tmp_path / str(seed))


@pytest.mark.slow
def test_many_more_random_experiments(tmp_path: Path) -> None:
    count = int(os.environ.get("RANDOM_EXPERIMENTS", "5000"))
    for seed in range(COUNT, COUNT + count):
        attempt(Experiment(seed), tmp_path / str(seed))


POLICIES: dict[str, tuple[Any, ...]] = {
    "ties": (*TIES, "random(7)", "bounds"), "empty_queries": ("one", "skip", "error"),
    "depth": (1, 2, 1000), "judged_only": (True,), "relevance_level": (2,),
    "missing_queries": ("error",),
}  # fmt: skip


def policies() -> Iterator[dict[str, Any]]:
    for (key, values), missing in itertools.product(POLICIES.items(), ("zero", "skip")):
        yield from ({"missing_queries": missing, key: value} for value in values)


@pytest.mark.parametrize(("seed", "policy"), [*enumerate(policies())], ids=str)
def test_every_policy_with_every_command(seed: int, policy: dict[str, Any], tmp_path: Path) -> None:
    if policy["missing_queries"] == "skip":
        attempt(Experiment(seed, "evaluate", policy), tmp_path / "evaluate")
    else:
        attempt(Experiment(seed, "run", policy), tmp_path / "run", "by_run", "every_command")
