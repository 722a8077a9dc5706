"""Names of files that would do something else than be shown."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from command_line import called
from test_escaping import NASTY

from harness.config import sweep
from harness.config.init import propose_config
from harness.config.load import loads
from harness.errors import HarnessWarning

NAMES = [
    *(name.replace("/", "_").lstrip(".")[:200] for name in NASTY),  # not hidden
    *(
        "{model}",
        "{{x}}",
        "a{",
        "b}",
        "$HOME",
        "${HOME}",
        "$$",
        "~",
        "~root",
        "[0]*?",
        "back\\slash",
    ),
    *("-x", "- d", " lead", "trail ", "#c", "a: b", "null", "yes", "1e3", "0x1", "'q'", "!tag"),
    *("*star", "&amp;", "%41", "\x7f", "\x85nel", "\u2028line", "\ufffe", "\U0001f600"),
]
RUN = "1 Q0 d1 1 2.5 t\n1 Q0 d0 2 1.5 t\n2 Q0 d1 1 2.5 t\n2 Q0 d0 2 1.5 t\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Judgements and runs, each in a folder of a name of its own kind too."""
    (tmp_path / "$qrels~.txt").write_text("1 0 d0 1\n1 0 d1 0\n2 0 d1 1\n")
    for at, name in enumerate(NAMES):
        below = tmp_path / name if at % 4 == 0 else tmp_path
        try:
            below.mkdir(exist_ok=True)
            (below / f"{name}.run").write_text(RUN)
        except OSError:
            pytest.skip("a file system that refuses some of these names")
    return tmp_path


def test_a_config_of_init_names_these_very_files(folder: Path) -> None:
    with pytest.warns(HarnessWarning, match="look the same"):
        config = loads(propose_config(folder, folder), "c.yaml", folder)
    cells = sweep.resolve(config)
    runs = {Path(folder, cell.run_entry.path) for cell in cells}
    assert runs == {*folder.rglob("*.run")}
    assert {Path(folder, cell.dataset_entry.path) for cell in cells} == {folder / "$qrels~.txt"}


def test_commands_show_them_on_one_line(tmp_path: Path) -> None:
    (tmp_path / "q\x1b\n.txt").write_text("1 0 d0 1\n1 0 d1 0\n2 0 d1 1\n")
    names = ["\x1b[31mred\x07\r\n\tx.run", "\u202eevil\ufeff\u200b\x9b.run"]
    for name in names:
        (tmp_path / name).write_text(RUN.replace("1.5", "3.5"))  # ranks that are not the scores'
    for words in (
        ["evaluate", "q\x1b\n.txt", *names, "-m", "map"],
        ["compare", *names, "--qrels", "q\x1b\n.txt", "-m", "map"],
        ["explain", "0.5", "q\x1b\n.txt", names[0], "-m", "map", "-k", "1", "--depth", "0"],
        ["annotate", *names, "--set", "actor.name=\x1b\n", "-o", "new\x1b\n"],
        ["check", "q\x1b\n.txt", *names],
    ):
        code, out, err = called(*words, cwd=tmp_path)
        assert code in (0, 1), err
        assert not set(out + err) & set("\x1b\x07\u202e\ufeff\x9b\r\t")
        assert not [line for line in (out + err).splitlines() if line.startswith((r"\tx", ".txt"))]


def test_metadata_reads_back_and_stays_in_its_comment(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text(RUN)
    given = [f"{place}.x={name}" for place, name in enumerate(NASTY)]
    words = [word for one in given for word in ("--set", one)]
    code, out, err = called("annotate", "a.run", *words, "-o", "b.run", cwd=tmp_path)
    assert (code, err, out.count("\n")) == (0, "", 1)
    lines = (tmp_path / "b.run").read_bytes().decode().split("\n")
    assert [line for line in lines if line[:1] != "#"] == RUN.split("\n")
    read = yaml.safe_load("\n".join(line[2:] for line in lines[1:] if line[:1] == "#")[:-15])
    assert read.pop("tag") == "t"
    assert [value["x"] for value in read.values()] == NASTY
