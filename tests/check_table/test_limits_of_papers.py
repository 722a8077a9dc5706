"""Papers that are too large, and cells that are too long."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from known_means import study

from harness.audit.check_table import FORMATS, SIZE, check_table, verify
from harness.audit.check_table_match import Known, match
from harness.audit.check_table_values import unreadable
from harness.errors import InputError

BEGUN_IN = {
    ".md": "| | web MAP |\n|---|---|\n| bm25 | ",
    ".csv": "run,web MAP\nbm25,",
    ".tex": r"\begin{tabular}{lc} & Web MAP \\ \midrule bm25 & ",
}


@pytest.mark.parametrize(
    ("suffix", "text"),
    [(".html", "<" * (SIZE + 1)), (".tex", BEGUN_IN[".tex"] + "\\textbf{" * 2_000)],
)
def test_what_is_refused_at_once(tmp_path: Path, suffix: str, text: str) -> None:
    path = tmp_path / f"paper{suffix}"
    path.write_text(text)
    begun = time.process_time()
    with pytest.raises(InputError) as error:
        check_table(path, tmp_path)
    assert time.process_time() - begun < 5
    assert error.value.problems[0].where == str(path)


@pytest.mark.parametrize("digits", [500, 11_900])
@pytest.mark.parametrize("before", ["", "0.", "424e-", "0.424 ± 0."])
@pytest.mark.parametrize("suffix", [".md", ".csv"])
def test_a_number_of_thousands_of_digits_is_reported(suffix: str, before: str, digits: int) -> None:
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
    (unknown,) = match(grid, Known.of(found, [])).unknown
    assert f"'{new}': no {'run' if old == 'bm25' else 'metric'} of the results" in unknown


@pytest.mark.parametrize("piece", ["9", "1 ", "a ", "(+"])
def test_a_long_cell_is_no_number(piece: str) -> None:
    found = study()
    begun = time.process_time()
    (grid,) = FORMATS[".tex"](BEGUN_IN[".tex"] + piece * 900)
    verify(match(grid, Known.of(found, [])), found, "1")
    assert time.process_time() - begun < 5
