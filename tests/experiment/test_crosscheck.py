"""The second opinion agrees where we are right, and stops us where we are not."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import called, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from packed_page import unpack

import harness
from harness.compat import pytrec_eval as pytrec_eval_names
from harness.core.align import align
from harness.core.evaluation import evaluate
from harness.core.metric import REGISTRY
from harness.core.names import parse_all
from harness.core.policy import Policy
from harness.core.policy_views import policies_of
from harness.core.qrels_and_runs import Qrels, Run
from harness.core.ragged import Floats
from harness.errors import VerificationError
from harness.experiment.crosscheck import SAMPLE, Crosscheck, Peer

METRICS = parse_all([
    "all_trec", "map(rel=2)", "ndcg(gain=exp)@10", "recip_rank@10", "rbo", "P(ties=docno+)@5",
    "map_min", "ndcg@10_max",
])  # fmt: skip
DOCNOS = st.sampled_from([f"d{i}" for i in range(12)])
QIDS = st.sampled_from(["1", "2", "3"])


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(QIDS, st.dictionaries(DOCNOS, st.integers(-1, 3), min_size=1), min_size=1),
    st.dictionaries(QIDS, st.dictionaries(DOCNOS, st.sampled_from([0.5, 1.0, 1.0 + 1e-9]))),
    st.sampled_from(["trec_eval", "trec_eval10", "docno+", "stable", "reverse", "best", "worst"]),
    st.sampled_from([None, 1, 5]),
    st.sampled_from(["zero", "one", "skip"]),
    st.booleans(),
)
def test_it_agrees_under_every_policy(
    grades: dict[str, dict[str, int]],
    scores: dict[str, dict[str, float]],
    ties: str,
    depth: int | None,
    empty: str,
    judged_only: bool,
) -> None:
    if not set(grades) & set(scores):
        return
    policy = Policy(ties, "zero", empty, depth, judged_only)  # type: ignore[arg-type]
    qrels, run = Qrels.from_dict(grades), Run.from_dict(scores)
    check = Crosscheck(Peer(qrels, METRICS, policy), "all")
    check.watch(run)
    aligned = align(qrels, run, policy, policies_of(METRICS, policy))
    audit = check.compare(evaluate(aligned, METRICS))
    least = 0 if empty == "zero" else 1
    answered = {q for q in set(grades) & set(scores) if scores[q]}
    usable = {q for q in answered if max(grades[q].values()) >= least}
    assert audit.queries == len(usable)
    assert audit.largest_difference == 0


def of_size(n_queries: int) -> tuple[Qrels, Run]:
    names = [str(i) for i in range(n_queries)]
    return (
        Qrels.from_dict({name: {"a": 1, "b": 0} for name in names}),
        Run.from_dict({name: {"a": 0.1, "b": 0.2} for name in names}),
    )


def test_a_sample_is_50_queries_and_the_same_ones_each_time() -> None:
    qrels, run = of_size(300)
    checks = [Crosscheck(Peer(qrels, METRICS, Policy())) for _ in range(2)]
    for check in checks:
        check.watch(run)
    assert len(checks[0].expected) == SAMPLE
    assert list(checks[0].expected) == list(checks[1].expected)


def test_the_last_bit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = of_size(2)
    right = REGISTRY["recip_rank"].function

    def off(aligned: object, **arguments: object) -> Floats:
        values = right(aligned, **arguments)
        return np.nextafter(values, 1)

    metrics = parse_all(["recip_rank"])
    object.__setattr__(metrics[0].definition, "function", off)
    try:
        check = Crosscheck(Peer(qrels, metrics, Policy()))
        check.watch(run)
        evaluation = evaluate(align(qrels, run), metrics, run="bm25", dataset="robust")
        with pytest.raises(VerificationError) as caught:
            check.compare(evaluation)
    finally:
        object.__setattr__(metrics[0].definition, "function", right)
    assert str(caught.value).startswith(
        "bm25 on robust: query '0', recip_rank: 0.5000000000000001 here, 0.5 by pytrec_eval\n"
    )


def test_a_difference_stops_the_run_and_writes_nothing(
    examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Crosscheck, "_check", _wrong)
    with pytest.raises(VerificationError, match=r"query '\d+', num_rel_ret"):
        harness.run(examples / "configs/trec.yaml")
    written = [path for path in (examples / "results/trec").rglob("*") if path.is_file()]
    assert {path.name for path in written} == {".lock"}
    results = harness.run(examples / "configs/trec.yaml", overrides=["crosscheck=none"])
    manifest = json.loads((results.folder / "manifest.json").read_text())
    assert {cell["crosscheck"]["mode"] for cell in manifest["cells"]} == {"none"}


def _wrong(self: Crosscheck, answers: list[tuple[int, Run, int]]) -> None:
    for query, _, _ in answers:
        self.expected[query] = dict.fromkeys(self.peer.groups[0].columns.values(), -1.0)


@pytest.fixture
def without_pytrec_eval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytrec_eval_ext", None)


@pytest.mark.usefixtures("without_pytrec_eval")
def test_a_sample_is_skipped_without_pytrec_eval(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = called("run", "configs/quickstart.yaml", "--set", f"output={out}", cwd=root)
    assert done.code == 0, done.err
    assert done.err.count("cross-check skipped: pytrec_eval is not installed") == 1
    cells = json.loads((out / "manifest.json").read_text("utf-8"))["cells"]
    nothing = {"mode": "skipped", "queries": 0, "values": 0, "largest_difference": 0.0}
    assert [cell["crosscheck"] for cell in cells] == [nothing] * len(cells)
    assert called("verify", str(out), cwd=root).code == 0
    methods = called("table", str(out), "--methods", cwd=root).out
    assert "Values were computed with ranking-harness" in methods
    assert "pytrec_eval" not in methods
    assert "recomputed" not in methods
    assert called("page", str(out), cwd=root).code == 0
    report = unpack((out / "page.html").read_text("utf-8"))
    assert dict(report["provenance"]["facts"])["cross-check"] == "skipped"


@pytest.mark.usefixtures("without_pytrec_eval")
def test_no_cross_check_needs_no_pytrec_eval(root: Path, tmp_path: Path) -> None:
    words = "run", "configs/quickstart.yaml", "--set", f"output={tmp_path / 'out'}", "--set"
    done = called(*words, "crosscheck=none", cwd=root)
    assert (done.code, "pytrec_eval" in done.err) == (0, False)
    err = refused(*words, "crosscheck=all", cwd=root)
    assert "'crosscheck: all' needs pytrec_eval, which is not installed" in err


@pytest.mark.parametrize("level", ["0.155", "1000000", "123456.789", "0.25"])
def test_levels_that_pytrec_eval_names_like_others_are_left_out(
    root: Path, tmp_path: Path, level: str
) -> None:
    words = f"output={tmp_path}", "crosscheck=all", f"metrics=[Rprec_mult@{level}]"
    given = (word for each in words for word in ("--set", each))
    done = called("run", "configs/quickstart.yaml", *given, cwd=root)
    assert done.code == 0, done.err
    cells = json.loads((tmp_path / "manifest.json").read_text("utf-8"))["cells"]
    checked = {cell["crosscheck"]["values"] > 0 for cell in cells}
    assert checked == {level in ("0.25", "1000000")}


def test_compat_gives_the_same_values_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = {"q": {"a": 2, "b": 0, "c": 1}}, {"q": {"a": 0.1, "b": 0.2, "c": 0.2}}
    expected = harness.compat.RelevanceEvaluator(qrels, {"all_trec"}).evaluate(run)
    monkeypatch.setattr(pytrec_eval_names, "_Extension", None)
    assert harness.compat.RelevanceEvaluator(qrels, {"all_trec"}).evaluate(run) == expected
