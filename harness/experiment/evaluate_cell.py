"""One run on one dataset: read, align, evaluate, and let the guard look at it.

Every evaluation of files goes through here, with a config or without; what is found on the way goes
to the collector around (see `harness.errors.notice`). It loads nothing that only a
config needs, so that ``harness evaluate`` starts quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import readers as readers
from ..core.align import align, align_parts, as_reference
from ..core.aligned import Aligned
from ..core.evaluation import Evaluation
from ..core.evaluation import evaluate as evaluate_aligned
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.policy_views import check_grades, policies_of
from ..core.qrels_and_runs import Qrels, Run
from ..core.rules import finding
from ..errors import Finding, notice
from ..readers.format import Path
from ..readers.rows import unscored_rows

if TYPE_CHECKING:
    from ..config.cells import Cell
    from ..guard.watch import Facts, JudgementFacts

NOTICED = ("unscored-rows", "nothing-judged")
"""Rules of `evaluate_run`, which are about the run alone."""
GetRun = Callable[[str], Run]
"""Returns the run of a name, which a metric compares with."""


@dataclass(frozen=True, eq=False)
class LoadedDataset:
    """Judgements and what the guard knows of them; no facts if it failed."""

    qrels: Qrels
    facts: JudgementFacts | None


def read_dataset(
    source: readers.Source, metrics: Sequence[Metric], policy: Policy, *, name: str, **options: Any
) -> LoadedDataset:
    """Read the judgements of a dataset for some metrics.

    InputError if they cannot be read, or a metric refuses their grades.
    """
    from ..guard.watch import judgement_facts  # which `harness.evaluate` does not need

    failures = list[Finding]()
    qrels = readers.read_qrels(source, name=name, **options)
    check_grades(qrels, metrics, policy, place=partial(readers.place_of_row, source))
    facts = judgement_facts(qrels, source, failures)
    for one in failures:
        notice(one)
    return LoadedDataset(qrels, facts)


def evaluate_cell(
    cell: Cell, dataset: LoadedDataset, source: readers.Source, metrics: Sequence[Metric],
    policy: Policy, *, reference: GetRun, watch: Callable[[Run, bool], None] | None = None,
) -> tuple[Evaluation, Facts | None]:  # fmt: skip
    """Evaluate the run of a cell, from its file; return its values and what the guard knows of it.

    `watch` gets every part of the run and whether it is the first.
    """
    from ..guard.watch import Watch, facts_of

    guard = Watch(dataset.qrels, policy, source.name)

    def watch_all(part: Run, begins: bool) -> None:
        guard.run(part, begins)
        if watch is not None:
            watch(part, begins)

    evaluation = evaluate_run(
        dataset.qrels, source, metrics, policy, reference=reference, watch=watch_all,
        seen=guard.aligned, names=(cell.dataset, cell.run), **cell.run_entry.options(),
    )  # fmt: skip
    facts = facts_of(dataset.facts, guard, source)
    for one in guard.failures:
        notice(one)
    return evaluation, facts


def evaluate_run(
    qrels: Qrels, run: Run | Path, metrics: Sequence[Metric], policy: Policy, *,
    reference: GetRun, names: tuple[str, str], watch: Callable[[Run, bool], None],
    seen: Callable[[Aligned], Aligned] | None = None, **options: Any,
) -> Evaluation:  # fmt: skip
    """Evaluate a run: as it streams past, or whole if a metric compares it with another run.

    `watch` gets every part of the run as it was read, `seen` every part as it was aligned, and
    returns it.
    """
    place = " on ".join(filter(None, names[::-1])) or "run"

    def watched(parts: Iterable[Aligned]) -> Iterator[Aligned]:
        for part in parts:
            if (unscored := unscored_rows(part, qrels, place)) is not None:
                notice(replace(unscored, severity="warning"))
            yield part if seen is None else seen(part)

    also = policies_of(metrics, policy)
    others = {metric.reference for metric in metrics if metric.reference is not None}
    references = {}
    parts: Iterable[Aligned]
    if others:
        whole = run
        if not isinstance(whole, Run):
            whole = readers.read_run(whole, dataset=qrels, name=names[1], **options)
        watch(whole, True)
        aligned = align(qrels, whole, policy, also)
        parts = [aligned]
        every = replace(policy, missing_queries="zero")
        also = policies_of(metrics, every)
        for name in others:
            other = reference(name)
            if other.docnos is not qrels.docnos:
                qrels.check_named(other)
            judged = as_reference(other, aligned.qids, policy)
            references[name] = align(judged, whole, every, also)
    elif isinstance(run, Run):
        watch(run, True)
        parts = align_parts(qrels, run, policy, also)
    else:
        parts = readers.align_run(qrels, run, policy, also, name=names[1], watch=watch, **options)
    found = evaluate_aligned(
        watched(parts), metrics, references=references,
        dataset=names[0], run=names[1],
    )  # fmt: skip
    if found.counts.retrieved and not found.counts.judged:
        n = found.counts.retrieved
        what = f"none of the {n:,} retrieved documents is judged"
        notice(finding("nothing-judged", place, what, n))
    return found
