"""What of a paper is written beside results: tables that carry the hash of their manifest."""

from __future__ import annotations

import json
from hashlib import sha256

from .config import Config
from .core.comparison import Comparisons
from .core.leaderboard import Leaderboard
from .core.study import Study


def files(
    config: Config, board: Leaderboard, comparisons: Comparisons | None, manifest: bytes
) -> dict[str, bytes]:
    """Return the tables that a config asks for, by path in the folder of results.

    Parameters
    ----------
    config : Config
    board : Leaderboard
    comparisons : Comparisons, optional
    manifest : bytes
        The file whose hash they carry, and which therefore holds none of theirs.
    """
    if not config.tables:
        return {}
    from .tables.rendering import render_all  # which loads SciPy

    study = Study(board, comparisons, json.loads(manifest), sha256(manifest).hexdigest())
    wanted = {name: (table.to_core(), table.formats) for name, table in config.tables.items()}
    return render_all(study, wanted)
