"""Tables as papers have them, in different styles, right and with slips planted."""

from dataclasses import dataclass

import pytest
from known_means import findings, named_study, verdict

DAGGERS = r"""
\documentclass{article}
\begin{document}
\begin{table}[t]
  \caption{Results. $\dagger$: significantly better than BM25.}\label{tab:main}
  \begin{tabular}{l cc cc}
    \toprule
    & \multicolumn{2}{c}{Web} & \multicolumn{2}{c}{News} \\
    \cmidrule(lr){2-3}\cmidrule(lr){4-5}
    Model & MAP $\uparrow$ & nDCG@10 $\uparrow$ & MAP $\uparrow$ & nDCG@10 $\uparrow$ \\
    \midrule
    BM25 & .400 & \underline{.551} & .220 & .310 \\ % the baseline, .999
    QL~\cite{ponte1998} & \underline{.412}$^{\dagger}$ & .550
      & \textbf{.230}$^\dagger$ & \textbf{.333}$^\dagger$ \\
    \midrule
    Ours & \textbf{.424}$^{\dagger}$ & \textbf{.573}$^\dagger$
      & \textbf{.230}$^\dagger$ & \underline{.325}$^\dagger$ \\[2pt]
    \bottomrule
  \end{tabular}
\end{table}
\end{document}
"""


def test_a_right_table() -> None:
    found = verdict(DAGGERS, named_study("baseline"))
    assert (found.findings, found.unknown, found.name) == ([], [], "tab:main")
    assert found.notes == ["marks taken as: † = bm25"]
    # 3 x 4 numbers; five bold, as .2304 and .23037 are both .230; three underlined
    assert dict(found.verified) == {
        "numbers": 12, "best values": 5, "second best values": 3, "marks": 7,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "finding", "why"),
    [
        (r"\textbf{.424}", r"\textbf{.431}", ("digits", "Ours", "Web MAP ↑", ".431", ".424"),
         "computed: 0.42361"),
        (r"\textbf{.424}", r"\textbf{.423}", ("rounding", "Ours", "Web MAP ↑", ".423", ".424"),
         "computed: 0.42361"),
        ("& .400 &", "& .412 &", ("digits", "BM25", "Web MAP ↑", ".412", ".400"),
         "computed: 0.4001"),
        ("& .550", r"& \textbf{.550}",
         ("bold", "QL", "Web nDCG@10 ↑", ".550 bold", "not bold"), "the best: Ours"),
        (r"\textbf{.230}$^\dagger$ & \textbf{.333}", r".230$^\dagger$ & \textbf{.333}",
         ("bold", "QL", "News MAP ↑", ".230 not bold", "bold"),
         "equal to Ours as printed (0.230)"),
        (r"\underline{.551}", ".551",
         ("underline", "BM25", "Web nDCG@10 ↑", ".551 not underlined", "underlined"),
         "it is second best (0.551)"),
        ("& .310", r"& \underline{.310}",
         ("underline", "BM25", "News nDCG@10 ↑", ".310 underlined", "not underlined"),
         "the second best: Ours"),
        ("& .550", r"& .550$^\dagger$",
         ("marker", "QL", "Web nDCG@10 ↑", ".550 with †", "without †"),
         "not significantly better than bm25"),
        (r"\textbf{.573}$^\dagger$", r"\textbf{.573}",
         ("marker", "Ours", "Web nDCG@10 ↑", ".573 without †", "with †"),
         "significantly better than bm25"),
    ],
)  # fmt: skip
def test_one_slip(old: str, new: str, finding: tuple[str, ...], why: str) -> None:
    assert DAGGERS.count(old) == 1
    found = verdict(DAGGERS.replace(old, new), named_study("baseline"))
    assert findings(found) == [finding]
    line = DAGGERS[: DAGGERS.index(old)].count("\n") + 1
    assert (found.findings[0].why, found.findings[0].line) == (why, line)


@dataclass(frozen=True)
class Case:
    """A table, and what is found in it."""

    text: str
    findings: tuple[tuple[str, ...], ...] = ()
    verified: dict[str, int] | None = None
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    study: str = "plain"
    lines: tuple[int, ...] = ()
    whys: tuple[str, ...] = ()


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
# .2304 and .23037 are both 23.04 x 100; two seeds .01 above and below have a deviation of .0141;
# the mean of ours over both datasets is (.42361 + .23037) / 2 = .32699
CASES = {
    "datasets as rows, percent": Case(
        HLINES, (("bold", "Ours", "mAP", "23.04 not bold", "bold"),),
        {"numbers": 12, "best values": 4}, lines=(10,),
        unknown=("column 'Method': no metric of the results",),
    ),
    "systems as columns": Case(
        r"""
\begin{tabular}{llccc} \toprule
Data & Measure & BM25 & QL & Ours \\ \midrule
Web & MAP & .400 & .412 & \textbf{.424} \\
Web & nDCG@10 & .551 & .550 & \textbf{.573} \\
News & MAP & .220 & .230 & .230 \\
\bottomrule
\end{tabular}
""",
        (
            ("bold", "QL", "News MAP", ".230 not bold", "bold"),
            ("bold", "Ours", "News MAP", ".230 not bold", "bold"),
        ),
        {"numbers": 9, "best values": 2},
    ),
    "deviations over seeds": Case(
        r"""
\begin{tabular}{lll}
\toprule
 & Web MAP & Web nDCG@10 \\
\midrule
bm25 & $.400 \pm .014$ & $.551_{\pm .014}$ \\
ql & $.412 \pm .010$ & .550 (.014) \\
ours & $\mathbf{.424} \pm .015$ & \textbf{.573} $\pm$ .014 \\
\bottomrule
\end{tabular}
""",
        (
            ("spread", "ql", "Web MAP", "± .010", "± .014"),
            ("spread", "ours", "Web MAP", "± .015", "± .014"),
        ),
        {"numbers": 6, "spreads": 6, "best values": 2}, study="seeds",
        whys=(
            "the deviation over repetitions", "the deviation over repetitions",
        ),
    ),
    "the mean over datasets": Case(
        """
| | web MAP | news MAP | Avg. MAP |
|---|---|---|---|
| bm25 | .400 | .220 | .310 |
| ours | .424 | .230 | .328 |
""",
        (("digits", "ours", "Avg. MAP", ".328", ".327"),),
    ),
    "unknown rows and columns": Case(
        r"""
\begin{tabular}{lccc} \toprule
 & \multicolumn{2}{c}{Web} & MS MARCO \\
 & MAP & nDCG@5 & MAP \\ \midrule
bm-52 & .5 & .1 & .2 \\
BM25 & .400 & .551 & .401 \\ \bottomrule
\end{tabular}
""",
        verified={"numbers": 1},
        unknown=(
            "column 'Web nDCG@5': no metric of the results",
            "row 'bm-52': no run of the results; did you mean 'bm25'?",
            "column 'MS MARCO MAP': its dataset is not known (rows BM25); give --dataset",
        ),
    ),
    "html": Case(
        """<table id="t">
<thead><tr><th rowspan="2">Run</th><th colspan="2">web</th></tr>
<tr><th>MAP</th><th>nDCG@10</th></tr></thead>
<tr><td>bm25</td><td>0.400</td><td>0.551</td></tr>
<tr><td>ours</td><td><b>0.424</b></td><td><strong>0.574</strong></td></tr>
</table>""",
        (("rounding", "ours", "web nDCG@10", "0.574", "0.573"),), lines=(5,),
    ),
    "macros and styles": Case(
        r"""
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
""",
        verified={"numbers": 12, "best values": 5, "marks": 7},
        unknown=("Ours, Web MAP: cannot read '0.4/0.3' as a number",),
        notes=("marks taken as: * = bm25",), study="baseline",
    ),
    # on web, by MAP: ours > ql > bm25; by nDCG ours > both, which do not differ
    "letters": Case(
        """
| System   | Web MAP ↑           | Web nDCG@10          |
|:---------|--------------------:|---------------------:|
| (a) bm25 | 0.400               | 0.551                |
| (b) ql   | 0.412<sup>a</sup>   | 0.550<sup>a</sup>    |
| (c) ours | **0.424**<sup>b</sup> | **0.573**<sup>ab</sup> |
""",
        (
            ("marker", "ql", "Web nDCG@10", "0.550 with a", "without a"),
            ("marker", "ours", "Web MAP ↑", "0.424 without a", "with a"),
        ),
        study="pairs",
    ),
    "datasets as titles": Case(
        r"""
\newcommand{\best}[1]{\textbf{#1}}
\begin{longtable}{lcc}
\caption{All}\\ \toprule
Run & AP & ndcg\_cut\_10 \\ \midrule \endfirsthead
Run & AP & ndcg\_cut\_10 \\ \midrule \endhead
\multicolumn{3}{l}{\textit{Web}} \\
bm25 & 0.4001 & 0.551 \\
ours & \best{0.4236} & \best{0.575} \\
\midrule
\multicolumn{3}{l}{\textit{News}} \\
bm25 & 0.2204 & 0.310 \\
ours & \best{0.2304} & \best{0.325} \\
\bottomrule
\end{longtable}
""",
        (("digits", "ours", "ndcg_cut_10", "0.575", "0.573"),), {"numbers": 8, "best values": 4},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_styles_of_tables(name: str) -> None:
    case = CASES[name]
    begins = {"<table": ".html", "|--": ".md", "|:-": ".md", "run,": ".csv"}
    suffix = next((suffix for text, suffix in begins.items() if text in case.text), ".tex")
    found = verdict(case.text, named_study(case.study), suffix)
    assert findings(found) == list(case.findings)
    assert found.unknown == list(case.unknown)
    assert found.notes == list(case.notes)
    assert case.verified is None or dict(found.verified) == case.verified
    for name_of, expected in (("line", case.lines), ("why", case.whys)):
        assert not expected or [getattr(one, name_of) for one in found.findings] == [*expected]


def test_names_of_the_paper() -> None:
    text = "| | Collection A: MAP |\n|---|---|\n| Our model | .424 |\n"
    found = verdict(text, named_study("plain"), ".md", ours="Our model", web="Collection A")
    assert (found.findings, found.verified["numbers"]) == ([], 1)
    text = "| | web {} |\n|---|---|\n| bm25 | .551 |\n"
    for heading, value in (("ndcg@10", ".551"), ("nDCG@10 ↑", ".400"), ("NDCG@10", ".551")):
        one = verdict(text.format(heading), named_study("plain"), ".md", map="nDCG@10")
        assert [finding.right for finding in one.findings] == [value] * (value != ".551")
