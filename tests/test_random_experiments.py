"""Random small experiments: what every command prints must be what a simple evaluation gives.

A failure shows the config, the files and the seed; ``RANDOM_EXPERIMENT=SEED pytest
tests/test_random_experiments.py`` replays that one. ``pytest -m slow`` tries
5,000 others, or ``RANDOM_EXPERIMENTS`` of them.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import os
import re
import shutil
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from command_line import Said, called
from random_experiments import Experiment, File
from simple_evaluation import FORMULAS, Expected, Span

import harness
from harness.errors import HarnessWarning
from harness.readers.choice import guess_format

COUNT, PARTS = 500, 10
"""Experiments in the default suite, which take some 15 s, and the tests that share them."""
SIGNS = re.compile("'+[=+\\-@\t]")
"""How a CSV begins a name that a spreadsheet would take for a formula."""


class WrongError(AssertionError):
    """Something printed or returned is not what it must be."""


def check(is_right: bool, what: str, *about: Any) -> None:
    if not is_right:
        raise WrongError(" ".join([what, *map(repr, about)]))


def check_value(
    what: str, found: float | None, wanted: float | Span | None, tolerance: float = 1e-9
) -> None:
    """Raise unless a value is the one wanted, or lies where it may."""
    if wanted is None:
        return
    number = math.nan if found is None else float(found)
    if isinstance(wanted, Span):
        fits = wanted.low - tolerance <= number <= wanted.high + tolerance
        check(fits or (math.isnan(number) and wanted.may_be_nan), what, number, wanted)
    elif math.isnan(wanted):
        check(math.isnan(number), f"{what}: expected no value, got", number)
    else:
        near = math.isclose(number, wanted, rel_tol=tolerance, abs_tol=tolerance)
        check(near, f"{what}: expected {wanted!r}, got", number)


def check_row(what: str, row: dict[str, Any], wanted: dict[str, Any]) -> None:
    for metric, value in wanted.items():
        text = row[metric]
        check_value(f"{what} {metric}", math.nan if text in ("", None) else float(text), value)


class Trial:
    """One experiment in a folder, and the commands that are run on it."""

    def __init__(self, experiment: Experiment, folder: Path) -> None:
        self.made, self.folder, self.draw = experiment, folder, experiment.draw
        self.wanted = {id(run): experiment.expected(run) for run in experiment.runs}

    def call(self, *words: str, codes: Iterable[int] = (0,)) -> Said:
        """Run a command; its exit code must be one of `codes`."""
        self.made.log.append(f"$ harness {' '.join(map(repr, words))}")
        said = called(*words, cwd=self.folder)
        self.made.log.append(f"exit {said.code}\n{said.out[-3000:]}\n{said.err[-3000:]}")
        check(said.code in codes, f"{words[0]}: expected exit code {codes}, got", said.code)
        failed = re.search("Traceback|guard-failed", said.out + said.err)
        check(not failed, f"{words[0]}: a traceback, or a finding in its place")
        return said

    def run(self) -> None:
        self.made.write(self.folder)
        getattr(self, f"by_{self.made.mode}")()

    def runs_of(self, dataset: File) -> list[File]:
        return [run for run in self.made.runs if run.dataset == dataset.dataset]

    def is_left_open(self, *files: File) -> bool:
        """Whether a format cannot be told, which is no fault."""
        try:
            for file in files:
                if file.is_guessed and not file.columns:
                    guess_format(self.folder / file.path, file.kind)
        except harness.HarnessError:
            return True
        return False

    # in Python

    def by_python(self) -> None:
        for dataset in self.made.datasets:
            for run in self.runs_of(dataset):
                self.one_by_python(dataset, run)

    def one_by_python(self, dataset: File, run: File) -> None:
        wanted, choices = self.wanted[id(run)], self.made.choices
        policy = {
            key: value
            for key, value in vars(choices).items()
            if value is not None and key != "relevance_level"
        }
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", HarnessWarning)
                judgements = harness.read_qrels(self.folder / dataset.path, **options(dataset))
                answers: Any = self.folder / run.path
                if options(run) or self.draw.random() < 0.5:
                    answers = harness.read_run(answers, dataset=judgements, **options(run))
                level = choices.relevance_level
                found = harness.evaluate(
                    judgements, answers, self.made.metrics, policy=policy, rel=level
                )
        except harness.HarnessError as error:
            self.made.log.append(f"python: {error}")
            expected = wanted.error or self.is_left_open(dataset, run)
            check(bool(expected), "python: an error that was not expected", str(error))
            return
        check(not wanted.error, "python: no error, though", wanted.error)
        place = f"python, {run.name} on {dataset.name}:"
        check(found.names == self.made.labels, place, found.names)
        values = found.to_dict()
        check([*values] == [*wanted.values], f"{place} qids", [*values], [*wanted.values])
        for qid, row in wanted.values.items():
            check_row(f"{place} query {qid!r}", values[qid], row)
        self.check_summaries(place, found.summary(), found.n(), wanted)
        counts = found.counts.as_dict()
        counts = {name: counts[name] for name in wanted.counts}
        check(counts == wanted.counts, f"{place} counts", counts, wanted.counts)
        unanswered = [qid for qid in wanted.missing if qid in wanted.values]
        check(list(found.unanswered) == unanswered, f"{place} unanswered", found.unanswered)

    def check_summaries(
        self, place: str, summary: dict[str, Any], n: dict[str, Any] | None, wanted: Expected
    ) -> None:
        for metric in self.made.labels:
            check_value(f"{place} mean of {metric}", summary[metric], wanted.summary(metric))
            if n is not None and wanted.n(metric) is not None:
                check(n[metric] == wanted.n(metric), f"{place} n of {metric}", n[metric])

    # harness evaluate

    def by_evaluate(self) -> None:
        for dataset in self.made.datasets:
            runs = self.runs_of(dataset)
            if dataset.columns or any(run.columns for run in runs):
                for run in runs:
                    self.one_by_python(dataset, run)
            elif len({"" if run.is_guessed else run.format_name for run in runs}) > 1:
                for run in runs:
                    self.evaluate(dataset, [run])
            else:
                self.evaluate(dataset, runs)

    def evaluate(self, dataset: File, runs: list[File]) -> None:
        words = self.common_words(dataset, runs)
        metrics = [word for metric in self.made.metrics for word in ("-m", metric)]
        files = [dataset.path, *(run.path for run in runs)]
        form = self.draw.choice(["csv", "jsonl"])
        said = self.call("evaluate", *files, *metrics, "-q", "-f", form, *words, codes=(0, 2))
        errors = [self.wanted[id(run)].error for run in runs]
        if said.code:
            left_open = self.is_left_open(dataset, *runs)
            check(any(errors) or left_open, "evaluate: an error that was not expected")
            return
        check(not any(errors), "evaluate: no error, though", errors)
        getattr(self, f"printed_as_{form}")(said.out, dataset, runs)
        self.follow_up(dataset, runs, words)

    def common_words(self, dataset: File, runs: list[File]) -> list[str]:
        choices, words = self.made.choices, []
        if not dataset.is_guessed:
            words += ["--qrels-format", dataset.format_name]
        if not runs[0].is_guessed:
            words += ["--run-format", runs[0].format_name]
        if choices.relevance_level:
            words += ["-l", str(choices.relevance_level)]
        if choices.depth:
            words += ["-M", str(choices.depth)]
        if choices.judged_only:
            words += ["-J"]
        words += ["--ties", choices.ties, "--missing", choices.missing_queries]
        return [*words, "--empty", choices.empty_queries]

    def printed_as_csv(self, out: str, dataset: File, runs: list[File]) -> None:
        rows = csv_rows(out)
        for run in runs:
            mine = [row for row in rows if row["run"] == run.name]
            check({row["dataset"] for row in mine} == {dataset.name}, "csv: dataset", dataset.name)
            *queries, every = mine
            self.check_queries("csv", run, [(row["qid"], row) for row in queries])
            check(every["qid"] == "all", "csv: the last row", every)
            row = {name: float(every[name] or "nan") for name in self.made.labels}
            self.check_summaries("csv:", row, None, self.wanted[id(run)])
        check({row["run"] for row in rows} == {run.name for run in runs}, "csv: runs")

    def printed_as_jsonl(self, out: str, dataset: File, runs: list[File]) -> None:
        rows = [json.loads(line) for line in out.splitlines()]
        n = len(self.made.labels)
        for run in runs:
            mine = [row for row in rows if row["run"] == run.name]
            check({row["dataset"] for row in mine} == {dataset.name}, "jsonl: dataset")
            by_query = [mine[at : at + n] for at in range(0, len(mine), n)]
            for some in by_query:
                check(len({row["qid"] for row in some}) == 1, "jsonl: qids", some)
            values = [
                (some[0]["qid"], {row["metric"]: row["value"] for row in some}) for some in by_query
            ]
            *queries, (label, every) = values
            check(label == "all", "jsonl: the last qid", label)
            self.check_queries("jsonl", run, queries)
            self.check_summaries("jsonl:", every, None, self.wanted[id(run)])

    def check_queries(self, place: str, run: File, found: list[tuple[str, Any]]) -> None:
        wanted = self.wanted[id(run)].values
        qids = [qid for qid, _ in found]
        check(qids == [*wanted], f"{place}: qids of {run.name}", qids, [*wanted])
        for qid, row in found:
            check_row(f"{place}: {run.name}, query {qid!r}", row, wanted[qid])

    # other commands on files

    def follow_up(self, dataset: File, runs: list[File], words: list[str]) -> None:
        if self.draw.random() < 0.3:
            self.check_command(dataset, runs)
        if len(runs) > 1 and self.draw.random() < 0.4:
            self.compare(dataset, runs, words)

    def check_command(self, dataset: File, runs: list[File]) -> None:
        words = self.common_words(dataset, runs)
        cut = words.index("-l") if "-l" in words else words.index("--ties")
        formats = [word for word in words[:cut] if word not in ("-J",)]
        formats = formats[: formats.index("-M")] if "-M" in formats else formats
        files = [dataset.path, *(run.path for run in runs)]
        said = self.call("check", *files, *formats, "-f", "json", codes=(0, 2))
        findings = json.loads(said.out)["findings"]
        self.check_findings(findings, dataset, runs)

    def check_findings(self, findings: list[Any], dataset: File, runs: list[File]) -> None:
        for run in runs:
            wanted = self.wanted[id(run)]
            for rule, qids in ("missing-queries", wanted.missing), ("extra-queries", wanted.extra):
                mine = [f for f in findings if f["rule"] == rule and f["file"] == run.path]
                check(
                    sum(f["count"] for f in mine) == len(qids), f"check: {rule} of {run.path}", mine
                )
                for finding in mine:
                    shown = finding["examples"]
                    check({*shown} <= {*qids}, f"check: {rule}: examples", shown, qids)

    def compare(self, dataset: File, runs: list[File], words: list[str]) -> None:
        metrics = [m for m in self.made.labels if not FORMULAS[m].total and m != "judged@2"]
        if not metrics or self.made.choices.tries_orders:
            return
        given = [word for metric in metrics for word in ("-m", metric)]
        files = [run.path for run in runs]
        said = self.call(
            "compare", *files, "--qrels", dataset.path, *given, "-f", "jsonl", *words, codes=(0, 2)
        )
        if not said.code:
            self.check_differences([json.loads(line) for line in said.out.splitlines()], metrics)

    def check_differences(self, rows: list[Any], metrics: list[str]) -> None:
        for row in rows:
            baseline, run = (
                self.wanted[id(one)]
                for name in (row["baseline"], row["run"])
                for one in self.made.runs
                if one.name == name and self.made.datasets[one.dataset].name == row["dataset"]
            )
            metric = row["metric"]
            pairs = [
                (baseline.values[qid][metric], run.values[qid][metric])
                for qid in baseline.values
                if qid in run.values
            ]
            numbers = [
                (float(a), float(b))
                for a, b in pairs
                if isinstance(a, float) and isinstance(b, float) and not math.isnan(a + b)
            ]
            place = f"compare: {row['dataset']}, {metric}, {row['run']} and {row['baseline']}:"
            check(row["n"] == len(numbers), f"{place} n", row["n"], len(numbers))
            if not numbers:
                continue
            means = [math.fsum(column) / len(numbers) for column in zip(*numbers, strict=True)]
            check_value(f"{place} baseline_value", row["baseline_value"], means[0])
            check_value(f"{place} run_value", row["run_value"], means[1])
            largest = max(map(abs, itertools.chain(*numbers)))
            rounding = 1e-9 + 1e-15 * largest
            check_value(f"{place} difference", row["difference"], means[1] - means[0], rounding)
            if largest > 1000:
                continue  # differences that are small beside these count as none
            sign = 1 if FORMULAS[metric].higher else -1
            wins = sum(sign * (b - a) > 1e-9 for a, b in numbers)
            losses = sum(sign * (b - a) < -1e-9 for a, b in numbers)
            check((row["wins"], row["losses"]) == (wins, losses), f"{place} wins", wins, losses)

    # harness run, and commands on its results

    def by_run(self) -> None:
        errors = [wanted.error for wanted in self.wanted.values()]
        codes = (0, 1, 2) if any(errors) else (0,)
        guesses = [file for file in self.made.datasets + self.made.runs if file.is_guessed]
        said = self.call("run", "config.yaml", codes=(*codes, 1, 2) if guesses else codes)
        if said.code == 2 and not (self.folder / "results/leaderboard.csv").exists():
            check(all(errors) or self.is_left_open(*guesses), "run: an error that was not expected")
            return
        self.check_leaderboard(said)
        if said.code:
            return
        self.check_per_query()
        commands: list[Callable[[], None]] = [
            self.table, self.why, self.verify, self.check_config, self.compare_results,
            self.run_again,
        ]  # fmt: skip
        for command in self.draw.sample(commands, self.draw.choice([1, 1, 2])):
            command()

    def check_leaderboard(self, said: Said) -> None:
        rows = csv_rows((self.folder / "results/leaderboard.csv").read_text(encoding="utf-8"))
        check(len(rows) == len(self.made.runs), "leaderboard.csv: rows", len(rows))
        for row in rows:
            run, wanted = self.cell(row["dataset"], row["run"])
            place = f"leaderboard.csv: {run.name} on {row['dataset']}:"
            if row.get("error"):
                left = self.is_left_open(run)
                check(bool(wanted.error) or left, f"{place} an unexpected error", row["error"])
                check(said.code == 2, f"{place} exit code", said.code)
                continue
            check(not wanted.error, f"{place} no error, though", wanted.error)
            values = {name: float(row[name] or "nan") for name in self.made.labels}
            self.check_summaries(place, values, None, wanted)
            for name in {*wanted.counts} & {*row}:
                check(int(row[name]) == wanted.counts[name], f"{place} {name}", row[name])

    def cell(self, dataset: str, run: str) -> tuple[File, Expected]:
        (found,) = [
            one
            for one in self.made.runs
            if one.name == run and self.made.datasets[one.dataset].name == dataset
        ]
        return found, self.wanted[id(found)]

    def check_per_query(self) -> None:
        table = parquet.read_table(self.folder / "results/per_query.parquet").to_pylist()
        found = {
            (row["dataset"], row["run"], row["qid"], row["metric"]): row["value"] for row in table
        }
        check(len(found) == len(table), "per_query.parquet: a row twice")
        keys = set()
        for run in self.made.runs:
            dataset = self.made.datasets[run.dataset].name
            for qid, row in self.wanted[id(run)].values.items():
                for metric, value in row.items():
                    key = dataset, run.name, qid, metric
                    keys.add(key)
                    check(key in found, "per_query.parquet: no row", key)
                    check_value(f"per_query.parquet: {key}", found[key], value)
        check(keys == {*found}, "per_query.parquet: other rows", {*found} - keys)

    def some_cell(self) -> tuple[File, str, Expected, str]:
        run = self.draw.choice(self.made.runs)
        name = self.made.datasets[run.dataset].name
        return run, name, self.wanted[id(run)], self.draw.choice(self.made.labels)

    def table(self) -> None:
        said = self.call("table", "results", "-f", "csv")
        rows = csv_rows(said.out)
        for row in rows:
            for dataset in self.made.datasets:
                _, wanted = self.cell(dataset.name, row["run"])
                for metric in self.made.labels:
                    shown = row.get(f"{dataset.name} {metric}")
                    if shown is not None:
                        value = float(shown or "nan")
                        place = f"table: {row['run']} on {dataset.name}, {metric}"
                        check_value(place, value, wanted.summary(metric))
        check({row["run"] for row in rows} == {*self.made.run_names}, "table: runs", rows)

    def why(self) -> None:
        run, dataset, wanted, metric = self.some_cell()
        words = ["--run", run.name, "--metric", metric, "--dataset", dataset]
        said = self.call("why", "results", *words)
        head, _, value = said.out.partition("\n")[0].rpartition(": ")
        check(head == f"{metric} of {run.name} on {dataset}", "why: label", head)
        check_value(f"why: {head}", number_of(value), wanted.summary(metric))

    def verify(self) -> None:
        self.call("verify", "results")

    def check_config(self) -> None:
        said = self.call("check", "config.yaml", "-f", "json", codes=(0, 2))
        findings = json.loads(said.out)["findings"]
        for dataset in self.made.datasets:
            runs = self.runs_of(dataset)
            self.check_findings(
                [f for f in findings if f["dataset"] == dataset.name], dataset, runs
            )

    def compare_results(self) -> None:
        if self.made.n_runs < 2 or self.made.choices.tries_orders:
            return
        names = self.made.run_names
        said = self.call("compare", *names, "--results", "results", "-f", "jsonl", codes=(0, 2))
        if not said.code:
            rows = [json.loads(line) for line in said.out.splitlines()]
            self.check_differences(rows, self.made.labels)

    def run_again(self) -> None:
        """What is taken from the cache must be what was computed."""
        before = (self.folder / "results/leaderboard.csv").read_bytes()
        self.call("run", "config.yaml")
        check((self.folder / "results/leaderboard.csv").read_bytes() == before, "run: other bytes")


def options(file: File) -> dict[str, Any]:
    made: dict[str, Any] = {} if file.is_guessed else {"format": file.format_name}
    return {**made, "columns": file.columns} if file.columns else made


def csv_rows(text: str) -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    return [
        {plain(key): plain(value) for key, value in row.items() if value is not None}
        for row in rows
    ]


def plain(text: str) -> str:
    """Take off what guards a name from spreadsheets."""
    return text[1:] if SIGNS.match(text) else text


def number_of(text: str) -> float:
    try:
        return float(text.rstrip("*~").split(" ")[0])
    except ValueError:
        return math.nan


def attempt(seed: int, folder: Path) -> None:
    """Try one experiment; whatever is wrong is shown with all that replays it."""
    experiment = Experiment(seed)
    folder.mkdir()
    try:
        Trial(experiment, folder).run()
    except Exception as error:
        kind = type(error).__name__
        pytest.fail(f"{kind}: {error}\nRANDOM_EXPERIMENT={seed}\n{experiment}", pytrace=False)
    shutil.rmtree(folder)


def attempt_all(seeds: Iterable[int], folder: Path) -> None:
    with warnings.catch_warnings():  # what the command line sets holds for the process
        for seed in seeds:
            attempt(seed, folder / str(seed))


ONE = os.environ.get("RANDOM_EXPERIMENT")


@pytest.mark.parametrize("part", range(PARTS))
def test_random_experiments_agree_with_a_simple_evaluation(part: int, tmp_path: Path) -> None:
    seeds = [int(ONE)] * (part == 0) if ONE else range(part, COUNT, PARTS)
    attempt_all(seeds, tmp_path)


@pytest.mark.slow
def test_many_more_random_experiments(tmp_path: Path) -> None:
    count = int(os.environ.get("RANDOM_EXPERIMENTS", "5000"))
    attempt_all(range(COUNT, COUNT + count), tmp_path)
