"""A look at folders of judgements and runs -> a config to begin with."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path

from .. import config, store
from ..errors import ConfigError, HarnessWarning, InputError, Problem
from .entries import Proposal, propose
from .look import Look, look
from .text import render

__all__ = ["propose_config", "save"]


def propose_config(folders: Path | Sequence[Path], base: Path, where: str = "config.yaml") -> str:
    """Return a config for what a folder holds, or several.

    Parameters
    ----------
    folders : Path or sequence of Path
        Judgements and runs, at any depth.
    base : Path
        Folder in which the config will stand.
    where : str
        What it will be called.

    Returns
    -------
    str
        YAML with comments. It loads as it is, unless judgements or runs are lacking: then it says
        what to fill in.

    Raises
    ------
    InputError
        Where a folder is none, or they hold neither.
    """
    folders = [folders] if isinstance(folders, Path) else [*folders]
    fix = "give the folders of your judgements and runs"
    wrong = [Problem(str(one), "is no folder", fix=fix) for one in folders if not one.is_dir()]
    if wrong:
        raise InputError(wrong)
    with warnings.catch_warnings():  # which harness run and harness check give
        warnings.simplefilter("ignore", HarnessWarning)
        return _proposed(look(folders), folders, base, where)


def _proposed(found: Look, folders: Sequence[Path], base: Path, where: str) -> str:
    if not found.files:
        n = len(found.every)
        what = f"none of its {n} files is a run or judgements" if n else "holds no files"
        said = ", ".join(map(str, folders))
        raise InputError(Problem(said, what, fix="formats that are known: docs/formats.md"))
    made = propose(found)
    while made.datasets and made.runs:
        text = render(made, base)
        try:
            config.loads(text, where, base)
        except ConfigError as error:
            if not _set_aside(made, error):
                break
        else:
            return text
    return render(made, base)


def save(folders: Path | Sequence[Path], output: Path, *, force: bool = False) -> None:
    """Write a config for what a folder holds, or several, into a file.

    Raises
    ------
    InputError
        Where the file is there already and `force` is not given; as :func:`propose_config`.
    """
    if output.exists() and not force:
        what = "is there already, and is left as it is"
        raise InputError(Problem(str(output), what, fix="name another file, or give --force"))
    store.check_writable(output.parent)
    with store.made(output.parent):  # from which its paths start
        text = propose_config(folders, output.parent, str(output))
        store.write_all(output.parent, {output.name: text.encode()}, alone=False)


def _set_aside(made: Proposal, error: ConfigError) -> bool:
    """Leave out the runs that something is wrong with, and say why; whether there was one."""
    before = len(made.runs)
    for problem in error.problems:
        for entry in list(made.runs):
            if re.match(rf"\$\.runs(\.|\['){re.escape(entry.key)}(\W|$)", problem.where):
                made.runs.remove(entry)
                made.aside[entry.path] = problem.what
    return len(made.runs) < before
