"""Files at URLs, in every place that takes a path, from moto's S3 server on this machine.

Without moto and s3fs, the tests of S3 are skipped; the others read ``file://`` in the same way.
"""

import contextlib
import functools
import gzip
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from command_line import called, refused, started, succeeds
from refusals import refuses

import harness
from harness.config.load import load
from harness.errors import ConfigError, HarnessError
from harness.readers import remote

fsspec = pytest.importorskip("fsspec")

QRELS = "10 0 b 2\n10 0 a 0\n2 0 MED-7 1\n1 0 z 1\n"
SECONDS = {"AWS_MAX_ATTEMPTS": "1", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


def run_text(score: float) -> str:
    """Run with this score of a document that is not judged."""
    first = sorted([(score, "x"), (1, "MED-7")], reverse=True)
    lines = [f"2 Q0 {docno} {rank} {value} t\n" for rank, (value, docno) in enumerate(first, 1)]
    return "".join([*lines, f"10 Q0 b 1 {score} t\n1 Q0 z 1 1 t\n"])


FILES = {
    "q": QRELS.encode(),
    "groups.csv": b"qid,kind\n10,a=b\n2,c\n1,a=b\n",
    "weights.csv": b"qid,visits\n2,1\n10,0.25\n1,7\n",
    "tfidf.run.gz": gzip.compress(run_text(0.5).encode()),
    "runs/bm25-s1.run": run_text(2.5).encode(),
    "runs/bm25-s2.run": run_text(0.25).encode(),
    "runs/bm25-s10.run": run_text(0.75).encode(),
    "runs/x=y-s1.run": run_text(0.375).encode(),
    "runs/x=y-s2.run": run_text(3).encode(),
    "runs/x=y-s10.run": run_text(4).encode(),
    "runs/.hidden-s3.run": b"",
    "f1/q.txt": QRELS.encode(),
    "f1/dense.run": run_text(2).encode(),
    "f2/q.txt": re.sub("(?m)^(?=.)", "3", QRELS).encode(),
    "f2/dense.run": re.sub("(?m)^(?=.)", "3", run_text(0.125)).encode(),
}
CONFIG = """
datasets: {d: {path: "ROOT/q", groups: "ROOT/groups.csv"}, "f{fold}": "ROOT/f{fold}/q.txt"}
runs:
  "{model}": {dataset: d, path: "ROOT/runs/{model}-s{seed}.run"}
  dense: "ROOT/f{fold}/dense.run"
  tfidf: {dataset: d, path: "ROOT/tfidf.run.gz"}
metrics: [map, ndcg@10, recip_rank]
output: OUTPUT
"""


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of an S3 server."""
    pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    number = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(number)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", number), 1):
                break
            assert server.poll() is None
            assert time.monotonic() < until
            time.sleep(0.1)
        yield number
    finally:
        server.terminate()
        server.wait()


def connect(monkeypatch: pytest.MonkeyPatch, port: int) -> Any:
    """Let S3 be at a port of this machine, for this process and those that it starts."""
    settings = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1", **SECONDS,
    }  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    system = fsspec.get_filesystem_class("s3")
    monkeypatch.setattr(system, "retries", 1, raising=False)
    system.clear_instance_cache()
    remote._copied.cache_clear()
    return fsspec.filesystem("s3")


@pytest.fixture
def s3(port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The file system of an S3 server with `FILES` in the bucket ``data``."""
    system = connect(monkeypatch, port)
    for bucket in ("data", "out"):
        system.mkdir(bucket)
    for name, content in FILES.items():
        system.pipe_file(f"data/{name}", content)
    yield system
    system = connect(monkeypatch, port)
    for bucket in ("data", "out"):
        system.rm(bucket, recursive=True)
    type(system).clear_instance_cache()


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """The same files on this machine."""
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.fixture(params=["file", "s3"])
def root(request: pytest.FixtureRequest, local: Path) -> str:
    """The URL of the folder of `FILES`."""
    if request.param == "file":
        return f"file://{local}"
    request.getfixturevalue("s3")
    return "s3://data"


def test_commands_and_python_read_the_same_as_from_the_disk(root: str, local: Path) -> None:
    words = "-m", "map", "-m", "ndcg@10", "-q"
    names = "q", "runs/bm25-s2.run", "tfidf.run.gz"
    here = succeeds("evaluate", *names, *words, "--groups", "groups.csv", cwd=local)
    there = [f"{root}/{name}" for name in names]
    assert succeeds("evaluate", *there, *words, "--groups", f"{root}/groups.csv") == here
    weighted = succeeds("evaluate", *names[:2], *words, "--weights", "weights.csv", cwd=local)
    assert weighted != succeeds("evaluate", *names[:2], *words, cwd=local)
    more = "--weights", f"{root}/weights.csv:visits"
    assert succeeds("evaluate", *there[:2], *words, *more) == weighted
    assert called("check", *there).code == called("check", *names, cwd=local).code
    compared = "compare", *names[1:], "--qrels", "q", *words[:4]
    at_urls = "compare", *there[1:], "--qrels", there[0], *words[:4]
    assert succeeds(*at_urls) == succeeds(*compared, cwd=local)
    values = harness.evaluate(there[0], there[1], ["map"]).to_dict()
    assert values == harness.evaluate(local / "q", local / names[1], ["map"]).to_dict()
    assert values["2"]["map"] == 1.0
    run, qrels = harness.read_run(there[2]), harness.read_qrels(there[0])
    assert (run.to_dict()["2"], qrels.to_dict()["10"]) == ({"x": 0.5, "MED-7": 1}, {"b": 2, "a": 0})


def config_at(folder: Path, root: str, output: str, more: str = "") -> Path:
    path = folder / "c.yaml"
    path.write_text(CONFIG.replace("ROOT", root).replace("OUTPUT", output) + more)
    return path


def test_a_config_reads_patterns_and_writes_results_anywhere(root: str, local: Path) -> None:
    here = harness.run(config_at(local, ".", "here"))
    output = "s3://out/a/{name}" if root.startswith("s3") else f"{root}/there/{{name}}"
    path, url = config_at(local, root, output), output.replace("{name}", "c")
    results = harness.run(path)
    assert len(results.cells.entries) == 9
    assert f"in {url}>" in repr(results)
    names = ["leaderboard.csv", "per_query.parquet", "leaderboard_cells.csv"]
    for name in names:
        assert remote.read(f"{url}/{name}") == (here.folder / name).read_bytes(), name
    manifest = json.loads(remote.read(f"{url}/manifest.json"))
    hashes = {one["path"].removeprefix(f"{root}/"): one["sha256"] for one in manifest["inputs"]}
    local_manifest = json.loads((here.folder / "manifest.json").read_bytes())
    assert hashes == {one["path"]: one["sha256"] for one in local_manifest["inputs"]}
    assert all(one["path"].startswith(f"{root}/") for one in manifest["inputs"])
    assert manifest["base"] == "."
    assert harness.run(path).cached == 9
    assert "verified: " in " ".join(succeeds("verify", url).split())
    table = succeeds("table", here.folder)
    assert succeeds("table", url) == table
    done = started("run", str(path), "--jobs", "2", "--set", "cache=none", cwd=local)
    assert (done.returncode, done.stderr) == (0, done.stderr)
    assert f"written to {url}: " in " ".join(done.stdout.split())
    assert json.loads(remote.read(f"{url}/timing.json"))["from_cache"] == 0


def test_files_that_others_wrote_are_kept(root: str, local: Path) -> None:
    output = "s3://out/b" if root.startswith("s3") else f"{root}/b"
    path = config_at(local, root, output)
    remote.write(f"{output}/leaderboard.csv", b"mine")
    with refuses(output):
        harness.run(path)
    assert remote.read(f"{output}/leaderboard.csv") == b"mine"
    harness.run(path, force=True)
    harness.run(path, overrides=["reports=[csv, markdown]"])
    assert remote.exists(f"{output}/leaderboard.md")
    harness.run(path)  # which removes what it does not write
    assert not remote.exists(f"{output}/leaderboard.md")
    remote.write(f"{output}/leaderboard.csv", b"edited")
    with refuses(output):
        harness.run(path)


def test_an_input_is_never_written(root: str, local: Path) -> None:
    text = config_at(local, root, f"{root}/f9").read_text()
    remote.write(f"{root}/f9/leaderboard.csv", FILES["tfidf.run.gz"])
    path = local / "c.yaml"
    path.write_text(text.replace("tfidf.run.gz", "f9/leaderboard.csv"))
    with refuses("f9/leaderboard.csv"):
        harness.run(path, force=True)
    assert remote.read(f"{root}/f9/leaderboard.csv") == FILES["tfidf.run.gz"]


def test_runs_and_tables_are_written_to_urls(root: str, local: Path) -> None:
    output = "s3://out/c" if root.startswith("s3") else f"{root}/new/c"
    harness.save_predictions(f"{output}/copy.run", [0.25, 2, 1], ["10", "2", "10"])
    expected = {"10": {"d0": 0.25, "d1": 1}, "2": {"d0": 2}}
    assert harness.read_run(f"{output}/copy.run").to_dict() == expected
    results = harness.run(config_at(local, ".", "here"))
    succeeds("page", results.folder, "-o", f"{output}/page.html")
    assert b"<html" in remote.read(f"{output}/page.html")


def test_changed_objects_are_read_again(s3: Any, local: Path) -> None:
    """The hash of the content decides, whatever the name and the time are."""
    path = config_at(local, "s3://data", "s3://out/d")
    first = harness.run(path)
    s3.pipe_file("data/runs/x=y-s2.run", run_text(0.001).encode())
    s3.pipe_file("data/q", FILES["q"])
    done = called("verify", "s3://out/d")
    assert (done.code, "s3://data/runs/x=y-s2.run" in done.out) == (1, True)
    second = harness.run(path)
    assert (first.cached, second.cached) == (0, 8)
    assert first.board.entries != second.board.entries
    assert "verified: " in " ".join(succeeds("verify", "s3://out/d").split())


def test_what_the_cache_has_is_not_fetched(s3: Any, local: Path, port: int) -> None:
    path = config_at(local, "s3://data", str(local / "here"))
    harness.run(path)
    fetched = list[str]()

    class Watched(remote._Copy):
        def __init__(self, url: str, size: int | None) -> None:
            fetched.append(url)
            super().__init__(url, size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote, "_Copy", Watched)
        remote._copied.cache_clear()
        assert harness.run(path).cached == 9
    assert {*fetched} == {"s3://data/groups.csv"}


def test_copies_are_deleted(root: str, local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(local / "runs"))
    names = sorted(os.listdir(local / "runs"))
    for _ in range(20):
        harness.read_run(f"{root}/tfidf.run.gz")
    assert sorted(os.listdir(local / "runs")) == names
    opened = Path("/proc/self/fd").glob("*")
    copies = [path for path in opened if "harness-" in os.path.realpath(path)]
    assert len(copies) <= remote._KEPT
    remote._copied.cache_clear()


def test_results_are_read_without_their_inputs(
    s3: Any, local: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.run(config_at(local, "s3://data", str(local / "here")))
    connect(monkeypatch, free_port())
    succeeds("table", local / "here")
    assert "EndpointConnectionError" in refused("verify", local / "here")


@pytest.mark.parametrize("name", ["q2", "runs", "nothing/q"])
def test_missing_files(root: str, local: Path, name: str) -> None:
    where = f"{root}/{name}" if name == "runs" else ""
    with refuses(where, "missing-file") as caught:
        harness.read_qrels(f"{root}/{name}")
    assert f"{root}/{name}" in str(caught.value)
    with refuses(where, "missing-file"):
        harness.evaluate(local / "q", f"{root}/{name}", ["map"])
    assert f"{root}/{name}" in refused("evaluate", "q", f"{root}/{name}", "-m", "map", cwd=local)
    text = config_at(local, root, "o").read_text()
    for old in ('/q"', '/groups.csv"', '/tfidf.run.gz"'):
        with pytest.raises(ConfigError) as found:
            harness.run(write(local, text.replace(old, f'/{name}"')))
        (problem,) = [one for one in found.value.problems if f"{root}/{name}" in one.what]
        assert problem.where
    with pytest.raises(ConfigError) as found:
        harness.run(write(local, text.replace("{model}-s", "{model}-t")))
    assert "runs/{model}-t{seed}.run" in found.value.problems[0].what
    assert "bm25-s1.run" in found.value.problems[0].what


@pytest.fixture
def web(local: Path) -> Iterator[str]:
    """The address of a server of `FILES`."""
    pytest.importorskip("aiohttp")
    handler = functools.partial(QuietHandler, directory=str(local))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def test_files_on_a_server(web: str, local: Path) -> None:
    words = "-m", "map", "-m", "ndcg@10", "-q"
    here = succeeds("evaluate", "q", "tfidf.run.gz", *words, cwd=local)
    assert succeeds("evaluate", f"{web}/q", f"{web}/tfidf.run.gz", *words) == here
    results = harness.run(config_at(local, web, "here"))
    table = harness.run(config_at(local, ".", "there")).folder / "leaderboard.csv"
    assert (results.folder / "leaderboard.csv").read_bytes() == table.read_bytes()
    assert "verified: " in " ".join(succeeds("verify", results.folder).split())
    with refuses("", "missing-file") as caught:
        harness.read_qrels(f"{web}/f3/q.txt")
    assert caught.value.problems[0].what == f"no file {web}/f3/q.txt"
    with refuses(f"{web}/o/.lock") as caught:
        harness.run(config_at(local, web, f"{web}/o"))
    assert "a bucket" in caught.value.problems[0].fix


def test_urls_alone_are_taken_for_files(local: Path) -> None:
    url = f"file://{local}/q"
    done = called("compare", url, url, "-m", "map")
    assert done.code != 0
    assert "a URL" not in done.out + done.err


def write(folder: Path, text: str) -> Path:
    (folder / "c.yaml").write_text(text)
    return folder / "c.yaml"


def test_wrong_and_absent_credentials(
    s3: Any, port: int, local: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def authorise_after(n: str) -> None:
        url = f"http://127.0.0.1:{port}/moto-api/reset-auth"
        asked = urllib.request.Request(url, n.encode(), {"Content-Type": "text/plain"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked):
            pass

    path = config_at(local, "s3://data", "here")
    results = config_at(local / "f1", str(local), "s3://out/e")
    authorise_after("0")
    try:
        connect(monkeypatch, port)
        for call in (
            lambda: harness.read_qrels("s3://data/q"),
            lambda: harness.evaluate(local / "q", "s3://data/tfidf.run.gz", ["map"]),
            lambda: harness.run(results),
        ):
            with pytest.raises(HarnessError) as caught:
                call()
            assert caught.value.problems[0].what.startswith("access denied: ")
            assert "AWS_PROFILE" in caught.value.problems[0].fix
        with pytest.raises(ConfigError) as found:
            harness.run(path)
        assert "access denied" in found.value.problems[0].what
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(name)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        monkeypatch.setenv("HOME", str(local))
        type(s3).clear_instance_cache()
        assert "AWS_PROFILE" in refused("evaluate", "s3://data/q", "q", "-m", "map", cwd=local)
    finally:
        authorise_after("inf")


def test_without_a_bucket_nothing_is_evaluated(s3: Any, local: Path) -> None:
    with refuses("s3://nobucket/.lock"):
        harness.run(config_at(local, "s3://data", "s3://nobucket"))
    with refuses("", "missing-file") as caught:
        harness.read_run("s3://nobucket")
    assert caught.value.problems[0].what == "no file s3://nobucket"


@contextlib.contextmanager
def cutting(port: int, after: int) -> Iterator[int]:
    """Port of a proxy that ends each answer to a GET `after` some bytes."""
    proxy = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = proxy.accept()
            except OSError:
                return
            threading.Thread(target=pass_on, args=(client,), daemon=True).start()

    def pass_on(client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", port)) as server:
            asked = client.recv(1 << 16)
            server.sendall(asked.replace(b"Connection: keep-alive", b"Connection: close"))
            server.settimeout(0.5)
            left = after if asked.startswith(b"GET") else 1 << 20
            with contextlib.suppress(OSError):
                while left > 0 and (piece := server.recv(left)):
                    client.sendall(piece)
                    left -= len(piece)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield proxy.getsockname()[1]
    finally:
        proxy.close()


def test_a_cut_connection(s3: Any, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    s3.pipe_file("data/long.run", run_text(1).encode() * 10_000)
    with cutting(port, 5000) as number:
        connect(monkeypatch, number)
        with refuses("s3://data/long.run") as caught:
            harness.read_run("s3://data/long.run")
    assert "run again" in caught.value.problems[0].fix
    connect(monkeypatch, free_port())
    with refuses("s3://data/long.run") as caught:
        harness.read_run("s3://data/long.run")
    assert "cannot be read: EndpointConnectionError" in caught.value.problems[0].what


def test_a_file_that_ends_early(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = fsspec.filesystem("file")
    size = len(FILES["q"]) + 7
    info = {"size": size, "type": "file"}
    monkeypatch.setattr(type(system), "info", lambda *_, **__: info)
    with refuses(f"file://{local}/q", "truncated"):
        harness.read_qrels(f"file://{local}/q")


@pytest.mark.parametrize(
    ("url", "fix"),
    [
        ("foo://bucket/q", "copy it to this machine first"),
        ("http://127.0.0.1:9/q", ""),
        ("https://me:secret@example.org/q", "environment"),
        ("https://example.org/q?X-Amz-Signature=secret", "environment"),
    ],
)
def test_urls_that_are_refused(local: Path, url: str, fix: str) -> None:
    with pytest.raises(HarnessError) as caught:
        harness.read_qrels(url)
    assert fix in caught.value.problems[0].fix
    assert "secret" not in str(caught.value).replace("without secrets", "")
    assert called("evaluate", url, "q", "-m", "map", cwd=local).code == 2


@pytest.mark.parametrize(
    ("url", "module", "package"),
    [
        ("s3://b/q", "s3fs", "s3fs"),
        ("gs://b/q", "gcsfs", "gcsfs"),
        ("s3://b/q", "fsspec.core", "fsspec"),
        ("hf://datasets/a/b/q", "huggingface_hub", "huggingface_hub"),
    ],
)
def test_without_its_package_the_extra_is_named(
    local: Path, monkeypatch: pytest.MonkeyPatch, url: str, module: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    fsspec_registry = import_module("fsspec.registry")
    monkeypatch.setattr(fsspec_registry, "_registry", registered := dict[str, Any]())
    monkeypatch.setattr(fsspec_registry, "registry", registered)
    # an installed package has replaced fsspec's own words on how to install it
    known = fsspec_registry.known_implementations
    own = {**known["hf"], "err": "Install huggingface_hub to access HfFileSystem"}
    monkeypatch.setitem(known, "hf", own)
    with refuses(url) as caught:
        harness.read_qrels(url)
    assert caught.value.problems[0].fix == f"pip install {package} (the extra 'remote')"
    with pytest.raises(ConfigError) as found:
        load(write(local, f"datasets: {{d: '{url}'}}\nruns: {{r: q}}\nmetrics: [map]\n"))
    assert f"pip install {package}" in found.value.problems[0].what


@pytest.mark.parametrize(
    "line",
    ["plugins: ['file:///p.py']", "extends: file:///c.yaml", "page: {queries: 'file:///q.tsv'}"],
)
def test_configs_and_code_are_never_fetched(local: Path, line: str) -> None:
    text = f"datasets: {{d: q}}\nruns: {{r: tfidf.run.gz}}\nmetrics: [map]\n{line}\n"
    with pytest.raises(ConfigError) as caught:
        load(write(local, text))
    assert "file:///" in caught.value.problems[0].what
    with pytest.raises(ConfigError):
        harness.run("file:///c.yaml")
