"""Inputs that once failed, and random changes to valid inputs, for every target."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError

from . import reading

TARGETS: dict[str, reading.Target] = {one.name: one for one in reading.TARGETS}
CORPUS = Path(__file__).resolve().parent / "corpus"
CASES = sorted(path for path in CORPUS.rglob("*") if path.is_file())
TRIALS = int(os.environ.get("HARNESS_TRIALS", "40"))
LONG = (b"x" * 5000, b"9" * 5000, b"[" * 5000, b"\t" * 5000)


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_corpus(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
@pytest.mark.parametrize("name", TARGETS)
def test_every_seed_is_fine(name: str) -> None:
    good = 0
    for seed in TARGETS[name].seeds:
        TARGETS[name](seed)
        try:
            TARGETS[name].function(seed)
        except HarnessError:
            continue
        good += 1
    assert good


@st.composite
def mutated(draw: st.DrawFn, seeds: tuple[bytes, ...], words: tuple[bytes, ...]) -> bytes:
    """A valid input with a few pieces cut, swapped, repeated or put in."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        at, to = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        word = draw(st.sampled_from((*words, *LONG)) | st.binary(max_size=4))
        data = draw(
            st.sampled_from(
                (
                    data[:at],  # cut
                    data[:at] + data[to:],
                    data[:to] + data[at:to] + data[to:],  # repeated
                    data[:at] + data[at:to][::-1] + data[to:],  # swapped
                    data[:at] + word + data[at:],
                    data[:at] + word + data[to:],
                    data.replace(b" ", word[:50]),  # other separators
                    data.replace(b"\n", b"\r\n"),
                    data.replace(b"\n", word[:50]),
                    b"\xef\xbb\xbf" + data,
                    data.decode("latin-1").encode("utf-16"),
                    data.rstrip(b"\n"),
                )
            )
        )
    return data


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_mutations(name: str) -> None:
    target = TARGETS[name]

    @given(mutated(target.seeds, target.words))
    @settings(max_examples=TRIALS, suppress_health_check=list(HealthCheck))
    def check(data: bytes) -> None:
        target(data)

    check()
