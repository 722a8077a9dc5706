r"""Tables as LaTeX: what is written, that it compiles, and what the page shows."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from latex_page import (
    CLASSES,
    PREAMBLE,
    compiled,
    complaints,
    natural_widths,
    needs_class,
    needs_latex,
    paper,
    printed,
)
from studies import compared, constant, study

import harness
from harness.experiment.results import Results
from harness.reports import latex
from harness.reports.document_class import PAGES
from harness.reports.latex import escape
from harness.reports.paper_table.build import build
from harness.reports.paper_table.model import grid_of, misfits, render
from harness.reports.paper_table.settings import Caption, Name, TableSettings

ODD = r"a_b & c% #1 ~x^2 {y} \z <p> $q| [k] --w `v' @10"
VALUES = {
    "trec": {
        "bm25::1": [[0.4, -2.0], [0.5, 1.0]], "bm25::2": [[0.42, -2.5], [0.5, 1.0]],
        "dense::1": [[0.5, 1.0], [0.7, 1.5]], "dense::2": [[0.5, 1.0], [0.6, 1.5]],
        f"{ODD}::1": [[0.1, 13.0], [0.3, 1.0]], f"{ODD}::2": [[0.1, 12.0], [0.2, 1.0]],
    },
    "we_b": {"bm25": [[0.3, 2.0], [0.4, 1.0]], "dense": [[0.2, 1.0], [0.3, 1.0]]},
}  # fmt: skip
METRICS = ["map", "mse"]
ALL = {
    ("trec", "map", "bm25", "dense"): (0.1, 0.01),
    ("trec", "map", "bm25", ODD): (-0.1, 0.01),
    ("trec", "map", "dense", ODD): (-0.1, 0.01),
    ("trec", "mse", "bm25", ODD): (1.0, 0.01),
    ("we_b", "map", "bm25", "dense"): (-0.1, 0.2),
}
MADE = {
    "letters": study(VALUES, METRICS, compared(ALL)),
    "daggers": study(VALUES, METRICS, compared(ALL, ("bm25", "dense"))),
    "none": study(VALUES, METRICS, missing={("trec", "bm25"): 1}),
}


def test_what_is_written() -> None:
    made = study(
        constant({"trec": {"bm25": [0.4, -2.0], "dense": [0.5, 1.0], "c_d": [0.45, 13.0]}}),
        METRICS,
        compared({("trec", "map", "bm25", "dense"): (0.1, 0.01)}),
    )
    lines = render(build(made, TableSettings(marks="letters"), "main"), "latex").splitlines()
    start = lines.index(r"\midrule") + 1
    assert lines[start - 4 : start + 3] == [
        r"\begin{tabular*}{0.85\linewidth}{@{\extracolsep{\fill}}@{}lcc@{}}", r"\toprule",
        r"& MAP $\uparrow$ & MSE $\downarrow$ \\", r"\midrule",
        r"bm25$^{a}$ & .400 & \hphantom{0}\textbf{$-$2.000} \\",
        r"dense$^{b}$ & \textbf{.500}\rlap{$^{a}$} & \hphantom{$-$0}\underline{1.000} \\",
        r"c\_d & \underline{.450} & \hphantom{$-$}13.000 \\",
    ]  # fmt: skip
    assert lines[1:6] == [
        r"\begin{table}[tb]", r"\centering", r"\setlength{\belowcaptionskip}{4pt}",
        r"\caption{MAP and MSE on trec.}", r"\label{tab:main}",
    ]  # fmt: skip
    notes = lines.index(r"\begin{tablenotes}[flushleft,para]")
    assert lines[notes + 2].startswith("Means over trec (2 queries). The best value of each metric")
    assert lines[-3:] == [r"\end{tablenotes}", r"\end{threeparttable}", r"\end{table}"]


def variants() -> list[TableSettings]:
    """Every spread x sign, and what else changes the shape."""
    found = [
        TableSettings(spread=spread, average=True, extras=("n", "coverage"))  # type: ignore[arg-type]
        for spread in ("none", "deviation", "interval")
    ]
    found += [
        TableSettings(datasets=("trec",), percent=("map",), digits={"mse": 0},
                 groups={"Sparse & old": ("bm25",), "The rest": ("*",)}, label="tab:x_y z",
             transpose=transpose, columns=None if transpose else 2, spread="error")
        for transpose in (False, True)
    ]  # fmt: skip
    found += [TableSettings(datasets=("trec",), caption=Caption("Odd & long", "full"), top=2,
                            best="group", arrows=False, longtable=True)]  # fmt: skip
    return found


@needs_latex
@pytest.mark.parametrize("marks", ["letters", "daggers", "none"])
def test_every_shape_compiles_without_a_complaint(marks: str, tmp_path: Path) -> None:
    tables = [
        render(build(MADE[marks], each, f"t{place}"), "latex")
        for place, each in enumerate(variants())
    ]
    body = "\n".join(tables).replace("[tb]", "[!h]")
    log = compiled(tmp_path, f"{PREAMBLE}\\begin{{document}}\n{body}\n\\end{{document}}\n")
    assert [line for line in complaints(log) if "longtable" not in line] == []
    text = printed(tmp_path)
    assert text.count("a_b & c% #1 ~x^2 {y} \\z <p> $q| [k] --w `v’ @10") >= len(tables)
    assert text.count("± .007") == 1  # of .45 and .46


SIGNS = st.text(
    st.one_of(
        st.sampled_from("\\{}$&#%_^~<>|[]`'\"-,?!@*=+ ./:;()"),
        st.sampled_from("abzABZ019éüßñøåçŁłžš"),
    ),
    min_size=1,
    max_size=12,
)


@needs_latex
@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.generate],
)  # fmt: skip
@given(st.lists(SIGNS, min_size=60, max_size=80))
def test_names_are_printed_unchanged(tmp_path: Path, names: list[str]) -> None:
    lines = "\n\n".join(rf"\noindent x{escape(name)}x" for name in names)
    log = compiled(tmp_path, f"{PREAMBLE}\\begin{{document}}\n{lines}\n\\end{{document}}\n")
    assert complaints(log) == []
    found = ["".join(line.split()) for line in printed(tmp_path).splitlines() if line.strip()]
    assert found == ["".join(f"x{name}x".split()).replace("'", "’") for name in names]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a_b", r"a\_b"),
        ("50% & #1 $x$", r"50\% \& \#1 \$x\$"),
        ("{a}~^", r"\{a\}\textasciitilde{}\textasciicircum{}"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("a <b> |c|", r"a \textless{}b\textgreater{} \textbar{}c\textbar{}"),
        ("--w ---x", r"-{}-w -{}-{}-x"),
        ("[a]", "{[}a{]}"),
        ("map ↑ ≤ α", r"map $\uparrow$ $\leq$ $\alpha$"),
        ("cafe\u0301 Łódź", "café Łódź"),
        ("中 \U0001f600", "{[}U+4E2D{]} {[}U+1F600{]}"),
        ("a\nb\t c", "a b c"),
        ("``x''", r"\textasciigrave{}\textasciigrave{}x'{}'"),
    ],
)
def test_escaping(text: str, escaped: str) -> None:
    assert escape(text) == escaped


RUNS = {f"system-{place}": 0.9 - place / 100 for place in range(47)}
MANY = study(constant({"Web & news": {name: [value] for name, value in RUNS.items()}}), ["map"])
BASELINE = {
    (dataset, metric, "bm25", run): (difference, 0.0004)
    for dataset, metric, run, difference in [
        ("trec", "map", "dense", 0.1), ("trec", "mse", ODD, 1.0), ("we_b", "map", "dense", -0.1)
    ]
}  # fmt: skip
AGAINST = study(VALUES, METRICS, compared(BASELINE, ("bm25",)))
NAMES = {"bm25": Name("BM25", "robertson1994"), "dense": Name("Dense", "karpukhin2020,xiong2021")}
PAPERS = [
    (AGAINST, TableSettings(datasets=("trec",), delta="percent", marks="stars", runs=("!a*",))),
    (AGAINST, TableSettings(metrics=("map",), average=True, names=NAMES,
                            runs=("bm25", "dense"))),
    (AGAINST, TableSettings(datasets=("trec",), metrics=("map",), extras=("p", "n"),
                            spread="error", runs=("bm25", "dense"), transpose=True)),
    (MADE["letters"], TableSettings(datasets=("trec",), metrics=("map",),
                                    runs=("bm25", "dense"), spread="deviation")),
    (MANY, TableSettings(width="page")),
    (MANY, TableSettings(top=7, sort="map", caption=Caption("The best systems.", "short"))),
]  # fmt: skip


@needs_latex
@pytest.mark.parametrize("document_class", CLASSES)
def test_tables_fit_the_papers_of_each_class(document_class: str, tmp_path: Path) -> None:
    needs_class(document_class)
    made = [
        build(made, replace(settings, document_class=document_class), f"t{place}")  # type: ignore[arg-type]
        for place, (made, settings) in enumerate(PAPERS)
    ]
    assert [misfit for table in made for misfit in misfits(table)] == []
    body = "\n".join(render(table, "latex") for table in made)
    assert "longtable" not in body
    log = compiled(tmp_path, paper(document_class, body), "paper")
    expected = ("itation", "rerun", "undefined references")
    assert [line for line in complaints(log) if not any(word in line for word in expected)] == []
    assert "Average" in printed(tmp_path, "paper")


@needs_latex
@pytest.mark.parametrize("document_class", PAGES)
def test_a_table_that_is_too_wide_says_by_how_much(document_class: str, tmp_path: Path) -> None:
    needs_class(document_class)
    settings = TableSettings(
        spread="interval", average=True, extras=("n", "coverage"), document_class=document_class,  # type: ignore[arg-type]
        width="column", digits={"*": 12},
    )  # fmt: skip
    table = build(AGAINST, settings, "wide")
    (misfit,) = misfits(table)
    about = int(re.search(r"about (\d+) pt wider", misfit)[1])
    log = compiled(tmp_path, paper(document_class, render(table, "latex")), "paper")
    over = float(re.search(r"Overfull \\hbox \(([\d.]+)pt", log)[1])
    assert abs(about - over) < 9


@needs_latex
@pytest.mark.parametrize("document_class", CLASSES)
def test_the_estimated_width_is_that_of_the_box(document_class: str, tmp_path: Path) -> None:
    needs_class(document_class)
    changes: list[dict[str, Any]] = [
        {"delta": "percent", "marks": "stars"},
        {"delta": "absolute", "marks": "stars", "spread": "error"},
        {"extras": ("p", "n", "coverage"), "spread": "interval"},
        {"extras": ("p", "n"), "marks": "stars", "datasets": ("trec",)},
    ]
    plain = [each for each in variants() if not each.longtable]
    shapes = [(made, shape) for made in MADE.values() for shape in plain]
    shapes += [(AGAINST, TableSettings(**each)) for each in changes]
    tables = [
        build(made, replace(shape, document_class=document_class), "t")  # type: ignore[arg-type]
        for made, shape in [*PAPERS, *shapes]
    ]
    grids = [grid_of(table, "latex") for table in tables]
    texts = [render(table, "latex") for table in tables]
    measured = natural_widths(tmp_path, document_class, texts)
    for made, text, width in zip(grids, texts, measured, strict=True):
        # the names of keys that no file defines are short; columns of mixed rows have room
        more = 9 * (r"\cite" in text) + 13 * (r"\begin{tabular}[b]" in text)
        assert -8.5 < latex.layout_of(made).width - width < 8.5 + more, text


@pytest.mark.parametrize(
    ("shape", "fix"),
    [
        ({"datasets": ("web",), "width": "column"}, "set width: page"),
        ({"width": "column"}, "set width: page"),
        ({"columns": 3}, "set top"),
    ],
)
def test_a_table_is_set_over_the_page_only_if_it_fits(shape: dict[str, Any], fix: str) -> None:
    names = {"1": "a system", "10": "another with a longer name"}
    names |= {str(place): f"system {place}" for place in range(11, 20)}
    runs = {name: [place / 40] * 6 for place, name in enumerate(names)}
    metrics = ["map", "ndcg@10", "P@5", "recall@1000", "bpref", "recip_rank"]
    made = study(constant({"web": runs, "news": runs}), metrics)
    table = build(made, TableSettings(names=names, **shape))
    (misfit,) = misfits(table)
    assert misfit.endswith(f"drop columns, shorten names or {fix}")


def test_a_table_that_is_too_tall_says_what_to_do() -> None:
    whole = {f"system-{place}": [0.9 - place / 200] for place in range(143)}
    made = study(constant({"web": whole}), ["map"])
    (misfit,) = misfits(build(made))
    assert "taller than the page of acmart" in misfit
    for shape in ({"top": 40}, {"columns": 3}, {"longtable": True}):
        assert [*misfits(build(made, TableSettings(**shape)))] == []  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def example_results(tmp_path_factory: pytest.TempPathFactory) -> list[Results]:
    folder = tmp_path_factory.mktemp("examples")
    root = Path(__file__).resolve().parents[2]
    names = ("compare", "folds", "paper", "pictures", "quickstart", "sweep", "trec")
    changes = [f"output={folder}/{{name}}", "reports=[csv]", "plots=[]"]
    return [harness.run(root / f"configs/{name}.yaml", overrides=changes) for name in names]


@needs_latex
@pytest.mark.slow
@pytest.mark.parametrize("document_class", CLASSES)
def test_tables_of_the_examples_fit(
    document_class: str, example_results: list[Results], tmp_path: Path
) -> None:
    needs_class(document_class)
    body = ""
    for results in example_results:
        for name, shape in ({**results.config.tables} or {"leaderboard": TableSettings()}).items():
            table = build(results, replace(shape, document_class=document_class), name)  # type: ignore[arg-type]
            assert [*misfits(table)] == []
            body += render(table, "latex")
    log = compiled(tmp_path, paper(document_class, body), "paper")
    expected = ("itation", "rerun", "undefined", "multiply")
    assert [line for line in complaints(log) if not any(word in line for word in expected)] == []
