"""Memory that files take, measured in processes of their own: peak beyond an idle reader's.

TREC, prediction and LETOR files take at most 400 MB at any length; JSON 12 or 20 times its
size, and other formats 8 times.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

MB = 1 << 20
FLAT, TIMES = 400 * MB, 8
QUERIES, DOCUMENTS = 2_000, 1_000

READ = """
import re, sys, warnings
warnings.simplefilter("ignore")
from harness.readers import read_qrels, read_run, align_run
path, kind, dataset = sys.argv[1:]
if kind == "qrels":
    read_qrels(path)
elif kind == "run":
    read_run(path)
else:
    for part in align_run(read_qrels(dataset), path):
        pass
# of this program alone: ru_maxrss begins with what its parent had
print(int(re.search("VmHWM:\\\\s*(\\\\d+)", open("/proc/self/status").read())[1]) * 1024)
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status"),
]


def peak(path: Path, kind: str, dataset: Path | None = None) -> int:
    command = [sys.executable, "-c", READ, str(path), kind, str(dataset or "")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return int(done.stdout)


def names() -> Iterator[tuple[str, str, float]]:
    for query in range(QUERIES):
        for row in range(DOCUMENTS):
            yield f"q{query}", f"doc-{query * 37 + row * 101 % 9973:07}", 1000 - row + 0.25


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> int:
    path = tmp_path_factory.mktemp("idle") / "a"
    path.write_text("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n")
    return peak(path, "run")


@pytest.fixture(scope="module")
def letor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("letor") / "a.letor"
    features = " ".join(f"{at}:0.{at}25" for at in range(1, 20))
    with path.open("w") as file:
        file.writelines(f"{len(qid) % 3} qid:{qid} {features}\n" for qid, _, _ in names())
    return path


def test_letor_and_predictions_are_flat(letor: Path, idle: int) -> None:
    predictions = letor.with_suffix(".pred")
    predictions.write_text("".join(f"{score}\n" for _, _, score in names()))
    assert letor.stat().st_size > 300 * MB
    assert peak(letor, "qrels") <= FLAT
    assert peak(predictions, "align", letor) <= FLAT


def test_a_trec_run_is_flat(tmp_path: Path) -> None:
    qrels, run = tmp_path / "q", tmp_path / "a.run"
    qrels.write_text("".join(f"{qid} 0 {docno} 1\n" for qid, docno, _ in names() if "77" in docno))
    with run.open("w") as file:
        file.writelines(f"{qid} Q0 {docno} 1 {score} tag\n" for qid, docno, score in names())
    assert peak(run, "align", qrels) <= FLAT


def _table(rows: int) -> pa.Table:
    qids, docnos, scores = zip(*list(names())[:rows], strict=True)
    return pa.table({"qid": qids, "docno": docnos, "score": scores})


def _csv(path: Path, rows: int) -> int:
    lines = (f"{qid},{docno},{score}\n" for qid, docno, score in [*names()][:rows])
    path.write_text("qid,docno,score\n" + "".join(lines))
    return path.stat().st_size


def _parquet(path: Path, rows: int) -> int:
    table = _table(rows)
    parquet.write_table(table, path)
    return int(table.nbytes)


@pytest.mark.parametrize(
    ("name", "make"),
    [("a.csv", _csv), ("a.parquet", _parquet)],
)
def test_other_formats_take_eight_times_their_size(
    tmp_path: Path, idle: int, name: str, make: Callable[[Path, int], int]
) -> None:
    size = make(tmp_path / name, 1_000_000)
    assert peak(tmp_path / name, "run") - idle <= TIMES * size


@pytest.mark.parametrize(("queries", "documents", "times"), [(300, 1_000, 12), (200_000, 1, 20)])
def test_json_takes_what_the_docs_say(
    tmp_path: Path, idle: int, queries: int, documents: int, times: int
) -> None:
    path = tmp_path / "a.json"
    rows = {qid: {f"{qid * 37 + n * 97}": 1 for n in range(documents)} for qid in range(queries)}
    path.write_text(json.dumps({str(qid): some for qid, some in rows.items()}))
    assert peak(path, "qrels") - idle <= times * path.stat().st_size


def test_predictions_as_an_array(tmp_path: Path, letor: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(QUERIES * DOCUMENTS, dtype=float))
    assert peak(tmp_path / "a.npy", "align", letor) <= FLAT


def test_evaluate_takes_at_most_400_mb(root: Path, tmp_path: Path) -> None:
    # through a process in between: the peak of a child is at least that of its parent
    words = [sys.executable, "-m", "benchmarks.load", "rows", "--size", "0.15"]  # 510 MB
    done = subprocess.run(
        [*words, "--data", str(tmp_path)], capture_output=True, text=True, check=True, cwd=root
    )
    peaks = [float(line.split(" | ")[4]) for line in done.stdout.splitlines()[2:]]
    assert len(peaks) == 2
    assert max(peaks) < 400
