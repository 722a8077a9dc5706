from __future__ import annotations

import pytest
from known_means import ALL, BASELINE, study

from harness.core.study import Study


@pytest.fixture(scope="session")
def plain() -> Study:
    return study()


@pytest.fixture(scope="session")
def against_bm25() -> Study:
    return study(BASELINE)


@pytest.fixture(scope="session")
def all_pairs() -> Study:
    return study(ALL)


@pytest.fixture(scope="session")
def seeds() -> Study:
    return study(BASELINE, seeds=2)
