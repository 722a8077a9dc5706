"""Each cell of the page that compares tools is what the tool does."""

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pytrec_eval import RelevanceEvaluator, supported_measures

import harness
from harness.compat import supported_measures as ours
from harness.stats.registry import TESTS, names_by_kind

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/explanation/comparison.md"
QRELS = {"q1": {"a": 1, "b": 0, "c": 2}}
TIED = {"q1": {"a": 1.0, "b": 1.0, "c": 0.5}}
TWO = {**QRELS, "q2": {"a": 1}}
LABELS = {qid: {docno: float(grade) for docno, grade in row.items()} for qid, row in QRELS.items()}
TOOLS = ("ranking-harness", "pytrec_eval", "ir_measures", "ranx")


def trec_eval_values(qrels: Any, run: Any) -> dict[str, float]:
    return {
        qid: row["map"] for qid, row in RelevanceEvaluator(qrels, {"map"}).evaluate(run).items()
    }


def with_ir_measures(qrels: Any, run: Any) -> float:
    tool = import_module("ir_measures")
    return float(tool.calc_aggregate([tool.AP], qrels, run)[tool.AP])


def ranx_value(qrels: Any, run: Any, measure: str) -> float:
    tool = import_module("ranx")
    return float(tool.evaluate(tool.Qrels(qrels), tool.Run(run), measure))


def with_ranx(qrels: Any, run: Any) -> float:
    return ranx_value(qrels, run, "map")


def with_harness(qrels: Any, run: Any) -> float:
    return float(harness.evaluate(qrels, run, ["map"]).summary()["map"])


def with_pytrec_eval(qrels: Any, run: Any) -> float:
    values = trec_eval_values(qrels, run)
    return sum(values.values()) / len(values)


AP = dict(zip(TOOLS, (with_harness, with_pytrec_eval, with_ir_measures, with_ranx), strict=True))


def measures(tool: str) -> str:
    names = {"ranking-harness": ours, "pytrec_eval": supported_measures}
    if tool in names:
        return str(len(names[tool]))
    parse = {
        "ranx": lambda name: ranx_value(QRELS, LABELS, name),
        "ir_measures": lambda name: import_module("ir_measures").parse_trec_measure(name),
    }[tool]
    return str(sum(works(lambda name=name: parse(name)) for name in supported_measures))


def works(call: Callable[[], Any]) -> bool:
    try:
        call()
    except Exception:
        return False
    return True


def ties(tool: str) -> str:
    return "yes" if AP[tool](QRELS, TIED) == trec_eval_values(QRELS, TIED)["q1"] else "no"


def unanswered(tool: str) -> str:
    alone = trec_eval_values(QRELS, TIED)["q1"]
    if not works(lambda: AP[tool](TWO, TIED)):
        return "an error"
    return {alone: "left out", alone / 2: "counts 0"}[AP[tool](TWO, TIED)]


def letor(tool: str) -> str:
    data = str(ROOT / "runs/letor/fold1/test.txt")
    lines = Path(data).read_text("utf-8").splitlines()
    run = str(ROOT / "runs/letor/gbrt/fold1-seed1.txt")
    read: dict[str, Callable[[], Any]] = {
        "ranking-harness": lambda: harness.evaluate(data, run, ["map"]),
        "pytrec_eval": lambda: import_module("pytrec_eval").parse_qrel(lines),
        "ir_measures": lambda: list(import_module("ir_measures").read_trec_qrels(data)),
        "ranx": lambda: import_module("ranx").Qrels.from_file(data, kind="trec"),
    }
    return "yes" if works(read[tool]) else "no"


def conventions(tool: str) -> str:
    if tool == "ranking-harness":
        page = (ROOT / "docs/reference/conventions.md").read_text("utf-8")
        return re.findall(r"\d+ conventions of \d+ tools", page)[0]
    module = import_module(tool)
    return "calls the tools" if hasattr(module, "gdeval") and hasattr(module, "providers") else "no"


def significance(tool: str) -> str:
    if tool == "ranking-harness":
        names_by_kind()  # which loads the tests
        return str(len(TESTS))
    if tool != "ranx":
        return "none" if not hasattr(import_module(tool), "compare") else "some"
    module = import_module("ranx.statistical_tests")
    return str(sum(name.endswith("_test") for name in dir(module)))


def labels(tool: str) -> str:
    if tool != "ranking-harness":
        return "a perfect value" if AP[tool](QRELS, LABELS) == 1 else "reported"
    data = ROOT / "runs/letor/fold1/test.txt"
    scores = [float(line.split()[0]) for line in data.read_text("utf-8").splitlines()]
    with pytest.warns(harness.errors.HarnessWarning, match="grades|labels"):
        harness.evaluate(data, scores, ["map"])
    return "reported"


def latex(tool: str) -> str:
    if tool == "ranx":
        report = import_module("ranx.data_structures.report").Report
        return "yes" if hasattr(report, "to_latex") else "no"
    module = harness if tool == "ranking-harness" else import_module(tool)
    return "yes" if hasattr(module, "table") else "no"


def fusion(tool: str) -> str:
    module = harness if tool == "ranking-harness" else import_module(tool)
    return "yes" if hasattr(module, "fuse") else "no"


ROWS = (measures, ties, unanswered, letor, conventions, significance, labels, latex, fusion)


def table() -> list[list[str]]:
    first = PAGE.read_text("utf-8").partition("\n\n|")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in first.splitlines()]


@pytest.mark.parametrize("tool", [*TOOLS[:-1], pytest.param(TOOLS[-1], marks=pytest.mark.slow)])
def test_the_table_says_what_a_tool_does(tool: str) -> None:
    if tool != "ranking-harness":
        pytest.importorskip(tool)
    head, _, *rows = table()
    shown = [row[head.index(tool)] for row in rows]
    assert shown == [probe(tool) for probe in ROWS]


def test_speeds_are_those_of_the_benchmarks() -> None:
    measured = (ROOT / "benchmarks/RESULTS.md").read_text("utf-8")
    rows = re.findall(r"^\| [\w-]+ \| ([\d.]+) \| (\d+) \|$", PAGE.read_text("utf-8"), re.M)
    assert len(rows) == 4
    for seconds, memory in rows:
        assert re.search(rf"\b{re.escape(seconds)}\d*\b.*\b{memory}\b", measured), seconds
