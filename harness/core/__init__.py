"""The pure core: tables, alignment, evaluation, metric names. No files, no clock, no printing."""
