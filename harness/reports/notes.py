"""Notes below tables: full sentences, the same in terminals, Markdown, pages and captions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

import numpy as np

from ..core.cell_key import pairs
from ..core.entries import Entry, Incomplete, System, grouped_by, how_chosen
from ..core.evaluation import EMPTY, Counts
from ..core.leaderboard import Leaderboard
from ..core.metric import Metric
from ..core.names import is_bound, spelled
from ..core.policy import Policy
from ..core.policy_views import DRAWS, ORDERS
from ..core.settings import MetricSettings
from ..errors import counted, first_of
from ..stats.comparison import Comparisons
from .phrases import (
    at_most,
    capitalised,
    in_sentence,
    listed,
    plural,
    span,
    weighted_in_words,
)

Name = Callable[[Metric], str]
UNSETTLED = "~"
"""Mark of a value that depends on the order of tied documents in its rank."""
FAILED = 10
"""Failed cells listed below the table of a dataset; leaderboard.csv has all."""
NAMED = 3
"""Runs or metrics that a sentence names."""
BOUNDS = "Bounds are over all orders of documents with equal scores."
_ORDERS: Mapping[str, str] = {
    "trec_eval": "ordered by descending document identifier, as in trec_eval",
    "trec_eval10": "ordered by descending document identifier, as in trec_eval 10",
    "docno+": "ordered by ascending document identifier",
    "stable": "left in the order of the file",
    "reverse": "put in the reverse order of the file",
    "average": "put in all orders, and values averaged",
    "best": "put in the best order",
    "worst": "put in the worst order",
}
_PRECISION = {"float32": "single precision", "float64": "double precision"}
_LEFT_OUT = {False: "is left out", True: "were left out"}
_COUNTS = {False: ("counts", "counts as"), True: ("counted as", "counted as")}
"""Verbs before a number and before a word, in the present and in the past."""


def called(metric: Metric) -> str:
    """Return the reader's name of a metric within a sentence."""
    return in_sentence(spelled(metric))


def names_among(metrics: Iterable[Metric]) -> tuple[Name, Name]:
    """Return functions for the names of metrics in a heading and in a sentence.

    Parameters follow only a name that several metrics have.
    """
    among = [*metrics]
    return lambda metric: spelled(metric, among), lambda metric: in_sentence(spelled(metric, among))


def treatment(
    metrics: Sequence[Metric],
    policy: Policy,
    counts: Sequence[tuple[str, Counts]],
    name: Name = called,
    *,
    past: bool = False,
) -> Iterator[str]:
    """Yield sentences on ties, depth, unjudged documents and queries without relevant documents.

    Settings of a metric of its own are told where it is named. `counts` are each evaluation's, with
    its dataset. A methods section is in the `past`.
    """
    are, count = ("were", "counted") if past else ("are", "count")
    if any(metric.settings == MetricSettings() for metric in metrics):
        if any(evaluated.tied for _, evaluated in counts):
            yield f"{_ties(policy, past)}."
        if policy.drop_identical_ids:
            yield f"Documents with the query's identifier {are} removed."
        if policy.depth:
            yield f"Only the first {policy.depth:,} documents of each query {count}."
        if policy.judged_only:
            among = " among them" if policy.depth else ""
            yield f"Unjudged documents{among} {are} removed."
    yield from _empty(metrics, policy, counts, name, past)


def _ties(policy: Policy, past: bool = False) -> str:
    precision = _PRECISION.get(policy.score_type)
    scores = (
        f"Equal scores, compared in {precision}, were"
        if past
        else f"Equal scores ({precision}) are"
    )
    if policy.score_type == "none":
        scores = "Scores are ignored; documents are"
        scores = "Scores were ignored, and all documents of a query were" if past else scores
    return f"{scores} {_ORDERS.get(policy.ties, f'put in a random order (seed {policy.seed})')}"


def _own_ties(metrics: Sequence[Metric], policy: Policy, name: Name) -> Iterator[str]:
    own = [metric for metric in metrics if metric.settings.ties is not None]
    texts = {
        metric: BOUNDS if is_bound(metric) else _ties(policy.with_settings(metric.settings))
        for metric in own
    }
    for text, members in grouped_by(own, texts.__getitem__).items():
        names = in_sentence(_all_but(members, metrics, name, name))
        yield text if text == BOUNDS else f"For {names}, {in_sentence(text)}."


def _empty(
    metrics: Sequence[Metric],
    policy: Policy,
    counts: Sequence[tuple[str, Counts]],
    name: Name,
    past: bool,
) -> Iterator[str]:
    values = {metric: _value_of_empty(metric, policy.empty_queries) for metric in metrics}
    special = [metric for metric in metrics if metric.has_empty_queries]
    together = grouped_by(special, lambda metric: _largest_empty(counts, str(metric)))
    if len(together) < 2:
        together = {numbers: [*metrics] for numbers in together or [_largest_empty(counts, "")]}
    for (n, queries, differ), members in together.items():
        about = f" for {listed(map(name, members))}" if len(together) > 1 else ""
        rule = rule_in_words({metric: values[metric] for metric in members}, name, past=past)
        if not n or not rule:
            continue
        if not past:
            up_to = "Up to " if differ else ""
            have = counted(n, "query has", "queries have")
            yield f"{up_to}{have} no relevant document{about}; {_each(n)} {rule}."
        elif rule == _LEFT_OUT[past]:
            yield f"We excluded the {n:,} of {queries:,} queries without relevant documents{about}."
        else:
            yield f"Queries without relevant documents{about} ({n:,} of {queries:,}) {rule}."


def _each(n: int) -> str:
    return "it" if n == 1 else "each"


def _largest_empty(counts: Sequence[tuple[str, Counts]], metric: str) -> tuple[int, int, bool]:
    """Return the queries without relevant documents, all queries, and whether runs differ.

    Each dataset's are those of the run that has the most.
    """
    by_dataset = grouped_by(counts, itemgetter(0)).values()
    largest = [max((c for _, c in rows), key=lambda c: c.empty_of(metric)) for rows in by_dataset]
    n = sum(count.empty_of(metric) for count in largest)
    differ = any(len({c.empty_of(metric) for _, c in rows}) > 1 for rows in by_dataset)
    return n, sum(count.queries for count in largest), differ


def _value_of_empty(metric: Metric, rule: str) -> float | None:
    """Return a metric's value of a query without relevant documents; None if it is a usual one."""
    definition = metric.definition
    if metric.settings.empty is not None:
        return EMPTY[metric.settings.empty]
    if not definition.skips_empty or metric.reference is not None:
        return None
    if rule == "skip":
        return math.nan
    return 1.0 if rule == "one" and definition.bounds == (0.0, 1.0) else definition.empty


def rule_in_words(
    values: Mapping[Metric, float | None], name: Name, usual: str = "any other query", *, past: bool
) -> str:
    """Sentence on the value that metrics give to queries; empty if all values are None.

    A metric whose value is None counts them as `usual`. Sums only count, and are no exception.
    """
    number, word = _COUNTS[past]
    words = {}
    for metric, value in values.items():
        if value is None:
            if metric.definition.summary != "sum":
                words[metric] = f"{word} {usual}"
        elif math.isnan(value) and metric.settings.undefined in (None, "skip"):
            words[metric] = _LEFT_OUT[past]
        elif math.isnan(value) and metric.settings.undefined == "nan":
            words[metric] = f"{word} undefined"
        else:
            words[metric] = f"{number} {0.0 if math.isnan(value) else value:g}"
    return "" if all(value is None for value in values.values()) else by_metric(words, name)


def by_metric(texts: Mapping[Metric, str], name: Name) -> str:
    """Treatment that most metrics share, and the exceptions.

    >>> import harness.metrics
    >>> from harness.core.names import parse_all
    >>> metrics = parse_all(["map", "P@5", "mse", "arp"])
    >>> by_metric(dict(zip(metrics, ("count", "count", "do not", "do not"), strict=True)), str)
    'count, but do not for mse and arp'
    """
    groups = grouped_by(texts, texts.__getitem__)
    usual = max(groups, key=lambda words: len(groups[words]), default="")
    others = {words: members for words, members in groups.items() if words != usual}
    verb = usual.partition(" ")[0] + " "
    verb = verb if all(words.startswith(verb) for words in others) else ""
    exceptions = []
    for words, members in others.items():
        exceptions.append(f"{words.removeprefix(verb)} for {listed(map(name, members))}")
        verb = words.partition(" ")[0] + " "
    return f"{usual}, but {listed(exceptions)}" if exceptions else usual


def missing_in_words(
    metrics: Iterable[Metric], policy: Policy, name: Name = called, *, past: bool = False
) -> str:
    """Treatment of queries that a run does not answer."""
    if policy.missing_queries == "skip":
        return _LEFT_OUT[past]
    values = {metric: metric.definition.missing for metric in metrics}
    usual = "an empty ranking"
    return rule_in_words(values, name, usual, past=past) or f"{_COUNTS[past][1]} {usual}"


def unanswered(
    coverages: Mapping[str, tuple[int, int]],
    metrics: Iterable[Metric],
    policy: Policy,
    name: Name = called,
    *,
    on: str = "",
) -> Iterator[str]:
    """Yield the note on queries that runs leave unanswered; nothing if there are none.

    `coverages` are the queries that each run answers, and all queries; `on` is their dataset.
    """
    numbers = {run: total - n for run, (n, total) in coverages.items() if n < total}
    if numbers:
        total = max(total for _, total in coverages.values())
        text = leaving(numbers, len(coverages), total, on)
        each = _each(sum(numbers.values()))
        yield f"{text}; {each} {missing_in_words(metrics, policy, name)}."


def leaving(numbers: Mapping[str, int], n_runs: int, total: int, on: str = "") -> str:
    """Return words on the runs, of `n_runs`, that leave some of `total` queries unanswered.

    >>> leaving({"a": 2}, 2, 50, "web"), leaving({"a": 1, "b": 3}, 3, 50)
    ('On web, a leaves 2 of 50 queries unanswered', 'a leaves 1 and b 3 of 50 queries unanswered')
    >>> leaving({"a": 2, "b": 2}, 2, 50), leaving({"a": 2, "b": 2}, 3, 50)
    ('Every run leaves 2 of 50 queries unanswered', 'a and b each leave 2 of 50 queries unanswered')
    """
    most, is_same = max(numbers.values()), len({*numbers.values()}) == 1
    (first, n), *rest = numbers.items()
    if is_same and len(numbers) == n_runs > 1:
        who = f"Every run leaves {most:,}"
    elif len(numbers) > NAMED:
        who = f"{len(numbers):,} of {n_runs:,} runs leave up to {most:,}"
    elif is_same and rest:
        who = f"{listed(numbers)} each leave {most:,}"
    else:
        who = listed([f"{first or 'The run'} leaves {n:,}", *(f"{run} {n:,}" for run, n in rest)])
    where = f"On {on}, " if on else ""
    return f"{where}{who} of {counted(total, 'query', 'queries')} unanswered"


def undefined(
    numbers: Mapping[Metric, Mapping[str, int]], heading: Name, name: Name, *, on: str = ""
) -> Iterator[str]:
    """Yield the notes on queries without a value; `numbers` are these of each run by metric.

    `heading` returns the name of a metric in the table's heading, `name` that within a sentence.
    """
    texts: dict[str, list[Metric]] = {}
    for metric, by_run in numbers.items():
        if any(by_run.values()) and metric.settings.undefined in (None, "skip"):
            texts.setdefault(_of_runs(by_run), []).append(metric)
    for where, metrics in texts.items():
        names = _all_but(metrics, numbers, heading, name)
        names = f"On {on}, {in_sentence(names)}" if on else names
        are = "is" if len(metrics) == 1 else "are"
        yield f"{names} {are} undefined for {where}; the mean is over the rest."


def _of_runs(numbers: Mapping[str, int]) -> str:
    """Return the queries of each run.

    >>> _of_runs({"a": 2, "b": 0}), _of_runs({"a": 1, "b": 1}), _of_runs({"a": 2, "b": 1})
    ('2 queries of a', '1 query', '2 queries of a and 1 of b')
    >>> _of_runs({"a": 1, "b": 2, "c": 3, "d": 4, "e": 0})
    'up to 4 queries per run'
    """
    some = {run: n for run, n in numbers.items() if n}
    if len({*numbers.values()}) == 1:
        return counted(next(iter(numbers.values())), "query", "queries")
    if len(some) > NAMED:
        return f"up to {counted(max(some.values()), 'query', 'queries')} per run"
    (first, n), *rest = some.items()
    texts = [
        f"{counted(n, 'query', 'queries')} of {first}",
        *(f"{n:,} of {run}" for run, n in rest),
    ]
    return listed(texts)


def _is_one(numbers: Mapping[str, int]) -> bool:
    """Whether `_of_runs` names a single query."""
    own = [n for n in numbers.values() if n]
    return max(own) == 1 and len(own) in (1, len(numbers))


def _all_but(metrics: Sequence[Metric], among: Iterable[Metric], heading: Name, name: Name) -> str:
    rest = [metric for metric in among if metric not in metrics]
    if len(metrics) <= NAMED or len(rest) >= len(metrics):
        return listed([heading(metrics[0]), *map(name, metrics[1:])])
    return f"All metrics but {listed(map(name, rest))}" if rest else "All metrics"


def on_dataset(
    board: Leaderboard, entries: Sequence[Entry], unfair: Sequence[Metric] = ()
) -> Iterator[str]:
    """Yield the notes on the table of one dataset; `unfair` metrics have no best value."""
    policy, metrics = entries[0].evaluation.policy, board.metrics
    systems = [entry for entry in entries if isinstance(entry, System)]
    by_name = _by_name(entries)
    runs = {name: entry.evaluation for name, entry in by_name.items()}
    counts = [(entry.dataset, entry.evaluation.counts) for entry in entries]
    heading, name = names_among(metrics)
    yield from failed(board, entries[0].dataset)
    yield from on_values(entries)
    yield from treatment(metrics, policy, counts, name)
    yield from _own_ties(metrics, policy, name)
    extra = {run: own.counts.extra for run, own in runs.items()}
    if any(extra.values()):
        are, do = ("is", "does") if _is_one(extra) else ("are", "do")
        text = capitalised(_of_runs(extra))
        yield f"{text} {are} answered but not judged, and {do} not count."
    yield from undefined(without_value(by_name, metrics), heading, name)
    if unfair:
        yield no_best(map(name, unfair))
    errors = [own.summary_errors() for own in runs.values()]
    for metric in metrics:
        largest = max(of_run.get(str(metric), 0.0) for of_run in errors)
        if largest > 0:
            yield (
                f"{heading(metric)} averages {DRAWS:,} random orders of ties if a query has over "
                f"{ORDERS:,}; its standard error is at most {largest:.1g}."
            )
    yield from warned_of((entry.run, entry.warned) for entry in entries)
    yield from (*averaged(board, systems), *deviation(systems))
    failures = {row.run for row in board.failed}  # with notes of their own
    yield from missing_repetitions(one.incomplete for one in systems if one.run not in failures)
    names = {str(metric): name(metric) for metric in metrics}
    yield from chosen(board, entries, lambda text: names.get(text, text))
    choices = [*dict.fromkeys(choice for entry in entries for choice in entry.choices)]
    if board.selection is not None and choices:
        yield from settings_chosen(systems)
        yield from board.selection.notes(choices)
    if any(board.unsettled(metric, [*entries]) for metric in metrics):
        yield f"{UNSETTLED} marks values that change rank with the order of tied documents."


def _by_name(entries: Sequence[Entry]) -> dict[str, Entry]:
    by_run = {entry.run: entry for entry in entries}
    if len(by_run) == len(entries):
        return by_run
    return {entry.key.run_with_columns: entry for entry in entries}


def on_values(entries: Sequence[Entry], but: Container[str] = ()) -> Iterator[str]:
    """Yield the notes on one dataset's values, whatever their format.

    `but` are names of metrics that are shown though their values are texts.
    """
    metrics = dict.fromkeys(metric for entry in entries for metric in entry.evaluation.metrics)
    for metric in metrics:
        if metric.definition.is_text and str(metric) not in but:
            yield f"{metric} is not shown, as its values are texts."
    by_columns = {entry.evaluation.weighted_by: entry.evaluation for entry in entries}
    for by, evaluation in by_columns.items():
        yield from weighted({"": by})
        if by:
            largest = np.max([*evaluation.weights.values()], axis=0)
            if n := int((largest == 0).sum()):
                yield f"{counted(n, 'query has', 'queries have')} weight 0."
            if any(metric.definition.summary == "sum" for metric in evaluation.metrics):
                yield "Sums are weighted too."
    coverages = {name: entry.evaluation.coverage for name, entry in _by_name(entries).items()}
    policy = entries[0].evaluation.policy
    yield from unanswered(coverages, metrics, policy, names_among(metrics)[1])


def without_value(
    entries: Mapping[str, Entry], metrics: Iterable[Metric]
) -> dict[Metric, dict[str, int]]:
    """Return by metric the queries of each run without a value, as `undefined` takes them."""
    return {
        metric: {run: _unexplained(entry, metric) for run, entry in entries.items()}
        for metric in metrics
    }


def _unexplained(entry: Entry, metric: Metric) -> int:
    """Return the queries without a value, unless other notes explain all of them."""
    counts, policy = entry.evaluation.counts, entry.evaluation.policy
    n, name = entry.undefined.get(str(metric), 0), str(metric)
    empty, missing = _value_of_empty(metric, policy.empty_queries), metric.definition.missing
    reasons = (empty, counts.empty_of(name)), (missing, counts.missing)
    numbers = [number for value, number in reasons if value is not None and math.isnan(value)]
    return 0 if n == sum(numbers) else n


def failed(board: Leaderboard, dataset: str) -> Iterator[str]:
    """Yield the cells of a dataset that failed; those of datasets not shown, below the last."""
    datasets = [name for name, _ in board.by_dataset()]
    further = {row.dataset for row in board.failed} - {*datasets} if dataset == datasets[-1] else ()
    rows = [row for row in board.failed if row.dataset in (dataset, *further)]
    for row in rows[:FAILED]:
        where = f" on {row.dataset}" if row.dataset not in datasets else ""
        reason = f": {row.error.splitlines()[0]}" if row.error else "; see its error."
        yield f"{row.key.run_with_columns}{where} could not be evaluated{reason}"
    if len(rows) > FAILED:
        yield f"{len(rows) - FAILED:,} more could not be evaluated; leaderboard.csv lists them."


def no_best(names: Iterable[str], on: str = "") -> str:
    """Return the note on metrics without a best value, on the datasets of `on`."""
    where = f" on {on}" if on else ""
    return f"No best value of {listed(names)} is marked{where}: runs have different queries."


def averaged(board: Leaderboard, systems: Sequence[System]) -> Iterator[str]:
    """Yield a sentence on means, if they are not only over queries."""
    repeated, parts = repetitions_in_words(systems), listed(board.summary.average or [""])
    if repeated or parts:
        weights = f", with equal weight for each {parts}" if parts else ""
        yield f"Values are means over {repeated or 'queries'}{weights}."


def deviation(systems: Sequence[System]) -> Iterator[str]:
    """Yield the meaning of the number after ±."""
    if over := repeated_over(systems):
        yield f"The number after ± is the standard deviation over {over}."


def chosen(
    board: Leaderboard, systems: Sequence[Entry], name: Callable[[str], str]
) -> Iterator[str]:
    """Yield sentences on the choice of systems; `name` is the name of a metric."""
    choices = [*dict.fromkeys(choice for system in systems for choice in system.choices)]
    if board.selection is not None and choices:
        yield f"Each tuned run is the {board.selection.in_words(choices, name(choices[0].metric))}."
    untuned = (system for system in systems if isinstance(system, System) and not system.choices)
    if words := how_chosen(untuned, name):
        yield f"Each run is the {words}."


def settings_chosen(systems: Sequence[System]) -> Iterator[str]:
    """Yield how often each run chose each setting; a pooled or averaged row has no one setting."""
    counts = Counter(
        (choice.run, pairs(choice.setting)) for system in systems for choice in system.choices
    )
    texts = [
        f"{run} ({setting}{f', {n} times' if n > 1 else ''})"
        for (run, setting), n in counts.most_common()
    ]
    if texts:
        yield f"Chosen settings: {first_of(texts, NAMED)}."


def missing_repetitions(
    gaps: Iterable[Incomplete | None], name: Callable[[Incomplete], str] = str
) -> Iterator[str]:
    """Yield the note on missing repetitions."""
    if texts := [name(gap) for gap in gaps if gap is not None]:
        yield f"Repetitions are missing: {first_of(texts)}."


def share_in_words(gap: Incomplete) -> str:
    """Return the number of repetitions that a system has, of those that are expected.

    >>> share_in_words(Incomplete("web", "bm25", 2, 3, ("seed",)))
    '2 of 3 seeds'
    """
    return f"{gap.share} {plural(gap.names)}"


def tiers(level: float) -> str:
    """Return the meaning of a tier."""
    return f"Systems in the same tier are not significantly different at {at_most(level)}."


def tests_of_tiers(comparisons: Comparisons) -> str:
    """Return the tests that tiers follow from."""
    plan = comparisons.plan
    if comparisons.kind == "all-pairs":
        return f"Tiers follow from {comparisons.title or plan.test} over all pairs."
    if not plan.baselines:
        return "Tiers follow from the comparisons of all pairs."
    tests = "bootstrap tests" if comparisons.weighted else "paired t-tests"
    which = "baseline" if len(plan.baselines) == 1 else "baselines"
    return f"Tiers follow from the comparisons with the {which} and {tests} of all other pairs."


def weighted(columns: Mapping[str, str]) -> Iterator[str]:
    """Yield the note on the weights of the queries of each dataset."""
    if words := weighted_in_words(columns):
        yield f"Each query is {words}."


def counted_values(name: str, number: int) -> str:
    """Return a number of values of a placeholder.

    >>> counted_values("seed", 3), counted_values("fold", 1), counted_values("run_no", 2)
    ('3 seeds', '1 fold', '2 values of run_no')
    """
    if name.isalpha() and not name.endswith("s"):
        return counted(number, name)
    return f"{counted(number, 'value')} of {name}"


def repetitions_in_words(systems: Sequence[System]) -> str:
    """Return over how many repetitions values are averaged; nothing if there is one."""
    times = [len(system.entries) for system in systems]
    if max(times, default=1) == 1:
        return ""
    names = sorted({name for system in systems for name in system.varying})
    if len(names) == 1 and min(times) == max(times):
        return f"{counted_values(names[0], times[0])} per system"
    if names and min(times) < max(times):
        return f"{span(times)} {plural(names)} per system"
    return f"{span(times)} repetitions per system" + (f", by {listed(names)}" if names else "")


def repeated_over(systems: Sequence[System]) -> str:
    """Return the plural of the repetitions, such as seeds; nothing without repetitions."""
    if all(len(system.entries) < 2 for system in systems):
        return ""
    return plural({name for system in systems for name in system.varying})


WARNED = "!"
"""Put behind the name of a run that the guard warns of."""


def warned_of(runs: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """Yield a note on each rule by which the guard warns of runs.

    >>> list(warned_of([("a", ["row-order"]), ("b", ["row-order"])]))
    ['! The guard warns of row-order in a, b; harness check explains it.']
    """
    by_rule: dict[str, dict[str, None]] = {}
    for run, rules in runs:
        for rule in rules:
            by_rule.setdefault(rule, {})[run] = None
    for rule in sorted(by_rule):
        names = first_of(by_rule[rule])
        yield f"{WARNED} The guard warns of {rule} in {names}; harness check explains it."


def tested_parts(comparisons: Comparisons) -> Iterator[str]:
    """Yield a sentence on the tested queries if values are means over parts, such as folds."""
    if comparisons.averaged:
        names = listed(f"{name}s" for name in comparisons.averaged)
        yield f"The tests take the queries of all {names} together, not the means over {names}."


def absent_baselines(
    comparisons: Comparisons, datasets: Sequence[str], name: Callable[[str], str] = str
) -> Iterator[str]:
    """Yield each baseline that is missing on a dataset shown, with these datasets."""
    for baseline, missing in comparisons.absent:
        if untested := [name(dataset) for dataset in missing if dataset in datasets]:
            where = listed(untested)
            yield f"No run is tested against {name(baseline)} on {where}: it has no values there."
