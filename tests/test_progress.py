"""The bar of long work: what it shows, and where it keeps quiet."""

import io
from contextlib import redirect_stderr

import pytest

from harness.progress import LABEL, progress, track


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


def test_the_bar_names_the_first_part_before_it_is_done() -> None:
    with redirect_stderr(Terminal()) as screen, progress(12, "cell", done=4) as begin:
        begin("bm25 on web=1, seed=2")
        shown = screen.getvalue()
    assert "4/12" in shown
    assert "cell/s, bm25 on web=1, seed=2" in shown
    assert screen.getvalue().endswith("\r")  # nothing stays


def test_a_long_name_keeps_its_end_and_cannot_move_the_cursor() -> None:
    with redirect_stderr(Terminal()) as screen:
        for _ in track(["x" * LABEL + "seed=7\x1b[2J"], "run"):
            assert "…" in screen.getvalue()
            assert "seed=7\\x1b[2J" in screen.getvalue()


@pytest.mark.parametrize(("stream", "ci"), [(Terminal(), "1"), (io.StringIO(), ""), (None, "")])
def test_no_bar_in_ci_or_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None, ci: str
) -> None:
    monkeypatch.setenv("CI", ci)
    with redirect_stderr(stream):
        assert [*track([2, 10, 1], "run")] == [2, 10, 1]
    assert stream is None or stream.getvalue() == ""
