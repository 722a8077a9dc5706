"""One run, or several run files, against judgements, without a config.

Apart from :mod:`harness.experiment`, so that ``harness evaluate`` starts without what only a
config needs: its schema, YAML, the files of results.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from . import inputs, readers
from . import metrics as _built_in
from .core.align import align, align_parts, as_reference
from .core.aligned import Aligned
from .core.bounds import BOUNDS, with_bounds, without_bounds
from .core.convention import contradiction
from .core.evaluate import evaluate as evaluate_aligned
from .core.evaluation import Evaluation
from .core.file_names import readable_name
from .core.grade_check import check_grades, takes_fractions
from .core.leaderboard import TEXTS, Entry, Leaderboard, numbers_of
from .core.metric import Metric
from .core.names import parse_all
from .core.policy import Duplicates, Policy
from .core.tables import Qrels, Run
from .core.views import policies_of
from .errors import (
    AlignmentError,
    HarnessError,
    HarnessWarning,
    InputError,
    Problem,
    UnknownNameError,
    did_you_mean,
)
from .escaping import said_of_alike
from .readers import FORMATS

del _built_in


def evaluate(
    qrels: Any,
    run: Any,
    metrics: Iterable[str | Metric],
    *,
    policy: Policy | Mapping[str, Any] | None = None,
    rel: int | None = None,
    convention: str | None = None,
    n: Any = None,
    qids: Any = None,
    references: Mapping[str, Any] | None = None,
    name: str = "",
    dataset: str = "",
) -> Evaluation:
    """Evaluate one run against judgements, whatever form both are in.

    Parameters
    ----------
    qrels, run : see below
        Judgements and one run (call it again for another), each in any of these forms:

        * a path, in any format of :mod:`harness.readers`, compressed or not;
        * ``{qid: {docno: number}}`` with strings for qids and docnos;
        * an Arrow table, a pandas or polars data frame with columns qid, docno and grade or
          score, under their usual names;
        * a tuple of columns ``(qids, docnos, numbers)``;
        * :class:`Qrels` and :class:`Run`.

        Learning-to-rank rows: `qrels` as a path to the file, or two columns ``(qids, grades)``;
        `run` as a path of predictions or an array of shape (n_rows,), in the order of the rows.

        A padded batch: grades and scores of shape (B, L) or (B, L, 1), with `n` and `qids`.

        Grades are whole numbers, or fractions where one of the metrics accepts them.
    metrics : iterable of str or Metric
        Names in any spelling; ``harness metrics`` lists them.
    policy : Policy or mapping, optional
        Ties, missing and empty queries, depth; ``{"ties": "stable"}`` is enough. In a mapping
        ties can be ``bounds``: each metric is followed by its smallest, expected and largest
        value over all orders of tied documents.
    rel : int, optional
        Smallest relevant grade, for the metrics that have one and do not name it.
    convention : str, optional
        A tool whose settings every metric takes, unless it names its own: ``lightgbm``.
    n, qids : array_like, optional
        For a padded batch: documents of each query, shape (B,), and its identifier.
    references : mapping of str to run, optional
        Runs that metrics such as ``rbo(reference=bm25)`` compare to.
    name, dataset : str
        Names for the table.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError, AlignmentError, UnknownNameError
        Where the input is wrong, does not fit together, or a metric does not exist.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1, "d2": 0}}
    >>> run = {"q1": {"d1": 0.2, "d2": 0.9}}
    >>> evaluate(qrels, run, ["P@1", "recip_rank"]).to_dict()
    {'q1': {'P@1': 0.0, 'recip_rank': 0.5}}
    """
    wanted = _wanted(metrics, rel, convention)
    if isinstance(policy, Mapping):
        ties = policy.get("ties", "trec_eval")
        wanted = with_bounds(wanted) if ties == BOUNDS else wanted
        policy = Policy(**{**policy, "ties": without_bounds(ties)})
    policy = policy or Policy()
    _check_beside(convention, policy)
    also = policies_of(wanted, policy)
    others = references or {}

    def reference(key: str) -> Run:
        if key not in others:
            raise UnknownNameError(
                f"reference={key}: no such run{did_you_mean(key, others)}; "
                f"give references={{'{key}': run}}"
            )
        return inputs.as_table(Run, others[key])

    fractions = takes_fractions(wanted, policy)
    judgements, given = inputs.as_pair(qrels, run, n=n, qids=qids, fractions=fractions)
    check_grades(judgements, wanted, policy)
    stream: Callable[[], Aligned | Iterable[Aligned]]
    if isinstance(given, Run):
        stream, read = partial(align_parts, judgements, given, policy, also=also), lambda: given
    else:
        stream = partial(readers.align_run, judgements, given, policy, also)
        read = partial(readers.read_run, given, dataset=judgements)
    return evaluate_one(
        judgements, wanted, policy, stream=stream, read=read, reference=reference,
        run=name, dataset=dataset,
    )  # fmt: skip


def evaluate_files(
    qrels: str,
    runs: Sequence[str],
    metrics: Iterable[str],
    *,
    policy: Policy | None = None,
    bounds: bool = False,
    rel: int | None = None,
    convention: str | None = None,
    duplicates: Duplicates = "error",
    qrels_format: str | None = None,
    run_format: str | None = None,
    group: str | None = None,
    plugins: Sequence[str] = (),
) -> Leaderboard:
    """Evaluate run files against one file of judgements, as ``harness evaluate`` does.

    A metric's ``reference`` names one of the runs by its file name without endings.
    """
    _load(plugins)
    wanted, policy = _wanted(metrics, rel, convention), policy or Policy()
    if not numbers_of(wanted):
        texts = dict.fromkeys(one.definition.name for one in wanted)
        said = " and ".join(f"{name} is {TEXTS[name]}" for name in texts)
        raise UnknownNameError(f"{said}, and no number; name another metric too")
    _check_beside(convention, policy)
    wanted = with_bounds(wanted) if bounds else wanted
    also = policies_of(wanted, policy)
    how = {"group": group} if group else {}
    judgements = readers.read_qrels(
        qrels, format=qrels_format, duplicates=duplicates,
        fractions=takes_fractions(wanted, policy), **how,
    )  # fmt: skip
    check_grades(judgements, wanted, policy)
    names = _short_names(runs)
    (dataset,) = _short_names([qrels])
    options: dict[str, Any] = {"format": run_format, "duplicates": duplicates}
    for said in said_of_alike("runs", names):
        warnings.warn(said, HarnessWarning, stacklevel=2)

    def read(name: str) -> Run:
        if name not in names:
            raise UnknownNameError(
                f"reference={name}: no such run{did_you_mean(name, names)}  "
                f"(all: {', '.join(names)})"
            )
        path = runs[names.index(name)]
        return readers.read_run(path, dataset=judgements, name=name, **options)

    entries = []
    pairs: Iterable[tuple[str, str]] = list(zip(runs, names, strict=True))
    if len(runs) > 1:
        from tqdm import tqdm

        pairs = tqdm(pairs, unit="run", disable=None)
    for path, name in pairs:
        stream = partial(readers.align_run, judgements, path, policy, also, name=name, **options)
        try:
            evaluation = evaluate_one(
                judgements, wanted, policy, stream=stream, read=partial(read, name), reference=read,
                run=name, dataset=dataset,
            )  # fmt: skip
        except AlignmentError as error:
            raise AlignmentError([_of_file(one, path) for one in error.problems]) from None
        entries.append(Entry(evaluation))
    return Leaderboard(tuple(entries))


def _of_file(problem: Problem, path: str) -> Problem:
    """Return a problem of a run with its file, and with options where it names a config's keys."""
    fix = problem.fix.replace("set missing_queries:", "give --missing")
    fix = fix.replace("set empty_queries:", "give --empty")
    return replace(problem, where=problem.where or path, fix=fix)


def _load(names: Sequence[str]) -> None:
    if not names:
        return
    from .config import plugins

    for name in names:
        try:
            plugins.load(name, Path())
        except plugins.PluginError as error:
            raise HarnessError(str(error)) from error


def _check_beside(convention: str | None, policy: Policy) -> None:
    overruled = contradiction(convention, policy)
    if overruled is not None:
        raise UnknownNameError(f"{overruled[0]}: {overruled[1]}")


def _wanted(
    metrics: Iterable[str | Metric], rel: int | None, convention: str | None
) -> tuple[Metric, ...]:
    given = {"rel": rel, "convention": convention}
    wanted = parse_all(metrics, {name: value for name, value in given.items() if value is not None})
    if not wanted:
        raise UnknownNameError("no metric was named; 'harness metrics' lists them")
    return wanted


def evaluate_one(
    qrels: Qrels,
    metrics: Sequence[Metric],
    policy: Policy,
    *,
    stream: Callable[[], Aligned | Iterable[Aligned]],
    read: Callable[[], Run],
    reference: Callable[[str], Run],
    seen: Callable[[Aligned], Aligned] | None = None,
    run: str = "",
    dataset: str = "",
) -> Evaluation:
    """Evaluate one run: as it streams past, or whole where a metric compares it to another.

    `seen` is shown what was aligned, in parts where it comes in parts, and returns it.
    """
    names = {metric.reference for metric in metrics if metric.reference is not None}
    if names:
        ranking = read()
        aligned = align(qrels, ranking, policy, policies_of(metrics, policy))
        if seen is not None:
            aligned = seen(aligned)
        whole = replace(policy, missing_queries="zero")
        also = policies_of(metrics, whole)
        references = {
            name: align(as_reference(reference(name), aligned.qids, policy), ranking, whole, also)
            for name in names
        }
        found = evaluate_aligned(aligned, metrics, references=references, run=run, dataset=dataset)
    else:
        parts = stream()
        if seen is not None:
            parts = map(seen, [parts] if isinstance(parts, Aligned) else parts)
        found = evaluate_aligned(parts, metrics, run=run, dataset=dataset)
    if found.counts.retrieved and not found.counts.judged:
        what = (
            f"{' on '.join(filter(None, (run, dataset))) or 'run'}: none of the "
            f"{found.counts.retrieved:,} documents retrieved is judged; are these qrels of another "
            "collection, or docnos written in another way?"
        )
        warning = HarnessWarning(what, "nothing-judged", found.counts.retrieved)
        warnings.warn(warning, stacklevel=3)
    return found


def _short_names(paths: Sequence[str]) -> list[str]:
    """Return file names without endings, whole paths where two would be the same.

    >>> _short_names(["a/bm25.run.gz", "b/dense.run"]), _short_names(["a/x.run", "b/x.run"])
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
        raise InputError(Problem(twice, "the run is named twice", fix="name each run once"))
    return names if len(set(names)) == len(names) else list(map(readable_name, paths))
