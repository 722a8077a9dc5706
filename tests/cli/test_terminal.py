"""What a terminal gets: tables as wide as it is, and no control characters of names."""

import json
import os
import pty
import re
import sys
from pathlib import Path

import pytest
from command_line import called, succeeds

WIDTH = 60
METRICS = "[map, ndcg@3, ndcg@5, P@1, P@2, recip_rank, bpref, Rprec]"
CURSOR = "\x1b[2J"


def on_terminal(*words: str, cwd: Path) -> str:
    """Output of a command on a terminal of `WIDTH` columns."""
    child, screen = pty.fork()
    if not child:
        os.chdir(cwd)
        os.environ |= {"COLUMNS": str(WIDTH), "PYTHONWARNINGS": "ignore"}
        os.execv(sys.executable, [sys.executable, "-m", "harness", *words])
    pieces = []
    while True:
        try:
            piece = os.read(screen, 1 << 16)
        except OSError:  # how Linux tells that the program has ended
            break
        if not piece:
            break
        pieces.append(piece)
    os.waitpid(child, 0)
    return b"".join(pieces).decode().replace("\r\n", "\n")


def write_inputs(folder: Path, qid: str = "7") -> None:
    (folder / "q.txt").write_text(
        "".join(f"{q} 0 d{n} {n % 3}\n" for q in (10, qid, 2) for n in range(5))
    )
    for place, run in enumerate("abc"):
        rows = [
            f"{q} Q0 d{(n * (place + 1)) % 5} {n} {9 - n} t\n"
            for q in (2, qid, 10)
            for n in range(5)
        ]
        (folder / f"{run}.run").write_text("".join(dict.fromkeys(rows)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminal")
    write_inputs(folder)
    (folder / "c.yaml").write_text(
        f"output: out\ndatasets: {{d: {{path: q.txt}}}}\nmetrics: {METRICS}\n"
        "runs: {'{run}': {path: '{run}.run'}}\ncompare: {baseline: a}\n"
        "gate: {baseline: a, rules: {map: {margin: .5}, P@1: {margin: .5}, P@2: {margin: .5}}}\n"
    )
    succeeds("run", "c.yaml", cwd=folder)
    datasets = "a long name of a dataset", "web=1", "d"
    names = {"a run with a longer name than all others": "a", "b": "b"}
    runs = {n: [{"dataset": d, "path": f"{r}.run"} for d in datasets] for n, r in names.items()}
    content = {"output": "many", "datasets": dict.fromkeys(datasets, "q.txt"), "runs": runs}
    (folder / "many.yaml").write_text(json.dumps({**content, "metrics": METRICS[1:-1].split(", ")}))
    succeeds("run", "many.yaml", cwd=folder)
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("table", "out", "-f", "text"), ("gate", "c.yaml"),
        ("gate", "out", "out", "--margin", ".1"),
        ("evaluate", "q.txt", "a.run", "b.run", "-m", "map", "-m", "ndcg@3", "-m", "ndcg@5"),
        ("similarity", "out", "--metrics"),
        ("trace", "out", "--run", "a", "-m", "ndcg@3", "--query", "10"),
        ("trace", "out", "--run", "a", "-m", "map", "--full"),
        ("conventions", "out"), ("conventions", "out", "--details"),
        ("conventions", "out", "--match", ".5", "--details", "-m", "P@2"),
        ("conventions", "out", "--match", ".5", "-m", "ndcg@3"),
        ("table", "many", "-f", "text"), ("gate", "many", "many", "--margin", ".1"),
        ("compare", "a.run", "b.run", "c.run", "--qrels", "q.txt", "-m", "map", "-m", "P@2"),
    ],
    ids=lambda words: "-".join(words[:2]),
)  # fmt: skip
def test_columns_that_do_not_fit_go_below(folder: Path, words: tuple[str, ...]) -> None:
    printed = re.sub(r"\x1b\[\d+m", "", on_terminal(*words, cwd=folder))
    assert "error:" not in printed
    # a word that is longer than a line, such as a path to copy, is left to the terminal
    lines = [line.strip() for line in printed.splitlines() if len(line) > WIDTH]
    assert [line for line in lines if " " in line] == []


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "q.txt", "a.run", "-m", "map", "-q", "-f", "csv"),
        ("evaluate", "q.txt", "a.run", "-m", "map", "-q"),
        ("trec_eval", "-q", "-m", "map", "q.txt", "a.run"),
    ],
)
def test_a_name_cannot_move_the_cursor(tmp_path: Path, words: tuple[str, ...]) -> None:
    write_inputs(tmp_path, f"é{CURSOR}\t"[:-1])
    printed = on_terminal(*words, cwd=tmp_path)
    assert "\x1b" not in printed
    assert "é\\x1b[2J" in printed
    if "-f" in words or words[0] == "trec_eval":
        assert CURSOR in succeeds(*words, cwd=tmp_path)  # a pipe gets the bytes


def test_verdicts_have_colours_on_a_terminal_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("check", "q.txt", "a.run", "no.run")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[31mERROR\x1b[0m  no.run" in on_terminal(*words, cwd=folder)
    assert "\x1b" not in called(*words, cwd=folder).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[31mERROR" in called(*words, cwd=folder).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in on_terminal(*words, cwd=folder)


def test_the_option_color(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("evaluate", "q.txt", "a.run", "b.run", "-m", "map")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    plain = called(*words, cwd=folder).out
    coloured = called("--color", "always", *words, cwd=folder).out
    assert re.search(r"\x1b\[1m0\.\d{4}\^\x1b\[0m\n", coloured)
    assert re.search(r"\n  \x1b\[2m\^ marks .*\x1b\[0m\n", coloured)
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert called(*words, "--color=always", cwd=folder).out == coloured
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert called(*words, cwd=folder).out == coloured
    assert called(*words, "--color", "never", cwd=folder).out == plain
    for format in ("csv", "json", "jsonl"):
        assert "\x1b" not in called(*words, "-f", format, cwd=folder).out
    done = called("--color", "always", "trec_eval", "q.txt", "no.run", cwd=folder)
    assert "\x1b" not in done.out + done.err


def test_the_next_commands_of_a_run_work(folder: Path) -> None:
    for config in ("c.yaml", "p.yaml"):
        if config == "p.yaml":
            text = (folder / "c.yaml").read_text(encoding="utf-8") + "\nreports: [csv, page]\n"
            (folder / config).write_text(
                text.replace("output: out", "output: paged"), encoding="utf-8"
            )
        last = succeeds("run", config, cwd=folder).rpartition("\n\n")[2].splitlines()
        opened = [line.removeprefix("open ") for line in last if line.startswith("open ")]
        assert all((folder / page).is_file() for page in opened)
        commands = [
            line.partition("harness ")[2].partition("#")[0].split()
            for line in last
            if "harness " in line
        ]
        assert len(commands) == 2
        for command in commands:
            succeeds(*command, cwd=folder)
    assert opened
