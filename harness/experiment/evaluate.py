"""Evaluation of one run, or of several run files, without a config.

It loads nothing that only a config needs, so that ``harness evaluate`` starts quickly.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import metrics as _built_in
from .. import readers
from ..core.align import first_rows
from ..core.arguments import LEVEL, MAPPING, TEXT, check_arguments
from ..core.entries import Entry, Failed
from ..core.evaluation import Evaluation
from ..core.fusion import Fusion
from ..core.leaderboard import Leaderboard, numbers_of
from ..core.metric import Metric
from ..core.names import BOUNDS, parse_all, unproven_bound, with_bounds, without_bounds
from ..core.policy import Policy, RunDuplicates, ScoreOrder, policy_of
from ..core.policy_views import check_grades
from ..core.qrels_and_runs import Ranked, Run
from ..core.rules import finding
from ..core.settings import contradiction
from ..errors import (
    AlignmentError,
    Finding,
    HarnessError,
    InputError,
    Problem,
    ShortageError,
    UnknownNameError,
    counted,
    did_you_mean,
    warn_of,
    warning_of_errors,
)
from ..progress import track
from ..readers import in_memory as inputs
from ..readers.files import readable_name
from ..readers.format import FORMATS
from ..readers.lists import by_qid
from ..readers.passages import Passages
from ..readers.query_weights import weights_of
from ..readers.read import options_of_files
from ..readers.source import shown_name
from .visit import NOTICED, LoadedDataset, align_and_evaluate, read_dataset, visit

if TYPE_CHECKING:
    from ..config.cells import Cell
    from ..guard.visits import Visit

del _built_in
T = TypeVar("T")


def evaluate(
    qrels: Ranked,
    run: Ranked,
    metrics: Iterable[str | Metric],
    *,
    policy: Policy | Mapping[str, Any] | None = None,
    relevance_level: float | None = None,
    convention: str | None = None,
    n: Any = None,
    mask: Any = None,
    qids: Any = None,
    references: Mapping[str, Any] | None = None,
    weights: Any = None,
    name: str = "",
    dataset: str = "",
    columns: Mapping[str, str | int | None] | None = None,
    qrels_columns: Mapping[str, str | int | None] | None = None,
    order: ScoreOrder = "descending",
    duplicates: RunDuplicates = "error",
    documents: str | Mapping[str, str] | None = None,
) -> Evaluation:
    """Evaluate one run against qrels, given as files, dicts, data frames or arrays.

    Parameters
    ----------
    qrels, run : path, mapping, table or arrays
        Judgements and scores, each in one of these forms:

        * a path to a file of any supported format, compressed or not;
        * ``{qid: {docno: number}}``;
        * ``{qid: [docno, ...]}``: rankings for a run, relevant documents (lists or sets) for
          qrels; or the lists alone, with `qids`;
        * a list of rows: tuples ``(qid, docno, number)``, named tuples, or dicts;
        * an Arrow table, a pandas or polars data frame, or a dict of arrays, with columns for
          qid, docno and grade or score;
        * a tuple of columns ``(qids, docnos, numbers)``;
        * `Qrels` and `Run`.

        Learning-to-rank rows: give the file or ``(qids, grades)`` as `qrels`, and predictions in
        the order of its rows as `run`: a file, or an array of shape (n_rows,).

        Padded batches: give grades and scores of shape (B, L) or (B, L, 1), with `n` or `mask`,
        and optionally `qids`. Or give both in shape (n_rows,), with the group sizes as `n`, as for
        LightGBM. If you have the qid of each row, give ``(qids, grades)`` instead.

        Grades may be fractions if a metric's page in the reference allows it.
    metrics : iterable of str or Metric
        Names in any spelling, such as ``ndcg@10``; ``harness metrics`` lists them.
    policy : Policy or mapping, optional
        Treatment of ties, missing and empty queries, and depth, such as ``{"ties": "stable"}``; see
        `harness.Policy`.
    relevance_level : float, optional
        Smallest relevant grade, for metrics without ``rel=``.
    convention : str, optional
        Compute every metric as this tool does, such as ``lightgbm``, unless the metric's name has
        its own convention.
    n : array_like, shape (B,), optional
        For arrays: number of documents of each query.
    mask : array_like of bool, shape (B, L), optional
        For padded batches, in place of `n`: True for a document, False for padding.
    qids : array_like, shape (B,), optional
        For arrays and lists: qid of each query.
    references : mapping of str to run, optional
        Runs that metrics such as ``rbo(reference=bm25)`` compare with.
    weights : mapping of str to number, or path, optional
        Weight of each query in means, such as its traffic: ``{qid: number}``, or a file and column
        as ``"traffic.csv:impressions"``. Weights are at least 0.
    name, dataset : str
        Names of the run and of the dataset in the table.
    columns, qrels_columns : mapping, optional
        Names or numbers (from 1) of the columns of the run and of the qrels, in files, data frames
        and dicts of arrays: ``{"qid": "topic", "docno": "passage", "score": 4}``.
    order : {"descending", "ascending"}
        ``ascending`` if the lowest score is best, as for distances and losses.
    duplicates : {"error", "first", "last", "best"}
        If a query has a docno twice: an error, or the row to keep (``best``: of the best score).
    documents : str or mapping, optional
        Pattern that finds the document in the docno of a passage, as for `harness.read_run`.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError, AlignmentError, UnknownNameError
        If the input is wrong, does not fit together, or a metric does not exist.

    Warns
    -----
    HarnessWarning
        If predictions seem to belong to other rows, as they fit the grades clearly better in
        another order, shifted, or negated.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1, "d2": 0}}
    >>> run = {"q1": {"d1": 0.2, "d2": 0.9}}
    >>> evaluation = evaluate(qrels, run, ["P@1", "recip_rank"])
    >>> evaluation.summary()["recip_rank"]
    0.5
    >>> evaluation.to_dict()
    {'q1': {'P@1': 0.0, 'recip_rank': 0.5}}
    """
    check_arguments(locals(), relevance_level=LEVEL.or_none(), convention=TEXT.or_none())
    check_arguments(locals(), references=MAPPING.or_none(), name=TEXT, dataset=TEXT)
    table = None if weights is None else weights_of(weights)
    evaluation, visited, _ = _evaluated(
        qrels, run, metrics, policy, relevance_level, convention, n=n, mask=mask, qids=qids,
        references=references, name=name, dataset=dataset, columns=columns,
        qrels_columns=qrels_columns, order=order, duplicates=duplicates, documents=documents,
    )  # fmt: skip
    if visited is not None:
        _warn_of_rows([visited])
    return evaluation if table is None else table.weigh(evaluation)


_OF_RUNS = """
policy relevance_level convention weights columns qrels_columns order duplicates documents
"""


def settings_of_runs(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that functions of several runs share."""
    return {name: arguments[name] for name in _OF_RUNS.split()}


def check_usual(settings: Mapping[str, Any], got: str, fix: str) -> None:
    """Raise InputError for a setting of runs, if there are none to evaluate."""
    usual = {"order": "descending", "duplicates": "error", "dataset": "", "metrics": ()}
    for name, value in settings.items():
        if value is not None and not (isinstance(value, (str, tuple)) and value == usual.get(name)):
            raise InputError(Problem(name, f"expected runs, got {got}", fix=fix.format(name)))


def leaderboard_of_runs(
    qrels: Ranked,
    runs: Mapping[str, Ranked],
    metrics: Iterable[str | Metric],
    *,
    dataset: str,
    weights: Any,
    **settings: Any,
) -> Leaderboard:
    """Evaluate several runs by name, as `evaluate` evaluates one; they are references too.

    `weights` and `settings` are those of `settings_of_runs`.
    """
    if not runs:
        raise InputError(Problem("runs", "expected a run, got none", fix="give {name: run}"))
    check_arguments({"runs": runs, "dataset": dataset}, runs=MAPPING, dataset=TEXT)
    check_arguments(settings, relevance_level=LEVEL.or_none(), convention=TEXT.or_none())
    metrics = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    metrics = list(metrics) if isinstance(metrics, Iterable) else metrics
    table = None if weights is None else weights_of(weights)
    entries: list[Entry] = []
    visits: list[Visit] = []
    for name, run in runs.items():
        evaluation, visited, findings = _evaluated(
            qrels, run, metrics, references=runs, name=name, dataset=dataset, **settings
        )
        evaluation = evaluation if table is None else table.weigh(evaluation)
        marks = (finding.rule for finding in findings)
        entries.append(Entry(evaluation, warned=tuple(mark for mark in marks if mark in NOTICED)))
        visits += [] if visited is None else [visited]
    if visits:
        _warn_of_rows(visits)
    return Leaderboard(tuple(entries))


def _warn_of_rows(visits: Sequence[Visit]) -> None:
    from ..guard.sweep import findings_of_rows  # which runs that name their documents do not need

    warn_of(findings_of_rows(visits))


def _evaluated(
    qrels: Any, run: Any, metrics: Any, policy: Any, relevance_level: float | None,
    convention: str | None, n: Any = None, mask: Any = None, qids: Any = None,
    references: Mapping[str, Any] | None = None,
    name: str = "", dataset: str = "", **files: Any,
) -> tuple[Evaluation, Visit | None, Sequence[Finding]]:  # fmt: skip
    """Evaluate one run, and warn of findings, which are returned too.

    Also return the visit, if scores could belong to other rows.
    """
    ties = policy.get("ties") if isinstance(policy, Mapping) else None
    bounds = isinstance(ties, str) and ties == BOUNDS
    if isinstance(policy, Mapping) and bounds:
        policy = {**policy, "ties": without_bounds(BOUNDS)}
    policy = policy_of(policy)
    of_qrels, of_runs = options_of_files(**files)
    runs, fix = references or {}, "give references={name: run}"
    parsed = _wanted(metrics, policy, bounds, relevance_level, convention, runs, fix)
    for given in (qrels, run, *runs.values()):
        if isinstance(given, (str, os.PathLike)):
            readers.check_there(given)

    def reference(key: str) -> Run:
        run = by_qid(runs[key], qids)
        return inputs.as_table(Run, run, f"references[{key!r}]", **of_runs)

    place = None
    is_file = isinstance(qrels, (str, os.PathLike))
    with readers.reading(qrels) if is_file else contextlib.nullcontext(qrels) as qrels:
        judgements, given = inputs.as_pair(
            qrels, run, n=n, mask=mask, qids=qids, of_qrels=of_qrels, of_runs=of_runs,
            references=runs.values(),
        )  # fmt: skip
    if is_file:
        place = partial(readers.place_of_row, qrels)
    check_grades(judgements, parsed, policy, place=place)
    if qrels.by_sizes if is_file else n is not None and np.ndim(qrels) == 1:
        from ..guard.datasets import group_order

        warn_of(group_order(judgements))
    names = dataset, name
    if isinstance(given, Run) and given.docnos is not judgements.docnos:
        findings = list[Finding]()
        evaluation = align_and_evaluate(
            judgements,
            given,
            parsed,
            policy,
            report=findings.append,
            reference=reference,
            names=names,
            place=place,
        )
        assert evaluation is not None
        if evaluation.counts.none_judged:
            findings.append(_nothing_judged(evaluation))
        if findings:
            warn_of(findings)
        return evaluation, None, findings
    from ..config.cells import cell_of_files  # which runs that name their documents do not need
    from ..guard.datasets import JudgementFacts

    in_memory = given if isinstance(given, Run) else None
    path = name or ("run" if isinstance(given, Run) else os.fspath(given))
    cell = cell_of_files("these rows", path, {}, of_runs, names)
    loaded = LoadedDataset(judgements, JudgementFacts(), place=place)
    visited = visit(
        cell,
        loaded,
        parsed,
        policy,
        run=in_memory,
        opens=lambda _: readers.Source(os.fspath(run)),
        reference=reference,
        rows_only=True,
    )
    findings = [*visited.findings]
    if visited.value().counts.none_judged:
        findings.append(_nothing_judged(visited.value()))
    warn_of(one for one in findings if one.rule != "guard-failed")
    return visited.value(), visited, findings


def _nothing_judged(evaluation: Evaluation) -> Finding:
    """Return the warning that no document of a run is judged; the guard gives it for files."""
    n = evaluation.counts.retrieved
    subject = " on ".join(filter(None, (evaluation.run, evaluation.dataset))) or "run"
    message = f"none of the {counted(n, 'document')} is judged"
    return finding("nothing-judged", subject, message, n, severity="warning")


def evaluate_files(
    qrels: str,
    runs: Sequence[str],
    metrics: Iterable[str],
    *,
    policy: Policy | None = None,
    bounds: bool = False,
    relevance_level: float | None = None,
    convention: str | None = None,
    plugins: Sequence[str] = (),
    accept: Sequence[str] = (),
    keep_going: bool = False,
    fuse: str | None = None,
    write: str | os.PathLike[str] | None = None,
    **files: Any,
) -> Leaderboard:
    """Evaluate run files against one file of judgements, as ``harness evaluate`` does.

    A metric's ``reference`` names one of the runs by its file name without endings. The guard
    warns as in ``harness run``, but for rules in `accept`; as no config could accept its errors,
    they are warnings. With `keep_going`, runs that cannot be evaluated are in ``failed``, if others
    can. `fuse` is the text of a `Fusion`, which adds a run of all the others; it is also written
    to the file `write`, up to the policy's depth. `files` are options of `options_of_files`.
    """
    _load(plugins)
    from ..config.cells import cell_of_files, fused_cell  # which `harness.evaluate` does not need
    from ..guard.findings import accept_findings
    from ..guard.sweep import guard

    policy = policy or Policy()
    paths = dict(zip(short_names(runs), runs, strict=True))
    fix = f"name one of the runs: {', '.join(paths)}"
    parsed = _wanted(metrics, policy, bounds, relevance_level, convention, paths, fix)
    _check_has_number(parsed)
    of_qrels, of_runs = options_of_files(**files)
    for path, options in ((qrels, of_qrels), *((run, of_runs) for run in runs)):
        readers.check_there(path)
        if "format" in options:
            readers.named_format(options["format"], path)
    (dataset,) = short_names([qrels])
    label = Path(shown_name(qrels)).name

    def reference(name: str) -> Run:
        source = readers.Source(paths[name])
        return readers.read_run(source, dataset=loaded.qrels, name=name, **of_runs)

    def cell_of(name: str) -> Cell:
        path = shown_name(paths[name])
        return cell_of_files(shown_name(qrels), path, of_qrels, of_runs, (dataset, name))

    fused, written = "", list[Run]()
    if fuse is not None:
        fusion = Fusion.parse(fuse)
        fusion.check_number(len(paths))
        if "documents" in of_runs:
            of_runs["documents"] = Passages.of(of_runs["documents"], len(paths))
        fused = fusion.method if fusion.method not in paths else f"fused-{fusion.method}"
        of_fused = fused, fusion
    elif write is not None:
        message = "expected --fuse with it, got none"
        raise UnknownNameError(Problem("--write", message, fix="add --fuse rrf"))
    sources = {shown_name(path): path for path in paths.values()}

    def visited(name: str) -> Visit:
        cell = cell_of(name) if name in paths else fused_cell(map(cell_of, paths), *of_fused)
        visit_of_run = visit(
            cell,
            loaded,
            parsed,
            policy,
            opens=lambda path: readers.Source(sources[path]),
            reference=reference,
            watch=lambda run, _: written.append(run) if name == fused and write else None,
        )
        return replace(visit_of_run, findings=(*loaded.findings, *visit_of_run.findings))

    with warning_of_errors():
        cell = cell_of_files(shown_name(qrels), shown_name(runs[0]), of_qrels, of_runs, (label, ""))
        loaded = read_dataset(cell, readers.Source(qrels), parsed, policy)
        visits = _each({**paths, fused: fused} if fused else paths, visited)
        done = [one for one in visits if one.error is None]
        guarded = guard(dict(enumerate(done)), {}, {}, accept=accept, only_warns=True)
    # the guard does not look at a run whose reader failed
    failed = [one for one in visits if one.error is not None]
    of_failed = chain.from_iterable(one.findings[len(loaded.findings) :] for one in failed)
    warn_of((*accept_findings([*of_failed], accept), *guarded.shown))
    errors = {one.cell.run: one.error for one in failed if one.error is not None}
    errors |= {done[place].cell.run: error for place, error in guarded.failed.items()}
    if errors and not (len(errors) < len(visits) and keep_going):
        raise _as_one([*errors.values()])
    if write is not None:
        for run in written:
            if policy.depth is not None:
                first = first_rows(run, policy.depth, policy)
                run = run.filter(np.isin(np.arange(run.n_rows), first))
            inputs.write_run(write, run)
    entries = (
        Entry(one.value(), warned=guarded.marks.get(place, ()))
        for place, one in enumerate(done)
        if place not in guarded.failed
    )
    texts = {name: str(error) for name, error in errors.items()}
    rows = (
        Failed(dataset, name, {}, text, brief=text.partition("\n")[0])
        for name, text in texts.items()
    )
    return Leaderboard(tuple(entries), tuple(rows))


def _load(plugins: Iterable[str]) -> None:
    for plugin in plugins:
        from ..config import plugins as plugin_files

        try:
            plugin_files.load_plugin(plugin, Path())
        except plugin_files.PluginError as error:
            problems = [replace(problem, where="plugins") for problem in error.problems]
            raise HarnessError(problems) from error


def _each(paths: Mapping[str, str], visited: Callable[[str], Visit]) -> list[Visit]:
    """Return the visit of each run; a shortage ends them all."""
    visits = []
    for name in track([*paths], "run"):
        visited_run = visited(name)
        if isinstance(visited_run.error, ShortageError):
            raise visited_run.error
        if isinstance(visited_run.error, AlignmentError):
            visited_run = _explained(visited_run, visited_run.error.problems, paths[name])
        visits.append(visited_run)
    return visits


def _explained(visit_of_run: Visit, problems: Sequence[Problem], path: str) -> Visit:
    """Return a visit whose qrels and run do not belong together, with the cause if it is known."""
    places = [replace(problem, where=problem.where or path) for problem in problems]
    findings: Sequence[Finding] = visit_of_run.findings
    rules = [problem.rule for problem in problems]
    if visit_of_run.source is not None and rules == ["no-common-query"]:
        from ..guard.documents import explain_no_common_query  # for errors alone
        from ..guard.findings import qrels_of, without_effects

        cell = visit_of_run.cell
        cause = explain_no_common_query(cell, qrels_of(cell), {})
        if cause is not None:
            places = [cause.problem]
            findings = [one for one in without_effects([*findings, cause]) if one != cause]
    return replace(visit_of_run, error=AlignmentError(places), findings=tuple(findings))


def _as_one(errors: Sequence[HarnessError]) -> HarnessError:
    if len(errors) == 1:
        return errors[0]
    return InputError([*dict.fromkeys(problem for error in errors for problem in error.problems)])


def _check_has_number(metrics: Sequence[Metric]) -> None:
    """Raise UnknownNameError if no metric has a number, which a leaderboard needs."""
    if not numbers_of(metrics):
        texts = ", ".join(dict.fromkeys(metric.definition.name for metric in metrics))
        message = f"expected a metric with a number too, got {texts}"
        raise UnknownNameError(Problem("metrics", message, fix="add one, such as -m ndcg@10"))


def _wanted(
    metrics: Iterable[str | Metric], policy: Policy, bounds: bool, relevance_level: float | None,
    convention: str | None, runs: Mapping[str, Any], fix: str,
) -> tuple[Metric, ...]:  # fmt: skip
    """Return the requested metrics, with the bounds of each if these are requested too.

    UnknownNameError, with a `fix`, if a metric compares with a run that is not among these.
    """
    defaults = {"rel": relevance_level, "convention": convention}
    parsed = parse_all(metrics, {name: one for name, one in defaults.items() if one is not None})
    if not parsed:
        message = "expected at least one metric, got none"
        raise UnknownNameError(Problem("metrics", message, fix="add one, such as ndcg@10"))
    overruled = None if convention is None else contradiction(convention, policy)
    if overruled is not None:
        raise UnknownNameError(overruled)
    for name in (metric.reference for metric in parsed):
        if name is not None and name not in runs:
            message = f"reference={name}: no such run{did_you_mean(name, map(str, runs))}"
            raise UnknownNameError(message, fix=fix)
    labelled = (metric for metric in parsed if metric.label is not None)
    for problem in filter(None, (unproven_bound(metric, policy) for metric in labelled)):
        raise UnknownNameError(problem)
    return with_bounds(parsed, policy) if bounds else parsed


def short_names(paths: Sequence[str]) -> list[str]:
    """Return file names without endings, whole paths if two would be the same.

    >>> short_names(["a/bm25.run.gz", "b/dense.run"]), short_names(["a/x.run", "b/x.run"])
    (['bm25', 'dense'], ['a/x.run', 'b/x.run'])
    """
    endings = (".gz", ".bz2", ".xz", ".zst", *(e for f in FORMATS.values() for e in f.suffixes))
    names = []
    for path in paths:
        name = readable_name(Path(path).name)
        while name.endswith(endings) and len(name) > len(Path(name).suffix):
            name = Path(name).stem
        names.append(name)
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise InputError(
            Problem(twice, "expected each run once, got it twice", fix="name each run once")
        )
    return names if len(set(names)) == len(names) else list(map(readable_name, paths))
