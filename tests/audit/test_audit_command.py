"""``harness audit``, as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import started as harness


def test_a_config_and_its_results_print_the_same_in_a_pipe(toy: Path) -> None:
    here = toy.parent.parent
    done = harness("audit", "configs/toy.yaml", cwd=here)
    assert (done.returncode, done.stderr) == (0, "")  # nor a progress bar
    assert done.stdout.startswith("dataset  metric ")
    assert harness("run", "configs/toy.yaml", cwd=here).returncode == 0
    assert harness("audit", "configs/results/toy", cwd=here).stdout == done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", "ndgc@2"), "unknown metric 'ndgc@2'; did you mean 'ndcg@2'?"),
        (("-m", "mse"), "mse: no convention has it, so there is nothing to audit"),
        (("-m", "err@10", "--convention", "lightgbm"), "(it has: ndcg, map; err is in: gdeval"),
        (("--convention", "lightgmb"), "unknown convention 'lightgmb'; did you mean 'lightgbm'?"),
        (("--set", "policy.tie=stable"), "did you mean 'ties'?"),
        (("-f", "pdf"), "'pdf' is not one of text, csv, html"),
        (("--set", "metrics=[mse]"), "no convention has it"),
    ],
)
def test_wrong_usage_is_said_and_exits_2(
    toy: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = harness("audit", str(toy), *arguments, cwd=toy.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
