"""A table's width is known before LaTeX sets it; one that does not fit is a warning."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from latex import PREAMBLE, compiled, complaints, needs_latex
from studies import compared, constant, study

import harness
from harness.core.study import Study
from harness.errors import HarnessWarning
from harness.reports.latex import width
from harness.reports.paper_table.build import build
from harness.reports.paper_table.rendering import grid_of, render, render_all, too_wide
from harness.reports.paper_table.settings import Settings


def wide(datasets: int, runs: int = 6) -> Study:
    values = {
        f"dataset {at}": {f"bm25+rerank-{run}": [0.1 * run, 0.2, 3.0] for run in range(runs)}
        for at in range(datasets)
    }
    outcomes = {
        (dataset, "map", "bm25+rerank-0", f"bm25+rerank-{run}"): (0.1, 0.01)
        for dataset in values
        for run in range(1, runs)
    }
    return study(constant(values), ["map", "recip_rank", "mse"], compared(outcomes))


SHAPES = {
    "narrow": (1, Settings(metrics=("map",))),
    "usual": (2, Settings()),
    "intervals": (3, Settings(spread="interval", average=True, names={"map": "MAP"})),
    "groups": (1, Settings(groups={"All of those that came before": ("*",)}, percent=("*",))),
    "siunitx": (3, Settings(siunitx=True, extras=("n", "coverage"))),
}


@needs_latex
@pytest.mark.parametrize("shape", SHAPES)
def test_the_width_is_nearly_what_latex_makes_of_it(shape: str, tmp_path: Path) -> None:
    datasets, asked = SHAPES[shape]
    table = build(wide(datasets), asked)
    (tabular,) = re.findall(
        r"\\begin{tabular}.*\\end{tabular}", render(table, "latex", asked), re.S
    )
    text = rf"\small\setlength{{\tabcolsep}}{{4pt}}\sbox0{{{tabular}}}\typeout{{wide \the\wd0}}x"
    preamble = PREAMBLE.replace("\\usepackage{mathptmx}\n", "").replace(
        "\\usepackage[T1]{fontenc}\n", ""
    )
    log = compiled(tmp_path, f"{preamble}\\begin{{document}}{text}\\end{{document}}\n")
    (found,) = re.findall(r"wide ([0-9.]+)pt", log)
    assert width(grid_of(table, "latex")) == pytest.approx(float(found), rel=0.08)


def test_what_does_not_fit_is_said() -> None:
    made = wide(2)
    asked = Settings()
    table = build(made, asked, "main")
    assert too_wide(table, Settings(width="page")) is None
    said = too_wide(table, asked)
    assert said is not None
    assert re.fullmatch(
        r"table 'main' is about 3\d\d pt wide in LaTeX, and a column has about 240 pt; give it "
        r"'width: page', fewer metrics, datasets or extras or shorter 'names'",
        said,
    )
    heard: list[str] = []
    render_all(made, {"main": (asked, ("latex", "markdown"))}, heard.append)
    assert heard == [said]
    render_all(made, {"main": (asked, ("markdown",))}, heard.append)
    assert heard == [said]
    # not even both columns are enough
    most = too_wide(build(wide(5), asked), asked)
    assert most is not None
    assert "'width: page'" not in most


def test_a_run_warns(tmp_path: Path, root: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        f"datasets: {{trec: {{path: {root}/runs/trec/qrels.txt}}}}\n"
        f"runs: {{bm25: {{path: {root}/runs/trec/bm25.run}}}}\n"
        "metrics: [map, P@5, P@10, P@20, P@100, ndcg@10, recip_rank, bpref, Rprec]\n"
        "tables: {main: {formats: [latex]}}\n"
    )
    with pytest.warns(HarnessWarning, match="table 'main' is about"):
        harness.run(tmp_path / "c.yaml")


@needs_latex
def test_a_document_of_its_own_is_as_wide_as_its_table(tmp_path: Path) -> None:
    asked = Settings(spread="interval")
    text = render(build(wide(5), asked), "latex", asked, standalone=True)
    assert complaints(compiled(tmp_path, text)) == []
