"""The test suite and the example configs under the oldest and the newest versions allowed.

``python -m tests.versions oldest --python python3.10 --at FOLDER`` makes an environment in FOLDER
with the lowest version of each dependency that `pyproject.toml` allows, runs some example configs
in it, prints hashes of what they wrote, and runs the test suite. ``newest`` takes what pip finds.
Without ``--torch`` the environment has no torch (there are wheels without its gigabytes for some
interpreters only), and the test files that import it are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ("quickstart", "sweep", "trec", "compare")
CHECKERS = ("mypy", "ruff", "types-PyYAML")
"""Of the test extra, what no test uses."""
WITH_TORCH = ("torch", "torchmetrics")
OF_THE_TIME = ("pyparsing<3.3",)
"""What matplotlib 3.8 needs: names that were deprecated since."""
SHOWN = ("numpy", "pyarrow", "scipy", "pydantic", "pytrec-eval-terrier", "pandas")
WRITTEN = """
import hashlib, json, pathlib, sys
import pyarrow.parquet as pq
folder = pathlib.Path(sys.argv[1])
table = pq.read_table(folder / "per_query.parquet")
values = hashlib.sha256()
for name in table.column_names:  # the file's own bytes tell which Arrow wrote it
    values.update(json.dumps([name, [repr(value) for value in table[name].to_pylist()]]).encode())
files = {
    path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    for path in sorted(folder.glob("*.csv"))
}
print(json.dumps({**files, "values of per_query.parquet": values.hexdigest()[:16]}))
"""
INSTALLED = """
import importlib.metadata, json, platform, sys
versions = {name: importlib.metadata.version(name) for name in sys.argv[1:]}
print(json.dumps({"Python": platform.python_version(), **versions}))
"""


def lowest(pyproject: str) -> list[str]:
    """Return the lowest versions allowed of what the package needs, and of what it can use.

    >>> lowest('''dependencies = [
    ...   "numpy>=1.26",  # why
    ... ]
    ... [project.optional-dependencies]
    ... pandas = ["pandas>=2"]
    ... test = ["pytest>=8.2"]
    ... ''')
    ['numpy==1.26', 'pandas==2']
    """
    needed = re.findall(r"^dependencies = \[(.*?)^\]", pyproject, re.S | re.M)
    optional = re.findall(r"^(?:dask|pandas|plots) = \[(.*?)\]", pyproject, re.S | re.M)
    return [
        f"{name}=={version}"
        for block in (*needed, *optional)
        for name, version in re.findall(r'"([\w-]+)>=([\d.]+)"', block)
    ]


def requirements(pyproject: str, *, torch: bool) -> list[str]:
    """Return the test extra, but for what no test uses, and for torch where it is not there.

    >>> requirements('test = [\\n  "ruff>=1",\\n  "torch==2",\\n  "ranx>=1",\\n]', torch=False)
    ['ranx>=1']
    """
    (block,) = re.findall(r"^test = \[(.*?)^\]", pyproject, re.S | re.M)
    without = CHECKERS if torch else (*CHECKERS, *WITH_TORCH)
    every = re.findall(r'"([^"]+)"', block)
    return [one for one in every if re.split(r"[>=;]", one)[0] not in without]


def environment(which: str, at: Path, python: str, *, torch: bool) -> str:
    """Make the environment, or add to one that is there; return its interpreter."""
    interpreter = at / "bin" / "python"
    pip = [str(interpreter), "-m", "pip", "install", "--quiet"]
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    if not interpreter.exists():
        subprocess.run([python, "-m", "venv", str(at)], check=True)
        subprocess.run([*pip, "--upgrade", "pip"], check=True)
    pins = at / "pins.txt"
    listed = [*lowest(pyproject), *OF_THE_TIME] if which == "oldest" else []
    pins.write_text("\n".join(listed), encoding="utf-8")
    wanted = requirements(pyproject, torch=torch)
    if torch:
        one = next(name for name in wanted if name.startswith("torch="))
        subprocess.run([*pip, "-c", str(pins), one], check=True)
    subprocess.run([*pip, "-c", str(pins), "--editable", str(ROOT), *wanted], check=True)
    return str(interpreter)


def hashes(interpreter: str, at: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield what each example config wrote: the hash of each table, and of all values."""
    for name in EXAMPLES:
        out = (at / "results" / name).resolve()
        config = str(ROOT / "configs" / f"{name}.yaml")
        words = ["-m", "harness", "run", config, "--set", f"output={out}", "--format", "csv"]
        subprocess.run([interpreter, *words], check=True, stdout=subprocess.DEVNULL, cwd=at)
        yield name, json.loads(_printed(interpreter, "-c", WRITTEN, str(out)))


def left_out() -> list[str]:
    """Return the test files that import torch."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [
        str(path.relative_to(ROOT))
        for path in files
        if re.search(r"^import torch$", path.read_text(encoding="utf-8"), re.M)
    ]


def suite(interpreter: str, *, torch: bool, more: Sequence[str]) -> tuple[int, str]:
    """Run the test suite; return its exit code, and its last line, the counts."""
    ignored = [] if torch else [f"--ignore={path}" for path in left_out()]
    words = ["-m", "pytest", "-q", "-p", "no:randomly", *ignored, *more]
    here = {**os.environ, "PYTHONPATH": "", "PATH": _path(interpreter)}
    with subprocess.Popen(
        [interpreter, *words], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=here
    ) as process:
        line = ""
        for line in process.stdout or ():
            print(line, end="", flush=True)
    return process.returncode, line.strip().strip("=").strip()


def _path(interpreter: str) -> str:
    return os.pathsep.join([str(Path(interpreter).parent), os.environ.get("PATH", "")])


def _printed(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def main() -> int:
    """Make the environment, run the examples and the suite, print what came out."""
    parser = argparse.ArgumentParser(prog="python -m tests.versions", description=__doc__)
    parser.add_argument("which", choices=["oldest", "newest"])
    parser.add_argument("--at", type=Path, required=True, help="folder of the environment")
    parser.add_argument("--python", default=sys.executable, help="interpreter (default: this one)")
    parser.add_argument("--torch", action="store_true", help="torch too, and the tests that use it")
    parser.add_argument("--no-suite", action="store_true", help="the example configs only")
    given, more = parser.parse_known_args()
    at = given.at.resolve()
    interpreter = environment(given.which, at, given.python, torch=given.torch)
    code, counts = 0, ""
    if not given.no_suite:
        code, counts = suite(interpreter, torch=given.torch, more=more)
    for name, found in hashes(interpreter, at):
        for file, digest in found.items():
            print(f"{name:<12} {file:<30} {digest}")
    versions = json.loads(_printed(interpreter, "-c", INSTALLED, *SHOWN))
    print(given.which, *(f"{name} {version}" for name, version in versions.items()), sep=", ")
    if counts and not given.torch:
        print("left out, as they import torch:", *left_out())
    print(counts)
    return code


if __name__ == "__main__":
    sys.exit(main())
