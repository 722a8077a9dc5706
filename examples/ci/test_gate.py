"""Three lines that gate a change in your test suite. The harness installs the fixture in pytest."""


def test_ranking_is_not_worse(harness_gate):
    # a worse model passes as long as there are too few queries to tell
    harness_gate("gate.yaml", on_undecided="pass")
