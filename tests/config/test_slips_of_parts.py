"""YAML that is valid and means something else: what was meant is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.config import load as config
from harness.errors import ConfigError

HEAD = "datasets: {d: {path: q}}\n"
RUNS = "runs: {r: {path: r}}\n"


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        (HEAD + 'runs:\n"{model}": {path: r}\nmetrics: [map]\n', "$.runs (line 2)", "indent"),
        (
            "datasets:\n  d:\n  path: q\n" + RUNS + "metrics: [map]\n",
            "$.datasets.d (line 2)", "indent the lines that belong to it",
        ),
        (
            "datasets: {d: {path:q}}\n" + RUNS + "metrics: [map]\n",
            "$.datasets.d['path:q'] (line 1)", "write a blank after the colon: path: q",
        ),
        (HEAD + RUNS + "metrics:\n  -map\n  -P@5\n", "$.metrics (line 3)", "after every '-'"),
        (
            HEAD + RUNS + "metrics:\n  - map\n    - P@5\n", "$.metrics[0] (line 4)",
            "begin the '- ' of every entry in the same column",
        ),
        (HEAD + RUNS + 'metrics: ["map,P@5"]\n', "$.metrics[0] (line 3)", "[map, P@5]"),
        (HEAD + 'runs:\n  "": {path: r}\nmetrics: [map]\n', "$.runs[''] (line 3)", "a name"),
        (
            'datasets: {" ": {path: q}}\n' + RUNS + "metrics: [map]\n",
            "$.datasets[' '] (line 1)", "give it a name",
        ),
    ],
)  # fmt: skip
def test_what_was_meant(tmp_path: Path, text: str, place: str, hint: str) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 1.0 t\n")
    with pytest.raises(ConfigError) as error:
        config.loads(text, "c.yaml", tmp_path)
    first = error.value.problems[0]
    assert first.where == place
    assert hint in first.what + first.fix
