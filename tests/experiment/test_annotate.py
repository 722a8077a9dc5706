"""harness annotate: metadata at the head of a copy, and the run as it was."""

from pathlib import Path
from typing import Any

import pytest
from command_line import called, refused
from refusals import refuses

from harness.errors import UnknownNameError
from harness.experiment.annotate import annotate
from harness.readers import ir_metadata, read_run
from harness.readers.source import Source

ROWS = "q1 Q0 a 1 3.5 mine\nq1 Q0 b 2 2.5 mine\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "one.run"
    path.write_text(ROWS, encoding="utf-8")
    return path


def header(path: Path) -> dict[str, Any] | None:
    return ir_metadata.header_of(Source(path))


def test_the_lines_stay_as_they_are(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "new/out.run"
    settings = ["actor.name=A. Author", "research goal.venue.year=2024", "data.x=[a, b]"]
    annotate([run], out, settings=settings)
    assert run.read_text(encoding="utf-8") == ROWS
    header = (
        "# ir_metadata.start\n# tag: mine\n# actor:\n#   name: A. Author\n# data:\n#   x:\n"
        "#   - a\n#   - b\n# research goal:\n#   venue:\n#     year: 2024\n# ir_metadata.end\n"
    )
    assert out.read_text(encoding="utf-8") == header + ROWS
    assert read_run(out).to_dict() == read_run(run).to_dict()
    assert [path.name for path in out.parent.iterdir()] == ["out.run"]


def test_what_is_said_already_stays_and_what_is_given_counts(run: Path, tmp_path: Path) -> None:
    one, two, template = tmp_path / "1.run", tmp_path / "2.run", tmp_path / "meta.yaml"
    annotate([run], one, settings=["tag=own", "actor={name: A, team: T}"])
    template.write_text("actor: {name: B, mail: m}\n", encoding="utf-8")
    annotate([one], two, template=template, settings=["actor.mail=n"])
    assert header(two) == {"tag": "own", "actor": {"name": "B", "team": "T", "mail": "n"}}
    assert two.read_text(encoding="utf-8").count("ir_metadata.start") == 1


def test_a_run_is_never_changed_and_a_file_not_overwritten(run: Path, tmp_path: Path) -> None:
    (tmp_path / "link.run").symlink_to(run)
    for path in (run, tmp_path / "link.run", tmp_path):  # a folder: the run's own
        with refuses("link.run" if path.name == "link.run" else "one.run"):
            annotate([run], path, force=True)
    out = tmp_path / "out.run"
    out.write_text("mine", encoding="utf-8")
    with refuses("out.run"):
        annotate([run], out)
    assert out.read_text(encoding="utf-8") == "mine"
    annotate([run], out, force=True)
    assert out.read_text(encoding="utf-8").endswith(ROWS)


def test_what_cannot_be_annotated_is_said(run: Path, tmp_path: Path) -> None:
    table = tmp_path / "x.json"
    table.write_text('{"q1": {"a": 1.0}}', encoding="utf-8")
    with refuses("x.json"):
        annotate([table], tmp_path / "y")
    with refuses("--set", error=UnknownNameError):
        annotate([run], tmp_path / "y", settings=["actor"])
    for text in ("[1", "- a"):
        (tmp_path / "meta.yaml").write_text(text, encoding="utf-8")
        with refuses("meta.yaml"):
            annotate([run], tmp_path / "y", template=tmp_path / "meta.yaml")
    assert not (tmp_path / "y").exists()


def test_the_command(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.run"
    words = "annotate", run, "--set", "actor.name=Me", "-o", out
    assert called(*words) == (0, f"{out}: tag, actor\n", "")
    assert refused("annotate", run, "-o", out).startswith(f"error: {out}: ")
