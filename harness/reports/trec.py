"""trec_eval's three columns."""

from __future__ import annotations

from ..core.leaderboard import Entry, Leaderboard, numbers_of
from ..core.metric import Metric
from ..escaping import legible

suffix = ".eval"


def render(board: Leaderboard, *, per_query: bool = False) -> str:
    r"""Return ``metric<TAB>qid<TAB>value`` lines, with trec_eval's names and widths.

    Counts are whole, other values have four decimals. With several runs, each run's lines
    begin with a ``runid`` line, as trec_eval prints it; it says so where the run is the best of
    several. A tab or line break within a qid, which no
    TREC file can have, is shown as ``\t`` or ``\n``.
    """
    return "".join(_lines(entry, per_query) for entry in board.entries)


def _lines(entry: Entry, per_query: bool) -> str:
    metrics = numbers_of(entry.evaluation.metrics)
    lines = []
    if per_query:
        for qid, row in entry.evaluation.to_dict().items():
            lines += [_line(metric, qid, row[str(metric)]) for metric in metrics]
    if entry.run:
        chosen = f" ({entry.chosen})" if entry.chosen else ""
        lines.append(f"{'runid':<22}\tall\t{legible(entry.run + chosen)}\n")
    lines += [_line(metric, "all", entry.summary[str(metric)]) for metric in metrics]
    return "".join(lines)


def _line(metric: Metric, qid: str, value: float) -> str:
    whole = metric.definition.summary == "sum"
    text = f"{value:.0f}" if whole else f"{value:6.4f}"
    return f"{metric.trec_name:<22}\t{legible(qid)}\t{text}\n"
