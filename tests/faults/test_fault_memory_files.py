"""Files of each format read with too little memory: values or "not enough memory", never damage.

One process for each format loads the libraries; those that it forks have a real limit, each with
a bit more room, and read one file. `HARNESS_TRIALS=N` tries so many limits for each format.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from small_sweep import TRIALS

from harness.errors import InputError
from harness.readers import binary_table
from harness.readers.numpy_files import NoArrayError, array_of
from harness.readers.source import Source

QUERIES, DOCUMENTS = 2000, 100
NUMBERS = 4_000_000
"""Of arrays, which take little room else: too many for their judgements, as is said at the end."""
MOST = 160
"""MB of addresses with which each of the files can be read."""
LIMITS = max(6, TRIALS)

CHILD = """
import ctypes, gc, os, resource, sys, warnings
from pathlib import Path
from harness import system

warnings.filterwarnings("ignore", ".*is multi-threaded", DeprecationWarning)  # fork's, from 3.12

resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.RLIM_INFINITY))
system.allocate_sparingly()
from harness import readers

def outcome(format, path, dataset):
    try:
        run = readers.read_run(path, format=format, dataset=dataset)
        return f"{float(run.scores.sum()):.6f}"
    except Exception as error:
        return str(system.problem(error) or f"{type(error).__name__}: {error}").split("\\n")[0]

name, format, judged, most, limits = sys.argv[1:]
ctypes.CDLL(None).mallopt(-3, 1 << 20)  # what is freed, from 1 MB on, is the system's again
dataset = readers.read_qrels(judged) if judged else None
right = outcome(format, name, dataset)
print(right)
gc.collect()  # the error, and the array that it held
for place in range(int(limits)):
    sys.stdout.flush()
    child = os.fork()
    if not child:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        room = int(most) * place // int(limits)
        most = pages * resource.getpagesize() + room
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        print("right" if (found := outcome(format, name, dataset)) == right else found, flush=True)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        print("ended with", code)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of 200,000 rows in several formats, arrays of more, and few judgements."""
    folder = tmp_path_factory.mktemp("files")
    draw = np.random.default_rng(0)
    scores = draw.random((QUERIES, DOCUMENTS)).round(6)
    qids = [f"q{n}" for n in range(QUERIES)]
    docnos = [f"DOC-{n:05}" for n in range(DOCUMENTS)]
    table = pa.table(
        {
            "qid": np.repeat(qids, DOCUMENTS), "docno": np.tile(docnos, QUERIES),
            "score": scores.reshape(-1),
        }
    )  # fmt: skip
    parquet.write_table(table, folder / "x.parquet")
    feather.write_feather(table, folder / "x.arrow", compression="zstd")
    csv.write_csv(table, folder / "x.csv")
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    lines = [(f"{q} Q0 {d} 1 {s:.6f} a\n", f'{{"qid":"{q}","docno":"{d}","score":{s}}}\n')
             for q, d, s in rows]  # fmt: skip
    for name, place in (("x.run", 0), ("x.jsonl", 1)):
        (folder / name).write_text("".join(line[place] for line in lines), encoding="ascii")
    (folder / "x.letor").write_text(
        "".join(f"1 qid:{q} 1:0.5\n" for q in qids[:2] for _ in docnos), encoding="ascii"
    )
    numbers = draw.integers(0, 99, NUMBERS).astype(float)
    np.save(folder / "x.npy", numbers)
    arrays = {"qids": np.array(qids), "n": np.full(QUERIES, DOCUMENTS), "scores": numbers}
    np.savez(folder / "x.npz", **arrays)
    np.savez_compressed(folder / "packed.npz", **arrays)
    return folder


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="asks Linux for its memory")
@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("x.npy", "npy"), ("x.npz", "batch"), ("packed.npz", "batch"), ("x.parquet", "table"),
        ("x.arrow", "table"), ("x.csv", "table"), ("x.jsonl", "jsonl"), ("x.run", "trec"),
    ],
)  # fmt: skip
def test_a_shortage_is_no_damage(files: Path, root: Path, name: str, format: str) -> None:
    judged = str(files / "x.letor") if format in ("npy", "batch") else ""
    words = [str(files / name), format, judged, str(MOST << 20), str(LIMITS)]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *words], cwd=root, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    right, *outcomes = done.stdout.splitlines()
    if judged:
        assert right.startswith(f"InputError: {files / name}: ")
    else:
        assert float(right) > 90_000  # the sum of 200,000 numbers from 0 to 1
    assert {*outcomes} == {"not enough memory", "right"}
    assert len(outcomes) == LIMITS
    assert outcomes[0] != "right"
    assert outcomes[-1] == "right"


def arrow_asks_for(size: str, tmp_path: Path) -> None:
    path = tmp_path / "x.arrow"
    path.write_bytes(b"ARROW1" + bytes(1000))

    def read() -> None:
        raise pa.lib.ArrowMemoryError(f"malloc of size {size} failed")

    binary_table._or_refused(Source(path), read)


def test_what_no_file_of_its_size_needs_is_damage(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read as a table .malloc of size 9{18} failed"):
        arrow_asks_for("9" * 18, tmp_path)
    with pytest.raises(MemoryError):
        arrow_asks_for("60000000", tmp_path)


def test_nested_signs_in_a_header_are_no_shortage() -> None:
    """Python's parser has a stack of its own, whose end is a MemoryError too."""
    header = b"-" * 9000 + b"1\n"
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with pytest.raises(MemoryError):
        compile(header, "", "eval")
    with pytest.raises(NoArrayError):
        array_of(data)
