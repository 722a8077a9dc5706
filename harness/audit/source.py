"""What is audited: a config, or the config that a folder of results was made with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from .. import config as configs
from .. import store
from ..config import Config, sweep
from ..config.sweep import Cell
from ..errors import InputError, Problem

MANIFEST = "manifest.json"
_AGAIN = "put the file back, or run the config again and audit that"


def find(path: Path, overrides: Sequence[str] = ()) -> tuple[Config, list[Cell]]:
    """Return the config and its cells.

    Parameters
    ----------
    path : Path
        A YAML config, or a folder that ``harness run`` wrote. Of a folder, the cells are those
        that were evaluated then, from the same files.
    overrides : sequence of str
        ``"policy.ties=stable"``: values put in place of the config's.

    Raises
    ------
    ConfigError
        Where the config is wrong.
    InputError
        Where the folder holds no manifest, or a file that it names is gone or has changed.
    """
    if not path.is_dir():
        config = configs.load(path, overrides)
        return config, sweep.resolve(config)
    manifest = _manifest(path)
    base = path / manifest["base"]
    _check_inputs(manifest["inputs"], base.resolve().parent)
    text = yaml.safe_dump(manifest["config"], allow_unicode=True, sort_keys=False)
    config = configs.loads(text, str(path / MANIFEST), base, overrides)
    known = {(c["dataset"], c["run"], *c.get("columns", {}).items()) for c in manifest["cells"]}
    cells = [
        cell
        for cell in sweep.resolve(config)
        if (cell.dataset, cell.run, *cell.columns.items()) in known
    ]
    return config, cells


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        what = f"the folder holds no {MANIFEST}, so harness run did not write it"
        fix = "give a config, or the folder that its 'output:' names"
        raise InputError(Problem(str(folder), what, fix=fix)) from None
    except (OSError, ValueError) as error:
        raise InputError(Problem(str(path), f"cannot be read: {error}")) from error
    lacking = [
        key
        for key in ("config", "base", "inputs", "cells")
        if not isinstance(found, dict) or key not in found
    ]
    if lacking:
        what = f"does not say {', '.join(lacking)}: it is none of this version's manifests"
        raise InputError(Problem(str(path), what, fix="run the config again, or give the config"))
    manifest: dict[str, Any] = found
    return manifest


def _check_inputs(inputs: Sequence[Mapping[str, Any]], root: Path) -> None:
    """Raise with every input that is gone or has changed."""
    problems = []
    for each in inputs:
        path = root / each["path"]
        if not path.is_file():
            what = "is gone; the results were computed from it"
            problems.append(Problem(str(path), what, fix=_AGAIN))
        elif (now := store.sha256(path)) != each["sha256"]:
            what = (
                f"has changed since the results were computed: sha256 {each['sha256'][:12]}... "
                f"then, {now[:12]}... now"
            )
            problems.append(Problem(str(path), what, fix=_AGAIN))
    if problems:
        raise InputError(problems)
