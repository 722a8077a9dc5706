"""Tables as papers have them, in different styles, right and with slips planted."""

from __future__ import annotations

import pytest
from known_means import DAGGERS, said, verdict

from harness.core.study import Study


def test_a_right_table(against_bm25: Study) -> None:
    found = verdict(DAGGERS, against_bm25)
    assert found.findings == []
    assert found.unknown == []
    assert found.notes == ["marks taken as: † = bm25"]
    # 3 x 4 numbers; five bold, as .2304 and .23037 are both .230; three underlined
    assert dict(found.verified) == {
        "numbers": 12, "best values": 5, "second best values": 3, "marks": 7,
    }  # fmt: skip
    assert found.name == "tab:main"


@pytest.mark.parametrize(
    ("old", "new", "finding", "why"),
    [
        (
            r"\textbf{.424}", r"\textbf{.431}",
            ("digits", "Ours", "Web MAP ↑", ".431", ".424"), "computed: 0.42361",
        ),
        (
            r"\textbf{.424}", r"\textbf{.423}",
            ("rounding", "Ours", "Web MAP ↑", ".423", ".424"),
            "cut off, not rounded; computed: 0.42361",
        ),
        (
            "& .400 &", "& .412 &",
            ("digits", "BM25", "Web MAP ↑", ".412", ".400"),
            "computed: 0.4001; that is the value of QL, Web MAP ↑",
        ),
        (
            "& .550", r"& \textbf{.550}",
            ("bold", "QL", "Web nDCG@10 ↑", ".550 bold", "not bold"), "the best: Ours",
        ),
        (
            r"\textbf{.230}$^\dagger$ & \textbf{.333}", r".230$^\dagger$ & \textbf{.333}",
            ("bold", "QL", "News MAP ↑", ".230 not bold", "bold"),
            "as printed equal to Ours, which is best (0.230); by the full value QL is best",
        ),
        (
            r"\underline{.551}", ".551",
            ("underline", "BM25", "Web nDCG@10 ↑", ".551 not underlined", "underlined"),
            "it is second best (0.551)",
        ),
        (
            "& .310", r"& \underline{.310}",
            ("underline", "BM25", "News nDCG@10 ↑", ".310 underlined", "not underlined"),
            "the second best: Ours",
        ),
        (
            "& .550", r"& .550$^\dagger$",
            ("marker", "QL", "Web nDCG@10 ↑", ".550 with †", "without †"),
            "not significantly better than bm25",
        ),
        (
            r"\textbf{.573}$^\dagger$", r"\textbf{.573}",
            ("marker", "Ours", "Web nDCG@10 ↑", ".573 without †", "with †"),
            "significantly better than bm25",
        ),
    ],
)  # fmt: skip
def test_one_slip(
    old: str, new: str, finding: tuple[str, ...], why: str, against_bm25: Study
) -> None:
    assert DAGGERS.count(old) == 1
    found = verdict(DAGGERS.replace(old, new), against_bm25)
    assert said(found) == [finding]
    assert found.findings[0].why == why
    line = DAGGERS[: DAGGERS.index(old)].count("\n") + 1
    assert found.findings[0].line == line


HLINES = r"""
\begin{tabular}{|l|l|r|r|}
\hline
Collection & Method & mAP & NDCG@10 (\%) \\ \hline \hline
\multirow{3}{*}{Web} & BM-25 & 40.01 & 55.1 \\ \cline{2-4}
 & QL & 41.23 & 55.0 \\
 & Ours & {\bf 42.36} & {\bf 57.3} \\ \hline
\multirow{3}{*}{News} & BM-25 & 22.04 & 31.0 \\
 & QL & {\bf 23.04} & {\bf 33.3} \\
 & Ours & 23.04 & 32.5 \\ \hline
\end{tabular}
"""


def test_datasets_as_rows_and_percent(plain: Study) -> None:
    found = verdict(HLINES, plain)
    # .2304 and .23037 x 100 are both 23.04: one of them is not bold
    assert said(found) == [("bold", "Ours", "mAP", "23.04 not bold", "bold")]
    assert found.verified["numbers"] == 12
    assert found.findings[0].line == 10


def test_systems_as_columns(plain: Study) -> None:
    text = r"""
\begin{tabular}{llccc} \toprule
Data & Measure & BM25 & QL & Ours \\ \midrule
Web & MAP & .400 & .412 & \textbf{.424} \\
    & nDCG@10 & .551 & .550 & \textbf{.573} \\
News & MAP & .220 & .230 & .230 \\
\bottomrule
\end{tabular}
"""
    found = verdict(text.replace("    & nDCG", "Web & nDCG"), plain)
    assert [(f.kind, f.row, f.found) for f in found.findings] == [
        ("bold", "QL", ".230 not bold"), ("bold", "Ours", ".230 not bold"),
    ]  # fmt: skip
    assert found.verified["numbers"] == 9


def test_deviations_over_seeds(seeds: Study) -> None:
    # the means stay; the deviation of two seeds .01 above and below is .01414
    text = r"""
\begin{tabular}{lll}
\toprule
 & Web MAP & Web nDCG@10 \\
\midrule
bm25 & $.400 \pm .014$ & $.551_{\pm .014}$ \\
ql & $.412 \pm .010$ & .550 (.014) \\
ours & $\mathbf{.424} \pm .015$ & \textbf{.573} $\pm$ .014 \\
\bottomrule
\end{tabular}
"""
    found = verdict(text, seeds)
    assert said(found) == [
        ("spread", "ql", "Web MAP", "± .010", "± .014"),
        ("spread", "ours", "Web MAP", "± .015", "± .014"),
    ]
    assert found.findings[0].why == (
        "it is the deviation with n in place of n - 1, not the deviation over repetitions"
    )
    assert found.findings[1].why == "the deviation over repetitions is right"
    assert found.verified["spreads"] == 6


def test_one_seed_in_a_csv(seeds: Study) -> None:
    text = "dataset,run,seed,map\nweb,bm25,0,0.4101\nweb,bm25,1,0.3901\nweb,ql,1,0.4123\n"
    found = verdict(text, seeds, ".csv")
    assert said(found) == [("digits", "ql", "map", "0.4123", "0.4023")]
    assert found.findings[0].line == 4


def test_the_mean_over_datasets(plain: Study) -> None:
    # (.4001 + .2204) / 2 = .31025, (.42361 + .23037) / 2 = .32699
    text = """
| | web MAP | news MAP | Avg. MAP |
|---|---|---|---|
| bm25 | .400 | .220 | .310 |
| ours | .424 | .230 | .328 |
"""
    found = verdict(text, plain, ".md")
    assert said(found) == [("digits", "ours", "Avg. MAP", ".328", ".327")] or said(found) == [
        ("rounding", "ours", "Avg. MAP", ".328", ".327")
    ]


def test_what_cannot_be_matched_is_listed(plain: Study) -> None:
    text = r"""
\begin{tabular}{lccc} \toprule
 & \multicolumn{2}{c}{Web} & MS MARCO \\
 & MAP & nDCG@5 & MAP \\ \midrule
bm-52 & .5 & .1 & .2 \\
BM25 & .400 & .551 & .401 \\ \bottomrule
\end{tabular}
"""
    found = verdict(text, plain)
    assert found.unknown == [
        "column 'Web nDCG@5': no metric of the results",
        "row 'bm-52': no run of the results; did you mean 'bm25'?",
        "column 'MS MARCO MAP': its dataset is not said (rows BM25); --dataset says it",
    ]
    assert found.verified["numbers"] == 1


def test_best_within_groups(plain: Study) -> None:
    text = r"""
\begin{tabular}{lc} \toprule
 & Web MAP \\ \midrule
\multicolumn{2}{l}{Sparse} \\
bm25 & .400 \\
ql & \textbf{.412} \\ \midrule
\multicolumn{2}{l}{Dense} \\
ours & .424 \\ \bottomrule
\end{tabular}
"""
    found = verdict(text, plain)
    assert found.findings == []
    assert found.notes == ["best values: checked within each group of rows"]


def test_names_of_the_paper(plain: Study) -> None:
    text = "| | Collection A: MAP |\n|---|---|\n| Our model | .424 |\n"
    found = verdict(text, plain, ".md", ours="Our model", web="Collection A")
    assert found.verified["numbers"] == 1
    assert found.findings == []


def test_a_table_of_other_results(plain: Study) -> None:
    text = "<!-- table made by harness 1.0, manifest sha256:" + "a" * 64 + " -->\n\n"
    text += "| | web MAP |\n|---|---|\n| bm25 | .400 |\n"
    assert verdict(text, plain, ".md").notes == [
        "the table was made from other results: its manifest is aaaaaaaaaaaa..., that of these "
        "is ffffffffffff..."
    ]
    assert verdict(text.replace("a" * 64, "f" * 64), plain, ".md").notes == []


def test_several_tables_and_one_within_a_cell(plain: Study) -> None:
    text = (
        DAGGERS
        + r"\begin{tabular}{l}x\end{tabular}"
        + HLINES.replace("Collection &", r"\begin{tabular}{@{}l@{}}Collection\\of\end{tabular} &")
    )
    assert verdict(text, plain, at=2).verified["numbers"] == 12


def test_html(plain: Study) -> None:
    text = """<table id="t">
<thead><tr><th rowspan="2">Run</th><th colspan="2">web</th></tr>
<tr><th>MAP</th><th>nDCG@10</th></tr></thead>
<tr><td>bm25</td><td>0.400</td><td>0.551</td></tr>
<tr><td>ours</td><td><b>0.424</b></td><td><strong>0.574</strong></td></tr>
</table>"""
    found = verdict(text, plain, ".html")
    assert said(found) == [("rounding", "ours", "web nDCG@10", "0.574", "0.573")]
    assert found.name == "t"
    assert found.findings[0].line == 5


def test_what_latex_allows(against_bm25: Study) -> None:
    text = r"""
\newcommand{\best}[2][x]{\textbf{#2}}
\newcommand{\sig}{\ensuremath{^{\ast}}}
\begin{table*}\resizebox{\linewidth}{!}{%
\begin{tabular*}{\textwidth}{@{\extracolsep{\fill}}lcc|cc}
\hline
\rowcolor{gray!10} \multirow{2}{*}{\textbf{Method}} & \multicolumn{2}{c|}{\textbf{Web}}
  & \multicolumn{2}{c}{\textbf{News}}\\
 & \rotatebox{90}{MAP} & NDCG@10 & MAP & NDCG@10 \\\hline\hline
\textsc{BM25} & 0.4001 & \cellcolor[HTML]{EEEEEE}0.5512 & {\color{red} 0.2204} & 0.3101 \\
\rowcolor{gray!10}QL & 0.4123\sig & 0.5498 & \textbf{0.2304\sig} & \best[y]{0.3333}\sig \\
\hline
\textbf{Ours} & \best{0.4236}\sig & \best{0.5731}\sig & \textbf{0.2304}$^*$ & 0.3250* \\
Ours & 0.4/0.3 & & -- & n/a \\
\hline
\end{tabular*}}
\end{table*}
"""
    found = verdict(text, against_bm25)
    assert found.findings == []
    assert found.unknown == ["Ours, Web MAP: cannot read '0.4/0.3' as a number"]
    assert found.notes == ["marks taken as: * = bm25"]
    assert found.verified == {"numbers": 12, "best values": 5, "marks": 7}


def test_a_spread_in_units_of_the_last_digit(seeds: Study) -> None:
    text = r"""
\begin{tabular}{lc} & Web MAP \\
bm25 & \num{0.400(14)} \\
ql & \makecell{.412\\{\scriptsize($\pm$.014)}} \\
ours & .424{\tiny$\pm$.041}\\
\end{tabular}
"""
    found = verdict(text, seeds)
    assert said(found) == [("spread", "ours", "Web MAP", "± .041", "± .014")]
    assert found.verified == {"numbers": 3, "spreads": 3}
