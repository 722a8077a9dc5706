"""Files that no paper has are refused before their tables are looked for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from known_means import study

from harness.check_table import FORMATS, check_table
from harness.check_table.match import Known, match
from harness.check_table.verify import verify
from harness.errors import InputError

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


@pytest.mark.parametrize("piece", ["9", "1 ", "a ", "(+"])
def test_a_long_cell_is_no_number(piece: str) -> None:
    found = study()
    begun = time.process_time()
    (grid,) = FORMATS[".tex"](BEGUN + piece * 900)
    verify(match(grid, Known.of(found, [])), found, "1")
    assert time.process_time() - begun < 5
