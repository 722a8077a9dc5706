"""The flow: cells of a config to a results folder."""
