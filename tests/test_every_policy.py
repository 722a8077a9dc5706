"""Every value of every policy with every command: right numbers, or a sentence.

The data are small and awkward: queries in any order, missing, extra and without relevant documents,
tied scores, documents that nobody judged.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from harness.cli.main import main

pytestmark = pytest.mark.filterwarnings("ignore")

Table = dict[str, dict[str, float]]

POLICIES: dict[str, tuple[Any, ...]] = {
    "ties": (
        "trec_eval", "trec_eval10", "docno+", "stable", "reverse", "average", "best", "worst",
        "random(7)", "bounds",
    ),
    "missing_queries": ("zero", "skip", "error"),
    "empty_queries": ("zero", "one", "skip", "error"),
    "depth": (1, 2, 1000),
    "judged_only": (False, True),
    "relevance_level": (1, 2),
    "labels": ("error", "clip"),
}  # fmt: skip
"""The first value of each key is its default, but for the depth."""
ALL: list[dict[str, Any]] = [{}, {"depth": 1}] + [
    {key: value} for key, values in POLICIES.items() for value in values[1:]
]
SKIP: list[dict[str, Any]] = [
    {**one, "missing_queries": "skip"} for one in ALL if "missing_queries" not in one
]
COMMANDS: dict[str, tuple[str, ...]] = {
    "compare": ("compare", "a", "b", "--results", "out", "--draws", "20"),
    "why": ("why", "out", "--run", "b", "-m", "map"),
    "why a query": ("why", "out", "--run", "b", "-m", "map", "--query", "10"),
    "why a missing query": ("why", "out", "--run", "b", "-m", "map", "--query", "2"),
    "explain": ("explain", "0.25", "--results", "out", "--run", "a", "-m", "map", "--depth", "0"),
    "audit": ("audit", "c.yaml", "-m", "map", "--convention", "sklearn"),
    "table": ("table", "out"),
    "plot": ("plot", "out", "heatmap", "-m", "map", "--format", "svg"),
}


@dataclass
class Data:
    """Judgements and two runs, in the order of their rows."""

    qrels: list[tuple[str, str, float]]
    runs: dict[str, list[tuple[str, str, float]]]

    def write(self, folder: Path) -> None:
        text = "".join(f"{qid} 0 {docno} {grade:g}\n" for qid, docno, grade in self.qrels)
        (folder / "q.txt").write_text(text)
        for name, rows in self.runs.items():
            text = "".join(f"{qid} Q0 {docno} 0 {score:g} {name}\n" for qid, docno, score in rows)
            (folder / f"{name}.run").write_text(text)

    @property
    def judged(self) -> Table:
        return table(self.qrels)


def table(rows: list[tuple[str, str, float]]) -> Table:
    found: Table = {}
    for qid, docno, number in rows:
        found.setdefault(qid, {})[docno] = number
    return found


def data(seed: int, n_queries: int = 9) -> Data:
    """Return awkward data; run b answers some queries, and three that nobody judged."""
    random = np.random.default_rng(seed)
    qids = ["1", "2", "10", *(f"{random.integers(3, 9)}{n}" for n in range(n_queries - 3))]
    docnos = [f"d{n}" for n in (3, 1, 20, 2, 10, 7)]
    qrels = []
    for qid in random.permutation(qids).tolist():
        some = random.permutation(docnos)[: random.integers(2, 6)].tolist()
        top = 1 if random.random() < 0.25 else 4  # a quarter has no relevant document
        qrels += [(qid, docno, float(random.integers(0, top))) for docno in some]
    runs = {}
    for name in ("a", "b"):
        own = [qid for qid in qids if name == "a" or (qid != "2" and random.random() < 0.6)]
        own += ["10"] * (name == "b" and "10" not in own) + ["0x", "100", "x"] * (name == "b")
        rows = []
        for qid in random.permutation(own).tolist():
            some = random.permutation([*docnos, "u1", "u2"])[: random.integers(1, 8)].tolist()
            rows += [(qid, docno, float(random.integers(0, 4))) for docno in some]
        runs[name] = rows
    return Data(qrels, runs)


Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """Return what calls a command: an exit code of 0, 1 or 2, and no traceback."""
    monkeypatch.chdir(tmp_path)

    def called(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        out, err = capsys.readouterr()
        code = ended.value.code or 0
        assert code in (0, 1, 2), words
        text = out + err
        for wrong in ("Traceback", "the guard failed", "a mistake in harness", "worker died"):
            assert wrong not in text, (words, text)
        if code == 2 and "error: " not in err:
            assert words[0] == "check" or "Error: " in err, (words, err)
        return int(code), out, err

    return called


def config(policy: dict[str, Any], metrics: str = "map, P@2, ndcg@3") -> None:
    text = f"""
output: out
datasets: {{d: {{path: q.txt}}}}
runs: {{"{{m}}": {{path: "{{m}}.run"}}}}
metrics: [{metrics}]
policy: {json.dumps(policy)}
"""
    Path("c.yaml").write_text(text)


def ranking(rows: dict[str, float], ties: str, grades: dict[str, float]) -> list[str]:
    """Return documents by falling score, those of one score as a policy orders them."""
    given = list(rows)
    keys: dict[str, Callable[[str], Any]] = {
        "stable": given.index,
        "reverse": lambda docno: -given.index(docno),
        "docno+": lambda docno: docno,
        "best": lambda docno: -grades.get(docno, 0),
        "worst": lambda docno: grades.get(docno, 0),
    }
    down = sorted(given, reverse=True)
    order = sorted(given, key=keys[ties]) if ties in keys else down
    return sorted(order, key=lambda docno: -rows[docno])


def average_precision(
    found: dict[str, float], grades: dict[str, float], policy: dict[str, Any]
) -> float:
    """Return AP by its definition."""
    level = policy.get("relevance_level", 1)
    ranked = ranking(found, policy.get("ties", "trec_eval"), grades)
    ranked = ranked[: policy.get("depth")]
    if policy.get("judged_only"):
        ranked = [docno for docno in ranked if docno in grades]
    hits, total = 0, 0.0
    for rank, docno in enumerate(ranked, 1):
        if grades.get(docno, 0) >= level:
            hits += 1
            total += hits / rank
    n_relevant = sum(grade >= level for grade in grades.values())
    return total / n_relevant if n_relevant else 0.0


def expected(some: Data, run: str, policy: dict[str, Any]) -> dict[str, float]:
    """Return AP of each query that counts; NaN if the policy leaves the query out of the mean."""
    answers, level = table(some.runs[run]), policy.get("relevance_level", 1)
    values = {}
    for qid, grades in some.judged.items():
        if qid not in answers and policy.get("missing_queries") == "skip":
            continue
        value = average_precision(answers.get(qid, {}), grades, policy)
        if all(grade < level for grade in grades.values()):
            one = float(qid in answers)  # a query without an answer counts 0 nevertheless
            value = {"one": one, "skip": np.nan}.get(policy.get("empty_queries", ""), value)
        values[qid] = value
    return values


def is_refused(some: Data, policy: dict[str, Any]) -> bool:
    """Whether the policy makes a run of these data an error."""
    level = policy.get("relevance_level", 1)
    empty = any(max(grades.values()) < level for grades in some.judged.values())
    return policy.get("missing_queries") == "error" or (
        policy.get("empty_queries") == "error" and empty
    )


def check_values(some: Data, policy: dict[str, Any]) -> None:
    """Compare the results of a run with the definition."""
    ties = policy.get("ties", "trec_eval")
    known: dict[str, dict[str, float]] = {}
    for row in pq.read_table("out/per_query.parquet").to_pylist():
        if row["metric"] in ("map", "map(rel=2)"):
            known.setdefault(row["run"], {})[row["qid"]] = row["value"]
    assert set(known) == set(some.runs)
    for run, values in known.items():
        if ties in ("average", "random(7)"):
            low, high = (expected(some, run, {**policy, "ties": one}) for one in ("worst", "best"))
            assert list(values) == list(low)
            for qid, value in values.items():
                assert np.isnan(low[qid]) or low[qid] - 1e-12 <= value <= high[qid] + 1e-12
            continue
        wanted = expected(some, run, policy)
        assert list(values) == list(wanted)
        assert list(values.values()) == pytest.approx(list(wanted.values()), nan_ok=True)


def cases() -> Iterator[Any]:
    for seed, policy in enumerate([*ALL, *SKIP]):
        yield pytest.param(
            seed,
            policy,
            id=" ".join(f"{key}={value}" for key, value in policy.items()) or "default",
        )


@pytest.mark.parametrize(("seed", "policy"), [*cases()])
def test_commands_of_a_config(call: Call, seed: int, policy: dict[str, Any]) -> None:
    some = data(seed)
    some.write(Path())
    config(policy)
    code, _, _ = call("run", "c.yaml")
    if is_refused(some, policy):
        assert code in (1, 2)
    else:
        assert code == 0
        check_values(some, policy)
    code, _, err = call("verify", "out")
    assert code == 0 or is_refused(some, policy), err
    for words in [*COMMANDS.values()] if policy in ALL else [*COMMANDS.values()][seed % 4 :: 4]:
        call(*words)


@pytest.mark.parametrize("missing", POLICIES["missing_queries"])
@pytest.mark.parametrize("empty", POLICIES["empty_queries"])
def test_evaluate(call: Call, missing: str, empty: str) -> None:
    for seed, more in enumerate([(), ("-M", "2"), ("-J",), ("-l", "2"), ("--ties", "docno+")]):
        some = data(seed)
        some.write(Path())
        options = [*more, "--missing", missing, "--empty", empty]
        code, out, _ = call("evaluate", "q.txt", "b.run", "-m", "map", "-q", "-f", "csv", *options)
        policy: dict[str, Any] = {"missing_queries": missing, "empty_queries": empty}
        policy |= {
            (): {}, ("-M", "2"): {"depth": 2}, ("-J",): {"judged_only": True},
            ("-l", "2"): {"relevance_level": 2}, ("--ties", "docno+"): {"ties": "docno+"},
        }[more]  # fmt: skip
        if is_refused(some, policy):
            assert code == 2
            continue
        assert code == 0
        rows = list(csv.DictReader(io.StringIO(out)))
        found = {row["qid"]: float(row.get("map", row.get("map(rel=2)")) or "nan") for row in rows}
        wanted = expected(some, "b", policy)
        assert [found[qid] for qid in wanted] == pytest.approx([*wanted.values()], nan_ok=True)
