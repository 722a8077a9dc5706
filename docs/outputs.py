"""Run the ``console`` blocks of the pages and write the output below each command.

Run ``python -m docs.outputs`` after a change; a test fails if a page is out of date.

A block shows a command after ``$``, then its output. If the next block is ``latex``, that block is
the output of the last command. A long command goes on after a backslash. A line ``...`` in the
output cuts it: the lines above and below the cut keep their number. Files that a page shows (a
``yaml`` or ``python`` block whose first line is ``# path``) are written before the commands below
them run.

Versions of packages, times and hashes of manifests differ between machines, so they are masked.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from harness.cli.main import main as harness_command

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 88
"""Columns of the terminal: a page at 1440 pixels shows them next to both sidebars."""
LATEX = "```\n\n```latex\n"
COMMAND = r"\$ (?:[^\n]*\\\n)*[^\n]*\n"
BLOCK = re.compile(rf"^```(yaml|python|console)\n(.*?(?:^{COMMAND}{LATEX}.*?)?)^```", re.S | re.M)
COMMAND_AND_OUTPUT = re.compile(rf"({COMMAND}(?:{LATEX})?)(.*)", re.S)
FILE = re.compile(r"# ([\w./-]+\.(?:yaml|py))\n")


def pages() -> list[Path]:
    """Return the README and every page that has a ``console`` block."""
    candidates = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in candidates if "```console\n" in page.read_text(encoding="utf-8")]


def updated(page: Path, folder: Path) -> str:
    """Return the text of `page` with the output of each command, run in `folder`.

    `folder` receives a copy of the example configs and data.
    """
    for name in ("configs", "runs", "examples"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)

    def block(match: re.Match[str]) -> str:
        language, body = match.groups()
        named = FILE.match(body)
        if language in ("yaml", "python") and named:
            path = folder / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
        if language == "console":
            return "```console\n" + "".join(_with_output(body, folder)) + "```"
        return match[0]

    return BLOCK.sub(block, page.read_text(encoding="utf-8"))


def _with_output(body: str, folder: Path) -> Iterator[str]:
    """Yield each command of a block and its output, cut as the block's text cuts it."""
    for part in re.split(r"^(?=\$ )", body, flags=re.M):
        if not part:
            continue
        command, shown = COMMAND_AND_OUTPUT.fullmatch(part).groups()  # type: ignore[union-attr]
        words = command.removeprefix("$ ").removesuffix(LATEX)
        text = run(words.replace("\\\n", "").strip(), folder)
        text = re.sub(r"sha256:[0-9a-f]{64}", "sha256:...", text.replace(f"{folder}/", ""))
        text = text.removeprefix("\ufeff")  # the byte order mark, which terminals do not show
        text = re.sub(r"(?<= from cache, )[\d,]+ s", "1 s", text)
        text = re.sub(r"^(  harness [\d.]+), python .*", r"\1, ...", text, flags=re.M)
        text = re.sub(r"(?<=with pytrec_eval )[\d.]+(?= )", "0.5.11", text)
        output = text.splitlines()
        kept = shown.splitlines()
        if "..." in kept:
            above, below = kept.index("..."), len(kept) - 1 - kept.index("...")
            if above + below < len(output):
                output = [*output[:above], "...", *output[len(output) - below :]]
        yield command + "".join(f"{line.rstrip()}\n" for line in output)


def run(command: str, folder: Path) -> str:
    """Output of `command` in `folder`; `harness` runs in this process to save time."""
    words = shlex.split(command, comments=True)
    shell = any(word in ("|", "&&", ">", ";") for word in words) or "/*" in command
    if words[0] != "harness" or shell:
        program = f'harness() {{ "{sys.executable}" -m harness "$@"; }}\n'
        program += f'python() {{ "{sys.executable}" "$@"; }}\n'
        done = subprocess.run(
            ["bash", "-c", program + command], cwd=folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env={**os.environ, "COLUMNS": str(WIDTH)}, check=False,
        )  # fmt: skip
        return done.stdout
    printed, before = io.BytesIO(), Path.cwd()
    screen = _Screen(printed, "utf-8", write_through=True)
    messages = io.TextIOWrapper(printed, "utf-8", write_through=True)
    os.chdir(folder)
    try:
        with (
            mock.patch.dict(os.environ, COLUMNS=str(WIDTH), NO_COLOR="1"),
            contextlib.redirect_stdout(screen),
            contextlib.redirect_stderr(messages),
        ):
            harness_command(words[1:])
    except SystemExit:
        pass
    finally:
        os.chdir(before)
    return printed.getvalue().decode()


class _Screen(io.TextIOWrapper):
    """A terminal of `WIDTH` columns without colours, to which tables are folded."""

    def isatty(self) -> bool:
        return True


def main() -> None:
    """Write the outputs into every page, or into those whose paths are given."""
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or pages()
    for page in chosen:
        with tempfile.TemporaryDirectory() as folder:
            text = updated(page, Path(folder))
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
