"""Work on other machines: each answer says what computed it, and is refused where that differs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .. import __version__
from ..core.metric import Metric
from ..errors import HarnessError, Problem
from .key import code, computes_with
from .plugged import installed_code
from .work import Done, Job, work


def work_and_say(job: Job) -> list[Done]:
    """Evaluate the cells of a job, and say what computed them."""
    done = work(job)
    by = computed_by(job.config.parsed_metrics())
    return [replace(one, by=by) for one in done]


def computed_by(metrics: Iterable[Metric]) -> str:
    """Return what computes here: code of the harness, versions, packages of metrics, machine."""
    packages = [
        f"{name} {found['version']} ({str(found['sha256'])[:12]})"
        for name, found in installed_code(metrics).items()
    ]
    return ", ".join([f"harness {__version__} ({code()[:12]})", *computes_with(), *packages])


def check(done: Done, metrics: Iterable[Metric]) -> None:
    """Raise where something else computed a cell than would compute it here.

    Raises
    ------
    HarnessError
        Since its values would be kept, and compared to others, as if they were of this machine.
    """
    if not done.by or done.by == (here := computed_by(metrics)):
        return
    what = f"a worker computes with {done.by}; here it is {here}"
    fix = "start the workers in the same environment, on machines of the same kind"
    raise HarnessError(Problem("--scheduler", what, fix=fix))
