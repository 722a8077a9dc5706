"""What is audited: a config, or the config that a folder of results was made with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import config as configs
from .. import origin
from ..config import Config, sweep
from ..config.sweep import Cell


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
    manifest = origin.read_manifest(path)
    origin.check_inputs(path, manifest)
    return origin.again(path, manifest, overrides)
