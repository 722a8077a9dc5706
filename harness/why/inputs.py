"""The files that cells were computed from, and whether they are still the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import origin
from ..config import Config
from ..config.cells import Cell
from ..config.patterns import as_if_there

SHOWN = 5
"""Files that are not what they were that are listed."""
UNCHANGED = "unchanged"
States = tuple[Mapping[str, Any], ...]
"""Of each file path, bytes and sha256 then, and its state now."""


def again(
    folder: Path, manifest: Mapping[str, Any], *, needed: bool = False
) -> tuple[Config, list[Cell]]:
    """Return the config and the cells of results, also where files are gone.

    Raises
    ------
    InputError
        Where inputs are `needed`, and none is where it was.
    """
    roots = (origin.root_of(folder, manifest), folder / manifest["base"])
    paths = [root / each["path"] for each in manifest["inputs"] for root in roots]
    with as_if_there(path for path in paths if not path.is_file()):
        return origin.again(folder, manifest, gone=not needed)


def states(folder: Path, manifest: Mapping[str, Any], cells: Sequence[Cell]) -> States:
    """Return the files of cells, judgements first, each with its state and whether it is there."""
    root = origin.root_of(folder, manifest)
    entries = [cell.dataset_entry for cell in cells]
    paths = [Path(path) for each in entries for path in (each.path, each.group) if path]
    paths += [Path(cell.run_entry.path) for cell in cells]
    wanted = dict.fromkeys(path.resolve() for path in paths)
    recorded = {(root / each["path"]).resolve(): each for each in manifest["inputs"]}
    known = [path for path in wanted if path in recorded]
    changed = {
        Path(one.where).resolve(): one.what
        for one in origin.changes(folder, manifest, only=map(str, known))
    }
    return tuple(
        {**recorded[path], "state": changed.get(path, UNCHANGED), "there": path.is_file()}
        for path in known
    )


def lines(found: States, unseen: str = "") -> Iterator[str]:
    """Yield how many files are still the same, and those that are not.

    Parameters
    ----------
    found : tuple of mapping
    unseen : str
        Why they were not looked at.
    """
    if unseen:
        yield f"inputs: not looked at: {unseen}"
        return
    others = [each for each in found if each["state"] != UNCHANGED]
    if not others:
        yield f"inputs: {len(found)} files, {UNCHANGED}"
        return
    yield f"inputs: {len(others)} of {len(found)} files ARE NOT WHAT THEY WERE"
    yield from (f"  {each['path']}: {each['state']}" for each in others[:SHOWN])
    if len(others) > SHOWN:
        yield f"  ... and {len(others) - SHOWN} more"
    yield from hint(found)


def hint(found: States) -> Iterator[str]:
    """Yield what to do where no file is where it was."""
    if found and not any(each["there"] for each in found):
        yield "  --inputs FOLDER says where the config's paths start from, if they were moved"
