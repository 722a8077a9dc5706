"""The package as a whole: what it exports, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import harness

HEAVY = ("pandas", "torch", "polars", "matplotlib", "scipy", "sklearn", "pydantic", "click", "yaml")


@pytest.mark.parametrize("name", harness.__all__)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(harness, name) is not None
    assert name in dir(harness)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'harness' has no attribute 'ndgc'"):
        _ = harness.ndgc  # type: ignore[attr-defined]


def test_import_loads_nothing_heavy() -> None:
    code = f"import sys, harness; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_evaluating_loads_none_of_the_extras() -> None:
    unwanted = ("pandas", "torch", "polars", "matplotlib", "scipy", "pyarrow.compute")
    code = (
        "import sys, harness; harness.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, ['P@1']);"
        f"print([m for m in {unwanted} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


FILES = {
    "trec": (
        "q1 0 d1 1\nq1 0 d2 0\n",
        "q1 Q0 d1 1 2.5 a\nq1 Q0 d2 2 1.5 a\nq1 Q0 d3 3 1.5 a\n",
    ),
    "letor": ("1 qid:1 1:2\n0 qid:1 1:3\n2 qid:2 1:4\n0 qid:2 1:5\n", "1.5\n0.5\n1\n1\n"),
}


@pytest.mark.parametrize("kind", FILES)
def test_the_command_starts_without_what_it_does_not_need(tmp_path: Path, kind: str) -> None:
    for name, text in zip(("qrels.txt", "a.run"), FILES[kind], strict=True):
        (tmp_path / name).write_text(text)
    unwanted = {*HEAVY, "pyarrow.compute", "pyarrow.parquet"} - {"click", "yaml"}
    code = (
        "import atexit, sys; from harness.cli.main import main;"
        f"atexit.register(lambda: print([m for m in sorted({unwanted}) if m in sys.modules]));"
        "main(['evaluate', 'qrels.txt', 'a.run', '-m', 'map', '-m', 'bpref', '--ties', 'stable'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


AFTER_A_RUN = (
    ("compare", "a", "b", "--results", "out"),
    ("compare", "out", "out"),
    ("compare", "out/leaderboard.csv", "out/leaderboard.csv"),
    ("compare", "a.run", "b.run", "--qrels", "qrels.txt", "-m", "map"),
    ("table", "out"),
    ("verify", "out"),
)


def test_results_are_read_without_pandas(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\nq2 0 d2 0\n")
    for name, scores in (("a", "2.5 1.5 0.5 1.5"), ("b", "1.5 2.5 1.5 0.5")):
        pairs = zip(("q1 Q0 d1", "q1 Q0 d2", "q2 Q0 d1", "q2 Q0 d2"), scores.split(), strict=True)
        lines = [f"{row} 1 {score} x\n" for row, score in pairs]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    (tmp_path / "c.yaml").write_text(
        "output: out\ndatasets: {d: {path: qrels.txt, format: trec}}\n"
        "runs: {'{system}': {path: '{system}.run', format: trec}}\nmetrics: [map, opa]\n"
    )
    code = (
        "import contextlib, os, sys; from harness.cli.main import main\n"
        f"for args in {(('run', 'c.yaml'), *AFTER_A_RUN)}:\n"
        "    with open(os.devnull, 'w') as null, contextlib.redirect_stdout(null):\n"
        "        try: main(list(args))\n"
        "        except SystemExit as end: code = end.code\n"
        "    print(*args, code, 'pandas' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found = done.stdout.splitlines()
    assert found == ["run c.yaml 0 False", *(f"{' '.join(args)} 0 False" for args in AFTER_A_RUN)]
