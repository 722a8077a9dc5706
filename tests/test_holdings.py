"""Each row of the table "what you have, what to write" gives the value of the data in it."""

import glob
import shlex
from pathlib import Path

import pytest
from command_line import succeeds
from csv_rows import csv_rows

import harness
from docs.holdings import HOLDINGS, METRIC, TOOLS, VALUE, Holding

ROWS = {row.have: row for row in HOLDINGS} | {f"{tool}: {row.have}": row for tool, row in TOOLS}


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=have, marks=[pytest.mark.slow] * have.startswith("ranx"))
        for have, row in ROWS.items()  # ranx compiles its functions
    ],
)
@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
def test_what_to_write_works(row: Holding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        objects = row.make() or {}
    except ImportError as error:
        pytest.skip(str(error))
    if row.is_python:
        values = [eval(row.write, {"harness": harness}, objects).summary()[METRIC]]
    else:
        words = [p for word in shlex.split(row.write) for p in sorted(glob.glob(word)) or [word]]
        shown = succeeds("evaluate", *words, "-m", METRIC, "-f", "csv")
        rows = csv_rows(shown)
        values = [float(line.get(METRIC) or line["map(rel=0.5)"]) for line in rows]
    assert values == [pytest.approx(VALUE, abs=1e-15)] * len(values)
    assert values
