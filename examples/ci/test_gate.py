"""Three lines that gate a change in your test suite. The harness installs the fixture in pytest."""


def test_ranking_is_not_worse(harness_gate):
    harness_gate("gate.yaml", on_undecided="pass")
