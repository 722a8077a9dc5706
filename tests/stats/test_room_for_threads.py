"""Memory that ends just as a thread starts: Python would wait for that thread forever."""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from made_systems import systems

from harness import system
from harness.core.comparison import Plan
from harness.stats import randomised_tukey
from harness.stats.compare import compare

DRAWN = Plan(test="randomization", draws=100)
SHUFFLED = Plan(test="randomized-tukey", draws=100)
RUNS = {name: np.random.default_rng(place).random(20).tolist() for place, name in enumerate("abc")}


def refuse(*_: object) -> NoReturn:
    raise OSError(12, "Cannot allocate memory")


def never(_: threading.Thread) -> NoReturn:
    pytest.fail("a thread was started")


@pytest.mark.parametrize("shuffled", [False, True], ids=["pairs", "all pairs"])
def test_no_thread_is_started_where_there_is_no_room(
    monkeypatch: pytest.MonkeyPatch, shuffled: bool
) -> None:
    monkeypatch.setattr(randomised_tukey, "WORTH_THREADS", 0)
    monkeypatch.setattr(threading.Thread, "start", never)
    monkeypatch.setattr(system.mmap, "mmap", refuse)
    with pytest.raises(MemoryError):
        compare(systems(RUNS), SHUFFLED if shuffled else DRAWN)


CHILD = """
import resource, sys
sys.path.insert(0, sys.argv[1])
import harness.metrics
from harness.stats import registry
registry.load_all()
from test_room_for_threads import DRAWN, RUNS, compare, systems
compare(systems(RUNS), DRAWN, workers=1)  # what is imported or allocated once
threads = int(sys.argv[2])
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    compare(systems(RUNS), DRAWN, workers=threads)
except MemoryError:
    print("no memory")
else:
    print("done")
"""


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="asks Linux for its memory")
@pytest.mark.parametrize(("room", "said"), [(9 << 20, "no memory"), (200 << 20, "done")])
def test_memory_that_is_really_short(room: int, said: str) -> None:
    """A thread's stack alone has 8 MB of addresses, as a rule."""
    stack = 8 << 20

    def limit() -> None:
        resource.setrlimit(
            resource.RLIMIT_STACK, (stack, resource.getrlimit(resource.RLIMIT_STACK)[1])
        )

    words = [sys.executable, "-c", CHILD, str(Path(__file__).parent), "2", str(room)]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=60, preexec_fn=limit, check=False
    )
    assert (done.stdout, done.stderr) == (f"{said}\n", "")
