"""One visit to a cell: read, align, watch and evaluate one run on one dataset.

Files with a config and without, data in memory, ``harness check`` (a visit that evaluates nothing)
and the workers of a run all go through here. It loads nothing that only a config needs, so that
``harness evaluate`` starts quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import readers
from ..core.align import PART, align, align_parts, as_reference
from ..core.aligned import Aligned
from ..core.evaluation import Evaluation
from ..core.evaluation import evaluate as evaluate_aligned
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.policy_views import check_grades, check_lengths, policies_of
from ..core.qrels_and_runs import Qrels, Run
from ..errors import Finding, HarnessError, Place
from ..guard.visits import Visit
from ..readers.ir_metadata import header_of
from ..readers.rows import unscored_rows
from ..readers.source import Source, shown_name

if TYPE_CHECKING:
    from ..config.cells import Cell
    from ..guard.submissions import Terms
    from ..guard.watch import JudgementFacts

NOTICED = ("unscored-rows", "nothing-judged")
"""Rules of `align_and_evaluate`, which are about the run alone."""
GetRun = Callable[[str], Run]
"""Returns the run of a name, which a metric compares with."""
PlaceOfRow = Callable[[int], Place]
"""Returns the place of a row of the judgements, counted from 0."""
OpenSource = Callable[[str], Source]
"""Opens a file to be read."""
Report = Callable[[Finding], None]
"""Takes a finding."""
Watcher = Callable[[Run, bool], None]
"""Gets every part of a run as it was read, and whether it is the first."""


@dataclass(frozen=True, eq=False)
class LoadedDataset:
    """Judgements of a dataset, with facts for the guard and findings of the reader.

    There are no facts if the guard failed, or if the judgements do not come from a file. `place`
    is that of each row of the file.
    """

    qrels: Qrels
    facts: JudgementFacts | None = None
    findings: tuple[Finding, ...] = ()
    place: PlaceOfRow | None = None


def read_dataset(
    cell: Cell, source: Source, metrics: Sequence[Metric], policy: Policy
) -> LoadedDataset:
    """Read the judgements of a cell for some metrics.

    InputError if they cannot be read, or a metric refuses their grades. The error has
    earlier findings as its `findings`.
    """
    from ..guard.watch import judgement_facts  # which `harness.evaluate` does not need

    place, failures = partial(readers.place_of_row, source), list[Finding]()
    try:
        qrels = cell.read_qrels(source)
        check_grades(qrels, metrics, policy, place=place)
    except HarnessError as error:
        error.findings = tuple(source.findings)
        raise
    facts = judgement_facts(qrels, source, failures)
    return LoadedDataset(qrels, facts, (*source.findings, *failures), place)


def visit(
    cell: Cell, dataset: LoadedDataset, metrics: Sequence[Metric], policy: Policy, *,
    opens: OpenSource = Source, run: Run | None = None, reference: GetRun | None = None,
    watch: Watcher | None = None, terms: Terms | None = None, evaluates: bool = True,
    rows_only: bool = False, whole: bool = False,
) -> Visit:  # fmt: skip
    """Visit a cell: read its run, align it to the dataset, watch both, and evaluate the metrics.

    `opens` opens the run's file, unless the `run` is in memory; `reference` returns the run of a
    name that a metric compares with. `watch` gets every part of the run as it was read, and whether
    it is the first. `terms` are those of a shared task that the run is submitted to.

    Unless it `evaluates`, the metrics only check grades. With `rows_only` the guard only checks
    scores for rows. If it is `whole`, the file may be read again for the lines of all findings. The
    visit has the `error` that ended it.
    """
    from ..guard.watch import Watch  # which small data in memory do not need

    qrels, findings = dataset.qrels, list[Finding]()
    place = shown_name(cell.run_entry.path)
    guard = Watch(qrels, policy, place, terms, rows_only=rows_only)
    source: Source | None = None
    evaluation, header, error = None, None, None

    def watch_all(part: Run, begins: bool) -> None:
        guard.run(part, begins)
        if watch is not None:
            watch(part, begins)

    try:
        given: Run | Source | None = run
        if given is None and cell.is_fused:
            given = cell.read_run(qrels, opens)
        elif given is None:
            given = source = opens(cell.run_entry.path)
            source.may_reread = whole
        evaluation = align_and_evaluate(
            qrels,
            given,
            metrics,
            policy,
            reference=reference,
            watch=watch_all,
            seen=guard.aligned,
            names=(cell.dataset, cell.run),
            evaluates=evaluates,
            place=dataset.place,
            report=findings.append,
            **cell.run_entry.options(),
        )
        header = header_of(source) if source is not None and source.n_comments else None
    except HarnessError as caught:
        error = caught
    facts = None
    if error is None:
        facts = guard.facts(dataset.facts, None if rows_only else source, whole=whole)
    findings = [*(source.findings if source else ()), *findings, *guard.failures]
    return Visit(cell, qrels.qids, evaluation, facts, tuple(findings), header, source, error)


def align_and_evaluate(
    qrels: Qrels, run: Run | Source, metrics: Sequence[Metric], policy: Policy, *, report: Report,
    reference: GetRun | None = None, names: tuple[str, str], watch: Watcher | None = None,
    seen: Callable[[Aligned], Aligned] | None = None, evaluates: bool = True,
    place: PlaceOfRow | None = None, **options: Any,
) -> Evaluation | None:  # fmt: skip
    """Evaluate a run: as it streams past, or whole if a metric compares it with another run.

    `watch` gets every part of the run as it was read, `seen` every part as it was aligned, and
    returns it. Unless it `evaluates`, the run is aligned only. `place` is that of each row of the
    judgements. `report` gets the findings about both; those of a file are with its source.
    """
    subject = " on ".join(filter(None, names[::-1])) or "run"

    def watched(parts: Iterable[Aligned]) -> Iterator[Aligned]:
        for part in parts:
            if part.n_unscored is not None:
                unscored = unscored_rows(part, part.n_unscored, qrels, subject)
                report(replace(unscored, severity="warning"))
            if policy.missing_queries == "skip":  # else the dataset was checked
                check_grades(qrels, metrics, policy, place=place, among=part.qids)
            yield part if seen is None else seen(part)

    def watched_parts(rows: Run) -> Iterator[Run]:
        for place, part in enumerate(rows.parts(PART)):
            if watch is not None:
                watch(part, place == 0)
            yield part

    references_asked = {metric.reference for metric in metrics if metric.reference is not None}
    also = policies_of(metrics, policy) if evaluates else []
    references = dict[str, Aligned]()
    parts: Iterable[Aligned]
    if references_asked and evaluates:
        assert reference is not None
        run_in_memory = run
        if not isinstance(run_in_memory, Run):
            run_in_memory = readers.read_run(run_in_memory, dataset=qrels, name=names[1], **options)
        if watch is not None:
            watch(run_in_memory, True)
        aligned = align(qrels, run_in_memory, policy, also)
        parts = [aligned]
        policy_of_references = replace(policy, missing_queries="zero")
        also = policies_of(metrics, policy_of_references)
        for name in references_asked:
            reference_run = reference(name)
            if reference_run.docnos is not qrels.docnos:
                qrels.check_named(reference_run)
            judged = as_reference(reference_run, aligned.qids, policy)
            references[name] = align(judged, run_in_memory, policy_of_references, also)
    elif not isinstance(run, Run):
        parts = readers.align_run(qrels, run, policy, also, name=names[1], watch=watch, **options)
    elif run.docnos is qrels.docnos:
        parts = align_parts(qrels, watched_parts(run), policy, also)
    else:
        if watch is not None:
            watch(run, True)
        parts = [align(qrels, run, policy, also)]
    if not evaluates:
        for part in watched(parts):
            check_lengths(part, metrics, policy, run.name)
        return None
    return evaluate_aligned(
        watched(parts), metrics, references=references, dataset=names[0], run=names[1]
    )
