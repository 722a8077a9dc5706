"""The example configs as an older processor computes them: the same, but for one metric.

numpy and the C library choose code by what the processor can do. Told that it can do less, they
compute as on an older machine, which is as far as one machine can stand for others.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[1]
FOUND = "np.show_config(mode='dicts')['SIMD Extensions'].get('found', [])"
EXTENSIONS = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
OLDER = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(EXTENSIONS),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-FMA,-AVX2_Usable,-FMA_Usable",
}
OF_THE_PROCESSOR = "pairwise_logloss"
"""The one metric of the examples that takes exponentials and logarithms."""

pytestmark = pytest.mark.skipif(not EXTENSIONS, reason="numpy knows one way to compute here")


def python(*arguments: str, **environment: str) -> str:
    """Run Python; return what it printed."""
    ended = subprocess.run(
        [sys.executable, *arguments], env={**os.environ, **environment}, cwd=ROOT,
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return ended.stdout


def evaluated(config: str, folder: Path, **environment: str) -> tuple[dict[str, bytes], pa.Table]:
    """Run a config without a cache of before; return its tables and the values of its queries."""
    places = [f"output={folder / 'out'}", f"cache={folder / 'cache'}"]
    options = [part for place in places for part in ("--set", place)]
    python("-m", "harness", "run", f"configs/{config}.yaml", *options, **environment)
    files = {path.name: path.read_bytes() for path in (folder / "out").glob("*.csv")}
    return files, pq.read_table(folder / "out/per_query.parquet")


def test_the_processor_seems_older() -> None:
    assert python("-c", f"import numpy as np; print({FOUND})", **OLDER) == "[]\n"


@pytest.mark.parametrize("config", ["quickstart", "sweep", "trec", "compare"])
def test_an_older_processor(tmp_path: Path, config: str) -> None:
    files, table = evaluated(config, tmp_path / "here")
    older_files, older = evaluated(config, tmp_path / "older", **OLDER)
    assert "leaderboard.csv" in files
    assert older_files == files
    columns = ["dataset", "run", "qid", "metric"]
    assert older.select(columns).equals(table.select(columns))
    values, older_values = (one["value"].to_numpy() for one in (table, older))
    exact = np.array(table["metric"].to_pylist()) != OF_THE_PROCESSOR
    np.testing.assert_array_equal(older_values[exact], values[exact])
    np.testing.assert_allclose(older_values, values, rtol=1e-14)
