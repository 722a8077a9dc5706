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
    files = (
        "booktabs.sty",
        "threeparttable.sty",
        "cmap.sty",
        "ptmr8t.tfm",
        "utmr8a.pfb",
    )
    done = subprocess.run(["kpsewhich", *files], capture_output=True)
    return len(done.stdout.split()) == len(files)


needs_latex = pytest.mark.skipif(
    not _is_here(),
    reason="needs pdflatex (texlive-latex-extra, texlive-fonts-recommended) "
    "and pdftotext (poppler-utils)",
)
PREAMBLE = r"""
\documentclass{article}
\usepackage[paperwidth=30cm,paperheight=80cm,margin=1cm]{geometry}
\usepackage{cmap}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{mathptmx}
\usepackage{booktabs,threeparttable,longtable}
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
    """Complaints of a log; labels settle in a second run."""
    pattern = r"^(?:Overfull|! |LaTeX Warning|Package \w+ Warning|.*undefined).*$"
    found = re.findall(pattern, log, re.MULTILINE)
    return [
        line for line in found if not re.search("Label.s. may|may have changed|have changed", line)
    ]


def printed(folder: Path, name: str = "page") -> str:
    command = ["pdftotext", "-layout", "-enc", "UTF-8", f"{name}.pdf", "-"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout.decode()


_COMMON = r"""
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{booktabs,threeparttable}
\providecommand{\citep}{\cite}
"""
_TIMES = r"\usepackage{times}"
CLASSES = {
    "acmart": r"\documentclass[sigconf,nonacm]{acmart}",
    "ieee": r"\documentclass[conference]{IEEEtran}",
    "llncs": r"\documentclass{llncs}",
    "acl": r"\documentclass[11pt,twocolumn]{article}"
    + rf"\usepackage[a4paper,textwidth=455.24pt,textheight=702pt]{{geometry}}{_TIMES}"
    + r"\setlength{\columnsep}{17pt}",
    "neurips": r"\documentclass[10pt]{article}"
    + rf"\usepackage[letterpaper,textwidth=397.5pt,textheight=650pt]{{geometry}}{_TIMES}",
    "article": r"\documentclass[twocolumn]{article}",
}
"""The first lines of a paper in each document class; ACL and NeurIPS by their widths and fonts."""


_FILES = {
    "acmart": ("acmart.cls", "binhex.tex", "libertine.sty", "newtxmath.sty"),
    "ieee": ("IEEEtran.cls",),
    "llncs": ("llncs.cls",),
}


def needs_class(document_class: str) -> None:
    """Skip the test if this LaTeX does not have a document class with all that it loads."""
    files = _FILES.get(document_class, ())
    done = subprocess.run(["kpsewhich", *files, "article.cls"], capture_output=True)
    if len(done.stdout.split()) <= len(files):
        pytest.skip(f"needs {document_class} (texlive-publishers, texlive-plain-generic)")


_WORDS = "Words that a reader has read before the table comes.\n\n" * 30


def paper(document_class: str, body: str) -> str:
    """Paper that holds tables, in one of the `CLASSES`."""
    known = r"\usepackage{cmap}" if document_class != "acmart" else ""
    head = f"{CLASSES[document_class]}{known}{_COMMON}"
    title = r"\title{A}\author{B}\maketitle"
    return f"{head}\\begin{{document}}\n{title}\n{_WORDS}{body}\n\\end{{document}}\n"


_TABULAR = re.compile(r"\\begin\{tabular\*?\}.*\\end\{tabular\*?\}", re.DOTALL)
_FILLED = re.compile(r"(\\begin\{tabular)\*\}\{[\d.]+\\linewidth\}\{@\{\\extracolsep\{\\fill\}\}")


def natural_widths(folder: Path, document_class: str, tables: list[str]) -> list[float]:
    """Width of each table in points as LaTeX sets it, without the space that spreads it."""
    boxes = []
    for table in tables:
        body = _FILLED.sub(r"\1}{", _TABULAR.search(table)[0]).replace("{tabular*}", "{tabular}")
        head = table.partition(r"\begin{threeparttable}")[0].splitlines()
        setup = [line for line in head if re.match(r"\\(small|font|s)", line)]
        boxes += [r"\setbox0\hbox{%", *(f"{line}%" for line in setup), body + "%"]
        boxes += [r"}\typeout{WIDTH \the\wd0}"]
    log = compiled(folder, paper(document_class, "\n".join(boxes)), "boxes")
    return [float(width) for width in re.findall(r"^WIDTH ([\d.]+)pt", log, re.MULTILINE)]
