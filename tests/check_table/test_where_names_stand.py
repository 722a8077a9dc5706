"""Datasets in captions, corners and titles, or nowhere; metrics as titles of groups of rows."""

from __future__ import annotations

from known_means import said, study, verdict

from harness.core.study import Study


def test_the_dataset_of_a_caption(plain: Study) -> None:
    text = r"""
\begin{table}\caption[Short]{Results on \textsc{News}, in the order of MAP.}
\begin{tabular}{lc} \toprule & MAP \\ \midrule bm25 & .220 \\ ours & .231 \\ \bottomrule
\end{tabular}\end{table}
"""
    found = verdict(text, plain)
    assert said(found) == [("rounding", "ours", "MAP", ".231", ".230")]
    both = verdict(text.replace("News}", "News} and web"), plain)
    assert both.unknown == []
    assert both.notes == [
        "its dataset is not said: taken as news, which 1 of 2 numbers fit (--dataset)"
    ]
    assert said(both) == said(found)
    neither = verdict(text.replace("News}", "both}").replace(".220", ".202"), plain)
    assert neither.unknown == [
        "column 'MAP': its dataset is not said (rows bm25, ours); --dataset says it"
    ]
    told = verdict(text.replace("News}", "both}"), plain, dataset="web")
    assert [(one.found, one.right) for one in told.findings] == [(".220", ".400"), (".231", ".424")]
    assert told.notes == []
    equal = study(means={name: {"bm25": (0.22, 0.3), "ours": (0.4, 0.5)} for name in "xy"})
    assert len(verdict(text.replace("News}", "both}"), equal).unknown) == 1


def test_the_dataset_in_the_corner(plain: Study) -> None:
    text = "| News | MAP |\n|---|---|\n| bm25 | .220 |\n| ours | .240 |\n"
    found = verdict(text, plain, ".md")
    assert said(found) == [("digits", "ours", "MAP", ".240", ".230")]
    assert (found.notes, found.unknown) == ([], [])


def test_metrics_as_titles_of_groups_of_rows(plain: Study) -> None:
    text = r"""
\begin{tabular}{lcc}
Model & Web & News \\ \hline
\multicolumn{3}{c}{MAP}\\
BM25 & 40.0 & 22.0 \\
Ours & \textbf{42.4} & \textbf{23.1} \\ \hline
\multicolumn{3}{c}{nDCG@10 (\%)}\\
BM25 & 55.1 & 31.0 \\
Ours & 57.3 & \textbf{32.5}
\end{tabular}
"""
    found = verdict(text, plain)
    assert said(found) == [
        ("rounding", "Ours", "News MAP", "23.1", "23.0"),
        ("bold", "Ours", "Web nDCG@10 (%)", "57.3 not bold", "bold"),
    ]
    assert [one.line for one in found.findings] == [6, 9]
    assert found.verified == {"numbers": 8, "best values": 3}
    datasets = text.replace("{MAP}", "{Web}").replace("nDCG@10 (", "News (")
    assert verdict(datasets.replace("Web &", "MAP &"), plain).verified["numbers"] == 4


def test_groups_of_rows_with_a_dataset_as_title(plain: Study) -> None:
    text = r"""
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
"""
    found = verdict(text, plain)
    assert said(found) == [("digits", "ours", "ndcg_cut_10", "0.575", "0.573")]
    assert found.verified == {"numbers": 8, "best values": 4}


def test_whose_value_a_wrong_number_is(seeds: Study) -> None:
    # ours: MAP .42361 on web and .23037 on news, nDCG .5731 on web; seeds .01 above and below
    text = """
| | web MAP |
|---|---|
| bm25 | {} |
| ours | {} |
"""
    for number, said_of in (
        (".573", "ndcg@10 on web"),
        (".230", "map on news"),
        (".325", "ndcg@10 on news"),
        (".4336", "seed 0 on web"),
    ):
        (one,) = verdict(text.format(".400", number), seeds, ".md").findings
        assert one.why == f"computed: 0.42361; that is the value of {said_of}"
    (one,) = verdict(text.format(".4", ".777"), seeds, ".md").findings
    assert one.why == "computed: 0.42361"


def test_metrics_that_are_called_the_same_but_for_case(plain: Study) -> None:
    text = "| | web {} |\n|---|---|\n| bm25 | .551 |\n"
    names = {"map": "nDCG@10"}
    exact = verdict(text.format("ndcg@10"), plain, ".md", **names)
    assert (exact.findings, exact.notes) == ([], [])
    other = verdict(text.format("nDCG@10 ↑"), plain, ".md", **names)
    assert said(other) == [("digits", "bm25", "web nDCG@10 ↑", ".551", ".400")]
    assert other.findings[0].why == "computed: 0.4001; that is the value of ndcg@10 on web"
    neither = verdict(text.format("NDCG@10"), plain, ".md", **names)
    assert neither.findings == []
    assert neither.notes == [
        "column 'web NDCG@10': taken as ndcg@10; map is called the same but for upper and lower "
        "case"
    ]


def test_arrows_point_where_it_is_better(plain: Study) -> None:
    text = "| | web MAP ↓ | web nDCG@10 ↑ |\n|---|---|---|\n| bm25 | .400 | .551 |\n"
    found = verdict(text, plain, ".md")
    assert said(found) == [("other", "heading", "web MAP ↓", "↓", "↑")]
    assert (found.findings[0].line, found.findings[0].why) == (1, "higher is better")
