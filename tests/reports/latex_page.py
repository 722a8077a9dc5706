"""A real LaTeX, where there is one."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest


def _is_here() -> bool:
    """Whether there is a LaTeX, with what the tests ask of it."""
    if any(shutil.which(name) is None for name in ("pdflatex", "kpsewhich", "pdftotext")):
        return False
    files = ("booktabs.sty", "siunitx.sty", "cmap.sty", "ptmr8t.tfm", "utmr8a.pfb")
    done = subprocess.run(["kpsewhich", *files], capture_output=True)
    return len(done.stdout.split()) == len(files)


needs_latex = pytest.mark.skipif(
    not _is_here(),
    reason="needs pdflatex (texlive-latex-extra, texlive-science, texlive-fonts-recommended) "
    "and pdftotext (poppler-utils)",
)
PREAMBLE = r"""
\documentclass{article}
\usepackage[paperwidth=30cm,paperheight=80cm,margin=1cm]{geometry}
\usepackage{cmap}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{mathptmx}
\usepackage{booktabs}
\usepackage{siunitx}
\pagestyle{empty}
"""


def compiled(folder: Path, document: str, name: str = "page") -> str:
    """Compile a document, and return its log; fails where LaTeX stops."""
    (folder / f"{name}.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
    # lines of the log are not broken at 79 characters
    environment = {**os.environ, "max_print_line": "10000"}
    done = subprocess.run(command, cwd=folder, capture_output=True, env=environment)
    log = (folder / f"{name}.log").read_text("utf-8", "replace")
    assert done.returncode == 0, "\n".join(log.splitlines()[-40:])
    return log


def complaints(log: str) -> list[str]:
    """Return what a log complains of; labels settle in a second run."""
    pattern = r"^(?:Overfull|! |LaTeX Warning|Package \w+ Warning|.*undefined).*$"
    found = re.findall(pattern, log, re.MULTILINE)
    return [line for line in found if "Label(s) may have changed" not in line]


def printed(folder: Path, name: str = "page") -> str:
    command = ["pdftotext", "-layout", "-enc", "UTF-8", f"{name}.pdf", "-"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout.decode()
