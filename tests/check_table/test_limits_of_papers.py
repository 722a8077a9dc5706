"""Files that no paper has are refused before their tables are looked for."""

from __future__ import annotations

import itertools
import string
import time
from pathlib import Path

import pytest
from known_means import study

from harness.check_table import FORMATS, check_table
from harness.check_table.match import Known, match
from harness.check_table.values import unreadable
from harness.check_table.verify import verify
from harness.errors import InputError

BEGUN_IN = {
    ".md": "| | web MAP |\n|---|---|\n| bm25 | ",
    ".csv": "run,web MAP\nbm25,",
}
BEGUN = r"\begin{tabular}{lc} & Web MAP \\ \midrule bm25 & "


@pytest.mark.parametrize(
    ("suffix", "text", "what"),
    [
        (".csv", "a;" * 50_000, "line 1 has more than 1,000 columns"),
        (".md", "|" * 200_000 + "\n|-|", "line 1 has more than 1,000 columns"),
        (".md", "|a|\n|-|\n|" + "[" * 50_000, "line 3 has a cell of more than 12,000 characters"),
        (".md", "(+" * 50_000, "line 1 has a cell of more than 12,000 characters"),
        (".tex", "\n" + "{" * 200_000, "line 2 has a cell of more than 2,000 characters"),
        (".tex", "\\textbf{\n" * 20_000, "line 101 has braces more than 100 inside each other"),
        (".html", "<" * (5 << 20), "it has more than 4,194,304 characters"),
    ],
)
def test_what_is_refused_at_once(tmp_path: Path, suffix: str, text: str, what: str) -> None:
    path = tmp_path / f"paper{suffix}"
    path.write_text(text)
    begun = time.process_time()
    with pytest.raises(InputError) as error:
        check_table(path, tmp_path)
    assert time.process_time() - begun < 5
    fix = "give a file with just the tables to check"
    assert str(error.value) == f"{path}: {what}\n  fix:   {fix}"


@pytest.mark.parametrize(
    ("body", "call"),
    [(r"\x" * 600, r"\x"), (r"\x{#1}" * 300, r"\x{abc}"), ("#1" * 900, r"\x{\x{\x{a}}}")],
    ids=["calls itself", "with an argument", "argument repeated"],
)
def test_macros_that_make_endless_cells(tmp_path: Path, body: str, call: str) -> None:
    """600 calls, five deep, would be 10^13 of them."""
    arguments = "[1]" if "#1" in body else ""
    paper = tmp_path / "a.tex"
    paper.write_text(
        f"\\newcommand{{\\x}}{arguments}{{{body}}}\n\\begin{{tabular}}{{lc}}\n & Web MAP \\\\\n"
        f"bm25 & {call} \\\\\n\\end{{tabular}}\n"
    )
    with pytest.raises(InputError) as caught:
        check_table(paper, tmp_path)
    assert str(caught.value) == (
        f"{paper}: line 4 has a cell of which macros make more than 100,000 characters\n"
        "  fix:   give a file with just the tables to check"
    )


def test_thousands_of_macros_take_no_longer_each() -> None:
    """Each called once: a search for all names at each call took the square of their number."""
    names = ["m" + "".join(pair) for pair in itertools.product(string.ascii_lowercase, repeat=3)]
    defined = "".join(f"\\newcommand{{\\{name}}}{{{name}}}\n" for name in names)
    rows = "".join(f"a & \\{name} \\\\\n" for name in names)
    start = time.process_time()
    table = f"\\begin{{tabular}}{{lc}}\n & MAP \\\\\n{rows}\\end{{tabular}}"
    (grid,) = FORMATS[".tex"](defined + table)
    assert time.process_time() - start < 20  # 60 and more before
    assert grid.rows[-1][1].text == "mzzz"


@pytest.mark.parametrize("digits", [500, 4_300, 11_900])  # 4,300: Python's limit of an int's text
@pytest.mark.parametrize("before", ["", "0.", "424e-", "0.424 ± 0."])
@pytest.mark.parametrize("suffix", [".md", ".csv"])
def test_a_number_of_thousands_of_digits_is_told_of(suffix: str, before: str, digits: int) -> None:
    found, cell = study(), before + "9" * digits
    (grid,) = FORMATS[suffix](BEGUN_IN[suffix] + cell)
    paired = match(grid, Known.of(found, []))
    assert list(unreadable(paired)) == [f"bm25, web MAP: cannot read '{cell[:57]}...' as a number"]
    assert verify(paired, found, "1").findings == []


@pytest.mark.parametrize("suffix", [".md", ".csv"])
@pytest.mark.parametrize("old", ["bm25", "web MAP"])
def test_names_with_thousands_of_digits_are_of_no_run_or_metric(suffix: str, old: str) -> None:
    found, new = study(), f"{old}@{'9' * 5_000}"
    (grid,) = FORMATS[suffix](BEGUN_IN[suffix].replace(old, new) + "0.424")
    (said,) = match(grid, Known.of(found, [])).unknown
    assert f"'{new}': no {'run' if old == 'bm25' else 'metric'} of the results" in said


@pytest.mark.parametrize("piece", ["9", "1 ", "a ", "(+"])
def test_a_long_cell_is_no_number(piece: str) -> None:
    found = study()
    begun = time.process_time()
    (grid,) = FORMATS[".tex"](BEGUN + piece * 900)
    verify(match(grid, Known.of(found, [])), found, "1")
    assert time.process_time() - begun < 5
