"""Tables for a paper: columns by dataset, rows in groups, marks, caption."""
