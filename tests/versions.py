"""The test suite and some example configs under the oldest or the newest versions allowed.

``python -m tests.versions oldest --python python3.10 --at FOLDER`` makes an environment in FOLDER
with the lowest version of each dependency that `pyproject.toml` allows, runs example configs in
it, prints hashes of what they wrote, and runs the test suite. ``newest`` takes what pip finds.
Further words go to pytest. Test files that import torch are left out.
"""

import argparse
import hashlib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ("quickstart", "sweep", "trec", "compare")
NOT_NEEDED = ("mypy", "ruff", "types-PyYAML", "torch", "torchmetrics")
OF_THE_TIME = ("pyparsing<3.3",)
"""What matplotlib 3.8 needs: names that were deprecated since."""


def lowest(pyproject: str) -> list[str]:
    """Lowest versions allowed of required and optional packages.

    >>> lowest('dependencies = [\\n  "numpy>=1.26",\\n]\\npandas = ["pandas>=2"]\\n')
    ['numpy==1.26', 'pandas==2']
    """
    needed = re.findall(r"^dependencies = \[(.*?)^\]", pyproject, re.S | re.M)
    optional = re.findall(r"^(?:dask|pandas|plots) = \[(.*?)\]", pyproject, re.S | re.M)
    return [
        f"{name}=={version}"
        for block in (*needed, *optional)
        for name, version in re.findall(r'"([\w-]+)>=([\d.]+)"', block)
    ]


def make_environment(which: str, at: Path, python: str) -> str:
    """Make an environment; return its interpreter."""
    interpreter, pins = at / "bin/python", at / "pins.txt"
    pyproject = (ROOT / "pyproject.toml").read_text()
    if not interpreter.exists():
        subprocess.run([python, "-m", "venv", str(at)], check=True)
    pins.write_text("\n".join([*lowest(pyproject), *OF_THE_TIME] if which == "oldest" else []))
    (block,) = re.findall(r"^test = \[(.*?)^\]", pyproject, re.S | re.M)
    extra = [one for one in re.findall(r'"([^"]+)"', block)
             if re.split(r"[>=;]", one)[0] not in NOT_NEEDED]  # fmt: skip
    pip = [str(interpreter), "-m", "pip", "install", "--quiet", "-c", str(pins)]
    subprocess.run([*pip, "--editable", str(ROOT), *extra], check=True)
    return str(interpreter)


def main() -> int:
    """Make the environment, run the examples and the suite, print what came out."""
    parser = argparse.ArgumentParser(prog="python -m tests.versions", description=__doc__)
    parser.add_argument("which", choices=["oldest", "newest"])
    parser.add_argument("--at", type=Path, required=True, help="folder of the environment")
    parser.add_argument("--python", default=sys.executable, help="interpreter (default: this one)")
    given, more = parser.parse_known_args()
    interpreter = make_environment(given.which, given.at.resolve(), given.python)
    for name in EXAMPLES:
        out = given.at.resolve() / "results" / name
        words = ["-m", "harness", "run", f"configs/{name}.yaml", "--set", f"output={out}"]
        subprocess.run([interpreter, *words], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        for path in sorted(out.glob("*.csv")):
            print(
                f"{name:<12} {path.name:<30} {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
            )
    with_torch = [str(path) for path in (ROOT / "tests").rglob("test_*.py")
                  if re.search(r"^import torch$", path.read_text(), re.M)]  # fmt: skip
    words = ["-m", "pytest", "-q", *(f"--ignore={path}" for path in with_torch), *more]
    return subprocess.run([interpreter, *words], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
