"""What a manifest says, compared with what is so now."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import manifest as manifests
from ..cells.key import sources
from ..cells.plugged import installed_code
from ..core.metric import Metric
from ..escaping import in_json
from ..manifest import PICTURES
from ..manifest_format import FORMAT
from ..origin import MANIFEST
from .files import compare_plain
from .findings import Difference, Version

_TOLD = {"queries": "rankings", "values": "values"}
"""Of a cross-check, what hangs on what was kept from before."""


def versions(manifest: Mapping[str, Any]) -> Iterator[Version]:
    """Yield what computes otherwise now."""
    then = manifest["versions"]
    now = manifests.versions(pictures=PICTURES in then)
    for name in dict.fromkeys((*then, *now)):
        if name in then and then[name] != now.get(name):
            yield Version(name, then[name], now.get(name))
    if manifest["platform"] != manifests.system():
        yield Version("platform", manifest["platform"], manifests.system())
    if manifest.get("code") not in (None, sources()):
        yield Version("code of the harness", manifest["code"][:12], sources()[:12])


def packages(manifest: Mapping[str, Any], metrics: Sequence[Metric]) -> Iterator[Version]:
    """Yield the installed packages of a config's metrics whose code is another now."""
    then, now = manifest.get("packages", {}), installed_code(metrics)
    for name in dict.fromkeys((*then, *now)) if _is_new(manifest) else ():
        old, new = then.get(name), now.get(name)
        if old != new:
            yield Version(f"package {name}", _package(old), _package(new))


def _package(found: Mapping[str, Any] | None) -> str | None:
    return None if found is None else f"{found['version']} ({found['sha256'][:12]})"


def _is_new(manifest: Mapping[str, Any]) -> bool:
    """Whether a manifest says all that is recorded now."""
    return bool(manifest["manifest"] >= FORMAT)


def differences(
    text: str, now: Mapping[str, Any], inputs: Sequence[Difference], base: Path
) -> Iterator[Difference]:
    """Yield what the manifest says of cells and files, where that is derived otherwise.

    Parameters
    ----------
    text : str
        The manifest that is there.
    now : mapping
        The one that is derived.
    inputs : sequence of Difference
        Inputs that changed.
    base : Path
        The config's folder.
    """
    then = json.loads(text)
    is_old = not _is_new(then)
    if is_old:
        now = _as_of_old(now, then, base)
    yield from compare_plain(MANIFEST, _values_of(then), _values_of(now))
    if in_json(then, indent=1) + "\n" != text:
        yield Difference("file", MANIFEST, "bytes", "other spacing or order", "as it is written")
    outputs = then.get("outputs", {})
    changed = {one.file for one in inputs}
    both = [{one["path"]: one for one in each["inputs"]} for each in (then, now)]
    recorded, derived = (
        {path: one for path, one in each.items() if path not in changed} for each in both
    )
    yield from compare_plain(MANIFEST, {"inputs": recorded}, {"inputs": derived})
    if not is_old:
        missing = {name: now["outputs"][name] for name in now["outputs"] if name not in outputs}
        yield from compare_plain(MANIFEST, {"outputs": {}}, {"outputs": missing})


def _as_of_old(now: Mapping[str, Any], then: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Return a manifest as if of an older format: no more inputs and seeds, and paths as there."""
    known = {one["path"] for one in then["inputs"]}
    above = base.resolve().name  # paths of inputs started above the config's folder
    inputs = [
        {**one, "path": posixpath.normpath(posixpath.join(above, one["path"]))}
        for one in now["inputs"]
    ]
    errors = {_of_failed(one): one["error"] for one in then.get("failed", ())}
    failed = [
        {**one, "error": _if_same(errors.get(_of_failed(one), ""), one["error"])}
        for one in now.get("failed", ())
    ]
    return {
        **now,
        "inputs": [one for one in inputs if one["path"] in known],
        "seeds": then.get("seeds", {}),
        **({"failed": failed} if failed else {}),
    }


def _of_failed(one: Mapping[str, Any]) -> tuple[Any, ...]:
    return one["dataset"], one["run"], *one["columns"].items()


def _if_same(then: str, now: str) -> str:
    """Return the first of two errors where only folders of files differ; the second otherwise."""
    first, second = (re.sub(r"[^\s'\":]+/", "", text) for text in (then, now))
    return then if first == second else now


def _values_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a manifest that are derived, and are the same whatever was cached."""
    cells = [
        {
            **cell,
            "crosscheck": {k: v for k, v in cell["crosscheck"].items() if k not in _TOLD},
        }
        for cell in manifest["cells"]
    ]
    return {"cells": cells, "failed": manifest.get("failed"), "seeds": manifest.get("seeds", {})}


def notes(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield what differs without being a value."""
    if sorted(then["warnings"]) != sorted(now["warnings"]):
        yield "the warnings of the manifest are not those that are given now"
    audits = [[cell["crosscheck"] for cell in one["cells"]] for one in (then, now)]
    if audits[0] != audits[1]:
        checked = [
            " and ".join(
                f"{sum(one[what] for one in each):,} {name}" for what, name in _TOLD.items()
            )
            for each in audits
        ]
        where = f"of {checked[0]} then, and is of {checked[1]} now"
        if checked[0] == checked[1]:
            where = f"of {checked[0]}, of some cells by others now than then"
        yield (
            f"the cross-check was {where}, as cells from the cache keep what was checked when they "
            "were evaluated; it found no difference either time"
        )
