"""What must be said of values, below a table or beside formats that hold values alone."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from ..core.leaderboard import TEXTS, Entry, Leaderboard, numbers_of


def beside_values(board: Leaderboard, *, has_runid: bool = False) -> Iterator[str]:
    """Yield what a reader must know who is shown values and no notes: CSV, JSON lines.

    Parameters
    ----------
    board : Leaderboard
    has_runid : bool
        Whether the runs' names are shown where trec_eval has them.
    """
    for _, entries in board.by_dataset():
        yield from without_numbers(entries, ("runid",) * has_runid)
        yield from unanswered(entries)


def without_numbers(entries: Sequence[Entry], but: Container[str] = ()) -> Iterator[str]:
    """Yield which metrics are not shown, as they are no numbers."""
    metrics = dict.fromkeys(metric for one in entries for metric in one.evaluation.metrics)
    shown = set(numbers_of(metrics))
    for metric in metrics:
        if metric not in shown and str(metric) not in but:
            what = TEXTS[metric.definition.name]
            yield f"{metric} is {what} in trec_eval, and no number: it is not shown"


def unanswered(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield how many judged queries each run does not answer, and what became of them."""
    counted = {entry.run: entry.evaluation.counts.missing for entry in entries}
    if any(counted.values()):
        how = entries[0].evaluation.policy.missing_queries
        yield f"queries not answered ({how}): {by_run(counted)}"


def by_run(counted: dict[str, int], names: tuple[str, str] = ("", "")) -> str:
    """Return the number of each run that has any, or the one of all of them.

    >>> by_run({"a": 2, "b": 0}), by_run({"a": 1, "b": 1}, ("query", "queries"))
    ('a 2', '1 query of every run')
    """

    def told(n: int) -> str:
        return f"{n} {noun if n == 1 else plural}".rstrip()

    numbers, (noun, plural) = set(counted.values()), names
    if len(numbers) == 1:
        return f"{told(numbers.pop())} of every run"
    return ", ".join(f"{run} {told(n)}" for run, n in counted.items() if n)
