"""CSV for spreadsheets, and Markdown without HTML."""

import csv
import io
import re
from pathlib import Path

from command_line import succeeds

from harness.reports import formats, markdown
from harness.reports.grid import Column, Grid, GridCell, Group

GRID = Grid(
    (Column("", left=True), Column("n"), Column("MAP", block="web"), Column("tier", block="web")),
    (
        Group("Ours", ((GridCell("=A1"), GridCell("5/12"), GridCell(".50", bold=True, above="†"),
                        GridCell("1", spread="(+0.1%)")),)),
        Group("", ((GridCell("naïve"), GridCell("12/12"),
                    GridCell(".40", underlined=True, below="†", spread="± .02 (-3.5%)",
                             note="3/12"), GridCell("–")),)),
    ),
    caption="Means.", notes=("a @user <b>",), source="config x",
)  # fmt: skip


def test_marks_and_spreads_have_columns_of_their_own() -> None:
    text = formats.render([GRID], "excel")
    assert text.startswith("\ufeff")
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    assert rows == [
        [
            "group", "run", "n", "web MAP", "web MAP spread", "web MAP change", "web MAP marks",
            "web tier", "web tier change",
        ],
        ["Ours", "'=A1", "5 of 12", ".50", "", "", "best †", "1", "0.1%"],
        ["", "naïve", "12 of 12", ".40", ".02", "-3.5%", "second _† 3 of 12", "", ""],
        [], ["Means."], ["a @user <b>"],
    ]  # fmt: skip


def test_plain_markdown_has_no_html() -> None:
    text = markdown.render([GRID], plain=True)
    assert not re.search(r"<\w|<!|<br", text), text
    assert "| naïve | 12/12 | *.40\\_†* ± .02 (-3.5%) (3/12) | – |" in text
    assert "| =A1 | 5/12 | **.50†** | 1 (+0.1%) |" in text
    assert "<br>" in markdown.render([GRID])


def test_a_spreadsheet_has_the_digits_of_the_table(workplace: Path) -> None:
    succeeds("run", "configs/paper.yaml", cwd=workplace)
    words = ["table", "results/paper", "seeds", "--format"]
    shown = succeeds(*words, "text", cwd=workplace)
    text = succeeds(*words, "excel", cwd=workplace)
    header, *rows = csv.reader(io.StringIO(text.removeprefix("\ufeff").partition("\n\n")[0]))
    columns = [at for at, name in enumerate(header) if name.endswith(("↑", "↓"))]
    values = [row[at] for row in rows for at in columns]
    assert len(values) == 16
    for value in values:
        assert value in shown
    assert not re.search(r"<\w|<!", succeeds(*words, "plain-markdown", cwd=workplace))


def test_other_commands_write_for_spreadsheets(workplace: Path) -> None:
    files = ["runs/trec/qrels.txt", "runs/trec/bm25.run", "runs/trec/tfidf.run"]
    text = succeeds("evaluate", *files, "-m", "map", "-f", "excel", cwd=workplace)
    assert text.splitlines()[1].startswith("bm25,30 of 30,")
    runs = ["compare", *files[1:], "--qrels", files[0], "-m", "map", "-f"]
    assert succeeds(*runs, "excel", cwd=workplace).startswith("\ufeff")
    assert "<" not in succeeds(*runs, "plain-markdown", cwd=workplace)
