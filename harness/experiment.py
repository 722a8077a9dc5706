"""The one-way flow: config -> readers -> align -> metrics -> reports."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import config as configs
from . import manifest as manifests
from . import origin, paper, store
from .cells.as_read import changed_since
from .cells.cache import INDEX, Cache
from .cells.executors import executor
from .cells.flow import Evaluated, evaluate_all
from .comparing import SHOWN, find_rendering
from .config import Config, gaps, sweep
from .core.comparison import Comparisons
from .core.incomplete import FEWER, incomplete
from .core.leaderboard import Leaderboard
from .derived import derive
from .errors import HarnessWarning
from .guard.finding import Finding
from .origin import MANIFEST, TIMING
from .reports import find
from .reports.table import columns

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """What :func:`run` made: the leaderboard, and where its files are.

    `comparisons` is None where the config has no ``compare``; `cached` evaluations were known
    from before. `errors` says what failed and why, with paths as they were opened, as in the
    leaderboard, and `told` the same in short, where many fail for one reason; `findings` is what
    the guard found, notes among it, with paths as in the manifest.
    """

    leaderboard: Leaderboard
    folder: Path
    files: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    comparisons: Comparisons | None = None
    cached: int = 0
    errors: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    told: tuple[str, ...] = ()

    def __str__(self) -> str:
        text: str = find("table").render(self.leaderboard)
        if self.comparisons is not None:
            text += "\n" + compared(self.comparisons, "table")
        return text

    def __repr__(self) -> str:
        return f"<Results: {len(self.leaderboard.entries)} entries in {self.folder}>"

    def _repr_html_(self) -> str:
        text: str = find("html").render(self.leaderboard)
        return text + (compared(self.comparisons, "html") if self.comparisons else "")

    def to_pandas(self) -> pandas.DataFrame:
        """Return the leaderboard as a data frame, a row a dataset x run (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.leaderboard.rows())


def plan(config: str | Path, *, overrides: Sequence[str] = ()) -> str:
    """Return the cells that a config stands for, as text, without evaluating any."""
    loaded = configs.load(config, overrides=overrides)
    found = sweep.resolve(loaded)
    names = list(dict.fromkeys(name for cell in found for name in cell.columns))
    rows = [["dataset", "run", *names, "qrels path", "run path"]]
    rows += [
        [
            cell.dataset,
            cell.run,
            *(cell.columns.get(name, "") for name in names),
            cell.dataset_entry.path,
            cell.run_entry.path,
        ]
        for cell in found
    ]
    lines = [columns(rows, left=len(rows[0])), ""]
    counts = ("cell", len(found)), ("metric", len(loaded.parsed_metrics()))
    lines.append(" x ".join(f"{n} {what}{'s' * (n != 1)}" for what, n in counts))
    lacking = gaps.shown(found)
    if lacking:
        lines.append(lacking)
    return "\n".join(lines) + "\n"


def run(
    config: str | Path | Config, *, overrides: Sequence[str] = (), jobs: int = 1,
    scheduler: str | None = None,
) -> Results:  # fmt: skip
    """Evaluate every run that a config names, and write the leaderboard.

    Parameters
    ----------
    config : path or Config
        A YAML file, or what :func:`harness.config.load` made of one.
    overrides : sequence of str
        ``"policy.ties=stable"``: values put in place of the file's.
    jobs : int
        Processes on this machine that evaluate.
    scheduler : str, optional
        Address of a Dask scheduler whose workers evaluate.

    Returns
    -------
    Results
        Its ``leaderboard`` holds every evaluation; ``folder`` has the files written. Runs that
        could not be evaluated are in ``leaderboard.failed``, with the reason.

    Raises
    ------
    ConfigError
        Where the config is wrong.
    InputError, AlignmentError
        Where no run at all could be evaluated, or the guard finds an error that is not one run's
        alone. Nothing is written then.
    VerificationError
        Where the cross-check finds a difference.
    """
    began = time.time()
    loaded = config if isinstance(config, Config) else configs.load(config, overrides=overrides)
    if scheduler is not None:
        loaded = loaded.from_anywhere()
    found = sweep.resolve(loaded)
    lacking = gaps.shown(found)
    if lacking:
        warnings.warn(lacking, HarnessWarning, stacklevel=2)
    store.check_writable(loaded.output_folder)
    if loaded.cache_folder and not loaded.cache:  # one that the config names may be anywhere
        store.below(loaded.output_folder, f"{loaded.cache_folder.name}/{INDEX}")
    paper.check(loaded)
    with (
        store.locked(loaded.output_folder, paper.FOLDERS) as hold,
        store.shared(loaded.cache_folder),
        executor(jobs, scheduler) as pool,
    ):
        evaluated = evaluate_all(loaded, found, Cache(loaded.cache_folder), pool, jobs)
        return _written(loaded, evaluated, began, hold)


def _written(
    loaded: Config, evaluated: Evaluated, began: float, hold: Callable[[], None]
) -> Results:
    """Write what was evaluated, and all that is made from it; `hold` as of `store.locked`."""
    for text in evaluated.printed:  # before anything can stop it
        warnings.warn(text, HarnessWarning, stacklevel=3)
    found = derive(loaded, evaluated)
    if loaded.summary.spread and (fewer := incomplete(found.board)):
        what = f"{FEWER}: {', '.join(map(str, fewer.values()))}"
        warnings.warn(what, HarnessWarning, stacklevel=3)
    made = paper.files(loaded, found.board, found.comparisons, found.manifest)
    files = {**found.files, **made, MANIFEST: found.manifest}
    folder = loaded.output_folder
    told = {problem.where for each in evaluated.failures for problem in each.error.problems}
    for text in changed_since(evaluated.inputs, told):
        warnings.warn(text, HarnessWarning, stacklevel=3)
    hold()
    gone, own = store.unneeded(folder, origin.written(folder), files)
    if own:
        what = "of an earlier run, edited since, and no part of these results"
        warnings.warn(f"{folder}: {what}: {', '.join(own)}", HarnessWarning, stacklevel=3)
    timing = manifests.timing(began, len(evaluated.entries), evaluated.cached, made, gone)
    store.write_all(folder, {TIMING: timing, **files})
    store.remove(folder, gone)
    return Results(
        found.printed, loaded.output_folder, tuple(files), found.warnings, found.comparisons,
        evaluated.cached, found.errors, found.findings, found.told,
    )  # fmt: skip


def compared(comparisons: Comparisons, format: str, **options: Any) -> str:
    """Return the comparisons in the format of a report; nothing where it has none for them.

    Of each metric on each dataset those with the smallest p are shown. Options are the
    rendering's.
    """
    if format not in ("table", "markdown", "html"):
        return ""
    rendering = find_rendering("text" if format == "table" else format)
    text: str = rendering.render(comparisons, most=SHOWN, **options)
    return text
