"""Random changes to valid inputs: the answer is right, or an error of the harness."""
