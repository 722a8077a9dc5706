"""Limits: memory of the machine and of its container, endless streams, and remote paths."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from command_line import refused as refused_by_command
from outcomes import refused
from refusals import refuses

import harness
from harness import readers
from harness.config import load as config
from harness.errors import ConfigError
from harness.readers import memory_limit, source

GB = 1 << 30


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of control groups, on a machine with 8 GB of free memory."""
    (tmp_path / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {8 * GB >> 10} kB\n")
    monkeypatch.setattr(memory_limit, "MEMORY", str(tmp_path / "meminfo"))
    monkeypatch.setattr(memory_limit, "GROUPS", str(tmp_path / "cgroup"))
    monkeypatch.setattr(memory_limit, "MOUNTED", tmp_path / "fs")
    return tmp_path


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


@pytest.mark.parametrize("place", ["a/b", "a", "."])
def test_the_limit_of_a_container_of_version_2(groups: Path, place: str) -> None:
    (groups / "cgroup").write_text("0::/a/b\n")
    write(groups / "fs" / "a" / "b", memory__max="max\n", memory__current="5\n")
    assert memory_limit.free_memory() == 8 * GB
    stat = f"anon 7\ninactive_file {GB >> 1}\n"
    limits = {"memory__max": f"{2 * GB}\n", "memory__current": f"{GB}\n", "memory__stat": stat}
    write(groups / "fs" / place, **limits)
    assert memory_limit.free_memory() == GB + (GB >> 1)


@pytest.mark.parametrize("place", ["docker/7f", "."])
def test_the_limit_of_a_container_of_version_1(groups: Path, place: str) -> None:
    (groups / "cgroup").write_text("5:cpu,cpuacct:/x\n4:memory:/docker/7f\n0::/\n")
    limits = {
        "memory__limit_in_bytes": f"{3 * GB}\n", "memory__usage_in_bytes": f"{GB}\n",
        "memory__stat": f"inactive_file 1\ntotal_inactive_file {GB}\n",
    }  # fmt: skip
    write(groups / "fs" / "memory" / place, **limits)
    assert memory_limit.free_memory() == 3 * GB
    write(groups / "fs" / "memory" / place, memory__limit_in_bytes="9223372036854771712\n")
    assert memory_limit.free_memory() == 8 * GB


def test_a_small_file_that_unpacks_too_far_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_limit, "free_memory", lambda: GB >> 3)
    n = 15_000_000
    piece = pa.table({"qid": pa.array(["7"] * (1 << 20)), "score": np.zeros(1 << 20)})
    with parquet.ParquetWriter(tmp_path / "a.parquet", piece.schema) as file:
        for _ in range(n >> 20):
            file.write_table(piece)
    read = {"rows": 0}

    def counted(self: object, *_: object, **__: object) -> object:
        read["rows"] += 1
        return iter(())

    names = {"qid": "qid", "score": "score"}
    monkeypatch.setattr("pyarrow.parquet.ParquetFile.iter_batches", counted)
    path = str(tmp_path / "a.parquet")
    assert os.path.getsize(path) < 1 << 20
    assert refused(readers.read_run, path, columns=names) == [(path, "unpacks-too-far")]
    assert read["rows"] <= 1  # to see what the columns hold


def test_json_that_would_not_fit_as_python_objects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "q.json"
    path.write_text(json.dumps({str(qid): {str(7 * qid): 1} for qid in range(9_000)}))
    monkeypatch.setattr(memory_limit, "_HARMLESS", 0)
    monkeypatch.setattr(memory_limit, "free_memory", lambda: 12 * path.stat().st_size)
    assert refused(readers.read_qrels, path) == [(str(path), "unpacks-too-far")]
    monkeypatch.setattr(memory_limit, "free_memory", lambda: 30 * path.stat().st_size)
    assert len(readers.read_qrels(path).to_dict()) == 9_000


def links(folder: Path) -> list[str]:
    """Targets of the links of a folder, without links that go while it is read."""
    targets = []
    for link in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            targets.append(os.readlink(link))
    return targets


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep the file's name")
@pytest.mark.parametrize("ending", [signal.SIGKILL, None])
def test_nothing_of_standard_input_is_left(tmp_path: Path, ending: signal.Signals | None) -> None:
    (tmp_path / "q").write_text("10 0 a 1\n2 0 b 1\n")
    words = [sys.executable, "-m", "harness", "evaluate", "q", "-", "-m", "map"]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write("10 Q0 a 1 2 t\n" + "2 Q0 x 1 2 t\n" * (ending is None))
    process.stdin.flush()
    if ending is None:
        out, _ = process.communicate()
        assert "0.5000" in out
    else:
        opened = Path(f"/proc/{process.pid}/fd")
        until = time.monotonic() + 30
        while not any("harness-" in link for link in links(opened)):
            assert time.monotonic() < until
            time.sleep(0.02)
        process.send_signal(ending)
        process.communicate()
    assert [one.name for one in tmp_path.iterdir()] == ["q"]


def test_streams_without_an_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with refuses("/dev/zero"):
        readers.read_run("/dev/zero")
    monkeypatch.setattr(source, "_LONGEST_STREAM", 3 * source.BLOCK)
    monkeypatch.setattr(source, "_SPOOLED", {})
    lines = "import os\nwhile True: os.write(1, b'10 Q0 a 1 2 t\\n' * 1000)"
    read, end = os.pipe()
    with subprocess.Popen([sys.executable, "-c", lines], stdout=end, stderr=subprocess.DEVNULL):
        os.close(end)
        try:
            with refuses(f"/dev/fd/{read}", "unpacks-too-far"):
                readers.read_run(f"/dev/fd/{read}")
        finally:
            os.close(read)
    assert not source._SPOOLED


URLS = ["foo://bucket/x.run", "foo+bar://h:80/r"]  # of stores that nothing opens


@pytest.mark.parametrize("url", URLS)
def test_remote_paths_are_reported_as_they_were_written(tmp_path: Path, url: str) -> None:
    (tmp_path / "q").write_text("10 0 a 1\n")
    for read in (readers.read_run, readers.read_qrels, harness.read_qrels):
        with refuses(url):
            read(url)
    with refuses(url):
        harness.evaluate(tmp_path / "q", Path(url), ["map"])
    text = f"output: o\ndatasets: {{d: {{path: '{url}'}}}}\nruns: {{r: {{path: '{url}'}}}}\n"
    with pytest.raises(ConfigError) as caught:
        config.loads(text + "metrics: [map]\n", "c.yaml", tmp_path)
    assert [url in one.what for one in caught.value.problems] == [True, True]
    for words in (
        ("run", url), ("table", url), ("evaluate", "q", url, "-m", "map"),
        ("compare", "q", url, "--qrels", "q", "-m", "map"),
        ("evaluate", "q", "q", "-m", "map", "--groups", url),
    ):  # fmt: skip
        assert url in refused_by_command(*words, cwd=tmp_path)


def test_a_folder_with_a_colon_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s3:/b").mkdir(parents=True)
    Path("s3:/b/q").write_text("10 0 a 1\n")
    assert readers.read_qrels("s3:/b/q").to_dict() == {"10": {"a": 1}}
    with refuses("", "missing-file"):
        readers.read_qrels("C:/q")
