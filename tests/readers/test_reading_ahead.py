"""Items that are computed ahead of the caller."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from harness.readers.ahead import ahead


@pytest.mark.parametrize("items", [["a"], ["a", "bbb"], ["bbb", "ccc", "a"], ["a", "b", "ccc"] * 9])
def test_long_items_stand_in_their_order_and_alone(items: list[str]) -> None:
    """The one after a long item is computed when the caller has asked for it."""
    made: list[str] = []

    def computed() -> Iterator[str]:
        for item in items:
            made.append(item)
            yield item

    found = []
    for item in ahead(computed(), most=2):
        found.append(item)
        assert len(item) <= 2 or made == found
    assert found == items


def test_python_ends_though_a_long_item_was_the_last_one_asked_for() -> None:
    """As where an error is kept, by an interactive Python for one, that came while it was read."""
    program = (
        "from harness.readers.ahead import ahead; left = ahead(['bbb', 'c'], most=2); next(left)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
