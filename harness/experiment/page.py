"""The report page of results, with rankings and conventions, or of runs in memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from ..config.cells import Cell, resolve
from ..config.model import Config
from ..core.align import rank_order
from ..core.arguments import PATH, TEXT, TEXTS, check_arguments
from ..core.cell_key import CellKey
from ..core.entries import System
from ..core.leaderboard import Leaderboard, numbers_of
from ..core.metric import Metric
from ..core.policy import Policy, RunDuplicates, ScoreOrder
from ..core.qrels_and_runs import Ranked, Run
from ..core.settings import CONVENTIONS
from ..core.systems import system_key, systems_of
from ..errors import AlignmentError, HarnessError
from ..input_files import check_outputs, keeping_inputs, name_of
from ..metrics.ndcg import DISCOUNTS, scale_of
from ..progress import track
from ..readers.files import write_all
from ..readers.source import Source
from ..readers.texts_by_id import read_texts
from ..reports.leaderboard import as_csv
from ..reports.page import PageSettings, html_files, report
from ..reports.select import in_order
from ..reports.sentences import changed
from ..stats.comparison import Plan
from .cache import Cache
from .evaluate import leaderboard_of_runs, settings_of_runs
from .evaluate_all import evaluate_all
from .manifest import versions
from .page_data import add_files, download, interval_of, page_data, page_documents
from .results import PAGE, Results, compared, with_comparisons


def page(
    path: str | Path, qrels: Ranked, runs: Mapping[str, Ranked], metrics: Iterable[str | Metric], *,
    baseline: str | Sequence[str] = (), title: str = "", dataset: str = "",
    policy: Policy | Mapping[str, Any] | None = None, relevance_level: float | None = None,
    convention: str | None = None, weights: Any = None,
    columns: Mapping[str, str | int | None] | None = None,
    qrels_columns: Mapping[str, str | int | None] | None = None, order: ScoreOrder = "descending",
    duplicates: RunDuplicates = "error",
    documents: str | Mapping[str, str] | None = None,
) -> Path:  # fmt: skip
    """Write the report page of runs in memory, such as data frames.

    The page of a results folder, by ``harness page``, also has rankings and the origin of each
    number.

    Parameters
    ----------
    path : path
        The HTML file; an existing file is replaced.
    qrels : path, mapping, table or arrays
        Judgements, in any form that `harness.evaluate` takes.
    runs : mapping of str to run
        Runs by name, each in any form that `harness.evaluate` takes.
    metrics : iterable of str or Metric
        Metrics; the first one sorts the leaderboard.
    baseline : str or sequence of str
        Runs to compare the others with; by default every pair of runs is compared.
    title, dataset : str
        Headings of the page and of the leaderboard.
    weights : mapping of str to number, or path, optional
        As `harness.evaluate` takes it; bootstrap tests then compare the runs.
    policy, relevance_level, convention, columns, qrels_columns, documents : see `harness.evaluate`
    order : see `harness.evaluate`
    duplicates : see `harness.evaluate`

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    InputError, AlignmentError, UnknownNameError
        If the input is wrong, or a name does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 1}}
    >>> runs = {"one": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0, "a": 1.0}},
    ...         "two": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page(Path(folder) / "page.html", qrels, runs, ["map"]).name
    'page.html'
    """
    settings = settings_of_runs(locals())
    baselines = (baseline,) if isinstance(baseline, str) else baseline
    check_arguments(
        {"path": path, "title": title, "baseline": baselines}, path=PATH, title=TEXT, baseline=TEXTS
    )
    target = Path(path)
    with keeping_inputs(*(one for one in (qrels, *runs.values()) if isinstance(one, (str, Path)))):
        check_outputs(target.parent, [target.name])
    board = leaderboard_of_runs(qrels, runs, metrics, dataset=dataset, **settings)
    plan = Plan(tuple(baselines), Plan.test if weights is None else "bootstrap")
    tests = compared(systems_of(board), plan) if len(runs) > 1 else None
    facts = [[name, text] for name, text in versions().items() if text]
    provenance = _facts_alone(facts)
    provenance["downloads"] = [download("leaderboard.csv", "text/csv", as_csv(board))]
    of_page = PageSettings(title=title or "Leaderboard")
    data = report(of_page, board, tests, interval=interval_of(plan), provenance=provenance)
    write_all(target.parent, html_files(data, target.name))
    return target


def page_files(outcome: Results, old: Results | None = None, name: str = PAGE) -> dict[str, bytes]:
    """Return the page `name` and its side files, by name in its folder.

    With `old` results, the page also shows what changed since then.
    """
    config, settings = outcome.config, outcome.config.page
    data = page_data(outcome)
    try:
        cells = resolve(config)
        add_files(data, outcome, cells)
    except HarnessError:
        if settings.rankings or settings.conventions:
            raise
    if settings.conventions:
        data["conventions"] = [
            _convention(config, cells, data, one) for one in settings.conventions
        ]
    if settings.rankings:
        data["rankingDepth"] = settings.rankings
        _add_rankings(data, config, cells, outcome.board)
    if old is not None:
        data["old"] = _old(data, old)
    return page_documents(data, config, name)


def compared_with_median(outcome: Results) -> Results:
    """Compare with the config's baselines; without any, with the median system if possible."""
    config = outcome.config
    plan = config.compare or Plan()
    if not plan.baselines:
        plan = replace(plan, baselines=("median",))
    try:
        update = {"compare": plan}
        return with_comparisons(replace(outcome, config=config.model_copy(update=update)), plan)
    except HarnessError:  # such as a run called median, or a test of all pairs
        return with_comparisons(outcome)


def participant_files(
    outcome: Results, sheets: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, bytes]]:
    """Yield pages that show some runs by name, with their side files; `sheets` has runs by file.

    Other runs are called by their rank, and nothing that tells who they are is in the page. The
    best of the runs is the first of its `participants`.
    """
    page = replace(outcome.config.page, metadata=None, conventions=(), rankings=0)
    config = outcome.config.model_copy(update={"page": page})
    board = in_order(outcome.board, page.metric or config.sort)
    data = page_data(replace(outcome, board=board, config=config))
    with suppress(HarnessError):
        add_files(data, outcome, resolve(outcome.config))
    data["provenance"] = _facts_alone(data["provenance"]["facts"])
    for part in data["boards"]:
        blank: list[Any] = [[] for _ in part["systems"]]
        part |= {"notes": [], "files": blank, "findings": blank}
    names = [system["name"] for system in data["systems"]]
    for file, runs in track([*sheets.items()], "page", itemgetter(0)):
        systems = [
            {**one} if name in runs or "reference" in one else {"name": f"system {place}"}
            for place, (name, one) in enumerate(zip(names, data["systems"], strict=True), 1)
        ]
        numbers = [place for place, name in enumerate(names) if name in runs]
        boards = [{**part, "tests": _tests_of(part["tests"], numbers)} for part in data["boards"]]
        own = {"participants": numbers, "systems": systems, "boards": boards, "columns": []}
        yield page_documents({**data, **own}, config, file)


def _facts_alone(facts: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return the origin of numbers without files, findings and commands."""
    lists: dict[str, Any] = {name: [] for name in ("inputs", "findings", "commands", "downloads")}
    return {"facts": facts, **lists, "methods": "", "config": "", "results": ""}


def _tests_of(tests: Mapping[str, Any], systems: Sequence[int]) -> dict[str, Any]:
    """Return the tests of some systems, by their numbers."""
    shown = np.isin(tests["run"], systems) | np.isin(tests["baseline"], systems)
    return {name: values[shown] for name, values in tests.items()}


def advice(outcome: Results) -> Iterator[str]:
    """Yield advice to the author of a page: keys to add to the config."""
    page = outcome.config.page
    if not page.title or not page.description:
        yield "--title and --description, or both as keys of 'page' in the config"
    if outcome.comparisons is None and not outcome.config.summary.average:
        yield "tests of all pairs, with 'compare: {}' in the config"


def _old(data: Mapping[str, Any], old: Results) -> dict[str, Any]:
    """Return the values of earlier results for the page's boards; NaN where they have none."""
    metrics = {str(metric) for metric in numbers_of(old.board.metrics)}

    def value(board: Mapping[str, Any], system: int, metric: str) -> float:
        found = old.system(board["dataset"], data["systems"][system]["name"])
        return found.value(metric) if found is not None and metric in metrics else math.nan

    title = old.config.page.title or name_of(old.folder)
    boards = []
    for board in data["boards"]:
        columns = [
            np.array([value(board, row, metric["name"]) for row in board["systems"]])
            for metric in data["metrics"]
        ]
        now = [column["value"] for column in board["columns"]]
        changes = zip(data["metrics"], columns, now, strict=True)
        ledes = [changed(metric, title, board["systems"], *values) for metric, *values in changes]
        boards.append({"columns": columns, "ledes": ledes})
    return {"title": title, "boards": boards}


def _convention(
    config: Config, cells: Sequence[Cell], data: Mapping[str, Any], name: str
) -> dict[str, Any]:
    """Return the values of every board under a convention; NaN for others' metrics."""
    metrics = [one["name"] for one in data["metrics"]]
    names = {str(metric): metric.definition.name for metric in numbers_of(config.parsed_metrics())}
    kept = []
    for metric in metrics:
        other = config.model_copy(update={"metrics": (metric,), "convention": name})
        try:
            found = other.parsed_metrics()
        except HarnessError:
            continue
        # a tool may compute it at several cutoffs by default, or another metric by this name
        if len(found) == 1 and found[0].definition.name == names[metric]:
            kept.append((metric, found[0]))
    policy = replace(config.policy, ties="trec_eval", empty_queries="zero")

    def evaluated(some: Sequence[tuple[str, Metric]]) -> Leaderboard:
        changes = {"metrics": tuple(m for m, _ in some), "convention": name, "policy": policy}
        changed = config.model_copy(update=changes)
        return evaluate_all(changed, cells, Cache(changed.cache_folder)).board

    boards = [(kept, evaluated(kept))] if kept else []
    if any(board.failed for _, board in boards):  # such as grades that one of the metrics refuses
        boards = [([one], evaluated([one])) for one in kept]
    values: dict[tuple[str, str, str], float] = {}
    for some, board in boards:
        with suppress(AlignmentError):  # no system has all folds
            for one in systems_of(board) if board.entries else ():
                values |= {(one.dataset, one.run, m): one.value(own) for m, own in some}

    def value(board: Mapping[str, Any], row: int, metric: str) -> float:
        run = data["systems"][board["systems"][row]]["name"]
        return values.get((board["dataset"], run, metric), math.nan)

    tool = CONVENTIONS[name].tool
    has = {metric for (*_, metric), number in values.items() if not math.isnan(number)}
    return {
        "name": name,
        "tool": tool,
        "labels": [one["label"] if one["name"] in has else "" for one in data["metrics"]],
        "values": [
            [
                np.array([value(board, row, metric) for row in range(len(board["systems"]))])
                for metric in metrics
            ]
            for board in data["boards"]
        ],
    }


def _add_rankings(
    data: dict[str, Any], config: Config, cells: Sequence[Cell], board: Leaderboard
) -> None:
    """Put every query's first documents into the data."""
    documents = config.page.documents
    texts = read_texts(Source(str(config.base / documents)), "docno") if documents else {}
    names = [one["name"] for one in data["systems"]]
    rankings = {one["dataset"]: one["rankings"] for one in data["boards"]}
    shown = _shown(board)
    grades: set[float] = set()
    last = ""
    shown_cells = [cell for cell in cells if cell.key in shown]
    for cell in track(shown_cells, "run", lambda cell: str(cell.key)):
        system = shown[cell.key]
        found = rankings[system.dataset]
        entry = cell.dataset_entry
        if last != (last := entry.model_dump_json()):
            qrels = cell.read_qrels()
            judged, own = qrels.to_dict(), {*system.qids}
            # an average of datasets with the same qids puts the dataset's name before each
            keys = {qid: qid if qid in own else f"{cell.dataset}/{qid}" for qid in judged}
            for qid, some in judged.items():
                found[f"ideal/{keys[qid]}"] = _ideal(some, config.page.rankings, texts)
                grades.update(some.values())
        run = cell.read_run(qrels)
        number = names.index(system.run)
        top = _top(judged, run, config, texts, cell.sign_of_scores)
        found |= {f"{number}/{keys[qid]}": some for qid, some in top}
    for one, metric in zip(data["metrics"], numbers_of(config.parsed_metrics()), strict=True):
        one |= _gains(metric, sorted(grades), config.page.rankings)


def _gains(metric: Metric, grades: Sequence[float], depth: int) -> dict[str, Any]:
    """Return the gain of each grade and the discount of each rank, if a metric adds them up."""
    scale = scale_of(metric)
    if scale is None:
        return {}
    gains = scale.gains(np.array(grades)).tolist()
    ranks = np.arange(1, depth + 1 if metric.cutoff is None else min(depth, int(metric.cutoff)) + 1)
    return {
        "gains": {
            str(int(grade) if grade == int(grade) else grade): gain  # as JavaScript writes numbers
            for grade, gain in zip(grades, gains, strict=True)
        },
        "discounts": DISCOUNTS[scale.discount](ranks),
    }


def _shown(board: Leaderboard) -> dict[CellKey, System]:
    """Return the system of each cell with a ranking on the page: all folds of the first seed."""
    summary, spread = board.summary, board.summary.spread
    first = {}
    for system in systems_of(board):
        seeds = [tuple(one.columns.get(name, "") for name in spread) for one in system.entries]
        entry = system.entries[seeds.index(min(seeds))]
        first[entry.key] = system
    return {
        one.key: first[key] for one in board.entries if (key := system_key(one, summary)) in first
    }


def _top(
    grades: Mapping[str, Mapping[str, float]], run: Run, config: Config,
    texts: Mapping[str, str], sign: int,
) -> Iterator[tuple[str, list[dict[str, Any]]]]:  # fmt: skip
    """Yield each judged query's first documents, with grade, score and ties.

    Scores are multiplied by `sign`, and so those of the file.
    """
    policy = config.policy.for_runs()
    run = run.without_identical_ids() if policy.drop_identical_ids else run
    order = rank_order(run, policy)
    depth = config.page.rankings
    for at, qid in enumerate(run.qids.to_pylist()):
        if qid not in grades:
            continue
        rows = order[run.offsets[at] : run.offsets[at + 1]]
        scores = run.scores[rows].astype(np.float32)
        equal = scores[1:] == scores[:-1]
        tied = np.append(equal, False) | np.insert(equal, 0, False)
        judged, top = grades[qid], rows[:depth]
        docnos = run.docnos.take(top).to_pylist()
        shown = zip(docnos, (sign * run.scores[top]).tolist(), tied.tolist(), strict=False)
        yield qid, [_document(one, score, judged.get(one), tie, texts) for one, score, tie in shown]


def _ideal(
    judged: Mapping[str, float], depth: int, texts: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return a query's judged documents, best grade first."""
    best = sorted(judged, key=lambda docno: -judged[docno])[:depth]
    return [_document(docno, None, judged[docno], False, texts) for docno in best]


def _document(
    docno: str, score: float | None, grade: float | None, tied: bool, texts: Mapping[str, str]
) -> dict[str, Any]:
    text = {"text": texts[docno]} if docno in texts else {}
    return {"docno": docno, "score": score, "grade": grade, "tied": tied, **text}
