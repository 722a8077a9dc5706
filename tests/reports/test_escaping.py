"""Names that would do something else than be shown, through every format and every command."""

import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from command_line import called, succeeds
from csv_rows import csv_rows
from hypothesis import given
from hypothesis import strategies as st

from harness import errors as escaping
from harness.config.init import _flow_yaml
from harness.reports.formats import as_csv as text_of
from harness.reports.formats import from_csv, in_csv
from harness.reports.html import html_comment, in_html
from harness.reports.markdown import in_markdown

NASTY = [
    "=cmd|' /C calc'!A0",
    "\x1b[31mred\x07\r\n\tx",
    "<script>alert(1)</script>&\"'",
    "a|b`c`*d*_e_[f](g)#1 @user",
    r"$\frac{1}{2}$ %~^#{}&",
    "\u202eevil\ufeff\u200b\x9b",
    "検索システム",
    "\u00e9",
    "e\u0301",
    "../../etc",
    "CON",
    "x" * 10_000,
]
ANY = st.text(st.characters(exclude_categories=()), max_size=12)
TEXT = st.text(max_size=12) | st.text("'=+-@\t\r\n\uff1d1.e|;,\"", max_size=6)


@given(TEXT)
def test_a_name_reads_back_from_csv_and_is_no_formula(name: str) -> None:
    field = in_csv(name)
    assert from_csv(field) == name
    if field[:1] in ("=", "+", "-", "@", "\t", "\r"):
        assert field == name
        float(name)  # a plain number, which a spreadsheet shows as it is
    text = text_of([{"run": name, "x": -0.5}])
    if "\0" in name and sys.version_info < (3, 11):
        return  # it is written, and csv of Python 3.10 reads no NUL
    (row,) = csv_rows(text)
    assert (from_csv(row["run"]), row["x"]) == (name, "-0.5")


@given(ANY)
def test_a_terminal_is_shown_nothing_that_moves_its_cursor(name: str) -> None:
    shown = escaping.legible(name)
    shown.encode()  # no half of a surrogate pair
    assert not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in shown)
    assert not set(shown) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200f\ufeff\u2028")
    assert escaping.legible(shown) == shown
    lines = "".join(f"{escaping.legible(line)}\n" for line in name.split("\n"))
    assert escaping.printable(f"{name}\n") == lines


@given(ANY)
def test_json_reads_back_and_is_one_line(name: str) -> None:
    line = escaping.in_json({name: name})
    line.encode()
    assert json.loads(line) == {name: name}
    assert len(line.splitlines()) == 1


class Reader(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[str] = []
        self.titles: list[str | None] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.titles += [value for name, value in attrs if name == "title"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@given(TEXT)
def test_html_shows_a_name_as_it_stands(name: str) -> None:
    shown = in_html(name)
    read = Reader(f'<p title="{shown}">{shown}</p>')
    assert read.tags == ["p"]
    assert "".join(read.texts) == escaping.printable(name) == (read.titles[0] or "")
    assert Reader(html_comment(name) + "<b>").tags == ["b"]


@given(st.text("ab1 \\`*_[]()|$~#<>&-+=.!:/@\nw", max_size=12))
def test_markdown_shows_a_name_as_it_stands(name: str) -> None:
    markdown_it = pytest.importorskip("markdown_it")
    reader = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    shown = in_markdown(name)
    wanted = " ".join(name.split())
    for text in (shown, f"- {shown}", f"| {shown} | b |\n|---|---|\n| {shown} | c |"):
        page = reader.render(text)
        read = Reader(page)
        assert not {*read.tags} - {"p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"}
        cells = [text for text in map(str.strip, "".join(read.texts).split("\n")) if text]
        assert [cell for cell in cells if cell not in "bc" or cell == wanted][:1] == [wanted][
            : bool(wanted)
        ] or wanted in ("b", "c")


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8))
def test_yaml_of_init_loads_back_to_the_same_name(name: str) -> None:
    assert yaml.safe_load(f"k: {{path: {_flow_yaml(name)}}}") == {"k": {"path": name}}
    assert yaml.safe_load(f"{_flow_yaml(name)}: {{x: 1}}") == {name: {"x": 1}}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``harness run`` makes of a config of such names."""
    pytest.importorskip("matplotlib")
    base = tmp_path_factory.mktemp("nasty")
    qids = [f"{name}q" for name in NASTY]
    qrels = {qid: {f"d{i}{qid[:3]}": i % 2 for i in range(4)} for qid in qids}
    (base / "qrels.json").write_text(json.dumps(qrels))
    runs = {}
    for k, name in enumerate(NASTY):
        run = {q: {d: i * (k + 3) % 7 + 0.5 for i, d in enumerate(qrels[q])} for q in qids}
        (base / f"r{k}.json").write_text(json.dumps(run))
        runs[name.replace("{", "{{").replace("}", "}}")] = {"path": f"r{k}.json"}
    config = {
        "output": "out", "datasets": {NASTY[1]: {"path": "qrels.json"}}, "runs": runs,
        "metrics": ["map"], "compare": {"baseline": NASTY[0]},
        "reports": ["csv", "markdown", "html", "jsonl", "table", "trec"],
        "tables": {"main": {"formats": ["latex", "markdown", "html", "csv", "text"]}},
        "plots": [{"kind": "distribution", "formats": ["svg"]}],
    }  # fmt: skip
    text = yaml.safe_dump(config)
    (base / "c.yaml").write_text(text)
    succeeds("run", "c.yaml", cwd=base)
    return base


def names_in(base: Path, format: str) -> list[str]:
    return [row["run"] for row in csv_rows(base / "out" / format)]


def test_every_name_is_whole_in_files(results: Path) -> None:
    assert sorted(map(from_csv, names_in(results, "leaderboard.csv"))) == sorted(NASTY)
    lines = (results / "out/leaderboard.jsonl").read_bytes().decode().splitlines()
    assert sorted(json.loads(line)["run"] for line in lines) == sorted(NASTY)
    rows = names_in(results, "tables/main.csv")
    assert sorted(map(from_csv, rows)) == sorted(NASTY)
    trec = (results / "out/leaderboard.eval").read_bytes().decode().splitlines()
    assert [line.count("\t") for line in trec] == [2] * len(trec)


COMMANDS = [
    ["run", "c.yaml", "--dry-run"],
    ["evaluate", "qrels.json", "r0.json", "r1.json", "-m", "map", "-q"],
    ["conventions", "out", "--convention", "lightgbm"],
    ["diff", "out", "out/leaderboard.csv"],
    ["diff", "out", "out/tables/main.csv"],
    ["diff", "out", "out/tables/main.md"],
    ["table", "out", "--format", "text"],
    ["init", "."],
    ["check", "c.yaml"],
    ["verify", "out"],
    ["trace", "out", "-m", "map", "--run", NASTY[-1]],
    ["trace", "out", "-m", "map", "--run", NASTY[1], "--query", f"{NASTY[5]}q"],
    ["conventions", "out", "--match", "1", "-m", "map@1", "--run", NASTY[0]],
    ["plot", "out", "differences", "--format", "svg", *(f"--run={NASTY[n]}" for n in (0, 1, 2, 5))],
    ["compare", "--results", "out", NASTY[1], NASTY[-1]],
    ["compare", "--results", "out", NASTY[0], NASTY[3], NASTY[5], "--format", "markdown"],
]


def name_of(words: list[str]) -> str:
    return ascii(" ".join(words))[1:70]


@pytest.mark.parametrize("words", COMMANDS, ids=name_of)
def test_every_command_takes_such_names(results: Path, words: list[str]) -> None:
    code, out, err = called(*words, cwd=results)
    said = out + err
    assert code == 0, said[-2000:]
    assert not set(said) & set("\x1b\x07\u202e\ufeff\x9b\r\t")
