"""YAML to a checked config, patterns to cells, and `harness init`."""
