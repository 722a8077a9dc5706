"""Lines with ``#``: comments at the head of a file alone, rows everywhere else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness import readers
from harness.core.tables import Qrels
from harness.errors import HarnessWarning, InputError
from harness.readers.source import Source
from harness.readers.trec import RUN

Write = Callable[..., str]

# (format, kind, header, a row of qid, docno and a whole number)
LAYOUTS = [
    ("trec", "qrels", "", "{} 0 {} {}\n"),
    ("trec", "run", "", "{} Q0 {} 3 {} mine\n"),
    ("trec", "run", "", "{}\tQ0\t{}\t3\t{}\tmine\n"),
    ("beir", "qrels", "query-id\tcorpus-id\tscore\n", "{}\t{}\t{}\n"),
    ("msmarco", "run", "", "{}\t{}\t{}\n"),
    ("table", "run", "qid,docno,score\n", "{},{},{}\n"),
    ("jsonl", "run", "", '{{"qid": "{}", "docno": "{}", "score": {}}}\n'),
]
ORDERS = [
    ["10", "#2", "#1", "1"],
    ["#10", "2", "#1", "1"],
    ["#10", "#2", "##1"],
    ["2", "#", "##", "#x"],
]


def read(path: str, format: str, kind: str) -> dict[str, dict[str, float]]:
    reader = readers.read_qrels if kind == "qrels" else readers.read_run
    return reader(path, format=format).to_dict()


@pytest.mark.parametrize("qids", ORDERS, ids=" ".join)
@pytest.mark.parametrize(("format", "kind", "header", "row"), LAYOUTS)
def test_a_query_whose_name_begins_like_a_comment(
    write: Write, format: str, kind: str, header: str, row: str, qids: list[str]
) -> None:
    text = header + "".join(
        row.format(qid, f"{docno}{at}", at + n)
        for at, qid in enumerate(qids)
        for n, docno in enumerate("b#", 1)
    )
    sign = -1 if format == "msmarco" else 1
    expected = {
        qid: {f"b{at}": sign * (at + 1), f"#{at}": sign * (at + 2)} for at, qid in enumerate(qids)
    }
    assert read(write("f", text), format, kind) == expected
    if format not in ("table", "jsonl") or header:
        assert read(write("g", "# made by me\n\n#\n" + text), format, kind) == expected


@pytest.mark.parametrize("qids", ORDERS[:3], ids=" ".join)
def test_a_table_without_names(write: Write, qids: list[str]) -> None:
    text = "# made by me\n" + "".join(f"{qid},d7,0.5\n" for qid in qids)
    columns = {"qid": 1, "docno": 2, "score": 3}
    run = readers.read_run(write("r.csv", text), format="table", columns=columns)
    assert run.to_dict() == {qid: {"d7": 0.5} for qid in qids}


@pytest.mark.parametrize("format", [None, "trec"])
def test_a_run_that_begins_with_more_than_is_looked_at(write: Write, format: str | None) -> None:
    """64 KiB are looked at for the format: of comments, or of rows that look like them."""
    rows = "".join(f"#9 Q0 d{at} 1 {-at} t\n" for at in range(9_000))
    expected = {"#9": {f"d{at}": -at for at in range(9_000)}, "3": {"x": 1}}
    path = write("a.run", rows + "3 Q0 x 1 1 t\n")
    assert readers.read_run(path, format=format).to_dict() == expected
    if format:
        path = write("b.run", "# a comment of ten thousand\n" * 10_000 + rows + "3 Q0 x 1 1 t\n")
        assert readers.read_run(path, format=format).to_dict() == expected


def test_metadata_is_no_row(write: Write) -> None:
    head = "# ir_metadata.start\n#tag: a 1 2 3.5 b\n# ir_metadata.end\n"
    source = Source(write("a.run", f"{head}#7 Q0 d 1 2 t\n4 Q0 d 1 2 t\n"))
    assert source.n_comments == 3
    assert readers.read_run(source).to_dict() == {"#7": {"d": 2}, "4": {"d": 2}}


@pytest.mark.parametrize(
    ("format", "text", "what"),
    [
        ("trec", "7 Q0 d 1 2 t\n# mine\n", "2 fields where 6 belong (qid Q0 docno rank score tag)"),
        ("msmarco", "7\td\t1\n# by me on Monday\n", "5 fields where 3 belong (qid docno rank)"),
        ("scores", "0.5\n# mine\n", "a comment where a score belongs"),
        ("scores", "0.5\n#0.25\n", "a comment where a score belongs"),
    ],
)
def test_a_comment_after_the_head(
    write: Write, dataset: Qrels, format: str, text: str, what: str
) -> None:
    with pytest.raises(InputError) as error:
        readers.read_run(write("f", text), format=format, dataset=dataset)
    (problem,) = error.value.problems
    assert (problem.where, problem.what, problem.rule) == ("f:2", what, "columns")
    assert problem.fix == "delete the line, or move it above the first row if it is a comment"


def test_lines_of_warnings_are_counted_past_the_head(write: Write) -> None:
    rows = "1 Q0 d1 1 2 t\n1 Q0 d2 2 1 t extra\n2 Q0 d1 1 1 t\n1 Q0 d3 3 0 t\n"
    source = Source(write("a.run", f"# a b c d e f g\n\n#b\n{rows}"))
    with pytest.warns(HarnessWarning) as caught:
        readers.read_run(source, format="trec")
    lines = {w.message.rule: w.message.line for w in caught}  # type: ignore[union-attr]
    assert lines == {"extra-fields": 5, "scattered-queries": 7}
    assert RUN.of(source).header == 3
