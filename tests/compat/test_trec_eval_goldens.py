"""Every output of trec_eval that is at hand, byte for byte."""

import gzip
import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from goldens import golden

from harness.compat.trec_eval.program import main

pytestmark = pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
HERE = Path(__file__).resolve()
SMALL = golden("trec_eval")
SHARED = HERE.parents[3] / "shared"
VERSIONS = {"9.0.8": "9", "10.0-rc3": "10", "10": "10"}
FOLDERS = {"9": ("test-9.0.8", "Makefile.9.0.8.txt"), "10": ("test", "Makefile.10.0-rc3.txt")}

Program = Callable[[list[str]], tuple[int, bytes]]


@pytest.fixture
def program(capfdbinary: pytest.CaptureFixture[bytes]) -> Program:
    """Runs ``harness trec_eval`` and returns its exit status and standard output."""

    def run(arguments: list[str]) -> tuple[int, bytes]:
        status = main(arguments)
        return status, capfdbinary.readouterr().out

    return run


@dataclass(frozen=True)
class Case:
    """A command line with what trec_eval prints to it; None where we refuse it."""

    version: str
    arguments: list[str]
    output: Path
    status: int
    refused: bool = False

    @property
    def stdout(self) -> bytes:
        data = self.output.read_bytes()
        return gzip.decompress(data) if self.output.suffix == ".gz" else data

    def __str__(self) -> str:
        return f"{self.version}: {self.output.name}"


def golden_cases() -> Iterator[Case]:
    folder = SHARED / "golden" / "trec_eval"
    for case in json.loads((folder / "index.json").read_text(encoding="utf-8")):
        files = [str(SHARED / "data" / case[name]) for name in ("qrels", "run")]
        for title in ("9.0.8", "10.0-rc3"):
            expected = case[title]
            yield Case(
                VERSIONS[title], [*case["flags"], *files], folder / expected["stdout"],
                expected["exit"],
            )  # fmt: skip


def own_tests() -> Iterator[Case]:
    """Tests that trec_eval comes with."""
    data = SHARED / "data" / "trec_eval_test"
    for version, (name, makefile) in FOLDERS.items():
        text = (data / makefile).read_text(encoding="utf-8")
        quick = text.partition("quicktest:")[2].partition("longtest")[0]
        for command, output in re.findall(r"\./trec_eval (.*) \| diff - test/(\S+)", quick):
            words = [re.sub("^test/", f"{data / name}/", word) for word in shlex.split(command)]
            yield Case(version, words, data / name / output, 0, "-R" in words or "-Z" in words)


def made_here() -> Iterator[Case]:
    data = SHARED / "data" / "trec_eval_test"
    folder = data / "made_here"
    pattern = r"(out\.(.*)\.v(\S+)): trec_eval (.*) # cwd (\S+)"
    for output, label, version, command, below in re.findall(
        pattern, (folder / "COMMANDS.txt").read_text(encoding="utf-8")
    ):
        words = [
            str(data / below / word) if word.startswith(("qrels", "results")) else word
            for word in shlex.split(command)
        ]
        status = (folder / f"err.{label}.v{version}").read_text(encoding="utf-8")
        yield Case(VERSIONS[version], words, folder / output, int(status.rpartition("rc ")[2]))


def all_cases() -> list[Case]:
    if not (SHARED / "golden").is_dir():
        return []
    return [*golden_cases(), *own_tests(), *made_here()]


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_real_files(case: Case, program: Program, shared: Path) -> None:
    status, found = program(["--as", case.version, *case.arguments])
    if case.refused:
        assert (status, found) == (2, b"")
        return
    assert found == case.stdout
    assert status == case.status


@pytest.mark.oracle("yaap")
@pytest.mark.parametrize(
    "case", SMALL["cases"], ids=lambda case: f"{case['version']}: {case['label']}"
)
def test_small_files(case: dict[str, object], program: Program, tmp_path: Path) -> None:
    for name in ("qrels", "run"):
        (tmp_path / name).write_bytes(SMALL["files"][case[name]].encode())
    arguments = [str(word) for word in case["arguments"]]  # type: ignore[attr-defined]
    files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    status, found = program(["--as", str(case["version"]), *arguments, *files])
    assert found.decode("latin-1") == case["stdout"]
    assert status == case["status"]
