"""Every rule on facts: where it fires, with its words, and where it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_facts import changed

from harness.core.align import align_parts
from harness.core.arrow import string_column
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.errors import Finding
from harness.guard.facts import Facts, JudgementFacts, RunFacts
from harness.guard.judgements import of_dataset, of_rows
from harness.guard.labels import Moments
from harness.guard.parts import First
from harness.guard.registry import RUN_RULES, accepted, finding
from harness.guard.rules import beyond, of_run
from harness.guard.sweep import GuardedCell, collapsed, of_sweep
from harness.guard.watch import Watch

JUDGED = JudgementFacts(queries=50, rows=1000, lowest=0, highest=3)
RUN = changed(
    RunFacts(), rows=5000, queries=50, shallowest=100, median_depth=100, deepest=100, at_deepest=50,
    last_depth=100, lowest=0.1, highest=9.0, mean_lowest=0.2, mean_highest=8.0,
    several=50, pairs=247_500, judged=900, positive=350,
    moments=Moments(900, 5.0, 0.5, 900.0, 400.0, 200.0), shown=500, judged_shown=480,
    looked_at=256, known=255,
)  # fmt: skip
CLEAN = Facts(JUDGED, RUN)


def said(found: list[Finding]) -> list[tuple[str, str, str]]:
    return [(one.rule, one.severity, f"{one.place}: {one.what}") for one in found]


def test_clean_facts_say_nothing() -> None:
    assert [*of_dataset(JUDGED, "q"), *of_rows(JUDGED, "q"), *of_run(CLEAN, "r")] == []


@pytest.mark.parametrize(
    ("changes", "rule", "severity", "what"),
    [
        ({"empty": 50}, "no-relevant-documents", "error",
         "none of the 50 queries has a relevant document"),
        ({"empty": 5}, "empty-queries", "warning", "no relevant document in 5 of 50 queries"),
        ({"empty": 4}, "empty-queries", "note", "no relevant document in 4 of 50 queries"),
        ({"unusual": 2, "highest": 5.0}, "grades-above-4", "note",
         "2 of 1,000 grades are above 4, up to 5"),
        ({"unusual": 2, "beyond": 1, "highest": 31.0}, "grades-above-30", "warning",
         "1 of 1,000 grades is above 30, up to 31"),
        ({"fractional": 9, "lowest": 0.5}, "fractional-grades", "note",
         "9 of 1,000 grades, which are from 0.5 to 3, are no whole numbers"),
        ({"negative": 7}, "negative-grades", "note", "7 of 1,000 grades are below 0"),
    ],
)  # fmt: skip
def test_rules_of_judgements(changes: dict[str, Any], rule: str, severity: str, what: str) -> None:
    assert said([*of_dataset(replace(JUDGED, **changes), "q")]) == [(rule, severity, f"q: {what}")]


def test_grades_below_0_are_said_beside_what_is_not_judged() -> None:
    facts = replace_run(replace(CLEAN, judgements=replace(JUDGED, negative=7)), judged_shown=450)
    (one,) = of_run(facts, "r")
    assert one.what == (
        "10 % of the documents at rank 10 or before are not judged or have a grade below 0"
    )
    assert one.effect.endswith("but for documents that somebody saw and marked as junk")
    (plain,) = of_run(replace_run(CLEAN, judged_shown=450), "r")
    assert plain.effect == "they count as not relevant, so that values are lower bounds"


def test_what_is_counted_in_judged_queries_alone_is_said_of_these() -> None:
    # 5 of 41 judged queries that are answered, of 50
    facts = replace_run(CLEAN, extra=9, nearly=5, tied=24_750)
    nearly, ties, extra = of_run(facts, "r")
    assert nearly.what == "nearly all documents share one score in 5 of 41 judged queries"
    assert ties.what.startswith("10 % of the pairs of documents that a judged query retrieved ")
    assert extra.rule == "extra-queries"


def replace_run(facts: Facts, **changes: Any) -> Facts:
    return replace(facts, run=changed(facts.run, **changes))


LABELS = Moments(900, 0.5, 0.5, 100.0, 400.0, 200.0)  # 200 / sqrt(100 * 400) = 1


@pytest.mark.parametrize(
    ("changes", "rule", "severity", "what"),
    [
        ({"moments": LABELS}, "labels-as-scores", "error",
         "scores and grades have a correlation of exactly 1, over 900 judged documents"),
        ({"moments": replace(LABELS, xy=-200.0)}, "labels-as-scores", "error",
         "scores and grades have a correlation of exactly -1, over 900 judged documents"),
        ({"constant": 5}, "constant-scores", "warning", "all scores are equal in 5 of 50 queries"),
        ({"constant": 4}, "constant-scores", "note", "all scores are equal in 4 of 50 queries"),
        ({"nearly": 5}, "nearly-constant-scores", "warning",
         "nearly all documents share one score in 5 of 50 queries"),
        ({"tied": 24_750}, "score-ties", "warning",
         "10 % of the pairs of documents that a query retrieved share a score, in single "
         "precision, as trec_eval compares"),
        ({"tied": 24_749}, "score-ties", "note",
         "10 % of the pairs of documents that a query retrieved share a score, in single "
         "precision, as trec_eval compares"),
        ({"merged": 50}, "single-precision", "warning",
         "50 of 5,000 rows have the score of the one ranked before in single precision alone"),
        ({"merged": 49}, "single-precision", "note",
         "49 of 5,000 rows have the score of the one ranked before in single precision alone"),
        ({"overflow": 2}, "overflow", "warning", "2 of 5,000 scores are beyond 3.4e38"),
        ({"judged": 0, "known": 0}, "other-collection", "error",
         "none of the 5,000 documents retrieved is judged, and of 256 docnos looked at none is, "
         "for any query"),
        ({"judged": 0, "known": 3}, "other-topics", "error",
         "none of the 5,000 documents retrieved is judged for its query; of 256 docnos looked at "
         "3 are judged for others"),
        ({"judged": 0, "known": 2}, "nothing-judged", "warning",
         "none of the 5,000 documents retrieved is judged"),
        ({"judged": 0, "known": 0, "queries": 4}, "nothing-judged", "warning",
         "none of the 5,000 documents retrieved is judged"),
        ({"known": 253}, "unknown-docnos", "note",
         "3 of 256 docnos looked at, a sample of 5,000, are judged for no query"),
        ({"judged_shown": 450}, "unjudged-at-10", "note",
         "10 % of the documents at rank 10 or before are not judged"),
        ({"missing": 1}, "missing-queries", "warning",
         "no answer to 1 of 50 judged queries"),
        ({"extra": 9}, "extra-queries", "note",
         "no judgement of 9 of 50 queries"),
        ({"at_deepest": 49, "last_depth": 37, "shallowest": 37.0}, "cut-last-query", "warning",
         "the last query has 37 documents, every other one 100"),
        ({"at_deepest": 49, "shallowest": 37.0}, "depth", "note",
         "queries have 37 to 100 documents, 100 in the middle"),
        ({"at_deepest": 48, "last_depth": 37, "shallowest": 37.0}, "depth", "note",
         "queries have 37 to 100 documents, 100 in the middle"),
    ],
)  # fmt: skip
def test_rules_of_runs(changes: dict[str, Any], rule: str, severity: str, what: str) -> None:
    facts = Facts(JUDGED, changed(RUN, **changes))
    assert said([*of_run(facts, "r")]) == [(rule, severity, f"r: {what}")]


@pytest.mark.parametrize(
    "changes",
    [
        {"moments": replace(LABELS, xy=199.99)},
        {"moments": LABELS, "positive": 9},  # one relevant document alone has always 1 or less
        {"moments": LABELS, "positive": 891},
        {"tied": 247},
        {"overflow": 2, "single": False},
        {"known": 254},
        {"judged_shown": 451},
    ],
)
def test_too_little_says_nothing(changes: dict[str, Any]) -> None:
    assert [*of_run(Facts(JUDGED, changed(RUN, **changes)), "r")] == []


def test_one_document_queries_are_those_of_rows() -> None:
    first = First(("a", "b", "c"), 7, ("a",), 8)
    single = replace(JUDGED, single=5, first={"one-document-queries": first})
    what = "q:8: one document alone in 5 of 50 queries"
    found = [*of_rows(single, "q")]
    assert said(found) == [("one-document-queries", "warning", what)]
    assert found[0].examples == ("a", "b", "c")
    assert [one.severity for one in of_rows(replace(single, single=4), "q")] == ["note"]


def cell(number: int, changes: dict[str, Any] | None = None, **given: Any) -> GuardedCell:
    run, dataset = f"m/fold{number}.txt", f"d/fold{number}.txt"
    return GuardedCell(
        **{
            "facts": Facts(JUDGED, changed(RUN, **changes or {})),
            "dataset": dataset, "run": run, "entry": "d", "model": "m",
            "qids": string_column([f"{number}-{place}" for place in range(3)]),
            "digests": {path: path for path in (run, dataset)}, "folds": True, **given,
        }
    )  # fmt: skip


FOLDS = [cell(number) for number in range(1, 6)]


def test_a_clean_sweep_says_nothing() -> None:
    assert [*of_sweep(FOLDS)] == []


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"lowest": 100.0, "highest": 900.0, "mean_lowest": 101.0, "mean_highest": 800.0},
         "scores from 100 to 900, those of the same model on its 4 other folds from 0.1 to 9"),
        ({"mean_lowest": 3.9, "mean_highest": 4.0},
         "a query's scores span 0.1 on average, those of the same model on its 4 other folds "
         "7.8 to 7.8"),
        ({"highest": 90.0, "lowest": -90.0, "mean_lowest": -40.0, "mean_highest": 48.0},
         "a query's scores span 88 on average, those of the same model on its 4 other folds "
         "7.8 to 7.8"),
    ],
)  # fmt: skip
def test_a_fold_of_another_model(changes: dict[str, float], what: str) -> None:
    cells = [*FOLDS[:4], cell(5, changes)]
    assert said([*of_sweep(cells)]) == [("score-range", "warning", f"m/fold5.txt: {what}")]
    of_others = [*FOLDS[:4], cell(5, changes, model="other")]
    assert [*of_sweep(of_others)] == []
    assert [*of_sweep(cells[3:])] == []  # of two, which is the other one?
    collections = [*(cell(n, folds=False) for n in range(1, 5)), cell(5, changes, folds=False)]
    assert [*of_sweep(collections)] == []  # news, web, ...: scores may be of any size


def test_scores_six_times_as_wide() -> None:
    cells = [*FOLDS[:4], cell(5, {"highest": 54.0, "mean_highest": 48.0, "mean_lowest": 1.2})]
    assert [one.rule for one in of_sweep(cells)] == ["score-range"]


def test_the_same_bytes() -> None:
    same = cell(2, digests={"m/fold2.txt": "m/fold1.txt", "d/fold2.txt": "d/fold2.txt"})
    assert said([*of_sweep([FOLDS[0], same])]) == [
        ("same-file-twice", "warning", "m/fold1.txt: 1 other file holds its bytes")
    ]
    again = cell(1, run="m/fold1.txt", model="n")
    assert [*of_sweep([FOLDS[0], again])] == []  # one path, two cells
    # of a wrong count: row-count says of which dataset's rows, where a sound run has these bytes
    failed = {"m/fold9.txt": "m/fold1.txt", "m/fold8.txt": "another", "m/fold7.txt": "another"}
    (found,) = of_sweep(FOLDS, failed)
    assert (found.place, found.examples) == ("m/fold8.txt", ("m/fold7.txt",))
    constant = [replace_facts(one, several=9, constant=9) for one in (FOLDS[0], same)]
    assert [*of_sweep(constant)] == []  # which constant-scores says
    few = [replace_facts(one, rows=19) for one in (FOLDS[0], same)]
    assert [*of_sweep(few)] == []


def replace_facts(one: GuardedCell, **changes: Any) -> GuardedCell:
    facts = Facts(one.facts.judgements, changed(one.facts.run, **changes))
    return GuardedCell(
        facts, one.dataset, one.run, one.entry, one.model, one.qids, one.digests, one.folds
    )


def test_folds_that_share_queries() -> None:
    shares = {"qids": string_column(["2-0", "1-1", "1-2", "x"])}
    found = [*of_sweep([FOLDS[0], cell(2, **shares)])]
    assert said(found) == [
        (
            "shared-queries",
            "warning",
            "d/fold2.txt: 2 of 5 queries are in several of the 2 folds",
        )
    ]
    (one,) = of_sweep([FOLDS[0], cell(2, qids=string_column(["2-0", "1-1", "x"]))])
    assert one.what == "1 of 5 queries is in several of the 2 folds"
    # without a file to look into, files alone
    assert found[0].examples == tuple(f"query 1-{n}: fold1.txt and fold2.txt" for n in (1, 2))
    assert [*of_sweep([FOLDS[0], cell(2, folds=False, **shares)])] == []
    numbered = Facts(replace(JUDGED, numbered=True), RUN)
    assert [*of_sweep([cell(n, facts=numbered, **shares) for n in (1, 2)])] == []


def test_queries_that_are_numbered() -> None:
    def numbered(*qids: str, docnos: list[str] | None = None) -> bool:
        names = None if docnos is None else string_column(docnos)
        qrels = Qrels.from_columns(string_column(qids), names, np.zeros(len(qids), np.int64))
        return JudgementFacts.of(qrels).numbered

    assert numbered("1", "1", "2", "3")
    assert not numbered("1", "1", "2", "4")
    assert not numbered("1", "2", docnos=["a", "b"])
    assert numbered("0", "0", "1", "2")
    assert not numbered("0", "1", "3")
    assert not numbered("2", "3")


def test_a_run_that_was_not_pooled() -> None:
    def on_one(number: int, judged: int) -> GuardedCell:
        changes = {"judged_shown": judged}
        return cell(number, changes, dataset="q", digests={"q": "q", f"m/fold{number}.txt": ""})

    pooled = [on_one(number, 480) for number in range(1, 4)]
    digests = {"q": "q", "m/fold4.txt": "4", **{f"m/fold{n}.txt": str(n) for n in range(1, 4)}}
    cells = [replace_digests(one, digests) for one in (*pooled, on_one(4, 370))]
    assert said([*of_sweep(cells)]) == [
        (
            "unjudged-unlike-others",
            "warning",
            "m/fold4.txt: 26 % of the documents at rank 10 or before are not judged, 4 % in the "
            "middle of the 4 runs on q",
        )
    ]
    cells = [replace_digests(one, digests) for one in (*pooled, on_one(4, 380))]
    assert [*of_sweep(cells)] == []


def replace_digests(one: GuardedCell, digests: dict[str, str]) -> GuardedCell:
    return GuardedCell(one.facts, one.dataset, one.run, one.entry, one.run, one.qids, digests)


def test_findings_of_one_rule_are_one() -> None:
    found = [
        ("d", finding("constant-scores", f"a/fold{n}.txt", f"all scores in {n}", 9, ("q",)))
        for n in range(5)
    ]
    other = ("e", found[0][1])
    (one, alone) = collapsed([*found, other])
    first = found[0][1]
    assert (one.what, one.count, one.examples) == (first.what, first.count, first.examples)
    assert (one.n_others, one.others) == (4, ("a/fold1.txt", "a/fold2.txt", "a/fold3.txt"))
    assert alone == first
    assert {"n_others", "others"} == one.as_dict().keys() - alone.as_dict().keys()
    apart = [("d", finding("reader", f"{n}.txt", f"odd {n}")) for n in "12"]
    assert collapsed(apart) == [one for _, one in apart]  # about anything


def test_one_file_is_no_other_file() -> None:
    """A run of three files, and one of a single file, each on two datasets of one pattern."""
    found = [
        ("d", finding("docno-spelling", f"{name}.run:{n}", f"{n} docnos", n))
        for n in (3, 7)
        for name in "abc"
    ]
    assert [(one.place, one.others) for one in collapsed([*found, *found])] == [
        (f"a.run:{n}", (f"b.run:{n}", f"c.run:{n}")) for n in (3, 7)
    ]


def test_what_is_accepted_is_a_note() -> None:
    found = [finding("labels-as-scores", "r", ""), finding("score-ties", "r", "")]
    kept = accepted(found, ["labels-as-scores"])
    assert [one.severity for one in kept] == ["note", "warning"]


def test_what_a_reader_warned_of_is_said_once() -> None:
    warnings = [
        finding("constant-scores", "r", "all scores are equal in 9 of 9 queries; there", 9),
        finding("several-tags", "r", "2 tags in one run", 2),
    ]
    assert beyond(warnings, [finding("constant-scores", "r", "")]) == warnings[1:]
    assert beyond(warnings, [finding("score-ties", "r", "")]) == warnings


def test_every_rule_says_what_it_does_and_how_to_mend_it() -> None:
    for rule in RUN_RULES:
        assert rule.effect, rule.name
        assert rule.fix, rule.name
        assert rule.about.endswith(".")
        assert not rule.effect.endswith(".")


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=60, deadline=None)
def test_clean_data_is_not_warned_of(seed: int, as_rows: bool) -> None:
    """Scores of a middling system on grades 0 to 4, a relevant document in every query."""
    random = np.random.default_rng(seed)
    n_queries, n_docs = int(random.integers(5, 30)), int(random.integers(10, 40))
    grades = random.integers(0, 5, (n_queries, n_docs))
    grades[:, 0] = 1
    scores = grades + random.normal(0, 2, grades.shape)
    judged = {
        f"q{q}": {f"d{d}": int(grades[q, d]) for d in range(n_docs)} for q in range(n_queries)
    }
    qrels = Qrels.from_dict(judged)
    run = Run.for_rows(qrels, scores.ravel())
    if not as_rows:
        run = Run.from_dict(
            {qid: dict(zip(some, scores[q].tolist(), strict=True))
             for q, (qid, some) in enumerate(judged.items())}
        )  # fmt: skip
    watch = Watch(qrels, Policy())
    watch.run(run)
    for aligned in align_parts(qrels, run):
        watch.aligned(aligned)
    facts = Facts(JudgementFacts.of(qrels), watch.facts())
    assert [
        *of_dataset(facts.judgements, "q"),
        *of_rows(facts.judgements, "q"),
        *of_run(facts, "r"),
    ] == []


def sampled(unknown_at_rank: int, *, only: bool) -> list[Finding]:
    """256 queries of 100 documents, known at all ranks but one, or at that one only."""
    known = {f"q{q}": {f"d{q}-{r}": r % 2 for r in range(1, 101)} for q in range(256)}
    here = {rank for rank in range(1, 101) if (rank == unknown_at_rank) == only}
    run = {
        qid: {(d if r in here else f"x{d[::-1]}"): 1.0 / r for r, d in enumerate(some, 1)}
        for qid, some in known.items()
    }
    return facts_found(Qrels.from_dict(known), Run.from_dict(run))


def facts_found(qrels: Qrels, run: Run) -> list[Finding]:
    watch = Watch(qrels, Policy())
    watch.run(run)
    for aligned in align_parts(qrels, run):
        watch.aligned(aligned)
    return [*of_run(Facts(JudgementFacts.of(qrels), watch.facts()), "r")]


def test_documents_are_looked_at_out_of_step_with_the_ranks() -> None:
    nearly_all = [one for one in sampled(1, only=True) if one.rule == "unknown-docnos"]
    assert len(nearly_all) == 1  # 99 of 100 documents: every 100th row would be a known one
    assert nearly_all[0].count > 950
    assert all(", document x" in name for name in nearly_all[0].examples)
    assert len(nearly_all[0].examples) == 3
    few = [one for one in sampled(1, only=False) if one.rule == "unknown-docnos"]
    assert all(one.count < 30 for one in few)  # 1 of 100, and not all that are looked at


def test_topics_that_are_shifted_though_pools_overlap() -> None:
    """Each pool has its own 30 documents, and one of the next one's."""
    judged = {
        f"q{q}": {**{f"d{q}-{r}": 1 for r in range(30)}, f"d{q + 1}-{q % 20}": 0} for q in range(20)
    }
    run = {f"q{q}": {f"d{q}-{r}": 1.0 / (r + 1) for r in range(30)} for q in range(20)}
    qrels = Qrels.from_dict(judged)
    assert "other-topics" not in {one.rule for one in facts_found(qrels, Run.from_dict(run))}
    shifted = {f"q{(q + 19) % 20}": some for q, some in enumerate(run.values())}
    found = [one for one in facts_found(qrels, Run.from_dict(shifted)) if "topics" in one.rule]
    # all ten of each are judged for the next query, and one of them for its own in ten queries
    assert said(found) == [
        (
            "other-topics",
            "warning",
            "r: in 20 of 20 queries looked at, more documents at rank 10 or before are judged for "
            "one other query than for any else, its own too",
        )
    ]


@pytest.mark.parametrize("clothes", ["exponential", "noise", "a model"])
@pytest.mark.parametrize("n_queries", [29, 30])
def test_labels_in_other_clothes(clothes: str, n_queries: int) -> None:
    random = np.random.default_rng(5)
    grades = random.integers(0, 5, (n_queries, 12))
    grades[:, :2] = 0, 4
    scores = {
        "exponential": 2.0**grades - 1,
        "noise": grades + random.normal(0, 0.001, grades.shape),
        "a model": grades + random.normal(0, 0.5, grades.shape),
    }[clothes]
    judged = {f"q{q}": {f"d{d}": int(g) for d, g in enumerate(row)} for q, row in enumerate(grades)}
    qrels = Qrels.from_dict(judged)
    found = facts_found(qrels, Run.for_rows(qrels, scores.ravel()))
    labels = [one.what for one in found if one.rule == "labels-as-scores"]
    if clothes == "exponential":
        n = 12 * n_queries
        assert labels == [
            f"each of the 5 grades has one score of its own, over {n} judged documents"
        ]
    elif clothes == "a model":
        assert labels == []
    elif n_queries < 30:  # one grade from the others
        (what,) = labels
        assert what.startswith(
            "the scores separate grades of 3 and more from those below in all 29"
        )
    else:
        assert labels == [
            "in all 30 queries of several grades, every judged document comes before those of a "
            "lower grade"
        ]
