"""Values keep their labels when queries, documents, runs, datasets and rows change names and order.

Two experiments hold the same data. In the plain one, every list is sorted and all names of a kind
are equally long, so that any two orders agree. In the shuffled one, names are others, their sorted
order differs from the order in the files, and rows are in random order. With the plain names put
back, every line of every output must be the same. Scores are only tied in a query without
relevant documents, so that the names of documents do not affect any value.
"""

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import called
from csv_rows import csv_rows

import harness

Rows = dict[str, dict[str, float]]
METRICS = ("map", "ndcg", "recip_rank", "P@5", "bpref", "ndcg@5", "ndcg@10")
RUNS, DATASETS = ("runa", "runb", "runc"), ("seta", "setb")
QIDS = tuple(f"{10001 + place}" for place in range(12))
EXTRA, DOCNOS = "10013", tuple(f"d{101 + place}" for place in range(40))
MODELS, FOLDS, SEEDS = ("moda", "modb", "modc"), ("folda", "foldb"), ("seeda", "seedb")
OTHER_NAMES = {
    "run": ("runz", "run9", "runb"),
    "set": ("setz", "set9"),
    "mod": ("modz", "mod9", "modb"),
    "fold": ("foldz", "fold9"),
    "seed": ("seedz", "seed9"),
}
"""In the order of the plain names, which is not their own sorted order; as long, as text wraps."""
RANDOM = ("low", "high")
"""Ends of columns that are drawn with names as the seed, such as ``rank_low`` and ``map high``."""


LEFT_OUT = re.compile(r"sha256|\b[0-9a-f]{64}\b|^interval |^harness trace ")


@dataclass(frozen=True)
class Experiment:
    """A folder of files, and the names in it by their plain names."""

    folder: Path
    names: Mapping[str, str]
    rng: np.random.Generator | None

    def run(self, *words: str) -> str:
        """Output of a command, with plain names; words are commands with plain names."""
        printed = called(*(self.named(word) for word in words), cwd=self.folder)
        assert printed.code in (0, 1), printed.err
        return self.plain(printed.out)

    def named(self, text: str) -> str:
        """Text with the names of this experiment in place of plain names."""
        return _renamed(text, self.names)

    def plain(self, text: str) -> str:
        """Text with plain names in place of the names of this experiment."""
        return _renamed(text, {name: plain for plain, name in self.names.items()})

    def shuffled(self, items: Iterable[Any]) -> list[Any]:
        found = list(items)
        return found if self.rng is None else [found[at] for at in self.rng.permutation(len(found))]


def _renamed(text: str, names: Mapping[str, str]) -> str:
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    pattern = rf"(?<![\w.])(?:{'|'.join(longest_first)})(?![\w])"
    return re.sub(pattern, lambda found: names[found[0]], text)


def _names(rng: np.random.Generator) -> dict[str, str]:
    """Other names for all plain ones; numbers of different lengths for queries."""
    numbers = np.unique((10 ** rng.uniform(4, 7, 200)).astype(int))
    qids = [str(one) for one in rng.permutation(numbers) if str(one) not in (*QIDS, EXTRA)]
    docnos = [f"d{one}" for one in rng.permutation(np.unique((10 ** rng.uniform(0, 4, 200)) // 1))]
    names = dict(zip((*QIDS, EXTRA), qids, strict=False))
    names |= dict(zip(DOCNOS, (docno.removesuffix(".0") for docno in docnos), strict=False))
    for plain in (RUNS, DATASETS, MODELS, FOLDS, SEEDS):
        kind = plain[0][:-1]
        names |= dict(zip(plain, OTHER_NAMES[kind], strict=True))
    return names


def _data() -> tuple[dict[str, Rows], dict[tuple[str, str], Rows]]:
    """Judgements by dataset, and scores by dataset and run."""
    rng = np.random.default_rng(17)
    qrels: dict[str, Rows] = {}
    runs: dict[tuple[str, str], Rows] = {}
    for dataset in DATASETS:
        qrels[dataset] = {
            qid: {str(one): int(rng.integers(0, 4)) for one in rng.choice(DOCNOS, n, False)}
            for n, qid in enumerate(QIDS, start=14)
        }
        for skill, run in enumerate(RUNS):
            scores: Rows = {}
            for qid, grades in qrels[dataset].items():
                others = [one for one in DOCNOS if one not in grades]
                found = [*rng.choice(list(grades), 12, False), *rng.choice(others, 4, False)]
                scores[qid] = {
                    str(one): round(float(rng.normal(skill * grades.get(one, 0))), 6)
                    for one in found
                }
            runs[dataset, run] = scores
        qrels[dataset][QIDS[4]] = dict.fromkeys(qrels[dataset][QIDS[4]], 0)
    qrels["seta"][QIDS[7]][next(iter(qrels["seta"][QIDS[7]]))] = -1
    del runs["seta", "runc"][QIDS[2]]
    runs["seta", "runb"] = {EXTRA: {"d101": 2.0, "d102": 1.0}, **runs["seta", "runb"]}
    runs["setb", "runa"][QIDS[4]] = dict.fromkeys(DOCNOS[:3], 1.0)
    return qrels, runs


def _write(experiment: Experiment) -> None:
    """Write TREC files, learning-to-rank files and a config for each."""
    qrels, runs = _data()
    folder, shuffled, name = experiment.folder, experiment.shuffled, experiment.named
    for dataset, judged in qrels.items():
        rows = [(qid, docno, grade) for qid, row in judged.items() for docno, grade in row.items()]
        lines = [f"{name(qid)} 0 {name(docno)} {grade:g}" for qid, docno, grade in rows]
        _put(folder / f"{name(dataset)}.qrels", shuffled(lines))
    for (dataset, run), answered in runs.items():
        lines = []
        for qid, row in shuffled(answered.items()):
            ranks = {docno: rank for rank, docno in enumerate(sorted(row, key=lambda d: -row[d]))}
            lines += [
                f"{name(qid)} Q0 {name(docno)} {ranks[docno] + 1} {score!r} {name(run)}"
                for docno, score in shuffled(row.items())
            ]
        _put(folder / f"{name(dataset)}-{name(run)}.run", lines)
    entries = [f"  {name(one)}: {{path: {name(one)}.qrels}}" for one in shuffled(DATASETS)]
    paths = [f"  {name(run)}: {{path: '{{dataset}}-{name(run)}.run'}}" for run in shuffled(RUNS)]
    config = [
        "output: trec", "datasets:", *entries, "runs:", *paths, f"metrics: {json.dumps(METRICS)}",
        "reports: [csv, jsonl, trec, markdown, html]", "compare: {baseline: " + name("runa") + "}",
    ]  # fmt: skip
    _put(folder / "trec.yaml", config)
    in_order = ["datasets:", entries[0], "runs:", *sorted(paths, key=experiment.plain), config[-3]]
    _put(folder / "in_order.yaml", in_order)
    _write_folds(experiment)


def _write_folds(experiment: Experiment) -> None:
    """Write two folds of six queries, and the scores of three models with two seeds for each."""
    rng = np.random.default_rng(18)
    folder, shuffled, name = experiment.folder, experiment.shuffled, experiment.named
    for fold, qids in zip(FOLDS, (QIDS[:6], QIDS[6:]), strict=True):
        rows = [(qid, int(rng.integers(0, 3))) for qid in qids for _ in range(8)]
        rows = [(qid, 0 if qid == QIDS[1] else grade) for qid, grade in rows]
        scores = {
            (model, seed): [
                0.5 if qid == QIDS[1] else grade + float(rng.normal(0, 3 - skill))
                for qid, grade in rows
            ]
            for skill, model in enumerate(MODELS)
            for seed in SEEDS
        }
        order = [
            place
            for qid in shuffled(qids)
            for place in shuffled(at for at, (one, _) in enumerate(rows) if one == qid)
        ]
        lines = [f"{rows[at][1]} qid:{name(rows[at][0])} 1:{at} 2:{qids[0]}" for at in order]
        _put(folder / f"web/{name(fold)}.txt", lines)
        for (model, seed), values in scores.items():
            path = folder / f"predictions/{name(model)}-{name(fold)}-{name(seed)}.txt"
            _put(path, [f"{values[at]!r}" for at in order])
    config = """
output: folds
datasets: {"web-{fold}": {format: letor, path: "web/{fold}.txt"}}
runs: {"{model}": {format: scores, path: "predictions/{model}-{fold}-{seed}.txt"}}
metrics: [map, "ndcg@3,6", recip_rank]
summary: {pool: [fold], spread: [seed]}
reports: [csv, jsonl, markdown, html]
compare: {baseline: %s}
"""
    _put(folder / "folds.yaml", [config % name("moda")])


def _put(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Experiment, Experiment]:
    """Plain and the shuffled experiment, with their results."""
    rng = np.random.default_rng(4)
    every = (*QIDS, EXTRA, *DOCNOS, *RUNS, *DATASETS, *MODELS, *FOLDS, *SEEDS)
    found = []
    for names, order in (({name: name for name in every}, None), (_names(rng), rng)):
        experiment = Experiment(tmp_path_factory.mktemp("labels"), names, order)
        _write(experiment)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for config in ("trec", "folds"):
                harness.run(experiment.folder / f"{config}.yaml")
            changed = ["output=changed", "policy.ties=stable", "policy.depth=6"]
            harness.run(experiment.folder / "trec.yaml", overrides=changed)
        found.append(experiment)
    return found[0], found[1]


def _rounded(found: re.Match[str]) -> str:
    number = float(found[0])
    return "0" if abs(number) < 1e-12 else f"{number:.6g}"


def labelled(text: str) -> Counter[str]:
    """Count of each line, with its numbers rounded to six digits.

    Sums in another order differ in their last bits. Hashes, intervals that are drawn with names as
    the seed, and the suggestion of a cell to look at next are left out.
    """
    text = re.sub(r"\n +(?=\(|\d+ \()", " ", text)  # long names wrap a list elsewhere
    text = re.sub(r"(?<![\w.-])\d+-\d+(?![\w.-])", "DRAWN", text)
    text = re.sub(r"(DRAWN.*)\[.*", r"\1", text)
    text = re.sub(r"(?<![\w.])[-+]?\d+\.\d+(?:e[-+]\d+)?(?!\w)", _rounded, text)
    lines = (re.sub(r"[-─]{3,}|\s+", " ", line).strip() for line in text.splitlines())
    return Counter(_sorted_list(line) for line in lines if line and not LEFT_OUT.search(line))


def _sorted_list(line: str) -> str:
    """Line that lists names after a heading with its names in one order."""
    listed = re.fullmatch(r"((?:- )?The order of the systems is the same) by (.*)\.", line)
    listed = listed or re.search(r"(The guard warns of [\w-]+) in (.*); harness check", line)
    return line if listed is None else f"{listed[1]} {sorted(re.split(', | on ', listed[2]))}"


def _columns(text: str) -> Counter[str]:
    """Rows of a CSV as `labelled` does, without columns that are random."""
    rows = csv_rows(text)
    kept = [name for name in rows[0] if not name.endswith(RANDOM)]
    return labelled("\n".join(str({name: row[name] for name in kept}) for row in rows))


def _same(pair: tuple[Experiment, Experiment], make: Callable[[Experiment], Counter[str]]) -> None:
    plain, shuffled = map(make, pair)
    assert plain
    assert shuffled - plain == plain - shuffled == Counter()


def _same_command(pair: tuple[Experiment, Experiment], *words: str) -> None:
    _same(pair, lambda experiment: labelled(experiment.run(*words)))


RUN_FILES = tuple(f"seta-{run}.run" for run in RUNS)


@pytest.mark.parametrize("format", ["csv", "jsonl", "table", "trec"])
def test_evaluate(pair: tuple[Experiment, Experiment], format: str) -> None:
    metrics = [word for name in METRICS for word in ("-m", name)]
    _same_command(pair, "evaluate", "seta.qrels", *RUN_FILES, *metrics, "-q", "-f", format)


COMPARE = ("-m", "map", "-m", "ndcg")


@pytest.mark.parametrize("format", ["text", "jsonl"])
@pytest.mark.parametrize(
    ("results", "runs"),
    [("trec", RUNS), ("trec", RUNS[:2]), ("folds", MODELS[:2])],
    ids=["three", "two", "folds"],
)
def test_compare_results(
    pair: tuple[Experiment, Experiment], format: str, results: str, runs: Sequence[str]
) -> None:
    words = ("compare", *runs, "--results", results, "-m", "map", "-f", format)
    _same_command(pair, *words)
    _same_command(pair, *words, "--test", "tukey")


@pytest.mark.parametrize("format", ["text", "jsonl"])
def test_compare_folders(pair: tuple[Experiment, Experiment], format: str) -> None:
    _same_command(pair, "diff", "trec", "changed", *COMPARE, "-f", format)
    _same_command(pair, "diff", "trec", "changed", *COMPARE, "--reproduction", "-f", format)


def _files(experiment: Experiment, results: str) -> Counter[str]:
    """Lines of every file that the results hold but for their provenance."""
    found: Counter[str] = Counter()
    for path in sorted((experiment.folder / results).iterdir()):
        if not path.is_file() or path.suffix in (".json", ".parquet"):
            continue
        text = experiment.plain(path.read_text(encoding="utf-8"))
        lines = _columns(text) if path.suffix == ".csv" else labelled(text)
        found.update({f"{path.name}: {line}": n for line, n in lines.items()})
    return found


@pytest.mark.parametrize("results", ["trec", "folds"])
def test_files_of_results(pair: tuple[Experiment, Experiment], results: str) -> None:
    _same(pair, lambda experiment: _files(experiment, results))


def test_python_results(pair: tuple[Experiment, Experiment]) -> None:
    def rows(experiment: Experiment) -> Counter[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = harness.run(experiment.folder / "trec.yaml")
        lines = [*found.leaderboard.rows(), *found.comparisons.to_arrow().to_pylist()]
        for entry in found.leaderboard.entries:
            values = entry.evaluation.to_dict()
            lines += [{"of": (entry.dataset, entry.run, qid), **row} for qid, row in values.items()]
        return labelled(experiment.plain("\n".join(map(str, lines))))

    _same(pair, rows)


@pytest.mark.parametrize("format", ["text", "csv", "latex"])
@pytest.mark.parametrize(
    ("results", "datasets", "runs"), [("trec", DATASETS, RUNS), ("folds", ("web",), MODELS)]
)
def test_table(
    pair: tuple[Experiment, Experiment],
    format: str,
    results: str,
    datasets: Sequence[str],
    runs: Sequence[str],
) -> None:
    chosen = [word for one in datasets for word in ("--dataset", one)]
    chosen += [word for one in runs for word in ("--run", one)]
    more = ["--set", "table.extras=[tier, n]", "--sort", "map"]
    _same_command(pair, "table", results, *chosen, *more, "-f", format)


@pytest.mark.parametrize("query", [(), ("--query", QIDS[0]), ("--query", QIDS[9])])
@pytest.mark.parametrize("run", RUNS[1:])
def test_why(pair: tuple[Experiment, Experiment], run: str, query: Sequence[str]) -> None:
    words = ("trace", "--full", "trec", "--run", run, "--dataset", "setb", "--metric")
    for metric in ("map", "ndcg"):
        _same_command(pair, *words, metric, *query)


CONVENTIONS = [word for name in ("lightgbm", "letor", "ranx") for word in ("--convention", name)]
AUDIT = ("-m", "map", "-m", "ndcg@5", *CONVENTIONS)


@pytest.mark.parametrize("config", ["trec", "folds", "trec.yaml", "folds.yaml"])
def test_conventions(pair: tuple[Experiment, Experiment], config: str) -> None:
    _same_command(pair, "conventions", config, *AUDIT, "-f", "csv")
