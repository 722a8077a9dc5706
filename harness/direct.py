"""One run, or several run files, against judgements, without a config.

Apart from :mod:`harness.experiment`, so that ``harness evaluate`` starts without what only a
config needs: its schema, YAML, the files of results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from . import inputs, readers
from . import metrics as _built_in
from .core.align import align, align_parts, as_reference
from .core.aligned import Aligned
from .core.evaluate import evaluate as evaluate_aligned
from .core.evaluation import Evaluation
from .core.leaderboard import Entry, Leaderboard
from .core.metric import Metric
from .core.names import parse_all
from .core.policy import Duplicates, Policy
from .core.tables import Qrels, Run
from .errors import UnknownNameError, did_you_mean

del _built_in


def evaluate(
    qrels: Any,
    run: Any,
    metrics: Iterable[str | Metric],
    *,
    policy: Policy | None = None,
    rel: int | None = None,
    n: Any = None,
    qids: Any = None,
    references: Mapping[str, Any] | None = None,
    name: str = "",
    dataset: str = "",
) -> Evaluation:
    """Evaluate one run against judgements, whatever form both are in.

    Parameters
    ----------
    qrels, run : path, mapping, Arrow table, data frame, tuple of columns, arrays, or tables
        See :func:`harness.inputs.as_pair`. Two arrays of shape (B, L), grades and scores, are
        a padded batch.
    metrics : iterable of str or Metric
        Names in any spelling; ``harness metrics`` lists them.
    policy : Policy, optional
        Ties, missing and empty queries, depth.
    rel : int, optional
        Smallest relevant grade, for the metrics that have one and do not name it.
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
    wanted = parse_all(metrics, {"rel": rel} if rel is not None else None)
    others = references or {}

    def reference(key: str) -> Run:
        if key not in others:
            raise UnknownNameError(
                f"reference={key}: no such run{did_you_mean(key, others)}; "
                f"give references={{'{key}': run}}"
            )
        return inputs.as_table(Run, others[key])

    judgements, given = inputs.as_pair(qrels, run, n=n, qids=qids)
    stream: Callable[[], Aligned | Iterable[Aligned]]
    if isinstance(given, Run):
        stream, read = partial(align_parts, judgements, given, policy), lambda: given
    else:
        stream = partial(readers.align_run, judgements, given, policy)
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
    rel: int | None = None,
    duplicates: Duplicates = "error",
    qrels_format: str | None = None,
    run_format: str | None = None,
) -> Leaderboard:
    """Evaluate run files against one file of judgements, as ``harness evaluate`` does.

    A metric's ``reference`` names one of the runs by its file name without endings.
    """
    wanted = parse_all(metrics, {"rel": rel} if rel is not None else None)
    judgements = readers.read_qrels(qrels, format=qrels_format, duplicates=duplicates)
    names = _short_names(runs)
    options: dict[str, Any] = {"format": run_format, "duplicates": duplicates}

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
        stream = partial(readers.align_run, judgements, path, policy, name=name, **options)
        evaluation = evaluate_one(
            judgements, wanted, policy, stream=stream, read=partial(read, name), reference=read,
            run=name,
        )  # fmt: skip
        entries.append(Entry(evaluation))
    return Leaderboard(tuple(entries))


def evaluate_one(
    qrels: Qrels,
    metrics: Sequence[Metric],
    policy: Policy | None,
    *,
    stream: Callable[[], Aligned | Iterable[Aligned]],
    read: Callable[[], Run],
    reference: Callable[[str], Run],
    run: str = "",
    dataset: str = "",
) -> Evaluation:
    """Evaluate one run: as it streams past, or whole where a metric compares it to another."""
    names = {metric.reference for metric in metrics if metric.reference is not None}
    if not names:
        return evaluate_aligned(stream(), metrics, run=run, dataset=dataset)
    ranking = read()
    aligned = align(qrels, ranking, policy)
    whole = replace(policy or Policy(), missing_queries="zero")
    references = {
        name: align(as_reference(reference(name), aligned.qids, policy), ranking, whole)
        for name in names
    }
    return evaluate_aligned(aligned, metrics, references=references, run=run, dataset=dataset)


def _short_names(paths: Sequence[str]) -> list[str]:
    """Return file names without endings, whole paths where two would be the same.

    >>> _short_names(["a/bm25.run.gz", "b/dense.run"]), _short_names(["a/x.run", "b/x.run"])
    (['bm25', 'dense'], ['a/x.run', 'b/x.run'])
    """
    endings = (".gz", ".bz2", ".xz", ".zst", ".run", ".txt", ".trec", ".res", ".tsv", ".csv")
    names = []
    for path in paths:
        name = Path(path).name
        while name.endswith(endings) and len(name) > len(Path(name).suffix):
            name = Path(name).stem
        names.append(name)
    return names if len(set(names)) == len(names) else list(paths)
