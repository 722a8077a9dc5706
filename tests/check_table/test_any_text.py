"""Whatever stands in a file, its tables are read or not, and nothing breaks."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from known_means import study

from harness.audit.check_table import FORMATS, verify
from harness.audit.check_table_match import Known, match
from harness.audit.table_grid import Grid
from harness.errors import InputError

LATEX = r"""\begin{tabular}{lc} \end{tabular} & \\ \\[2pt] \hline \midrule { } $ ^ _ % \textbf{
\multicolumn{2}{c}{ \multicolumn{²}{c}{x} \multirow{2}{*}{ \newcommand{\x}[1]{ \x \num{ \endhead
\cmidrule(lr){2-3} \underline{ \ [ ] \label{ \caption{"""
MARKDOWN = "| |---|---| ** <sup> </sup> <u> \\ ` [a](b) &amp; <!--"
HTML = "<table> </table> <tr> <td/rowspan=3> <th/colspan='2'> </td> <b> </b> <caption>"
WORDS = "bm25 ours MAP nDCG@10 web news .400 0.424 ±.01 [.1,.2] † ab (3) 1e999 ² ٣ - , 1,2"
BEGUN = {
    ".tex": r"\begin{tabular}{lc} & Web MAP \\ \midrule bm25 & ",
    ".md": "| | web MAP |\n|---|---|\n| bm25 | ",
    ".html": "<table><tr><td></td><th>web MAP</th></tr><tr><td>bm25</td><td>",
    ".csv": "run,web MAP\nbm25,",
}


@pytest.mark.parametrize(
    ("suffix", "parts"), [(".tex", LATEX), (".md", MARKDOWN), (".html", HTML), (".csv", ', " ;')]
)
def test_any_text_is_read(suffix: str, parts: str) -> None:
    found = study()

    @given(st.lists(st.sampled_from([*parts.split(), *WORDS.split(), " ", "\n"]), max_size=40))
    @example(["_", "±.01"])
    @example(["^", "1e999"])
    @settings(max_examples=150, deadline=None)
    def check(pieces: list[str]) -> None:
        for text in ("".join(pieces), BEGUN[suffix] + "".join(pieces)):
            grids: list[Grid] = []
            # a row of a CSV may not be as long as its header
            with contextlib.suppress(*([InputError] if suffix == ".csv" else [])):
                grids = FORMATS[suffix](text)
            for grid in grids:
                assert len({len(row) for row in grid.rows}) == 1
                verify(match(grid, Known.of(found, [])), found, "1")

    check()
