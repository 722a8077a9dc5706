"""The guard: quiet mismatches between judgements and runs, found before a number is shown."""
