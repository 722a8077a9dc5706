r"""Tables as LaTeX: what is written, that it compiles, and what the page shows."""

import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from latex_page import PREAMBLE, compiled, complaints, needs_latex, printed
from studies import compared, constant, study

from harness.reports.latex import escape
from harness.reports.paper_table.build import build
from harness.reports.paper_table.model import render
from harness.reports.paper_table.settings import TableSettings

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
    assert lines[12:15] == [
        r"bm25$^{a}$ & .400\hphantom{$^{a}$} & \textbf{$-$2.000} \\",
        r"dense$^{b}$ & \textbf{.500}$^{a}$ & \underline{1.000} \\",
        r"c\_d & \underline{.450}\hphantom{$^{a}$} & 13.000 \\",
    ]
    table = build(made, TableSettings(marks="letters", siunitx=True, width="page"), "main")
    aligned = render(table, "latex")
    lines = aligned.splitlines()
    assert lines[1] == r"\begin{table*}[tb]"
    assert lines[-1] == r"\end{table*}"
    assert lines[8:16] == [
        r"\sisetup{mode=text,reset-text-series=false,print-zero-integer=false}",
        r"\begin{tabular}{@{}lS[table-format=1.3,table-space-text-post={$^{a}$}]"
        r"S[table-format=-2.3]@{}}",
        r"\toprule",
        r"& {MAP $\uparrow$} & {mse $\downarrow$} \\",
        r"\midrule",
        r"bm25$^{a}$ & .400 & \bfseries -2.000 \\",
        r"dense$^{b}$ & \bfseries .500{$^{a}$} & 1.000{\llap{\underline{\phantom{1.000}}}} \\",
        r"c\_d & .450{\llap{\underline{\phantom{.450}}}} & 13.000 \\",
    ]


def variants() -> list[TableSettings]:
    """Every spread x sign x alignment, and what else changes the shape."""
    found = [
        TableSettings(spread=spread, siunitx=siunitx, average=True, extras=("n", "coverage"))  # type: ignore[arg-type]
        for spread, siunitx in itertools.product(("none", "deviation", "interval"), (False, True))
    ]
    found += [
        TableSettings(datasets=("trec",), siunitx=siunitx, percent=("map",), digits={"mse": 0},
                 groups={"Sparse & old": ("bm25",), "The rest": ("*",)}, label="tab:x_y z")
        for siunitx in (False, True)
    ]  # fmt: skip
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
    assert complaints(log) == []
    text = printed(tmp_path)
    assert text.count("a_b & c% #1 ~x^2 {y} \\z <p> $q| [k] --w `v’ @10") >= len(tables)
    assert text.count("± .007") == 2  # of .45 and .46, with siunitx and without


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
