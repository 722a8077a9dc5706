"""A run without a judged document fails with one message, on every path; Python warns."""

from pathlib import Path

import pytest
from command_line import called, succeeds
from refusals import harness_warnings

import harness

LARGE = "qrels", "other", "other-collection"
SMALL = "few", "small", "nothing-judged"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Qrels of 20 queries and a run of other documents; a run that fits; few rows of both."""
    pairs = [(f"q{q}", n) for q in (10, 2, *range(30, 48)) for n in range(12)]
    lines = {
        "qrels": [f"{q} 0 D{q}={n} {n % 2}\n" for q, n in pairs],
        "good": [f"{q} Q0 D{q}={n} {n + 1} {30 - n} a\n" for q, n in pairs],
        "other": [f"{q} Q0 Z:{n}:{q} {n + 1} {30 - n} b\n" for q, n in pairs],
        "few": ["2 0 a 1\n", "10 0 b 0\n", "10 0 c 1\n"],
        "small": ["10 Q0 x 1 2 t\n", "2 Q0 y 1 2 t\n"],
        "c.yaml": ["datasets: {t: qrels}\nruns: {good: good, bad: other}\nmetrics: [map]\n"],
    }
    for name, texts in lines.items():
        (tmp_path / name).write_text("".join(texts))
    return tmp_path


@pytest.mark.parametrize("case", [LARGE, SMALL])
@pytest.mark.parametrize("command", ["evaluate", "compare", "gate", "check"])
def test_commands_end_with_2(files: Path, command: str, case: tuple[str, str, str]) -> None:
    qrels, run, rule = case
    words: dict[str, list[object]] = {
        "evaluate": ["evaluate", qrels, run, "-m", "map"],
        "check": ["check", qrels, run],
        "compare": ["compare", run, "good", "--qrels", qrels, "-m", "map"],
        "gate": ["gate", run, "good", "--qrels", qrels, "-m", "map", "--margin", "0.1"],
    }
    if case == SMALL and command in ("compare", "gate"):
        (files / "good").write_text("10 Q0 c 1 2 t\n2 Q0 a 1 2 t\n")
    said = called(*words[command], cwd=files)
    text = said.out + said.err
    assert said.code == 2
    assert text.count(f"[{rule}]") == 1
    assert text.count("-collection]") + text.count("-judged]") == 1


@pytest.mark.parametrize("n_queries", [2, 24])
def test_documents_that_are_judged_below_the_depth(tmp_path: Path, n_queries: int) -> None:
    qids = [10, 1, 2, *range(30, 60)][:n_queries]
    judged = "".join(f"{q} 0 d{q} 1\n{q} 0 e{q} 0\n" for q in qids)
    ranked = "".join(f"{q} Q0 d{q + 1} 1 2.5 t\n{q} Q0 d{q} 2 1 t\n" for q in qids)
    (tmp_path / "qrels").write_text(judged)
    (tmp_path / "run").write_text(ranked)
    assert "0.5000" in succeeds("evaluate", "qrels", "run", "-m", "map", cwd=tmp_path)
    at_1 = succeeds("evaluate", "qrels", "run", "-m", "map", "--depth", 1, cwd=tmp_path)
    assert f"{n_queries}/{n_queries}     0  0.0000" in at_1


def test_other_runs_are_evaluated(files: Path) -> None:
    said = called("evaluate", "qrels", "other", "good", "-m", "map", cwd=files)
    assert said.code == 2
    assert "other could not be evaluated; " in said.out
    assert "good    20/20" in said.out
    assert said.err.count("[other-collection]") == 1
    said = called("run", "c.yaml", cwd=files)
    assert said.code == 2
    assert said.err.count("[other-collection]") == 1


def test_a_config_accepts_it(files: Path) -> None:
    with (files / "c.yaml").open("a") as config:
        config.write("guard: {accept: [other-collection]}\n")
    assert "0.0000" in succeeds("run", "c.yaml", cwd=files)


@pytest.mark.parametrize("case", [LARGE, SMALL])
@pytest.mark.parametrize("form", ["path", "mapping", "several"])
def test_python_warns_once(files: Path, form: str, case: tuple[str, str, str]) -> None:
    qrels, run = (str(files / name) for name in case[:2])
    scores = harness.read_run(run).to_dict()
    with harness_warnings() as messages:
        if form == "several":
            harness.compare(qrels, {"a=1": run, "b": scores}, ["map"])
        else:
            harness.evaluate(qrels, run if form == "path" else scores, ["map"])
    subjects = ["a=1", "b"] if form == "several" else ["run"]
    assert [message.partition(":")[0] for message in messages] == subjects
    assert all("[nothing-judged]" in message for message in messages)
