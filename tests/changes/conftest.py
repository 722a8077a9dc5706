from pathlib import Path

import pytest
from made_boards import OLD, folder


@pytest.fixture(scope="session")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder(tmp_path_factory.mktemp("old"), OLD)


@pytest.fixture(scope="session")
def new(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As the old one, but `good` finds q5 at rank 2, and `poor` finds q1 at rank 2."""
    ranks = {name: dict(row) for name, row in OLD.items()}
    ranks["good"]["q5"] = 2
    ranks["poor"]["q1"] = 2
    return folder(tmp_path_factory.mktemp("new"), ranks)
