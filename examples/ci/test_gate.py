"""Three lines that gate a change in your own test suite; pytest finds the fixture."""


def test_ranking_is_not_worse(harness_gate):
    harness_gate("gate.yaml", on_undecided="pass")
