"""harness init: harness run accepts what it writes, whatever files and folders are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.main import main
from harness.config.init import propose_config, save
from harness.errors import ConfigError, InputError
from harness.experiment import run as experiment

QRELS = "10 0 a 1\n10 0 b 0\n2 0 c 2\n2 0 d 0\n1 0 e 1\n"
RUN = "10 Q0 a 1 2.0 t\n10 Q0 b 2 1.0 t\n2 Q0 c 1 2.0 t\n1 Q0 e 2 1.0 t\n"
NAMES = [
    "on", "null", "1e5", "0x10", "1_000", "~", "yes", "12:30:00", "2024-01-01", "1.5", "0o7", "a b",
    " lead", "trail ", "ünï", "日本", "{model}", "{a", "a}", "{}", "{{x}}", "fold{fold}", "$", "$$",
    "${HOME}", "${x", "$${x}", "$x", "#c", "a #b", "a: b", "- x", "? x", "!!str", "&a", "*", "**",
    "@x", "`x`", "%x", "|", ">", "'", '"', "[a]", "[!a]", "a,b", "\\", "\t", "a\nb", "\x7f", "\x85",
    "\u2028", "\ufeff", "e\u0301", "<<", "---", "nan", "-1", "None", "dataset", "model", "fold",
    "FILL-IN", "x" * 150, "a?b", "qrels", "CON", "all", "10", "qid", "# not", "x: {",
]  # fmt: skip


def rows(n: int) -> str:
    return "".join(f"{row % 3} qid:{row // 2} 1:0.5 2:{row}\n" for row in range(n))


def scores(n: int) -> str:
    return "".join(f"{row / 7:.4f}\n" for row in range(n))


def layouts(a: str, b: str) -> dict[str, dict[str, str]]:
    """Return files by path for several folders in which `a` and `b` are names."""
    other = QRELS.replace("0 a", "0 z").replace("2 0", "3 0")
    other_run = RUN.replace("Q0 a", "Q0 z").replace("2 Q0", "3 Q0")
    first, second = QRELS, QRELS.replace("1 0", "7 0")
    return {
        "beside": {"qrels.txt": QRELS, f"{a}.run": RUN, f"{b}.run": RUN},
        "judgements": {f"{a}.qrels": QRELS, f"{b}.qrels": QRELS, "bm25.run": RUN},
        "datasets": {
            f"{a}/qrels.txt": QRELS, f"{a}/m.run": RUN, f"{b}/qrels.txt": other,
            f"{b}/m.run": other_run,
        },
        "folds": {
            f"data/{a}/fold{fold}/test.txt": rows(10 * fold) for fold in (1, 2)
        } | {
            f"{b}/{name}-fold{fold}.txt": scores(10 * fold) for fold in (1, 2) for name in (a, "x")
        },
        "one fold": {
            f"{a}/fold1/test.txt": rows(10), f"out/{b}-fold1.txt": scores(10),
            f"out/{a}x-fold1.txt": scores(10),
        },
        "numbers": {
            f"{a}1.qrels": first, f"{a}2.qrels": second, f"{b}/{a}1.run": RUN,
            f"{b}/{a}2.run": RUN.replace("1 Q0", "7 Q0"),
        },
        "alike": {"qrels.txt": QRELS, f"{a}/{b}.run": RUN, f"{b}/{a}.run": RUN},
        "strangers": {
            "qrels.txt": QRELS, f"{a}/a.run": RUN, f"{a}/b.run": RUN, f"{a}/c.run": "no run\n",
        },
    }  # fmt: skip


def uncommented(text: str, *keys: str) -> str:
    """Return a config with these of the keys that it has in comments."""
    return "\n".join(
        line[2:] if line.startswith(tuple(f"# {key}:" for key in keys)) else line
        for line in text.split("\n")
    )


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_accepted(name: str, tmp_path: Path) -> None:
    other = NAMES[(NAMES.index(name) + 7) % len(NAMES)]
    for at, (kind, files) in enumerate(layouts(name, other).items()):
        base = tmp_path / str(at) / name  # which names what nothing else does
        for path, text in files.items():
            (base / path).parent.mkdir(parents=True, exist_ok=True)
            (base / path).write_text(text, encoding="utf-8")
        printed = base.parent / "printed.yaml"
        printed.write_text(propose_config(base, base.parent), encoding="utf-8")
        saved = base / "configs" / f"{name}.yaml"
        save(base, saved)
        for path in (printed, saved):
            text = path.read_text(encoding="utf-8")
            assert "FILL-IN}" not in text, kind
            experiment.plan(path)
            for keys in (["where"], ["policy", "compare", "reports"]):
                path.write_text(uncommented(text, *keys), encoding="utf-8")
                experiment.plan(path)


def test_the_command_accepts_its_own_config(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in layouts("$$", "{}")["datasets"].items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    config = str(tmp_path / "a:b.yaml")
    for words in (["init", str(tmp_path), "-o", config], ["run", config, "--dry-run"]):
        with pytest.raises(SystemExit) as stopped:
            main(words)
        assert not stopped.value.code, capsys.readouterr().err


def test_nothing_is_written_that_would_be_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    (tmp_path / "m.run").write_text(RUN, encoding="utf-8")
    text = "datasets: {q: {path: qrels.txt}}\nruns: {m: {path: m.run}}\nmetrics: [mpa]\n"
    monkeypatch.setattr("harness.config.init.render", lambda *_: text)
    with pytest.raises(InputError, match="expected a config that harness run loads, got"):
        save(tmp_path, tmp_path / "c.yaml")
    assert not (tmp_path / "c.yaml").exists()
    with pytest.raises(ConfigError, match="is not UTF-8"):
        save(tmp_path, tmp_path / "a\udcff.yaml")
