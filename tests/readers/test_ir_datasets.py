"""``ir_datasets:ID`` as a path of qrels, on the command line, in Python and in configs."""

import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import called
from refusals import refuses

import harness

Row = namedtuple("Row", "query_id doc_id relevance iteration")
ROWS = [Row("10", "b", 2, "0"), Row("10", "a", 0, "0"), Row("2", "MED-7", 1, "0")]


def broken() -> Any:
    raise ConnectionError("no route to host\nretry later")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the package; reading its cache is its own work."""
    known = {
        "tiny/test": SimpleNamespace(has_qrels=lambda: True, qrels_iter=lambda: iter(ROWS)),
        "tiny": SimpleNamespace(has_qrels=lambda: False),
        "far/test": SimpleNamespace(has_qrels=lambda: True, qrels_iter=broken),
    }
    util = SimpleNamespace(home_path=lambda: tmp_path / "home")
    module = SimpleNamespace(load=known.__getitem__, util=util)
    monkeypatch.setitem(sys.modules, "ir_datasets", module)
    (tmp_path / "a.run").write_text("2 Q0 x 1 2 t\n2 Q0 MED-7 2 1 t\n10 Q0 b 1 0.5 t\n")
    return tmp_path


def test_python_command_and_config_read_the_same(installed: Path) -> None:
    found = harness.evaluate("ir_datasets:tiny/test", str(installed / "a.run"), ["recip_rank"])
    assert found.to_dict() == {"10": {"recip_rank": 1.0}, "2": {"recip_rank": 0.5}}
    done = called("evaluate", "ir_datasets:tiny/test", "a.run", "-m", "recip_rank", cwd=installed)
    assert "0.7500" in done.out, done.err
    (installed / "c.yaml").write_text(
        "datasets: {tiny: {path: 'ir_datasets:tiny/test'}}\nruns: {a: {path: a.run}}\n"
        "metrics: [recip_rank]\noutput: out\n"
    )
    done = called("run", "c.yaml", cwd=installed)
    assert "0.7500" in done.out, done.err
    assert called("verify", "out", cwd=installed).code == 0


@pytest.mark.parametrize(
    ("name", "fix"),
    [("tiny", "tiny/test"), ("tyni/test", "ir-datasets.com"), ("far/test", "")],
)
def test_errors(installed: Path, name: str, fix: str) -> None:
    with refuses(f"ir_datasets:{name}") as caught:
        harness.read_qrels(f"ir_datasets:{name}")
    assert fix in caught.value.problems[0].fix
    done = called("evaluate", f"ir_datasets:{name}", "a.run", cwd=installed)
    assert done.code == 2


def test_without_the_package_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with refuses("ir_datasets:vaswani") as caught:
        harness.read_qrels("ir_datasets:vaswani")
    assert "'ir_datasets'" in caught.value.problems[0].fix
