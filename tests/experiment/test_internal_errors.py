"""A mistake in the guard is a finding, and one in a worker is named; the values are there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import called

from harness.errors import AlignmentError, ConfigError, InputError, Problem
from harness.experiment import workers
from harness.guard import sweep as guard_sweep
from harness.guard import watch as guard_watch
from harness.guard.scores import Labels, Scores
from harness.guard.watch import JudgementFacts

pytestmark = pytest.mark.filterwarnings("ignore")
CONFIG = """
output: out
datasets: {d: {path: q.txt}}
runs: {"{m}": {path: "{m}.run"}}
metrics: [map]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    workers.last_dataset.clear()
    Path("q.txt").write_text("10 0 a 1\n2 0 b 0\n2 0 a 1\n1 0 a 1\n")
    Path("zeta.run").write_text("2 Q0 a 1 3 x\n10 Q0 a 1 3 x\n1 Q0 b 1 3 x\n")
    Path("alpha.run").write_text("10 Q0 a 1 2 x\n1 Q0 a 1 9 x\n2 Q0 b 1 3 x\n2 Q0 a 2 1 x\n")
    Path("c.yaml").write_text(CONFIG)


def fail(*_: Any, **__: Any) -> Any:
    raise KeyError("fold")


GUARD = [
    (Scores, "run"), (Scores, "aligned"), (Labels, "findings"), (JudgementFacts, "of"),
    (guard_watch, "add_lines"), (guard_sweep, "_named_twice"), (guard_sweep.Sweep, "_of_datasets"),
]  # fmt: skip


ERRORS = [InputError, ConfigError, AlignmentError, OSError, ValueError, KeyError]


@pytest.mark.parametrize(
    ("owner", "name", "error"),
    [*((*part, InputError) for part in GUARD), *((*GUARD[0], error) for error in ERRORS[1:])],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_exceptions_of_any_type_are_findings(
    owner: Any, name: str, error: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise error(Problem("a", "b")) if error in ERRORS[:3] else error("x")

    monkeypatch.setattr(owner, name, refuse)
    code, out, err = called("run", "c.yaml", cwd=Path())
    assert (code, "0.8333" in out, "[guard-failed]" in err) == (0, True, True)
    assert "Traceback" not in err
    assert "the guard failed: KeyError: 'x'" in err or error is not KeyError
    findings = json.loads(Path("out/manifest.json").read_text())["findings"]
    assert {one["rule"]: one["severity"] for one in findings}["guard-failed"] == "warning"
    code, out, _ = called("check", "c.yaml", cwd=Path())
    assert (code, "[guard-failed]" in out, "[config]" in out) == (0, True, False)


def test_an_exception_of_one_cell_is_named_and_the_others_are_evaluated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluate: Callable[..., Any] = workers.visit

    def fail_one(cell: Any, *given: Any, **more: Any) -> Any:
        return fail() if cell.run == "zeta" else evaluate(cell, *given, **more)

    monkeypatch.setattr(workers, "visit", fail_one)
    code, out, err = called("run", "c.yaml", cwd=Path())
    assert code == 2
    assert "alpha  " in out
    assert "zeta on d: KeyError: 'fold' (test_internal_errors.py, line " in err
